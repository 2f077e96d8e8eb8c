//! Photos of animals: pictures become files in several sizes, without metadata, in files that are on disk before
//! any animal has them.

#![expect(missing_docs, reason = "a comment says what a name does not")]

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
    bucket::{Bucket, error_with_kind},
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

/// The number of pictures that are decoded at the same time, each by one core. A picture that needs
/// more than half of the memory is decoded separately.
const DECODED_PICTURES: u32 = 2;

/// The number of pictures that are decoded or wait for it. Their bodies are in memory.
const ADMITTED_PICTURES: usize = 2 + 16;

/// A photo whose files are stored, although no animal has it yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredPhoto {
    /// The identifier, which is also in the names of the files.
    pub id: PhotoId,
    /// The width of the large size, in pixels.
    pub width: u32,
    /// The height of the large size, in pixels.
    pub height: u32,
}

impl StoredPhoto {
    /// Returns the photo as an animal gets it, with this alternative text.
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

/// The progress of the hourly walk through all files, which handles one shard at a time.
#[derive(Debug, Default)]
pub struct WalkProgress {
    /// The next shard: the byte with which identifiers begin.
    pub shard: u8,
    /// The number of photos in the shards before.
    pub photos: u64,
    /// The length of the files in the shards before, in bytes.
    pub bytes: u64,
    /// The number of photos of animals that lack a file.
    pub missing: u64,
    /// The first failure. The walk handles the other files in spite of it.
    pub first_error: Option<io::Error>,
}

/// The reason why a picture does not become a photo.
#[derive(Debug, thiserror::Error)]
pub enum PhotoError {
    /// There is no storage for photos.
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
    PhotoStorage(#[from] io::Error),
    /// A thread did not end as it should.
    #[error("the pictures of this process have no thread: {0}")]
    Thread(#[from] task::JoinError),
}

/// The service that makes photos from pictures, and reads their files.
pub struct Photos {
    storage: Option<PhotoStorage>,
    max_size: usize,
    clock: Arc<dyn Clock>,
    random: parking_lot::Mutex<StdRng>,
    /// The permits of the pictures that are decoded or wait for it.
    queue: Arc<Semaphore>,
    /// The permits of the pictures that are decoded.
    cores: Arc<Semaphore>,
    pub walk: Mutex<WalkProgress>,
    /// The photos that lack the size [`PhotoSize::Card`], which earlier releases did not make.
    without_card: parking_lot::Mutex<BTreeSet<PhotoId>>,
    /// The metrics of all photos.
    pub metrics: Arc<PhotoMetrics>,
}

impl Photos {
    /// The default for the largest picture, in bytes.
    pub const MAX_SIZE: usize = 16 << 20;

    /// Creates the service for files in `storage` and pictures of at most `max_size` bytes. Without a
    /// storage, photos are off.
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
            queue: Arc::new(Semaphore::new(ADMITTED_PICTURES)),
            cores: Arc::new(Semaphore::new(DECODED_PICTURES as usize)),
            walk: Mutex::default(),
            without_card: parking_lot::Mutex::default(),
            metrics: Arc::default(),
        }
    }

    /// Returns the storage of the files; `None` if photos are off.
    pub fn storage(&self) -> Option<&PhotoStorage> {
        self.storage.as_ref()
    }

    /// Whether the large file of a photo exists.
    pub async fn has_large_file(&self, id: PhotoId) -> Result<bool, PhotoError> {
        let Some(storage) = self.storage() else {
            return Ok(false);
        };
        let length = storage.length(large_file(id)).await?;
        Ok(length.is_some())
    }

    /// Returns the length of the largest picture that is accepted, in bytes.
    pub fn max_size(&self) -> usize {
        self.max_size
    }

    /// Makes the files of a photo, and stores them.
    ///
    /// When this returns, the files are where they stay. If no animal has the photo after a day, a
    /// task deletes them.
    pub async fn add(&self, picture: Bytes, format: Format) -> Result<StoredPhoto, PhotoError> {
        let storage = self.storage.as_ref().ok_or(PhotoError::Off)?;
        self.encode_and_store(storage, picture, format, encode_photo)
            .await
    }

    /// Stores the files that `encode` makes from a picture.
    async fn encode_and_store(
        &self,
        storage: &PhotoStorage,
        picture: Bytes,
        format: Format,
        encode: fn(&[u8], Format) -> Result<EncodedPhoto, PictureProblem>,
    ) -> Result<StoredPhoto, PhotoError> {
        let encoding = self
            .process(picture, format, PHOTO_PIXEL_LENGTH, encode)
            .await?;
        let photo = encoding.value;

        let id = PhotoId(self.draw_random());
        let files = photo.files.map(Bytes::from);
        let result = storage.write(id, files).await;
        // The files were in memory until now.
        drop(encoding.queue_permit);

        if let Err(error) = result {
            self.metrics.failures.count();
            return Err(error.into());
        }
        self.metrics.stored.count();
        Ok(StoredPhoto {
            id,
            width: photo.width,
            height: photo.height,
        })
    }

    /// Makes the logo of a store from a picture, which needs no storage for photos.
    pub async fn make_logo(&self, picture: Bytes, format: Format) -> Result<NewLogo, PhotoError> {
        let work = self
            .process(picture, format, LOGO_PIXEL_LENGTH, make_logo)
            .await?;
        Ok(work.value)
    }

    /// Makes a photo from the large file of another photo, turned by a right angle; `None` if that
    /// file is missing.
    ///
    /// The picture in the large file is not encoded again, see `turn.rs`.
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

    fn draw_random<T>(&self) -> T
    where
        StandardUniform: Distribution<T>,
    {
        self.random.lock().random()
    }

    /// Reads at most [`PIECE_LENGTH`] bytes of a file from `offset` on; `None` if there is no such
    /// file.
    pub async fn read(&self, file: PhotoFile, offset: u64) -> Result<Option<Piece>, PhotoError> {
        let Some(storage) = &self.storage else {
            return Ok(None);
        };
        let piece = storage.read_piece(file, offset, PIECE_LENGTH).await;
        Ok(piece.inspect_err(|_| self.metrics.failures.count())?)
    }

    /// Writes the metrics.
    pub fn expose(&self, exposition: &mut Exposition) {
        let admitted_pictures = ADMITTED_PICTURES - self.queue.available_permits();
        let help = "Pictures that wait or are decoded.";
        exposition.number("petstore_photo_queue", help, admitted_pictures as u64);
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
