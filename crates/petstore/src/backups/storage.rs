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
use petstore_photos::{Bucket, Folder, PhotoStorage, to_io_error};
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

/// The name of the file with the mark of the database whose backups are in the storage. See
/// [`Backups::database_mark`](super::Backups::database_mark).
const MARK_FILE: &str = "petstore-backups.mark";

/// The storage of the backups of one database, and of their photos.
pub struct BackupStorage {
    location: Location,
    /// The storage of the photos that the backups need, in the same folder or bucket.
    pub(crate) photos: PhotoStorage,
    /// The common beginning of the paths of temporary files on the local disk, such as the lock
    /// file.
    temporary_prefix: PathBuf,
    /// The owner of the database, who also gets the files in a folder.
    owner: Option<FileOwner>,
    /// The runtime on which the functions wait for a bucket.
    runtime: Runtime,
}

/// The folder or the bucket with the files.
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

    /// Opens the bucket at the URL `s3://BUCKET/PREFIX` for the backups of `database`. Its
    /// temporary files are in the folder of the database.
    ///
    /// `variables` are environment variables, of which some are settings of the bucket, such as its
    /// credentials. The error is a message for the operator.
    pub fn from_bucket(
        url: &Url,
        variables: &[(String, String)],
        database: &Path,
    ) -> Result<Self, String> {
        let mut photos_url = url.clone();
        photos_url.set_path(&format!("{}/photos", url.path().trim_end_matches('/')));
        // The database is a file, so its path has a name.
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

    /// Locks the storage for this process until the returned file is dropped. Writes the mark of
    /// the database to the storage. Creates the folder if it is missing.
    ///
    /// If another service makes backups here, or the storage has the mark of another database, the
    /// kind of the error is `ResourceBusy`.
    ///
    /// The lock of a bucket is a file next to the database, so it does not exclude services on
    /// other machines. Such services are found by the mark, by the list of copies, and by backups
    /// that this service did not make.
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
        self.ensure_mark(database_mark)?;
        Ok(file)
    }

    /// Opens the lock file, and creates it if it is missing.
    fn open_lock_file(&self) -> io::Result<File> {
        if let Location::Folder(path) = &self.location {
            create_folder_all(path, self.owner)?;
        }
        let file = careful_open_options()
            .write(true)
            .create(true)
            .mode(0o600)
            .open(self.temporary_path(".lock"))?;
        self.give_to_owner(&file);
        Ok(file)
    }

    /// Makes sure that the storage has this mark. Writes the mark if the storage has none, and
    /// fails if the storage has another one.
    fn ensure_mark(&self, database_mark: &str) -> io::Result<()> {
        let mut stored_mark = Vec::new();
        match self.read(MARK_FILE, &mut stored_mark) {
            Ok(()) if stored_mark == database_mark.as_bytes() => Ok(()),
            Ok(()) => {
                let message = format!(
                    "{self} has the backups of another database; name another place, or delete {MARK_FILE} there \
                     if nobody makes those any more"
                );
                Err(io::Error::new(ErrorKind::ResourceBusy, message))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.write(MARK_FILE, |file| file.write_all(database_mark.as_bytes()))?;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Reads the list of the copies of the database that made backups here. The list is empty if
    /// its file does not exist.
    pub(super) fn read_copies(&self) -> io::Result<Copies> {
        let mut content = Vec::new();
        match self.read(COPIES_FILE, &mut content) {
            Ok(()) => Ok(Copies::parse(&String::from_utf8_lossy(&content))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Copies::default()),
            Err(error) => Err(error),
        }
    }

    /// Gives a file to the owner of the database. Ignores a failure, because some file systems have
    /// no owners.
    fn give_to_owner(&self, file: &File) {
        if let Some(owner) = self.owner {
            let _ = owner.chown(file);
        }
    }

    /// Lists the backups and the lists of photos in the storage. Ignores all other files.
    pub fn list_files(&self) -> io::Result<StoredFiles> {
        match &self.location {
            Location::Folder(path) => list_folder(path),
            Location::Bucket(bucket) => self.list_bucket(bucket),
        }
    }

    /// Lists the files of the service in a bucket, directly below its prefix.
    fn list_bucket(&self, bucket: &Bucket) -> io::Result<StoredFiles> {
        let listing = bucket.client().list_with_delimiter(Some(bucket.prefix()));
        let mut files = StoredFiles::default();
        for object in self.block_on(listing)?.objects {
            // An object without a name is not a file of the service, and is ignored.
            files.add(object.location.filename().unwrap_or_default(), object.size);
        }
        Ok(files)
    }

    /// Writes a file, and returns its length. The file appears completely or not at all. `fill`
    /// gets the new file, and writes its content.
    pub(super) fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        match &self.location {
            Location::Folder(folder) => self.write_to_folder(folder, name, fill),
            Location::Bucket(bucket) => self.object(bucket, name).write(fill),
        }
    }

    /// Writes a file in a folder, like [`Self::write`]. Until the file is complete, it is a
    /// temporary file, which is removed after a failure.
    fn write_to_folder(
        &self,
        folder: &Path,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        let temporary_file = self.temporary_path(".part");
        // A process that was killed may have left the file behind. If it cannot be removed, the new
        // one cannot be created.
        let _ = fs::remove_file(&temporary_file);
        let result = self.fill_and_rename(&temporary_file, folder, name, fill);
        if result.is_err() {
            // Even if the removal fails, the first error is the one to report.
            let _ = fs::remove_file(&temporary_file);
        }
        result
    }

    /// Creates and fills the temporary file. When its content is on disk, renames it to `name` in
    /// the folder. Returns its length.
    fn fill_and_rename(
        &self,
        temporary_file: &Path,
        folder: &Path,
        name: &str,
        write_content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        // The owner is not given here, because `create_file` would fail on a file system without
        // owners.
        let mut file = create_file(temporary_file, None)?;
        self.give_to_owner(&file);
        write_content(&mut file)?;
        file.sync_all()?;
        fs::rename(temporary_file, folder.join(name))?;
        // The new name is on disk only when the folder is.
        File::open(folder)?.sync_all()?;
        Ok(file.metadata()?.len())
    }

    /// Copies the content of a file to `output`. Fails for anything but a regular file, such as a
    /// link or a pipe.
    pub(super) fn read(&self, name: &str, output: &mut dyn Write) -> io::Result<()> {
        match &self.location {
            Location::Folder(folder) => {
                let mut file = careful_open_options().open(folder.join(name))?;
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

/// Lists the files of the service in a folder.
fn list_folder(path: &Path) -> io::Result<StoredFiles> {
    let mut files = StoredFiles::default();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        // An entry without metadata has just been removed, or does not belong to the service.
        if let Ok(metadata) = entry.metadata()
            && metadata.is_file()
        {
            files.add(&entry.file_name().to_string_lossy(), metadata.len());
        }
    }
    Ok(files)
}

/// Creates the runtime on which a storage waits for a bucket.
fn new_runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Returns the client for a bucket. The error is a message for the operator.
fn open_bucket(url: &Url, variables: &[(String, String)]) -> Result<Bucket, String> {
    Bucket::new(url, variables.iter().cloned(), REQUEST_LIMIT)
}

/// Returns the options to open a file in a folder of backups for reading. With them, opening a file
/// does not follow a symbolic link, and does not block on a pipe. The caller can add options, such
/// as for writing.
fn careful_open_options() -> fs::OpenOptions {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = File::options();
    options
        .read(true)
        // The same bits, as the signed integer that the standard library expects.
        .custom_flags(i32::from_ne_bytes(flags.bits().to_ne_bytes()));
    options
}
