//! `petstore export`.

use std::{
    io::{self, IsTerminal},
    ops::ControlFlow,
};

use anyhow::{Context, ensure};
use clap::Args;
use petstore_databases as databases;
use petstore_domain::{
    PetStatus,
    store_area::{Language, Profile},
};
use petstore_formats::files::{CsvWriter, Format, NdjsonWriter, Writer};
use petstore_languages::spreadsheet_separator;
use petstore_store::{
    StoreError,
    bulk::{self, Snapshot, Value, continue_if_ok},
};

use super::{
    args::{BadSetting, DatabaseArgs},
    output::Progress,
    values,
};

/// Write all animals to standard output, in order of their id
///
/// The animals are a snapshot, also while the service runs. CSV begins with the
/// header id,name,categoryId,status.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore export > animals.csv\n",
    "  petstore export --format ndjson --status available\n",
    "  petstore export --all > everything.ndjson"
))]
pub(super) struct Export {
    /// The format of the output; by default csv, and ndjson with --all
    #[arg(long, value_parser = values::word(&Format::ALL), env = "PETSTORE_EXPORT_FORMAT")]
    format: Option<Format>,

    /// Write everything of the store area: each field, animal, order and category as
    /// a line of NDJSON, for `petstore import --keep-ids`
    #[arg(long, env = "PETSTORE_EXPORT_ALL", value_parser = values::switch)]
    all: bool,

    /// Also write the contacts of orders, which are personal data (with --all)
    #[arg(long, env = "PETSTORE_EXPORT_WITH_CONTACTS", requires = "all", value_parser = values::switch)]
    with_contacts: bool,

    /// Write only animals with this status
    #[arg(long, value_parser = values::word(&PetStatus::ALL), env = "PETSTORE_EXPORT_STATUS")]
    status: Option<PetStatus>,

    /// Write CSV for a spreadsheet: with a byte order mark, with semicolons if the
    /// language of the store has a decimal comma, and with a ' before each part of a
    /// name that would be a formula; do not import such a file
    #[arg(long, env = "PETSTORE_EXPORT_SPREADSHEET", value_parser = values::switch)]
    spreadsheet: bool,

    #[command(flatten)]
    database: DatabaseArgs,
}

impl Export {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let format = self.format.unwrap_or(if self.all {
            Format::Ndjson
        } else {
            Format::Csv
        });
        ensure!(
            !self.spreadsheet || format == Format::Csv,
            BadSetting("--spreadsheet needs --format csv".to_owned())
        );
        ensure!(
            !self.all || (format == Format::Ndjson && self.status.is_none()),
            BadSetting(
                "--all needs --format ndjson, and cannot be combined with --status".to_owned()
            )
        );
        let mut snapshot = databases::snapshot(&self.database.database)?;
        let language = snapshot.profile()?.language.unwrap_or(Language::English);
        let out = io::stdout().lock();
        // A progress bar would mix with the lines of the result.
        let mut progress = if out.is_terminal() || !io::stderr().is_terminal() {
            Progress::hidden()
        } else {
            Progress::of_animals("Exporting", snapshot.count_pets(self.status)?)
        };
        let mut written = Ok(());
        let mut step = |done: io::Result<()>| {
            written = done;
            continue_if_ok(&written)
        };
        let mut write = |writer: &mut dyn Writer| {
            snapshot.visit_pets(self.status, &mut |pet| {
                progress.animal();
                step(writer.write(pet))
            })?;
            Ok::<_, StoreError>(writer.finish())
        };
        let read = match format {
            Format::Csv if self.spreadsheet => write(&mut CsvWriter::for_spreadsheet(
                out,
                spreadsheet_separator(language),
            )?),
            Format::Csv => write(&mut CsvWriter::new(out)?),
            Format::Ndjson if !self.all => write(&mut NdjsonWriter::new(out)),
            Format::Ndjson => {
                let mut writer = NdjsonWriter::new(out);
                let profile = snapshot.profile().context("cannot read the database")?;
                if !profile.is_empty() {
                    let logo =
                        logo_of(&mut *snapshot, &profile).context("cannot read the database")?;
                    _ = step(writer.write_profile(&profile, logo.as_deref()));
                }
                let fields = snapshot.fields().context("cannot read the database")?;
                for field in fields.all() {
                    if step(writer.write_field(field)).is_break() {
                        break;
                    }
                }
                let read = snapshot.visit_resources(&mut |mut resource| {
                    if !self.with_contacts {
                        resource.drop_contact();
                    }
                    progress.animal();
                    step(writer.write_resource(&resource))
                });
                read.map(|()| writer.finish())
            }
        };
        let finished = read.context("cannot read the database")?;
        match written.and(finished) {
            // The reader closed the pipe early.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            done => done.context("cannot write the animals"),
        }
    }
}

/// Returns the file of the logo.
fn logo_of(from: &mut dyn Snapshot, profile: &Profile) -> Result<Option<Vec<u8>>, StoreError> {
    let name = profile.logo.map(|logo| logo.to_string());
    let mut found = None;
    from.visit_rows(&bulk::LOGOS, &mut |row| {
        if let [Value::Text(row_name), Value::Blob(png), _] = row
            && name.as_deref() == Some(row_name)
        {
            found = Some(png.to_vec());
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}
