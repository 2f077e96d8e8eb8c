//! The storage where the files of photos are: a folder or a bucket.

use std::{
    fmt,
    io::{self, ErrorKind},
    sync::Arc,
};

use bytes::Bytes;
use futures_util::future::try_join_all;
use petstore_domain::store_area::{PhotoFile, PhotoId, PhotoSize};
use sha2::{Digest, Sha256};
use tokio::{task, time};

use super::{
    bucket::Bucket,
    files::{OPERATION_LIMIT, Piece, ShardFiles, first_byte},
    folder::Folder,
    storage_error::shorten_error,
};

/// The number of photos that are copied at the same time, because most of the time a request to a
/// bucket waits.
pub const MAX_COPIES_AT_ONCE: usize = 16;

/// The length of the mark of a database, in hexadecimal digits.
const MARK_LENGTH: usize = 32;

/// The storage of the files of photos. Its operations end within 30 seconds.
#[derive(Debug)]
pub enum PhotoStorage {
    Folder(Arc<Folder>),
    Bucket(Box<Bucket>),
}

/// The outcome of copying photos from another storage.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CopiedPhotos {
    /// The number of photos with a file that was copied.
    pub count: u64,
    /// The photos with a file that neither storage has.
    pub incomplete: Vec<PhotoId>,
}

/// The outcome of copying the files of a photo.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct CopiedFiles {
    /// Whether neither storage has some file.
    is_missing: bool,
    /// Whether some file was not in this storage before.
    is_copied: bool,
}

impl From<Folder> for PhotoStorage {
    fn from(folder: Folder) -> Self {
        Self::Folder(Arc::new(folder))
    }
}

impl From<Bucket> for PhotoStorage {
    fn from(bucket: Bucket) -> Self {
        Self::Bucket(Box::new(bucket))
    }
}

impl PhotoStorage {
    /// Returns the folder; `None` if the storage is a bucket.
    pub fn as_folder(&self) -> Option<&Folder> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Bucket(_) => None,
        }
    }

    /// Whether both storages are the same, even if two paths lead to one folder.
    pub fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Folder(folder), Self::Folder(other)) => folder.is_same_as(other),
            (Self::Bucket(bucket), Self::Bucket(other)) => bucket.to_string() == other.to_string(),
            (Self::Folder(_), Self::Bucket(_)) | (Self::Bucket(_), Self::Folder(_)) => false,
        }
    }

    /// Checks that the storage can be used: creates the folder if it is missing, or writes an object to
    /// the bucket and deletes the object again.
    ///
    /// An error whose kind is [`ErrorKind::Other`] or [`ErrorKind::TimedOut`] may pass without a change.
    pub async fn probe(&self) -> io::Result<()> {
        match self {
            Self::Folder(folder) => in_folder(folder, Folder::create).await,
            Self::Bucket(bucket) => with_limit(bucket.probe()).await,
        }
    }

    /// Returns the marks of all databases whose photos are in the storage.
    pub async fn marks(&self) -> io::Result<Vec<String>> {
        let mut marks = match self {
            Self::Folder(folder) => in_folder(folder, Folder::marks).await?,
            Self::Bucket(bucket) => with_limit(bucket.marks()).await?,
        };
        // A storage of photos can be inside another one, whose folder `owners` then has other files.
        marks.retain(|name| is_mark(name));
        Ok(marks)
    }

    /// Returns the marks of the other databases. The database with `own_mark` does not know which
    /// files they need.
    ///
    /// Adds `own_mark` if it is missing, except in a folder that does not exist.
    pub async fn other_marks(&self, own_mark: &str) -> io::Result<Vec<String>> {
        let mut other_marks = self.marks().await?;
        let mark_count = other_marks.len();
        other_marks.retain(|mark| mark != own_mark);
        let is_own_mark_missing = other_marks.len() == mark_count;
        if is_own_mark_missing {
            self.add_mark(own_mark.to_owned()).await?;
        }
        Ok(other_marks)
    }

    async fn add_mark(&self, mark: String) -> io::Result<()> {
        match self {
            Self::Folder(folder) => in_folder(folder, move |folder| folder.add_mark(&mark)).await,
            Self::Bucket(bucket) => with_limit(bucket.add_mark(&mark)).await,
        }
    }

    /// Writes the files of a photo.
    ///
    /// When this returns, the files are on disk, or a bucket has them. After an error, some of the
    /// files may be there.
    pub async fn write(&self, id: PhotoId, files: [Bytes; PhotoSize::COUNT]) -> io::Result<()> {
        match self {
            Self::Folder(folder) => in_folder(folder, move |folder| folder.write(id, &files)).await,
            Self::Bucket(bucket) => {
                let files = PhotoFile::all(id).into_iter().zip(files);
                with_limit(bucket.write(files.collect())).await
            }
        }
    }

    /// Adds a file to a photo, like [`Self::write`].
    ///
    /// No photo has the identifier `unused_id`, whose first byte is the first byte of the photo's
    /// identifier.
    pub(super) async fn add(
        &self,
        file: PhotoFile,
        unused_id: PhotoId,
        content: Bytes,
    ) -> io::Result<()> {
        match self {
            Self::Folder(folder) => {
                in_folder(folder, move |folder| folder.add(file, unused_id, &content)).await
            }
            Self::Bucket(bucket) => with_limit(bucket.write(vec![(file, content)])).await,
        }
    }

    /// Copies photos from another storage, except the files that this storage has.
    ///
    /// When this returns, all copied files are on disk.
    pub async fn copy_all_from(
        &self,
        source: &Self,
        photos: &[PhotoId],
    ) -> io::Result<CopiedPhotos> {
        let mut result = CopiedPhotos::default();
        let mut is_shard_changed = [false; 256];
        for chunk in photos.chunks(MAX_COPIES_AT_ONCE) {
            let copies = chunk.iter().map(|&id| self.copy_photo(source, id));
            let outcomes = try_join_all(copies).await?;
            for (&id, files) in chunk.iter().zip(outcomes) {
                // A file that was not copied may have got a second name.
                if files.is_copied || !files.is_missing {
                    is_shard_changed[usize::from(first_byte(id))] = true;
                }
                if files.is_copied {
                    result.count += 1;
                }
                if files.is_missing {
                    result.incomplete.push(id);
                }
            }
        }

        for shard in 0..=u8::MAX {
            if is_shard_changed[usize::from(shard)] {
                self.sync(shard).await?;
            }
        }
        Ok(result)
    }

    /// Copies the files of a photo from another storage, except the files that this storage has. The
    /// names of the files in a folder are on disk after [`Self::sync`].
    async fn copy_photo(&self, source: &Self, id: PhotoId) -> io::Result<CopiedFiles> {
        let mut outcome = CopiedFiles::default();
        for file in PhotoFile::all(id) {
            let own_length = self.length(file).await?;
            let source_length = source.length(file).await?;
            let Some(source_length) = source_length else {
                if own_length.is_none() && !file.size.is_made_later() {
                    outcome.is_missing = true;
                }
                continue;
            };
            // A file of another length is damaged.
            if own_length == Some(source_length) || self.link(file, source_length).await? {
                continue;
            }

            match source.read(file).await? {
                Some(content) => {
                    self.write_copy(file, content).await?;
                    outcome.is_copied = true;
                }
                None => outcome.is_missing = true,
            }
        }
        Ok(outcome)
    }

    /// Gives a file of this length in another folder a second name here. Returns whether there was
    /// such a file; a bucket has none.
    async fn link(&self, file: PhotoFile, length: u64) -> io::Result<bool> {
        match self {
            Self::Folder(folder) => {
                in_folder(folder, move |folder| folder.link(file, length)).await
            }
            Self::Bucket(_) => Ok(false),
        }
    }

    async fn write_copy(&self, file: PhotoFile, content: Vec<u8>) -> io::Result<()> {
        match self {
            Self::Folder(folder) => {
                in_folder(folder, move |folder| folder.write_copy(file, &content)).await
            }
            Self::Bucket(bucket) => with_limit(bucket.write(vec![(file, content.into())])).await,
        }
    }

    /// Makes sure that the names of the files that begin with this byte are on disk.
    pub async fn sync(&self, shard: u8) -> io::Result<()> {
        match self {
            Self::Folder(folder) => in_folder(folder, move |folder| folder.sync_shard(shard)).await,
            Self::Bucket(_) => Ok(()),
        }
    }

    /// Returns the content of a file; `None` if there is no such file.
    pub async fn read(&self, file: PhotoFile) -> io::Result<Option<Vec<u8>>> {
        let piece = self.read_piece(file, 0, usize::MAX).await?;
        Ok(piece.map(|piece| piece.bytes))
    }

    /// Reads at most `max_length` bytes of a file from `offset` on; `None` if there is no such file.
    pub(super) async fn read_piece(
        &self,
        file: PhotoFile,
        offset: u64,
        max_length: usize,
    ) -> io::Result<Option<Piece>> {
        let folder = match self {
            Self::Folder(folder) => folder,
            Self::Bucket(bucket) => return with_limit(bucket.read(file, offset, max_length)).await,
        };
        if let Some(piece) = folder.read_cached(file, offset, max_length) {
            return Ok(Some(piece));
        }
        in_folder(folder, move |folder| folder.read(file, offset, max_length)).await
    }

    /// Returns the length of a file in bytes; `None` if there is no such file.
    pub async fn length(&self, file: PhotoFile) -> io::Result<Option<u64>> {
        match self {
            Self::Folder(folder) => in_folder(folder, move |folder| folder.length(file)).await,
            Self::Bucket(bucket) => with_limit(bucket.length(file)).await,
        }
    }

    /// Returns the files of the photos whose identifiers begin with this byte. Other files are
    /// ignored.
    pub async fn list(&self, shard: u8) -> io::Result<ShardFiles> {
        match self {
            Self::Folder(folder) => in_folder(folder, move |folder| folder.list(shard)).await,
            Self::Bucket(bucket) => with_limit(bucket.list(shard)).await,
        }
    }

    /// Deletes the files of a photo, also if they were not written completely.
    pub async fn delete(&self, id: PhotoId) -> io::Result<()> {
        match self {
            Self::Folder(folder) => in_folder(folder, move |folder| folder.delete(id)).await,
            Self::Bucket(bucket) => with_limit(bucket.delete(id)).await,
        }
    }
}

impl fmt::Display for PhotoStorage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.path().display().fmt(formatter),
            Self::Bucket(bucket) => bucket.fmt(formatter),
        }
    }
}

/// Returns the mark of a database: the first half of the SHA-256 of its key and its incarnation, in
/// hexadecimal digits.
///
/// A reader of the mark learns neither the key nor the incarnation.
pub fn database_mark(key: &[u8; 32], incarnation: &str) -> String {
    let hash = Sha256::new()
        .chain_update(key)
        .chain_update(incarnation)
        .finalize();
    let first_half = u128::from_be_bytes(std::array::from_fn(|index| hash[index]));
    format!("{first_half:032x}")
}

/// Whether a name has the form of [`database_mark`].
fn is_mark(name: &str) -> bool {
    name.len() == MARK_LENGTH && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Does blocking work in a folder. A folder that does not respond keeps its thread.
async fn in_folder<T: Send + 'static>(
    folder: &Arc<Folder>,
    work: impl FnOnce(&Folder) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let folder = Arc::clone(folder);
    with_limit(async {
        task::spawn_blocking(move || work(&folder))
            .await
            .map_err(io::Error::other)?
    })
    .await
}

/// Returns the result of an operation, or an error of the kind [`ErrorKind::TimedOut`] after
/// [`OPERATION_LIMIT`].
async fn with_limit<T>(operation: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    match time::timeout(OPERATION_LIMIT, operation).await {
        Ok(result) => result.map_err(shorten_error),
        Err(_) => Err(io::Error::new(
            ErrorKind::TimedOut,
            "the place of photos does not respond in time",
        )),
    }
}
