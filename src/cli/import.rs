//! `petstore import`.
//!
//! The file is read twice: first to check all of it, then to add it. So nobody
//! who writes to the same database waits for a slow pipe or a bad file, and the
//! first wrong row does not hide the others.

use std::{
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail, ensure};
use clap::Args;

use super::{BadSetting, CreateArgs, DatabaseArgs, counted, progress::Progress, rejects::Rejects};
use crate::{
    config,
    domain::PetId,
    files::{self, Format, InvalidRow, RawRow, Row, SeenIds, Source},
    store::{
        OpenError,
        bulk::{self, CommitError, Ids, LastIds, Load, Snapshot},
    },
};

/// How many wrong rows are told one by one.
const TOLD: u64 = 20;

/// The exit status if animals were imported, and other rows were rejected.
const SOME_REJECTED: u8 = 3;

/// Stands for the number of a row where an identifier is taken already.
const IN_CATALOGUE: u64 = 0;

/// Add the animals of a file, all of them or none
///
/// As CSV, it begins with a header: name and categoryId, and perhaps status and
/// id, in any order. As NDJSON, it has an object of these members on each line.
/// Without a status, an animal is available. It works while the service runs.
/// If rows were rejected with --skip-invalid, the exit status is 3.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore import animals.csv --dry-run\n",
    "  petstore import animals.csv --skip-invalid --rejects wrong.csv\n",
    "  petstore export | petstore import - --format csv --database sqlite:other.db"
))]
pub(super) struct Import {
    /// The file to read; - is standard input
    file: PathBuf,

    /// How the animals stand in the file; as the ending of its name says, if
    /// not given (.csv, .ndjson or .jsonl)
    #[arg(long, value_enum, env = "PETSTORE_IMPORT_FORMAT")]
    format: Option<Format>,

    /// Add the animals of the good rows, although others are wrong; needs
    /// --rejects
    #[arg(long, env = "PETSTORE_IMPORT_SKIP_INVALID", value_parser = config::switch)]
    skip_invalid: bool,

    /// Where to write the wrong rows, as CSV with their lines and what is wrong;
    /// the file must not be there yet
    #[arg(long, value_name = "FILE", env = "PETSTORE_IMPORT_REJECTS")]
    rejects: Option<PathBuf>,

    /// Check the file, and add nothing
    #[arg(long, env = "PETSTORE_IMPORT_DRY_RUN", value_parser = config::switch)]
    dry_run: bool,

    /// Keep the ids of the file, which must be free; they are ignored otherwise
    #[arg(long, env = "PETSTORE_IMPORT_KEEP_IDS", value_parser = config::switch)]
    keep_ids: bool,

    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    if_absent: CreateArgs,
}

/// What is known of a file once it was checked.
struct Checked {
    good: u64,
    wrong: u64,
    /// Under which identifiers animals will be added, if they are kept.
    met: Option<SeenIds>,
}

impl Import {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let bad = |message: &str| BadSetting(message.to_owned());
        let format = self.format.or_else(|| Format::of(&self.file));
        let format = format.ok_or_else(|| {
            bad("the name of the file does not tell its format; add --format csv or --format ndjson")
        })?;
        ensure!(
            self.skip_invalid == self.rejects.is_some(),
            bad("--skip-invalid needs --rejects FILE, and the reverse, so that no row is lost")
        );
        let source = self.open()?;
        // Before the file is read, which may take long. It is not kept open longer than
        // it is needed: meanwhile, no checkpoint is complete.
        let there = match bulk::snapshot(&self.database.database) {
            Err(OpenError::Absent(_) | OpenError::TooOld { found: 0, .. })
                if self.if_absent.create =>
            {
                None
            }
            snapshot => Some(snapshot?),
        };
        let mut rejects = self.rejects.as_deref().map(Rejects::create).transpose()?;
        let checked = self.check(&source, format, rejects.as_mut(), there)?;
        let Checked { good, wrong, .. } = checked;
        if wrong > 0 && !self.skip_invalid {
            let rows = good + wrong;
            bail!(
                "{}: invalid rows: {wrong} of {rows}; nothing was imported; correct them, or add \
                 --skip-invalid --rejects FILE to import the others",
                self.name()
            );
        }
        if let Some(rejects) = &mut rejects {
            rejects.finish()?;
        }
        let added = if self.dry_run { Ok(()) } else { self.add(&source, format, &checked) };
        if let Err(error) = added {
            // If the others may have been imported, it says which were not.
            if error.is::<CommitError>()
                && let Some(rejects) = rejects
            {
                rejects.keep();
            }
            return Err(error);
        }
        let done = if self.dry_run { "Would import" } else { "Imported" };
        let rejected = rejects.map_or(String::new(), |rejects| {
            format!(" Rejected {}: see {}.", counted(wrong, "row"), rejects.keep().display())
        });
        let (good, database) = (counted(good, "animal"), &self.database.database);
        super::say(&format!("{done} {good} into {database}.{rejected}"));
        Ok(if wrong == 0 { ExitCode::SUCCESS } else { SOME_REJECTED.into() })
    }

    fn open(&self) -> anyhow::Result<Source> {
        if self.file == Path::new("-") {
            return Source::copied_from(io::stdin().lock()).context("cannot read standard input");
        }
        let opened = Source::open(&self.file);
        opened.map_err(|error| BadSetting(format!("cannot read {}: {error}", self.name())).into())
    }

    /// The file, for people.
    fn name(&self) -> String {
        match self.file.to_string_lossy().as_ref() {
            "-" => "standard input".to_owned(),
            name => name.to_owned(),
        }
    }

    /// Reads the whole file, and says what is wrong with it.
    fn check(
        &self,
        source: &Source,
        format: Format,
        mut rejects: Option<&mut Rejects>,
        there: Option<Box<dyn Snapshot>>,
    ) -> anyhow::Result<Checked> {
        let refused = || format!("nothing was imported: {}", self.name());
        let met = self.keep_ids.then(|| taken_ids(there)).transpose()?;
        let mut rows = files::read(source, format, self.keep_ids).with_context(refused)?;
        let mut progress = Progress::of_bytes("Checking", source.length());
        let mut checked = Checked { good: 0, wrong: 0, met };
        while let Some(row) = rows.next().with_context(refused)? {
            progress.step(|_| rows.bytes_read());
            let wrong = match row {
                Err(wrong) => wrong,
                Ok(row) => {
                    let Some(wrong) = checked.is_taken(&row)? else {
                        checked.good += 1;
                        continue;
                    };
                    wrong
                }
            };
            checked.wrong += 1;
            let row = rows.raw_row()?;
            if checked.wrong <= TOLD {
                progress.suspend(|| super::say(&told(&row, &wrong)));
            }
            if let Some(rejects) = &mut rejects {
                rejects.write(&row, &wrong)?;
            }
        }
        if checked.wrong > TOLD {
            progress.suspend(|| {
                super::say(&format!("and {}", counted(checked.wrong - TOLD, "more row")));
            });
        }
        Ok(checked)
    }

    /// Reads the whole file again, and adds what is good of it.
    fn add(&self, source: &Source, format: Format, checked: &Checked) -> anyhow::Result<()> {
        let refused = "nothing was imported";
        let mut load =
            bulk::load(&self.database.database, self.if_absent.mode()).context(refused)?;
        load.begin(if self.keep_ids { Ids::Given } else { Ids::Next }).context(refused)?;
        self.add_rows(&mut *load, source, format, checked).context(refused)?;
        load.commit().map_err(|error| match error {
            CommitError::NotDone(error) => anyhow::Error::from(error).context(refused),
            unknown @ CommitError::Unknown(_) => unknown.into(),
        })
    }

    fn add_rows(
        &self,
        load: &mut dyn Load,
        source: &Source,
        format: Format,
        checked: &Checked,
    ) -> anyhow::Result<()> {
        let mut rows = files::read(source, format, self.keep_ids)?;
        let mut progress = Progress::of_animals("Importing", checked.good);
        let (mut good, mut number) = (0, 0);
        let mut last = LastIds::default();
        while let Some(row) = rows.next()? {
            number += 1;
            let Some(row) = row.ok().filter(|row| checked.is_good(row, number)) else {
                continue;
            };
            load.add_pet(row.id, &row.pet)?;
            good += 1;
            progress.animal();
            last.pet = last.pet.max(row.id.map_or(0, PetId::get));
        }
        let same = (good, number) == (checked.good, checked.good + checked.wrong);
        ensure!(same, "{} was changed while it was read", self.name());
        load.continue_after(last)?;
        Ok(())
    }
}

impl Checked {
    /// Whether the row after those that were checked has an identifier that is
    /// taken. Notes it if not.
    fn is_taken(&self, row: &Row) -> anyhow::Result<Option<InvalidRow>> {
        let (Some(met), Some(id)) = (&self.met, row.id) else {
            return Ok(None);
        };
        let by = match met.record(id, self.good + self.wrong + 1)? {
            None => return Ok(None),
            Some(IN_CATALOGUE) => "is taken by an animal of the catalogue",
            Some(_) => "stands in the file already",
        };
        Ok(Some(InvalidRow { column: Some("id"), reason: format!("{} {by}", id.get()) }))
    }

    /// Whether a row that could be read was found good.
    fn is_good(&self, row: &Row, number: u64) -> bool {
        let (Some(met), Some(id)) = (&self.met, row.id) else {
            return true;
        };
        self.wrong == 0 || matches!(met.row_of(id), Ok(Some(first)) if first == number)
    }
}

/// The identifiers of the animals that are there.
fn taken_ids(there: Option<Box<dyn Snapshot>>) -> anyhow::Result<SeenIds> {
    let met = SeenIds::new()?;
    let mut noted = Ok(None);
    if let Some(mut there) = there {
        there.pets(None, &mut |pet| {
            noted = met.record(pet.id, IN_CATALOGUE);
            if noted.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
    }
    noted?;
    Ok(met)
}

/// A wrong row, for people.
fn told(row: &RawRow, wrong: &InvalidRow) -> String {
    let InvalidRow { column, reason } = wrong;
    let column = column.map_or(String::new(), |column| format!("{column} "));
    format!("line {}: {column}{reason}", row.line)
}
