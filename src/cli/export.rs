//! `petstore export`.

use std::{
    io::{self, IsTerminal},
    ops::ControlFlow,
};

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum, builder::BoolishValueParser};

use super::{DatabaseArgs, progress::Progress};
use crate::{
    domain::PetStatus,
    files::{CsvWriter, Format, NdjsonWriter, Writer},
    store::bulk,
};

/// Write all animals to standard output, in order of their id
///
/// The animals are a snapshot, also while the service runs. CSV begins with the
/// header id,name,categoryId,status.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore export > animals.csv\n",
    "  petstore export --format ndjson --status available"
))]
pub(super) struct Export {
    /// The format of the output
    #[arg(long, value_enum, env = "PETSTORE_EXPORT_FORMAT", default_value = "csv")]
    format: Format,

    /// Write only animals with this status
    #[arg(long, value_enum, env = "PETSTORE_EXPORT_STATUS")]
    status: Option<PetStatus>,

    /// Put a ' before each part of a name that a spreadsheet would read as a
    /// formula (CSV only); do not import such a file
    #[arg(long, env = "PETSTORE_EXPORT_SPREADSHEET", value_parser = BoolishValueParser::new())]
    spreadsheet: bool,

    #[command(flatten)]
    database: DatabaseArgs,
}

impl Export {
    pub(super) fn run(self) -> anyhow::Result<()> {
        ensure!(
            !self.spreadsheet || matches!(self.format, Format::Csv),
            "--spreadsheet needs --format csv"
        );
        let mut snapshot = bulk::snapshot(&self.database.database)?;
        let out = io::stdout().lock();
        // A progress bar would mix with the lines of the result.
        let mut progress = if out.is_terminal() || !io::stderr().is_terminal() {
            Progress::hidden()
        } else {
            Progress::of_animals("Exporting", snapshot.count_pets(self.status)?)
        };
        let mut written = Ok(());
        let mut write = |writer: &mut dyn Writer| -> anyhow::Result<()> {
            snapshot
                .pets(self.status, &mut |pet| {
                    progress.animal();
                    written = writer.write(pet);
                    if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                })
                .context("cannot read the animals")?;
            match std::mem::replace(&mut written, Ok(())).and_then(|()| writer.finish()) {
                // The reader closed the pipe early.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                done => done.context("cannot write the animals"),
            }
        };
        match self.format {
            Format::Csv if self.spreadsheet => write(&mut CsvWriter::for_spreadsheet(out)?),
            Format::Csv => write(&mut CsvWriter::new(out)?),
            Format::Ndjson => write(&mut NdjsonWriter::new(out)),
        }
    }
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Csv, Self::Ndjson]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(match self {
            Self::Csv => "csv",
            Self::Ndjson => "ndjson",
        }))
    }
}

impl ValueEnum for PetStatus {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.as_str()))
    }
}
