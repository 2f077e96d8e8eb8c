//! A folder with the files of photos, in 256 folders (shards) by the first byte of the photos' identifiers. Every
//! function blocks, except [`Folder::read_cached`].

use std::{
    fs::{self, File},
    io::{self, ErrorKind, IoSliceMut, Write},
    os::{fd::OwnedFd, unix::fs::FileExt},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use bytes::Bytes;
use parking_lot::Mutex;
use petstore_domain::store_area::{PhotoFile, PhotoId, PhotoSize};
use petstore_system::owner::{Owner, make_file, make_folder, make_one};
use rustix::{
    fs::{
        AtFlags, CWD, Mode, OFlags, ResolveFlags, fstat, fstatfs, linkat, openat, openat2,
        renameat, unlinkat,
    },
    io::{ReadWriteFlags, preadv2},
};

use super::files::{OWNERS, PARTIAL_SUFFIX, Piece, ShardFiles, first_byte};

/// A folder with the files of photos.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    owner: Option<Owner>,
    /// Folders that may have files which are missing here.
    other_folders: Vec<PathBuf>,
    /// Whether this process knows that all shards are on disk.
    is_prepared: Mutex<bool>,
    /// Whether the first file that was read is in one of [`LOCAL_FILE_SYSTEMS`].
    is_local: OnceLock<bool>,
}

/// The file systems, as statfs(2) numbers them, that open a file without waiting for a disk or a network if the file
/// was opened before: ext4, XFS, Btrfs, F2FS, tmpfs and overlayfs.
const LOCAL_FILE_SYSTEMS: [u32; 6] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xf2f5_2010,
    0x0102_1994,
    0x794c_7630,
];

/// The flags with which files are opened. A command of root opens files of another user: a link must not lead the
/// command elsewhere, and a pipe must not block it.
const OPEN_FLAGS: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

impl Folder {
    /// Returns the folder with this path, which may not exist yet.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            owner: None,
            other_folders: Vec::new(),
            is_prepared: Mutex::new(false),
            is_local: OnceLock::new(),
        }
    }

    /// Sets the owner of the files and folders that this process makes, and other folders. A file that one of the other
    /// folders has gets a second name here instead of a copy.
    pub fn with_owner_and_others(self, owner: Option<Owner>, other_folders: Vec<PathBuf>) -> Self {
        Self {
            owner,
            other_folders,
            ..self
        }
    }

    /// Whether both folders are the same, even if two paths lead to it.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        if self.path == other.path {
            return true;
        }
        match (self.path.canonicalize(), other.path.canonicalize()) {
            (Ok(path), Ok(other_path)) => path == other_path,
            _ => false,
        }
    }

    /// Returns the names of the marks of all databases whose photos are here.
    pub(super) fn marks(&self) -> io::Result<Vec<String>> {
        let owners = match fs::read_dir(self.path.join(OWNERS)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            owners => owners?,
        };
        owners
            .map(|owner| Ok(owner?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder and its shards, unless they exist.
    pub(super) fn make(&self) -> io::Result<()> {
        make_folder(&self.path, self.owner)?;
        match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => sync(parent)?,
            _ => sync(Path::new("."))?,
        }
        self.prepare()
    }

    /// Makes the shards, but not the folder: a folder that is away comes back.
    fn prepare(&self) -> io::Result<()> {
        let mut is_prepared = self.is_prepared.lock();
        if *is_prepared {
            return Ok(());
        }
        self.refuse_link_to_folder_of_another()?;
        for shard in 0..=u8::MAX {
            make_one(&self.shard(shard), self.owner)?;
        }
        sync(&self.path)?;
        *is_prepared = true;
        Ok(())
    }

    /// Refuses to follow a link into a folder of another user than the owner for whom root makes files, because the
    /// owner can make such a link.
    fn refuse_link_to_folder_of_another(&self) -> io::Result<()> {
        let Some(owner) = self.owner else {
            return Ok(());
        };
        if self.path.symlink_metadata()?.is_symlink()
            && !owner.has_same_user(&self.path.metadata()?)
        {
            let message = format!(
                "{} is a link to a folder that does not belong to the user of the database; name that \
                 folder itself, or give it to the user",
                self.path.display()
            );
            return Err(io::Error::new(ErrorKind::PermissionDenied, message));
        }
        Ok(())
    }

    /// Makes the shards for a copy, which also makes the folder.
    fn prepare_copy(&self) -> io::Result<()> {
        match self.prepare() {
            Err(error) if error.kind() == ErrorKind::NotFound => self.make(),
            result => result,
        }
    }

    /// Leaves the mark of a database, unless the folder is away.
    pub(super) fn mark(&self, owner: &str) -> io::Result<()> {
        let owners = self.path.join(OWNERS);
        match make_one(&owners, self.owner) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            result => result?,
        }
        match make_file(&owners.join(owner), self.owner) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        sync(&owners)?;
        sync(&self.path)
    }

    /// Writes the files of a photo to disk, the smallest first. After an error, some of the files may be there.
    pub(super) fn write(&self, id: PhotoId, files: &[Bytes; PhotoSize::COUNT]) -> io::Result<()> {
        let mut result = self.write_once(id, files);
        if let Err(error) = &result
            && error.kind() == ErrorKind::NotFound
        {
            // Somebody has replaced the folder, or removed shards that were empty.
            *self.is_prepared.lock() = false;
            result = self.write_once(id, files);
        }
        if result.is_err() {
            // A task would delete the files later. A full disk gets their space back now.
            let _ = self.delete(id);
        }
        result
    }

    fn write_once(&self, id: PhotoId, files: &[Bytes; PhotoSize::COUNT]) -> io::Result<()> {
        self.prepare()?;
        for (file, content) in PhotoFile::all(id).into_iter().zip(files) {
            self.write_file(file, id, content)?;
        }
        self.sync_shard(first_byte(id))
    }

    /// Writes one file of a photo from another place. The content is on disk when this returns, and the name after
    /// [`Self::sync_shard`].
    pub(super) fn write_copy(&self, file: PhotoFile, content: &[u8]) -> io::Result<()> {
        self.prepare_copy()?;
        self.write_file(file, file.id, content)
    }

    /// Adds a file to a photo, also while another process does the same. Until the file is complete, it has a name with
    /// `unused`, an identifier that no animal has, so a task deletes the file if this process is killed.
    pub(super) fn add(&self, file: PhotoFile, unused: PhotoId, content: &[u8]) -> io::Result<()> {
        self.write_file(file, unused, content)?;
        self.sync_shard(first_byte(file.id))
    }

    /// Writes a file under a partial name with the identifier `partial_id`, and renames it when its content is on disk.
    fn write_file(&self, file: PhotoFile, partial_id: PhotoId, content: &[u8]) -> io::Result<()> {
        let shard = self.open_shard(file)?;
        let partial_file = PhotoFile {
            id: partial_id,
            ..file
        };
        let partial_name = format!("{}{PARTIAL_SUFFIX}", partial_file.name());
        // A process that was killed can have left a file with this name.
        let _ = unlinkat(&shard, &partial_name, AtFlags::empty());

        let flags = OPEN_FLAGS | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mode = Mode::RUSR | Mode::WUSR;
        let mut partial = File::from(openat(&shard, &partial_name, flags, mode)?);
        if let Some(owner) = self.owner {
            owner.give(&partial)?;
        }
        partial.write_all(content)?;
        partial.sync_all()?;
        renameat(&shard, partial_name, &shard, file.name())?;
        Ok(())
    }

    /// Makes sure that the names of the files that begin with this byte are on disk.
    pub(super) fn sync_shard(&self, shard: u8) -> io::Result<()> {
        sync(&self.shard(shard))
    }

    /// Reads at most `max_length` bytes of a file from the byte `start` on; `None` if the file is missing.
    pub(super) fn read(
        &self,
        file: PhotoFile,
        start: u64,
        max_length: usize,
    ) -> io::Result<Option<Piece>> {
        let flags = OPEN_FLAGS | OFlags::RDONLY;
        let open_file = match openat(CWD, self.file_path(file), flags, Mode::empty()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            descriptor => File::from(descriptor?),
        };
        self.is_local
            .get_or_init(|| is_on_local_file_system(&open_file));

        let file_length = open_file.metadata()?.len();
        let mut bytes = vec![0; piece_length(file_length, start, max_length)];
        open_file.read_exact_at(&mut bytes, start)?;
        Ok(Some(Piece { bytes, file_length }))
    }

    /// Reads at most `max_length` bytes of a file on a local file system from the byte `start` on, if the page cache has
    /// them. A thread that must not block can call this: waiting for another thread costs as much as sending a photo.
    pub(super) fn read_cached(
        &self,
        file: PhotoFile,
        start: u64,
        max_length: usize,
    ) -> Option<Piece> {
        if self.is_local.get() != Some(&true) {
            return None;
        }
        let flags = OPEN_FLAGS | OFlags::RDONLY;
        let path = self.file_path(file);
        let open_file = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED).ok()?;
        let file_length = u64::try_from(fstat(&open_file).ok()?.st_size).ok()?;

        let mut bytes = vec![0; piece_length(file_length, start, max_length)];
        let buffers = &mut [IoSliceMut::new(&mut bytes)];
        let read_length = preadv2(&open_file, buffers, start, ReadWriteFlags::NOWAIT).ok()?;
        if read_length == bytes.len() {
            Some(Piece { bytes, file_length })
        } else {
            None
        }
    }

    /// Returns the length of a file in bytes; `None` if the file is missing.
    pub(super) fn length(&self, file: PhotoFile) -> io::Result<Option<u64>> {
        let metadata = match self.file_path(file).symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            metadata => metadata?,
        };
        Ok(metadata.is_file().then_some(metadata.len()))
    }

    /// Gives a file of one of the other folders a second name here, if the file has this length. Returns whether one of
    /// these folders has it.
    pub(super) fn link(&self, file: PhotoFile, length: u64) -> io::Result<bool> {
        if self.other_folders.is_empty() {
            return Ok(false);
        }
        self.prepare_copy()?;
        let shard = self.open_shard(file)?;
        for path in &self.other_folders {
            let other_folder = Self::new(path.clone());
            let other_length = other_folder.length(file).unwrap_or_default();
            let other_path = other_folder.file_path(file);
            if other_length == Some(length)
                && linkat(CWD, other_path, &shard, file.name(), AtFlags::empty()).is_ok()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lists the files of the photos whose identifiers begin with the byte `shard`. Other files are ignored.
    pub(super) fn list(&self, shard: u8) -> io::Result<ShardFiles> {
        let mut files = ShardFiles::default();
        let entries = match fs::read_dir(self.shard(shard)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(files),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            match entry.metadata() {
                Ok(metadata) => files.note(shard, &name.to_string_lossy(), metadata.len()),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(files)
    }

    /// Deletes the files of a photo, also files that were not written completely.
    pub(super) fn delete(&self, id: PhotoId) -> io::Result<()> {
        for file in PhotoFile::all(id) {
            let path = self.file_path(file);
            let partial_path = path.with_extension(format!("jpg{PARTIAL_SUFFIX}"));
            for path in [partial_path, path] {
                match fs::remove_file(path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Returns the path of a file: `FOLDER/6b/6b…-large.jpg`.
    fn file_path(&self, file: PhotoFile) -> PathBuf {
        self.shard(first_byte(file.id)).join(file.name())
    }

    /// Opens the shard of a file, so that a link that takes its place later changes nothing.
    fn open_shard(&self, file: PhotoFile) -> io::Result<OwnedFd> {
        let path = self.shard(first_byte(file.id));
        let shard = File::from(openat(
            CWD,
            &path,
            OPEN_FLAGS | OFlags::DIRECTORY,
            Mode::empty(),
        )?);
        // A link can have taken the place of the folder after the check in `prepare`.
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

    fn shard(&self, byte: u8) -> PathBuf {
        self.path.join(format!("{byte:02x}"))
    }
}

/// Returns the length of the piece from the byte `start` on, of `max_length` bytes at most.
fn piece_length(file_length: u64, start: u64, max_length: usize) -> usize {
    let remaining_length = file_length.saturating_sub(start);
    usize::try_from(remaining_length).map_or(max_length, |length| length.min(max_length))
}

fn is_on_local_file_system(open_file: &File) -> bool {
    let Ok(file_system) = fstatfs(open_file) else {
        return false;
    };
    LOCAL_FILE_SYSTEMS
        .iter()
        .any(|&number| i128::from(number) == i128::from(file_system.f_type))
}

/// Makes sure that the names in a folder are on disk.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_without_waiting_is_what_the_file_has() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::new(place.path().to_owned());
        let id = PhotoId(7);
        let contents = [vec![1; 3], vec![2; 100_000], Vec::new(), vec![3; 4]];
        folder
            .write(id, &contents.clone().map(Bytes::from))
            .unwrap();
        let files = PhotoFile::all(id);

        // Not before the folder was read by a thread that may wait.
        assert_eq!(folder.read_cached(files[0], 0, 10), None);
        assert_eq!(
            folder.read(files[0], 0, 10).unwrap().unwrap().bytes,
            contents[0]
        );
        let is_local = folder.is_local.get() == Some(&true);
        for (file, content) in files.into_iter().zip(contents) {
            for (start, length) in [(0, 200_000), (0, 70_000), (70_000, 70_000), (100_000, 1)] {
                let piece = folder.read(file, start as u64, length).unwrap().unwrap();
                let from = content.len().min(start);
                assert_eq!(piece.bytes, content[from..content.len().min(from + length)]);
                assert_eq!(piece.file_length, content.len() as u64);
                // A kernel can refuse it at any time.
                let cached = folder.read_cached(file, start as u64, length);
                assert!(cached.is_none() || is_local && cached == Some(piece));
            }
        }
        let missing = PhotoFile {
            id: PhotoId(8),
            size: PhotoSize::Small,
        };
        assert_eq!(folder.read_cached(missing, 0, 1), None);
        assert_eq!(folder.read(missing, 0, 1).unwrap(), None);
    }
}
