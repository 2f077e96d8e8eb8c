//! Whether anybody has written, for the price of looking at 48 bytes of memory.
//!
//! `PRAGMA data_version` tells the same, but begins a transaction to do so:
//! three system calls, which cost a sixth of a whole answer.

use std::{
    io,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::Acquire},
};

use rustix::mm::{MapFlags, ProtFlags};
use vm_memory::{FileOffset, MmapRegion, VolatileMemory};

use super::file;
use crate::store::Version;

/// The header of the shared memory of the write-ahead log, a file beside the
/// database. Every commit, in whatever process, becomes visible by rewriting it
/// (SQLite, "WAL-mode File Format", section 2.1: `iChange` and others).
#[derive(Clone, Copy)]
pub(super) struct WalIndex {
    header: [&'static AtomicU64; 6],
    /// `nBackfill` and `nBackfillAttempted`, in the first half of each.
    checkpoints: [&'static AtomicU64; 2],
}

/// The size of the header, in bytes.
const SIZE: usize = 48;

/// The size of what is mapped: the header, a copy of it, and what checkpoints note.
pub(super) const INDEX_HEADER: usize = 136;

/// How far checkpoints have come: in which log, up to which of its pages, and up
/// to which they were to come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Checkpoints {
    log: u64,
    done: u32,
    attempted: u32,
}

impl Checkpoints {
    /// Whether none is under way, nor was cut short.
    pub(super) fn are_at_rest(&self) -> bool {
        self.done == self.attempted
    }
}

impl WalIndex {
    /// Maps the header of the file that belongs to the database at `path`. That
    /// must be open already, and stay open for as long as anybody asks for a
    /// version: SQLite truncates the file when it is the first to open it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = file::keep_open(&file::beside(path, "-shm"))?;
        if file.metadata()?.len() < INDEX_HEADER as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mapped = FileOffset::from_arc(file, 0);
        let read = ProtFlags::READ.bits().cast_signed();
        let shared = MapFlags::SHARED.bits().cast_signed();
        let mapped = MmapRegion::<()>::build(Some(mapped), INDEX_HEADER, read, shared);
        let mapped = Box::leak(Box::new(mapped.map_err(io::Error::other)?));
        let word = |at| mapped.get_atomic_ref(at).map_err(io::Error::other);
        let header = [word(0)?, word(8)?, word(16)?, word(24)?, word(32)?, word(40)?];
        Ok(Self { header, checkpoints: [word(96)?, word(128)?] })
    }

    /// What the file says, if it is whole: the version, and up to which page of
    /// the log all is in the database.
    pub(super) fn parse(content: &[u8; INDEX_HEADER]) -> Option<(Version, u32)> {
        let (header, rest) = content.split_first_chunk::<SIZE>()?;
        let (copy, rest) = rest.split_first_chunk::<SIZE>()?;
        let checkpointed = u32::from_ne_bytes(*rest.first_chunk()?);
        (header == copy).then_some((Version(*header), checkpointed))
    }

    /// How far checkpoints have come.
    pub(super) fn checkpoints(&self) -> Checkpoints {
        let first_half = |word: &AtomicU64| {
            let [a, b, c, d, ..] = word.load(Acquire).to_ne_bytes();
            u32::from_ne_bytes([a, b, c, d])
        };
        // Of a checkpoint that goes on meanwhile, `attempted` is read first: it
        // is ahead of `done` until the end.
        let attempted = first_half(self.checkpoints[1]);
        let done = first_half(self.checkpoints[0]);
        Checkpoints { log: self.header[4].load(Acquire), done, attempted }
    }

    /// The header, which is a version of all that the database holds. One that
    /// is read while a commit rewrites it is like no other.
    pub(super) fn version(&self) -> Version {
        let mut header = [0; SIZE];
        for (bytes, word) in header.chunks_exact_mut(8).zip(self.header) {
            bytes.copy_from_slice(&word.load(Acquire).to_ne_bytes());
        }
        Version(header)
    }

    /// How many pages the log held at this version (`mxFrame`), folded ones too.
    pub(super) fn pages_in_log(Version(header): &Version) -> u32 {
        u32::from_ne_bytes([header[16], header[17], header[18], header[19]])
    }

    /// The size of a page, in bytes (`szPage`, where 1 means 65,536).
    pub(super) fn page_size(Version(header): &Version) -> u64 {
        match u16::from_ne_bytes([header[14], header[15]]) {
            1 => 65_536,
            size => size.into(),
        }
    }

    /// What the log and each page in it begins with (`aSalt`): other bytes
    /// whenever the log begins again.
    pub(super) fn salts(Version(header): &Version) -> [u8; 8] {
        *header[32..].first_chunk().unwrap_or(&[0; 8])
    }

    /// The checksum of all that is in the log, as its last page has it (`aFrameCksum`).
    pub(super) fn checksum(Version(header): &Version) -> [u8; 8] {
        let mut bytes = *header[24..].first_chunk().unwrap_or(&[0; 8]);
        // Two numbers: in the log they are big-endian.
        if cfg!(target_endian = "little") {
            bytes[..4].reverse();
            bytes[4..].reverse();
        }
        bytes
    }

    /// Whether anybody has committed since the first of those who have the
    /// database open read the log: that sets `iChange` to 0, and each commit
    /// adds 1. False also if nobody has read the log yet.
    pub(super) fn was_committed_to(&self) -> bool {
        let Version(header) = self.version();
        header[8..12] != [0; 4]
    }
}
