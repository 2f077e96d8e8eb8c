//! The file of an unfinished copy, and its move to the target.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use petstore_system::owner::{FileOwner, create_file};

use super::{hard_links::HardLinks, replacement::ReplacedDatabase};
use crate::{
    copy_error::CopyError,
    file_identity::{companion_paths, remove_database, remove_if_present},
};

/// An unfinished copy next to its target. Its file is removed when this is dropped, unless it was moved
/// to the target.
pub(super) struct PartialFile {
    path: PathBuf,
    file: File,
}

impl PartialFile {
    /// Creates the file `.NAME.NUMBER.partial` next to the target `NAME`. The random `number` keeps the
    /// files of concurrent copies apart.
    pub(super) fn create(target_path: &Path, number: u64) -> io::Result<Self> {
        let target_name = target_path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let mut name = OsString::from(".");
        name.push(target_name);
        name.push(format!(".{number:016x}.partial"));
        let path = target_path.with_file_name(name);
        let file = create_file(&path, None)?;
        Ok(Self { path, file })
    }

    /// Returns the path of the unfinished copy.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file the owner of the replaced database. If no database is replaced, gives it the owner
    /// that a file at `owner_path` should have ([`FileOwner::for_file`]).
    pub(super) fn set_owner(
        &self,
        replaced_database: Option<&ReplacedDatabase>,
        owner_path: &Path,
    ) -> io::Result<()> {
        let owner = match replaced_database {
            Some(replaced_database) => Some(FileOwner::from_metadata(
                &replaced_database.file.metadata()?,
            )),
            None => FileOwner::for_file(owner_path),
        };
        match owner {
            Some(owner) => owner.chown(&self.file),
            None => Ok(()),
        }
    }

    /// Moves the file atomically to its target, in place of the replaced database. Syncs its content
    /// before, and its new name afterwards.
    ///
    /// If the replaced database is damaged or has companion files, keeps it under a second path, and
    /// returns that path. Otherwise, returns `None`.
    pub(super) fn move_to(
        self,
        target_path: &Path,
        replaced_database: Option<&ReplacedDatabase>,
        number: u64,
    ) -> Result<Option<PathBuf>, CopyError> {
        let to_write_error = |error| CopyError::from_write(target_path, error);
        self.file.sync_all().map_err(to_write_error)?;
        let folder = open_folder_of(target_path).map_err(to_write_error)?;
        let links = if must_keep_old_files(target_path, replaced_database) {
            Some(HardLinks::create(target_path, number, &folder).map_err(to_write_error)?)
        } else {
            None
        };
        let kept_path = links.as_ref().map(|links| links.path().to_owned());

        if let Err(error) = self.replace(target_path, &folder) {
            return Err(undo_links(links, error, target_path, &folder));
        }
        match folder.sync_all() {
            Ok(()) => Ok(kept_path),
            Err(error) => Err(CopyError::NotSynced {
                path: target_path.display().to_string(),
                cause: Arc::new(error),
            }),
        }
    }

    /// Renames the file to its target. First removes the old companion files, because SQLite would
    /// mistake them for companion files of the copy.
    fn replace(&self, target_path: &Path, folder: &File) -> io::Result<()> {
        for path in companion_paths(target_path) {
            remove_if_present(&path)?;
        }
        // A removed file must not be back after a power cut, whether it was removed here or by the
        // checkpoint.
        folder.sync_all()?;
        fs::rename(&self.path, target_path)
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // Does nothing after a successful move: no file has this path any more.
        remove_database(&self.path);
    }
}

/// Opens the folder of the target, to sync the names of its files.
fn open_folder_of(target_path: &Path) -> io::Result<File> {
    match target_path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder),
        _ => File::open("."),
    }
}

/// Whether the old files must be kept under a second path: several files cannot be replaced
/// atomically, and a damaged database may still be of use to the operator.
fn must_keep_old_files(target_path: &Path, replaced_database: Option<&ReplacedDatabase>) -> bool {
    let is_damaged = replaced_database.is_some_and(|database| database.is_damaged);
    // The checkpoint has removed the companion files, unless the database was too damaged for the
    // checkpoint, or another process has opened the database since.
    let has_companions = companion_paths(target_path)
        .iter()
        .any(|path| path.symlink_metadata().is_ok());
    is_damaged || has_companions
}

/// Restores the replaced database at its original path after `error` has prevented the move of the
/// copy. Returns the error for the operator.
fn undo_links(
    links: Option<HardLinks<'_>>,
    error: io::Error,
    target_path: &Path,
    folder: &File,
) -> CopyError {
    let Some(links) = links else {
        return CopyError::from_write(target_path, error);
    };
    let kept_path = links.path().display().to_string();
    match links.undo(folder) {
        Ok(()) => CopyError::from_write(target_path, error),
        // Report the first error, because what prevented the move has probably prevented the undo, too.
        Err(_) => CopyError::OldDatabaseMoved {
            path: target_path.display().to_string(),
            kept_path,
            cause: Arc::new(error),
        },
    }
}
