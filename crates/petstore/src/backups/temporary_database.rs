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
    /// Returns the place for a copy at this path, without making the copy.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Copies the database at `source_path`, and returns the number of animals and the photos in
    /// the copy. Lowers the priority of the calling thread before the copy is checked.
    pub(super) fn copy_from(&self, source_path: &Path) -> io::Result<CopiedContent> {
        sqlite::copy_into(source_path, &self.path, lower_priority).map_err(io::Error::other)
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
        sqlite::remove(&self.path);
    }
}

/// Lowers the priority of the calling thread, so that a backup hardly delays requests. Linux
/// applies the priority of a process to the calling thread only.
fn lower_priority() {
    // A failure does not matter to the backup: it only delays requests more.
    let _ = setpriority_process(None, BACKUP_PRIORITY);
}
