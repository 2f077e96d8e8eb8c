//! A copy of a database in one file: whole and sound, or not there at all.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt, fchown},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};
use rustix::{
    fs::{FlockOperation, fcntl_lock},
    io::Errno,
};

use super::{check, connection, file, migrations};
use crate::store::{Cause, OpenError, OpenMode};

/// Why there is no copy. Each reads as one line for the operator.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    /// What was to be copied cannot be opened.
    #[error(transparent)]
    Source(#[from] OpenError),
    /// What was to be copied is damaged.
    #[error("{path} is damaged ({what}), and was not copied")]
    Damaged {
        /// Where it is.
        path: String,
        /// What was found first.
        what: String,
    },
    /// Something is where the copy was to go.
    #[error("{0} is there already; --force replaces it")]
    Exists(String),
    /// A process has open what was to be replaced.
    #[error("{0} is in use; stop the service first")]
    InUse(String),
    /// Both are one file.
    #[error("{0} is the database itself")]
    Same(String),
    /// The copy cannot be written.
    #[error("cannot write {path}: {cause}")]
    Write {
        /// Where it was to go.
        path: String,
        /// What lay behind it.
        cause: Cause,
    },
}

/// Copies the database at `from`, whoever writes to it meanwhile, to `to`, and
/// returns how many animals the copy holds. It is one file of mode 0600, since
/// it has the digests of keys. What is at `to` is left alone unless `replace`,
/// and while a process has it open. The copy is first written beside `to`, under
/// a name made of `number`; if the process is killed, that file stays behind.
///
/// # Errors
///
/// See [`CopyError`]. What was at `to` still is, then.
pub(crate) fn copy(from: &Path, to: &Path, replace: bool, number: u64) -> Result<u64, CopyError> {
    let source = connection::open_untouched(from, OpenMode::CreateAndMigrate)?;
    if is_same(from, to) {
        return Err(CopyError::Same(to.display().to_string()));
    }
    let there = family(to).into_iter().find(|path| path.symlink_metadata().is_ok());
    if let Some(there) = there.filter(|_| !replace) {
        return Err(CopyError::Exists(there.display().to_string()));
    }
    let failed = |cause: Cause| CopyError::Write { path: to.display().to_string(), cause };
    let replaced = take_over(to)?;
    let partial = Partial::create(to, number).map_err(|error| failed(Arc::new(error)))?;
    let animals = fill(&partial.0, &source).map_err(|problem| match problem {
        Problem::Damage(what) => CopyError::Damaged { path: from.display().to_string(), what },
        Problem::Locked => CopyError::InUse(from.display().to_string()),
        Problem::Write(error) => failed(Arc::new(error)),
    })?;
    partial.put_at(to, replaced.as_ref()).map_err(|error| failed(Arc::new(error)))?;
    Ok(animals)
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!(
        (file::device_and_inode(one), file::device_and_inode(other)),
        (Ok(one), Ok(other)) if one == other
    )
}

/// The file, and those that SQLite keeps beside it.
fn family(path: &Path) -> [PathBuf; 4] {
    ["", "-wal", "-shm", "-journal"].map(|end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    })
}

/// Makes a database that is to be replaced one file, with nothing of it in a
/// log, and locks everybody out until what is returned is dropped. `None` if
/// nothing is there.
///
/// Whatever happens from then on, its file alone is all of it: a log of the one
/// never meets the file of the other.
fn take_over(path: &Path) -> Result<Option<File>, CopyError> {
    let in_use = || CopyError::InUse(path.display().to_string());
    if !path.exists() {
        return Ok(None);
    }
    let fold = || {
        let old = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        old.busy_timeout(Duration::ZERO)?;
        old.pragma_update(None, "journal_mode", "DELETE")
    };
    // One that is too damaged for this has nothing to be kept.
    if fold().is_err_and(|error| connection::is_busy(&error)) {
        return Err(in_use());
    }
    let failed = |error: io::Error| CopyError::Write {
        path: path.display().to_string(),
        cause: Arc::new(error),
    };
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
    // Whoever has it open in WAL mode holds a lock that this one excludes.
    match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(Errno::AGAIN | Errno::ACCESS) => Err(in_use()),
        Err(error) => Err(failed(error.into())),
    }
}

/// Why a copy could not be filled.
enum Problem {
    Damage(String),
    /// Somebody is replacing the source.
    Locked,
    Write(rusqlite::Error),
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        if check::is_damage(&error) { Self::Damage(error.to_string()) } else { Self::Write(error) }
    }
}

/// Copies every page as it is at one moment, and reads the copy from end to
/// end. Returns how many animals there are.
fn fill(path: &Path, source: &Connection) -> Result<u64, Problem> {
    let mut target = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // If it goes wrong, the file is removed; it is synced in the end.
    target.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    target.pragma_update(None, "journal_mode", "OFF")?;
    target.pragma_update(None, "synchronous", "OFF")?;
    if Backup::new(source, &mut target)?.step(-1)? != StepResult::Done {
        return Err(Problem::Locked);
    }
    // The pages say that there is a log beside them. There is none, and whoever
    // may not write beside the copy can read it, too.
    target.pragma_update(None, "journal_mode", "DELETE")?;
    let look = if migrations::is_current(&target)? { check::all } else { check::of_any_version };
    let found = look(&target)?;
    match found.problems.into_iter().next() {
        Some(problem) => Err(Problem::Damage(problem)),
        None => Ok(found.animals),
    }
}

/// A file beside the place of the copy, removed when dropped.
struct Partial(PathBuf);

impl Partial {
    fn create(to: &Path, number: u64) -> io::Result<Self> {
        let name = to.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let mut partial = OsString::from(".");
        partial.push(name);
        partial.push(format!(".{number:016x}.partial"));
        let path = to.with_file_name(partial);
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self(path))
    }

    /// Puts the file at its place, on disk, in place of `replaced`.
    fn put_at(self, to: &Path, replaced: Option<&File>) -> io::Result<()> {
        let file = File::open(&self.0)?;
        if let Some(owner) = replaced.map(File::metadata).transpose()? {
            fchown(&file, Some(owner.uid()), Some(owner.gid()))?;
        }
        file.sync_all()?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = File::open(folder.unwrap_or(Path::new(".")))?;
        // First what would be taken for the log of the new file.
        let [_, beside @ ..] = family(to);
        for path in beside {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        folder.sync_all()?;
        fs::rename(&self.0, to)?;
        folder.sync_all()
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        for path in family(&self.0) {
            let _ = fs::remove_file(path);
        }
    }
}
