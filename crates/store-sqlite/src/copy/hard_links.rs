//! Keeps an old database complete under a second path, by hard links, while a copy replaces it.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use crate::file_identity::{companion_path, files_of};

/// Hard links to all files of a database.
pub(super) struct HardLinks<'a> {
    original_path: &'a Path,
    /// The second path of the database file. Its companion files are linked next to it.
    link_path: PathBuf,
}

impl<'a> HardLinks<'a> {
    /// Creates the links next to the files of the database at `path`, under names with the random
    /// `number`, and syncs their folder. After an error, removes the links again.
    pub(super) fn create(path: &'a Path, number: u64, folder: &File) -> io::Result<Self> {
        let links = Self {
            original_path: path,
            link_path: companion_path(path, &format!(".replaced-{number:016x}")),
        };
        let result = links.create_files().and_then(|()| folder.sync_all());
        if let Err(error) = result {
            links.remove();
            return Err(error);
        }
        Ok(links)
    }

    /// Returns the second path of the database file.
    pub(super) fn path(&self) -> &Path {
        &self.link_path
    }

    /// Links every file of the database that exists.
    fn create_files(&self) -> io::Result<()> {
        for (original, link) in self.paths() {
            match fs::hard_link(original, link) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Restores the original files from the links, and then removes the links.
    pub(super) fn undo(self, folder: &File) -> io::Result<()> {
        use io::ErrorKind::{AlreadyExists, NotFound};

        for (original, link) in self.paths() {
            match fs::hard_link(link, original) {
                Ok(()) => {}
                // The database never had this file, or the file was not removed yet.
                Err(error) if matches!(error.kind(), NotFound | AlreadyExists) => {}
                Err(error) => return Err(error),
            }
        }
        folder.sync_all()?;
        self.remove();
        Ok(())
    }

    /// Removes the links. Ignores errors, because a link that stays behind only takes space.
    fn remove(&self) {
        for (_, link) in self.paths() {
            let _ = fs::remove_file(link);
        }
    }

    /// Returns the original path and the path of the link for each file that a database can have,
    /// whether or not it exists.
    fn paths(&self) -> impl Iterator<Item = (PathBuf, PathBuf)> {
        let originals = files_of(self.original_path);
        let links = files_of(&self.link_path);
        originals.into_iter().zip(links)
    }
}
