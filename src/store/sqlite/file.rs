//! The database as three files among others: what happens to them past SQLite.
//!
//! SQLite believes that nobody else touches the files that it has open. An
//! operator can still remove, replace or truncate them by mistake. What is
//! committed after that, the next process does not find. So [`Files::check`]
//! looks at all three before a commit and before its acknowledgement.

use std::{
    ffi::CString,
    fs::{self, File},
    io,
    os::unix::{ffi::OsStrExt, fs::FileExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use rustix::{
    fs::Stat,
    process::{Flock, FlockType, fcntl_getlk},
};

use super::{
    readers::LONG_LOG,
    wal_index::{Checkpoints, INDEX_HEADER, WalIndex},
};
use crate::store::{StoreError, Version};

/// The header of a database file.
const HEADER: usize = 100;

/// The header of the log, and of each frame in it (SQLite, "The WAL File Format").
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// What every log begins with.
const LOG_MAGIC: [u8; 3] = [0x37, 0x7f, 0x06];

/// Where SQLite locks the database file while it has it open, and `-shm` while
/// it has that open.
const DATABASE_LOCK: (u64, u64) = (0x4000_0002, 510);
const INDEX_LOCK: (u64, u64) = (128, 1);

/// Device and inode: what tells a file from every other.
pub(super) type Identity = (u64, u64);

/// The files that a connection has open.
pub(super) struct Files {
    database: Held,
    log: Held,
    index: Held,
    wal_index: WalIndex,
    /// The database file, as it was while no checkpoint wrote into it.
    seen: Option<Seen>,
    /// The end of the log at the last look.
    end: Option<Frame>,
    /// What the last look found.
    harm: Option<Harm>,
}

/// A file, and where it was when it was opened.
struct Held {
    path: PathBuf,
    /// The same, as the system takes it.
    name: CString,
    file: Arc<File>,
    device_and_inode: Identity,
}

#[derive(PartialEq, Eq)]
struct Seen {
    checkpoints: Checkpoints,
    size: u64,
    header: [u8; HEADER],
}

/// A frame of the log that ends a transaction.
struct Frame {
    salts: [u8; 8],
    at: u64,
    header: [u8; FRAME_HEADER],
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    DatabaseGone,
    DatabaseChanged,
    LogGone,
    LogChanged,
    IndexGone,
}

/// A file that was touched past SQLite.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} was {}", .path.display(), if .what.is_gone() { "removed or replaced" } else { "truncated or overwritten" })]
pub(super) struct Harm {
    pub(super) what: What,
    path: PathBuf,
}

impl What {
    fn is_gone(self) -> bool {
        matches!(self, Self::DatabaseGone | Self::LogGone | Self::IndexGone)
    }
}

impl From<Harm> for StoreError {
    fn from(harm: Harm) -> Self {
        Self::Unavailable(Arc::new(harm))
    }
}

impl Files {
    /// Notes which files belong to the database at `path`, which must be open.
    pub(super) fn open(path: &Path, wal_index: WalIndex) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let (log, index) = (beside(&path, "-wal"), beside(&path, "-shm"));
        Ok(Self {
            database: Held::of(keep_open(&path)?, path)?,
            log: Held::of(Arc::new(File::open(&log)?), log)?,
            index: Held::of(keep_open(&index)?, index)?,
            wal_index,
            seen: None,
            end: None,
            harm: None,
        })
    }

    /// Where the database is, whatever names lead there.
    pub(super) fn path(&self) -> &Path {
        &self.database.path
    }

    /// Where the log is.
    pub(super) fn log(&self) -> &Path {
        &self.log.path
    }

    /// Whether the database file is this one.
    pub(super) fn is(&self, device_and_inode: Identity) -> bool {
        self.database.device_and_inode == device_and_inode
    }

    /// Whether the log is long, or a checkpoint of a process that was killed was
    /// cut short: until it is completed, nobody can tell whether the database file
    /// is as it should be.
    pub(super) fn want_checkpoint(&self) -> bool {
        let pages = WalIndex::pages_in_log(&self.wal_index.version());
        pages >= LONG_LOG || !self.wal_index.checkpoints().are_at_rest()
    }

    /// Fails if a file is not the one that is open, or was changed past SQLite.
    /// A database file that is not at its place may come back; anything else
    /// lasts until the database is opened again.
    pub(super) fn check(&mut self) -> Result<(), Harm> {
        if let Some(harm) = self.harm.as_ref().filter(|harm| harm.what != What::DatabaseGone) {
            return Err(harm.clone());
        }
        let looked = self.look().map_err(|what| Harm { what, path: self.held(what).path.clone() });
        self.harm = looked.clone().err();
        looked
    }

    fn held(&self, what: What) -> &Held {
        match what {
            What::DatabaseGone | What::DatabaseChanged => &self.database,
            What::LogGone | What::LogChanged => &self.log,
            What::IndexGone => &self.index,
        }
    }

    /// What the last look found.
    pub(super) fn harm(&self) -> Option<&Harm> {
        self.harm.as_ref()
    }

    /// Whether the log that is open holds all that was committed, wherever it is,
    /// and nobody can have written into the database behind our back.
    pub(super) fn can_checkpoint(&self) -> bool {
        let size = self.log.file.metadata().map_or(0, |log| log.len());
        self.index.size().is_some() && self.end_of_log(&self.wal_index.version(), size).is_ok()
    }

    fn look(&mut self) -> Result<(), What> {
        let checkpoints = self.wal_index.checkpoints();
        let size = self.database.size().ok_or(What::DatabaseGone)?;
        let log = self.look_at_log();
        // Without its index, others can have written into the other files.
        if log != Err(What::LogGone) && self.index.size().is_none() {
            return Err(What::IndexGone);
        }
        log?;
        let mut header = [0; HEADER];
        let read = self.database.file.read_exact_at(&mut header, 0);
        // Only a checkpoint writes into the file, and each says so before and after.
        if checkpoints.are_at_rest() && self.wal_index.checkpoints() == checkpoints {
            let now = Seen { checkpoints, size, header };
            let before = self.seen.as_ref().filter(|seen| seen.checkpoints == checkpoints);
            if read.is_err() || before.is_some_and(|before| *before != now) {
                return Err(What::DatabaseChanged);
            }
            self.seen = Some(now);
        }
        Ok(())
    }

    fn end_of_log(&self, version: &Version, size: u64) -> Result<Option<Frame>, Cut> {
        end_of_log(&self.log.file, size, version, self.end.as_ref())
    }

    fn look_at_log(&mut self) -> Result<(), What> {
        loop {
            let version = self.wal_index.version();
            let size = self.log.size().ok_or(What::LogGone)?;
            if let Ok(end) = self.end_of_log(&version, size) {
                self.end = end;
                return Ok(());
            }
            // Unless another process has committed, or begun the log again.
            if self.wal_index.version() == version {
                return Err(What::LogChanged);
            }
        }
    }
}

/// The log does not hold what was committed to it.
struct Cut;

/// The end of a log of this size, if all of the log is there as far as a look at
/// its beginning, its end and the end before shows. An empty log has no end.
fn end_of_log(
    log: &File,
    size: u64,
    version: &Version,
    before: Option<&Frame>,
) -> Result<Option<Frame>, Cut> {
    let pages = u64::from(WalIndex::pages_in_log(version));
    if pages == 0 {
        return Ok(None);
    }
    let frame_size = FRAME_HEADER as u64 + WalIndex::page_size(version);
    let at = LOG_HEADER as u64 + (pages - 1) * frame_size;
    if size < at + frame_size {
        return Err(Cut);
    }
    let salts = WalIndex::salts(version);
    let header: [u8; LOG_HEADER] = read(log, 0).ok_or(Cut)?;
    let end = Frame { salts, at, header: read(log, at).ok_or(Cut)? };
    let is_whole = header[16..24] == salts
        && end.header[8..16] == salts
        && end.header[16..24] == WalIndex::checksum(version)
        && before.is_none_or(|before| {
            before.salts != salts || read(log, before.at) == Some(before.header)
        });
    if is_whole { Ok(Some(end)) } else { Err(Cut) }
}

fn read<const N: usize>(file: &File, at: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

impl Held {
    fn of(file: Arc<File>, path: PathBuf) -> io::Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        let device_and_inode = identity(&rustix::fs::fstat(&file)?);
        Ok(Self { path, name, file, device_and_inode })
    }

    /// How long the file is; `None` if another file, or none, is at its place.
    fn size(&self) -> Option<u64> {
        // `Path::metadata` takes 500 instructions, and a create asks six times.
        let there = rustix::fs::stat(&*self.name).ok()?;
        (identity(&there) == self.device_and_inode).then_some(there.st_size.cast_unsigned())
    }
}

/// A file that SQLite keeps beside the one at `path`.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// What tells the file at `path` from every other.
pub(super) fn device_and_inode(path: &Path) -> io::Result<Identity> {
    Ok(identity(&rustix::fs::stat(path)?))
}

fn identity(file: &Stat) -> Identity {
    (file.st_dev, file.st_ino)
}

/// Opens a file that SQLite locks, and never closes it: a process that closes any
/// descriptor of a file loses all its POSIX locks on it, also those that SQLite
/// took. So each file is opened once.
pub(super) fn keep_open(path: &Path) -> io::Result<Arc<File>> {
    static KEPT: Mutex<Vec<(Identity, Arc<File>)>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = device_and_inode(path)?;
    let is_wanted = |(known, file): &&(Identity, Arc<File>)| {
        // Unless somebody else has closed it.
        let is_open = || rustix::fs::fstat(file).is_ok_and(|file| identity(&file) == wanted);
        *known == wanted && is_open()
    };
    if let Some((_, file)) = kept.iter().find(is_wanted) {
        return Ok(Arc::clone(file));
    }
    let file = Arc::new(File::open(path)?);
    kept.push((identity(&rustix::fs::fstat(&file)?), Arc::clone(&file)));
    Ok(file)
}

/// Whether another process has the database open with another `-shm` file than
/// the one that is there. Then nothing excludes the two from each other.
pub(super) fn is_shared_apart(path: &Path) -> io::Result<bool> {
    let index = match keep_open(&beside(path, "-shm")) {
        // It is not, or not yet, in WAL mode.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    let database = keep_open(path)?;
    let is_locked = |file: &File, (start, length)| {
        let lock = Flock { start, length, ..FlockType::WriteLock.into() };
        fcntl_getlk(file, &lock).map(|other| other.is_some())
    };
    Ok(is_locked(&database, DATABASE_LOCK)? && !is_locked(&index, INDEX_LOCK)?)
}

/// Whether the log lacks transactions that were committed to it and are not in
/// the database either, as the index tells that its last user left. Says no where
/// the index may be older than the log, as it may be after a power cut.
pub(super) fn has_lost_log(path: &Path) -> bool {
    let Ok(index) = keep_open(&beside(path, "-shm")) else {
        return false;
    };
    let is_recent = || Some(index.metadata().ok()?.modified().ok()? > booted_at()?);
    let content = || read::<INDEX_HEADER>(&index, 0);
    let log = File::open(beside(path, "-wal"));
    loop {
        let Some((version, checkpointed)) = content().as_ref().and_then(WalIndex::parse) else {
            return false;
        };
        if WalIndex::pages_in_log(&version) <= checkpointed || is_recent() != Some(true) {
            return false;
        }
        let size = log.as_ref().map_or(0, |log| log.metadata().map_or(0, |log| log.len()));
        // Another log has begun, and the index of this one is not the last.
        let is_newer = |header: [u8; LOG_HEADER]| {
            header[..3] == LOG_MAGIC && header[16..24] != WalIndex::salts(&version)
        };
        if log.as_ref().is_ok_and(|log| {
            read(log, 0).is_some_and(is_newer) || end_of_log(log, size, &version, None).is_ok()
        }) {
            return false;
        }
        // Unless somebody writes it now.
        if content().as_ref().and_then(WalIndex::parse) == Some((version, checkpointed)) {
            return true;
        }
    }
}

/// When the machine was started; `None` where that cannot be told.
fn booted_at() -> Option<SystemTime> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let seconds = text.lines().find_map(|line| line.strip_prefix("btime "))?.parse().ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}
