//! The place where the files of photos are: a folder or a bucket.

use std::{
    error::Error,
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
};

/// The number of photos that are copied at once: a request to a bucket waits most of its time.
pub const MAX_COPIES_AT_ONCE: usize = 16;

/// A folder or a bucket with the files of photos. Its operations end within 30 seconds.
#[derive(Debug)]
pub struct Place(Storage);

#[derive(Debug)]
enum Storage {
    Folder(Arc<Folder>),
    Bucket(Box<Bucket>),
}

/// The outcome of copying the files of a photo.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CopiedFiles {
    /// Whether a file is missing in the other place.
    pub is_missing: bool,
    /// Whether a file was missing here, and was copied.
    pub(crate) is_copied: bool,
}

impl From<Folder> for Place {
    fn from(folder: Folder) -> Self {
        Self(Storage::Folder(Arc::new(folder)))
    }
}

impl From<Bucket> for Place {
    fn from(bucket: Bucket) -> Self {
        Self(Storage::Bucket(Box::new(bucket)))
    }
}

impl Place {
    /// Returns the folder; `None` if the place is a bucket.
    pub fn as_folder(&self) -> Option<&Folder> {
        match &self.0 {
            Storage::Folder(folder) => Some(folder),
            Storage::Bucket(_) => None,
        }
    }

    /// Whether both places are the same, even if two paths lead to one folder.
    pub fn is_same_as(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Storage::Folder(folder), Storage::Folder(other)) => folder.is_same_as(other),
            (Storage::Bucket(bucket), Storage::Bucket(other)) => {
                bucket.to_string() == other.to_string()
            }
            _ => false,
        }
    }

    /// Makes the folder if it is missing, or writes an object to the bucket and deletes the object again. An error
    /// whose kind is [`ErrorKind::Other`] or [`ErrorKind::TimedOut`] may pass by itself.
    pub async fn probe(&self) -> io::Result<()> {
        match &self.0 {
            Storage::Folder(folder) => in_folder(folder, Folder::make).await,
            Storage::Bucket(bucket) => in_time(bucket.probe()).await,
        }
    }

    /// Returns the marks of all databases whose photos are in this place.
    pub async fn marks(&self) -> io::Result<Vec<String>> {
        let mut marks = match &self.0 {
            Storage::Folder(folder) => in_folder(folder, Folder::marks).await?,
            Storage::Bucket(bucket) => in_time(bucket.marks()).await?,
        };
        // A place of photos can have been made in another one.
        marks.retain(|mark| mark.len() == 32 && mark.bytes().all(|byte| byte.is_ascii_hexdigit()));
        Ok(marks)
    }

    /// Returns the marks of other databases. The database with the mark `own_mark` does not know which files they need.
    /// Leaves `own_mark` if it is missing, except in a folder that is missing.
    pub async fn other_marks(&self, own_mark: &str) -> io::Result<Vec<String>> {
        let mut marks = self.marks().await?;
        if marks.iter().any(|mark| mark == own_mark) {
            marks.retain(|mark| mark != own_mark);
            return Ok(marks);
        }

        match &self.0 {
            Storage::Folder(folder) => {
                let own_mark = own_mark.to_owned();
                in_folder(folder, move |folder| folder.mark(&own_mark)).await?;
            }
            Storage::Bucket(bucket) => in_time(bucket.mark(own_mark)).await?,
        }
        Ok(marks)
    }

    /// Writes the files of a photo, to disk or to the bucket. After an error, some of the files may be there.
    pub async fn write(&self, id: PhotoId, files: [Bytes; PhotoSize::COUNT]) -> io::Result<()> {
        match &self.0 {
            Storage::Folder(folder) => {
                in_folder(folder, move |folder| folder.write(id, &files)).await
            }
            Storage::Bucket(bucket) => {
                let files = PhotoFile::all(id).into_iter().zip(files);
                in_time(bucket.write(files.collect())).await
            }
        }
    }

    /// Adds a file to a photo, as [`Self::write`] does. `unused` is an identifier that no photo has, and that begins
    /// with the same byte as the identifier of the photo.
    pub(super) async fn add(
        &self,
        file: PhotoFile,
        unused: PhotoId,
        content: Bytes,
    ) -> io::Result<()> {
        match &self.0 {
            Storage::Folder(folder) => {
                in_folder(folder, move |folder| folder.add(file, unused, &content)).await
            }
            Storage::Bucket(bucket) => in_time(bucket.write(vec![(file, content)])).await,
        }
    }

    /// Copies the files of a photo from another place, except files that are complete here. The names of files in a
    /// folder are on disk after [`Self::sync`].
    pub(crate) async fn copy_from(&self, other: &Self, id: PhotoId) -> io::Result<CopiedFiles> {
        let mut copied = CopiedFiles::default();
        for file in PhotoFile::all(id) {
            let present_length = self.length(file).await?;
            let Some(length) = other.length(file).await? else {
                copied.is_missing |= present_length.is_none() && !file.size.is_made_later();
                continue;
            };
            // A file of another length is damaged, and is copied again.
            if present_length == Some(length) {
                continue;
            }
            if let Storage::Folder(folder) = &self.0
                && in_folder(folder, move |folder| folder.link(file, length)).await?
            {
                continue;
            }
            let Some(content) = other.read(file).await? else {
                copied.is_missing = true;
                continue;
            };
            match &self.0 {
                Storage::Folder(folder) => {
                    in_folder(folder, move |folder| folder.write_copy(file, &content)).await?;
                }
                Storage::Bucket(bucket) => {
                    in_time(bucket.write(vec![(file, content.into())])).await?
                }
            }
            copied.is_copied = true;
        }
        Ok(copied)
    }

    /// Copies the files of photos from another place, except files that are complete here. All are on disk when this
    /// returns the number of the photos that were copied, and the photos whose files are missing.
    pub async fn copy_all_from(
        &self,
        other: &Self,
        photos: &[PhotoId],
    ) -> io::Result<(u64, Vec<PhotoId>)> {
        let mut has_changed = [false; 256];
        let mut copied_count = 0;
        let mut missing_photos = Vec::new();
        for photos in photos.chunks(MAX_COPIES_AT_ONCE) {
            let copies = photos.iter().map(|&id| self.copy_from(other, id));
            let outcomes = try_join_all(copies).await?;
            for (&id, files) in photos.iter().zip(outcomes) {
                // A file that was not copied may have got a second name.
                has_changed[usize::from(first_byte(id))] |= files.is_copied || !files.is_missing;
                copied_count += u64::from(files.is_copied);
                if files.is_missing {
                    missing_photos.push(id);
                }
            }
        }

        for shard in 0..=u8::MAX {
            if has_changed[usize::from(shard)] {
                self.sync(shard).await?;
            }
        }
        Ok((copied_count, missing_photos))
    }

    /// Makes sure that the names of the files that begin with this byte are on disk.
    pub async fn sync(&self, shard: u8) -> io::Result<()> {
        match &self.0 {
            Storage::Folder(folder) => {
                in_folder(folder, move |folder| folder.sync_shard(shard)).await
            }
            Storage::Bucket(_) => Ok(()),
        }
    }

    /// Returns the content of a file; `None` if the file is missing.
    pub async fn read(&self, file: PhotoFile) -> io::Result<Option<Vec<u8>>> {
        let piece = self.read_piece(file, 0, usize::MAX).await?;
        Ok(piece.map(|piece| piece.bytes))
    }

    /// Reads at most `max_length` bytes of a file from the byte `start` on; `None` if the file is missing.
    pub(super) async fn read_piece(
        &self,
        file: PhotoFile,
        start: u64,
        max_length: usize,
    ) -> io::Result<Option<Piece>> {
        match &self.0 {
            Storage::Folder(folder) => match folder.read_cached(file, start, max_length) {
                Some(piece) => Ok(Some(piece)),
                None => in_folder(folder, move |folder| folder.read(file, start, max_length)).await,
            },
            Storage::Bucket(bucket) => in_time(bucket.read(file, start, max_length)).await,
        }
    }

    /// Returns the length of a file in bytes; `None` if the file is missing.
    pub async fn length(&self, file: PhotoFile) -> io::Result<Option<u64>> {
        match &self.0 {
            Storage::Folder(folder) => in_folder(folder, move |folder| folder.length(file)).await,
            Storage::Bucket(bucket) => in_time(bucket.length(file)).await,
        }
    }

    /// Lists the files of the photos whose identifiers begin with the byte `shard`. Other files are ignored.
    pub async fn list(&self, shard: u8) -> io::Result<ShardFiles> {
        match &self.0 {
            Storage::Folder(folder) => in_folder(folder, move |folder| folder.list(shard)).await,
            Storage::Bucket(bucket) => in_time(bucket.list(shard)).await,
        }
    }

    /// Deletes the files of a photo, also files that were not written completely.
    pub async fn delete(&self, id: PhotoId) -> io::Result<()> {
        match &self.0 {
            Storage::Folder(folder) => in_folder(folder, move |folder| folder.delete(id)).await,
            Storage::Bucket(bucket) => in_time(bucket.delete(id)).await,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Storage::Folder(folder) => folder.path().display().fmt(formatter),
            Storage::Bucket(bucket) => bucket.fmt(formatter),
        }
    }
}

/// Returns the name of the mark that a database with this key leaves in its place. The name reveals neither the key
/// nor the incarnation.
pub fn database_mark(key: &[u8; 32], incarnation: &str) -> String {
    let hash = Sha256::new()
        .chain_update(key)
        .chain_update(incarnation)
        .finalize();
    let beginning = u128::from_be_bytes(std::array::from_fn(|index| hash[index]));
    format!("{beginning:032x}")
}

/// Does blocking work in a folder. A folder that does not respond keeps its thread.
async fn in_folder<T: Send + 'static>(
    folder: &Arc<Folder>,
    work: impl FnOnce(&Folder) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let folder = Arc::clone(folder);
    in_time(async {
        task::spawn_blocking(move || work(&folder))
            .await
            .map_err(io::Error::other)?
    })
    .await
}

/// Returns the result of an operation, or an error if it takes too long.
async fn in_time<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    match time::timeout(OPERATION_LIMIT, work).await {
        Ok(result) => result.map_err(shorten),
        Err(_) => Err(io::Error::new(
            ErrorKind::TimedOut,
            "the place of photos does not respond in time",
        )),
    }
}

/// Returns the error of a bucket in few words: the code of the bucket's service, or the last cause.
///
/// `PUT failed: <Error><Code>NoSuchBucket</Code>…` becomes `NoSuchBucket`.
fn shorten(error: io::Error) -> io::Error {
    let Some(mut cause) = error.get_ref().map(|cause| cause as &dyn Error) else {
        return error;
    };
    let text = cause.to_string();
    if let Some((_, after_tag)) = text.split_once("<Code>")
        && let Some((code, _)) = after_tag.split_once("</Code>")
    {
        return io::Error::new(error.kind(), code.to_owned());
    }
    while let Some(source) = cause.source() {
        cause = source;
    }
    io::Error::new(error.kind(), cause.to_string())
}
