//! The backups that the service makes of its SQLite database.
//!
//! A backup is a gzip file in a storage, which is a folder or a bucket. The file gets its name only
//! when it is complete. A list with the same time in its name says which photos the backup needs.
//! The list is written before the backup and deleted after it, so an interruption never leaves a
//! backup without its list.
//!
//! Two identifiers protect a storage that several services could use. The mark identifies the
//! database, and stays the same when it is restored. The copy id changes with each restore, because
//! a restored database and the one that it was restored from can both be in use. See [`Copies`].

mod copies;
mod names;
mod photo_list;
mod retention;
mod storage;
mod temporary_database;
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

use jiff::Timestamp;
use petstore_domain::{Clock, store_area::PhotoId};
use petstore_observe::metrics::BackupMetrics;
use petstore_photos::Photos;
use tokio::{sync::oneshot, time};
use tracing::info;

use self::{
    copies::COPIES_FILE, names::photo_list_name, photo_list::read_known_photos,
    temporary_database::TemporaryDatabase,
};
pub use self::{
    copies::Copies,
    names::{StoredFiles, backup_name, backup_time},
    photo_list::PhotoList,
    retention::select_kept_backups,
    storage::BackupStorage,
    unpacking::{unpack_file, unpack_from_storage},
};

/// The maker of the backups of one database. It makes one backup at a time. Each is made on a
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

/// The facts that one run leaves for the next. A run is one use of the storage: it makes a backup,
/// or only locks the storage when the service starts.
#[derive(Default)]
pub struct State {
    /// The lock file of the storage. It stays locked while it is open.
    lock: Option<File>,
    /// The backups in the storage after the last run. Another service made any further backup.
    known_backups: Option<BTreeSet<Timestamp>>,
    /// Whether an earlier run has claimed the storage for this copy of the database.
    has_claimed: bool,
}

/// The result of a successful [`Backups::make`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupOutcome {
    /// A backup was made.
    Made,
    /// No backup was made, because the newest one is still young.
    NotDue {
        /// How long it takes until the newest backup is old enough.
        wait: Duration,
    },
}

/// A backup that is complete in its storage.
struct WrittenBackup {
    name: String,
    /// The number of its photos that lack files in the storage.
    incomplete_photo_count: usize,
}

/// The photos of a backup, after their files have been copied to the storage.
#[derive(Default)]
struct BackupPhotos {
    /// The photos with all of their files in the storage.
    complete: Vec<PhotoId>,
    /// The number of photos that lack files in the storage.
    incomplete_count: usize,
}

impl Backups {
    /// Locks the storage, and claims it for this copy of the database. The service calls this when
    /// it starts, to detect a conflict early. If another service uses the storage, the kind of the
    /// error is [`ErrorKind::ResourceBusy`].
    pub async fn lock(self: &Arc<Self>) -> io::Result<()> {
        self.run_on_thread(|backups, state, storage| {
            backups.lock_storage(state, storage)?;
            backups.claim_storage(state, storage)?;
            Ok(())
        })
        .await
    }

    /// Makes a backup, unless the newest backup of this copy is younger than `min_age`.
    ///
    /// After a backup, deletes the old backups, but only if there is a `confirmed_now`: a wrong
    /// clock must not make all backups look old.
    ///
    /// If the storage does not respond within the time limit, the thread of the backup is left
    /// running, and further backups fail until it ends.
    pub async fn make(
        self: &Arc<Self>,
        confirmed_now: Option<Timestamp>,
        min_age: Duration,
    ) -> io::Result<BackupOutcome> {
        let work = self.run_on_thread(move |backups, state, storage| {
            backups.make_blocking(state, storage, confirmed_now, min_age)
        });
        let result = match time::timeout(self.time_limit, work).await {
            Ok(result) => result,
            Err(_elapsed) => {
                let message = format!("it took longer than {:?}", self.time_limit);
                Err(io::Error::other(message))
            }
        };
        if result.is_err() {
            self.metrics.failures.count();
        }
        result
    }

    /// Does the blocking work of [`Backups::make`], on the thread of the backup. If files of photos
    /// are missing, makes the backup, but fails, so that the operator notices.
    fn make_blocking(
        &self,
        state: &mut State,
        storage: &BackupStorage,
        confirmed_now: Option<Timestamp>,
        min_age: Duration,
    ) -> io::Result<BackupOutcome> {
        self.lock_storage(state, storage)?;
        let copies = self.claim_storage(state, storage)?;
        let files = self.list_and_check_files(state, storage)?;
        if let Some(wait) = time_until_due(&files, &copies, self.clock.now(), min_age) {
            return Ok(BackupOutcome::NotDue { wait });
        }

        let backup = self.write_backup(state, storage, &files)?;
        if let Some(now) = confirmed_now {
            // Fails if another copy has taken over the storage meanwhile, and deletes nothing then.
            self.claim_storage(state, storage)?;
            retention::delete_old(storage, now, self.retention, &copies)?;
        }

        let incomplete_count = backup.incomplete_photo_count;
        if incomplete_count > 0 {
            return Err(io::Error::other(format!(
                "{} is complete, but the place of photos lacks files of photos: {incomplete_count}",
                backup.name
            )));
        }
        Ok(BackupOutcome::Made)
    }

    /// Calls `work` with the opened storage on a new thread, and waits for its result. The thread
    /// keeps running even if the caller stops waiting.
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
                // This reference must not keep the lock file open after the caller has the result
                // and drops its own reference.
                drop(backups);
                let _ = sender.send(result);
            })?;

        match receiver.await {
            Ok(result) => result,
            Err(_) => Err(io::Error::other("the thread of the backup panicked")),
        }
    }

    /// Opens the storage, and calls `work` with it. Fails if the thread of an earlier run still
    /// uses the storage.
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
            // The folder was removed. The next run creates it, and locks it again.
            state.lock = None;
        }
        result
    }

    /// Locks the storage, unless an earlier run has locked it. Fails if the photos of the backups
    /// would be in the same place as the photos of the service, because the deletion of old backups
    /// would then delete photos that the service needs.
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

    /// Makes this copy of the database the current one of the storage, unless it already is.
    /// Returns all copies that have made backups in the storage. Fails if a newer copy has replaced
    /// this one.
    fn claim_storage(&self, state: &mut State, storage: &BackupStorage) -> io::Result<Copies> {
        let mut copies = storage.read_copies()?;
        if !copies.is_current(&self.copy_id) {
            if self.is_replaced(state, &copies) {
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

    /// Whether a newer copy has replaced this copy, which is not the current one of `copies`.
    fn is_replaced(&self, state: &State, copies: &Copies) -> bool {
        // The storage is new, or the operator has deleted the list.
        if copies.is_empty() {
            return false;
        }
        // A listed copy that is not the last one was followed by a newer one. A copy that claimed
        // the storage and is no longer listed was dropped, because many newer ones followed.
        copies.has(&self.copy_id) || state.has_claimed
    }

    /// Lists the files of the storage. Remembers its backups for the next run, and the newest one
    /// for the metrics. Fails if another service has made a backup there since the last run.
    fn list_and_check_files(
        &self,
        state: &mut State,
        storage: &BackupStorage,
    ) -> io::Result<StoredFiles> {
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
        let Some(time) = files.find_free_time(self.clock.now()) else {
            return Err(io::Error::other("the clock has reached its end"));
        };
        let name = backup_name(time);

        let path = storage.temporary_path(".db");
        let (copy, content) = TemporaryDatabase::copy_of(&self.database, path)?;
        let photos = self.copy_photos(storage, files, content.photos)?;
        let list = PhotoList {
            animal_count: content.animals,
            photos: photos.complete,
        };
        storage.write(&photo_list_name(time), |file| list.write_to(file))?;

        // Even a write that fails can leave the file in the storage. The next run must not mistake
        // it for a backup of another service.
        state.known_backups.get_or_insert_default().insert(time);
        let bytes = storage.write(&name, |file| copy.compress_to(file))?;

        let duration = self.clock.instant().saturating_duration_since(start);
        self.metrics.record_backup(time, duration, bytes);
        info!(place = %storage, name, animals = list.animal_count, bytes, "made a backup");
        Ok(WrittenBackup {
            name,
            incomplete_photo_count: photos.incomplete_count,
        })
    }

    /// Copies the files of the photos that a backup needs into the storage. If the service keeps
    /// its photos in a bucket, or photos are off, the backup has no photos, and none counts as
    /// incomplete.
    fn copy_photos(
        &self,
        storage: &BackupStorage,
        files: &StoredFiles,
        needed_photos: Vec<PhotoId>,
    ) -> io::Result<BackupPhotos> {
        let Some(source) = self.photos.storage() else {
            return Ok(BackupPhotos::default());
        };
        // Photos in a bucket stay there: the operator lets the bucket keep deleted objects.
        if source.as_folder().is_none() {
            return Ok(BackupPhotos::default());
        }
        let known_photos = read_known_photos(storage, files)?;
        let mut unknown_photos = needed_photos.clone();
        unknown_photos.retain(|id| !known_photos.contains(id));
        let copying = storage.photos.copy_all_from(source, &unknown_photos);
        let incomplete_photos = storage.block_on(copying)?.incomplete;

        let mut complete_photos = needed_photos;
        complete_photos.retain(|id| !incomplete_photos.contains(id));
        Ok(BackupPhotos {
            complete: complete_photos,
            incomplete_count: incomplete_photos.len(),
        })
    }
}

/// Returns how long it takes until the newest backup of the current copy is as old as `min_age`.
/// Returns `None` if a backup is due now. This is also so if the current copy has no backup yet.
fn time_until_due(
    files: &StoredFiles,
    copies: &Copies,
    now: Timestamp,
    min_age: Duration,
) -> Option<Duration> {
    let (&newest_backup, _) = files.backups.range(..=now).next_back()?;
    let current_since = copies.current_since()?;
    // A backup that an earlier copy made does not count.
    if newest_backup < current_since {
        return None;
    }
    // This is never negative, because the newest backup is not after `now`.
    let age = Duration::try_from(now.duration_since(newest_backup)).ok()?;
    let wait = min_age.saturating_sub(age);
    if wait.is_zero() { None } else { Some(wait) }
}
