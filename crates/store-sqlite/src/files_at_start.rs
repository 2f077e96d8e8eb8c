//! Checks the files that a process finds when it opens a database.
//!
//! There are two checks: whether another process uses a different `-shm` file, and whether the WAL
//! has lost transactions.

use std::{
    fs::{self, File},
    io,
    path::Path,
    time::{Duration, SystemTime},
};

use rustix::process::{Flock, FlockType, fcntl_getlk};

use super::{
    file_identity::{companion_path, keep_open},
    wal_frames::{is_complete, is_restarted, read_bytes},
    wal_index::{IndexContent, MAPPING_SIZE},
};

/// A range of bytes in a file.
#[derive(Clone, Copy)]
struct ByteRange {
    start: u64,
    length: u64,
}

/// The bytes of the database file that SQLite locks while it has the file open (`SHARED_FIRST` and
/// `SHARED_SIZE` in its `os.h`).
const DATABASE_LOCK: ByteRange = ByteRange {
    start: 0x4000_0002,
    length: 510,
};

/// The byte of the `-shm` file that SQLite locks while it has the file open (`UNIX_SHM_DMS` in its
/// `os_unix.c`).
const INDEX_LOCK: ByteRange = ByteRange {
    start: 128,
    length: 1,
};

/// Whether another process has the database at `path` open with a different `-shm` file. No lock
/// then protects the two processes from each other. The sign of this is that the database file is
/// locked, but the `-shm` file is not. Follows links.
pub(super) fn has_other_shm_file(path: &Path) -> io::Result<bool> {
    let path = &path.canonicalize()?;
    let index = match keep_open(&companion_path(path, "-shm")) {
        // Without a `-shm` file, the database is not in WAL mode, or not yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        result => result?,
    };
    let database = keep_open(path)?;
    Ok(is_locked(&database, DATABASE_LOCK)? && !is_locked(&index, INDEX_LOCK)?)
}

/// Whether another process holds a lock on these bytes of a file.
fn is_locked(file: &File, range: ByteRange) -> io::Result<bool> {
    let lock = Flock {
        start: range.start,
        length: range.length,
        ..FlockType::WriteLock.into()
    };
    let conflict = fcntl_getlk(file, &lock)?;
    Ok(conflict.is_some())
}

/// Whether the WAL of the database at `path` lacks transactions that were committed to it and are
/// not in the database yet. Follows links.
///
/// The `-shm` file that the last process has left behind tells what the WAL should contain. Returns
/// `false` if this is unknown, because there is no such file, or because it may be older than the
/// WAL.
pub(super) fn has_lost_transactions(path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else {
        return false;
    };
    let Ok(index) = keep_open(&companion_path(&path, "-shm")) else {
        return false;
    };
    // A WAL that cannot be opened counts as missing.
    let wal = File::open(companion_path(&path, "-wal")).ok();
    loop {
        let Some(content) = read_index(&index) else {
            return false;
        };
        let version = &content.version;
        let is_checkpointed = version.pages_in_wal() <= content.checkpointed_pages;
        if is_checkpointed {
            return false;
        }
        // After a power cut, the `-shm` file may be older than the WAL.
        if !is_newer_than_boot(&index) {
            return false;
        }
        let has_all_transactions = match &wal {
            Some(wal) => is_restarted(wal, version) || is_complete(wal, version),
            None => false,
        };
        if has_all_transactions {
            return false;
        }
        let is_unchanged = read_index(&index).as_ref() == Some(&content);
        if is_unchanged {
            return true;
        }
        // Another process is writing to the files, so check again.
    }
}

/// Reads the beginning of the `-shm` file. Returns `None` if the file is too short, or if its header
/// is just being written.
fn read_index(index: &File) -> Option<IndexContent> {
    let bytes = read_bytes::<MAPPING_SIZE>(index, 0)?;
    IndexContent::parse(&bytes)
}

/// Whether a file was modified after the machine was booted. Returns `false` if this is unknown.
fn is_newer_than_boot(file: &File) -> bool {
    let Ok(modification_time) = file.metadata().and_then(|metadata| metadata.modified()) else {
        return false;
    };
    boot_time().is_some_and(|boot_time| modification_time > boot_time)
}

/// Returns the time at which the machine was booted; `None` if it is unknown.
fn boot_time() -> Option<SystemTime> {
    let statistics = fs::read_to_string("/proc/stat").ok()?;
    let seconds = statistics
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?
        .parse()
        .ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}
