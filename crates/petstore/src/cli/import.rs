//! `petstore import`.
//!
//! The command reads the file twice: first to validate all of it, then to add it. So
//! other writers of the database do not wait for a slow pipe or an invalid file, and
//! the first invalid row does not hide the others.

mod checked;
mod csv_args;
mod fields;
mod profile;
mod species;

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail, ensure};
use clap::Args;
use petstore_databases as databases;
use petstore_domain::{
    Clock, PetId, SystemClock,
    store_area::{ActType, Resource},
};
use petstore_formats::files::{self, CsvOptions, Format, InvalidRow, ReadError, Row, Rows, Source};
use petstore_store::{
    OpenError,
    bulk::{CommitError, IdSource, LastIds, Load, Snapshot},
};

use self::{
    checked::{Checked, Taken, read_taken},
    csv_args::{CsvArgs, print_left_out},
    profile::set_profile,
    species::find_species_categories,
};
use super::{
    args::{BadSetting, CreateArgs, DatabaseArgs, merge_search},
    output::{Progress, counted},
    rejects::Rejects,
    values,
};

/// How many invalid rows are reported one by one.
const REPORTED: u64 = 20;

/// The exit status if animals were imported, and other rows were rejected.
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
    #[arg(long, value_parser = values::word(&Format::ALL), env = "PETSTORE_IMPORT_FORMAT")]
    format: Option<Format>,

    /// Add the animals of the valid rows even if other rows are invalid; needs
    /// --rejects
    #[arg(long, env = "PETSTORE_IMPORT_SKIP_INVALID", value_parser = values::switch)]
    skip_invalid: bool,

    /// The file for invalid rows, as CSV with their lines and the reasons; it must
    /// not exist yet
    #[arg(long, value_name = "FILE", env = "PETSTORE_IMPORT_REJECTS", value_parser = values::new_file())]
    rejects: Option<PathBuf>,

    /// Validate the file and add nothing
    #[arg(long, env = "PETSTORE_IMPORT_DRY_RUN", value_parser = values::switch)]
    dry_run: bool,

    /// Keep the ids of the file, which must be free; without this option, they are
    /// ignored
    #[arg(long, env = "PETSTORE_IMPORT_KEEP_IDS", value_parser = values::switch)]
    keep_ids: bool,

    #[command(flatten)]
    csv: CsvArgs,

    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    if_absent: CreateArgs,
}

impl Import {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let bad = |message: &str| BadSetting(message.to_owned());
        let format = self.format.or_else(|| Format::from_path(&self.file));
        let format = format.ok_or_else(|| {
            bad("the name of the file does not show its format; add --format csv or --format ndjson")
        })?;
        ensure!(
            self.skip_invalid == self.rejects.is_some(),
            bad("--skip-invalid and --rejects FILE need each other, so that no row is lost")
        );
        ensure!(
            format == Format::Csv || !self.csv.are_given(),
            bad("--map, --ignore-unknown-columns and --separator are for CSV files")
        );
        self.csv.check()?;
        let source = self.open()?;
        // Opened before the file is read, which may take long, so that an error comes early.
        // Closed as soon as possible: no checkpoint can finish while it is open.
        let catalogue = match databases::snapshot(&self.database.database) {
            Err(OpenError::Absent(_) | OpenError::Empty(_)) if self.if_absent.create => None,
            snapshot => Some(snapshot?),
        };
        let mut rejects = self.rejects.as_deref().map(Rejects::create).transpose()?;
        let checked = self.check(&source, format, rejects.as_mut(), catalogue)?;
        let Checked {
            valid,
            photos,
            invalid,
            ..
        } = checked;
        if invalid > 0 && !self.skip_invalid {
            let rows = valid + invalid;
            let or_skip = ", or add --skip-invalid --rejects FILE to import the others";
            bail!(
                "{}: invalid rows: {invalid} of {rows}; nothing was imported; correct them{}",
                self.name(),
                if checked.is_connected { "" } else { or_skip }
            );
        }
        if let Some(rejects) = &mut rejects {
            rejects.finish()?;
        }
        let added = if self.dry_run {
            Ok(())
        } else {
            self.add(&source, format, &checked)
        };
        if let Err(error) = added {
            // The outcome is unknown. If the valid rows were added, this file has the others.
            if error.is::<CommitError>()
                && let Some(rejects) = rejects
            {
                rejects.keep();
            }
            return Err(error);
        }
        let done = if self.dry_run {
            "Would import"
        } else {
            "Imported"
        };
        let rejected = rejects.map_or(String::new(), |rejects| {
            format!(
                " Rejected {}: see {}.",
                counted(invalid, "row"),
                rejects.keep().display()
            )
        });
        let what = checked.describe_rows();
        let database = &self.database.database;
        let ignored = match photos {
            0 => String::new(),
            photos => format!(
                " Ignored {}, whose pictures are not in the file.",
                counted(photos, "photo")
            ),
        };
        super::output::print_message(&format!(
            "{done} {what} into {database}.{rejected}{ignored}{}",
            checked.describe_new_categories()
        ));
        if !self.dry_run {
            merge_search(self.database.database);
        }
        Ok(if invalid == 0 {
            ExitCode::SUCCESS
        } else {
            SOME_REJECTED.into()
        })
    }

    fn open(&self) -> anyhow::Result<Source> {
        let wrong = |what| BadSetting(format!("cannot read {}: {what}", self.name()));
        let source = if self.file == Path::new("-") {
            Source::from_reader(io::stdin().lock()).context("cannot read standard input")?
        } else {
            Source::open(&self.file).map_err(|error| wrong(error.to_string()))?
        };
        let is_utf16 = source
            .is_utf16()
            .map_err(|error| wrong(error.to_string()))?;
        anyhow::ensure!(
            !is_utf16,
            wrong("it is in UTF-16; save it as UTF-8".to_owned())
        );
        Ok(source)
    }

    fn read<'s>(
        &self,
        file: &'s Source,
        format: Format,
        options: &CsvOptions,
    ) -> Result<Box<dyn Rows + 's>, ReadError> {
        files::read(file, format, self.keep_ids, options)
    }

    /// Returns the name of the file, for messages.
    fn name(&self) -> String {
        match self.file.to_string_lossy().as_ref() {
            "-" => "standard input".to_owned(),
            name => name.to_owned(),
        }
    }

    /// Validates the whole file, and reports invalid rows.
    fn check(
        &self,
        source: &Source,
        format: Format,
        mut rejects: Option<&mut Rejects>,
        mut catalogue: Option<Box<dyn Snapshot>>,
    ) -> anyhow::Result<Checked> {
        let not_imported = || format!("nothing was imported: {}", self.name());
        let database = &self.database.database;
        let Taken {
            ids,
            fields,
            mut csv,
        } = read_taken(database, catalogue.as_deref_mut(), self.keep_ids, &self.csv)?;
        let mut new_categories = Vec::new();
        let mut rows = self.read(source, format, &csv).with_context(not_imported)?;
        if rows.needs_species_categories() {
            new_categories = find_species_categories(catalogue.as_deref_mut(), &mut csv)?;
            rows = self.read(source, format, &csv).with_context(not_imported)?;
        }
        drop(catalogue);
        print_left_out(&*rows);
        let mut progress = Progress::of_bytes("Checking", source.length());
        let mut checked = Checked::new(ids, fields, csv, new_categories);
        while let Some(row) = rows.next().with_context(not_imported)? {
            progress.step(|_| rows.bytes_read());
            let invalid = match row {
                Err(invalid) => invalid,
                Ok(row) => {
                    checked.is_connected |= !matches!(row, Row::Pet { .. });
                    ensure!(
                        !checked.is_connected || !self.skip_invalid,
                        BadSetting(
                            "--skip-invalid cannot be used with an export with --all, because its \
                             lines depend on each other"
                                .to_owned()
                        )
                    );
                    let Some(invalid) = checked.problem_of(&row, &*rows)? else {
                        checked.count(&row);
                        continue;
                    };
                    invalid
                }
            };
            checked.invalid += 1;
            let row = rows.raw_row()?;
            if checked.invalid <= REPORTED {
                let line = format!("line {}: {invalid}", row.line);
                progress.suspend(|| super::output::print_message(&line));
            }
            if let Some(rejects) = &mut rejects {
                rejects.write(&row, &invalid)?;
            }
        }
        checked.ids.visit_animals_without_order(|line, order| {
            checked.invalid += 1;
            checked.valid -= 1;
            if checked.invalid <= REPORTED {
                let reason = format!("{order} is the id of no reserved order in the file");
                let line = format!("line {line}: {}", InvalidRow::in_column("orderId", reason));
                progress.suspend(|| super::output::print_message(&line));
            }
        })?;
        if checked.invalid > REPORTED {
            progress.suspend(|| {
                super::output::print_message(&format!(
                    "and {}",
                    counted(checked.invalid - REPORTED, "more row")
                ));
            });
        }
        Ok(checked)
    }

    /// Reads the whole file again, and adds the valid rows.
    fn add(&self, source: &Source, format: Format, checked: &Checked) -> anyhow::Result<()> {
        let not_imported = "nothing was imported";
        let mut load = databases::load(&self.database.database, self.if_absent.mode())
            .context(not_imported)?;
        let ids = if self.keep_ids {
            IdSource::Given
        } else {
            IdSource::Next
        };
        load.begin(ids, SystemClock.now()).context(not_imported)?;
        self.add_rows(&mut *load, source, format, checked)
            .context(not_imported)?;
        load.commit().map_err(|error| match error {
            CommitError::NotDone(error) => anyhow::Error::from(error).context(not_imported),
            unknown @ CommitError::Unknown(_) => unknown.into(),
        })
    }

    fn add_rows(
        &self,
        load: &mut dyn Load,
        source: &Source,
        format: Format,
        checked_file: &Checked,
    ) -> anyhow::Result<()> {
        let mut rows = self.read(source, format, &checked_file.csv)?;
        ensure!(
            checked_file.fields.are(load.fields()),
            "the fields of the database changed while the command read the file; run the command again"
        );
        let mut progress = Progress::of_animals("Importing", checked_file.valid);
        let mut valid = 0;
        let mut number = 0;
        let mut last = LastIds::default();
        if let Some(fields) = checked_file.fields.all() {
            load.set_fields(&fields)?;
            for field in checked_file.fields.new_ones() {
                load.record(&field.act(ActType::FieldAdded))?;
            }
        }
        for category in checked_file.used_new_categories() {
            load.add(&Resource::Category(category.clone()))?;
        }
        while let Some(row) = rows.next()? {
            number += 1;
            let Some(row) = row.ok().filter(|row| checked_file.is_good(row, number)) else {
                continue;
            };
            valid += 1;
            progress.animal();
            match row {
                Row::Pet { id, pet, fields } => {
                    let fields = checked_file.fields.values(&fields).unwrap_or_default();
                    load.add_pet(id, &pet, &fields)?;
                    last.pet = last.pet.max(id.map_or(0, PetId::get));
                }
                Row::Field(_) => {}
                Row::Profile(profile, logo) => {
                    if !set_profile(load, *profile, logo.as_deref())? {
                        progress.suspend(|| {
                            super::output::print_message(
                                "The database has a profile, so that of the file was left out.",
                            );
                        });
                    }
                }
                Row::Resource(resource, _) => {
                    load.add(&resource)?;
                    match resource {
                        Resource::Pet(pet) => last.pet = last.pet.max(pet.id.get()),
                        Resource::Order(order) => last.order = last.order.max(order.id.get()),
                        Resource::Note(note) => last.note = last.note.max(note.id.get()),
                        Resource::Category(_) => {}
                    }
                }
            }
        }
        let same = (valid, number)
            == (
                checked_file.valid,
                checked_file.valid + checked_file.invalid,
            );
        ensure!(
            same,
            "{} changed while the command read it; run the command again",
            self.name()
        );
        load.continue_after(last)?;
        load.log_import()?;
        Ok(())
    }
}
