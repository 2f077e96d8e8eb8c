//! Identifies files regardless of their names, knows the companion files of a database, and keeps files
//! open that SQLite locks.
//!
//! The companion files of a database are the files that SQLite keeps next to it: the WAL (`-wal`), the
//! shared memory of the WAL (`-shm`), and the rollback journal (`-journal`).

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use rustix::fs::Stat;

/// What SQLite appends to the path of a database for its companion files.
const COMPANION_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The identity of a file, which is the same whatever name of the file leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// Reads the identity of the file to which a path leads.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        Ok(Self::from_status(&rustix::fs::stat(path)?))
    }

    /// Returns the identity in the result of `stat` or `fstat`.
    pub(super) fn from_status(status: &Stat) -> Self {
        Self {
            device: status.st_dev,
            inode: status.st_ino,
        }
    }
}

/// Whether `path`, or the file to which it leads, has the name of a companion file, such as
/// `petstore.db-wal`.
///
/// A database must not have such a name: SQLite reads, overwrites and removes companion files when it
/// uses the database next to them. That database need not exist yet.
pub fn is_companion(path: &Path) -> bool {
    has_companion_name(path)
        || path
            .canonicalize()
            .is_ok_and(|path| has_companion_name(&path))
}

/// Whether this path ends like the path of a companion file.
fn has_companion_name(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    COMPANION_SUFFIXES
        .iter()
        .any(|suffix| name.ends_with(suffix.as_bytes()))
}

/// Returns the path of the companion file with this suffix. For example, the suffix `-wal` gives the
/// path of the WAL of the database at `path`.
pub(super) fn companion_path(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the paths of all companion files of the database at `path`.
pub(super) fn companion_paths(path: &Path) -> [PathBuf; 3] {
    COMPANION_SUFFIXES.map(|suffix| companion_path(path, suffix))
}

/// Returns the paths of a database file and of its companion files. The database file is the first one.
pub(super) fn files_of(path: &Path) -> [PathBuf; 4] {
    let [wal, index, journal] = companion_paths(path);
    [path.to_owned(), wal, index, journal]
}

/// Removes all files of a database. Ignores errors.
pub fn remove_database(path: &Path) {
    for file_path in files_of(path) {
        let _ = fs::remove_file(file_path);
    }
}

/// Removes a file. Does nothing if the file is missing.
pub(super) fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether both paths lead to the same file, even if it has two names.
pub(super) fn is_same_file(path: &Path, other_path: &Path) -> bool {
    match (FileIdentity::read(path), FileIdentity::read(other_path)) {
        (Ok(identity), Ok(other_identity)) => identity == other_identity,
        _ => false,
    }
}

/// A file that stays open, and its identity when it was opened.
struct KeptFile {
    identity: FileIdentity,
    file: Arc<File>,
}

/// Opens a file that SQLite locks, and never closes it.
///
/// A process that closes any descriptor of a file loses all its POSIX locks on the file, including the
/// locks of SQLite. To limit the number of open descriptors, this returns the same descriptor when the
/// same file is opened again.
pub(super) fn keep_open(path: &Path) -> io::Result<Arc<File>> {
    static KEPT_FILES: Mutex<Vec<KeptFile>> = Mutex::new(Vec::new());

    let mut kept_files = KEPT_FILES.lock();
    let identity = FileIdentity::read(path)?;
    for kept_file in kept_files.iter() {
        // Check the descriptor, too: if other code has closed it, its number may belong to another
        // file.
        if kept_file.identity == identity && has_identity(&kept_file.file, identity) {
            return Ok(Arc::clone(&kept_file.file));
        }
    }
    let file = Arc::new(File::open(path)?);
    // Ask the open file for its identity, because the path may already lead to another file.
    kept_files.push(KeptFile {
        identity: FileIdentity::from_status(&rustix::fs::fstat(&file)?),
        file: Arc::clone(&file),
    });
    Ok(file)
}

/// Whether an open descriptor leads to the file with this identity.
fn has_identity(file: &File, identity: FileIdentity) -> bool {
    rustix::fs::fstat(file).is_ok_and(|status| FileIdentity::from_status(&status) == identity)
}
