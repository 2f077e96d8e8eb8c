//! Whether anybody has written, for the price of looking at 48 bytes of memory.
//!
//! `PRAGMA data_version` tells the same, but begins a transaction to do so:
//! three system calls, which cost a sixth of a whole answer.

use std::{
    fs::File,
    io,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::Acquire},
};

use rustix::mm::{MapFlags, ProtFlags};
use vm_memory::{FileOffset, MmapRegion, VolatileMemory};

use crate::store::Version;

/// The header of the shared memory of the write-ahead log, a file beside the
/// database. Every commit, in whatever process, becomes visible by rewriting it
/// (SQLite, "WAL-mode File Format", section 2.1: `iChange` and others).
#[derive(Clone, Copy)]
pub(super) struct WalIndex([&'static AtomicU64; WORDS]);

const WORDS: usize = 6;

impl WalIndex {
    /// Maps the file that belongs to the database at `path`, which must be
    /// open already, and stay so for as long as a version is asked for: SQLite
    /// gives the file its size, and takes it away if nobody else has it open.
    ///
    /// It stays open for ever: a process that closes any descriptor of a file
    /// loses all its POSIX locks on that file, also those that SQLite took.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push("-shm");
        let file = File::open(name)?;
        let size = WORDS * size_of::<AtomicU64>();
        if file.metadata()?.len() < size as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (read, shared) = (ProtFlags::READ.bits(), MapFlags::SHARED.bits());
        let file = FileOffset::new(file, 0);
        let mapped = MmapRegion::build(Some(file), size, read.cast_signed(), shared.cast_signed());
        let mapped: &MmapRegion = Box::leak(Box::new(mapped.map_err(io::Error::other)?));
        let mut words = [&NEVER_WRITTEN; WORDS];
        for (at, word) in words.iter_mut().enumerate() {
            let found = mapped.get_atomic_ref(at * size_of::<AtomicU64>());
            *word = found.map_err(io::Error::other)?;
        }
        Ok(Self(words))
    }

    /// The header, which is a version of all that the database holds. One that
    /// is read while a commit rewrites it is like no other.
    pub(super) fn version(&self) -> Version {
        let mut header = [0; 48];
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

static NEVER_WRITTEN: AtomicU64 = AtomicU64::new(0);
