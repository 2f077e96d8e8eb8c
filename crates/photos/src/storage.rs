//! The storage for the files of photos: a folder or a bucket.

use std::{
    collections::BTreeSet,
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
    files::{OPERATION_TIMEOUT, Piece, ShardFiles, WHOLE_FILE, first_byte},
    folder::Folder,
    storage_error::shorten_error,
};

/// How many photos are copied concurrently. They are copied concurrently because a copy from or to
/// a bucket mostly waits for responses.
pub const MAX_COPIES_AT_ONCE: usize = 16;

/// The length of a [`database_mark`], in hexadecimal digits.
const MARK_LENGTH: usize = 32;

/// The storage for the files of photos. Each access to a file completes or fails within 30 seconds.
#[derive(Debug)]
pub enum PhotoStorage {
    /// A folder, which each operation passes to a blocking thread.
    Folder(Arc<Folder>),
    /// A bucket.
    Bucket(Box<Bucket>),
}

/// The result of copying photos from another storage.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CopiedPhotos {
    /// The number of photos with at least one copied file.
    pub count: u64,
    /// The photos with a required file that is in neither storage.
    pub incomplete: Vec<PhotoId>,
}

/// The result of copying the files of one photo.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct CopiedFiles {
    /// Whether a required file is in neither storage.
    is_any_missing: bool,
    /// Whether at least one file was copied.
    is_any_copied: bool,
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
    /// Returns the folder. Returns `None` if the storage is a bucket.
    pub fn as_folder(&self) -> Option<&Folder> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Bucket(_) => None,
        }
    }

    /// Whether both are the same storage. Two different paths can lead to the same folder.
    pub fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Folder(folder), Self::Folder(other)) => folder.is_same_as(other),
            (Self::Bucket(bucket), Self::Bucket(other)) => bucket.to_string() == other.to_string(),
            (Self::Folder(_), Self::Bucket(_)) | (Self::Bucket(_), Self::Folder(_)) => false,
        }
    }

    /// Checks that the storage is usable: creates the folder if it is missing, or writes an object
    /// to the bucket and deletes it again.
    ///
    /// An error of the kind [`ErrorKind::Other`] or [`ErrorKind::TimedOut`] may be temporary. Any
    /// other error lasts until somebody changes the configuration or the storage.
    pub async fn probe(&self) -> io::Result<()> {
        match self {
            Self::Folder(folder) => run_blocking(folder, Folder::create).await,
            Self::Bucket(bucket) => with_timeout(bucket.probe()).await,
        }
    }

    /// Returns the marks of all databases whose photos are in the storage. Each database adds its
    /// [`database_mark`], so that no other database deletes its files.
    pub async fn marks(&self) -> io::Result<Vec<String>> {
        let mut marks = match self {
            Self::Folder(folder) => run_blocking(folder, Folder::marks).await?,
            Self::Bucket(bucket) => with_timeout(bucket.marks()).await?,
        };
        // The folder with the marks may have other entries, for example if it contains another
        // storage.
        marks.retain(|name| is_mark(name));
        Ok(marks)
    }

    /// Adds `own_mark` if it is missing, unless the storage is a folder that does not exist.
    /// Returns the marks of all other databases.
    ///
    /// As long as there are other databases, the caller must not delete unused files: no database
    /// knows which files the others need.
    pub async fn add_mark_and_list_others(&self, own_mark: &str) -> io::Result<Vec<String>> {
        let mut marks = self.marks().await?;
        if !marks.iter().any(|mark| mark == own_mark) {
            self.add_mark(own_mark.to_owned()).await?;
        }
        marks.retain(|mark| mark != own_mark);
        Ok(marks)
    }

    /// Adds a mark, unless the storage is a folder that does not exist.
    async fn add_mark(&self, mark: String) -> io::Result<()> {
        match self {
            Self::Folder(folder) => {
                run_blocking(folder, move |folder| folder.add_mark(&mark)).await
            }
            Self::Bucket(bucket) => with_timeout(bucket.add_mark(&mark)).await,
        }
    }

    /// Writes all files of a photo.
    ///
    /// When this returns, the files are on disk, or the bucket has them. After an error, some of
    /// the files may remain.
    pub async fn write(&self, id: PhotoId, files: [Bytes; PhotoSize::COUNT]) -> io::Result<()> {
        match self {
            Self::Folder(folder) => {
                run_blocking(folder, move |folder| folder.write(id, &files)).await
            }
            Self::Bucket(bucket) => {
                let files = PhotoFile::all(id).into_iter().zip(files);
                with_timeout(bucket.write(files.collect())).await
            }
        }
    }

    /// Adds one file to an existing photo, like [`Self::write`].
    ///
    /// In a folder, the name of the incomplete file has the identifier `unused_id`, so that the
    /// cleanup deletes the file if this process is killed. No photo may have this identifier, and
    /// it must begin with the same byte as the identifier of the photo, so that both are in the
    /// same shard.
    pub(super) async fn add_file(
        &self,
        file: PhotoFile,
        unused_id: PhotoId,
        content: Bytes,
    ) -> io::Result<()> {
        match self {
            Self::Folder(folder) => {
                run_blocking(folder, move |folder| {
                    folder.add_file(file, unused_id, &content)
                })
                .await
            }
            Self::Bucket(bucket) => with_timeout(bucket.write(vec![(file, content)])).await,
        }
    }

    /// Copies photos from another storage. Skips files that this storage already has with the same
    /// length.
    ///
    /// When this returns, all copied files are on disk.
    pub async fn copy_all_from(
        &self,
        source: &Self,
        photos: &[PhotoId],
    ) -> io::Result<CopiedPhotos> {
        let mut result = CopiedPhotos::default();
        let mut changed_shards = BTreeSet::new();
        for chunk in photos.chunks(MAX_COPIES_AT_ONCE) {
            let copies = chunk.iter().map(|&id| self.copy_photo(source, id));
            let copied_photos = try_join_all(copies).await?;
            for (&id, files) in chunk.iter().zip(copied_photos) {
                // A complete photo may have new hard links, which need the flush like copied files.
                // The shard of an incomplete photo may be missing.
                let may_have_new_files = files.is_any_copied || !files.is_any_missing;
                if may_have_new_files {
                    changed_shards.insert(first_byte(id));
                }
                if files.is_any_copied {
                    result.count += 1;
                }
                if files.is_any_missing {
                    result.incomplete.push(id);
                }
            }
        }

        for shard in changed_shards {
            self.sync(shard).await?;
        }
        Ok(result)
    }

    /// Copies the files of a photo that this storage lacks, or creates hard links to them. In a
    /// folder, the names of the new files are on disk only after [`Self::sync`].
    async fn copy_photo(&self, source: &Self, id: PhotoId) -> io::Result<CopiedFiles> {
        let mut files = CopiedFiles::default();
        for file in PhotoFile::all(id) {
            let own_length = self.length(file).await?;
            let source_length = source.length(file).await?;
            let Some(source_length) = source_length else {
                // An old photo may lack the files of newer sizes, which a background task makes
                // later.
                if own_length.is_none() && !file.size.may_be_missing() {
                    files.is_any_missing = true;
                }
                continue;
            };
            // A file of a different length is damaged, so it is replaced.
            if own_length == Some(source_length) {
                continue;
            }
            let is_linked = self.link(file, source_length).await?;
            if is_linked {
                continue;
            }
            match source.read(file).await? {
                Some(content) => {
                    self.write_copy(file, content).await?;
                    files.is_any_copied = true;
                }
                // The file was deleted since its length was read.
                None => files.is_any_missing = true,
            }
        }
        Ok(files)
    }

    /// Creates a hard link to the file, if one of the folders of [`Folder::with_link_sources`] has
    /// it with this length. Returns whether a link was created. A bucket cannot have links.
    async fn link(&self, file: PhotoFile, length: u64) -> io::Result<bool> {
        match self {
            Self::Folder(folder) => {
                run_blocking(folder, move |folder| folder.link(file, length)).await
            }
            Self::Bucket(_) => Ok(false),
        }
    }

    /// Writes one file of a photo that was read from another storage. In a folder, the name of the
    /// file is on disk only after [`Self::sync`].
    async fn write_copy(&self, file: PhotoFile, content: Vec<u8>) -> io::Result<()> {
        match self {
            Self::Folder(folder) => {
                run_blocking(folder, move |folder| folder.write_copy(file, &content)).await
            }
            Self::Bucket(bucket) => with_timeout(bucket.write(vec![(file, content.into())])).await,
        }
    }

    /// Flushes the names of the files in a shard to disk. `shard` is the first byte of the
    /// identifiers of their photos.
    pub async fn sync(&self, shard: u8) -> io::Result<()> {
        match self {
            Self::Folder(folder) => {
                run_blocking(folder, move |folder| folder.sync_shard(shard)).await
            }
            Self::Bucket(_) => Ok(()),
        }
    }

    /// Returns the whole content of a file. Returns `None` if the file does not exist.
    pub async fn read(&self, file: PhotoFile) -> io::Result<Option<Vec<u8>>> {
        let piece = self.read_piece(file, 0, WHOLE_FILE).await?;
        Ok(piece.map(|piece| piece.bytes))
    }

    /// Reads at most `max_length` bytes of a file, starting at `offset`. Returns `None` if the file
    /// does not exist.
    pub(super) async fn read_piece(
        &self,
        file: PhotoFile,
        offset: u64,
        max_length: usize,
    ) -> io::Result<Option<Piece>> {
        let folder = match self {
            Self::Folder(folder) => folder,
            Self::Bucket(bucket) => {
                return with_timeout(bucket.read(file, offset, max_length)).await;
            }
        };
        if let Some(piece) = folder.read_cached(file, offset, max_length) {
            return Ok(Some(piece));
        }
        run_blocking(folder, move |folder| folder.read(file, offset, max_length)).await
    }

    /// Returns the length of a file in bytes. Returns `None` if the file does not exist.
    pub async fn length(&self, file: PhotoFile) -> io::Result<Option<u64>> {
        match self {
            Self::Folder(folder) => run_blocking(folder, move |folder| folder.length(file)).await,
            Self::Bucket(bucket) => with_timeout(bucket.length(file)).await,
        }
    }

    /// Lists the files of the photos whose identifiers begin with the byte `shard`. Ignores files
    /// that do not belong to such a photo.
    pub async fn list(&self, shard: u8) -> io::Result<ShardFiles> {
        match self {
            Self::Folder(folder) => run_blocking(folder, move |folder| folder.list(shard)).await,
            Self::Bucket(bucket) => with_timeout(bucket.list(shard)).await,
        }
    }

    /// Deletes all files of a photo, including incomplete ones.
    pub async fn delete(&self, id: PhotoId) -> io::Result<()> {
        match self {
            Self::Folder(folder) => run_blocking(folder, move |folder| folder.delete(id)).await,
            Self::Bucket(bucket) => with_timeout(bucket.delete(id)).await,
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

/// Returns the mark of a database, which identifies it in a storage: the first half of the SHA-256
/// of its key and its incarnation, in hexadecimal digits.
///
/// The mark reveals neither the key nor the incarnation.
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

/// Runs blocking work with a folder on another thread. Fails after [`OPERATION_TIMEOUT`]; the
/// thread may stay blocked longer, until the folder responds.
async fn run_blocking<T: Send + 'static>(
    folder: &Arc<Folder>,
    work: impl FnOnce(&Folder) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let folder = Arc::clone(folder);
    with_timeout(async {
        task::spawn_blocking(move || work(&folder))
            .await
            .map_err(io::Error::other)?
    })
    .await
}

/// Awaits an operation, and shortens its error for the log. Fails with [`ErrorKind::TimedOut`]
/// after [`OPERATION_TIMEOUT`].
async fn with_timeout<T>(operation: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    match time::timeout(OPERATION_TIMEOUT, operation).await {
        Ok(result) => result.map_err(shorten_error),
        Err(_elapsed) => Err(io::Error::new(
            ErrorKind::TimedOut,
            "the place of photos does not respond in time",
        )),
    }
}
