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
    file_identity::{FileIdentity, companion, keep_open},
    wal_index::{Checkpoints, FileVersion, INDEX_HEADER, WalIndex},
};

/// The length of the header of a database file.
const DATABASE_HEADER: usize = 100;

/// The lengths of the header of the WAL, and of each frame in it (SQLite, "The WAL File Format").
const WAL_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// The first bytes of every WAL.
const WAL_MAGIC: [u8; 3] = [0x37, 0x7f, 0x06];

/// The number of pages in the WAL from which no transaction stays open. From there on, there is a
/// checkpoint after every batch of writes, until one is complete.
pub(super) const LONG_WAL: u32 = 1_000;

/// A range of bytes in a file.
#[derive(Clone, Copy)]
struct ByteRange {
    start: u64,
    length: u64,
}

/// The bytes in which SQLite locks the database file while it is open.
const DATABASE_LOCK: ByteRange = ByteRange {
    start: 0x4000_0002,
    length: 510,
};

/// The bytes in which SQLite locks the `-shm` file while it is open.
const INDEX_LOCK: ByteRange = ByteRange {
    start: 128,
    length: 1,
};

/// The files that a connection has open.
pub(super) struct Files {
    database: OpenFile,
    wal: OpenFile,
    index: OpenFile,
    wal_index: WalIndex,
    /// The state of the database file at the last check during which no checkpoint was writing to it.
    database_state: Option<DatabaseState>,
    /// The last frame of the WAL at the last check.
    last_frame: Option<Frame>,
    /// The result of the last check.
    change: Option<ExternalChange>,
}

/// An open file, and its path when it was opened.
struct OpenFile {
    path: PathBuf,
    /// The path as a C string, for system calls.
    name: CString,
    file: Arc<File>,
    identity: FileIdentity,
}

/// The state of the database file. It changes only by checkpoints.
#[derive(PartialEq, Eq)]
struct DatabaseState {
    checkpoints: Checkpoints,
    size: u64,
    header: [u8; DATABASE_HEADER],
}

/// A frame of the WAL that ends a transaction.
struct Frame {
    salts: [u8; 8],
    /// The position in the WAL, in bytes.
    position: u64,
    header: [u8; FRAME_HEADER],
}

/// The kinds of changes by other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeKind {
    DatabaseGone,
    DatabaseChanged,
    WalGone,
    WalChanged,
    IndexGone,
}

/// A change of a file by another program.
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
            database: OpenFile::new(keep_open(&path)?, path)?,
            wal: OpenFile::new(Arc::new(File::open(&wal)?), wal)?,
            index: OpenFile::new(keep_open(&index)?, index)?,
            wal_index,
            database_state: None,
            last_frame: None,
            change: None,
        })
    }

    /// Returns the path of the database, with links resolved.
    pub(super) fn path(&self) -> &Path {
        &self.database.path
    }

    /// Returns the path of the WAL.
    pub(super) fn wal_path(&self) -> &Path {
        &self.wal.path
    }

    /// Whether the database file has this identity.
    pub(super) fn has_identity(&self, identity: FileIdentity) -> bool {
        self.database.identity == identity
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
        if let Some(change) = &self.change
            && change.kind != ChangeKind::DatabaseGone
        {
            return Err(change.clone());
        }
        match self.check_files() {
            Ok(()) => {
                self.change = None;
                Ok(())
            }
            Err(kind) => {
                let path = self.changed_file(kind).path.clone();
                let change = ExternalChange { kind, path };
                self.change = Some(change.clone());
                Err(change)
            }
        }
    }

    fn changed_file(&self, kind: ChangeKind) -> &OpenFile {
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
        let have_names = self.database.size().is_some() && self.index.size().is_some();
        have_names
            && self
                .find_last_frame(&self.wal_index.version(), size)
                .is_ok()
    }

    /// Compares all files with the state at the last check, and remembers their state.
    fn check_files(&mut self) -> Result<(), ChangeKind> {
        let checkpoints = self.wal_index.checkpoints();
        let size = self.database.size().ok_or(ChangeKind::DatabaseGone)?;
        let wal_result = self.check_wal();
        // Without its `-shm` file, other processes can have written into the other files.
        if wal_result != Err(ChangeKind::WalGone) && self.index.size().is_none() {
            return Err(ChangeKind::IndexGone);
        }
        wal_result?;

        let mut header = [0; DATABASE_HEADER];
        let header_result = self.database.file.read_exact_at(&mut header, 0);
        // Only a checkpoint writes into the database file, and marks its beginning and end in the
        // `-shm` file.
        if checkpoints.are_at_rest() && self.wal_index.checkpoints() == checkpoints {
            let state = DatabaseState {
                checkpoints,
                size,
                header,
            };
            let has_changed = match &self.database_state {
                Some(last_state) => last_state.checkpoints == checkpoints && *last_state != state,
                None => false,
            };
            if header_result.is_err() || has_changed {
                return Err(ChangeKind::DatabaseChanged);
            }
            self.database_state = Some(state);
        }
        Ok(())
    }

    fn find_last_frame(
        &self,
        version: &FileVersion,
        size: u64,
    ) -> Result<Option<Frame>, IncompleteWal> {
        find_last_frame(&self.wal.file, size, version, self.last_frame.as_ref())
    }

    /// Checks that the WAL is complete, and remembers its last frame.
    fn check_wal(&mut self) -> Result<(), ChangeKind> {
        loop {
            let version = self.wal_index.version();
            let size = self.wal.size().ok_or(ChangeKind::WalGone)?;
            if let Ok(last_frame) = self.find_last_frame(&version, size) {
                self.last_frame = last_frame;
                return Ok(());
            }
            // With another version, a process has committed, or restarted the WAL, in between.
            if self.wal_index.version() == version {
                return Err(ChangeKind::WalChanged);
            }
        }
    }
}

/// The error of a WAL that lacks committed transactions.
struct IncompleteWal;

/// Returns the last frame of a WAL of this size, if the WAL is complete; `None` for an empty WAL. Checks
/// its beginning, its last frame, and the frame that was the last one before.
fn find_last_frame(
    wal: &File,
    size: u64,
    version: &FileVersion,
    former_frame: Option<&Frame>,
) -> Result<Option<Frame>, IncompleteWal> {
    let pages = u64::from(WalIndex::pages_in_wal(version));
    if pages == 0 {
        return Ok(None);
    }
    let frame_size = FRAME_HEADER as u64 + WalIndex::page_size(version);
    let position = WAL_HEADER as u64 + (pages - 1) * frame_size;
    if size < position + frame_size {
        return Err(IncompleteWal);
    }
    let salts = WalIndex::salts(version);
    let wal_header: [u8; WAL_HEADER] = read_bytes(wal, 0).ok_or(IncompleteWal)?;
    let header: [u8; FRAME_HEADER] = read_bytes(wal, position).ok_or(IncompleteWal)?;
    let has_former_frame = match former_frame {
        Some(frame) if frame.salts == salts => {
            read_bytes(wal, frame.position) == Some(frame.header)
        }
        _ => true,
    };
    let is_complete = wal_header[16..24] == salts
        && header[8..16] == salts
        && header[16..24] == WalIndex::checksum(version)
        && has_former_frame;
    if !is_complete {
        return Err(IncompleteWal);
    }
    Ok(Some(Frame {
        salts,
        position,
        header,
    }))
}

/// Whether the WAL has every frame. A commit that was under way when the WAL was truncated leaves a
/// hole before its own frames.
fn has_all_frames(wal: &File, version: &FileVersion) -> bool {
    let frame_size = FRAME_HEADER as u64 + WalIndex::page_size(version);
    for index in 0..u64::from(WalIndex::pages_in_wal(version)) {
        let position = WAL_HEADER as u64 + index * frame_size;
        match read_bytes::<FRAME_HEADER>(wal, position) {
            Some(header) if header[8..16] == WalIndex::salts(version) => {}
            _ => return false,
        }
    }
    true
}

/// Returns `N` bytes of a file from `position` on; `None` if they cannot be read.
fn read_bytes<const N: usize>(file: &File, position: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, position).ok()?;
    Some(bytes)
}

impl OpenFile {
    fn new(file: Arc<File>, path: PathBuf) -> io::Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        let identity = FileIdentity::from_status(&rustix::fs::fstat(&file)?);
        Ok(Self {
            path,
            name,
            file,
            identity,
        })
    }

    /// Returns the size of the file; `None` if its path leads to another file or to none.
    fn size(&self) -> Option<u64> {
        // `Path::metadata` takes 500 instructions, and a create calls this six times.
        let status = rustix::fs::stat(&*self.name).ok()?;
        if FileIdentity::from_status(&status) != self.identity {
            return None;
        }
        Some(status.st_size.cast_unsigned())
    }
}

/// Whether another process has the database open with a different `-shm` file. Then no lock
/// protects the two from each other.
pub(super) fn has_other_shm_file(path: &Path) -> io::Result<bool> {
    let index = match keep_open(&companion(path, "-shm")) {
        // The database is not in WAL mode, or not yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        result => result?,
    };
    let database = keep_open(path)?;
    Ok(is_locked(&database, DATABASE_LOCK)? && !is_locked(&index, INDEX_LOCK)?)
}

/// Whether another process has locked these bytes of a file.
fn is_locked(file: &File, range: ByteRange) -> io::Result<bool> {
    let lock = Flock {
        start: range.start,
        length: range.length,
        ..FlockType::WriteLock.into()
    };
    let conflict = fcntl_getlk(file, &lock)?;
    Ok(conflict.is_some())
}

/// Whether the WAL lacks transactions that were committed to it and are not in the database,
/// according to the `-shm` file that its last user left. `false` if the `-shm` file may be older
/// than the WAL, for example after a power cut.
pub(super) fn has_lost_transactions(path: &Path) -> bool {
    let Ok(index) = keep_open(&companion(path, "-shm")) else {
        return false;
    };
    let wal = File::open(companion(path, "-wal")).ok();
    loop {
        let Some((version, checkpointed_pages)) = parse_index(&index) else {
            return false;
        };
        let is_checkpointed = WalIndex::pages_in_wal(&version) <= checkpointed_pages;
        if is_checkpointed || !is_newer_than_boot(&index) {
            return false;
        }
        if let Some(wal) = &wal
            && (is_restarted(wal, &version) || is_complete(wal, &version))
        {
            return false;
        }
        // If the content has changed, a process is writing the `-shm` file right now.
        if parse_index(&index) == Some((version, checkpointed_pages)) {
            return true;
        }
    }
}

/// Reads the version in the `-shm` file, and the number of pages of the WAL that are in the database.
fn parse_index(index: &File) -> Option<(FileVersion, u32)> {
    let content = read_bytes::<INDEX_HEADER>(index, 0)?;
    WalIndex::parse(&content)
}

/// Whether a file was written after the machine was started.
fn is_newer_than_boot(file: &File) -> bool {
    let Ok(modification_time) = file.metadata().and_then(|metadata| metadata.modified()) else {
        return false;
    };
    boot_time().is_some_and(|boot_time| modification_time > boot_time)
}

/// Whether the WAL was restarted after the `-shm` file with this version was written.
fn is_restarted(wal: &File, version: &FileVersion) -> bool {
    match read_bytes::<WAL_HEADER>(wal, 0) {
        Some(header) => header[..3] == WAL_MAGIC && header[16..24] != WalIndex::salts(version),
        None => false,
    }
}

/// Whether the WAL has all frames up to this version.
fn is_complete(wal: &File, version: &FileVersion) -> bool {
    let size = wal.metadata().map_or(0, |metadata| metadata.len());
    find_last_frame(wal, size, version, None).is_ok() && has_all_frames(wal, version)
}

/// Returns the time at which the machine was started; `None` if it is unknown.
fn boot_time() -> Option<SystemTime> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let seconds = text
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?
        .parse()
        .ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}
