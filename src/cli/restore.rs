//! `petstore restore`.

use std::{
    fmt::Display,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow, ensure};
use clap::Args;
use indicatif::HumanBytes;
use tempfile::Builder;

use super::{
    args::{BadSetting, DatabaseArgs},
    backup,
    backups::Named,
    photos::{self, PhotoArgs},
};
use crate::{
    backups,
    domain::{Actor, Clock, SystemClock, WriteContext, store_area::PhotoId},
    observe::log::chain,
    photos::{Folder, Place},
    store::{OpenError, sqlite::CopyError},
};

/// Replace the database with a copy that `petstore backup` or the service made
///
/// Stop the service first. SRC is a copy that `petstore backup` made, or a backup that the service
/// made, or the place of those: then it is the newest one. The command checks the whole copy before it
/// replaces the database, and does not change SRC. If it is interrupted at any moment, the database is the
/// complete old one or the complete new one. The files of photos come back, from SRC.photos or from the
/// place; the command fails if it does not find all. The database must be a SQLite file; for PostgreSQL, use
/// `pg_restore`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore restore /backup/petstore.db --force\n",
    "  petstore restore /backup\n",
    "  petstore restore s3://shop/backups/petstore-20261126T040000Z.db.gz"
))]
pub(super) struct Restore {
    /// The copy, the backup, or the place of backups: a folder, or `s3://BUCKET/PREFIX`
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
        if let Some(text) = from.to_str()
            && let Some(named) = Named::find(text, to)?
        {
            return self.restore(named, to);
        }
        if !from.try_exists().unwrap_or(true) {
            anyhow::bail!(BadSetting(format!(
                "the file {} does not exist; name a copy that `petstore backup` made, or the place of the \
                 backups that `petstore serve` made",
                from.display()
            )));
        }
        let photos = self.replace(from, to, &from.display())?;
        self.bring_photos(Folder::new(photos::path_of(from)).into(), &photos)
    }

    /// Restores a backup that the service made.
    fn restore(&self, named: Named, to: &Path) -> anyhow::Result<()> {
        let (at, size) = named.one(SystemClock.now())?;
        let name = format!("{}/{}", named.place, backups::name(at));
        let exists = to.symlink_metadata().is_ok() && !self.force;
        ensure!(!exists, BadSetting(CopyError::Exists(to.display().to_string()).to_string()));
        let (size, database) = (HumanBytes(size), &self.database.database);
        super::output::print(&format!("Restoring {name} of {at} ({size}) to {database}\n"))?;
        let folder = Path::new(".").join(to);
        let mut unpacked = Builder::new()
            .prefix(".petstore-restore-")
            .tempfile_in(folder.parent().unwrap_or(&folder))
            .with_context(|| format!("cannot write next to {database}"))?;
        let damaged = |why: &dyn Display| {
            anyhow!("{name} is damaged ({why}) and was not restored; {}", named.before(at))
        };
        backups::unpack(&named.place, at, unpacked.as_file_mut()).map_err(|error| {
            match error.kind() {
                ErrorKind::InvalidData => damaged(&chain(&error)),
                _ => anyhow::Error::from(error).context(format!("cannot unpack {name}")),
            }
        })?;
        let photos = self.replace(unpacked.path(), to, &name).map_err(|error| {
            match error.downcast_ref() {
                Some(CopyError::Damaged { what, .. }) => damaged(what),
                None if error.is::<OpenError>() => error.context(format!("cannot restore {name}")),
                _ => error,
            }
        })?;
        self.bring_photos(named.place.photos, &photos)
    }

    /// Replaces the database. Returns the photos that it needs.
    fn replace(&self, from: &Path, to: &Path, name: &dyn Display) -> anyhow::Result<Vec<PhotoId>> {
        let context = WriteContext::new(Actor::Command, SystemClock.now());
        let names: (&dyn Display, _) = (&self.database.database, name);
        backup::copy(from, to, self.force, Some(&context), names)
    }

    fn bring_photos(&self, from: Place, photos: &[PhotoId]) -> anyhow::Result<()> {
        match self.photos.open(&self.database.database)? {
            Some(place) => photos::copy_all(from, place, photos, "put them there"),
            None => Ok(()),
        }
    }
}
