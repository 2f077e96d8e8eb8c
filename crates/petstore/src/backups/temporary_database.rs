//! The uncompressed copy of a database from which a backup is written.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use petstore_store_sqlite::{self as sqlite, CopiedContent};
use rustix::process::setpriority_process;

/// The priority of the thread of a backup, as for `nice`: at this value, the thread still gets a
/// tenth of a busy core.
const BACKUP_PRIORITY: i32 = 10;

/// A copy of a database at a temporary path. Dropping this deletes the copy.
pub(super) struct TemporaryDatabase {
    path: PathBuf,
}

impl TemporaryDatabase {
    /// Copies the database at `source_path` to `path`. Returns the copy, with the number of its
    /// animals and its photos. Lowers the priority of the calling thread before the copy is
    /// checked.
    pub(super) fn copy_of(source_path: &Path, path: PathBuf) -> io::Result<(Self, CopiedContent)> {
        // This deletes the file even if the copy fails.
        let copy = Self { path };
        let content =
            sqlite::copy_into(source_path, &copy.path, lower_priority).map_err(io::Error::other)?;
        Ok((copy, content))
    }

    /// Writes the copy to `output`, compressed with gzip.
    pub(super) fn compress_to(&self, output: &mut dyn Write) -> io::Result<()> {
        let mut encoder = GzEncoder::new(output, Compression::default());
        io::copy(&mut File::open(&self.path)?, &mut encoder)?;
        encoder.finish()?;
        Ok(())
    }
}

impl Drop for TemporaryDatabase {
    fn drop(&mut self) {
        sqlite::remove_database(&self.path);
    }
}

/// Lowers the priority of the calling thread, so that a backup hardly delays requests. Linux
/// applies the priority of a process to the calling thread only.
fn lower_priority() {
    // A failure does not matter to the backup: it only delays requests more.
    let _ = setpriority_process(None, BACKUP_PRIORITY);
}
