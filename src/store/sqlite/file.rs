//! The database as a file among others.

use std::{
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::store::StoreError;

/// Which file the database is. A file can be removed or replaced while it is
/// open; what is then written into it nobody will ever find.
pub(super) struct FileId {
    path: PathBuf,
    device_and_inode: (u64, u64),
}

impl FileId {
    /// Notes which file is at `path` now.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let device_and_inode = device_and_inode(&path)?;
        Ok(Self { path, device_and_inode })
    }

    /// Where it is, whatever names lead there.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if another file, or none, is there now.
    pub(super) fn check(&self) -> Result<(), FileGone> {
        match device_and_inode(&self.path) {
            Ok(there) if there == self.device_and_inode => Ok(()),
            _ => Err(FileGone(self.path.clone())),
        }
    }
}

/// What tells the file at `path` from every other.
pub(super) fn device_and_inode(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = path.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

#[derive(Debug, thiserror::Error)]
#[error("the database file {} was removed or replaced", .0.display())]
pub(super) struct FileGone(PathBuf);

impl From<FileGone> for StoreError {
    fn from(error: FileGone) -> Self {
        Self::Unavailable(Arc::new(error))
    }
}
