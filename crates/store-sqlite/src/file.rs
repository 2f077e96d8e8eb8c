//! Detects changes to the database files by other programs.
//!
//! SQLite assumes that only SQLite touches its open files, but an operator can remove, replace or
//! truncate them by mistake. The next process would not find what is committed after that. So
//! [`Files::check`] examines all three files before a commit and before its acknowledgement.

use std::{
    ffi::CString,
    fs::{self, File},
    io,
    os::unix::{ffi::OsStrExt, fs::FileExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use petstore_store::StoreError;
use rustix::process::{Flock, FlockType, fcntl_getlk};

use super::{
    file_identity::{Identity, companion, identity, keep_open},
    wal_index::{Checkpoints, FileVersion, INDEX_HEADER, WalIndex},
};

/// The header of a database file.
const HEADER: usize = 100;

/// The header of the WAL, and of each frame in it (SQLite, "The WAL File Format").
const WAL_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// The first bytes of every WAL.
const WAL_MAGIC: [u8; 3] = [0x37, 0x7f, 0x06];

/// The number of pages in the WAL from which no transaction stays open. From there on, there is a
/// checkpoint after every batch of writes, until one is complete.
pub(super) const LONG_WAL: u32 = 1_000;

/// The byte ranges in which SQLite locks the database file and the `-shm` file while they are open.
const DATABASE_LOCK: (u64, u64) = (0x4000_0002, 510);
const INDEX_LOCK: (u64, u64) = (128, 1);

/// The files that a connection has open.
pub(super) struct Files {
    database: OpenFile,
    wal: OpenFile,
    index: OpenFile,
    wal_index: WalIndex,
    /// The database file when no checkpoint was writing to it.
    seen: Option<KnownRequest>,
    /// The end of the WAL at the last check.
    end: Option<Frame>,
    /// The result of the last check.
    change: Option<ExternalChange>,
}

/// An open file, and its path when it was opened.
struct OpenFile {
    path: PathBuf,
    /// The path as a C string, for system calls.
    name: CString,
    file: Arc<File>,
    device_and_inode: Identity,
}

#[derive(PartialEq, Eq)]
struct KnownRequest {
    checkpoints: Checkpoints,
    size: u64,
    header: [u8; HEADER],
}

/// A frame of the WAL that ends a transaction.
struct Frame {
    salts: [u8; 8],
    at: u64,
    header: [u8; FRAME_HEADER],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeKind {
    DatabaseGone,
    DatabaseChanged,
    WalGone,
    WalChanged,
    IndexGone,
}

/// A file was changed by another program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} was {}", .path.display(), if .kind.is_gone() { "removed or replaced" } else { "truncated or overwritten" })]
pub(super) struct ExternalChange {
    pub(super) kind: ChangeKind,
    path: PathBuf,
}

impl ChangeKind {
    fn is_gone(self) -> bool {
        matches!(self, Self::DatabaseGone | Self::WalGone | Self::IndexGone)
    }
}

impl From<ExternalChange> for StoreError {
    fn from(change: ExternalChange) -> Self {
        Self::Unavailable(Arc::new(change))
    }
}

impl Files {
    /// Records the files of the database at `path`, which must be open.
    pub(super) fn open(path: &Path, wal_index: WalIndex) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let wal = companion(&path, "-wal");
        let index = companion(&path, "-shm");
        Ok(Self {
            database: OpenFile::of(keep_open(&path)?, path)?,
            wal: OpenFile::of(Arc::new(File::open(&wal)?), wal)?,
            index: OpenFile::of(keep_open(&index)?, index)?,
            wal_index,
            seen: None,
            end: None,
            change: None,
        })
    }

    /// Returns the path of the database, with links resolved.
    pub(super) fn path(&self) -> &Path {
        &self.database.path
    }

    pub(super) fn wal(&self) -> &Path {
        &self.wal.path
    }

    /// Whether this is the database file.
    pub(super) fn is(&self, device_and_inode: Identity) -> bool {
        self.database.device_and_inode == device_and_inode
    }

    /// Whether the WAL is long, or the checkpoint of a killed process was interrupted. Until that
    /// checkpoint is completed, nobody can tell whether the database file is intact.
    pub(super) fn needs_checkpoint(&self) -> bool {
        let pages = WalIndex::pages_in_wal(&self.wal_index.version());
        pages >= LONG_WAL || !self.wal_index.checkpoints().are_at_rest()
    }

    /// Fails if a file is not the open one, or was changed by another program. A missing database
    /// file may come back. Any other failure lasts until the database is opened again.
    pub(super) fn check(&mut self) -> Result<(), ExternalChange> {
        if let Some(change) = self
            .change
            .as_ref()
            .filter(|change| change.kind != ChangeKind::DatabaseGone)
        {
            return Err(change.clone());
        }
        let checked = self.check_files().map_err(|kind| ExternalChange {
            kind,
            path: self.file_of(kind).path.clone(),
        });
        self.change = checked.clone().err();
        checked
    }

    fn file_of(&self, kind: ChangeKind) -> &OpenFile {
        match kind {
            ChangeKind::DatabaseGone | ChangeKind::DatabaseChanged => &self.database,
            ChangeKind::WalGone | ChangeKind::WalChanged => &self.wal,
            ChangeKind::IndexGone => &self.index,
        }
    }

    /// Returns the result of the last check.
    pub(super) fn external_change(&self) -> Option<&ExternalChange> {
        self.change.as_ref()
    }

    /// Whether the open WAL file, which may have no name any more, has everything that was
    /// committed, and no other process can have written into the database.
    pub(super) fn can_checkpoint(&self) -> bool {
        let size = self.wal.file.metadata().map_or(0, |wal| wal.len());
        let are_there = self.database.size().is_some() && self.index.size().is_some();
        are_there && self.end_of_wal(&self.wal_index.version(), size).is_ok()
    }

    fn check_files(&mut self) -> Result<(), ChangeKind> {
        let checkpoints = self.wal_index.checkpoints();
        let size = self.database.size().ok_or(ChangeKind::DatabaseGone)?;
        let wal = self.check_wal();
        // Without its `-shm` file, other processes can have written into the other files.
        if wal != Err(ChangeKind::WalGone) && self.index.size().is_none() {
            return Err(ChangeKind::IndexGone);
        }
        wal?;
        let mut header = [0; HEADER];
        let read = self.database.file.read_exact_at(&mut header, 0);
        // Only a checkpoint writes into the database file, and marks its beginning and end in the
        // `-shm` file.
        if checkpoints.are_at_rest() && self.wal_index.checkpoints() == checkpoints {
            let now = KnownRequest {
                checkpoints,
                size,
                header,
            };
            let before = self
                .seen
                .as_ref()
                .filter(|seen| seen.checkpoints == checkpoints);
            if read.is_err() || before.is_some_and(|before| *before != now) {
                return Err(ChangeKind::DatabaseChanged);
            }
            self.seen = Some(now);
        }
        Ok(())
    }

    fn end_of_wal(&self, version: &FileVersion, size: u64) -> Result<Option<Frame>, IncompleteWal> {
        end_of_wal(&self.wal.file, size, version, self.end.as_ref())
    }

    fn check_wal(&mut self) -> Result<(), ChangeKind> {
        loop {
            let version = self.wal_index.version();
            let size = self.wal.size().ok_or(ChangeKind::WalGone)?;
            if let Ok(end) = self.end_of_wal(&version, size) {
                self.end = end;
                return Ok(());
            }
            // Otherwise another process has committed, or restarted the WAL, meanwhile.
            if self.wal_index.version() == version {
                return Err(ChangeKind::WalChanged);
            }
        }
    }
}

/// The WAL lacks committed transactions.
struct IncompleteWal;

/// Returns the end of a WAL of this size, if the WAL is complete. Checks its beginning, its end,
/// and its previous end. An empty WAL has no end.
fn end_of_wal(
    wal: &File,
    size: u64,
    version: &FileVersion,
    before: Option<&Frame>,
) -> Result<Option<Frame>, IncompleteWal> {
    let pages = u64::from(WalIndex::pages_in_wal(version));
    if pages == 0 {
        return Ok(None);
    }
    let frame_size = FRAME_HEADER as u64 + WalIndex::page_size(version);
    let at = WAL_HEADER as u64 + (pages - 1) * frame_size;
    if size < at + frame_size {
        return Err(IncompleteWal);
    }
    let salts = WalIndex::salts(version);
    let header: [u8; WAL_HEADER] = read(wal, 0).ok_or(IncompleteWal)?;
    let end = Frame {
        salts,
        at,
        header: read(wal, at).ok_or(IncompleteWal)?,
    };
    let is_whole = header[16..24] == salts
        && end.header[8..16] == salts
        && end.header[16..24] == WalIndex::checksum(version)
        && before.is_none_or(|before| {
            before.salts != salts || read(wal, before.at) == Some(before.header)
        });
    if is_whole {
        Ok(Some(end))
    } else {
        Err(IncompleteWal)
    }
}

/// Whether the WAL has every frame. A commit that was under way when the WAL was truncated leaves a
/// hole before its own frames.
fn has_all_frames(wal: &File, version: &FileVersion) -> bool {
    let frame_size = FRAME_HEADER as u64 + WalIndex::page_size(version);
    (0..u64::from(WalIndex::pages_in_wal(version))).all(|frame| {
        read(wal, WAL_HEADER as u64 + frame * frame_size)
            .is_some_and(|header: [u8; FRAME_HEADER]| header[8..16] == WalIndex::salts(version))
    })
}

fn read<const N: usize>(file: &File, at: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

impl OpenFile {
    fn of(file: Arc<File>, path: PathBuf) -> io::Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        let device_and_inode = identity(&rustix::fs::fstat(&file)?);
        Ok(Self {
            path,
            name,
            file,
            device_and_inode,
        })
    }

    /// Returns the size of the file; `None` if its path leads to another file or to none.
    fn size(&self) -> Option<u64> {
        // `Path::metadata` takes 500 instructions, and a create calls this six times.
        let there = rustix::fs::stat(&*self.name).ok()?;
        (identity(&there) == self.device_and_inode).then_some(there.st_size.cast_unsigned())
    }
}

/// Whether another process has the database open with a different `-shm` file. Then no lock
/// protects the two from each other.
pub(super) fn has_other_shm_file(path: &Path) -> io::Result<bool> {
    let index = match keep_open(&companion(path, "-shm")) {
        // The database is not in WAL mode, or not yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    let database = keep_open(path)?;
    let is_locked = |file: &File, (start, length)| {
        let lock = Flock {
            start,
            length,
            ..FlockType::WriteLock.into()
        };
        fcntl_getlk(file, &lock).map(|other| other.is_some())
    };
    Ok(is_locked(&database, DATABASE_LOCK)? && !is_locked(&index, INDEX_LOCK)?)
}

/// Whether the WAL lacks transactions that were committed to it and are not in the database,
/// according to the `-shm` file that its last user left. `false` if the `-shm` file may be older
/// than the WAL, for example after a power cut.
pub(super) fn has_lost_transactions(path: &Path) -> bool {
    let Ok(index) = keep_open(&companion(path, "-shm")) else {
        return false;
    };
    let is_recent = || Some(index.metadata().ok()?.modified().ok()? > booted_at()?);
    let content = || read::<INDEX_HEADER>(&index, 0);
    let wal = File::open(companion(path, "-wal"));
    loop {
        let Some((version, checkpointed)) = content().as_ref().and_then(WalIndex::parse) else {
            return false;
        };
        if WalIndex::pages_in_wal(&version) <= checkpointed || is_recent() != Some(true) {
            return false;
        }
        let size = wal
            .as_ref()
            .map_or(0, |wal| wal.metadata().map_or(0, |wal| wal.len()));
        // The WAL was restarted after the `-shm` file was written.
        let is_newer = |header: [u8; WAL_HEADER]| {
            header[..3] == WAL_MAGIC && header[16..24] != WalIndex::salts(&version)
        };
        if wal.as_ref().is_ok_and(|wal| {
            read(wal, 0).is_some_and(is_newer)
                || end_of_wal(wal, size, &version, None).is_ok() && has_all_frames(wal, &version)
        }) {
            return false;
        }
        // Unless a process is writing the `-shm` file right now.
        if content().as_ref().and_then(WalIndex::parse) == Some((version, checkpointed)) {
            return true;
        }
    }
}

/// When the machine was started; `None` if that is unknown.
fn booted_at() -> Option<SystemTime> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let seconds = text
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?
        .parse()
        .ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}
