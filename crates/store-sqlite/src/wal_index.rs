//! Detects writes by any process, by reading 48 bytes of memory.
//!
//! `PRAGMA data_version` detects the same, but begins a transaction: three system calls, which cost
//! a sixth of a whole response. `readers.rs` can do with it.

use std::{
    io,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::Acquire},
};

use rustix::mm::{MapFlags, ProtFlags};
use vm_memory::{FileOffset, MmapRegion, VolatileMemory};

use super::file_identity::{companion, keep_open};

/// The header of the `-shm` file, the shared memory of the WAL. Every commit, by any process,
/// becomes visible by rewriting this header (SQLite, "WAL-mode File Format", section 2.1: `iChange`
/// and others).
#[derive(Clone, Copy)]
pub(super) struct WalIndex {
    header: [&'static AtomicU64; 6],
    /// `nBackfill` and `nBackfillAttempted`, each in the first half of its word.
    checkpoints: [&'static AtomicU64; 2],
}

/// The size of the header, in bytes.
const HEADER_SIZE: usize = 48;

/// The version of the database: its header, or without a [`WalIndex`] another number that changes
/// with every commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileVersion(pub(super) [u8; HEADER_SIZE]);

/// The size of the mapping: the header, its copy, and the state of checkpoints.
pub(super) const INDEX_HEADER: usize = 136;

/// The progress of checkpoints: the WAL, the page up to which checkpoints are complete, and the
/// page up to which they were attempted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Checkpoints {
    wal: u64,
    complete_until: u32,
    attempted_until: u32,
}

impl Checkpoints {
    /// Whether no checkpoint is running or was interrupted.
    pub(super) fn are_at_rest(&self) -> bool {
        self.complete_until == self.attempted_until
    }
}

impl WalIndex {
    /// Maps the header of the `-shm` file of the database at `path`. The database must already be
    /// open, and stay open while the mapping is used: SQLite truncates the file when it is the
    /// first to open it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = keep_open(&companion(path, "-shm"))?;
        if file.metadata()?.len() < INDEX_HEADER as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let start = FileOffset::from_arc(file, 0);
        let protection = ProtFlags::READ.bits().cast_signed();
        let flags = MapFlags::SHARED.bits().cast_signed();
        let region = MmapRegion::<()>::build(Some(start), INDEX_HEADER, protection, flags)
            .map_err(io::Error::other)?;
        // The mapping lasts as long as the process, so that its words can be read without a lock.
        let region = Box::leak(Box::new(region));
        let word = |position| region.get_atomic_ref(position).map_err(io::Error::other);
        let header = [
            word(0)?,
            word(8)?,
            word(16)?,
            word(24)?,
            word(32)?,
            word(40)?,
        ];
        Ok(Self {
            header,
            checkpoints: [word(96)?, word(128)?],
        })
    }

    /// Returns the version in the file, and the page up to which the WAL is in the database; `None`
    /// if the header is being written.
    pub(super) fn parse(content: &[u8; INDEX_HEADER]) -> Option<(FileVersion, u32)> {
        let (header, after_header) = content.split_first_chunk::<HEADER_SIZE>()?;
        let (copy, after_copy) = after_header.split_first_chunk::<HEADER_SIZE>()?;
        if header != copy {
            return None;
        }
        let checkpointed_pages = u32::from_ne_bytes(*after_copy.first_chunk()?);
        Some((FileVersion(*header), checkpointed_pages))
    }

    /// Returns the progress of checkpoints.
    pub(super) fn checkpoints(&self) -> Checkpoints {
        // This reads `attempted_until` first: during a checkpoint, it is ahead of `complete_until`.
        let attempted_until = first_half(self.checkpoints[1]);
        let complete_until = first_half(self.checkpoints[0]);
        Checkpoints {
            wal: self.header[4].load(Acquire),
            complete_until,
            attempted_until,
        }
    }

    /// Returns the header, which is the version of the database. A header that is read while a
    /// commit rewrites it differs from all others.
    pub(super) fn version(&self) -> FileVersion {
        let mut header = [0; HEADER_SIZE];
        for (bytes, word) in header.chunks_exact_mut(8).zip(self.header) {
            bytes.copy_from_slice(&word.load(Acquire).to_ne_bytes());
        }
        FileVersion(header)
    }

    /// Returns the number of pages in the WAL at this version (`mxFrame`), including the pages that a
    /// checkpoint has copied.
    pub(super) fn pages_in_wal(FileVersion(header): &FileVersion) -> u32 {
        u32::from_ne_bytes([header[16], header[17], header[18], header[19]])
    }

    /// Returns the size of a page, in bytes (`szPage`, where 1 means 65,536).
    pub(super) fn page_size(FileVersion(header): &FileVersion) -> u64 {
        match u16::from_ne_bytes([header[14], header[15]]) {
            1 => 65_536,
            size => size.into(),
        }
    }

    /// Returns the salts of the WAL and of each page in it (`aSalt`), which change whenever the WAL
    /// restarts.
    pub(super) fn salts(FileVersion(header): &FileVersion) -> [u8; 8] {
        *header[32..].first_chunk().unwrap_or(&[0; 8])
    }

    /// Returns the checksum of the WAL, as in its last frame (`aFrameCksum`).
    pub(super) fn checksum(FileVersion(header): &FileVersion) -> [u8; 8] {
        let mut bytes = *header[24..].first_chunk().unwrap_or(&[0; 8]);
        // Two numbers, which are big-endian in the WAL.
        if cfg!(target_endian = "little") {
            bytes[..4].reverse();
            bytes[4..].reverse();
        }
        bytes
    }

    /// Whether any process has committed since the first of the current ones read the WAL: reading
    /// it sets `iChange` to 0, and each commit adds 1. `false` even if no process has read the WAL
    /// yet.
    pub(super) fn was_committed_to(&self) -> bool {
        let FileVersion(header) = self.version();
        header[8..12] != [0; 4]
    }
}

/// Returns the number in the first four bytes of a word.
fn first_half(word: &AtomicU64) -> u32 {
    let [first, second, third, fourth, ..] = word.load(Acquire).to_ne_bytes();
    u32::from_ne_bytes([first, second, third, fourth])
}
