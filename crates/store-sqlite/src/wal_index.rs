//! Detects commits by any process, by reading 48 bytes of shared memory.
//!
//! SQLite keeps this memory, the WAL index, in the `-shm` file next to the database.
//!
//! `PRAGMA data_version` detects the same commits, but begins a transaction: three system calls, which
//! cost a sixth of a whole response. `readers.rs` falls back to it where there is no WAL index.

use std::{
    array, io,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::Acquire},
};

use rustix::mm::{MapFlags, ProtFlags};
use vm_memory::{FileOffset, MmapRegion, VolatileMemory};

use super::file_identity::{companion_path, keep_open};

/// The size of the header, in bytes.
const HEADER_SIZE: usize = 48;

/// The size of the mapping, in bytes: the header, its copy, and the progress of checkpoints.
pub(super) const MAPPING_SIZE: usize = 136;

/// The size of the words in which the mapping is read, in bytes.
const WORD_SIZE: usize = 8;

// The positions of members of the header, in bytes (SQLite, "WAL-mode File Format", section 2.1).
/// The number of commits since the file was rebuilt (`iChange`).
const COMMIT_COUNT: usize = 8;
/// The size of a page (`szPage`).
const PAGE_SIZE: usize = 14;
/// The number of pages in the WAL (`mxFrame`).
const PAGES_IN_WAL: usize = 16;
/// The checksum of the WAL (`aFrameCksum`).
const CHECKSUM: usize = 24;
/// The salts of the WAL (`aSalt`).
const SALTS: usize = 32;

// The positions of members after the header and its copy, in bytes.
/// The page of the WAL up to which checkpoints are complete (`nBackfill`).
const COMPLETE_UNTIL: usize = 96;
/// The page of the WAL up to which checkpoints were attempted (`nBackfillAttempted`).
const ATTEMPTED_UNTIL: usize = 128;

/// The mapped beginning of the `-shm` file, the shared memory of the WAL. Every commit, by any
/// process, becomes visible by rewriting the header in it.
#[derive(Clone, Copy)]
pub(super) struct WalIndex {
    header: [&'static AtomicU64; HEADER_SIZE / WORD_SIZE],
    /// The word that begins with [`COMPLETE_UNTIL`].
    complete_until: &'static AtomicU64,
    /// The word that begins with [`ATTEMPTED_UNTIL`].
    attempted_until: &'static AtomicU64,
}

/// The version of the database, which changes with every commit. It is the header of the `-shm`
/// file. Without a [`WalIndex`], it is another number ([`Self::from_number`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileVersion(pub(super) [u8; HEADER_SIZE]);

/// The content of a `-shm` file that a process has left behind.
#[derive(PartialEq, Eq)]
pub(super) struct IndexContent {
    pub(super) version: FileVersion,
    /// The page up to which the WAL was copied into the database.
    pub(super) checkpointed_pages: u32,
}

/// The progress of checkpoints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct CheckpointProgress {
    /// The salts of the WAL, which identify it.
    wal: u64,
    /// The page of the WAL up to which checkpoints are complete.
    complete_until: u32,
    /// The page of the WAL up to which checkpoints were attempted.
    attempted_until: u32,
}

impl CheckpointProgress {
    /// Whether no checkpoint is running, and none was interrupted.
    pub(super) fn is_idle(&self) -> bool {
        self.complete_until == self.attempted_until
    }
}

impl IndexContent {
    /// Parses the beginning of a `-shm` file. Returns `None` if the header differs from its copy,
    /// because a process is just writing it.
    pub(super) fn parse(bytes: &[u8; MAPPING_SIZE]) -> Option<Self> {
        let (header, after_header) = bytes.split_first_chunk::<HEADER_SIZE>()?;
        let (copy, after_copy) = after_header.split_first_chunk::<HEADER_SIZE>()?;
        if header != copy {
            return None;
        }
        Some(Self {
            version: FileVersion(*header),
            checkpointed_pages: u32::from_ne_bytes(*after_copy.first_chunk()?),
        })
    }
}

impl WalIndex {
    /// Maps the header of the `-shm` file of the database at `path`.
    ///
    /// This process must have the database open while it uses the mapping. Otherwise, the next
    /// process that opens the database would truncate the file, and reading the truncated mapping
    /// would crash this process.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = keep_open(&companion_path(path, "-shm"))?;
        if file.metadata()?.len() < MAPPING_SIZE as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let start = FileOffset::from_arc(file, 0);
        let protection = ProtFlags::READ.bits().cast_signed();
        let flags = MapFlags::SHARED.bits().cast_signed();
        let region = MmapRegion::<()>::build(Some(start), MAPPING_SIZE, protection, flags)
            .map_err(io::Error::other)?;
        // Leak the mapping: it then lasts as long as the process, and can be read without a lock.
        let region = Box::leak(Box::new(region));
        let word = |position| region.get_atomic_ref(position).map_err(io::Error::other);
        let header = [
            word(0)?,
            word(WORD_SIZE)?,
            word(2 * WORD_SIZE)?,
            word(3 * WORD_SIZE)?,
            word(4 * WORD_SIZE)?,
            word(5 * WORD_SIZE)?,
        ];
        Ok(Self {
            header,
            complete_until: word(COMPLETE_UNTIL)?,
            attempted_until: word(ATTEMPTED_UNTIL)?,
        })
    }

    /// Returns the progress of checkpoints.
    pub(super) fn checkpoint_progress(&self) -> CheckpointProgress {
        // Read `attempted_until` first: during a checkpoint, it runs ahead of `complete_until`.
        let attempted_until = first_half(self.attempted_until);
        let complete_until = first_half(self.complete_until);
        CheckpointProgress {
            wal: self.header[SALTS / WORD_SIZE].load(Acquire),
            complete_until,
            attempted_until,
        }
    }

    /// Returns the header, which is the version of the database. While a commit rewrites the
    /// header, this can return a mixture of two versions. The mixture does no harm, because it
    /// differs from all versions.
    pub(super) fn version(&self) -> FileVersion {
        let mut header = [0; HEADER_SIZE];
        for (bytes, word) in header.chunks_exact_mut(WORD_SIZE).zip(self.header) {
            bytes.copy_from_slice(&word.load(Acquire).to_ne_bytes());
        }
        FileVersion(header)
    }

    /// Whether any process has committed since the `-shm` file was last rebuilt. The first process
    /// that opens the WAL sets [`COMMIT_COUNT`] to 0, and each commit adds 1. The count is 0, too,
    /// if no process has read the WAL yet.
    pub(super) fn has_commits(&self) -> bool {
        self.version().bytes::<4>(COMMIT_COUNT) != [0; 4]
    }
}

impl FileVersion {
    /// Returns a version that consists of a number, padded with zeros.
    pub(super) fn from_number(number: i64) -> Self {
        let mut header = [0; HEADER_SIZE];
        header[..WORD_SIZE].copy_from_slice(&number.to_ne_bytes());
        Self(header)
    }

    /// Returns the `N` bytes at this position of the header.
    fn bytes<const N: usize>(&self, position: usize) -> [u8; N] {
        array::from_fn(|index| self.0[position + index])
    }

    /// Returns the number of pages in the WAL, including pages that a checkpoint has already copied
    /// into the database.
    pub(super) fn pages_in_wal(&self) -> u32 {
        u32::from_ne_bytes(self.bytes(PAGES_IN_WAL))
    }

    /// Returns the size of a page, in bytes. It can be 65,536, which SQLite writes as 1, because two
    /// bytes cannot hold it.
    pub(super) fn page_size(&self) -> u64 {
        match u16::from_ne_bytes(self.bytes(PAGE_SIZE)) {
            1 => 65_536,
            size => size.into(),
        }
    }

    /// Returns the salts, which the WAL and each of its frames contain. They change whenever the WAL
    /// restarts.
    pub(super) fn salts(&self) -> [u8; 8] {
        self.bytes(SALTS)
    }

    /// Returns the checksum of the WAL, in the byte order of its last frame.
    pub(super) fn checksum(&self) -> [u8; 8] {
        let mut bytes: [u8; 8] = self.bytes(CHECKSUM);
        // These are two 32-bit numbers: in native byte order here, and big-endian in the WAL.
        if cfg!(target_endian = "little") {
            bytes[..4].reverse();
            bytes[4..].reverse();
        }
        bytes
    }
}

/// Returns the number in the first four bytes of a word.
fn first_half(word: &AtomicU64) -> u32 {
    let [first, second, third, fourth, ..] = word.load(Acquire).to_ne_bytes();
    u32::from_ne_bytes([first, second, third, fourth])
}
