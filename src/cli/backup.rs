//! `petstore backup`.

use std::{
    fmt::Display,
    path::{Path, PathBuf},
};

use clap::Args;
use rand::RngExt;

use super::DatabaseArgs;
use crate::{
    config::DatabaseUrl,
    store::sqlite::{self, Copied},
};

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
        let (from, to) = (file(&self.database)?, &self.destination);
        copy(from, to, self.force, (&to.display(), &self.database.database))
    }
}

/// Copies a database, and says so; `names` are those of the copy and of the
/// database, for people.
pub(super) fn copy(
    from: &Path,
    to: &Path,
    replace: bool,
    names: (&dyn Display, &dyn Display),
) -> anyhow::Result<()> {
    let Copied { animals, aside } = sqlite::copy(from, to, replace, super::random().random())?;
    if let Some(aside) = aside {
        super::say(&format!(
            "What was at {} was damaged or not in one file. It is kept as {}; \
             remove it and the files beside it when you no longer need it.",
            names.0,
            aside.display()
        ));
    }
    super::print(&format!("{} is a sound copy of {}: {animals} animals\n", names.0, names.1))?;
    Ok(())
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
