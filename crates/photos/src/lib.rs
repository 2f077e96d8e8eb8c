//! Photos of animals. Decodes pictures, removes their metadata, encodes them in several sizes, and
//! stores the files durably before any animal refers to them.
//!
//! A picture is what a client sends. A photo is what is made of it: one JPEG file for each
//! [`PhotoSize`]. The largest of them is the large file, from which the other sizes can be made
//! again.
//!
//! The files are in a [`PhotoStorage`], divided into 256 shards: the first byte of the identifier
//! of a photo selects its shard. An hourly walk compares all files with the photos of animals, and
//! deletes the files that no animal uses. Databases that share a storage each have a mark in it
//! (see [`database_mark`]), so that the walk of one does not delete the files of another.

mod bucket;
mod bucket_client;
mod cards;
mod decode;
mod files;
mod folder;
mod format;
mod inspect;
mod logo;
mod memory_guard;
mod pixels;
mod processing;
mod reader;
mod storage;
mod storage_error;
mod turn;

use std::{collections::BTreeSet, io, sync::Arc};

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
    sync::{Mutex, Semaphore},
    task,
};

pub use self::{
    bucket::{Bucket, to_io_error},
    decode::{EncodedPhoto, encode_photo, is_readable},
    files::{PIECE_LENGTH, Piece, ShardFiles},
    folder::Folder,
    format::Format,
    logo::make_logo,
    reader::PhotoReader,
    storage::{CopiedPhotos, MAX_COPIES_AT_ONCE, PhotoStorage, database_mark},
};
use self::{
    decode::{LOGO_PIXEL_LENGTH, PHOTO_PIXEL_LENGTH},
    turn::{turn_to_left, turn_to_right},
};

/// How many pictures are decoded concurrently, each on one core. A picture that needs more than
/// half of the memory takes the cores of all others, so it is decoded on its own.
const MAX_CONCURRENT_DECODES: u32 = 2;

/// How many pictures may be in the queue: 2 that are being decoded, and 16 that wait. Each picture
/// is held in memory, so further ones are rejected with [`PhotoError::Busy`].
const MAX_QUEUED_PICTURES: usize = 2 + 16;

/// A photo whose files are stored, but that does not belong to an animal yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredPhoto {
    /// The identifier, which is part of the file names.
    pub id: PhotoId,
    /// The width of the large size, in pixels.
    pub width: u32,
    /// The height of the large size, in pixels.
    pub height: u32,
}

impl StoredPhoto {
    /// Returns the photo with this alternative text, in the form in which it is added to an animal.
    pub fn into_photo(self, alt: Option<AltText>) -> NewPhoto {
        NewPhoto {
            id: self.id,
            alt,
            width: self.width,
            height: self.height,
            focus: None,
        }
    }
}

/// The progress of the hourly walk over all files. The walk handles one shard at a time, and
/// reports the totals when it has handled all of them.
#[derive(Debug, Default)]
pub struct WalkProgress {
    /// The next shard to handle: the first byte of the identifiers in it.
    pub shard: u8,
    /// The number of photos in the shards handled so far.
    pub photos: u64,
    /// The total length of the files in the shards handled so far, in bytes.
    pub bytes: u64,
    /// The number of photos that belong to an animal, but lack a required file.
    pub missing: u64,
    /// The first failure. After a failure, the walk continues with the other files.
    pub first_error: Option<io::Error>,
}

/// The reason why a photo cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub enum PhotoError {
    /// No storage for photos is configured.
    #[error("photos are off")]
    Off,
    /// The queue of pictures is full, or no core became free in time.
    #[error("too many pictures wait to be decoded")]
    Busy,
    /// The picture is rejected.
    #[error("{0}")]
    Invalid(PictureProblem),
    /// A file of a stored photo is damaged. Holds the name of the file.
    #[error("{0} cannot be decoded")]
    Damaged(String),
    /// The storage failed.
    #[error("the files of a photo cannot be written: {0}")]
    PhotoStorage(#[from] io::Error),
    /// A blocking thread panicked or was cancelled.
    #[error("the pictures of this process have no thread: {0}")]
    Thread(#[from] task::JoinError),
}

/// The service that makes photos from pictures, and reads their files.
pub struct Photos {
    /// The storage of the files. Without it, photos are off.
    storage: Option<PhotoStorage>,
    /// The length of the largest accepted picture, in bytes.
    max_size: usize,
    clock: Arc<dyn Clock>,
    random: parking_lot::Mutex<StdRng>,
    /// The permits for pictures in the queue. Each of them is being decoded, or waits for that.
    queue: Arc<Semaphore>,
    /// The permits for cores. Decoding a picture takes one of them, or all if it needs much memory.
    cores: Arc<Semaphore>,
    /// The progress of the hourly walk over all files.
    pub walk: Mutex<WalkProgress>,
    /// The queued photos that lack a file of the size [`PhotoSize::Card`], because they were stored
    /// by an earlier release.
    missing_cards: parking_lot::Mutex<BTreeSet<PhotoId>>,
    /// The metrics of all photos.
    pub metrics: Arc<PhotoMetrics>,
}

impl Photos {
    /// The default for the largest accepted picture, in bytes.
    pub const MAX_SIZE: usize = 16 << 20;

    /// Creates the service for files in `storage` and pictures of at most `max_size` bytes. Without
    /// a storage, photos are off.
    pub fn new(
        storage: Option<PhotoStorage>,
        max_size: usize,
        clock: Arc<dyn Clock>,
        random: StdRng,
    ) -> Self {
        Self {
            storage,
            max_size,
            clock,
            random: parking_lot::Mutex::new(random),
            queue: Arc::new(Semaphore::new(MAX_QUEUED_PICTURES)),
            cores: Arc::new(Semaphore::new(MAX_CONCURRENT_DECODES as usize)),
            walk: Mutex::default(),
            missing_cards: parking_lot::Mutex::default(),
            metrics: Arc::default(),
        }
    }

    /// Returns the storage of the files. Returns `None` if photos are off.
    pub fn storage(&self) -> Option<&PhotoStorage> {
        self.storage.as_ref()
    }

    /// Whether the large file of a photo exists. Without a storage, no file exists.
    pub async fn has_large_file(&self, id: PhotoId) -> Result<bool, PhotoError> {
        let Some(storage) = self.storage() else {
            return Ok(false);
        };
        let length = storage.length(large_file(id)).await?;
        Ok(length.is_some())
    }

    /// Returns the length of the largest accepted picture, in bytes.
    pub fn max_size(&self) -> usize {
        self.max_size
    }

    /// Makes the files of a photo from a picture, and stores them.
    ///
    /// When this returns, the files are stored durably. If the photo does not belong to an animal a
    /// day later, a background task deletes them.
    pub async fn add(&self, picture: Bytes, format: Format) -> Result<StoredPhoto, PhotoError> {
        let storage = self.storage.as_ref().ok_or(PhotoError::Off)?;
        self.encode_and_store(storage, picture, format, encode_photo)
            .await
    }

    /// Makes the files of a photo with `encode`, and stores them under a new identifier. Counts the
    /// photo or the failure in the metrics.
    async fn encode_and_store(
        &self,
        storage: &PhotoStorage,
        picture: Bytes,
        format: Format,
        encode: fn(&[u8], Format) -> Result<EncodedPhoto, PictureProblem>,
    ) -> Result<StoredPhoto, PhotoError> {
        let finished_work = self
            .process(picture, format, PHOTO_PIXEL_LENGTH, encode)
            .await?;
        let encoded_photo = finished_work.value;

        let id = PhotoId(self.draw_random());
        let files = encoded_photo.files.map(Bytes::from);
        let result = storage.write(id, files).await;
        // The permit limits the memory for pictures and their files. The files are in memory until
        // they are written.
        drop(finished_work.queue_permit);

        if let Err(error) = result {
            self.metrics.failures.count();
            return Err(error.into());
        }
        self.metrics.stored.count();
        Ok(StoredPhoto {
            id,
            width: encoded_photo.width,
            height: encoded_photo.height,
        })
    }

    /// Makes the logo of a store from a picture. This works even if photos are off.
    pub async fn make_logo(&self, picture: Bytes, format: Format) -> Result<NewLogo, PhotoError> {
        let finished_work = self
            .process(picture, format, LOGO_PIXEL_LENGTH, make_logo)
            .await?;
        Ok(finished_work.value)
    }

    /// Makes a new photo from the photo `id`, turned by 90 degrees. If `to_right` is false, it is
    /// turned to the left. Returns `None` if the large file of the photo is missing.
    ///
    /// The large file is not encoded again, so it loses no quality: see `turn.rs`.
    pub async fn turn(
        &self,
        id: PhotoId,
        to_right: bool,
    ) -> Result<Option<StoredPhoto>, PhotoError> {
        let storage = self.storage.as_ref().ok_or(PhotoError::Off)?;
        let Some(large_content) = storage.read(large_file(id)).await? else {
            return Ok(None);
        };
        let turn = if to_right {
            turn_to_right
        } else {
            turn_to_left
        };
        let photo = self
            .encode_and_store(storage, large_content.into(), Format::Jpeg, turn)
            .await?;
        Ok(Some(photo))
    }

    /// Draws a random value from the generator of the service.
    fn draw_random<T>(&self) -> T
    where
        StandardUniform: Distribution<T>,
    {
        self.random.lock().random()
    }

    /// Reads at most [`PIECE_LENGTH`] bytes of a file, starting at `offset`. Returns `None` if the
    /// file does not exist.
    pub async fn read(&self, file: PhotoFile, offset: u64) -> Result<Option<Piece>, PhotoError> {
        let Some(storage) = &self.storage else {
            return Ok(None);
        };
        let result = storage.read_piece(file, offset, PIECE_LENGTH).await;
        if result.is_err() {
            self.metrics.failures.count();
        }
        Ok(result?)
    }

    /// Writes the metrics.
    pub fn expose(&self, exposition: &mut Exposition) {
        let queued_pictures = MAX_QUEUED_PICTURES - self.queue.available_permits();
        let help = "Pictures that wait or are decoded.";
        exposition.number("petstore_photo_queue", help, queued_pictures as u64);
        self.metrics.expose(exposition);
    }
}

/// Returns the large file of a photo.
fn large_file(id: PhotoId) -> PhotoFile {
    PhotoFile {
        id,
        size: PhotoSize::Large,
    }
}
