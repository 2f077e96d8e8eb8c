//! A disk that fails when it is told to, beneath SQLite. For tests alone.
//!
//! SQLite reaches files through a VFS. The one of this crate passes everything
//! on to the usual one, but looks at each operation first: in a directory that
//! has a [`Disk`], it can fail the n-th of them, and it keeps account of what
//! was synced, so that it knows what a power cut would leave.
//!
//! It is a crate of its own because a VFS takes `unsafe`, which `petstore`
//! forbids itself.

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

/// The disk under one directory; gone when it is dropped.
pub struct Disk {
    directory: PathBuf,
    model: Arc<Mutex<Model>>,
}

impl Disk {
    /// Puts a disk under `directory`. What is in it counts as synced.
    ///
    /// From the first call on, every SQLite connection of this process goes
    /// through the VFS of this crate; outside of such directories it does
    /// nothing.
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

    /// Counts operations from 1 again, and fails as `fault` says.
    pub fn set(&self, fault: Fault) {
        lock(&self.model).set(fault);
    }

    /// Ends the fault. A power cut does not end.
    pub fn heal(&self) {
        lock(&self.model).heal();
    }

    /// Whether the fault has come.
    #[must_use]
    pub fn fired(&self) -> bool {
        lock(&self.model).fired()
    }

    /// From now on every sync reports success and does nothing.
    pub fn skip_syncs(&self) {
        lock(&self.model).skip_syncs();
    }

    /// Cuts the power now, if that has not happened yet: every operation fails
    /// from here on, and what was not synced is lost.
    pub fn cut_power(&self) {
        lock(&self.model).die();
    }

    /// Writes what the disk holds after a power cut into `directory`: all that
    /// was synced, and of the rest the 512-byte sectors that `keep` says.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn salvage(&self, directory: &Path, keep: impl FnMut() -> bool) -> io::Result<()> {
        for (name, content) in lock(&self.model).after_power_cut(keep) {
            fs::write(directory.join(name), content)?;
        }
        Ok(())
    }

    /// Kills whatever has files open here, as `kill -9` would: every operation
    /// of theirs fails from here on, and the operating system keeps what it has
    /// in memory. It can be opened in `directory`, on the same disk.
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
            // Its content means nothing once nobody has it open.
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

/// Begins to look whether somebody writes a log past SQLite, until SQLite
/// writes it again. A log that was is taken to have been rewritten whole, and
/// to be on disk only once somebody syncs it (`sync.rs`). (No other file: to
/// close one would take SQLite's locks from it.)
fn watch_for_others(model: &mut Model, path: &Path) {
    let Some(name) = path.file_name().filter(|name| name.as_bytes().ends_with(b"-wal")) else {
        return;
    };
    let log = File::options().write(true).open(path);
    if log.and_then(|log| log.set_modified(UNIX_EPOCH)).is_ok() {
        model.watched.insert(name.to_owned());
    }
}

fn look_for_others(model: &mut Model, path: &Path) {
    let Some(name) = path.file_name().filter(|name| model.watched.contains(*name)) else { return };
    if path.metadata().is_ok_and(|file| file.modified().is_ok_and(|at| at != UNIX_EPOCH))
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
