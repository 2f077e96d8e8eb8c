//! `petstore restore`.

use std::path::PathBuf;

use clap::Args;

use super::{
    args::{BadSetting, DatabaseArgs},
    backup,
    photos::{self, PhotoArgs},
};
use crate::{
    domain::{Actor, Clock, SystemClock, WriteContext},
    photos::Folder,
};

/// Replace the database with a copy that `petstore backup` made
///
/// Stop the service first. The command checks the whole file SRC before it replaces
/// the database, and does not change SRC. If it is interrupted at any moment, the
/// database is the complete old one or the complete new one. The files of photos in SRC.photos
/// come back; the command fails if it does not find all. The database must be a
/// SQLite file; for PostgreSQL, use `pg_restore`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Example:\n",
    "  petstore restore /backup/petstore.db --force"
))]
pub(super) struct Restore {
    /// The backup to restore
    #[arg(value_name = "SRC")]
    source: PathBuf,

    /// Replace the database if it exists
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    photos: PhotoArgs,
}

impl Restore {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (from, to) = (&self.source, backup::file(&self.database)?);
        if !from.try_exists().unwrap_or(true) {
            let from = from.display();
            let message =
                format!("the file {from} does not exist; name a copy that `petstore backup` made");
            anyhow::bail!(BadSetting(message));
        }
        let context = WriteContext::new(Actor::Command, SystemClock.now());
        let photos = backup::copy(
            from,
            to,
            self.force,
            Some(&context),
            (&self.database.database, &from.display()),
        )?;
        match self.photos.open(&self.database.database)? {
            Some(place) => {
                let own = Folder::new(photos::path_of(from)).into();
                photos::copy_all(own, place, &photos, "put them there")
            }
            None => Ok(()),
        }
    }
}
