//! A folder with the files of photos, in 256 folders by the first byte of their identifiers. Every
//! function blocks.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;

use super::{
    file::{PhotoFile, Size},
    files::{OWNERS, PARTIAL, ShardFiles, first_byte},
};
use crate::domain::store_area::PhotoId;

/// See the module.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Whether this process knows that the folders in it are on disk.
    is_prepared: Mutex<bool>,
}

impl Folder {
    /// The folder with this path, which may not exist yet.
    pub fn new(path: PathBuf) -> Self {
        Self { path, is_prepared: Mutex::new(false) }
    }

    /// Whether both are the same, also if two paths lead to it.
    pub(super) fn is(&self, other: &Self) -> bool {
        let [own, others] = [self, other].map(|folder| folder.path.canonicalize().ok());
        self.path == other.path || own.is_some() && own == others
    }

    /// The names of the marks of all databases whose photos it has.
    pub(super) fn marks(&self) -> io::Result<Vec<String>> {
        let owners = match fs::read_dir(self.path.join(OWNERS)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            owners => owners?,
        };
        owners.map(|owner| Ok(owner?.file_name().to_string_lossy().into_owned())).collect()
    }

    /// Whether it is there.
    pub(crate) fn exists(&self) -> io::Result<bool> {
        self.path.try_exists()
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder and those in it, if they are not there.
    pub(super) fn prepare(&self) -> io::Result<()> {
        let mut is_prepared = self.is_prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_prepared {
            return Ok(());
        }
        fs::create_dir_all(&self.path)?;
        sync(self.path.parent().filter(|parent| !parent.as_os_str().is_empty()))?;
        for shard in 0..=u8::MAX {
            match fs::create_dir(self.shard(shard)) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        sync(Some(&self.path))?;
        *is_prepared = true;
        Ok(())
    }

    /// The same, and leaves the mark of a database.
    pub(super) fn mark(&self, owner: &str) -> io::Result<()> {
        self.prepare()?;
        let owners = self.path.join(OWNERS);
        let mark = owners.join(owner);
        if mark.try_exists()? {
            return Ok(());
        }
        fs::create_dir_all(&owners)?;
        File::create(mark)?;
        sync(Some(&owners))?;
        sync(Some(&self.path))
    }

    /// Writes the files of a photo, the smallest first. When this returns, they are on disk. After an
    /// error, some of them may be there.
    pub(super) fn write(&self, id: PhotoId, files: &[Bytes; 3]) -> io::Result<()> {
        let written = || {
            self.prepare()?;
            for (size, content) in Size::ALL.into_iter().zip(files) {
                self.write_file(PhotoFile { id, size }, content)?;
            }
            self.sync_shard(first_byte(id))
        };
        written().inspect_err(|_| {
            // Otherwise, a task deletes them later. A full disk gets their space back now.
            let _ = self.delete(id);
        })
    }

    /// Writes one file of a photo from another place. Its content is on disk then, and its name after
    /// [`Self::sync_shard`].
    pub(super) fn write_copy(&self, file: PhotoFile, content: &[u8]) -> io::Result<()> {
        self.prepare()?;
        self.write_file(file, content)
    }

    fn write_file(&self, file: PhotoFile, content: &[u8]) -> io::Result<()> {
        let path = self.of(file);
        let partial = path.with_extension(format!("jpg{PARTIAL}"));
        let mut out = File::create(&partial)?;
        out.write_all(content)?;
        out.sync_all()?;
        fs::rename(partial, path)
    }

    /// Makes sure that the names of the files that begin with this byte are on disk.
    pub(super) fn sync_shard(&self, shard: u8) -> io::Result<()> {
        sync(Some(&self.shard(shard)))
    }

    /// The content of a file; `None` if it is not there.
    pub(super) fn read(&self, file: PhotoFile) -> io::Result<Option<Vec<u8>>> {
        let mut open = match File::open(self.of(file)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            open => open?,
        };
        let length = usize::try_from(open.metadata()?.len()).unwrap_or_default();
        let mut content = Vec::with_capacity(length + 1);
        open.read_to_end(&mut content)?;
        Ok(Some(content))
    }

    /// Whether the file is there.
    pub(super) fn has(&self, file: PhotoFile) -> io::Result<bool> {
        self.of(file).try_exists()
    }

    /// What it has of the photos whose identifiers begin with this byte. Other files are ignored.
    pub(super) fn list(&self, shard: u8) -> io::Result<ShardFiles> {
        let mut found = ShardFiles::default();
        let entries = match fs::read_dir(self.shard(shard)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            match entry.metadata() {
                Ok(metadata) => found.note(shard, &name.to_string_lossy(), metadata.len()),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Deletes the files of a photo, also those that were not written completely.
    pub(super) fn delete(&self, id: PhotoId) -> io::Result<()> {
        for size in Size::ALL {
            let path = self.of(PhotoFile { id, size });
            for path in [path.with_extension(format!("jpg{PARTIAL}")), path] {
                match fs::remove_file(path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn of(&self, file: PhotoFile) -> PathBuf {
        self.shard(first_byte(file.id)).join(file.name())
    }

    fn shard(&self, byte: u8) -> PathBuf {
        self.path.join(format!("{byte:02x}"))
    }
}

/// Makes sure that the names in a folder are on disk.
fn sync(folder: Option<&Path>) -> io::Result<()> {
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
