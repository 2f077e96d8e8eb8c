//! `petstore restore`: replaces the database and its photos with a backup.

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
use petstore_observe::log::error_chain;
use petstore_photos::{Folder, PhotoStorage};
use petstore_store::OpenError;
use petstore_store_sqlite::CopyError;
use tempfile::{Builder, NamedTempFile};

use super::{
    args::{BadSetting, DatabaseArgs},
    backup::{DatabaseCopy, require_sqlite_file},
    backups::{NamedBackups, SelectedBackup},
    photo_files::{self, backup_folder_path},
    photos::PhotoArgs,
};
use crate::backups::{backup_name, unpack_file, unpack_from_storage};

/// The first bytes of every gzip file (RFC 1952, section 2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];

/// Replace the database with a copy that `petstore backup` or the service made
///
/// Stop the service first. SRC is a copy that `petstore backup` made, or a backup that the service
/// made, even if somebody has renamed it. If SRC is the place of such backups, the command restores
/// the newest one. It checks the whole copy before it replaces the database, and does not change
/// SRC. Even if it is interrupted, the database is the complete old one or the complete new one. It
/// also restores the files of photos, from SRC.photos or from the place, and fails if it does not
/// find all of them. The database must be a SQLite file; for PostgreSQL, use `pg_restore`.
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
    /// Restores the database and its photos. The source is either a storage of backups, a renamed
    /// backup of a service, or a copy that `petstore backup` made.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let source = &self.source;
        let postgres_alternative = "pg_restore";
        let database = require_sqlite_file(&self.database, postgres_alternative)?;
        self.photos.reject_suspicious_storage()?;
        check_folder(database)?;

        // The path of the database only matters for writes to the storage of backups, and a restore
        // writes nothing there.
        if let Some(argument) = source.to_str()
            && let Some(named_backups) = NamedBackups::find(argument, database)?
        {
            return self.restore_from_storage(named_backups, database);
        }
        // If the file cannot be looked up, the copy fails with the reason.
        let is_missing = matches!(source.try_exists(), Ok(false));
        if is_missing {
            anyhow::bail!(BadSetting(format!(
                "the file {} does not exist; name a copy that `petstore backup` made, or the place of the \
                 backups that `petstore serve` made",
                source.display()
            )));
        }
        if is_gzip_file(source) {
            return self.restore_renamed_backup(source, database);
        }
        self.restore_copy(source, database)
    }

    /// Restores a copy that `petstore backup` made. Its photos are in its own folder. Nothing is
    /// unpacked first, so [`Self::check_force`] is not needed.
    fn restore_copy(&self, copy: &Path, database: &Path) -> anyhow::Result<()> {
        let photos = self.replace_database(copy, database, &copy.display())?;
        let photo_folder = Folder::new(backup_folder_path(copy));
        self.restore_photos(photo_folder.into(), &photos)
    }

    /// Restores the selected backup of a service, from its storage.
    fn restore_from_storage(
        &self,
        named_backups: NamedBackups,
        database: &Path,
    ) -> anyhow::Result<()> {
        let SelectedBackup { time, length } = named_backups.select(SystemClock.now())?;
        let name = format!("{}/{}", named_backups.storage, backup_name(time));
        self.check_force(database)?;
        self.announce(&format!("{name} of {time}"), length)?;

        let advice = named_backups.advice_before(time);
        let photos = self.unpack_and_replace(database, &name, &advice, |unpacked| {
            unpack_from_storage(&named_backups.storage, time, unpacked)
        })?;
        self.restore_photos(named_backups.storage.photos, &photos)
    }

    /// Restores a backup that a service made and somebody has renamed. Its photos are in its own
    /// folder, such as `backup.gz.photos` for `backup.gz`, or else in the folder `photos` next to
    /// it.
    fn restore_renamed_backup(&self, backup: &Path, database: &Path) -> anyhow::Result<()> {
        let name = backup.display().to_string();
        let cannot_read = || format!("cannot read {name}");
        let mut file = File::open(backup).with_context(cannot_read)?;
        let metadata = file.metadata().with_context(cannot_read)?;
        self.check_force(database)?;
        self.announce(&name, metadata.len())?;

        // The end of a message such as `backup.gz is damaged (…) and was not restored; try another
        // one`.
        let advice = "try another one";
        let photos = self.unpack_and_replace(database, &name, advice, |unpacked| {
            unpack_file(&mut file, unpacked)
        })?;
        let own_folder = backup_folder_path(backup);
        let photo_folder = if own_folder.is_dir() {
            own_folder
        } else {
            backup.with_file_name("photos")
        };
        self.restore_photos(Folder::new(photo_folder).into(), &photos)
    }

    /// Fails if the database exists and `--force` is not set. The copy would also fail then, but
    /// only after the backup is unpacked.
    fn check_force(&self, database: &Path) -> Result<(), BadSetting> {
        // A symbolic link exists even if it leads nowhere.
        let exists = database.symlink_metadata().is_ok();
        if exists && !self.force {
            let error = CopyError::Exists(database.display().to_string());
            return Err(BadSetting(error.to_string()));
        }
        Ok(())
    }

    /// Prints which backup the command begins to restore. `length` is the length of its file in
    /// bytes.
    fn announce(&self, backup: &str, length: u64) -> anyhow::Result<()> {
        let size = HumanBytes(length);
        let url = &self.database.url;
        super::output::print(&format!("Restoring {backup} ({size}) to {url}\n"))
    }

    /// Unpacks a backup to a temporary file next to the database, and replaces the database with
    /// it. Returns the photos that the database needs.
    ///
    /// `unpack_to` writes the database to the file. `backup` is the name of the backup in errors.
    /// If the backup is damaged, the error ends with `advice`.
    fn unpack_and_replace(
        &self,
        database: &Path,
        backup: &str,
        advice: &str,
        unpack_to: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> anyhow::Result<Vec<PhotoId>> {
        let mut unpacked_file = self.temporary_file(database)?;
        if let Err(error) = unpack_to(unpacked_file.as_file_mut()) {
            if error.kind() == ErrorKind::InvalidData {
                return Err(damaged_backup_error(backup, &error_chain(&error), advice));
            }
            return Err(error).context(format!("cannot unpack {backup}"));
        }

        self.replace_database(unpacked_file.path(), database, &backup)
            .map_err(|error| explain_restore_error(error, backup, advice))
    }

    /// Creates a temporary file in the folder of the database.
    fn temporary_file(&self, database: &Path) -> anyhow::Result<NamedTempFile> {
        let url = &self.database.url;
        // With `./` before it, a bare file name has a parent, too. Only `/` has none.
        let path = Path::new(".").join(database);
        Builder::new()
            .prefix(".petstore-restore-")
            .tempfile_in(path.parent().unwrap_or(&path))
            .with_context(|| format!("cannot write next to {url}"))
    }

    /// Replaces the database with a copy of `source`, which messages call `source_name`. Returns
    /// the photos that the database needs.
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
            destination_name: &self.database.url,
            replace: self.force,
            restore_context: Some(&context),
        };
        let needed_photos = copy.copy_and_print_summary()?;
        Ok(needed_photos)
    }

    /// Copies the files of photos from the backup to the storage of the service, unless photos are
    /// off.
    fn restore_photos(&self, source: PhotoStorage, photos: &[PhotoId]) -> anyhow::Result<()> {
        let Some(destination) = self.photos.open(&self.database.url)? else {
            return Ok(());
        };
        // Continues a message such as `backup.photos lacks files of 1 of its 2 photos; put them
        // there, or leave photos out with --photos off`.
        let advice = "put them there";
        photo_files::copy_and_report(source, destination, photos, advice)
    }
}

/// Adds the name of an unpacked backup to an error, if the error means that the backup is damaged
/// or cannot be opened. If the backup is damaged, the error ends with `advice`. Returns other
/// errors unchanged.
fn explain_restore_error(error: anyhow::Error, backup: &str, advice: &str) -> anyhow::Error {
    if let Some(damage) = find_damage(&error) {
        return damaged_backup_error(backup, &damage, advice);
    }
    if error.is::<OpenError>() {
        return error.context(format!("cannot restore {backup}"));
    }
    error
}

/// Returns the description of the damage if an error means that the source of a copy is a damaged
/// database. The damage is found when the source is opened or when its pages are copied.
fn find_damage(error: &anyhow::Error) -> Option<&str> {
    if let Some(CopyError::Damaged { what, .. }) = error.downcast_ref() {
        return Some(what.as_str());
    }
    match error.downcast_ref() {
        Some(OpenError::Damaged { what, .. }) => Some(what.as_str()),
        _ => None,
    }
}

/// Returns the error for a damaged backup. The error ends with `advice`, which says what else to
/// restore.
fn damaged_backup_error(backup: &str, reason: &dyn Display, advice: &str) -> anyhow::Error {
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

/// Whether a file begins with the magic number of gzip. Returns `false` for a file that cannot be
/// read: the command fails with its error when it copies the file.
fn is_gzip_file(path: &Path) -> bool {
    // Opening a pipe would block the command.
    if !path.is_file() {
        return false;
    }
    let Ok(mut file) = File::open(path) else {
        return false;
    };
    let mut first_bytes = [0; GZIP_MAGIC.len()];
    file.read_exact(&mut first_bytes).is_ok() && first_bytes == GZIP_MAGIC
}
