//! `petstore backup`.

use std::path::{Path, PathBuf};

use clap::Args;
use rand::RngExt;

use super::DatabaseArgs;
use crate::{config::DatabaseUrl, store::sqlite};

/// Copy the database to a file, while the service runs or not
///
/// The copy is of one moment, and holds everything that was acknowledged before
/// the command began. It is read from end to end, written to disk, and only
/// then named DEST. It holds the digests of API keys, so only its owner may
/// read it. The database is a SQLite file; PostgreSQL has tools of its own.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Example:\n",
    "  petstore backup /backup/petstore.db"
))]
pub(super) struct Backup {
    /// The file to write
    #[arg(value_name = "DEST")]
    destination: PathBuf,

    /// Replace DEST if it is there
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    database: DatabaseArgs,
}

impl Backup {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let number = super::random().random();
        let animals = sqlite::copy(file(&self.database)?, &self.destination, self.force, number)?;
        let copy = self.destination.display();
        super::print(&format!(
            "{copy} is a sound copy of {}: {animals} animals\n",
            self.database.database
        ))?;
        Ok(())
    }
}

/// The file that the database is.
pub(super) fn file(database: &DatabaseArgs) -> anyhow::Result<&Path> {
    match &database.database {
        DatabaseUrl::Sqlite(path) => Ok(path),
        DatabaseUrl::Postgres(url) => {
            anyhow::bail!("{url} is no file; PostgreSQL has pg_dump and pg_basebackup for that")
        }
    }
}
