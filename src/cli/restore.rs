//! `petstore restore`.

use std::path::PathBuf;

use clap::Args;

use super::{DatabaseArgs, backup};

/// Put a copy that `petstore backup` made in the place of the database
///
/// SRC is read from end to end first, and left as it is. The service must not
/// run. If the command is cut short at any moment, the database is the old one
/// or the new one, whole. It is a SQLite file; PostgreSQL has tools of its own.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Example:\n",
    "  petstore restore /backup/petstore.db --force"
))]
pub(super) struct Restore {
    /// The file to restore from
    #[arg(value_name = "SRC")]
    source: PathBuf,

    /// Replace the database if it is there
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    database: DatabaseArgs,
}

impl Restore {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (from, to) = (&self.source, backup::file(&self.database)?);
        backup::copy(from, to, self.force, (&self.database.database, &from.display()))
    }
}
