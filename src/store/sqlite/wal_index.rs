//! Whether anybody has written, for the price of reading 48 bytes.
//!
//! `PRAGMA data_version` tells the same, but begins a transaction to do so:
//! three system calls, which cost a sixth of a whole answer.

use std::{fs::File, io, os::unix::fs::FileExt, path::Path};

use crate::store::Version;

/// The shared memory of the write-ahead log, a file beside the database. Every
/// commit, in whatever process, becomes visible by rewriting its header
/// (SQLite, "WAL-mode File Format", section 2.1: `iChange` and others).
#[derive(Clone)]
pub(super) struct WalIndex(&'static File);

impl WalIndex {
    /// Opens the file that belongs to the database at `path`, which must be
    /// open already.
    ///
    /// It stays open for ever: a process that closes any descriptor of a file
    /// loses all its POSIX locks on that file, also those that SQLite took.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push("-shm");
        Ok(Self(Box::leak(Box::new(File::open(name)?))))
    }

    /// The header, which is a version of all that the database holds. One that
    /// is read while a commit rewrites it is like no other.
    pub(super) fn version(&self) -> io::Result<Version> {
        let mut header = [0; 48];
        self.0.read_exact_at(&mut header, 0)?;
        Ok(Version(header))
    }

    /// How many pages the log held at this version (`mxFrame`), folded ones too.
    pub(super) fn pages_in_log(Version(header): &Version) -> u32 {
        u32::from_ne_bytes([header[16], header[17], header[18], header[19]])
    }

    /// Whether anybody has committed since the first of those who have the
    /// database open read the log: that sets `iChange` to 0, and each commit
    /// adds 1. False also if nobody has read the log yet.
    pub(super) fn was_committed_to(&self) -> io::Result<bool> {
        let mut changes = [0; 4];
        match self.0.read_exact_at(&mut changes, 8) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            done => done.map(|()| changes != [0; 4]),
        }
    }
}
