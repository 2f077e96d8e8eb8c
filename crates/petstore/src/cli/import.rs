//! `petstore import`: adds the animals of a file to the database.
//!
//! The command reads the file twice: first to validate all of it, then to add its rows. The first
//! pass does not block other writers of the database, even if the file is a slow pipe, and its
//! first invalid row does not hide the others.

mod adding;
mod checked;
mod checking;
mod csv_args;
mod fields;
mod profile;
mod species;

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow, ensure};
use clap::Args;
use petstore_databases as databases;
use petstore_formats::files::{self, CsvOptions, Format, ReadError, Rows, Source};
use petstore_store::{
    OpenError,
    bulk::{CommitError, Snapshot},
};

use self::{checked::CheckedFile, csv_args::CsvArgs};
use super::{
    args::{BadSetting, CreateArgs, DatabaseArgs},
    output::{counted, print_message},
    rejects::Rejects,
    values,
};

/// The exit status if the valid rows were imported, and others were rejected.
const SOME_REJECTED: u8 = 3;

/// Add all animals of a file, or none
///
/// A CSV file begins with a header: name, and categoryId, category or species, and
/// optionally status, id and the names or labels of fields, in any order and in
/// English, German, French or Spanish. An NDJSON file has a JSON object
/// on each line, with these members and an object `fields`. An animal without a
/// status is available. An NDJSON file can also have what `petstore export --all`
/// writes; it needs --keep-ids. The command works while the service runs. If it
/// rejects rows with --skip-invalid, the exit status is 3.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore import animals.csv --dry-run\n",
    "  petstore import animals.csv --skip-invalid --rejects invalid.csv\n",
    "  petstore export | petstore import - --format csv --database sqlite:other.db"
))]
pub(super) struct Import {
    /// The file to read; - stands for standard input
    file: PathBuf,

    /// The format of the file; by default, the one that the end of its name shows
    /// (.csv, .ndjson or .jsonl)
    #[arg(long, value_parser = values::one_of(&Format::ALL), env = "PETSTORE_IMPORT_FORMAT")]
    format: Option<Format>,

    /// Add the animals of the valid rows even if other rows are invalid; needs
    /// --rejects
    #[arg(long, env = "PETSTORE_IMPORT_SKIP_INVALID", value_parser = values::parse_boolean)]
    skip_invalid: bool,

    /// The file for invalid rows, as CSV with their lines and the reasons; it must
    /// not exist yet
    #[arg(long, value_name = "FILE", env = "PETSTORE_IMPORT_REJECTS", value_parser = values::new_file())]
    rejects: Option<PathBuf>,

    /// Validate the file and add nothing
    #[arg(long, env = "PETSTORE_IMPORT_DRY_RUN", value_parser = values::parse_boolean)]
    dry_run: bool,

    /// Keep the ids of the file, which must be free; without this option, they are
    /// ignored
    #[arg(long, env = "PETSTORE_IMPORT_KEEP_IDS", value_parser = values::parse_boolean)]
    keep_ids: bool,

    #[command(flatten)]
    csv: CsvArgs,

    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    if_absent: CreateArgs,
}

impl Import {
    /// Validates the file, and adds its valid rows unless `--dry-run` is set.
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let format = self.choose_format()?;
        self.check_options(format)?;
        let source = self.open_source()?;
        let snapshot = self.open_snapshot()?;
        let mut rejects = self.rejects.as_deref().map(Rejects::create).transpose()?;

        let checked = self.check(&source, format, rejects.as_mut(), snapshot)?;
        if checked.invalid_count > 0 && !self.skip_invalid {
            return Err(self.invalid_rows_error(&checked));
        }
        if let Some(rejects) = &mut rejects {
            rejects.finish()?;
        }
        if !self.dry_run {
            let result = self.add(&source, format, &checked);
            if let Err(error) = result {
                // The outcome of the commit is unknown. If the valid rows were added, the user
                // needs this file for the invalid ones.
                if error.is::<CommitError>()
                    && let Some(rejects) = rejects
                {
                    rejects.keep();
                }
                return Err(error);
            }
        }

        self.print_summary(&checked, rejects);
        if !self.dry_run {
            self.database.merge_search();
        }
        Ok(if checked.invalid_count == 0 {
            ExitCode::SUCCESS
        } else {
            SOME_REJECTED.into()
        })
    }

    /// Chooses the format that the option sets, or else the one that the name of the file shows.
    fn choose_format(&self) -> Result<Format, BadSetting> {
        let format = self.format.or_else(|| Format::from_path(&self.file));
        format.ok_or_else(|| {
            BadSetting(
                "the name of the file does not show its format; add --format csv or --format ndjson"
                    .to_owned(),
            )
        })
    }

    /// Checks that the options can be used together, and with this format.
    fn check_options(&self, format: Format) -> anyhow::Result<()> {
        ensure!(
            self.skip_invalid == self.rejects.is_some(),
            BadSetting(
                "--skip-invalid and --rejects FILE need each other, so that no row is lost"
                    .to_owned()
            )
        );
        ensure!(
            format == Format::Csv || !self.csv.are_given(),
            BadSetting(
                "--map, --ignore-unknown-columns and --separator are for CSV files".to_owned()
            )
        );
        self.csv.check()?;
        Ok(())
    }

    /// Opens the file, or standard input. Rejects UTF-16, which some spreadsheets write.
    fn open_source(&self) -> anyhow::Result<Source> {
        let unreadable =
            |reason: String| BadSetting(format!("cannot read {}: {reason}", self.input_name()));
        let source = if self.file == Path::new("-") {
            Source::from_reader(io::stdin().lock()).context("cannot read standard input")?
        } else {
            Source::open(&self.file).map_err(|error| unreadable(error.to_string()))?
        };
        let is_utf16 = source
            .is_utf16()
            .map_err(|error| unreadable(error.to_string()))?;
        ensure!(
            !is_utf16,
            unreadable("it is in UTF-16; save it as UTF-8".to_owned())
        );
        Ok(source)
    }

    /// Opens a snapshot of the database. Returns `None` if there is no database yet and the command
    /// may create it.
    ///
    /// The snapshot is opened before the file is read, which may take long, so that an error comes
    /// early. It must be closed as soon as possible, because no checkpoint can finish while it is
    /// open.
    fn open_snapshot(&self) -> anyhow::Result<Option<Box<dyn Snapshot>>> {
        match databases::open_snapshot(&self.database.url) {
            Err(OpenError::Absent(_) | OpenError::Empty(_)) if self.if_absent.create => Ok(None),
            snapshot => Ok(Some(snapshot?)),
        }
    }

    /// Returns a reader of the rows of the file, from its beginning.
    fn read_rows<'s>(
        &self,
        file: &'s Source,
        format: Format,
        options: &CsvOptions,
    ) -> Result<Box<dyn Rows + 's>, ReadError> {
        files::open_rows(file, format, self.keep_ids, options)
    }

    /// Returns the name of the file or of standard input, for messages.
    fn input_name(&self) -> String {
        match self.file.to_string_lossy().as_ref() {
            "-" => "standard input".to_owned(),
            name => name.to_owned(),
        }
    }

    /// Returns the error for a file that is not imported because it has invalid rows.
    fn invalid_rows_error(&self, checked: &CheckedFile) -> anyhow::Error {
        let invalid_count = checked.invalid_count;
        let row_count = checked.valid_count + invalid_count;
        // The rows of a full export depend on each other, so none can be skipped.
        let skip_advice = if checked.is_full_export {
            ""
        } else {
            ", or add --skip-invalid --rejects FILE to import the others"
        };
        anyhow!(
            "{}: invalid rows: {invalid_count} of {row_count}; nothing was imported; correct them{skip_advice}",
            self.input_name()
        )
    }

    /// Prints how many rows were imported, rejected and ignored. Keeps the file of rejected rows.
    fn print_summary(&self, checked: &CheckedFile, rejects: Option<Rejects>) {
        let action = if self.dry_run {
            "Would import"
        } else {
            "Imported"
        };
        let rejected = match rejects {
            Some(rejects) => format!(
                " Rejected {}: see {}.",
                counted(checked.invalid_count, "row"),
                rejects.keep().display()
            ),
            None => String::new(),
        };
        let ignored = match checked.ignored_photos {
            0 => String::new(),
            photo_count => format!(
                " Ignored {}, whose pictures are not in the file.",
                counted(photo_count, "photo")
            ),
        };
        print_message(&format!(
            "{action} {} into {}.{rejected}{ignored}{}",
            checked.describe_rows(),
            self.database.url,
            checked.describe_new_categories()
        ));
    }
}
