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
    files::OPERATION_LIMIT,
    turn::{turned_to_left, turned_to_right},
};
pub use self::{
    files::{PIECE_LENGTH, Piece},
    place::{MAX_COPIES_AT_ONCE, database_mark},
};

/// The number of pictures that are decoded at once, each by one core. A picture that needs more than half
/// of the memory is decoded while no other picture is.
const MAX_DECODED_AT_ONCE: u32 = 2;

/// The number of pictures that are decoded or wait for it. Their bodies are in memory.
const MAX_ADMITTED: usize = 2 + 16;

/// The number of photos without a card that are noted at once. The hourly walk finds the other ones again.
const MAX_NOTED_PHOTOS: usize = 65_536;

/// A photo whose files were written: its identifier, and the sides of its large size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredPhoto {
    /// The identifier that the files have in their names.
    pub id: PhotoId,
    /// The width of the large size, in pixels.
    pub width: u32,
    /// The height of the large size, in pixels.
    pub height: u32,
}

impl StoredPhoto {
    /// Returns the photo as it is added to an animal, with an alternative text.
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

/// The progress of the hourly walk through all files.
#[derive(Debug, Default)]
pub struct Walk {
    /// The next byte with which identifiers begin.
    pub shard: u8,
    pub photos: u64,
    pub bytes: u64,
    /// The photos whose files are not all there.
    pub missing: u64,
    /// The first failure. The walk continues with the next files after it.
    pub failed: Option<io::Error>,
}

/// The reason why a picture does not become a photo.
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
    /// A permit for each picture that waits or is decoded.
    admitted: Arc<Semaphore>,
    /// A permit for each core that decodes.
    decoders: Arc<Semaphore>,
    pub walk: Mutex<Walk>,
    /// The photos that were made before the size [`PhotoSize::Card`] existed, and lack its file.
    without_card: parking_lot::Mutex<BTreeSet<PhotoId>>,
    /// The metrics of all photos.
    pub metrics: Arc<PhotoMetrics>,
}

impl Photos {
    /// The largest picture by default, in bytes.
    pub const MAX_SIZE: usize = 16 << 20;

    /// Makes photos with files in this place, or in none, of pictures of at most `max_size` bytes.
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
            admitted: Arc::new(Semaphore::new(MAX_ADMITTED)),
            decoders: Arc::new(Semaphore::new(MAX_DECODED_AT_ONCE as usize)),
            walk: Mutex::default(),
            without_card: parking_lot::Mutex::default(),
            metrics: Arc::default(),
        }
    }

    /// Returns the place of the files; `None` if photos are off.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// Whether the files of a photo are there.
    pub async fn has(&self, id: PhotoId) -> Result<bool, PhotoError> {
        let Some(place) = self.place() else {
            return Ok(false);
        };
        let large = PhotoFile {
            id,
            size: PhotoSize::Large,
        };
        Ok(place.length(large).await?.is_some())
    }

    /// Returns the largest picture that is accepted, in bytes.
    pub fn max_size(&self) -> usize {
        self.max_size
    }

    /// Makes the files of a photo, and writes them where they stay. A task deletes them after a day if no
    /// animal has the photo then.
    pub async fn add(&self, picture: Bytes, format: Format) -> Result<StoredPhoto, PhotoError> {
        let place = self.place.as_ref().ok_or(PhotoError::Off)?;
        self.add_sizes(place, picture, format, sizes).await
    }

    /// Writes the files that `make_sizes` makes of a picture.
    async fn add_sizes(
        &self,
        place: &Place,
        picture: Bytes,
        format: Format,
        make_sizes: fn(&[u8], Format) -> Result<Sizes, PictureProblem>,
    ) -> Result<StoredPhoto, PhotoError> {
        // The picture counts as admitted until its files are written.
        let (sizes, _admitted) = self
            .decode_in_turn(picture, format, OPAQUE, make_sizes)
            .await?;

        let id = PhotoId(self.random());
        if let Err(error) = place.write(id, sizes.files.map(Bytes::from)).await {
            self.metrics.failures.count();
            return Err(error.into());
        }

        self.metrics.stored.count();
        Ok(StoredPhoto {
            id,
            width: sizes.width,
            height: sizes.height,
        })
    }

    /// Makes the logo of a store, which needs no place for photos.
    pub async fn logo(&self, picture: Bytes, format: Format) -> Result<NewLogo, PhotoError> {
        let (logo, _admitted) = self
            .decode_in_turn(picture, format, TRANSPARENT, logo)
            .await?;
        Ok(logo)
    }

    /// Decodes a picture with `work`, as soon as a core is free for it. `channels` is the number of bytes of
    /// each decoded pixel. The permit that is returned with the result lets the picture count as admitted.
    async fn decode_in_turn<T: Send + 'static>(
        &self,
        picture: Bytes,
        format: Format,
        channels: u64,
        work: fn(&[u8], Format) -> Result<T, PictureProblem>,
    ) -> Result<(T, OwnedSemaphorePermit), PhotoError> {
        let Ok(admitted) = Arc::clone(&self.admitted).try_acquire_owned() else {
            return Err(PhotoError::Busy);
        };

        // Both permits move to the thread, because a thread goes on when its request has ended.
        let mut decoders = self.acquire_decoders(1).await?;
        let inspection = task::spawn_blocking(move || {
            let is_large = is_large(&picture, format, channels);
            (is_large, picture, admitted, decoders)
        });
        let (is_large, picture, admitted, one_decoder) = inspection.await?;
        decoders = one_decoder;
        if is_large.map_err(|problem| self.count_invalid(problem))? {
            drop(decoders);
            decoders = self.acquire_decoders(MAX_DECODED_AT_ONCE).await?;
        }

        let clock = Arc::clone(&self.clock);
        let metrics = Arc::clone(&self.metrics);
        // A decoder cannot be stopped: its memory is free, and its time is counted, when its thread ends.
        let decoding = task::spawn_blocking(move || {
            let _decoders = decoders;
            let start = clock.instant();
            let result = work(&picture, format);
            metrics
                .decoded
                .observe(clock.instant().saturating_duration_since(start));
            (result, admitted)
        });
        match time::timeout(OPERATION_LIMIT, decoding).await {
            Ok(Ok((Ok(output), admitted))) => Ok((output, admitted)),
            Ok(Ok((Err(problem), _))) => Err(self.count_invalid(problem)),
            Ok(Err(error)) if error.is_panic() => {
                error!(%error, "a decoder panicked");
                Err(self.count_invalid(PictureProblem::Unreadable))
            }
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(self.count_invalid(PictureProblem::Time)),
        }
    }

    /// Makes a new photo of the large file of another photo, turned by a right angle; `None` if that file is missing.
    /// The picture in the large file is not encoded again, see `turn.rs`.
    pub async fn turn(
        &self,
        id: PhotoId,
        to_right: bool,
    ) -> Result<Option<StoredPhoto>, PhotoError> {
        let place = self.place.as_ref().ok_or(PhotoError::Off)?;
        let file = PhotoFile {
            id,
            size: PhotoSize::Large,
        };
        let Some(large) = place.read(file).await? else {
            return Ok(None);
        };

        let make_sizes = if to_right {
            turned_to_right
        } else {
            turned_to_left
        };
        let photo = self.add_sizes(place, large.into(), Format::Jpeg, make_sizes);
        Ok(Some(photo.await?))
    }

    /// Notes photos that have no file of the size [`PhotoSize::Card`].
    pub fn note_without_card(&self, photos: impl Iterator<Item = PhotoId>) {
        let mut without_card = self.without_card.lock();
        let free = MAX_NOTED_PHOTOS - without_card.len();
        without_card.extend(photos.take(free));
    }

    /// Makes the card of one noted photo from its large file, also while other processes do the same.
    /// Returns whether more photos may be noted.
    pub async fn make_card(&self) -> Result<bool, PhotoError> {
        let next = self.without_card.lock().pop_first();
        let (Some(place), Some(id)) = (&self.place, next) else {
            return Ok(false);
        };
        let card = PhotoFile {
            id,
            size: PhotoSize::Card,
        };

        let start = self.clock.instant();
        let result = self.make_smaller(place, card).await;
        if let Err(PhotoError::Place(_)) = result {
            self.metrics.failures.count();
        }
        result?;

        // The work takes a third of the time at most, so that it slows requests little.
        let duration = self.clock.instant().saturating_duration_since(start);
        time::sleep((2 * duration).min(Duration::from_secs(1))).await;
        Ok(true)
    }

    /// Makes a smaller file of a photo from its large file. Does nothing if the smaller file exists, or the
    /// large one is missing.
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

        let decoders = self.acquire_decoders(1).await?;
        let decoding = task::spawn_blocking(move || {
            let _decoders = decoders;
            smaller_file(content.into(), file.size)
        });
        let Ok(content) = decoding.await? else {
            return Err(PhotoError::Damaged(large.name()));
        };

        // An identifier in the same folder that no photo has.
        let unused = PhotoId(file.id.0 ^ u128::from(self.random::<u64>()));
        Ok(place.add(file, unused, content).await?)
    }

    fn random<T>(&self) -> T
    where
        StandardUniform: Distribution<T>,
    {
        self.random.lock().random()
    }

    /// Waits until `count` cores are free to decode.
    async fn acquire_decoders(&self, count: u32) -> Result<OwnedSemaphorePermit, PhotoError> {
        let permits = Arc::clone(&self.decoders).acquire_many_owned(count);
        match time::timeout(OPERATION_LIMIT, permits).await {
            Ok(Ok(permits)) => Ok(permits),
            Ok(Err(_)) | Err(_) => Err(PhotoError::Busy),
        }
    }

    /// Counts a picture that is not accepted, and returns its error.
    fn count_invalid(&self, problem: PictureProblem) -> PhotoError {
        self.metrics.invalid.count();
        PhotoError::Invalid(problem)
    }

    /// Reads at most [`PIECE_LENGTH`] bytes of a file from the byte `start` on; `None` if the file is missing.
    pub async fn read(&self, file: PhotoFile, start: u64) -> Result<Option<Piece>, PhotoError> {
        let Some(place) = &self.place else {
            return Ok(None);
        };
        let piece = place.read_piece(file, start, PIECE_LENGTH).await;
        Ok(piece.inspect_err(|_| self.metrics.failures.count())?)
    }

    /// Writes the metrics.
    pub fn expose(&self, page: &mut Exposition) {
        let free = self.admitted.available_permits() as u64;
        let help = "Pictures that wait or are decoded.";
        page.number("petstore_photo_queue", help, MAX_ADMITTED as u64 - free);
        self.metrics.expose(page);
    }
}
