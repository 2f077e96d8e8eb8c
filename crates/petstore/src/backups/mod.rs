//! Backups of a SQLite database that the service makes itself. Each is a compressed file in a storage, which has
//! its name only when it is complete. A list with the same time names the photos that it needs: it is
//! there before the backup, and goes after it.

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

/// Makes backups, one at a time, each on a thread of its own.
pub struct Backups {
    /// The function that opens the storage, on the thread that uses it.
    pub open_storage: Box<dyn Fn() -> io::Result<BackupStorage> + Send + Sync>,
    /// The path of the SQLite file.
    pub database: PathBuf,
    /// The photos of the service. If they are in a folder, a backup copies them, too.
    pub photos: Arc<Photos>,
    /// The age until which the newest backup of a day is kept.
    pub retention: Duration,
    /// The longest time that a backup may take.
    pub time_limit: Duration,
    /// The clock whose time the names of backups have.
    pub clock: Arc<dyn Clock>,
    /// The mark of the database, which all its copies have.
    pub database_mark: String,
    /// The id of this copy of the database, which a restore changes.
    pub copy_id: String,
    /// The counters of this process.
    pub metrics: Arc<BackupMetrics>,
    /// The memory of earlier turns, locked while a backup is made.
    pub state: Mutex<State>,
}

/// The facts that one turn leaves for the next.
#[derive(Default)]
pub struct State {
    /// The locked file of the storage.
    lock: Option<File>,
    /// The backups after the last turn. Any other backup in the storage is of another service.
    known_backups: Option<BTreeSet<Timestamp>>,
    /// Whether this copy of the database was among the copies of the storage in an earlier turn.
    has_claimed: bool,
}

/// A backup that is complete in its storage.
struct WrittenBackup {
    name: String,
    /// The number of photos whose files the storage lacks.
    missing_photo_count: usize,
}

/// The photos of a backup, after their files were copied.
#[derive(Default)]
struct CopiedPhotos {
    /// The photos whose files the storage has.
    present: Vec<PhotoId>,
    missing_count: usize,
}

impl Backups {
    /// Makes sure that nobody else uses the storage. If another service does, the kind of the error is
    /// [`ErrorKind::ResourceBusy`].
    pub async fn lock(self: &Arc<Self>) -> io::Result<()> {
        self.run_on_thread(|backups, state, storage| {
            backups.lock_once(state, storage)?;
            backups.claim(state, storage)?;
            Ok(())
        })
        .await
    }

    /// Makes a backup, then deletes old ones if `confirmed_now` is a time that can be trusted. Makes none if the
    /// newest backup of this copy has not reached `least_age`, and returns the time until it will.
    ///
    /// A thread that waits for a storage that does not respond is left to itself, and no other backup begins
    /// until it ends.
    pub async fn make(
        self: &Arc<Self>,
        confirmed_now: Option<Timestamp>,
        least_age: Duration,
    ) -> io::Result<Option<Duration>> {
        let work = self.run_on_thread(move |backups, state, storage| {
            backups.make_in(storage, state, confirmed_now, least_age)
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

    /// Does the work of [`Backups::make`] on the thread of the backup.
    fn make_in(
        &self,
        storage: &BackupStorage,
        state: &mut State,
        confirmed_now: Option<Timestamp>,
        least_age: Duration,
    ) -> io::Result<Option<Duration>> {
        self.lock_once(state, storage)?;
        let copies = self.claim(state, storage)?;
        let files = self.list_files(state, storage)?;
        if let Some(wait) = time_until_due(&files, &copies, self.clock.now(), least_age) {
            return Ok(Some(wait));
        }

        let backup = self.write(state, storage, &files)?;
        if let Some(now) = confirmed_now {
            // Another copy may have begun since the first claim.
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

    /// Calls `work` with the opened storage on a new thread, and waits for its result. The thread goes on
    /// if the caller does not wait any longer.
    async fn run_on_thread<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &mut State, &BackupStorage) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let backups = Arc::clone(self);
        let (sender, receiver) = oneshot::channel();
        thread::Builder::new()
            .name("petstore-backup".to_owned())
            .spawn(move || {
                let result = backups.with_open_place(work);
                // A caller that has the result may drop its backups, which must release the lock at once.
                drop(backups);
                sender.send(result)
            })?;

        match receiver.await {
            Ok(result) => result,
            Err(_) => Err(io::Error::other("the thread of the backup panicked")),
        }
    }

    /// Opens the storage and calls `work` with it. Fails if another thread still works with it.
    fn with_open_place<T>(
        &self,
        work: impl FnOnce(&Self, &mut State, &BackupStorage) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
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
            // Without a lock, the next turn makes a folder that was removed.
            state.lock = None;
        }
        result
    }

    /// Locks the storage, unless an earlier turn did. The photos of the service and the photos of its backups
    /// cannot share a storage: the retention of backups would delete photos that the service needs.
    fn lock_once(&self, state: &mut State, storage: &BackupStorage) -> io::Result<()> {
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

    /// Makes sure that this is the copy of the database that makes backups in the storage. A copy that a
    /// restore has just made takes the storage over, once.
    fn claim(&self, state: &mut State, storage: &BackupStorage) -> io::Result<Copies> {
        let mut copies = storage.read_copies()?;
        if !copies.is_last(&self.copy_id) {
            let is_replaced = copies.has(&self.copy_id) || state.has_claimed && !copies.is_empty();
            if is_replaced {
                let message = format!(
                    "a newer copy of this database makes backups in {storage}; name another place for one of \
                     the two, or delete {COPIES_FILE} there if nobody uses the newer copy any more"
                );
                return Err(io::Error::new(ErrorKind::ResourceBusy, message));
            }
            copies.add(&self.copy_id, self.clock.now());
            storage.write(COPIES_FILE, |file| file.write_all(copies.text().as_bytes()))?;
        }
        state.has_claimed = true;
        Ok(copies)
    }

    /// Returns the files of the storage. Fails if there is a backup that another service made after the last turn.
    fn list_files(&self, state: &mut State, storage: &BackupStorage) -> io::Result<StoredFiles> {
        let files = storage.list_files()?;
        let newest_backup = files.newest_backup(self.clock.now());
        self.metrics
            .record_earlier_backup(newest_backup.unwrap_or_default());

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

    /// Writes a backup: first the files of its photos, then the list of them, then the compressed database.
    fn write(
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

        let copy = TemporaryDatabase(storage.unfinished_path(".db"));
        let database =
            sqlite::copy_into(&self.database, &copy.0, lower_priority).map_err(io::Error::other)?;
        let photos = self.copy_photos(storage, files, database.photos)?;
        let list = PhotoList {
            animal_count: database.animals,
            photos: photos.present,
        };
        storage.write(&photo_list_name(time), |file| list.write_to(file))?;

        // A failed write can leave the file in the storage, so the next turn knows the backup in any case.
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

    /// Copies the files of `photos` into the storage, if the service keeps them in a folder.
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

        // A bucket takes money for each request about a file. So a file that the last list names is believed to
        // be there.
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

/// Returns the time until the newest backup of the copy in use reaches `least_age`; `None` if a backup is
/// due now.
fn time_until_due(
    files: &StoredFiles,
    copies: &Copies,
    now: Timestamp,
    least_age: Duration,
) -> Option<Duration> {
    let (&newest_backup, _) = files.backups.range(..=now).next_back()?;
    if newest_backup < copies.last_began()? {
        return None;
    }
    let age = Duration::try_from(now.duration_since(newest_backup)).ok()?;
    least_age.checked_sub(age).filter(|wait| !wait.is_zero())
}

/// The path of an uncompressed copy of the database, which is removed when this is dropped.
struct TemporaryDatabase(PathBuf);

impl Drop for TemporaryDatabase {
    fn drop(&mut self) {
        sqlite::remove(&self.0);
    }
}

/// Lets other threads run before the calling one, which still gets a tenth of a busy core. Linux applies the
/// priority of a process to the calling thread only.
fn lower_priority() {
    let _ = setpriority_process(None, 10);
}
