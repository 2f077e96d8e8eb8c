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
    files::{LIMIT, Piece, ShardFiles, first_byte},
    folder::Folder,
};

/// How many photos are copied at once, because most of the time a request to a bucket waits.
pub const AT_ONCE: usize = 16;

/// See the module. Its operations end within 30 seconds.
#[derive(Debug)]
pub struct Place(At);

#[derive(Debug)]
enum At {
    Folder(Arc<Folder>),
    Bucket(Box<Bucket>),
}

/// The outcome of copying the files of a photo.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CopiedFiles {
    /// Some file is not in the other place.
    pub is_missing: bool,
    /// Some file was not here.
    pub(crate) is_copied: bool,
}

impl From<Folder> for Place {
    fn from(folder: Folder) -> Self {
        Self(At::Folder(Arc::new(folder)))
    }
}

impl From<Bucket> for Place {
    fn from(bucket: Bucket) -> Self {
        Self(At::Bucket(Box::new(bucket)))
    }
}

impl Place {
    /// Returns the folder, unless it is a bucket.
    pub fn as_folder(&self) -> Option<&Folder> {
        match &self.0 {
            At::Folder(folder) => Some(folder),
            At::Bucket(_) => None,
        }
    }

    /// Whether both are the same, even if two paths lead to one folder.
    pub fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (At::Folder(one), At::Folder(other)) => one.is(other),
            (At::Bucket(one), At::Bucket(other)) => one.to_string() == other.to_string(),
            _ => false,
        }
    }

    /// Makes the folder if it is not there, or writes to the bucket and deletes that again. An error
    /// whose kind is [`ErrorKind::Other`] or [`ErrorKind::TimedOut`] may pass by itself.
    pub async fn probe(&self) -> io::Result<()> {
        match &self.0 {
            At::Folder(folder) => in_folder(folder, Folder::make).await,
            At::Bucket(bucket) => within(bucket.probe()).await,
        }
    }

    /// Returns the marks of all databases whose photos it has.
    pub async fn marks(&self) -> io::Result<Vec<String>> {
        let mut marks = match &self.0 {
            At::Folder(folder) => in_folder(folder, Folder::marks).await?,
            At::Bucket(bucket) => within(bucket.marks()).await?,
        };
        // A place of photos can have been made in another one.
        marks.retain(|mark| mark.len() == 32 && mark.bytes().all(|byte| byte.is_ascii_hexdigit()));
        Ok(marks)
    }

    /// Returns the marks of other databases, of which this one does not know which files they need.
    /// Leaves the mark of this one if it is missing, except in a folder that is not there.
    pub async fn other_marks(&self, own: &str) -> io::Result<Vec<String>> {
        let mut marks = self.marks().await?;
        let all = marks.len();
        marks.retain(|mark| mark != own);
        if marks.len() == all {
            let own = own.to_owned();
            match &self.0 {
                At::Folder(folder) => in_folder(folder, move |folder| folder.mark(&own)).await?,
                At::Bucket(bucket) => within(bucket.mark(&own)).await?,
            }
        }
        Ok(marks)
    }

    /// Writes the files of a photo. When this returns, they are on disk, or a bucket has them. After an
    /// error, some of them may be there.
    pub async fn write(&self, id: PhotoId, files: [Bytes; PhotoSize::COUNT]) -> io::Result<()> {
        match &self.0 {
            At::Folder(folder) => in_folder(folder, move |folder| folder.write(id, &files)).await,
            At::Bucket(bucket) => {
                let files = PhotoFile::all(id).into_iter().zip(files);
                within(bucket.write(files.collect())).await
            }
        }
    }

    /// Adds a file to a photo, like [`Self::write`]. No photo has the identifier `unused`, which begins
    /// with the same byte.
    pub(super) async fn add(
        &self,
        file: PhotoFile,
        unused: PhotoId,
        content: Bytes,
    ) -> io::Result<()> {
        match &self.0 {
            At::Folder(folder) => {
                in_folder(folder, move |folder| folder.add(file, unused, &content)).await
            }
            At::Bucket(bucket) => within(bucket.write(vec![(file, content)])).await,
        }
    }

    /// Copies the files of a photo from another place, except those that are there. Those in a folder
    /// are on disk after [`Self::sync`].
    pub(crate) async fn copy_from(&self, other: &Self, id: PhotoId) -> io::Result<CopiedFiles> {
        let mut copied = CopiedFiles::default();
        for file in PhotoFile::all(id) {
            // A file of another length is damaged.
            let length = match (self.length(file).await?, other.length(file).await?) {
                (None, None) => {
                    copied.is_missing |= !file.size.is_made_later();
                    continue;
                }
                (Some(_), None) => continue,
                (own, Some(length)) if own == Some(length) => continue,
                (_, Some(length)) => length,
            };
            if let At::Folder(folder) = &self.0
                && in_folder(folder, move |folder| folder.link(file, length)).await?
            {
                continue;
            }
            let Some(content) = other.read(file).await? else {
                copied.is_missing = true;
                continue;
            };
            match &self.0 {
                At::Folder(folder) => {
                    in_folder(folder, move |folder| folder.write_copy(file, &content)).await?;
                }
                At::Bucket(bucket) => within(bucket.write(vec![(file, content.into())])).await?,
            }
            copied.is_copied = true;
        }
        Ok(copied)
    }

    /// Copies the files of photos from another place, except those that are there. Returns how many photos
    /// were copied, and those of which files are missing. All are on disk then.
    pub async fn copy_all_from(
        &self,
        other: &Self,
        photos: &[PhotoId],
    ) -> io::Result<(u64, Vec<PhotoId>)> {
        let mut changed = [false; 256];
        let mut copied = 0;
        let mut missing = Vec::new();
        for photos in photos.chunks(AT_ONCE) {
            let copy = async |id| Ok::<_, io::Error>((id, self.copy_from(other, id).await?));
            for (id, files) in try_join_all(photos.iter().map(|&id| copy(id))).await? {
                // What is not copied may have got a second name.
                changed[usize::from(first_byte(id))] |= files.is_copied || !files.is_missing;
                copied += u64::from(files.is_copied);
                missing.extend(files.is_missing.then_some(id));
            }
        }
        for shard in (0..=u8::MAX).filter(|&shard| changed[usize::from(shard)]) {
            self.sync(shard).await?;
        }
        Ok((copied, missing))
    }

    /// Makes sure that the names of the files that begin with this byte are on disk.
    pub async fn sync(&self, shard: u8) -> io::Result<()> {
        match &self.0 {
            At::Folder(folder) => in_folder(folder, move |folder| folder.sync_shard(shard)).await,
            At::Bucket(_) => Ok(()),
        }
    }

    /// Returns the content of a file; `None` if it is not there.
    pub async fn read(&self, file: PhotoFile) -> io::Result<Option<Vec<u8>>> {
        Ok(self
            .read_piece(file, 0, usize::MAX)
            .await?
            .map(|(content, _)| content))
    }

    /// Returns at most so many bytes of a file from this position on; `None` if it is not there.
    pub(super) async fn read_piece(
        &self,
        file: PhotoFile,
        at: u64,
        most: usize,
    ) -> io::Result<Option<Piece>> {
        match &self.0 {
            At::Folder(folder) => match folder.read_cached(file, at, most) {
                Some(piece) => Ok(Some(piece)),
                None => in_folder(folder, move |folder| folder.read(file, at, most)).await,
            },
            At::Bucket(bucket) => within(bucket.read(file, at, most)).await,
        }
    }

    /// Returns the length of a file in bytes; `None` if it is not there.
    pub async fn length(&self, file: PhotoFile) -> io::Result<Option<u64>> {
        match &self.0 {
            At::Folder(folder) => in_folder(folder, move |folder| folder.length(file)).await,
            At::Bucket(bucket) => within(bucket.length(file)).await,
        }
    }

    /// Returns the files that it has of the photos whose identifiers begin with this byte. Other
    /// files are ignored.
    pub async fn list(&self, shard: u8) -> io::Result<ShardFiles> {
        match &self.0 {
            At::Folder(folder) => in_folder(folder, move |folder| folder.list(shard)).await,
            At::Bucket(bucket) => within(bucket.list(shard)).await,
        }
    }

    /// Deletes the files of a photo, also those that were not written completely.
    pub async fn delete(&self, id: PhotoId) -> io::Result<()> {
        match &self.0 {
            At::Folder(folder) => in_folder(folder, move |folder| folder.delete(id)).await,
            At::Bucket(bucket) => within(bucket.delete(id)).await,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            At::Folder(folder) => folder.path().display().fmt(formatter),
            At::Bucket(bucket) => bucket.fmt(formatter),
        }
    }
}

/// Returns the name of the mark of a database with this key. Who sees it learns neither the key nor
/// the incarnation.
pub fn mark_of(key: &[u8; 32], incarnation: &str) -> String {
    let hash = Sha256::new()
        .chain_update(key)
        .chain_update(incarnation)
        .finalize();
    let beginning = u128::from_be_bytes(std::array::from_fn(|at| hash[at]));
    format!("{beginning:032x}")
}

/// Does blocking work in a folder. A folder that does not respond keeps its thread.
async fn in_folder<T: Send + 'static>(
    folder: &Arc<Folder>,
    work: impl FnOnce(&Folder) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let folder = Arc::clone(folder);
    within(async {
        task::spawn_blocking(move || work(&folder))
            .await
            .map_err(io::Error::other)?
    })
    .await
}

/// Returns the result of an operation, or an error if it takes too long.
async fn within<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let slow = |_| {
        io::Error::new(
            ErrorKind::TimedOut,
            "the place of photos does not respond in time",
        )
    };
    time::timeout(LIMIT, work)
        .await
        .map_err(slow)?
        .map_err(brief)
}

/// Returns the error of a bucket in few words: the code of its service, or the last cause.
fn brief(error: io::Error) -> io::Error {
    let Some(mut cause) = error.get_ref().map(|cause| cause as &dyn Error) else {
        return error;
    };
    let text = cause.to_string();
    let code = text
        .split_once("<Code>")
        .and_then(|(_, rest)| rest.split_once("</Code>"));
    while let Some(source) = cause.source() {
        cause = source;
    }
    let reason = code.map_or_else(|| cause.to_string(), |(code, _)| code.to_owned());
    io::Error::new(error.kind(), reason)
}
