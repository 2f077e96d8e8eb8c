//! Detects changes to the database files by other programs.
//!
//! SQLite assumes that only SQLite touches its open files, but an operator can remove, replace or
//! truncate them by mistake. The next process does not see what is committed to such a file afterwards.
//! So [`Files::check`] examines all three files (the database, its WAL and its `-shm` file) before
//! each commit, and again before the commit is acknowledged.

use std::{
    ffi::CString,
    fs::File,
    io,
    os::unix::{ffi::OsStrExt, fs::FileExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use petstore_store::StoreError;

use super::{
    file_identity::{FileIdentity, companion_path, keep_open},
    wal_frames::{Frame, IncompleteWal, find_last_frame},
    wal_index::{CheckpointProgress, FileVersion, WalIndex},
};

/// The length of the header of a database file, in bytes.
const DATABASE_HEADER: usize = 100;

/// The number of pages from which the WAL counts as long. While the WAL is long, no read transaction
/// stays open, and a checkpoint follows every batch of writes.
pub(super) const LONG_WAL: u32 = 1_000;

/// The three files of an open database, as they were when they were opened.
pub(super) struct Files {
    database: OpenFile,
    wal: OpenFile,
    /// The `-shm` file.
    index: OpenFile,
    /// The mapped header of the `-shm` file.
    wal_index: WalIndex,
    /// The state of the database file at the last check during which no checkpoint was running; `None`
    /// before the first such check.
    database_state: Option<DatabaseState>,
    /// The last frame of the WAL at the last check.
    last_frame: Option<Frame>,
    /// The change that the last check has found.
    change: Option<ExternalChange>,
}

/// An open file, and its path when it was opened.
struct OpenFile {
    path: PathBuf,
    /// The path as a C string, for system calls.
    c_path: CString,
    file: Arc<File>,
    identity: FileIdentity,
}

/// The state of the database file, which only checkpoints may change.
#[derive(PartialEq, Eq)]
struct DatabaseState {
    checkpoint_progress: CheckpointProgress,
    size: u64,
    header: [u8; DATABASE_HEADER],
}

/// What another program did to one of the files: removed or replaced it ("gone"), or changed its
/// content.
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
#[error("{} was {}", .path.display(), .kind.description())]
pub(super) struct ExternalChange {
    pub(super) kind: ChangeKind,
    path: PathBuf,
}

impl ChangeKind {
    /// Returns what has happened to the file, for the operator.
    fn description(self) -> &'static str {
        match self {
            Self::DatabaseGone | Self::WalGone | Self::IndexGone => "removed or replaced",
            Self::DatabaseChanged | Self::WalChanged => "truncated or overwritten",
        }
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
        let wal = companion_path(&path, "-wal");
        let index = companion_path(&path, "-shm");
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

    /// Whether a checkpoint should run, because the WAL is long, or because a checkpoint was
    /// interrupted when its process was killed. Until an interrupted checkpoint is completed, it is
    /// impossible to tell whether the database file is intact.
    pub(super) fn needs_checkpoint(&self) -> bool {
        let pages = self.wal_index.version().pages_in_wal();
        pages >= LONG_WAL || !self.wal_index.checkpoint_progress().is_idle()
    }

    /// Fails if another program has removed, replaced or changed a file.
    ///
    /// A missing database file may come back; any other failure is permanent until the database is
    /// opened again.
    pub(super) fn check(&mut self) -> Result<(), ExternalChange> {
        // Only a missing database file can come back, so repeat any other failure without a new check.
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

    /// Returns the file that a change of this kind affects.
    fn changed_file(&self, kind: ChangeKind) -> &OpenFile {
        match kind {
            ChangeKind::DatabaseGone | ChangeKind::DatabaseChanged => &self.database,
            ChangeKind::WalGone | ChangeKind::WalChanged => &self.wal,
            ChangeKind::IndexGone => &self.index,
        }
    }

    /// Returns the change that the last check has found; `None` if it found none.
    pub(super) fn external_change(&self) -> Option<&ExternalChange> {
        self.change.as_ref()
    }

    /// Whether the open WAL can safely be copied into the database, even if the name of the WAL was
    /// removed. The WAL must have everything that was committed, and no other process can have
    /// written into the database.
    pub(super) fn can_checkpoint(&self) -> bool {
        // A WAL of unknown size counts as incomplete.
        let wal_size = self.wal.file.metadata().map_or(0, |wal| wal.len());
        // A size is `None` if the path leads to another file or to none.
        let have_names = self.database.size().is_some() && self.index.size().is_some();
        have_names
            && self
                .find_wal_end(&self.wal_index.version(), wal_size)
                .is_ok()
    }

    /// Compares all files with their state at the last check, and records the new state.
    fn check_files(&mut self) -> Result<(), ChangeKind> {
        let checkpoint_progress = self.wal_index.checkpoint_progress();
        let size = self.database.size().ok_or(ChangeKind::DatabaseGone)?;
        let wal_result = self.check_wal();
        // Report a missing WAL before a missing `-shm` file, because it is the greater loss.
        if wal_result == Err(ChangeKind::WalGone) {
            return wal_result;
        }
        // If the `-shm` file is gone, processes that open the database now create another one. So
        // no lock keeps them from writing into the other files.
        if self.index.size().is_none() {
            return Err(ChangeKind::IndexGone);
        }
        wal_result?;
        self.check_database(checkpoint_progress, size)
    }

    /// Compares the database file with its state at the last check, and records the new state.
    /// `checkpoint_progress` was read before the file and its `size`.
    ///
    /// Only a checkpoint may write into the database file, and each checkpoint records its beginning and
    /// end in the `-shm` file. So this compares the file only if no checkpoint was running while it was
    /// read.
    fn check_database(
        &mut self,
        checkpoint_progress: CheckpointProgress,
        size: u64,
    ) -> Result<(), ChangeKind> {
        let mut header = [0; DATABASE_HEADER];
        let header_result = self.database.file.read_exact_at(&mut header, 0);
        let was_idle = checkpoint_progress.is_idle()
            && self.wal_index.checkpoint_progress() == checkpoint_progress;
        if !was_idle {
            return Ok(());
        }
        let state = DatabaseState {
            checkpoint_progress,
            size,
            header,
        };
        let has_changed = self.database_state.as_ref().is_some_and(|last_state| {
            last_state.checkpoint_progress == checkpoint_progress && *last_state != state
        });
        if header_result.is_err() || has_changed {
            return Err(ChangeKind::DatabaseChanged);
        }
        self.database_state = Some(state);
        Ok(())
    }

    /// Finds the last frame of the WAL at this version; `None` if the WAL is empty. `wal_size` is the
    /// size of the WAL in bytes.
    fn find_wal_end(
        &self,
        version: &FileVersion,
        wal_size: u64,
    ) -> Result<Option<Frame>, IncompleteWal> {
        find_last_frame(&self.wal.file, wal_size, version, self.last_frame.as_ref())
    }

    /// Checks that the WAL is complete, and records its last frame.
    fn check_wal(&mut self) -> Result<(), ChangeKind> {
        loop {
            let version = self.wal_index.version();
            let wal_size = self.wal.size().ok_or(ChangeKind::WalGone)?;
            if let Ok(last_frame) = self.find_wal_end(&version, wal_size) {
                self.last_frame = last_frame;
                return Ok(());
            }
            // The WAL looks incomplete, too, if another process commits to it or restarts it while
            // this reads it. The version has then changed, so check again.
            if self.wal_index.version() == version {
                return Err(ChangeKind::WalChanged);
            }
        }
    }
}

impl OpenFile {
    /// Records the identity of an open file.
    fn new(file: Arc<File>, path: PathBuf) -> io::Result<Self> {
        let c_path = CString::new(path.as_os_str().as_bytes())?;
        let identity = FileIdentity::from_status(&rustix::fs::fstat(&file)?);
        Ok(Self {
            path,
            c_path,
            file,
            identity,
        })
    }

    /// Returns the size of the file; `None` if its path leads to another file or to none.
    fn size(&self) -> Option<u64> {
        // Avoid `Path::metadata`, which takes 500 instructions: every create calls this six times.
        let status = rustix::fs::stat(&*self.c_path).ok()?;
        if FileIdentity::from_status(&status) != self.identity {
            return None;
        }
        Some(status.st_size.cast_unsigned())
    }
}
