//! The storage of backups: a folder or a bucket. Every function blocks.

mod objects;

use std::{
    fmt,
    fs::{self, File},
    io::{self, ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use object_store::ObjectStore;
use petstore_photos::{self as photos, Bucket, Folder, to_io_error};
use petstore_system::owner::{FileOwner, create_file, create_folder_all};
use rustix::fs::{FlockOperation, OFlags, flock};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use self::objects::Object;
use super::{
    copies::{COPIES_FILE, Copies},
    names::StoredFiles,
};

/// The time limit for one request to a bucket, such as the upload of one part of a backup.
const REQUEST_LIMIT: Duration = Duration::from_mins(2);

/// The name of the file that contains the mark of the database whose backups are in the storage.
const MARK_FILE: &str = "petstore-backups.mark";

/// The storage of the backups of one database, and of their photos.
pub struct BackupStorage {
    location: Location,
    pub(crate) photos: photos::PhotoStorage,
    /// The common beginning of the paths of temporary files on the local disk, such as the lock file.
    temporary_prefix: PathBuf,
    /// The owner of the database, who also gets the files in a folder.
    owner: Option<FileOwner>,
    runtime: Runtime,
}

/// The place where the files are.
enum Location {
    Folder(PathBuf),
    Bucket(Bucket),
}

impl BackupStorage {
    /// Opens a folder for the backups of `database`. The folder may not exist yet.
    pub fn from_folder(path: PathBuf, database: &Path) -> io::Result<Self> {
        let owner = FileOwner::for_file(database);
        let photos = Folder::new(path.join("photos")).with_owner(owner).into();
        Ok(Self {
            photos,
            temporary_prefix: path.join(".petstore-backup"),
            owner,
            runtime: new_runtime()?,
            location: Location::Folder(path),
        })
    }

    /// Opens the bucket at the URL `s3://BUCKET/PREFIX`, with the settings in `variables`, for the
    /// backups of `database`. Temporary files are next to the database. The error is a message for the
    /// operator.
    pub fn from_bucket(
        url: &Url,
        variables: &[(String, String)],
        database: &Path,
    ) -> Result<Self, String> {
        let mut photos_url = url.clone();
        photos_url.set_path(&format!("{}/photos", url.path().trim_end_matches('/')));
        let database_name = database.file_name().unwrap_or_default().to_string_lossy();

        Ok(Self {
            location: Location::Bucket(open_bucket(url, variables)?),
            photos: open_bucket(&photos_url, variables)?.into(),
            temporary_prefix: database.with_file_name(format!(".{database_name}-backup")),
            owner: FileOwner::for_file(database),
            runtime: new_runtime().map_err(|error| error.to_string())?,
        })
    }

    /// Whether the storage is a bucket.
    pub(super) fn is_bucket(&self) -> bool {
        matches!(self.location, Location::Bucket(_))
    }

    /// Runs `work` to completion on the calling thread.
    pub(super) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Returns the object with this name in the bucket.
    fn object<'s>(&'s self, bucket: &'s Bucket, name: &str) -> Object<'s> {
        Object::new(&self.runtime, bucket, name)
    }

    /// Returns the path of the temporary file with this suffix, such as `.lock`.
    pub(super) fn temporary_path(&self, suffix: &str) -> PathBuf {
        let mut path = self.temporary_prefix.clone().into_os_string();
        path.push(suffix);
        path.into()
    }

    /// Locks the storage for this process until the returned file is dropped, and for the database with
    /// this mark. If another service makes backups here, or the storage has the mark of another
    /// database, the kind of the error is `ResourceBusy`. Creates the folder if it is missing.
    ///
    /// The lock of a bucket is a file next to the database, so it does not exclude processes on other
    /// machines. The mark, the list of copies, and backups that this service did not make reveal those.
    pub(super) fn lock(&self, database_mark: &str) -> io::Result<File> {
        let file = self
            .open_lock_file()
            .map_err(|error| io::Error::new(error.kind(), format!("cannot use {self}: {error}")))?;
        if let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            if error.kind() == ErrorKind::WouldBlock {
                let message = format!("another service makes backups in {self}");
                return Err(io::Error::new(ErrorKind::ResourceBusy, message));
            }
            return Err(error.into());
        }
        self.check_mark(database_mark)?;
        Ok(file)
    }

    /// Opens the lock file, and creates it if it is missing.
    fn open_lock_file(&self) -> io::Result<File> {
        if let Location::Folder(path) = &self.location {
            create_folder_all(path, self.owner)?;
        }
        let file = open_options()
            .write(true)
            .create(true)
            .mode(0o600)
            .open(self.temporary_path(".lock"))?;
        self.give_to_owner(&file);
        Ok(file)
    }

    /// Checks that the storage has this mark. Gives the mark to a storage that has none.
    fn check_mark(&self, database_mark: &str) -> io::Result<()> {
        let mut stored_mark = Vec::new();
        if let Err(error) = self.read(MARK_FILE, &mut stored_mark) {
            if error.kind() != ErrorKind::NotFound {
                return Err(error);
            }
            self.write(MARK_FILE, |file| file.write_all(database_mark.as_bytes()))?;
            return Ok(());
        }
        if stored_mark != database_mark.as_bytes() {
            let message = format!(
                "{self} has the backups of another database; name another place, or delete {MARK_FILE} there \
                 if nobody makes those any more"
            );
            return Err(io::Error::new(ErrorKind::ResourceBusy, message));
        }
        Ok(())
    }

    /// Reads the list of the copies of the database that made backups here.
    pub(super) fn read_copies(&self) -> io::Result<Copies> {
        let mut content = Vec::new();
        match self.read(COPIES_FILE, &mut content) {
            Ok(()) => Ok(Copies::parse(&String::from_utf8_lossy(&content))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Copies::default()),
            Err(error) => Err(error),
        }
    }

    /// Gives a file to the owner of the database. Ignores a failure, because some file systems have no
    /// owners.
    fn give_to_owner(&self, file: &File) {
        if let Some(owner) = self.owner {
            let _ = owner.chown(file);
        }
    }

    /// Lists the backups and the lists of photos in the storage. Ignores all other files.
    pub fn list_files(&self) -> io::Result<StoredFiles> {
        let mut files = StoredFiles::default();
        match &self.location {
            Location::Folder(path) => {
                for entry in fs::read_dir(path)? {
                    let entry = entry?;
                    // An entry without metadata has just been removed, or does not belong to the service.
                    if let Ok(metadata) = entry.metadata()
                        && metadata.is_file()
                    {
                        files.add(&entry.file_name().to_string_lossy(), metadata.len());
                    }
                }
            }
            Location::Bucket(bucket) => {
                let objects = bucket.client().list_with_delimiter(Some(bucket.prefix()));
                let list = self.block_on(objects)?;
                for object in list.objects {
                    files.add(object.location.filename().unwrap_or_default(), object.size);
                }
            }
        }
        Ok(files)
    }

    /// Writes a file with the content that `fill` writes. The file appears completely or not at all.
    /// Returns its length.
    pub(super) fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        match &self.location {
            Location::Folder(folder) => {
                let part = self.temporary_path(".part");
                // A process that was killed may have left the file behind.
                let _ = fs::remove_file(&part);
                let result = self.write_in_folder(folder, name, &part, fill);
                if result.is_err() {
                    let _ = fs::remove_file(&part);
                }
                result
            }
            Location::Bucket(bucket) => self.object(bucket, name).write(fill),
        }
    }

    /// Writes the temporary file `part`, and renames it to `name` when its content is on disk.
    fn write_in_folder(
        &self,
        folder: &Path,
        name: &str,
        part: &Path,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        let mut output = create_file(part, None)?;
        self.give_to_owner(&output);
        fill(&mut output)?;
        output.sync_all()?;
        fs::rename(part, folder.join(name))?;
        File::open(folder)?.sync_all()?;
        Ok(output.metadata()?.len())
    }

    /// Copies the content of a file to `output`. Fails for anything but a regular file, such as a link
    /// or a pipe.
    pub(super) fn read(&self, name: &str, output: &mut dyn Write) -> io::Result<()> {
        match &self.location {
            Location::Folder(folder) => {
                let mut file = open_options().open(folder.join(name))?;
                if !file.metadata()?.is_file() {
                    return Err(io::Error::other(format!("{name} is not a regular file")));
                }
                io::copy(&mut file, output)?;
                Ok(())
            }
            Location::Bucket(bucket) => {
                let object = self.object(bucket, name);
                object.read(|bytes| output.write_all(bytes))
            }
        }
    }

    /// Deletes a file.
    pub(super) fn delete(&self, name: &str) -> io::Result<()> {
        match &self.location {
            Location::Folder(folder) => fs::remove_file(folder.join(name)),
            Location::Bucket(bucket) => {
                let object = self.object(bucket, name);
                object.delete().map_err(to_io_error)
            }
        }
    }
}

impl fmt::Display for BackupStorage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Location::Folder(path) => path.display().fmt(formatter),
            Location::Bucket(bucket) => bucket.fmt(formatter),
        }
    }
}

/// Creates the runtime on which a storage waits for a bucket.
fn new_runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Returns the client for a bucket. The error is a message for the operator.
fn open_bucket(url: &Url, variables: &[(String, String)]) -> Result<Bucket, String> {
    Bucket::new(url, variables.iter().cloned(), REQUEST_LIMIT)
}

/// Returns the options to open a file in a folder of backups. They do not follow a symbolic link, and
/// do not block on a pipe.
fn open_options() -> fs::OpenOptions {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = File::options();
    options
        .read(true)
        // The same bits, as the signed integer that the standard library expects.
        .custom_flags(i32::from_ne_bytes(flags.bits().to_ne_bytes()));
    options
}
