//! Where the photos of animals are.

use std::{
    env,
    fmt::Display,
    io::{self, ErrorKind},
    ops::ControlFlow,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use clap::Args;
use futures_util::future::try_join_all;
use tracing::{info, warn};
use url::Url;

use super::{args::BadSetting, runtime::Waiting, values};
use crate::{
    domain::{
        PetId, SystemClock,
        store_area::{PhotoId, Resource},
    },
    observe::log::chain,
    photos::{self, Bucket, Folder, PhotoFile, Photos, Place, Size, first_byte},
    store::{self, DatabaseUrl},
};

/// How many photos are copied or checked at once, because most of the time a request to a bucket waits.
const AT_ONCE: usize = 16;

/// How long one request to a bucket may take.
const REQUEST_LIMIT: Duration = Duration::from_secs(8);

/// The place of photos.
#[derive(Debug, Args)]
#[command(next_help_heading = "Photos")]
pub(super) struct PhotoArgs {
    /// Where the files of photos are: a folder, `s3://BUCKET/PREFIX`, or off; by default, `photos` next to
    /// the SQLite file, and off over PostgreSQL. Every process on a database needs the same place
    #[arg(long, value_name = "PLACE", env = "PETSTORE_PHOTOS", value_parser = place)]
    pub(super) photos: Option<PlaceSetting>,
}

/// The photos of a service.
#[derive(Debug, Args)]
#[command(next_help_heading = "Photos")]
pub(super) struct ServicePhotoArgs {
    #[command(flatten)]
    place: PhotoArgs,

    /// The largest picture that a client can send, such as 500KiB or 16MiB; up to 64MiB
    #[arg(long, value_name = "SIZE", env = "PETSTORE_MAX_PHOTO_SIZE", default_value = "16MiB", value_parser = values::photo_size)]
    max_photo_size: usize,
}

/// What `--photos` can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlaceSetting {
    Off,
    Folder(PathBuf),
    Bucket(Url),
}

/// Parses a place of photos.
pub(super) fn place(text: &str) -> Result<PlaceSetting, String> {
    match text.split_once("://") {
        _ if text.is_empty() => {
            Err("the place is missing; name a folder, a bucket, or off".to_owned())
        }
        _ if text == "off" => Ok(PlaceSetting::Off),
        None if ["off", "no", "none"].contains(&&*text.to_ascii_lowercase()) => {
            Err(format!("write off for no photos, or ./{text} for a folder"))
        }
        None if text.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("s3:"))
            || text.starts_with("s3//") =>
        {
            Err(format!("write s3://BUCKET/PREFIX for a bucket, or ./{text} for a folder"))
        }
        None => Ok(PlaceSetting::Folder(text.into())),
        Some(("s3", _)) => {
            let url = Url::parse(text).map_err(|error| error.to_string())?;
            Ok(PlaceSetting::Bucket(url))
        }
        Some((scheme, _)) => Err(format!("{scheme}:// is not known; write s3://BUCKET/PREFIX")),
    }
}

/// The place of the photos of a database; `None` if they are off. `option` names the setting in an
/// error.
pub(super) fn open(
    setting: Option<&PlaceSetting>,
    option: &str,
    database: &DatabaseUrl,
) -> anyhow::Result<Option<Place>> {
    Ok(match (setting, database) {
        (Some(PlaceSetting::Folder(folder)), _) => Some(Folder::new(folder.clone()).into()),
        (Some(PlaceSetting::Bucket(url)), _) => {
            let variables = env::vars_os().filter_map(|(name, value)| {
                Some((name.into_string().ok()?, value.into_string().ok()?))
            });
            let bucket = Bucket::new(url, variables, REQUEST_LIMIT)
                .map_err(|reason| BadSetting(format!("{option} {url}: {reason}")))?;
            Some(bucket.into())
        }
        (None, DatabaseUrl::Sqlite(file)) => {
            Some(Folder::new(file.with_file_name("photos")).into())
        }
        (Some(PlaceSetting::Off), _) | (None, DatabaseUrl::Postgres(_)) => None,
    })
}

impl PhotoArgs {
    /// The place of photos; `None` if they are off.
    pub(super) fn open(&self, database: &DatabaseUrl) -> anyhow::Result<Option<Place>> {
        open(self.photos.as_ref(), "--photos", database)
    }

    /// The same for a service. A place that was named must be there; the service makes a folder.
    async fn of_service(&self, database: &DatabaseUrl) -> anyhow::Result<Option<Place>> {
        let place = self.open(database)?;
        let Some(place) = place else {
            if self.photos.is_none() {
                info!(
                    "photos are off, because all processes on a database need the same place for \
                     them; --photos names it"
                );
            }
            return Ok(None);
        };
        if let Err(error) = place.probe().await {
            let of_service = matches!(error.kind(), ErrorKind::Other | ErrorKind::TimedOut);
            if self.photos.is_some() && (place.as_folder().is_some() || !of_service) {
                let kind = if place.as_folder().is_some() { "folder" } else { "bucket" };
                let error = chain(&error);
                let message = format!("--photos {place}: the {kind} cannot be used: {error}");
                return Err(BadSetting(message).into());
            }
            let error = chain(&error);
            warn!(%place, error, "the place of photos cannot be used; photos fail until it can");
        }
        Ok(Some(place))
    }
}

impl ServicePhotoArgs {
    /// What makes photos, and reads their files.
    pub(super) async fn open(&self, database: &DatabaseUrl) -> anyhow::Result<Photos> {
        let (place, random) = (self.place.of_service(database).await?, super::runtime::random());
        Ok(Photos::new(place, self.max_photo_size, Arc::new(SystemClock), random))
    }
}

/// Copies the files of all photos into another place, except those that are there, and prints a
/// message if there are any.
pub(super) fn copy_all(from: Place, to: Place) -> anyhow::Result<()> {
    // Then no thread is started.
    if let Some(folder) = from.as_folder()
        && !folder.exists()?
    {
        return Ok(());
    }
    let names = format!("from {from} to {to}");
    let copied = move || -> io::Result<u64> {
        let mut copying = Copying::new(from, to)?;
        for shard in 0..=u8::MAX {
            let from = Arc::clone(&copying.from);
            let listed = copying.waiting.wait(async move { from.list(shard).await })?;
            for id in listed.photos.into_keys() {
                copying.copy(id)?;
            }
        }
        let [copied, _] = copying.finish()?;
        Ok(copied)
    };
    let copied = copied().with_context(|| format!("the photos were not copied {names}"))?;
    if copied > 0 {
        super::output::print(&format!("Copied {} {names}\n", counted(copied)))?;
    }
    Ok(())
}

fn counted(photos: u64) -> impl Display {
    super::output::counted(photos, "photo")
}

/// Copies photos from one place to another.
pub(super) struct Copying {
    from: Arc<Place>,
    to: Arc<Place>,
    waiting: Waiting,
    /// Those that come next.
    next: Vec<PhotoId>,
    /// The first bytes of identifiers with new files.
    changed: [bool; 256],
    copied: u64,
    missing: u64,
}

impl Copying {
    pub(super) fn new(from: Place, to: Place) -> io::Result<Self> {
        let (from, to) = (Arc::new(from), Arc::new(to));
        let waiting = Waiting::new()?;
        let next = Vec::with_capacity(AT_ONCE);
        Ok(Self { from, to, waiting, next, changed: [false; 256], copied: 0, missing: 0 })
    }

    /// Copies the files of a photo, if the first place has them, at once or with those that follow.
    pub(super) fn copy(&mut self, id: PhotoId) -> io::Result<()> {
        self.next.push(id);
        if self.next.len() < AT_ONCE { Ok(()) } else { self.copy_next() }
    }

    fn copy_next(&mut self) -> io::Result<()> {
        let copies = self.next.drain(..).map(|id| {
            let (from, to) = (Arc::clone(&self.from), Arc::clone(&self.to));
            async move { Ok((id, to.copy_from(&from, id).await?)) }
        });
        for (id, copied) in self.waiting.wait(try_join_all(copies))? {
            self.changed[usize::from(first_byte(id))] |= copied.is_copied;
            self.copied += u64::from(copied.is_copied);
            self.missing += u64::from(copied.is_missing);
        }
        Ok(())
    }

    /// Waits until all are on disk. Returns how many photos were copied, and of how many files are
    /// missing.
    pub(super) fn finish(mut self) -> io::Result<[u64; 2]> {
        self.copy_next()?;
        for shard in (0..=u8::MAX).filter(|&shard| self.changed[usize::from(shard)]) {
            let to = Arc::clone(&self.to);
            self.waiting.wait(async move { to.sync(shard).await })?;
        }
        Ok([self.copied, self.missing])
    }
}

/// How many problems with files are shown.
const SHOWN: usize = 100;

/// A line about a place that several databases use, if this one does.
pub(super) fn line_of_marks(place: Place) -> anyhow::Result<Option<String>> {
    let marks = Waiting::new()?.wait(async move { place.marks().await })?;
    let marks = (marks.len() > 1).then(|| marks.join(", "));
    Ok(marks.map(|marks| {
        format!("several databases use this place of photos, so no files are deleted: {marks}\n")
    }))
}

/// What is wrong with the files of the photos of a database, and how many photos it has.
pub(super) fn problems(
    database: &DatabaseUrl,
    place: Option<Place>,
    content: bool,
) -> anyhow::Result<(Vec<String>, u64)> {
    let (place, waiting) = (place.map(Arc::new), Waiting::new()?);
    let (mut photos, mut count, mut problems) = (0, 0, Vec::new());
    let mut failed: io::Result<()> = Ok(());
    let mut next = Vec::with_capacity(AT_ONCE);
    let mut check = |next: &mut Vec<(PetId, PhotoId)>| -> io::Result<()> {
        let Some(place) = &place else { return Ok(()) };
        let files: Vec<_> = next
            .drain(..)
            .flat_map(|(pet, id)| Size::ALL.map(|size| (pet, PhotoFile { id, size })))
            .collect();
        let states = files.iter().map(|&(_, file)| state(Arc::clone(place), file, content));
        for ((pet, file), problem) in files.iter().zip(waiting.wait(try_join_all(states))?) {
            let Some(problem) = problem else { continue };
            count += 1;
            if count <= SHOWN {
                let name = file.name();
                problems.push(format!("animal {pet}: the file {name} of a photo {problem}"));
            }
        }
        Ok(())
    };
    store::snapshot(database)?.resources(&mut |resource| {
        if let Resource::Pet(pet) = &resource {
            photos += pet.photos.all().len() as u64;
            next.extend(pet.photos.all().iter().map(|photo| (pet.id, photo.id)));
            if next.len() >= AT_ONCE {
                failed = check(&mut next);
            }
        }
        if failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    failed.and_then(|()| check(&mut next))?;
    if count > SHOWN {
        problems.push(format!("more of this kind: {}", count - SHOWN));
    }
    Ok((problems, photos))
}

/// What is wrong with a file.
async fn state(
    place: Arc<Place>,
    file: PhotoFile,
    content: bool,
) -> io::Result<Option<&'static str>> {
    let (is_there, is_readable) = if content {
        let found = place.read(file).await?;
        (found.is_some(), found.is_some_and(|found| photos::is_readable(&found)))
    } else {
        (place.has(file).await?, true)
    };
    Ok(match (is_there, is_readable) {
        (false, _) => Some("is missing"),
        (true, false) => Some("cannot be decoded"),
        (true, true) => None,
    })
}
