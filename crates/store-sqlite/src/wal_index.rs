//! Detects commits by any process, by reading 48 bytes of shared memory.
//!
//! `PRAGMA data_version` detects the same, but begins a transaction: three system calls, which cost
//! a sixth of a whole response. `readers.rs` falls back to it where there is no WAL index.

use std::{
    io,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::Acquire},
};

use rustix::mm::{MapFlags, ProtFlags};
use vm_memory::{FileOffset, MmapRegion, VolatileMemory};

use super::file_identity::{companion, keep_open};

/// The mapped header of the `-shm` file, the shared memory of the WAL. Every commit, by any process,
/// becomes visible by rewriting this header (SQLite, "WAL-mode File Format", section 2.1: `iChange`
/// and others).
#[derive(Clone, Copy)]
pub(super) struct WalIndex {
    header: [&'static AtomicU64; 6],
    /// The words whose first halves are `nBackfill` and `nBackfillAttempted`.
    checkpoints: [&'static AtomicU64; 2],
}

/// The size of the header, in bytes.
const HEADER_SIZE: usize = 48;

/// The version of the database, which changes with every commit: the header of the `-shm` file, or
/// without a [`WalIndex`] another number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileVersion(pub(super) [u8; HEADER_SIZE]);

/// The size of the mapping, in bytes: the header, its copy, and the progress of checkpoints.
pub(super) const INDEX_HEADER: usize = 136;

/// The progress of checkpoints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Checkpoints {
    /// The salts of the WAL, which identify it.
    wal: u64,
    /// The page of the WAL up to which checkpoints are complete (`nBackfill`).
    complete_until: u32,
    /// The page of the WAL up to which checkpoints were attempted (`nBackfillAttempted`).
    attempted_until: u32,
}

impl Checkpoints {
    /// Whether no checkpoint is running, and none was interrupted.
    pub(super) fn are_idle(&self) -> bool {
        self.complete_until == self.attempted_until
    }
}

impl WalIndex {
    /// Maps the header of the `-shm` file of the database at `path`. This process must have the database
    /// open while it uses the mapping. Otherwise, the next process that opens the database would truncate
    /// the file, and reading the truncated mapping would crash this process.
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
        // Leak the mapping: it then lasts as long as the process, and can be read without a lock.
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
        // `nBackfill` is at byte 96, and `nBackfillAttempted` at byte 128.
        Ok(Self {
            header,
            checkpoints: [word(96)?, word(128)?],
        })
    }

    /// Parses the content of a `-shm` file: returns the version, and the page up to which the WAL was
    /// copied into the database. Returns `None` if the header is just being written.
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
        // Read `attempted_until` first: during a checkpoint, it runs ahead of `complete_until`.
        let attempted_until = first_half(self.checkpoints[1]);
        let complete_until = first_half(self.checkpoints[0]);
        Checkpoints {
            wal: self.header[4].load(Acquire),
            complete_until,
            attempted_until,
        }
    }

    /// Returns the header, which is the version of the database. While a commit rewrites the header, this
    /// can return a mixture of two versions. That does no harm, because it differs from all others.
    pub(super) fn version(&self) -> FileVersion {
        let mut header = [0; HEADER_SIZE];
        for (bytes, word) in header.chunks_exact_mut(8).zip(self.header) {
            bytes.copy_from_slice(&word.load(Acquire).to_ne_bytes());
        }
        FileVersion(header)
    }

    /// Returns the number of pages in the WAL at this version (`mxFrame`), including those that a
    /// checkpoint has already copied into the database.
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

    /// Returns the salts (`aSalt`), which the WAL and each of its frames contain. They change whenever
    /// the WAL restarts.
    pub(super) fn salts(FileVersion(header): &FileVersion) -> [u8; 8] {
        *header[32..].first_chunk().unwrap_or(&[0; 8])
    }

    /// Returns the checksum of the WAL, in the byte order of its last frame (`aFrameCksum`).
    pub(super) fn checksum(FileVersion(header): &FileVersion) -> [u8; 8] {
        let mut bytes = *header[24..].first_chunk().unwrap_or(&[0; 8]);
        // These are two 32-bit numbers: in native byte order here, and big-endian in the WAL.
        if cfg!(target_endian = "little") {
            bytes[..4].reverse();
            bytes[4..].reverse();
        }
        bytes
    }

    /// Whether any process has committed since the `-shm` file was last rebuilt. The first process that
    /// opens the WAL sets `iChange` to 0, and each commit adds 1. Also `false` if no process has read the
    /// WAL yet.
    pub(super) fn has_commits(&self) -> bool {
        let FileVersion(header) = self.version();
        header[8..12] != [0; 4]
    }
}

/// Returns the number in the first four bytes of a word.
fn first_half(word: &AtomicU64) -> u32 {
    let [first, second, third, fourth, ..] = word.load(Acquire).to_ne_bytes();
    u32::from_ne_bytes([first, second, third, fourth])
}
