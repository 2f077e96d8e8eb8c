//! The backups that the service makes of its SQLite database.
//!
//! A backup is a gzip file in a storage, which is a folder or a bucket. The file gets its name only
//! when it is complete. A list with the same time in its name says which photos the backup needs. The
//! list is written before the backup and deleted after it, so an interruption never leaves a backup
//! without its list.

mod copies;
mod names;
mod photo_list;
mod retention;
mod storage;
mod unpacking;

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, ErrorKind},
    path::PathBuf,
    sync::{Arc, Mutex, TryLockError},
    thread,
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use jiff::Timestamp;
use petstore_domain::{Clock, store_area::PhotoId};
use petstore_observe::metrics::BackupMetrics;
use petstore_photos::Photos;
use petstore_store_sqlite as sqlite;
use rustix::process::setpriority_process;
use tokio::{sync::oneshot, time};
use tracing::info;

use self::{copies::COPIES_FILE, names::photo_list_name, photo_list::read_photos_or_warn};
pub use self::{
    copies::Copies,
    names::{StoredFiles, backup_name, backup_time},
    photo_list::PhotoList,
    retention::kept_backups,
    storage::BackupStorage,
    unpacking::{unpack, unpack_file},
};

/// The backups of one database, with what is needed to make them. Only one backup is made at a time, on a
/// thread of its own, because all of the work blocks.
pub struct Backups {
    /// Opens the storage. Called on the thread that uses the storage.
    pub open_storage: Box<dyn Fn() -> io::Result<BackupStorage> + Send + Sync>,
    /// The path of the SQLite file.
    pub database: PathBuf,
    /// The photos of the service. A backup copies their files, too, if they are in a folder.
    pub photos: Arc<Photos>,
    /// How long the newest backup of each day is kept.
    pub retention: Duration,
    /// How long a backup may take.
    pub time_limit: Duration,
    /// The clock that provides the times in the names of backups.
    pub clock: Arc<dyn Clock>,
    /// The mark of the database, which all its copies share.
    pub database_mark: String,
    /// The id of this copy of the database. A restore gives the database another id.
    pub copy_id: String,
    /// The backup metrics of this process.
    pub metrics: Arc<BackupMetrics>,
    /// The facts that earlier runs have left, locked while a run uses the storage.
    pub state: Mutex<State>,
}

/// The facts that one run leaves for the next.
#[derive(Default)]
pub struct State {
    /// The lock file, which stays locked while it is open.
    lock: Option<File>,
    /// The backups in the storage after the last run. Any other backup there was made by another service.
    known_backups: Option<BTreeSet<Timestamp>>,
    /// Whether an earlier run has claimed the storage for this copy of the database.
    has_claimed: bool,
}

/// A backup that is complete in its storage.
struct WrittenBackup {
    name: String,
    /// The number of its photos that lack files in the storage.
    missing_photo_count: usize,
}

/// The photos of a backup, after their files have been copied.
#[derive(Default)]
struct CopiedPhotos {
    /// The photos with all of their files in the storage.
    present: Vec<PhotoId>,
    missing_count: usize,
}

impl Backups {
    /// Locks the storage, and claims it for this copy of the database. The service calls this when it
    /// starts, to detect a conflict early. If another service uses the storage, the kind of the error
    /// is [`ErrorKind::ResourceBusy`].
    pub async fn lock(self: &Arc<Self>) -> io::Result<()> {
        self.run_on_thread(|backups, state, storage| {
            backups.lock_storage(state, storage)?;
            backups.claim(state, storage)?;
            Ok(())
        })
        .await
    }

    /// Makes a backup, and returns `None`. If the newest backup of this copy is younger than `min_age`,
    /// makes no backup, and returns how long it takes until that backup is old enough.
    ///
    /// After a backup, deletes the old backups, but only if there is a `confirmed_now`: a wrong clock
    /// must not make all backups look old.
    ///
    /// If the storage does not respond within the time limit, the thread of the backup is left running,
    /// and further backups fail until it ends.
    pub async fn make(
        self: &Arc<Self>,
        confirmed_now: Option<Timestamp>,
        min_age: Duration,
    ) -> io::Result<Option<Duration>> {
        let work = self.run_on_thread(move |backups, state, storage| {
            backups.make_blocking(storage, state, confirmed_now, min_age)
        });
        let result = time::timeout(self.time_limit, work)
            .await
            .unwrap_or_else(|_| {
                let message = format!("it took longer than {:?}", self.time_limit);
                Err(io::Error::other(message))
            });

        if result.is_err() {
            self.metrics.failures.count();
        }
        result
    }

    /// Does the blocking work of [`Backups::make`], on the thread of the backup.
    fn make_blocking(
        &self,
        storage: &BackupStorage,
        state: &mut State,
        confirmed_now: Option<Timestamp>,
        min_age: Duration,
    ) -> io::Result<Option<Duration>> {
        self.lock_storage(state, storage)?;
        let copies = self.claim(state, storage)?;
        let files = self.list_files(state, storage)?;
        if let Some(wait) = time_until_due(&files, &copies, self.clock.now(), min_age) {
            return Ok(Some(wait));
        }

        let backup = self.write_backup(state, storage, &files)?;
        if let Some(now) = confirmed_now {
            // Another copy may have taken the storage over while this backup was written.
            self.claim(state, storage)?;
            retention::delete_old(storage, now, self.retention, &copies)?;
        }

        let missing = backup.missing_photo_count;
        if missing > 0 {
            return Err(io::Error::other(format!(
                "{} is complete, but the place of photos lacks files of photos: {missing}",
                backup.name
            )));
        }
        Ok(None)
    }

    /// Calls `work` with the opened storage on a new thread, and waits for its result. The thread keeps
    /// running even if the caller stops waiting.
    async fn run_on_thread<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &mut State, &BackupStorage) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let backups = Arc::clone(self);
        let (sender, receiver) = oneshot::channel();
        thread::Builder::new()
            .name("petstore-backup".to_owned())
            .spawn(move || {
                let result = backups.with_storage(work);
                // Dropped before the result is sent: when the caller then drops its own reference, the
                // lock must be released at once.
                drop(backups);
                sender.send(result)
            })?;

        match receiver.await {
            Ok(result) => result,
            Err(_) => Err(io::Error::other("the thread of the backup panicked")),
        }
    }

    /// Opens the storage, and calls `work` with it. Fails if the thread of an earlier run still uses
    /// the storage.
    fn with_storage<T>(
        &self,
        work: impl FnOnce(&Self, &mut State, &BackupStorage) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            // The facts of earlier runs stay valid if a run panics.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let message = "the backup before this one has not ended yet";
                return Err(io::Error::other(message));
            }
        };
        let storage = (self.open_storage)()?;
        let result = work(self, &mut state, &storage);

        if let Err(error) = &result
            && error.kind() == ErrorKind::NotFound
        {
            // The folder was removed. Without the old lock, the next run creates and locks it again.
            state.lock = None;
        }
        result
    }

    /// Locks the storage, unless an earlier run has locked it. Fails if the photos of the backups would
    /// be in the same place as the photos of the service, because the deletion of old backups would
    /// then delete photos that the service needs.
    fn lock_storage(&self, state: &mut State, storage: &BackupStorage) -> io::Result<()> {
        if let Some(service_photos) = self.photos.storage()
            && service_photos.is_same_as(&storage.photos)
        {
            let message = "the photos of the service are there; name another place";
            return Err(io::Error::new(ErrorKind::ResourceBusy, message));
        }
        if state.lock.is_none() {
            state.lock = Some(storage.lock(&self.database_mark)?);
        }
        Ok(())
    }

    /// Makes sure that this copy of the database is the current one of the storage, and returns all of
    /// its copies. A copy that a restore has just made becomes the current one. Fails if a newer copy
    /// has replaced this one.
    fn claim(&self, state: &mut State, storage: &BackupStorage) -> io::Result<Copies> {
        let mut copies = storage.read_copies()?;
        if !copies.is_current(&self.copy_id) {
            // A newer copy has taken over if it is listed after this copy, or if this copy has been
            // dropped from the list since it claimed the storage. An empty list has no newer copy: the
            // operator has deleted the list.
            let is_replaced =
                copies.has(&self.copy_id) || (state.has_claimed && !copies.is_empty());
            if is_replaced {
                let message = format!(
                    "a newer copy of this database makes backups in {storage}; name another place for one of \
                     the two, or delete {COPIES_FILE} there if nobody uses the newer copy any more"
                );
                return Err(io::Error::new(ErrorKind::ResourceBusy, message));
            }
            copies.add(&self.copy_id, self.clock.now());
            storage.write(COPIES_FILE, |file| {
                file.write_all(copies.to_text().as_bytes())
            })?;
        }
        state.has_claimed = true;
        Ok(copies)
    }

    /// Lists the files of the storage. Fails if another service has made a backup there since the last run.
    fn list_files(&self, state: &mut State, storage: &BackupStorage) -> io::Result<StoredFiles> {
        let files = storage.list_files()?;
        if let Some(newest_backup) = files.newest_backup(self.clock.now()) {
            self.metrics.record_earlier_backup(newest_backup);
        }

        let backups: BTreeSet<Timestamp> = files.backups.keys().copied().collect();
        if let Some(known_backups) = &state.known_backups
            && let Some(&foreign_backup) = backups.difference(known_backups).next()
        {
            let name = backup_name(foreign_backup);
            let message =
                format!("another service makes backups in {storage}: {name} is not of this one");
            return Err(io::Error::other(message));
        }
        state.known_backups = Some(backups);
        Ok(files)
    }

    /// Writes a backup: first the files of its photos, then the list of its photos, and last the
    /// compressed database.
    fn write_backup(
        &self,
        state: &mut State,
        storage: &BackupStorage,
        files: &StoredFiles,
    ) -> io::Result<WrittenBackup> {
        let start = self.clock.instant();
        let Some(time) = files.free_time(self.clock.now()) else {
            return Err(io::Error::other("the clock has reached its end"));
        };
        let name = backup_name(time);

        let copy = TemporaryDatabase(storage.temporary_path(".db"));
        let database =
            sqlite::copy_into(&self.database, &copy.0, lower_priority).map_err(io::Error::other)?;
        let photos = self.copy_photos(storage, files, database.photos)?;
        let list = PhotoList {
            animal_count: database.animals,
            photos: photos.present,
        };
        storage.write(&photo_list_name(time), |file| list.write_to(file))?;

        // Even a write that fails can leave the file in the storage. The next run must not mistake it
        // for a backup of another service.
        state.known_backups.get_or_insert_default().insert(time);
        let bytes = storage.write(&name, |file| {
            let mut encoder = GzEncoder::new(file, Compression::default());
            io::copy(&mut File::open(&copy.0)?, &mut encoder)?;
            encoder.finish()?;
            Ok(())
        })?;

        let duration = self.clock.instant().saturating_duration_since(start);
        self.metrics.record_backup(time, duration, bytes);
        info!(place = %storage, name, animals = list.animal_count, bytes, "made a backup");
        Ok(WrittenBackup {
            name,
            missing_photo_count: photos.missing_count,
        })
    }

    /// Copies the files of `photos` into the storage. Copies nothing, and reports nothing missing, if the
    /// photos of the service are off or in a bucket.
    fn copy_photos(
        &self,
        storage: &BackupStorage,
        files: &StoredFiles,
        photos: Vec<PhotoId>,
    ) -> io::Result<CopiedPhotos> {
        let Some(source) = self.photos.storage() else {
            return Ok(CopiedPhotos::default());
        };
        if source.as_folder().is_none() {
            return Ok(CopiedPhotos::default());
        }

        // Each request to a bucket costs money, so the photos in the newest list are not looked up: their
        // files are assumed to be in the bucket.
        let mut stored_photos = BTreeSet::new();
        if storage.is_bucket()
            && let Some(&last_list) = files.photo_lists.last()
        {
            let consequence = "all photos are copied again";
            let listed_photos = read_photos_or_warn(storage, last_list, consequence)?;
            stored_photos.extend(listed_photos.unwrap_or_default());
        }
        let new_photos: Vec<PhotoId> = photos
            .iter()
            .copied()
            .filter(|id| !stored_photos.contains(id))
            .collect();

        let copied_photos = storage.block_on(storage.photos.copy_all_from(source, &new_photos))?;
        let mut present = photos;
        present.retain(|id| !copied_photos.incomplete.contains(id));
        Ok(CopiedPhotos {
            present,
            missing_count: copied_photos.incomplete.len(),
        })
    }
}

/// Returns how long it takes until the newest backup of the current copy reaches `min_age`; `None` if a
/// backup is due now.
fn time_until_due(
    files: &StoredFiles,
    copies: &Copies,
    now: Timestamp,
    min_age: Duration,
) -> Option<Duration> {
    let (&newest_backup, _) = files.backups.range(..=now).next_back()?;
    // A backup that an earlier copy made does not count.
    if newest_backup < copies.current_since()? {
        return None;
    }
    let age = Duration::try_from(now.duration_since(newest_backup)).ok()?;
    min_age.checked_sub(age).filter(|wait| !wait.is_zero())
}

/// The path of an uncompressed copy of the database. Dropping this deletes the copy.
struct TemporaryDatabase(PathBuf);

impl Drop for TemporaryDatabase {
    fn drop(&mut self) {
        sqlite::remove(&self.0);
    }
}

/// Lowers the priority of the calling thread, so that a backup delays requests little. The thread still
/// gets a tenth of a busy core. Linux applies the priority of a process to the calling thread only.
fn lower_priority() {
    let _ = setpriority_process(None, 10);
}
