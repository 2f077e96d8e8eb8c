//! A folder with the files of photos. It has 256 shards: the first byte of the identifier of a
//! photo selects its shard. All functions block, except [`Folder::read_cached`].

mod reading;

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use bytes::Bytes;
use parking_lot::Mutex;
use petstore_domain::store_area::{PhotoFile, PhotoId, PhotoSize};
use petstore_system::owner::{FileOwner, create_file, create_folder, create_folder_all};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat, renameat, unlinkat};

use super::files::{OWNERS_FOLDER, PARTIAL_SUFFIX, ShardFiles, first_byte};

/// The flags with which every file is opened. A command that runs as root opens files in folders of
/// another user. A symbolic link of that user must not redirect the command, and a named pipe must
/// not block it.
const SAFE_FLAGS: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// The folder with the photos of a database, or of a backup.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The user and group that become the owner of new files.
    owner: Option<FileOwner>,
    /// Other folders with photos. Instead of copying a file that one of them has, this folder gets
    /// a hard link to it.
    link_sources: Vec<PathBuf>,
    /// Whether this process has made sure that the folders of the shards are on disk.
    is_prepared: Mutex<bool>,
    /// Whether the folder is in a local file system. Unset until the first file is read.
    is_local: OnceLock<bool>,
}

impl Folder {
    /// Creates a handle to the folder with this path, which need not exist yet.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            owner: None,
            link_sources: Vec::new(),
            is_prepared: Mutex::new(false),
            is_local: OnceLock::new(),
        }
    }

    /// Sets the owner of the files and folders that this process creates in the folder.
    pub fn with_owner(self, owner: Option<FileOwner>) -> Self {
        Self { owner, ..self }
    }

    /// Sets the folders to whose files new files are hard-linked.
    pub fn with_link_sources(self, link_sources: Vec<PathBuf>) -> Self {
        Self {
            link_sources,
            ..self
        }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether both are the same folder, even if their paths differ.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        if self.path == other.path {
            return true;
        }
        match (self.path.canonicalize(), other.path.canonicalize()) {
            (Ok(path), Ok(other_path)) => path == other_path,
            _ => false,
        }
    }

    /// Creates the folder and the folders of its shards, unless they exist.
    pub(super) fn create(&self) -> io::Result<()> {
        create_folder_all(&self.path, self.owner)?;
        let parent = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        sync(parent)?;
        self.prepare()
    }

    /// Creates the folders of the shards, but not the folder itself: if that is missing, its disk
    /// is probably not mounted, and a new folder would be on the wrong disk.
    fn prepare(&self) -> io::Result<()> {
        let mut is_prepared = self.is_prepared.lock();
        if *is_prepared {
            return Ok(());
        }

        self.reject_link_to_folder_of_another_user()?;
        for shard in 0..=u8::MAX {
            create_folder(&self.shard_path(shard), self.owner)?;
        }
        sync(&self.path)?;
        *is_prepared = true;
        Ok(())
    }

    /// Rejects a path that is a symbolic link to a folder of another user than the owner.
    /// Otherwise, the owner could create such a link, and make root write to the folder of the
    /// other user.
    fn reject_link_to_folder_of_another_user(&self) -> io::Result<()> {
        let Some(owner) = self.owner else {
            return Ok(());
        };
        let is_link = self.path.symlink_metadata()?.is_symlink();
        if is_link && !owner.has_same_user(&self.path.metadata()?) {
            let message = format!(
                "{} is a link to a folder that does not belong to the user of the database; name that \
                 folder itself, or give it to the user",
                self.path.display()
            );
            return Err(io::Error::new(ErrorKind::PermissionDenied, message));
        }
        Ok(())
    }

    /// Prepares the folder for a copy, like [`Self::prepare`], but creates the folder if it is
    /// missing.
    fn prepare_for_copy(&self) -> io::Result<()> {
        match self.prepare() {
            Err(error) if error.kind() == ErrorKind::NotFound => self.create(),
            result => result,
        }
    }

    /// Returns the marks of all databases whose photos are in the folder: the file names in its
    /// folder `owners`.
    pub(super) fn marks(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(self.path.join(OWNERS_FOLDER)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            result => result?,
        };
        let mut marks = Vec::new();
        for entry in entries {
            marks.push(entry?.file_name().to_string_lossy().into_owned());
        }
        Ok(marks)
    }

    /// Adds the mark of a database, so that other databases do not delete the files of its photos.
    /// Does nothing if the folder is missing.
    pub(super) fn add_mark(&self, mark: &str) -> io::Result<()> {
        let owners_folder = self.path.join(OWNERS_FOLDER);
        match create_folder(&owners_folder, self.owner) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            result => result?,
        }
        match create_file(&owners_folder.join(mark), self.owner) {
            Ok(_) => {}
            // Another process has added the mark first.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        sync(&owners_folder)?;
        sync(&self.path)
    }

    /// Writes the files of a photo, the smallest first.
    ///
    /// Once this returns, the files are on disk. After an error, some of them may remain.
    pub(super) fn write(&self, id: PhotoId, files: &[Bytes; PhotoSize::COUNT]) -> io::Result<()> {
        let mut result = self.prepare_and_write(id, files);
        if let Err(error) = &result
            && error.kind() == ErrorKind::NotFound
        {
            // Somebody has replaced the folder or removed empty shards after the folder was
            // prepared. Prepare it again, and retry once.
            *self.is_prepared.lock() = false;
            result = self.prepare_and_write(id, files);
        }
        if result.is_err() {
            // Free the space at once, because the disk may be full. If that fails, a background
            // task deletes the files later.
            let _ = self.delete(id);
        }
        result
    }

    /// Writes the files of a photo. Prepares the folder first.
    fn prepare_and_write(&self, id: PhotoId, files: &[Bytes; PhotoSize::COUNT]) -> io::Result<()> {
        self.prepare()?;
        for (file, content) in PhotoFile::all(id).into_iter().zip(files) {
            self.write_file(file, id, content)?;
        }
        self.sync_shard(first_byte(id))
    }

    /// Writes one file of a photo that was read from another storage. When this returns, the
    /// content is on disk, but its name is on disk only after [`Self::sync_shard`].
    pub(super) fn write_copy(&self, file: PhotoFile, content: &[u8]) -> io::Result<()> {
        self.prepare_for_copy()?;
        self.write_file(file, file.id, content)
    }

    /// Adds one file to an existing photo. Another process may do so concurrently.
    ///
    /// Until the file is complete, its name has the identifier `unused_id`, which no photo of an
    /// animal has. So if this process is killed, a background task deletes the incomplete file.
    pub(super) fn add_file(
        &self,
        file: PhotoFile,
        unused_id: PhotoId,
        content: &[u8],
    ) -> io::Result<()> {
        self.write_file(file, unused_id, content)?;
        self.sync_shard(first_byte(file.id))
    }

    /// Writes a file atomically: until its content is on disk, it has another name, with the
    /// identifier `partial_id` and a suffix.
    fn write_file(&self, file: PhotoFile, partial_id: PhotoId, content: &[u8]) -> io::Result<()> {
        let shard = self.open_shard(file)?;
        let partial_file = PhotoFile {
            id: partial_id,
            ..file
        };
        let partial_name = format!("{}{PARTIAL_SUFFIX}", partial_file.name());
        // A process that was killed may have left a file with this name. Usually there is none, so
        // an error is ignored.
        let _ = unlinkat(&shard, &partial_name, AtFlags::empty());

        let flags = SAFE_FLAGS | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mode = Mode::RUSR | Mode::WUSR;
        let mut out = File::from(openat(&shard, &partial_name, flags, mode)?);
        if let Some(owner) = self.owner {
            owner.chown(&out)?;
        }
        out.write_all(content)?;
        out.sync_all()?;
        Ok(renameat(&shard, partial_name, &shard, file.name())?)
    }

    /// Flushes the names of the files in a shard to disk.
    pub(super) fn sync_shard(&self, shard: u8) -> io::Result<()> {
        sync(&self.shard_path(shard))
    }

    /// Returns the length of a file in bytes. Returns `None` if the file does not exist.
    pub(super) fn length(&self, file: PhotoFile) -> io::Result<Option<u64>> {
        match self.file_path(file).symlink_metadata() {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates a hard link to the file, if one of the link sources has it with this length. Returns
    /// whether a link was created.
    pub(super) fn link(&self, file: PhotoFile, length: u64) -> io::Result<bool> {
        if self.link_sources.is_empty() {
            return Ok(false);
        }
        self.prepare_for_copy()?;
        let shard = self.open_shard(file)?;
        for source in &self.link_sources {
            let source = Self::new(source.clone());
            // A source that cannot be read counts as one without the file.
            let has_file = source
                .length(file)
                .is_ok_and(|source_length| source_length == Some(length));
            if !has_file {
                continue;
            }
            let source_path = source.file_path(file);
            let result = linkat(CWD, source_path, &shard, file.name(), AtFlags::empty());
            // If the link fails, as it does between two file systems, the next source may work, or
            // the caller copies the file.
            if result.is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lists the files of the photos whose identifiers begin with the byte `shard`. Ignores files
    /// that do not belong to such a photo.
    pub(super) fn list(&self, shard: u8) -> io::Result<ShardFiles> {
        let mut files = ShardFiles::default();
        let entries = match fs::read_dir(self.shard_path(shard)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(files),
            result => result?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            match entry.metadata() {
                Ok(metadata) => files.add(shard, &name.to_string_lossy(), metadata.len()),
                // The file was deleted or renamed in the meantime.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(files)
    }

    /// Deletes all files of a photo, including incomplete ones.
    pub(super) fn delete(&self, id: PhotoId) -> io::Result<()> {
        for file in PhotoFile::all(id) {
            let path = self.file_path(file);
            // The name of an incomplete file ends with `.jpg` and the suffix.
            delete_if_present(&path.with_extension(format!("jpg{PARTIAL_SUFFIX}")))?;
            delete_if_present(&path)?;
        }
        Ok(())
    }

    fn file_path(&self, file: PhotoFile) -> PathBuf {
        self.shard_path(first_byte(file.id)).join(file.name())
    }

    /// Opens the folder of the shard that a file belongs to. If `self.owner` is set, fails if the
    /// folder of the shard belongs to another user.
    fn open_shard(&self, file: PhotoFile) -> io::Result<OwnedFd> {
        let path = self.shard_path(first_byte(file.id));
        let flags = SAFE_FLAGS | OFlags::DIRECTORY;
        let shard = File::from(openat(CWD, &path, flags, Mode::empty())?);
        // `reject_link_to_folder_of_another_user` has checked the path, but the owner may have
        // replaced the folder with a link afterwards.
        if let Some(owner) = self.owner
            && !owner.has_same_user(&shard.metadata()?)
        {
            let message = format!(
                "{} belongs to another user than the database",
                path.display()
            );
            return Err(io::Error::new(ErrorKind::PermissionDenied, message));
        }
        Ok(shard.into())
    }

    /// Returns the path of a shard: `…/0a` for the byte 10.
    fn shard_path(&self, shard: u8) -> PathBuf {
        self.path.join(format!("{shard:02x}"))
    }
}

fn delete_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Flushes the file names in a folder to disk.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
