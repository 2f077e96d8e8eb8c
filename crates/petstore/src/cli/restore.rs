//! `petstore restore`.

use std::{
    fmt::Display,
    fs::File,
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow, ensure};
use clap::Args;
use indicatif::HumanBytes;
use petstore_domain::{Actor, Clock, SystemClock, WriteContext, store_area::PhotoId};
use petstore_observe::log::chain;
use petstore_photos::{Folder, Place};
use petstore_store::OpenError;
use petstore_store_sqlite::CopyError;
use tempfile::{Builder, NamedTempFile};

use super::{
    args::{BadSetting, DatabaseArgs},
    backup,
    backups::Named,
    photos::{self, PhotoArgs},
};
use crate::backups;

/// Replace the database with a copy that `petstore backup` or the service made
///
/// Stop the service first. SRC is a copy that `petstore backup` made, or a backup that the service
/// made, under any name, or the place of those: then it is the newest one. The command checks the whole copy before it
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
        let from = &self.source;
        let to = backup::file(&self.database, "pg_restore")?;
        self.photos.refuse_those_of_another_database()?;
        check_folder(to)?;
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
        if is_compressed(from) {
            return self.restore_renamed(from, to);
        }
        let photos = self.replace(from, to, &from.display())?;
        self.bring_photos(Folder::new(photos::path_of(from)).into(), &photos)
    }

    /// Restores a backup that the service made.
    fn restore(&self, named: Named, to: &Path) -> anyhow::Result<()> {
        let (at, size) = named.one(SystemClock.now())?;
        let name = format!("{}/{}", named.place, backups::name(at));
        self.announce(&name, &format!(" of {at}"), size, to)?;
        let photos = self.unpack_and_replace(to, &name, &named.before(at), |unpacked| {
            backups::unpack(&named.place, at, unpacked)
        })?;
        self.bring_photos(named.place.photos, &photos)
    }

    /// Restores a backup that the service made, and that has another name now. Its photos are in its
    /// place, unless they have a folder of their own.
    fn restore_renamed(&self, from: &Path, to: &Path) -> anyhow::Result<()> {
        let name = from.display().to_string();
        let mut packed = File::open(from).with_context(|| format!("cannot read {name}"))?;
        let size = packed
            .metadata()
            .with_context(|| format!("cannot read {name}"))?
            .len();
        self.announce(&name, "", size, to)?;
        let photos = self.unpack_and_replace(to, &name, "try another one", |unpacked| {
            backups::unpack_from(&mut packed, unpacked)
        })?;
        let own_photos = photos::path_of(from);
        let folder = if own_photos.is_dir() {
            own_photos
        } else {
            from.with_file_name("photos")
        };
        self.bring_photos(Folder::new(folder).into(), &photos)
    }

    /// Says what is restored, unless there is a database and nobody allowed to replace it.
    fn announce(&self, name: &str, time: &str, size: u64, to: &Path) -> anyhow::Result<()> {
        let exists = to.symlink_metadata().is_ok() && !self.force;
        ensure!(
            !exists,
            BadSetting(CopyError::Exists(to.display().to_string()).to_string())
        );
        let size = HumanBytes(size);
        let database = &self.database.database;
        super::output::print(&format!("Restoring {name}{time} ({size}) to {database}\n"))
    }

    /// Unpacks a backup next to the database, and replaces the database with it. Returns the photos that
    /// the database needs. If the backup is damaged, the error contains `advice`.
    fn unpack_and_replace(
        &self,
        to: &Path,
        name: &str,
        advice: &str,
        unpack: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> anyhow::Result<Vec<PhotoId>> {
        let mut unpacked = self.temporary_file(to)?;
        let damaged =
            |why: &dyn Display| anyhow!("{name} is damaged ({why}) and was not restored; {advice}");
        unpack(unpacked.as_file_mut()).map_err(|error| match error.kind() {
            ErrorKind::InvalidData => damaged(&chain(&error)),
            _ => anyhow::Error::from(error).context(format!("cannot unpack {name}")),
        })?;
        self.replace(unpacked.path(), to, &name)
            .map_err(|error| match error.downcast_ref() {
                Some(CopyError::Damaged { what, .. }) => damaged(what),
                None if error.is::<OpenError>() => error.context(format!("cannot restore {name}")),
                _ => error,
            })
    }

    fn temporary_file(&self, to: &Path) -> anyhow::Result<NamedTempFile> {
        let database = &self.database.database;
        let folder = Path::new(".").join(to);
        Builder::new()
            .prefix(".petstore-restore-")
            .tempfile_in(folder.parent().unwrap_or(&folder))
            .with_context(|| format!("cannot write next to {database}"))
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

/// Checks that the folder of the new database is there.
fn check_folder(database: &Path) -> Result<(), BadSetting> {
    match database.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
            Err(BadSetting(format!(
                "cannot restore to {}: the folder {} does not exist; create it, or name another path",
                database.display(),
                folder.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Whether the file begins as gzip does. An error shows when the file is read.
fn is_compressed(path: &Path) -> bool {
    let mut start = [0; 2];
    // A pipe would hold the command.
    path.is_file()
        && File::open(path)
            .and_then(|mut file| file.read_exact(&mut start))
            .is_ok()
        && start == [0x1F, 0x8B]
}
