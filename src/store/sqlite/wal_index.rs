//! Whether anybody has written, for the price of looking at 48 bytes of memory.
//!
//! `PRAGMA data_version` tells the same, but begins a transaction to do so:
//! three system calls, which cost a sixth of a whole answer.

use std::{
    fs::File,
    io, mem,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Acquire},
    },
};

use rustix::mm::{MapFlags, ProtFlags};
use vm_memory::{FileOffset, MmapRegion, VolatileMemory};

use crate::store::Version;

/// The header of the shared memory of the write-ahead log, a file beside the
/// database. Every commit, in whatever process, becomes visible by rewriting it
/// (SQLite, "WAL-mode File Format", section 2.1: `iChange` and others).
#[derive(Clone, Copy)]
pub(super) struct WalIndex([&'static AtomicU64; 6]);

/// The size of the header, in bytes.
const SIZE: usize = 48;

impl WalIndex {
    /// Maps the header of the file that belongs to the database at `path`. That
    /// must be open already, and stay open for as long as anybody asks for a
    /// version: SQLite truncates the file when it is the first to open it.
    ///
    /// The file stays open for ever: a process that closes any descriptor of one
    /// loses all its POSIX locks on it, also those that SQLite took.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push("-shm");
        let file = Arc::new(File::open(name)?);
        // Also if it cannot be mapped.
        mem::forget(Arc::clone(&file));
        if file.metadata()?.len() < SIZE as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let file = FileOffset::from_arc(file, 0);
        let read = ProtFlags::READ.bits().cast_signed();
        let shared = MapFlags::SHARED.bits().cast_signed();
        let header = MmapRegion::<()>::build(Some(file), SIZE, read, shared);
        let header = Box::leak(Box::new(header.map_err(io::Error::other)?));
        let word = |at| header.get_atomic_ref(at).map_err(io::Error::other);
        Ok(Self([word(0)?, word(8)?, word(16)?, word(24)?, word(32)?, word(40)?]))
    }

    /// The header, which is a version of all that the database holds. One that
    /// is read while a commit rewrites it is like no other.
    pub(super) fn version(&self) -> Version {
        let mut header = [0; SIZE];
        for (bytes, word) in header.chunks_exact_mut(8).zip(self.0) {
            bytes.copy_from_slice(&word.load(Acquire).to_ne_bytes());
        }
        Version(header)
    }

    /// How many pages the log held at this version (`mxFrame`), folded ones too.
    pub(super) fn pages_in_log(Version(header): &Version) -> u32 {
        u32::from_ne_bytes([header[16], header[17], header[18], header[19]])
    }

    /// Whether anybody has committed since the first of those who have the
    /// database open read the log: that sets `iChange` to 0, and each commit
    /// adds 1. False also if nobody has read the log yet.
    pub(super) fn was_committed_to(&self) -> bool {
        let Version(header) = self.version();
        header[8..12] != [0; 4]
    }
}
