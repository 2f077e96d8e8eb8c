//! The place where the files of photos are: a folder or a bucket.

use std::{
    fmt,
    io::{self, ErrorKind},
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio::{task, time};

use super::{
    bucket::Bucket,
    file::{PhotoFile, Size},
    files::{LIMIT, ShardFiles},
    folder::Folder,
};
use crate::domain::store_area::PhotoId;

/// See the module. Its operations end within 30 seconds.
#[derive(Debug)]
pub struct Place {
    at: At,
    /// The name of the mark of the database, if this is a service.
    owner: OnceLock<String>,
}

#[derive(Debug)]
enum At {
    Folder(Arc<Folder>),
    Bucket(Box<Bucket>),
}

/// What became of the files of a photo that were to be copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopiedFiles {
    /// Some file is not in the other place.
    pub is_missing: bool,
    /// Some file was not here.
    pub is_copied: bool,
}

impl From<Folder> for Place {
    fn from(folder: Folder) -> Self {
        Self { at: At::Folder(Arc::new(folder)), owner: OnceLock::new() }
    }
}

impl From<Bucket> for Place {
    fn from(bucket: Bucket) -> Self {
        Self { at: At::Bucket(Box::new(bucket)), owner: OnceLock::new() }
    }
}

impl Place {
    /// Names the database whose photos it has by its key, which the mark does not tell.
    pub(crate) fn belongs_to(&self, key: &[u8; 32]) {
        let hash = Sha256::digest(key);
        let beginning = u128::from_be_bytes(std::array::from_fn(|at| hash[at]));
        let _ = self.owner.set(format!("{beginning:032x}"));
    }

    /// The folder, unless it is a bucket.
    pub fn as_folder(&self) -> Option<&Folder> {
        match &self.at {
            At::Folder(folder) => Some(folder),
            At::Bucket(_) => None,
        }
    }

    /// Whether both are the same, also if two paths lead to one folder.
    pub fn is(&self, other: &Self) -> bool {
        match (&self.at, &other.at) {
            (At::Folder(one), At::Folder(other)) => one.is(other),
            (At::Bucket(one), At::Bucket(other)) => one.to_string() == other.to_string(),
            _ => false,
        }
    }

    /// Makes the folder if it is not there, or writes to the bucket and deletes that again. An error
    /// whose kind is [`ErrorKind::Other`] or [`ErrorKind::TimedOut`] may pass by itself.
    pub async fn probe(&self) -> io::Result<()> {
        match &self.at {
            At::Folder(folder) => in_folder(folder, Folder::prepare).await,
            At::Bucket(bucket) => within(bucket.probe()).await,
        }
    }

    /// Whether it also has photos of another database, of which this one does not know which files it
    /// needs. Leaves the mark of this one if it is missing, except in a folder that is not there yet.
    pub(crate) async fn is_shared(&self) -> io::Result<bool> {
        let marks = match &self.at {
            At::Folder(folder) => in_folder(folder, Folder::marks).await,
            At::Bucket(bucket) => within(bucket.marks()).await,
        };
        let (marks, owner) = (marks?, self.owner.get());
        if let Some(owner) = owner.filter(|owner| !marks.contains(owner)).cloned() {
            match &self.at {
                At::Folder(folder) => {
                    let mark = move |folder: &Folder| {
                        if folder.exists()? { folder.mark(&owner) } else { Ok(()) }
                    };
                    in_folder(folder, mark).await?;
                }
                At::Bucket(bucket) => within(bucket.mark(&owner)).await?,
            }
        }
        Ok(marks.iter().any(|mark| Some(mark) != owner))
    }

    /// Writes the files of a photo. When this returns, they are on disk, or a bucket has them. After an
    /// error, some of them may be there.
    pub async fn write(&self, id: PhotoId, files: [Bytes; 3]) -> io::Result<()> {
        let owner = self.owner.get().cloned();
        match &self.at {
            At::Folder(folder) => {
                let write = move |folder: &Folder| {
                    owner.as_deref().map_or(Ok(()), |owner| folder.mark(owner))?;
                    folder.write(id, &files)
                };
                in_folder(folder, write).await
            }
            At::Bucket(bucket) => {
                let files = Size::ALL.map(|size| PhotoFile { id, size }).into_iter().zip(files);
                let written = async {
                    if let Some(owner) = owner {
                        bucket.mark_once(&owner).await?;
                    }
                    bucket.write(files.collect()).await
                };
                within(written).await
            }
        }
    }

    /// Copies the files of a photo from another place, except those that are there. Those in a folder
    /// are on disk after [`Self::sync`].
    pub async fn copy_from(&self, other: &Self, id: PhotoId) -> io::Result<CopiedFiles> {
        let mut copied = CopiedFiles::default();
        for size in Size::ALL {
            let file = PhotoFile { id, size };
            if self.has(file).await? {
                continue;
            }
            let Some(content) = other.read(file).await? else {
                copied.is_missing = true;
                continue;
            };
            match &self.at {
                At::Folder(folder) => {
                    in_folder(folder, move |folder| folder.write_copy(file, &content)).await?;
                }
                At::Bucket(bucket) => within(bucket.write(vec![(file, content.into())])).await?,
            }
            copied.is_copied = true;
        }
        Ok(copied)
    }

    /// Makes sure that the names of the files that begin with this byte are on disk.
    pub async fn sync(&self, shard: u8) -> io::Result<()> {
        match &self.at {
            At::Folder(folder) => in_folder(folder, move |folder| folder.sync_shard(shard)).await,
            At::Bucket(_) => Ok(()),
        }
    }

    /// The content of a file; `None` if it is not there.
    pub async fn read(&self, file: PhotoFile) -> io::Result<Option<Vec<u8>>> {
        match &self.at {
            At::Folder(folder) => match folder.read_cached(file) {
                Some(content) => Ok(Some(content)),
                None => in_folder(folder, move |folder| folder.read(file)).await,
            },
            At::Bucket(bucket) => within(bucket.read(file)).await,
        }
    }

    /// Whether the file is there.
    pub async fn has(&self, file: PhotoFile) -> io::Result<bool> {
        match &self.at {
            At::Folder(folder) => in_folder(folder, move |folder| folder.has(file)).await,
            At::Bucket(bucket) => within(bucket.has(file)).await,
        }
    }

    /// What it has of the photos whose identifiers begin with this byte. Other files are ignored.
    pub async fn list(&self, shard: u8) -> io::Result<ShardFiles> {
        match &self.at {
            At::Folder(folder) => in_folder(folder, move |folder| folder.list(shard)).await,
            At::Bucket(bucket) => within(bucket.list(shard)).await,
        }
    }

    /// Deletes the files of a photo, also those that were not written completely.
    pub async fn delete(&self, id: PhotoId) -> io::Result<()> {
        match &self.at {
            At::Folder(folder) => in_folder(folder, move |folder| folder.delete(id)).await,
            At::Bucket(bucket) => within(bucket.delete(id)).await,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            At::Folder(folder) => folder.path().display().fmt(formatter),
            At::Bucket(bucket) => bucket.fmt(formatter),
        }
    }
}

/// Does blocking work in a folder. A folder that does not respond keeps its thread.
async fn in_folder<T: Send + 'static>(
    folder: &Arc<Folder>,
    work: impl FnOnce(&Folder) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let folder = Arc::clone(folder);
    within(async { task::spawn_blocking(move || work(&folder)).await.map_err(io::Error::other)? })
        .await
}

/// The result of an operation, or an error if it takes too long.
async fn within<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let slow =
        |_| io::Error::new(ErrorKind::TimedOut, "the place of photos does not respond in time");
    time::timeout(LIMIT, work).await.map_err(slow)?
}
