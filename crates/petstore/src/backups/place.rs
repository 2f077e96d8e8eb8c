//! Where backups are: a folder or a bucket. Every function blocks.

use std::{
    fmt,
    fs::{self, File},
    io::{self, ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use crc32fast::Hasher;
use futures_util::TryStreamExt;
use object_store::{
    ObjectStore, ObjectStoreExt, WriteMultipart, aws::AmazonS3, path::Path as Object,
};
use petstore_photos::{self as photos, Bucket, Folder};
use petstore_system::owner::{Owner, make_file, make_folder};
use rustix::fs::{FlockOperation, OFlags, flock};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use super::{
    copies::{COPIES, Copies},
    names::Own,
};

/// How long one request to a bucket may take, such as one with a part of a backup.
const REQUEST_LIMIT: Duration = Duration::from_mins(2);

/// The length of a part, of which two are in memory at once. A service accepts 10,000 of them: 80 GiB.
const PART: usize = 8 << 20;

/// The file that says of which database a place has the backups.
const MARK: &str = "petstore-backups.mark";

/// See the module.
pub struct Place {
    at: At,
    pub(crate) photos: photos::Place,
    /// The first part of the paths of unfinished files.
    unfinished: PathBuf,
    owner: Option<Owner>,
    runtime: Runtime,
}

enum At {
    Folder(PathBuf),
    Bucket(Bucket),
}

impl Place {
    /// Returns a folder, which may not exist yet, for the backups of this database.
    pub fn folder(path: PathBuf, database: &Path) -> io::Result<Self> {
        let owner = Owner::for_file(database);
        let photos = Folder::new(path.join("photos"))
            .with(owner, Vec::new())
            .into();
        let unfinished = path.join(".petstore-backup");
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self {
            at: At::Folder(path),
            photos,
            unfinished,
            owner,
            runtime,
        })
    }

    /// Returns the bucket of the URL `s3://BUCKET/PREFIX`, with the settings in these variables.
    /// What is not finished is next to the database.
    pub fn bucket(
        url: &Url,
        variables: &[(String, String)],
        database: &Path,
    ) -> Result<Self, String> {
        let open = |url: &Url| Bucket::new(url, variables.iter().cloned(), REQUEST_LIMIT);
        let mut photos = url.clone();
        photos.set_path(&format!("{}/photos", url.path().trim_end_matches('/')));
        let name = database.file_name().unwrap_or_default().to_string_lossy();
        let unfinished = database.with_file_name(format!(".{name}-backup"));
        let place = Self::folder(PathBuf::new(), database).map_err(|error| error.to_string())?;
        Ok(Self {
            at: At::Bucket(open(url)?),
            photos: open(&photos)?.into(),
            unfinished,
            ..place
        })
    }

    pub(super) fn is_bucket(&self) -> bool {
        matches!(self.at, At::Bucket(_))
    }

    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Returns the path of an unfinished file.
    pub(super) fn unfinished(&self, ending: &str) -> PathBuf {
        let mut path = self.unfinished.clone().into_os_string();
        path.push(ending);
        path.into()
    }

    /// Makes sure that only this process makes backups here until the result is dropped, and only those of
    /// the database with this mark. If another one does, the kind of the error is `ResourceBusy`. Makes a
    /// folder that is missing.
    pub(super) fn lock(&self, mark: &str) -> io::Result<File> {
        let unusable =
            |error: io::Error| io::Error::new(error.kind(), format!("cannot use {self}: {error}"));
        if let At::Folder(path) = &self.at {
            make_folder(path, self.owner).map_err(unusable)?;
        }
        let mut options = open_here();
        let file = options
            .write(true)
            .create(true)
            .mode(0o600)
            .open(self.unfinished(".lock"));
        let file = file.map_err(unusable)?;
        self.give(&file);
        let busy = |what| Err(io::Error::new(ErrorKind::ResourceBusy, what));
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return busy(format!("another service makes backups in {self}"));
            }
            locked => locked?,
        }
        let mut found = Vec::new();
        match self.read(MARK, &mut found) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.write(MARK, |out| out.write_all(mark.as_bytes()))?;
            }
            read if read.is_ok() && found != mark.as_bytes() => {
                return busy(format!(
                    "{self} has the backups of another database; name another place, or delete {MARK} there \
                     if nobody makes those any more"
                ));
            }
            read => read?,
        }
        Ok(file)
    }

    /// Returns the copies of the database that made backups here.
    pub(super) fn copies(&self) -> io::Result<Copies> {
        let mut content = Vec::new();
        match self.read(COPIES, &mut content) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Copies::default()),
            read => read.map(|()| Copies::parse(&String::from_utf8_lossy(&content))),
        }
    }

    /// Some disks for backups know no owners.
    fn give(&self, file: &File) {
        let _ = self.owner.map(|owner| owner.give(file));
    }

    /// Its own files.
    pub fn own(&self) -> io::Result<Own> {
        let mut own = Own::default();
        match &self.at {
            At::Folder(path) => {
                for entry in fs::read_dir(path)? {
                    let entry = entry?;
                    if let Ok(found) = entry.metadata()
                        && found.is_file()
                    {
                        own.note(&entry.file_name().to_string_lossy(), found.len());
                    }
                }
            }
            At::Bucket(bucket) => {
                let (client, prefix) = bucket.objects();
                for object in self.wait(client.list_with_delimiter(Some(prefix)))?.objects {
                    own.note(object.location.filename().unwrap_or_default(), object.size);
                }
            }
        }
        Ok(own)
    }

    /// Writes a file, which is there completely or not at all. Returns its length.
    pub(super) fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        let folder = match &self.at {
            At::Folder(folder) => folder,
            At::Bucket(bucket) => return self.send(object(bucket, name), fill),
        };
        let part = self.unfinished(".part");
        let _ = fs::remove_file(&part);
        let mut out = make_file(&part, None)?;
        self.give(&out);
        let written = fill(&mut out).and_then(|()| {
            out.sync_all()?;
            fs::rename(&part, folder.join(name))?;
            File::open(folder)?.sync_all()?;
            Ok(out.metadata()?.len())
        });
        written.inspect_err(|_| drop(fs::remove_file(&part)))
    }

    fn send(
        &self,
        (client, object): (&AmazonS3, Object),
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        let upload = self.wait(client.put_multipart(&object))?;
        let upload = WriteMultipart::new_with_chunk_size(upload, PART);
        let mut parts = Parts {
            place: self,
            upload,
            sum: Sum::default(),
        };
        if let Err(error) = fill(&mut parts) {
            let _ = self.wait(parts.upload.abort());
            return Err(error);
        }
        self.wait(parts.upload.finish())?;
        // A bucket can acknowledge what it does not keep, or keep other bytes.
        let kept = self.read_sum(client, &object)?;
        let length = parts.sum.length;
        if kept == parts.sum {
            return Ok(length);
        }
        let _ = self.wait(client.delete(&object));
        let kept_length = kept.length;
        Err(io::Error::other(if kept_length == length {
            format!("the bucket has changed bytes of {object}")
        } else {
            format!("the bucket has {kept_length} of {length} bytes of {object}")
        }))
    }

    /// Reads an object to its end, and returns its length and its checksum.
    fn read_sum(&self, client: &AmazonS3, object: &Object) -> io::Result<Sum> {
        let mut sum = Sum::default();
        let mut pieces = self.wait(client.get(object))?.into_stream();
        while let Some(piece) = self.wait(pieces.try_next())? {
            sum.add(&piece);
        }
        Ok(sum)
    }

    /// Reads a file. Neither a link nor a pipe counts as one.
    pub(super) fn read(&self, name: &str, into: &mut dyn Write) -> io::Result<()> {
        match &self.at {
            At::Folder(folder) => {
                let mut file = open_here().open(folder.join(name))?;
                if !file.metadata()?.is_file() {
                    return Err(io::Error::other(format!("{name} is not a regular file")));
                }
                io::copy(&mut file, into).map(drop)
            }
            At::Bucket(bucket) => {
                let (client, object) = object(bucket, name);
                let mut pieces = self.wait(client.get(&object))?.into_stream();
                while let Some(piece) = self.wait(pieces.try_next())? {
                    into.write_all(&piece)?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn delete(&self, name: &str) -> io::Result<()> {
        match &self.at {
            At::Folder(folder) => fs::remove_file(folder.join(name)),
            At::Bucket(bucket) => {
                let (client, object) = object(bucket, name);
                Ok(self.wait(client.delete(&object))?)
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            At::Folder(path) => path.display().fmt(formatter),
            At::Bucket(bucket) => bucket.fmt(formatter),
        }
    }
}

/// Returns a link must not lead this process elsewhere, nor a pipe hold it.
fn open_here() -> fs::OpenOptions {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = File::options();
    options
        .read(true)
        .custom_flags(i32::from_ne_bytes(flags.bits().to_ne_bytes()));
    options
}

fn object<'b>(bucket: &'b Bucket, name: &str) -> (&'b AmazonS3, Object) {
    let (client, prefix) = bucket.objects();
    (client, prefix.clone().join(name))
}

/// The length and the checksum (CRC-32) of a content.
#[derive(Default)]
struct Sum {
    length: u64,
    checksum: Hasher,
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.checksum.update(bytes);
    }
}

impl PartialEq for Sum {
    fn eq(&self, other: &Self) -> bool {
        let own = self.checksum.clone().finalize();
        self.length == other.length && own == other.checksum.clone().finalize()
    }
}

/// An object that is sent in parts.
struct Parts<'p> {
    place: &'p Place,
    upload: WriteMultipart,
    sum: Sum,
}

impl Write for Parts<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.place.wait(async {
            self.upload.wait_for_capacity(1).await?;
            self.upload.write(bytes);
            self.sum.add(bytes);
            Ok(bytes.len())
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
