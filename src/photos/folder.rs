//! A folder with the files of photos, in 256 folders by the first byte of their identifiers. Every
//! function blocks.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

use sha2::{Digest, Sha256};

use super::{
    decode,
    file::{PhotoFile, Size},
};
use crate::domain::store_area::PhotoId;

/// The folder in it with an empty file for each database whose photos it has.
const OWNERS: &str = "owners";

/// After the name of a file that is being written.
const PARTIAL: &str = ".part";

/// See the module.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The database of the service, if this is a service.
    owner: OnceLock<String>,
    /// Whether this process knows that the folders in it are on disk.
    is_prepared: Mutex<bool>,
}

/// What a folder has of the photos whose identifiers begin with one byte.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ShardFiles {
    /// How many files each has, also those that were not written completely.
    pub photos: BTreeMap<PhotoId, u32>,
    /// The length of all.
    pub bytes: u64,
}

impl Folder {
    /// The folder with this path, which may not exist yet.
    pub fn new(path: PathBuf) -> Self {
        Self { path, owner: OnceLock::new(), is_prepared: Mutex::new(false) }
    }

    /// Names the database whose photos it has by its key, which the name does not tell.
    pub(crate) fn belongs_to(&self, key: &[u8; 32]) {
        let hash = Sha256::digest(key);
        let beginning = u128::from_be_bytes(std::array::from_fn(|at| hash[at]));
        let _ = self.owner.set(format!("{beginning:032x}"));
    }

    /// Whether it also has photos of another database, of which this one does not know which files it
    /// needs.
    pub(crate) fn is_shared(&self) -> io::Result<bool> {
        let owners = match fs::read_dir(self.path.join(OWNERS)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            owners => owners?,
        };
        let own = self.owner.get().map(String::as_str);
        for other in owners {
            if other?.file_name().to_str() != own {
                return Ok(true);
            }
        }
        Ok(false)
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
    pub fn prepare(&self) -> io::Result<()> {
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
        if let Some(owner) = self.owner.get() {
            let owners = self.path.join(OWNERS);
            fs::create_dir_all(&owners)?;
            File::create(owners.join(owner))?;
            sync(Some(&owners))?;
        }
        sync(Some(&self.path))?;
        *is_prepared = true;
        Ok(())
    }

    /// Writes the files of a photo, the smallest first. When this returns, they are on disk. After an
    /// error, some of them may be there.
    pub fn write(&self, id: PhotoId, files: &[Vec<u8>; 3]) -> io::Result<()> {
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

    fn write_file(&self, file: PhotoFile, content: &[u8]) -> io::Result<()> {
        let path = self.of(file);
        let partial = path.with_extension(format!("jpg{PARTIAL}"));
        let mut out = File::create(&partial)?;
        out.write_all(content)?;
        out.sync_all()?;
        fs::rename(partial, path)
    }

    /// Copies a file from another folder, unless it is there. Returns whether it was copied. The copy
    /// is on disk, and its name after [`Self::sync_shard`]. Call [`Self::prepare`] before.
    pub fn copy_from(&self, other: &Self, file: PhotoFile) -> io::Result<bool> {
        if self.of(file).try_exists()? {
            return Ok(false);
        }
        let content = other.read(file)?.ok_or(ErrorKind::NotFound)?;
        self.write_file(file, &content)?;
        Ok(true)
    }

    /// Makes sure that the names of the files that begin with this byte are on disk.
    pub fn sync_shard(&self, shard: u8) -> io::Result<()> {
        sync(Some(&self.shard(shard)))
    }

    /// The content of a file; `None` if it is not there.
    pub fn read(&self, file: PhotoFile) -> io::Result<Option<Vec<u8>>> {
        let mut open = match File::open(self.of(file)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            open => open?,
        };
        let length = usize::try_from(open.metadata()?.len()).unwrap_or_default();
        let mut content = Vec::with_capacity(length + 1);
        open.read_to_end(&mut content)?;
        Ok(Some(content))
    }

    /// Whether a file can be decoded, if it is there.
    pub fn is_readable(&self, file: PhotoFile) -> io::Result<bool> {
        Ok(self.read(file)?.is_none_or(|content| decode::is_readable(&content)))
    }

    /// Whether the file is there.
    pub fn has(&self, file: PhotoFile) -> io::Result<bool> {
        self.of(file).try_exists()
    }

    /// What it has of the photos whose identifiers begin with this byte. Other files are ignored.
    pub fn list(&self, shard: u8) -> io::Result<ShardFiles> {
        let mut found = ShardFiles::default();
        let entries = match fs::read_dir(self.shard(shard)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_str().unwrap_or_default();
            let name = name.strip_suffix(PARTIAL).unwrap_or(name);
            let Some(file) = PhotoFile::parse(name).filter(|file| first_byte(file.id) == shard)
            else {
                continue;
            };
            *found.photos.entry(file.id).or_default() += 1;
            match entry.metadata() {
                Ok(metadata) => found.bytes += metadata.len(),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Deletes the files of a photo, also those that were not written completely.
    pub fn delete(&self, id: PhotoId) -> io::Result<()> {
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

/// The first byte of an identifier.
pub fn first_byte(id: PhotoId) -> u8 {
    id.0.to_be_bytes()[0]
}

/// Makes sure that the names in a folder are on disk.
fn sync(folder: Option<&Path>) -> io::Result<()> {
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
