//! Keeps a database complete under second names (hard links) while it is replaced under its first ones.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use crate::file_identity::{companion, files_of};

/// The second names of all files of a database.
pub(super) struct HardLinks<'a> {
    original_path: &'a Path,
    link_path: PathBuf,
}

impl<'a> HardLinks<'a> {
    /// Creates the links next to the files of the database at `path`, and syncs their folder. Leaves none
    /// behind on an error.
    pub(super) fn create(path: &'a Path, number: u64, folder: &File) -> io::Result<Self> {
        let links = Self {
            original_path: path,
            link_path: companion(path, &format!(".replaced-{number:016x}")),
        };
        let result = links.create_files().and_then(|()| folder.sync_all());
        if let Err(error) = result {
            links.remove();
            return Err(error);
        }
        Ok(links)
    }

    /// Returns the second name of the database file.
    pub(super) fn path(&self) -> &Path {
        &self.link_path
    }

    /// Links every file of the database that exists.
    fn create_files(&self) -> io::Result<()> {
        for (original, link) in self.paths() {
            match fs::hard_link(original, link) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Restores the first names, and then removes the second ones.
    pub(super) fn undo(self, folder: &File) -> io::Result<()> {
        use io::ErrorKind::{AlreadyExists, NotFound};

        for (original, link) in self.paths() {
            match fs::hard_link(link, original) {
                Err(error) if !matches!(error.kind(), NotFound | AlreadyExists) => {
                    return Err(error);
                }
                _ => {}
            }
        }
        folder.sync_all()?;
        self.remove();
        Ok(())
    }

    /// Removes the second names. Ignores errors.
    fn remove(&self) {
        for (_, link) in self.paths() {
            let _ = fs::remove_file(link);
        }
    }

    /// Returns the first and the second name of each file that a database can have, whether it exists
    /// or not.
    fn paths(&self) -> impl Iterator<Item = (PathBuf, PathBuf)> {
        let originals = files_of(self.original_path);
        let links = files_of(&self.link_path);
        originals.into_iter().zip(links)
    }
}
