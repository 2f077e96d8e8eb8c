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
    file_identity::{files_of, remove},
};

/// An unfinished copy next to its target. Removed when dropped, unless it was moved to the target.
pub(super) struct PartialFile {
    path: PathBuf,
    file: File,
}

impl PartialFile {
    /// Creates the file `.NAME.NUMBER.partial` next to the target `NAME`.
    pub(super) fn create(target_path: &Path, number: u64) -> io::Result<Self> {
        let target_name = target_path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let mut name = OsString::from(".");
        name.push(target_name);
        name.push(format!(".{number:016x}.partial"));
        let path = target_path.with_file_name(name);
        let file = create_file(&path, None)?;
        Ok(Self { path, file })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file the owner of the replaced database. If no database is replaced, gives it the owner
    /// that a file at `path` should have ([`FileOwner::for_file`]).
    pub(super) fn set_owner(
        &self,
        replaced_database: Option<&ReplacedDatabase>,
        path: &Path,
    ) -> io::Result<()> {
        let owner = match replaced_database {
            Some(replaced_database) => Some(FileOwner::from_metadata(
                &replaced_database.file.metadata()?,
            )),
            None => FileOwner::for_file(path),
        };
        match owner {
            Some(owner) => owner.chown(&self.file),
            None => Ok(()),
        }
    }

    /// Moves the file atomically to its target, in place of the replaced database, and syncs. If the
    /// replaced database is damaged or has companion files, keeps it under a second path, and returns
    /// that path.
    pub(super) fn move_to(
        self,
        target_path: &Path,
        replaced_database: Option<&ReplacedDatabase>,
        number: u64,
    ) -> Result<Option<PathBuf>, CopyError> {
        let folder = self
            .sync(target_path)
            .map_err(|error| CopyError::from_write(target_path, error))?;
        let [_, companions @ ..] = files_of(target_path);
        // The checkpoint has removed the companion files, unless the database was too damaged for it, or
        // another process has opened the database since.
        let has_several_files = companions
            .iter()
            .any(|path| path.symlink_metadata().is_ok());
        let is_damaged = replaced_database.is_some_and(|database| database.is_damaged);
        // Several files cannot be replaced atomically, and a damaged database may still be of use to the
        // operator. So keep both under a second path.
        let links = if is_damaged || has_several_files {
            let links = HardLinks::create(target_path, number, &folder)
                .map_err(|error| CopyError::from_write(target_path, error))?;
            Some(links)
        } else {
            None
        };

        let aside = links.as_ref().map(|links| links.path().to_owned());
        if let Err(error) = self.replace(target_path, &companions, &folder) {
            return Err(undo_links(links, error, target_path, &folder));
        }
        match folder.sync_all() {
            Ok(()) => Ok(aside),
            Err(error) => Err(CopyError::NotSynced {
                path: target_path.display().to_string(),
                cause: Arc::new(error),
            }),
        }
    }

    /// Syncs the file. Returns the open folder of the target, which the caller syncs after the rename.
    fn sync(&self, target_path: &Path) -> io::Result<File> {
        self.file.sync_all()?;
        match target_path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => File::open(folder),
            _ => File::open("."),
        }
    }

    /// Renames the file to its target. First removes the old companion files, because SQLite would
    /// mistake them for companion files of the copy.
    fn replace(&self, target_path: &Path, companions: &[PathBuf], folder: &File) -> io::Result<()> {
        for path in companions {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        // A power cut could also restore files that a checkpoint has removed.
        folder.sync_all()?;
        fs::rename(&self.path, target_path)
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // Does nothing after a successful move: no file has this path any more.
        remove(&self.path);
    }
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
    let aside = links.path().display().to_string();
    match links.undo(folder) {
        Ok(()) => CopyError::from_write(target_path, error),
        Err(_) => CopyError::Aside {
            path: target_path.display().to_string(),
            aside,
            cause: Arc::new(error),
        },
    }
}
