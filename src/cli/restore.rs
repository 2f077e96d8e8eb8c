//! `petstore restore`.

use std::path::PathBuf;

use clap::Args;

use super::{BadSetting, DatabaseArgs, backup};

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

    /// Replace the database if it exists
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    database: DatabaseArgs,
}

impl Restore {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (from, to) = (&self.source, backup::file(&self.database)?);
        if !from.try_exists().unwrap_or(true) {
            let from = from.display();
            let message =
                format!("there is no file {from}; name a copy that `petstore backup` made");
            anyhow::bail!(BadSetting(message));
        }
        backup::copy(from, to, self.force, (&self.database.database, &from.display()))
    }
}
