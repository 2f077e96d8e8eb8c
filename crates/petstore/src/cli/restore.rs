//! `petstore restore`.

use std::{
    fmt::Display,
    fs::File,
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use clap::Args;
use indicatif::HumanBytes;
use petstore_domain::{Actor, Clock, SystemClock, WriteContext, store_area::PhotoId};
use petstore_observe::log::chain;
use petstore_photos::{Folder, PhotoStorage};
use petstore_store::OpenError;
use petstore_store_sqlite::CopyError;
use tempfile::{Builder, NamedTempFile};

use super::{
    args::{BadSetting, DatabaseArgs},
    backup::{self, DatabaseCopy},
    backups::NamedBackups,
    photo_files::{self, backup_folder_path},
    photos::PhotoArgs,
};
use crate::backups;

/// Replace the database with a copy that `petstore backup` or the service made
///
/// Stop the service first. SRC is a copy that `petstore backup` made, or a backup that the service
/// made, under any name, or the place of those: then it is the newest one. The command checks the whole
/// copy before it replaces the database, and does not change SRC. If it is interrupted at any moment,
/// the database is the complete old one or the complete new one. The files of photos come back, from
/// SRC.photos or from the place; the command fails if it does not find all. The database must be a
/// SQLite file; for PostgreSQL, use `pg_restore`.
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
    /// Restores the database and its photos.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let source = &self.source;
        let database = backup::sqlite_file(&self.database, "pg_restore")?;
        self.photos.reject_place_of_another_database()?;
        check_folder(database)?;

        if let Some(argument) = source.to_str()
            && let Some(backups) = NamedBackups::find(argument, database)?
        {
            return self.restore_from_storage(backups, database);
        }
        // If this is unknown, the copy fails with the reason.
        let may_exist = source.try_exists().unwrap_or(true);
        if !may_exist {
            anyhow::bail!(BadSetting(format!(
                "the file {} does not exist; name a copy that `petstore backup` made, or the place of the \
                 backups that `petstore serve` made",
                source.display()
            )));
        }
        if is_gzip_file(source) {
            return self.restore_renamed(source, database);
        }

        let photos = self.replace_database(source, database, &source.display())?;
        let photo_folder = Folder::new(backup_folder_path(source));
        self.restore_photos(photo_folder.into(), &photos)
    }

    /// Restores a backup that a service made, from its storage.
    fn restore_from_storage(&self, backups: NamedBackups, database: &Path) -> anyhow::Result<()> {
        let backup = backups.select(SystemClock.now())?;
        let time = backup.time;
        let name = format!("{}/{}", backups.storage, backups::backup_name(time));
        self.announce(&format!("{name} of {time}"), backup.length, database)?;

        let advice = backups.advice_before(time);
        let photos = self.unpack_and_replace(database, &name, &advice, |unpacked| {
            backups::unpack(&backups.storage, time, unpacked)
        })?;
        self.restore_photos(backups.storage.photos, &photos)
    }

    /// Restores a backup that a service made and somebody has renamed. Its photos are in its own
    /// folder, such as `backup.gz.photos` for `backup.gz`, or else in the folder `photos` next to it.
    fn restore_renamed(&self, backup: &Path, database: &Path) -> anyhow::Result<()> {
        let name = backup.display().to_string();
        let message = format!("cannot read {name}");
        let mut file = File::open(backup).with_context(|| message.clone())?;
        let metadata = file.metadata().context(message)?;
        self.announce(&name, metadata.len(), database)?;

        let photos = self.unpack_and_replace(database, &name, "try another one", |unpacked| {
            backups::unpack_file(&mut file, unpacked)
        })?;
        let own_folder = backup_folder_path(backup);
        let photo_folder = if own_folder.is_dir() {
            own_folder
        } else {
            backup.with_file_name("photos")
        };
        self.restore_photos(Folder::new(photo_folder).into(), &photos)
    }

    /// Announces which backup is restored. Fails if the database exists and the command may not replace it.
    fn announce(&self, backup: &str, length: u64, database: &Path) -> anyhow::Result<()> {
        let exists = database.symlink_metadata().is_ok();
        if exists && !self.force {
            let error = CopyError::Exists(database.display().to_string());
            anyhow::bail!(BadSetting(error.to_string()));
        }
        let size = HumanBytes(length);
        let url = &self.database.database;
        super::output::print(&format!("Restoring {backup} ({size}) to {url}\n"))
    }

    /// Unpacks a backup to a temporary file next to the database, and replaces the database with it.
    /// Returns the photos that the database needs. If the backup is damaged, the error contains
    /// `advice`.
    fn unpack_and_replace(
        &self,
        database: &Path,
        backup: &str,
        advice: &str,
        unpack: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> anyhow::Result<Vec<PhotoId>> {
        let mut unpacked_file = self.temporary_file(database)?;
        if let Err(error) = unpack(unpacked_file.as_file_mut()) {
            if error.kind() == ErrorKind::InvalidData {
                return Err(damaged_backup(backup, &chain(&error), advice));
            }
            return Err(error).context(format!("cannot unpack {backup}"));
        }

        self.replace_database(unpacked_file.path(), database, &backup)
            .map_err(|error| {
                if let Some(damage) = damage_of(&error) {
                    return damaged_backup(backup, damage, advice);
                }
                if error.is::<OpenError>() {
                    return error.context(format!("cannot restore {backup}"));
                }
                error
            })
    }

    /// Creates a temporary file in the folder of the database.
    fn temporary_file(&self, database: &Path) -> anyhow::Result<NamedTempFile> {
        let url = &self.database.database;
        let path = Path::new(".").join(database);
        Builder::new()
            .prefix(".petstore-restore-")
            .tempfile_in(path.parent().unwrap_or(&path))
            .with_context(|| format!("cannot write next to {url}"))
    }

    /// Replaces the database with a copy of `source`, which messages call `source_name`. Returns the
    /// photos that the database needs.
    fn replace_database(
        &self,
        source: &Path,
        database: &Path,
        source_name: &dyn Display,
    ) -> anyhow::Result<Vec<PhotoId>> {
        let context = WriteContext::new(Actor::Command, SystemClock.now());
        let copy = DatabaseCopy {
            source,
            source_name,
            destination: database,
            destination_name: &self.database.database,
            replace: self.force,
            restored: Some(&context),
        };
        copy.make()
    }

    /// Copies the files of photos from the backup to the storage of the service, unless photos are off.
    fn restore_photos(&self, source: PhotoStorage, photos: &[PhotoId]) -> anyhow::Result<()> {
        match self.photos.open(&self.database.database)? {
            Some(storage) => photo_files::copy_all(source, storage, photos, "put them there"),
            None => Ok(()),
        }
    }
}

/// Returns the description of the damage if the source of a copy is a damaged database, whether the
/// damage shows when the source is opened or when its pages are copied.
fn damage_of(error: &anyhow::Error) -> Option<&String> {
    if let Some(CopyError::Damaged { what, .. }) = error.downcast_ref() {
        return Some(what);
    }
    match error.downcast_ref() {
        Some(OpenError::Damaged { what, .. }) => Some(what),
        _ => None,
    }
}

/// Returns the error for a damaged backup.
fn damaged_backup(backup: &str, reason: &dyn Display, advice: &str) -> anyhow::Error {
    anyhow!("{backup} is damaged ({reason}) and was not restored; {advice}")
}

/// Checks that the folder of the new database exists.
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

/// Whether a file begins with the magic number of gzip. Returns `false` for a file that cannot be read:
/// the command fails with its error when it copies the file.
fn is_gzip_file(path: &Path) -> bool {
    // Opening a pipe would block the command.
    if !path.is_file() {
        return false;
    }
    let Ok(mut file) = File::open(path) else {
        return false;
    };
    let mut first_bytes = [0; 2];
    file.read_exact(&mut first_bytes).is_ok() && first_bytes == [0x1F, 0x8B]
}
