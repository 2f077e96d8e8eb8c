//! Copies a database into one file, completely and checked, or not at all.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use petstore_domain::{WriteContext, store_area::PhotoId};
use petstore_store::{Cause, OpenMode};
use petstore_system::owner::{Owner, make_file};
use rusqlite::{
    MAIN_DB, OpenFlags,
    backup::{Backup, StepResult},
    config::DbConfig,
    ffi,
};
use rustix::{
    fs::{FlockOperation, fcntl_lock},
    io::Errno,
};

use super::{
    check,
    connection::Connection,
    copy_error::CopyError,
    errors::is_damage,
    file_identity::{companion, files_of, is_companion, is_same},
    journal, migrations, opening,
};

/// The result of a copy.
pub struct Copied {
    /// How many animals the copy has.
    pub animals: u64,
    pub photos: Vec<PhotoId>,
    /// The second name of the replaced database, if it was damaged or had companion files whose
    /// content may matter.
    pub aside: Option<PathBuf>,
}

/// Copies the database at `from` to `to`, even while others write to it. The copy is one file of
/// mode 0600, because it contains the digests of keys. A file at `to` is replaced only with
/// `replace`, and only if no process has it open. The copy is first written next to `to`, under a
/// name that contains `number`; if the process is killed, that file stays behind. The copy gets
/// another epoch of the log and an act, if it is `restored`.
///
/// At each moment, even at a power cut, `to` is either the old file or the copy. An old database of
/// several files is always complete under one of its names.
///
/// # Errors
///
/// See [`CopyError`]. Unless the error says otherwise, `to` is unchanged.
pub fn copy(
    from: &Path,
    to: &Path,
    replace: bool,
    number: u64,
    restored: Option<&WriteContext>,
) -> Result<Copied, CopyError> {
    if is_companion(to) {
        return Err(CopyError::Companion(to.display().to_string()));
    }
    let source = opening::open_untouched(from, OpenMode::CreateAndMigrate)?;
    let own = files_of(&from.canonicalize().unwrap_or_else(|_| from.to_owned()));
    if own
        .iter()
        .any(|own| files_of(to).iter().any(|to| is_same(own, to)))
    {
        return Err(CopyError::Same(to.display().to_string()));
    }
    let existing = files_of(to)
        .into_iter()
        .find(|path| path.symlink_metadata().is_ok());
    if let Some(existing) = existing.filter(|_| !replace) {
        return Err(CopyError::Exists(existing.display().to_string()));
    }
    let failed = |cause: Cause| CopyError::Write {
        path: to.display().to_string(),
        cause,
    };
    let replaced = prepare_replacement(to)?;
    let partial = Partial::create(to, number).map_err(|error| failed(Arc::new(error)))?;
    let copied = fill(&partial.path, &source, restored, || {});
    let copied = copied.map_err(|problem| problem.of(from, to))?;
    let given = partial.give(replaced.as_ref(), restored.map_or(from, |_| to));
    // The service does not open a new backup, and some disks for backups know no owners.
    if replaced.is_some() || restored.is_some() {
        given.map_err(|error| failed(Arc::new(error)))?;
    }
    let aside = partial.put_at(to, replaced.as_ref(), number)?;
    Ok(Copied { aside, ..copied })
}

/// Copies the database at `from` into a file at `to`, in place of what is there, and checks it. Does not
/// sync it. Calls `copied` before the check, which takes most of the time.
pub fn copy_into(from: &Path, to: &Path, copied: impl FnOnce()) -> Result<Copied, CopyError> {
    remove(to);
    let failed = |error| CopyError::Write {
        path: to.display().to_string(),
        cause: Arc::new(error),
    };
    make_file(to, None).map_err(failed)?;
    let source = opening::open_untouched(from, OpenMode::AsIs)?;
    fill(to, &source, None, copied).map_err(|problem| problem.of(from, to))
}

/// Removes all files of a database, as far as this is possible.
pub fn remove(path: &Path) {
    for path in files_of(path) {
        let _ = fs::remove_file(path);
    }
}

/// The database to replace.
struct Replaced {
    /// Locked until this is dropped.
    file: File,
    is_damaged: bool,
}

/// Prepares a database for its replacement: runs a checkpoint, so that it is one file, unless it is
/// too damaged. Locks out other processes until the result is dropped. `None` if the file does not
/// exist.
fn prepare_replacement(path: &Path) -> Result<Option<Replaced>, CopyError> {
    let shown = path.display().to_string();
    match path.metadata() {
        Ok(file) if !file.is_file() => return Err(CopyError::NotAFile(shown)),
        Ok(_) => {}
        Err(_) => return Ok(None),
    }
    let checkpoint_error = |cause: Cause| CopyError::Checkpoint {
        path: shown.clone(),
        cause,
    };
    let mut done = checkpoint(path);
    if done.as_ref().is_err_and(is_damage) {
        // SQLite also reports a failed read as damage. Reading the files shows such an error, or
        // the second checkpoint succeeds.
        read(path).map_err(|error| checkpoint_error(Arc::new(error)))?;
        done = checkpoint(path);
    }
    let is_damaged = match done {
        Ok(()) => false,
        Err(error) if opening::is_busy(&error) => return Err(CopyError::InUse(shown)),
        Err(error) if is_damage(&error) => true,
        // A full or failing disk does not mean that the content of the WAL is damaged.
        Err(error) => return Err(checkpoint_error(Arc::new(error))),
    };
    let failed = |error| CopyError::Write {
        path: shown.clone(),
        cause: Arc::new(error),
    };
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .map_err(failed)?;
    // A process that has the database open in WAL mode holds a lock that conflicts with this one.
    match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Replaced { file, is_damaged })),
        Err(Errno::AGAIN | Errno::ACCESS) => Err(CopyError::InUse(shown)),
        Err(error) => Err(failed(error.into())),
    }
}

/// Reads all files of a database completely.
fn read(path: &Path) -> io::Result<()> {
    for path in files_of(path) {
        match File::open(path) {
            Ok(mut file) => drop(io::copy(&mut file, &mut io::sink())?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes the WAL into the database and removes the WAL.
fn checkpoint(path: &Path) -> rusqlite::Result<()> {
    let old = opening::open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let failed = |code| Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
    // Without write permission, SQLite opens the file read-only.
    if old.is_readonly(MAIN_DB)? {
        return failed(ffi::SQLITE_READONLY);
    }
    old.busy_timeout(Duration::ZERO)?;
    // After a failure here, closing must not run a partial checkpoint.
    old.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let mode: String =
        old.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))?;
    if mode == "delete" {
        Ok(())
    } else {
        failed(ffi::SQLITE_IOERR)
    }
}

/// A second name (hard link) of every file of a database, under which it stays complete while the
/// first names are removed.
struct HardLinks<'a> {
    of: &'a Path,
    at: PathBuf,
}

impl<'a> HardLinks<'a> {
    /// Creates the links and syncs them.
    fn link(of: &'a Path, number: u64, folder: &File) -> io::Result<Self> {
        let aside = Self {
            of,
            at: companion(of, &format!(".replaced-{number:016x}")),
        };
        let link = |(of, at)| match fs::hard_link(of, at) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        let linked = aside
            .names()
            .try_for_each(link)
            .and_then(|()| folder.sync_all());
        linked.inspect_err(|_| aside.remove())?;
        Ok(aside)
    }

    /// Restores the first names and removes the second ones.
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
        files_of(self.of).into_iter().zip(files_of(&self.at))
    }
}

/// Why a copy could not be filled.
enum Problem {
    Damage(String),
    /// Another process is replacing the source.
    Locked,
    Write(rusqlite::Error),
}

impl Problem {
    fn of(self, from: &Path, to: &Path) -> CopyError {
        let [from, to] = [from, to].map(|path| path.display().to_string());
        match self {
            Self::Damage(what) => CopyError::Damaged { path: from, what },
            Self::Locked => CopyError::InUse(from),
            Self::Write(error) => CopyError::Write {
                path: to,
                cause: Arc::new(error),
            },
        }
    }
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        if is_damage(&error) {
            Self::Damage(error.to_string())
        } else {
            Self::Write(error)
        }
    }
}

/// Copies all pages of one moment, then checks the copy completely.
fn fill(
    path: &Path,
    source: &Connection,
    restored: Option<&WriteContext>,
    copied: impl FnOnce(),
) -> Result<Copied, Problem> {
    let mut target = opening::open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // If this fails, the file is removed. A complete file is synced at the end.
    target.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    target.pragma_update(None, "journal_mode", "OFF")?;
    target.pragma_update(None, "synchronous", "OFF")?;
    if Backup::new(source, &mut target)?.step(-1)? != StepResult::Done {
        return Err(Problem::Locked);
    }
    copied();
    // The copied header says WAL mode. In DELETE mode, users without write permission to the
    // directory can read the copy.
    target.pragma_update(None, "journal_mode", "DELETE")?;
    let is_current = migrations::is_current(&target)?;
    let look = if is_current {
        check::all
    } else {
        check::of_any_version
    };
    let found = look(&mut target)?;
    if let Some(problem) = found.problems.into_iter().next() {
        return Err(Problem::Damage(problem));
    }
    // An older database gets its first epoch from the migration.
    if let Some(context) = restored.filter(|_| is_current) {
        journal::begin_epoch(&mut target, context)?;
    }
    let mut photos = Vec::new();
    // That of an older release may have no such table.
    if target.table_exists(None::<&str>, "photos")? {
        let mut ids = target.prepare("SELECT id FROM photos")?;
        for id in ids.query_map([], |row| row.get::<_, String>(0))? {
            photos.extend(PhotoId::parse(&id?));
        }
    }
    Ok(Copied {
        animals: found.animals,
        photos,
        aside: None,
    })
}

/// The unfinished copy next to its target, removed when dropped.
struct Partial {
    path: PathBuf,
    file: File,
}

impl Partial {
    fn create(to: &Path, number: u64) -> io::Result<Self> {
        let name = to.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let mut partial = OsString::from(".");
        partial.push(name);
        partial.push(format!(".{number:016x}.partial"));
        let path = to.with_file_name(partial);
        let file = make_file(&path, None)?;
        Ok(Self { path, file })
    }

    /// Renames the file to its target, in place of `replaced`, and syncs. Returns the second name
    /// of the replaced database, if it is kept.
    fn put_at(
        self,
        to: &Path,
        replaced: Option<&Replaced>,
        number: u64,
    ) -> Result<Option<PathBuf>, CopyError> {
        let path = to.display().to_string();
        let failed = |error| CopyError::Write {
            path: path.clone(),
            cause: Arc::new(error),
        };
        let folder = self.sync(to).map_err(failed)?;
        let [_, companions @ ..] = files_of(to);
        // After a checkpoint there are no companion files, unless another process has opened the
        // database since.
        let is_in_pieces = replaced.is_some_and(|replaced| replaced.is_damaged)
            || companions
                .iter()
                .any(|path| path.symlink_metadata().is_ok());
        let aside = is_in_pieces
            .then(|| HardLinks::link(to, number, &folder))
            .transpose();
        let aside = aside.map_err(failed)?;
        if let Err(error) = self.replace(to, &companions, &folder) {
            let Some(aside) = aside else {
                return Err(failed(error));
            };
            let at = aside.at.display().to_string();
            return Err(match aside.undo(&folder) {
                Ok(()) => failed(error),
                Err(_) => CopyError::Aside {
                    path,
                    aside: at,
                    cause: Arc::new(error),
                },
            });
        }
        match folder.sync_all() {
            Ok(()) => Ok(aside.map(|aside| aside.at)),
            Err(error) => Err(CopyError::NotSynced {
                path,
                cause: Arc::new(error),
            }),
        }
    }

    /// Gives the file to the owner of the replaced one, or else to that of the database at `path`.
    fn give(&self, replaced: Option<&Replaced>, path: &Path) -> io::Result<()> {
        let owner = match replaced {
            Some(replaced) => Some(Owner::of(&replaced.file.metadata()?)),
            None => Owner::for_file(path),
        };
        owner.map_or(Ok(()), |owner| owner.give(&self.file))
    }

    /// Syncs the file. Returns the target directory.
    fn sync(&self, to: &Path) -> io::Result<File> {
        self.file.sync_all()?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))
    }

    /// Renames the file after removing the files that SQLite would take for its WAL.
    fn replace(&self, to: &Path, companions: &[PathBuf], folder: &File) -> io::Result<()> {
        for path in companions {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        // A power cut could also restore files that a checkpoint has removed.
        folder.sync_all()?;
        fs::rename(&self.path, to)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        remove(&self.path);
    }
}
