//! Which file a path leads to, and files that stay open.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use rustix::fs::Stat;

/// Device and inode, which identify a file.
pub(super) type Identity = (u64, u64);

/// Whether a file of this name, or the file to which it leads, would be a companion file of a
/// database, whether that exists or not. SQLite reads, overwrites and removes such a file.
pub fn is_companion(path: &Path) -> bool {
    let is_named_so = |path: &Path| {
        let name = path.as_os_str().as_encoded_bytes();
        ["-wal", "-shm", "-journal"]
            .iter()
            .any(|end| name.ends_with(end.as_bytes()))
    };
    is_named_so(path) || path.canonicalize().is_ok_and(|path| is_named_so(&path))
}

/// Returns the path of a companion file of the database at `path`.
pub(super) fn companion(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Returns the paths of a database file and of its companion files.
pub(super) fn files_of(path: &Path) -> [PathBuf; 4] {
    ["", "-wal", "-shm", "-journal"].map(|end| companion(path, end))
}

pub(super) fn device_and_inode(path: &Path) -> io::Result<Identity> {
    Ok(identity(&rustix::fs::stat(path)?))
}

/// Whether both paths lead to the same file, even if it has two names.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    let of = device_and_inode;
    matches!((of(one), of(other)), (Ok(one), Ok(other)) if one == other)
}

pub(super) fn identity(file: &Stat) -> Identity {
    (file.st_dev, file.st_ino)
}

/// Opens a file that SQLite locks, and never closes it: a process that closes any descriptor of a
/// file loses all its POSIX locks on that file, including those of SQLite. So each file is opened
/// only once.
pub(super) fn keep_open(path: &Path) -> io::Result<Arc<File>> {
    static OPEN_FILES: Mutex<Vec<(Identity, Arc<File>)>> = Mutex::new(Vec::new());
    let mut open_files = OPEN_FILES.lock();
    let wanted = device_and_inode(path)?;
    let is_wanted = |(known, file): &&(Identity, Arc<File>)| {
        // Unless other code has closed the descriptor.
        let is_open = || rustix::fs::fstat(file).is_ok_and(|file| identity(&file) == wanted);
        *known == wanted && is_open()
    };
    if let Some((_, file)) = open_files.iter().find(is_wanted) {
        return Ok(Arc::clone(file));
    }
    let file = Arc::new(File::open(path)?);
    open_files.push((identity(&rustix::fs::fstat(&file)?), Arc::clone(&file)));
    Ok(file)
}
