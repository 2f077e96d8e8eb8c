//! Backups of a SQLite database that the service makes itself. Each is a compressed file in a place, which has
//! its name only when it is complete. A list with the same time names the photos that it needs: it is
//! there before the backup, and goes after it.

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
use rustix::process::setpriority_process;
use tokio::{sync::oneshot, time};
use tracing::info;

use self::names::list_name;
pub use self::{
    names::{Own, kept, name, time_of},
    place::Place,
};
use crate::{
    domain::{Clock, store_area::PhotoId},
    observe::metrics::BackupMetrics,
    photos::Photos,
    store::sqlite,
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
    /// That of the database, which all its copies have.
    pub mark: String,
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
    /// The backups after the last one. Others are made by another service.
    known: Option<BTreeSet<Timestamp>>,
}

impl Backups {
    /// Makes sure that nobody else uses the place: then, the kind of the error is
    /// [`ErrorKind::ResourceBusy`].
    pub async fn lock(self: &Arc<Self>) -> io::Result<()> {
        self.on_thread(Self::lock_once).await
    }

    /// Makes a backup, then deletes old ones if the time may be believed. A thread that waits for a place that
    /// does not respond is left to itself, and no other backup begins until it ends.
    pub async fn make(self: &Arc<Self>, believed: Option<Timestamp>) -> io::Result<()> {
        let make = move |own: &Self, state: &mut State, place: &Place| {
            own.lock_once(state, place)?;
            let lacks = own.write(state, place)?;
            if let Some(now) = believed {
                delete_old(place, now, own.keep)?;
            }
            lacks.map_or(Ok(()), |lacks| Err(io::Error::other(lacks)))
        };
        let outcome = time::timeout(self.limit, self.on_thread(make)).await;
        let late = || io::Error::other(format!("it took longer than {:?}", self.limit));
        let outcome = outcome.unwrap_or_else(|_| Err(late()));
        outcome.inspect_err(|_| self.metrics.failures.count())
    }

    async fn on_thread(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &mut State, &Place) -> io::Result<()> + Send + 'static,
    ) -> io::Result<()> {
        let (own, (done, result)) = (Arc::clone(self), oneshot::channel());
        let work = move || {
            let mut state = match own.state.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    return Err(io::Error::other("the backup before this one has not ended yet"));
                }
                Err(TryLockError::Poisoned(state)) => state.into_inner(),
                Ok(state) => state,
            };
            let done = work(&own, &mut state, &(own.place)()?);
            if done.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
                // So that the next turn makes a folder that was removed.
                state.lock = None;
            }
            done
        };
        let thread = thread::Builder::new().name("petstore-backup".to_owned());
        thread.spawn(move || done.send(work()))?;
        result.await.map_err(|_| io::Error::other("the thread of the backup panicked"))?
    }

    fn lock_once(&self, state: &mut State, place: &Place) -> io::Result<()> {
        if self.photos.place().is_some_and(|photos| photos.is(&place.photos)) {
            let what = "the photos of the service are there; name another place";
            return Err(io::Error::new(ErrorKind::ResourceBusy, what));
        }
        if state.lock.is_none() {
            state.lock = Some(place.lock(&self.mark)?);
        }
        Ok(())
    }

    /// Writes a backup. Returns a sentence if it lacks photos.
    fn write(&self, state: &mut State, place: &Place) -> io::Result<Option<String>> {
        let (own, began, now) = (place.own()?, self.clock.instant(), self.clock.now());
        self.metrics.found(own.newest(now).unwrap_or_default());
        let found: BTreeSet<Timestamp> = own.backups.keys().copied().collect();
        let known = state.known.replace(found.clone()).unwrap_or_else(|| found.clone());
        if let Some(&other) = found.difference(&known).next() {
            let name = name(other);
            let what =
                format!("another service makes backups in {place}: {name} is not of this one");
            return Err(io::Error::other(what));
        }
        let at = own.free(now).ok_or_else(|| io::Error::other("the clock has reached its end"))?;
        let unfinished = Unfinished(place.unfinished(".db"));
        let copied = sqlite::copy_into(&self.database, &unfinished.0, yield_to_others);
        let copied = copied.map_err(io::Error::other)?;
        let (photos, lacking) = self.copy_photos(place, &own, copied.photos)?;
        place.write(&list_name(at), |out| {
            let mut out = BufWriter::new(out);
            writeln!(out, "{}", copied.animals)?;
            photos.iter().try_for_each(|id| writeln!(out, "{id}"))?;
            out.flush()
        })?;
        let bytes = place.write(&name(at), |out| {
            let mut out = GzEncoder::new(out, Compression::default());
            io::copy(&mut File::open(&unfinished.0)?, &mut out)?;
            out.finish().map(drop)
        })?;
        let took = self.clock.instant().saturating_duration_since(began);
        self.metrics.made(at, took, bytes);
        info!(%place, name = name(at), animals = copied.animals, bytes, "made a backup");
        state.known.get_or_insert_default().insert(at);
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
        let from = self.photos.place().filter(|from| from.as_folder().is_some());
        let Some(from) = from else { return Ok((Vec::new(), 0)) };
        // Of each file in a bucket, a request costs money.
        let newest = own.lists.last().filter(|_| place.is_bucket());
        let there =
            newest.map_or(Ok(Vec::new()), |&at| list(place, at).map(|(_, photos)| photos))?;
        let there: BTreeSet<PhotoId> = there.into_iter().collect();
        let wanted: Vec<_> = photos.iter().copied().filter(|id| !there.contains(id)).collect();
        let lacking = place.wait(place.photos.copy_all_from(from, &wanted))?.1;
        photos.retain(|id| !lacking.contains(id));
        Ok((photos, lacking.len()))
    }
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

/// How many animals a backup has, and the photos that it needs of its place.
pub fn list(place: &Place, at: Timestamp) -> io::Result<(u64, Vec<PhotoId>)> {
    let mut text = Vec::new();
    place.read(&list_name(at), &mut text)?;
    let text = String::from_utf8(text).map_err(io::Error::other)?;
    let mut lines = text.lines();
    let animals = lines.next().and_then(|animals| animals.parse().ok());
    let animals = animals.ok_or_else(|| io::Error::from(ErrorKind::InvalidData))?;
    Ok((animals, lines.filter_map(PhotoId::parse).collect()))
}

/// Writes the database of a backup into a file. The kind of the error is `InvalidData` if the backup is
/// damaged.
pub fn unpack(place: &Place, at: Timestamp, into: &mut File) -> io::Result<()> {
    let mut content = GzDecoder::new(into);
    let read = place.read(&name(at), &mut content);
    read.and_then(|()| content.try_finish()).map_err(|error| match error.kind() {
        ErrorKind::InvalidInput | ErrorKind::UnexpectedEof | ErrorKind::WriteZero => {
            io::Error::new(ErrorKind::InvalidData, error)
        }
        _ => error,
    })
}

/// Deletes the backups that are not kept any more, then the photos that only these needed.
fn delete_old(place: &Place, now: Timestamp, keep: Duration) -> io::Result<()> {
    let own = place.own()?;
    let kept = kept(own.backups.keys().copied(), now, keep);
    for &at in own.backups.keys().filter(|at| !kept.contains(at)) {
        place.delete(&name(at))?;
    }
    let done: Vec<_> = own.lists.difference(&kept).copied().collect();
    // A backup without its list may need every photo.
    if !done.is_empty() && kept.is_subset(&own.lists) {
        let mut photos = BTreeSet::new();
        for &at in &done {
            photos.extend(list(place, at)?.1);
        }
        for &at in &kept {
            for id in list(place, at)?.1 {
                photos.remove(&id);
            }
        }
        for id in photos {
            place.wait(place.photos.delete(id))?;
        }
        for at in done {
            place.delete(&list_name(at))?;
        }
    }
    Ok(())
}
