//! Photos of animals: pictures become files in several sizes, without metadata, in files that are on disk before
//! any animal has them.

#![expect(missing_docs, reason = "a comment says what a name does not")]

mod bucket;
mod bucket_client;
mod decode;
mod files;
mod folder;
mod inspect;
mod logo;
mod place;
mod reader;
mod turn;

use std::{collections::BTreeSet, io, sync::Arc, time::Duration};

use bytes::Bytes;
use petstore_domain::{
    Clock,
    store_area::{AltText, NewLogo, NewPhoto, PhotoFile, PhotoId, PhotoSize, PictureProblem},
};
use petstore_observe::metrics::{Exposition, PhotoMetrics};
use rand::{
    RngExt,
    distr::{Distribution, StandardUniform},
    rngs::StdRng,
};
use tokio::{
    sync::{Mutex, OwnedSemaphorePermit, Semaphore},
    task, time,
};
use tracing::error;

pub use self::decode::Sizes;
pub use self::{
    bucket::Bucket,
    decode::{is_readable, sizes},
    files::ShardFiles,
    folder::Folder,
    inspect::Format,
    logo::logo,
    place::Place,
    reader::PhotoReader,
};
use self::{
    decode::{OPAQUE, TRANSPARENT, is_large, smaller_file},
    files::{LIMIT, Piece},
    turn::{turned_to_left, turned_to_right},
};
pub use self::{
    files::PIECE,
    place::{AT_ONCE, mark_of},
};

/// How many pictures are decoded at once, each by one core. One that
/// needs more than half of the memory is decoded by itself.
const DECODED_AT_ONCE: u32 = 2;

/// How many are decoded or wait for this. Their bodies are in memory.
const ADMITTED: usize = 2 + 16;

/// How many photos that wait for a file are known at once. The walk once an hour finds the others.
const WAITING: usize = 65_536;

/// A picture that became a photo: its identifier, and the sides of the large size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    /// Of the photo.
    pub id: PhotoId,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

impl Stored {
    /// What an animal gets of it.
    pub fn into_photo(self, alt: Option<AltText>) -> NewPhoto {
        let Self { id, width, height } = self;
        NewPhoto {
            id,
            alt,
            width,
            height,
            focus: None,
        }
    }
}

/// How far the work that looks at all files has come.
#[derive(Debug, Default)]
pub struct Walk {
    /// The next byte with which identifiers begin.
    pub shard: u8,
    pub photos: u64,
    pub bytes: u64,
    /// The photos whose files are not all there.
    pub missing: u64,
    /// The first failure, which keeps no other file from its turn.
    pub failed: Option<io::Error>,
}

/// Why a picture does not become a photo.
#[derive(Debug, thiserror::Error)]
pub enum PhotoError {
    /// There is no place for photos.
    #[error("photos are off")]
    Off,
    /// Too many pictures wait.
    #[error("too many pictures wait to be decoded")]
    Busy,
    /// The picture is not accepted.
    #[error("{0}")]
    Invalid(PictureProblem),
    /// A file that the service has made is damaged.
    #[error("{0} cannot be decoded")]
    Damaged(String),
    /// The files cannot be written.
    #[error("the files of a photo cannot be written: {0}")]
    Place(#[from] io::Error),
    /// A thread did not end as it should.
    #[error("the pictures of this process have no thread: {0}")]
    Thread(#[from] task::JoinError),
}

/// Makes photos of pictures, and reads their files.
pub struct Photos {
    place: Option<Place>,
    max_size: usize,
    clock: Arc<dyn Clock>,
    random: parking_lot::Mutex<StdRng>,
    /// For those that wait or are decoded.
    admitted: Arc<Semaphore>,
    decoded: Arc<Semaphore>,
    pub walk: Mutex<Walk>,
    /// Photos from before the size [`PhotoSize::Card`].
    without_card: parking_lot::Mutex<BTreeSet<PhotoId>>,
    /// The metrics of all photos.
    pub metrics: Arc<PhotoMetrics>,
}

impl Photos {
    /// The largest picture by default, in bytes.
    pub const MAX_SIZE: usize = 16 << 20;

    /// With files in this place, or none, and pictures of at most `max_size` bytes.
    pub fn new(
        place: Option<Place>,
        max_size: usize,
        clock: Arc<dyn Clock>,
        random: StdRng,
    ) -> Self {
        Self {
            place,
            max_size,
            clock,
            random: parking_lot::Mutex::new(random),
            admitted: Arc::new(Semaphore::new(ADMITTED)),
            decoded: Arc::new(Semaphore::new(DECODED_AT_ONCE as usize)),
            walk: Mutex::default(),
            without_card: parking_lot::Mutex::default(),
            metrics: Arc::default(),
        }
    }

    /// Where the files are; `None` if photos are off.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// Whether the files of a photo are there.
    pub async fn has(&self, id: PhotoId) -> Result<bool, PhotoError> {
        let Some(place) = self.place() else {
            return Ok(false);
        };
        Ok(place
            .length(PhotoFile {
                id,
                size: PhotoSize::Large,
            })
            .await?
            .is_some())
    }

    /// Returns the largest picture that is accepted, in bytes.
    pub fn max_size(&self) -> usize {
        self.max_size
    }

    /// Makes the files of a photo. When this returns, they are where they stay, and a task deletes
    /// them after a day if no animal has the photo then.
    pub async fn add(&self, picture: Bytes, format: Format) -> Result<Stored, PhotoError> {
        let place = self.place.as_ref().ok_or(PhotoError::Off)?;
        self.add_made(place, picture, format, sizes).await
    }

    /// Writes the files that `work` makes of a picture.
    async fn add_made(
        &self,
        place: &Place,
        picture: Bytes,
        format: Format,
        work: fn(&[u8], Format) -> Result<Sizes, PictureProblem>,
    ) -> Result<Stored, PhotoError> {
        let (sizes, _admitted) = self.made(picture, format, OPAQUE, work).await?;
        let id = PhotoId(self.random());
        let width = sizes.width;
        let height = sizes.height;
        let written = place.write(id, sizes.files.map(Bytes::from)).await;
        written.inspect_err(|_| self.metrics.failures.count())?;
        self.metrics.stored.count();
        Ok(Stored { id, width, height })
    }

    /// Makes the logo of a store, which needs no place for photos.
    pub async fn logo(&self, picture: Bytes, format: Format) -> Result<NewLogo, PhotoError> {
        Ok(self.made(picture, format, TRANSPARENT, logo).await?.0)
    }

    /// Decodes a picture, and makes something of it, as soon as there is a core for it.
    async fn made<T: Send + 'static>(
        &self,
        picture: Bytes,
        format: Format,
        channels: u64,
        work: fn(&[u8], Format) -> Result<T, PictureProblem>,
    ) -> Result<(T, OwnedSemaphorePermit), PhotoError> {
        let admitted = Arc::clone(&self.admitted).try_acquire_owned();
        let admitted = admitted.map_err(|_| PhotoError::Busy)?;
        let decoding = self.places(1).await?;
        let examined = task::spawn_blocking(move || {
            (
                is_large(&picture, format, channels),
                picture,
                admitted,
                decoding,
            )
        });
        let (is_large, picture, admitted, mut decoding) = examined.await?;
        if is_large.map_err(|problem| self.invalid(problem))? {
            drop(decoding);
            decoding = self.places(DECODED_AT_ONCE).await?;
        }
        let clock = Arc::clone(&self.clock);
        let metrics = Arc::clone(&self.metrics);
        // A decoder cannot be stopped: what it uses is free, and counted, when its thread ends.
        let decoded = task::spawn_blocking(move || {
            let _decoding = decoding;
            let started = clock.instant();
            let made = work(&picture, format);
            metrics
                .decoded
                .observe(clock.instant().saturating_duration_since(started));
            (made, admitted)
        });
        match time::timeout(LIMIT, decoded).await {
            Ok(Ok((made, admitted))) => {
                Ok((made.map_err(|problem| self.invalid(problem))?, admitted))
            }
            Ok(Err(error)) if error.is_panic() => {
                error!(%error, "a decoder panicked");
                Err(self.invalid(PictureProblem::Unreadable))
            }
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(self.invalid(PictureProblem::Time)),
        }
    }

    /// Makes a photo of the large file of another one, turned by a right angle; `None` without this file. The picture in
    /// the large file is not encoded again, see `turn.rs`.
    pub async fn turn(&self, id: PhotoId, to_right: bool) -> Result<Option<Stored>, PhotoError> {
        let place = self.place.as_ref().ok_or(PhotoError::Off)?;
        let file = PhotoFile {
            id,
            size: PhotoSize::Large,
        };
        let Some(large) = place.read(file).await? else {
            return Ok(None);
        };
        let work = if to_right {
            turned_to_right
        } else {
            turned_to_left
        };
        self.add_made(place, large.into(), Format::Jpeg, work)
            .await
            .map(Some)
    }

    /// Notes photos that have no file of the size [`PhotoSize::Card`].
    pub fn note_without_card(&self, photos: impl Iterator<Item = PhotoId>) {
        let mut waiting = self.without_card.lock();
        let free = WAITING - waiting.len();
        waiting.extend(photos.take(free));
    }

    /// Makes the missing file of one of these photos from its large one, also while other processes do.
    /// Returns whether others may wait.
    pub async fn make_card(&self) -> Result<bool, PhotoError> {
        let next = self.without_card.lock().pop_first();
        let (Some(place), Some(id)) = (&self.place, next) else {
            return Ok(false);
        };
        let started = self.clock.instant();
        let made = self
            .make_smaller(
                place,
                PhotoFile {
                    id,
                    size: PhotoSize::Card,
                },
            )
            .await;
        made.inspect_err(|error| {
            if let PhotoError::Place(_) = error {
                self.metrics.failures.count();
            }
        })?;
        // At most a third of the time, so that it slows requests little.
        let took = self.clock.instant().saturating_duration_since(started);
        time::sleep((2 * took).min(Duration::from_secs(1))).await;
        Ok(true)
    }

    async fn make_smaller(&self, place: &Place, file: PhotoFile) -> Result<(), PhotoError> {
        let large = PhotoFile {
            size: PhotoSize::Large,
            ..file
        };
        if place.length(file).await?.is_some() {
            return Ok(());
        }
        let Some(content) = place.read(large).await? else {
            return Ok(());
        };
        let decoding = self.places(1).await?;
        let made = task::spawn_blocking(move || {
            let _decoding = decoding;
            smaller_file(content.into(), file.size)
        });
        let damaged = |_| PhotoError::Damaged(large.name());
        let content = made.await?.map_err(damaged)?;
        let unused = PhotoId(file.id.0 ^ u128::from(self.random::<u64>()));
        Ok(place.add(file, unused, content).await?)
    }

    fn random<T>(&self) -> T
    where
        StandardUniform: Distribution<T>,
    {
        self.random.lock().random()
    }

    async fn places(&self, count: u32) -> Result<OwnedSemaphorePermit, PhotoError> {
        let places = Arc::clone(&self.decoded).acquire_many_owned(count);
        let places = time::timeout(LIMIT, places)
            .await
            .map_err(|_| PhotoError::Busy)?;
        places.map_err(|_| PhotoError::Busy)
    }

    fn invalid(&self, problem: PictureProblem) -> PhotoError {
        self.metrics.invalid.count();
        PhotoError::Invalid(problem)
    }

    /// Returns a piece of a file from this position on, and the length of the file; `None` if it is
    /// not there.
    pub async fn read(&self, file: PhotoFile, at: u64) -> Result<Option<Piece>, PhotoError> {
        let Some(place) = &self.place else {
            return Ok(None);
        };
        let piece = place.read_piece(file, at, PIECE).await;
        Ok(piece.inspect_err(|_| self.metrics.failures.count())?)
    }

    /// Writes the metrics.
    pub fn expose(&self, page: &mut Exposition) {
        let free = self.admitted.available_permits() as u64;
        let help = "Pictures that wait or are decoded.";
        page.number("petstore_photo_queue", help, ADMITTED as u64 - free);
        self.metrics.expose(page);
    }
}
