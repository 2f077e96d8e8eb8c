//! Backups of a SQLite database that the service makes itself. Each is a compressed file in a place, which has
//! its name only when it is complete. A list with the same time names the photos that it needs: it is
//! there before the backup, and goes after it.

mod copies;
mod names;
mod place;

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, BufWriter, ErrorKind, Write},
    path::PathBuf,
    sync::{Arc, Mutex, TryLockError},
    thread,
    time::Duration,
};

use flate2::{
    Compression,
    write::{GzDecoder, GzEncoder},
};
use jiff::Timestamp;
use petstore_domain::{Clock, store_area::PhotoId};
use petstore_observe::metrics::BackupMetrics;
use petstore_photos::Photos;
use petstore_store_sqlite as sqlite;
use rustix::process::setpriority_process;
use tokio::{sync::oneshot, time};
use tracing::{info, warn};

use self::{copies::COPIES, names::list_name};
pub use self::{
    copies::Copies,
    names::{Own, kept, name, time_of},
    place::Place,
};

/// Makes backups, one at a time, each on a thread of its own.
pub struct Backups {
    /// Opens the place, on the thread that uses it.
    pub place: Box<dyn Fn() -> io::Result<Place> + Send + Sync>,
    /// The SQLite file.
    pub database: PathBuf,
    /// Those that are in a folder are copied, too.
    pub photos: Arc<Photos>,
    /// How long the newest backup of a day is kept.
    pub keep: Duration,
    /// How long a backup may take.
    pub limit: Duration,
    /// The backups have its time in their names.
    pub clock: Arc<dyn Clock>,
    /// The mark of the database, which all its copies have.
    pub mark: String,
    /// The id of this copy of the database, which a restore changes.
    pub copy: String,
    /// Of this process.
    pub metrics: Arc<BackupMetrics>,
    /// Locked while a backup is made.
    pub state: Mutex<State>,
}

/// What is known from one backup to the next.
#[derive(Default)]
pub struct State {
    /// Of the place.
    lock: Option<File>,
    /// The backups after the last turn. Another service makes those that are not here.
    known: Option<BTreeSet<Timestamp>>,
    /// Whether the copies of the place have had this one in an earlier turn.
    has_claimed: bool,
}

impl Backups {
    /// Makes sure that nobody else uses the place: then, the kind of the error is
    /// [`ErrorKind::ResourceBusy`].
    pub async fn lock(self: &Arc<Self>) -> io::Result<()> {
        self.on_thread(|own, state, place| {
            own.lock_once(state, place)?;
            own.claim(state, place).map(drop)
        })
        .await
    }

    /// Makes a backup, then deletes old ones if the time may be believed. Makes none if the newest
    /// backup of this copy has not reached `least_age`, and returns the time until it will.
    ///
    /// A thread that waits for a place that does not respond is left to itself, and no other backup begins
    /// until it ends.
    pub async fn make(
        self: &Arc<Self>,
        believed: Option<Timestamp>,
        least_age: Duration,
    ) -> io::Result<Option<Duration>> {
        let make = move |own: &Self, state: &mut State, place: &Place| {
            own.lock_once(state, place)?;
            let copies = own.claim(state, place)?;
            let present = own.present(state, place)?;
            if let Some(wait) = wait_for(&present, &copies, own.clock.now(), least_age) {
                return Ok(Some(wait));
            }
            let lacks = own.write(state, place, &present)?;
            if let Some(now) = believed {
                // Another copy may have begun meanwhile.
                own.claim(state, place)?;
                delete_old(place, now, own.keep, &copies)?;
            }
            lacks.map_or(Ok(None), |lacks| Err(io::Error::other(lacks)))
        };
        let outcome = time::timeout(self.limit, self.on_thread(make)).await;
        let late = || io::Error::other(format!("it took longer than {:?}", self.limit));
        let outcome = outcome.unwrap_or_else(|_| Err(late()));
        outcome.inspect_err(|_| self.metrics.failures.count())
    }

    async fn on_thread<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &mut State, &Place) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let own = Arc::clone(self);
        let (done, result) = oneshot::channel();
        let work = move || {
            let mut state = match own.state.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    return Err(io::Error::other(
                        "the backup before this one has not ended yet",
                    ));
                }
                Err(TryLockError::Poisoned(state)) => state.into_inner(),
                Ok(state) => state,
            };
            let done = work(&own, &mut state, &(own.place)()?);
            if done
                .as_ref()
                .is_err_and(|error| error.kind() == ErrorKind::NotFound)
            {
                // So that the next turn makes a folder that was removed.
                state.lock = None;
            }
            done
        };
        let thread = thread::Builder::new().name("petstore-backup".to_owned());
        thread.spawn(move || done.send(work()))?;
        result
            .await
            .map_err(|_| io::Error::other("the thread of the backup panicked"))?
    }

    fn lock_once(&self, state: &mut State, place: &Place) -> io::Result<()> {
        if self
            .photos
            .place()
            .is_some_and(|photos| photos.is(&place.photos))
        {
            let what = "the photos of the service are there; name another place";
            return Err(io::Error::new(ErrorKind::ResourceBusy, what));
        }
        if state.lock.is_none() {
            state.lock = Some(place.lock(&self.mark)?);
        }
        Ok(())
    }

    /// Makes sure that this is the copy of the database that makes backups in the place. A copy that a
    /// restore has just made takes the place over, once.
    fn claim(&self, state: &mut State, place: &Place) -> io::Result<Copies> {
        let mut copies = place.copies()?;
        let is_replaced = copies.has(&self.copy) || state.has_claimed && !copies.is_empty();
        if !copies.is_last(&self.copy) {
            if is_replaced {
                let what = format!(
                    "a newer copy of this database makes backups in {place}; name another place for one of \
                     the two, or delete {COPIES} there if nobody uses the newer copy any more"
                );
                return Err(io::Error::new(ErrorKind::ResourceBusy, what));
            }
            copies.add(&self.copy, self.clock.now());
            place.write(COPIES, |out| out.write_all(copies.text().as_bytes()))?;
        }
        state.has_claimed = true;
        Ok(copies)
    }

    /// Returns the files of the place, unless another service makes backups there.
    fn present(&self, state: &mut State, place: &Place) -> io::Result<Own> {
        let own = place.own()?;
        self.metrics
            .found(own.newest(self.clock.now()).unwrap_or_default());
        let backups: BTreeSet<Timestamp> = own.backups.keys().copied().collect();
        if let Some(known) = &state.known
            && let Some(&other) = backups.difference(known).next()
        {
            let name = name(other);
            let what =
                format!("another service makes backups in {place}: {name} is not of this one");
            return Err(io::Error::other(what));
        }
        state.known = Some(backups);
        Ok(own)
    }

    /// Writes a backup. Returns a sentence if it lacks photos.
    fn write(&self, state: &mut State, place: &Place, own: &Own) -> io::Result<Option<String>> {
        let began = self.clock.instant();
        let now = self.clock.now();
        let at = own
            .free(now)
            .ok_or_else(|| io::Error::other("the clock has reached its end"))?;
        let unfinished = Unfinished(place.unfinished(".db"));
        let copied = sqlite::copy_into(&self.database, &unfinished.0, yield_to_others);
        let copied = copied.map_err(io::Error::other)?;
        let (photos, lacking) = self.copy_photos(place, own, copied.photos)?;
        place.write(&list_name(at), |out| {
            let mut out = BufWriter::new(out);
            writeln!(out, "{}", copied.animals)?;
            photos.iter().try_for_each(|id| writeln!(out, "{id}"))?;
            out.flush()
        })?;
        // Also if the place keeps the file and does not say so.
        state.known.get_or_insert_default().insert(at);
        let bytes = place.write(&name(at), |out| {
            let mut out = GzEncoder::new(out, Compression::default());
            io::copy(&mut File::open(&unfinished.0)?, &mut out)?;
            out.finish().map(drop)
        })?;
        let took = self.clock.instant().saturating_duration_since(began);
        self.metrics.made(at, took, bytes);
        info!(%place, name = name(at), animals = copied.animals, bytes, "made a backup");
        Ok((lacking > 0).then(|| {
            format!(
                "{} is complete, but the place of photos lacks files of photos: {lacking}",
                name(at)
            )
        }))
    }

    /// Copies the photos that are in a folder. Returns those that the place has, and the number of others.
    fn copy_photos(
        &self,
        place: &Place,
        own: &Own,
        mut photos: Vec<PhotoId>,
    ) -> io::Result<(Vec<PhotoId>, usize)> {
        let from = self
            .photos
            .place()
            .filter(|from| from.as_folder().is_some());
        let Some(from) = from else {
            return Ok((Vec::new(), 0));
        };
        // Of each file in a bucket, a request costs money.
        let listed = match own.lists.last() {
            Some(&at) if place.is_bucket() => {
                photos_of_list(place, at, "all photos are copied again")?
            }
            _ => None,
        };
        let there: BTreeSet<PhotoId> = listed.unwrap_or_default().into_iter().collect();
        let wanted: Vec<_> = photos
            .iter()
            .copied()
            .filter(|id| !there.contains(id))
            .collect();
        let lacking = place.wait(place.photos.copy_all_from(from, &wanted))?.1;
        photos.retain(|id| !lacking.contains(id));
        Ok((photos, lacking.len()))
    }
}

/// Returns the photos of a list. `None` if the list is damaged, which the log says with what follows from it.
fn photos_of_list(
    place: &Place,
    at: Timestamp,
    consequence: &str,
) -> io::Result<Option<Vec<PhotoId>>> {
    match list(place, at) {
        Ok((_, photos)) => Ok(Some(photos)),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            warn!(%place, list = list_name(at), "the list of a backup's photos is damaged: {consequence}");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Returns the time until the newest backup of the copy in use has this age, unless it has it already.
fn wait_for(own: &Own, copies: &Copies, now: Timestamp, least_age: Duration) -> Option<Duration> {
    let newest = *own.backups.range(..=now).next_back()?.0;
    if newest < copies.last_began()? {
        return None;
    }
    let age = Duration::try_from(now.duration_since(newest)).ok()?;
    least_age.checked_sub(age).filter(|wait| !wait.is_zero())
}

/// A file that is removed when this is dropped.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        sqlite::remove(&self.0);
    }
}

/// Lets other threads run first, which still leaves a tenth of a busy core. On Linux, this is about the calling
/// thread.
fn yield_to_others() {
    let _ = setpriority_process(None, 10);
}

/// Returns how many animals a backup has, and the photos that it needs of its place. The kind of the error is
/// `InvalidData` if the list is damaged.
pub fn list(place: &Place, at: Timestamp) -> io::Result<(u64, Vec<PhotoId>)> {
    let mut text = Vec::new();
    place.read(&list_name(at), &mut text)?;
    let text =
        String::from_utf8(text).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
    let mut lines = text.lines();
    let animals = lines.next().and_then(|animals| animals.parse().ok());
    let animals = animals.ok_or_else(|| io::Error::from(ErrorKind::InvalidData))?;
    // Without one of its lines, a list would let a photo be deleted that its backup needs.
    let photos: Option<Vec<PhotoId>> = lines.map(PhotoId::parse).collect();
    Ok((
        animals,
        photos.ok_or_else(|| io::Error::from(ErrorKind::InvalidData))?,
    ))
}

/// Writes the database of a backup into a file. The kind of the error is `InvalidData` if the backup is
/// damaged.
pub fn unpack(place: &Place, at: Timestamp, into: &mut File) -> io::Result<()> {
    unpack_with(into, |content| place.read(&name(at), content))
}

/// Writes the database of a backup, whatever its name is, into a file, with the same errors.
pub fn unpack_from(backup: &mut File, into: &mut File) -> io::Result<()> {
    unpack_with(into, |content| io::copy(backup, content).map(drop))
}

fn unpack_with(
    into: &mut File,
    read: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut content = GzDecoder::new(into);
    read(&mut content)
        .and_then(|()| content.try_finish())
        .map_err(|error| match error.kind() {
            ErrorKind::InvalidInput | ErrorKind::UnexpectedEof | ErrorKind::WriteZero => {
                io::Error::new(ErrorKind::InvalidData, error)
            }
            _ => error,
        })
}

/// Deletes the backups that are not kept any more, then the photos that only these needed.
fn delete_old(place: &Place, now: Timestamp, keep: Duration, copies: &Copies) -> io::Result<()> {
    let own = place.own()?;
    let kept = kept(own.backups.keys().copied(), now, keep, copies);
    for &at in own.backups.keys().filter(|at| !kept.contains(at)) {
        place.delete(&name(at))?;
    }
    let former_lists: Vec<Timestamp> = own.lists.difference(&kept).copied().collect();
    // A backup without its list may need every photo.
    if former_lists.is_empty() || !kept.is_subset(&own.lists) {
        return Ok(());
    }
    delete_photos(place, &former_lists, &kept)
}

/// Deletes the photos that only former backups needed, then the lists of these. Deletes nothing while the list of a kept
/// backup is damaged, because that one may need every photo.
fn delete_photos(
    place: &Place,
    former_lists: &[Timestamp],
    kept: &BTreeSet<Timestamp>,
) -> io::Result<()> {
    let mut needed = BTreeSet::new();
    for &at in kept {
        let consequence = "no photo of a former backup is deleted until its backup is not kept any more; \
                           if you do not need this backup, delete it";
        let Some(photos) = photos_of_list(place, at, consequence)? else {
            return Ok(());
        };
        needed.extend(photos);
    }
    let mut unneeded = BTreeSet::new();
    for &at in former_lists {
        let consequence = "the photos that only this former backup needed stay in the place";
        let photos = photos_of_list(place, at, consequence)?.unwrap_or_default();
        unneeded.extend(photos.into_iter().filter(|id| !needed.contains(id)));
    }

    for id in unneeded {
        place.wait(place.photos.delete(id))?;
    }
    for &at in former_lists {
        place.delete(&list_name(at))?;
    }
    Ok(())
}
