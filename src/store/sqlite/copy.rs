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
    Connection, MAIN_DB, OpenFlags,
    backup::{Backup, StepResult},
    config::DbConfig,
    ffi,
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
    /// A database cannot be opened: the source, or the one to be replaced.
    #[error(transparent)]
    Open(#[from] OpenError),
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
    /// The database to be replaced is sound as far as is known, but a part of it
    /// is in its log and stays there.
    #[error(
        "cannot write the log of {path} into it, which must be done before it is replaced: \
         {cause}. Nothing was changed; remove the cause and repeat the command"
    )]
    Checkpoint {
        /// Where it is.
        path: String,
        /// What lay behind it.
        cause: Cause,
    },
    /// The copy cannot be written.
    #[error("cannot write {path}: {cause}")]
    Write {
        /// Where it was to go.
        path: String,
        /// What lay behind it.
        cause: Cause,
    },
    /// The copy cannot be put at its place, and what was there cannot be put back.
    #[error("cannot write {path}: {cause}; what was there is now {aside}, with its log beside it")]
    Aside {
        /// Where it was to go.
        path: String,
        /// Where the database is that was to be replaced.
        aside: String,
        /// What lay behind it.
        cause: Cause,
    },
    /// The copy is at its place, as far as the operating system is concerned.
    #[error(
        "{path} is the copy now, but that cannot be synced to the disk: {cause}. \
         A power cut may bring back what was there; repeat the command"
    )]
    NotSynced {
        /// Where it is.
        path: String,
        /// What lay behind it.
        cause: Cause,
    },
}

/// What was made.
pub(crate) struct Copied {
    /// How many animals are in it.
    pub(crate) animals: u64,
    /// Under which name the database is kept that was replaced, if it was damaged
    /// or had files beside it that are not known to be without use.
    pub(crate) aside: Option<PathBuf>,
}

/// Copies the database at `from` to `to`, even while others write to it. The
/// copy is one file of mode 0600, since it has the digests of keys. What is at
/// `to` is left alone unless `replace`, and while a process has it open. The copy
/// is first written beside `to`, under a name made of `number`; if the process is
/// killed, that file stays behind.
///
/// At each moment, also at a power cut, `to` is what it was or the copy; and a
/// database that is not all in one file is whole at `to` or under a name of its own.
///
/// # Errors
///
/// See [`CopyError`]. What was at `to` still is, unless the error says otherwise.
pub(crate) fn copy(
    from: &Path,
    to: &Path,
    replace: bool,
    number: u64,
) -> Result<Copied, CopyError> {
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
    let aside = partial.put_at(to, replaced.as_ref(), number)?;
    Ok(Copied { animals, aside })
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!(
        (file::device_and_inode(one), file::device_and_inode(other)),
        (Ok(one), Ok(other)) if one == other
    )
}

/// The database that is to be replaced.
struct Replaced {
    /// It is locked until this is dropped.
    file: File,
    is_damaged: bool,
}

/// The file, and those that SQLite keeps beside it.
pub(super) fn family(path: &Path) -> [PathBuf; 4] {
    ["", "-wal", "-shm", "-journal"].map(|end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    })
}

/// Makes a database that is to be replaced one file, with nothing of it in a
/// log, unless it is too damaged for that. Locks other processes out until what
/// is returned is dropped. `None` if nothing is there.
fn take_over(path: &Path) -> Result<Option<Replaced>, CopyError> {
    let shown = path.display().to_string();
    if !path.exists() {
        return Ok(None);
    }
    let stays = |cause: Cause| CopyError::Checkpoint { path: shown.clone(), cause };
    let mut done = checkpoint(path);
    if done.as_ref().is_err_and(check::is_damage) {
        // SQLite takes a failure to read for damage, too. That shows here, or the
        // second time is without it.
        read(path).map_err(|error| stays(Arc::new(error)))?;
        done = checkpoint(path);
    }
    let is_damaged = match done {
        Ok(()) => false,
        Err(error) if connection::is_busy(&error) => return Err(CopyError::InUse(shown)),
        Err(error) if check::is_damage(&error) => true,
        // A full disk or a failing one says nothing about what is in the log.
        Err(error) => return Err(stays(Arc::new(error))),
    };
    let failed = |error| CopyError::Write { path: shown.clone(), cause: Arc::new(error) };
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
    // A process that has it open in WAL mode holds a lock that this one excludes.
    match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Replaced { file, is_damaged })),
        Err(Errno::AGAIN | Errno::ACCESS) => Err(CopyError::InUse(shown)),
        Err(error) => Err(failed(error.into())),
    }
}

/// Reads all files of a database from end to end.
fn read(path: &Path) -> io::Result<()> {
    for path in family(path) {
        match File::open(path) {
            Ok(mut file) => drop(io::copy(&mut file, &mut io::sink())?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes the log of a database into its file, and removes it.
fn checkpoint(path: &Path) -> rusqlite::Result<()> {
    let old = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let failed = |code| Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
    // SQLite settles for reading where it may not write.
    if old.is_readonly(MAIN_DB)? {
        return failed(ffi::SQLITE_READONLY);
    }
    old.busy_timeout(Duration::ZERO)?;
    // If it fails here, it must not be done in part when this is closed.
    old.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let mode: String =
        old.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))?;
    if mode == "delete" { Ok(()) } else { failed(ffi::SQLITE_IOERR) }
}

/// A second name of every file of a database, under which it is whole while the
/// first ones are taken away.
struct Aside<'a> {
    of: &'a Path,
    at: PathBuf,
}

impl<'a> Aside<'a> {
    /// Gives the names, and brings them to the disk.
    fn link(of: &'a Path, number: u64, folder: &File) -> io::Result<Self> {
        let mut at = of.as_os_str().to_owned();
        at.push(format!(".replaced-{number:016x}"));
        let aside = Self { of, at: at.into() };
        let link = |(of, at)| match fs::hard_link(of, at) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        let linked = aside.names().try_for_each(link).and_then(|()| folder.sync_all());
        linked.inspect_err(|_| aside.remove())?;
        Ok(aside)
    }

    /// Gives every file its first name again, and no other.
    fn undo(self, folder: &File) -> io::Result<()> {
        for (of, at) in self.names() {
            match fs::hard_link(at, of) {
                Err(error)
                    if ![io::ErrorKind::NotFound, io::ErrorKind::AlreadyExists]
                        .contains(&error.kind()) =>
                {
                    return Err(error);
                }
                _ => {}
            }
        }
        folder.sync_all()?;
        self.remove();
        Ok(())
    }

    fn remove(&self) {
        for (_, at) in self.names() {
            let _ = fs::remove_file(at);
        }
    }

    fn names(&self) -> impl Iterator<Item = (PathBuf, PathBuf)> {
        family(self.of).into_iter().zip(family(&self.at))
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

    /// Puts the file at its place, on disk, in place of `replaced`. Returns under
    /// which name that is kept, if it is.
    fn put_at(
        self,
        to: &Path,
        replaced: Option<&Replaced>,
        number: u64,
    ) -> Result<Option<PathBuf>, CopyError> {
        let path = to.display().to_string();
        let failed = |error| CopyError::Write { path: path.clone(), cause: Arc::new(error) };
        let folder = self.prepare(to, replaced).map_err(failed)?;
        let [_, beside @ ..] = family(to);
        // After a checkpoint there is nothing beside it, unless another process has
        // opened it since.
        let is_in_pieces = replaced.is_some_and(|replaced| replaced.is_damaged)
            || beside.iter().any(|path| path.symlink_metadata().is_ok());
        let aside = is_in_pieces.then(|| Aside::link(to, number, &folder)).transpose();
        let aside = aside.map_err(failed)?;
        if let Err(error) = self.replace(to, &beside, &folder) {
            let Some(aside) = aside else { return Err(failed(error)) };
            let at = aside.at.display().to_string();
            return Err(match aside.undo(&folder) {
                Ok(()) => failed(error),
                Err(_) => CopyError::Aside { path, aside: at, cause: Arc::new(error) },
            });
        }
        match folder.sync_all() {
            Ok(()) => Ok(aside.map(|aside| aside.at)),
            Err(error) => Err(CopyError::NotSynced { path, cause: Arc::new(error) }),
        }
    }

    /// Brings the file to the disk, with the owner of what it replaces. Returns
    /// the folder where it goes.
    fn prepare(&self, to: &Path, replaced: Option<&Replaced>) -> io::Result<File> {
        let file = File::open(&self.0)?;
        if let Some(replaced) = replaced {
            let owner = replaced.file.metadata()?;
            fchown(&file, Some(owner.uid()), Some(owner.gid()))?;
        }
        file.sync_all()?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))
    }

    /// Renames the file, once nothing is left that SQLite would take for its log.
    fn replace(&self, to: &Path, beside: &[PathBuf], folder: &File) -> io::Result<()> {
        for path in beside {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        // Also what a checkpoint has removed could come back at a power cut.
        folder.sync_all()?;
        fs::rename(&self.0, to)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        for path in family(&self.0) {
            let _ = fs::remove_file(path);
        }
    }
}
