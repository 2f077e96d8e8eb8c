//! `petstore export`: writes the animals of the store, or everything of the store area.

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
    output::{Progress, is_broken_pipe},
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
    #[arg(long, value_parser = values::one_of(&Format::ALL), env = "PETSTORE_EXPORT_FORMAT")]
    format: Option<Format>,

    /// Write everything of the store area: each field, animal, order and category as
    /// a line of NDJSON, for `petstore import --keep-ids`
    #[arg(long, env = "PETSTORE_EXPORT_ALL", value_parser = values::parse_boolean)]
    all: bool,

    /// Also write the contacts of orders, which are personal data (with --all)
    #[arg(long, env = "PETSTORE_EXPORT_WITH_CONTACTS", requires = "all", value_parser = values::parse_boolean)]
    with_contacts: bool,

    /// Write only animals with this status
    #[arg(long, value_parser = values::one_of(&PetStatus::ALL), env = "PETSTORE_EXPORT_STATUS")]
    status: Option<PetStatus>,

    /// Write CSV for a spreadsheet: with a byte order mark, with semicolons if the
    /// language of the store has a decimal comma, and with a ' before each part of a
    /// name that would be a formula; do not import such a file
    #[arg(long, env = "PETSTORE_EXPORT_SPREADSHEET", value_parser = values::parse_boolean)]
    spreadsheet: bool,

    #[command(flatten)]
    database: DatabaseArgs,
}

/// The context of an error in reading the animals.
const CANNOT_READ: &str = "cannot read the database";
/// The context of an error in writing the animals.
const CANNOT_WRITE: &str = "cannot write the animals";

impl Export {
    /// Writes the animals of a snapshot of the database to standard output.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let format = self.choose_format()?;
        let mut snapshot = databases::open_snapshot(&self.database.url)?;
        let language = snapshot.profile()?.language.unwrap_or(Language::English);
        let out = io::stdout().lock();
        // At a terminal, a progress bar would mix with the lines of the result.
        let shows_progress = io::stderr().is_terminal() && !out.is_terminal();
        let mut progress = if shows_progress {
            Progress::of_animals("Exporting", snapshot.count_pets(self.status)?)
        } else {
            Progress::hidden()
        };
        let result = match format {
            Format::Csv if self.spreadsheet => {
                let separator = spreadsheet_separator(language);
                let mut writer = CsvWriter::for_spreadsheet(out, separator)?;
                self.write_animals(&mut *snapshot, &mut progress, &mut writer)
            }
            Format::Csv => {
                let mut writer = CsvWriter::new(out)?;
                self.write_animals(&mut *snapshot, &mut progress, &mut writer)
            }
            Format::Ndjson => {
                let mut writer = NdjsonWriter::new(out);
                if self.all {
                    self.write_everything(&mut *snapshot, &mut progress, &mut writer)
                } else {
                    self.write_animals(&mut *snapshot, &mut progress, &mut writer)
                }
            }
        };
        match result {
            // The reader of the output has closed the pipe early, as `head` does.
            Err(error) if is_broken_pipe(&error) => Ok(()),
            result => result,
        }
    }

    /// Chooses the format of the output. Fails if the format does not fit the other options.
    fn choose_format(&self) -> anyhow::Result<Format> {
        let default_format = if self.all {
            Format::Ndjson
        } else {
            Format::Csv
        };
        let format = self.format.unwrap_or(default_format);
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
        Ok(format)
    }

    /// Writes the animals with the status of the option, or all animals without this option. Stops
    /// at the first animal that cannot be written.
    fn write_animals(
        &self,
        snapshot: &mut dyn Snapshot,
        progress: &mut Progress,
        writer: &mut dyn Writer,
    ) -> anyhow::Result<()> {
        let mut result = Ok(());
        snapshot
            .visit_pets(self.status, &mut |pet| {
                progress.count_animal();
                result = writer.write(pet);
                continue_if_ok(&result)
            })
            .context(CANNOT_READ)?;
        // If both fail, the first error is the one to report.
        result.and(writer.finish()).context(CANNOT_WRITE)
    }

    /// Writes everything of the store area: the profile, the fields, and all animals, orders,
    /// categories and notes.
    fn write_everything(
        &self,
        snapshot: &mut dyn Snapshot,
        progress: &mut Progress,
        writer: &mut NdjsonWriter<impl io::Write>,
    ) -> anyhow::Result<()> {
        let profile = snapshot.profile().context(CANNOT_READ)?;
        if !profile.is_empty() {
            let logo = read_logo(snapshot, &profile).context(CANNOT_READ)?;
            writer
                .write_profile(&profile, logo.as_deref())
                .context(CANNOT_WRITE)?;
        }
        let fields = snapshot.fields().context(CANNOT_READ)?;
        for field in fields.all() {
            writer.write_field(field).context(CANNOT_WRITE)?;
        }
        let mut result = Ok(());
        snapshot
            .visit_resources(&mut |mut resource| {
                if !self.with_contacts {
                    resource.drop_contact();
                }
                progress.count_animal();
                result = writer.write_resource(&resource);
                continue_if_ok(&result)
            })
            .context(CANNOT_READ)?;
        // If both fail, the first error is the one to report.
        result.and(writer.finish()).context(CANNOT_WRITE)
    }
}

/// Reads the PNG file of the logo, if the profile has a logo.
fn read_logo(
    snapshot: &mut dyn Snapshot,
    profile: &Profile,
) -> Result<Option<Vec<u8>>, StoreError> {
    let logo_name = profile.logo.map(|logo| logo.to_string());
    let mut content = None;
    snapshot.visit_rows(&bulk::LOGOS, &mut |row| {
        // The columns are the name of a logo, its PNG file, and the time at which it was replaced.
        if let [Value::Text(row_name), Value::Blob(png), _] = row
            && logo_name.as_deref() == Some(row_name)
        {
            content = Some(png.to_vec());
        }
        ControlFlow::Continue(())
    })?;
    Ok(content)
}
