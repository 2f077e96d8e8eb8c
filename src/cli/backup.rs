//! `petstore backup`.

use std::{
    fmt::Display,
    path::{Path, PathBuf},
};

use clap::Args;
use rand::RngExt;

use super::{BadSetting, DatabaseArgs};
use crate::{
    config::DatabaseUrl,
    store::sqlite::{self, Copied, CopyError},
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

    /// Replace DEST if it exists
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    database: DatabaseArgs,
}

impl Backup {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (from, to) = (file(&self.database)?, &self.destination);
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
        let wrong = match folder {
            _ if to.is_dir() => format!("{} is a folder; name a file in it", to.display()),
            Some(folder) if !folder.is_dir() => {
                format!("the folder {} does not exist; create it", folder.display())
            }
            _ => String::new(),
        };
        anyhow::ensure!(wrong.is_empty(), BadSetting(wrong));
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
    let copied = sqlite::copy(from, to, replace, super::random().random());
    let Copied { animals, aside } = copied.map_err(|error| match error {
        CopyError::Open(error) => anyhow::Error::from(error),
        error => error.into(),
    })?;
    if let Some(aside) = aside {
        super::say(&format!(
            "What was at {} was damaged or not in one file. It is kept as {}; \
             remove it and the files beside it when you no longer need it.",
            names.0,
            aside.display()
        ));
    }
    let animals = super::counted(animals, "animal");
    super::print(&format!("{} is a sound copy of {}: {animals}\n", names.0, names.1))?;
    Ok(())
}

/// The file that the database is.
pub(super) fn file(database: &DatabaseArgs) -> anyhow::Result<&Path> {
    match &database.database {
        DatabaseUrl::Sqlite(path) => Ok(path),
        DatabaseUrl::Postgres(url) => {
            let message = format!(
                "{url} is not a SQLite database; for PostgreSQL, use pg_dump or pg_basebackup"
            );
            anyhow::bail!(BadSetting(message))
        }
    }
}
