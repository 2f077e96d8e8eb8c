//! A disk below SQLite that fails on demand. For tests only.
//!
//! SQLite accesses files through a VFS. The VFS of this crate forwards every operation to the
//! default one, but checks it first. In a directory with a [`Disk`], it can make the n-th operation
//! fail. It also records what was synced, so that it knows what a power cut would leave.
//!
//! This is a separate crate because a VFS needs `unsafe`, which `petstore` forbids.

mod model;
mod sync;
mod vfs;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::UNIX_EPOCH,
};

pub use model::{Fault, Kind};
use model::{Model, Operation, Verdict};
pub use sync::close_files_under;

static DISKS: Mutex<BTreeMap<PathBuf, Arc<Mutex<Model>>>> = Mutex::new(BTreeMap::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A disk under one directory, until it is dropped.
pub struct Disk {
    directory: PathBuf,
    model: Arc<Mutex<Model>>,
}

impl Disk {
    /// Puts a disk under `directory`. Its content counts as synced.
    ///
    /// After the first call, every SQLite connection of this process uses the VFS of this crate.
    /// Outside such directories, the VFS only forwards.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read.
    pub fn under(directory: &Path) -> io::Result<Self> {
        vfs::install();
        let directory = directory.canonicalize()?;
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            files.insert(entry.file_name(), fs::read(entry.path())?);
        }
        Ok(Self::with(directory, Model::new(files)))
    }

    fn with(directory: PathBuf, model: Model) -> Self {
        let model = Arc::new(Mutex::new(model));
        lock(&DISKS).insert(directory.clone(), Arc::clone(&model));
        Self { directory, model }
    }

    /// Restarts the count of operations at 1, and fails as `fault` specifies.
    pub fn set(&self, fault: Fault) {
        lock(&self.model).set(fault);
    }

    /// Ends the fault. A power cut does not end.
    pub fn heal(&self) {
        lock(&self.model).heal();
    }

    /// Whether the fault has occurred.
    #[must_use]
    pub fn fired(&self) -> bool {
        lock(&self.model).fired()
    }

    /// From now on, every sync reports success without doing anything.
    pub fn skip_syncs(&self) {
        lock(&self.model).skip_syncs();
    }

    /// Cuts the power now, if this has not happened yet: every later operation fails, and unsynced
    /// data is lost.
    pub fn cut_power(&self) {
        lock(&self.model).die();
    }

    /// Writes what the disk has after a power cut into `directory`: everything that was synced, and
    /// the unsynced 512-byte sectors that `keep` selects.
    ///
    /// # Errors
    ///
    /// If writing fails.
    /// If it cannot be written.
    pub fn salvage(&self, directory: &Path, keep: impl FnMut() -> bool) -> io::Result<()> {
        for (name, content) in lock(&self.model).after_power_cut(keep) {
            fs::write(directory.join(name), content)?;
        }
        Ok(())
    }

    /// Kills all users of the files, like `kill -9`: all their later operations fail, but the
    /// operating system keeps what it has in memory. The files can be opened in `directory`, on the
    /// same disk.
    ///
    /// # Errors
    ///
    /// If the files cannot be copied.
    pub fn kill(&self, directory: &Path) -> io::Result<Self> {
        let mut model = lock(&self.model);
        model.die();
        let mut successor = model.successor();
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            // Its content is meaningless once no process has it open.
            if !entry.file_name().to_string_lossy().ends_with("-shm") {
                let copy = directory.join(entry.file_name());
                fs::copy(entry.path(), &copy)?;
                watch_for_others(&mut successor, &copy);
            }
        }
        Ok(Self::with(directory.canonicalize()?, successor))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        lock(&DISKS).remove(&self.directory);
    }
}

/// Watches for writes to a WAL that bypass SQLite, until SQLite itself writes to it. After such a
/// write, the whole WAL counts as rewritten, and is on disk only after a sync (`sync.rs`). Other
/// files are not watched: closing one would release SQLite's locks on it.
fn watch_for_others(model: &mut Model, path: &Path) {
    let Some(name) = path
        .file_name()
        .filter(|name| name.as_bytes().ends_with(b"-wal"))
    else {
        return;
    };
    let log = File::options().write(true).open(path);
    if log.and_then(|log| log.set_modified(UNIX_EPOCH)).is_ok() {
        model.watched.insert(name.to_owned());
    }
}

fn look_for_others(model: &mut Model, path: &Path) {
    let Some(name) = path
        .file_name()
        .filter(|name| model.watched.contains(*name))
    else {
        return;
    };
    if path
        .metadata()
        .is_ok_and(|file| file.modified().is_ok_and(|at| at != UNIX_EPOCH))
        && let Ok(content) = fs::read(path)
    {
        model.watched.remove(name);
        model.rewritten(name, content);
    }
}

/// The disk under the directory of a file, if there is one.
fn disk_of(path: &Path) -> Option<Arc<Mutex<Model>>> {
    lock(&DISKS).get(path.parent()?).cloned()
}
