//! A folder with the files of photos, in 256 folders by the first byte of their identifiers. Every
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

use super::files::{OWNERS, PARTIAL, Piece, ShardFiles, first_byte};

/// See the module.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    owner: Option<Owner>,
    /// Folders that may have files which are missing here.
    others: Vec<PathBuf>,
    /// Whether this process knows that the folders in it are on disk.
    is_prepared: Mutex<bool>,
    /// Whether the first file that was read is in one of [`LOCAL`].
    is_local: OnceLock<bool>,
}

/// File systems of which each file that was opened before can be opened without waiting for a disk or a
/// network, as statfs(2) numbers them: ext4, XFS, Btrfs, F2FS, tmpfs and overlayfs.
const LOCAL: [u32; 6] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xf2f5_2010,
    0x0102_1994,
    0x794c_7630,
];

/// A command of root opens what another user owns: a link must not lead it elsewhere, nor a pipe hold it.
const HERE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

impl Folder {
    /// Returns the folder with this path, which may not exist yet.
    pub fn new(path: PathBuf) -> Self {
        let owner = None;
        let others = Vec::new();
        Self {
            path,
            owner,
            others,
            is_prepared: Mutex::new(false),
            is_local: OnceLock::new(),
        }
    }

    /// Returns the same. What this process makes belongs to this owner, and copies of files that
    /// one of the other folders has are second names of them.
    pub fn with(self, owner: Option<Owner>, others: Vec<PathBuf>) -> Self {
        Self {
            owner,
            others,
            ..self
        }
    }

    /// Whether both are the same, even if two paths lead to it.
    pub(super) fn is(&self, other: &Self) -> bool {
        let [own, others] = [self, other].map(|folder| folder.path.canonicalize().ok());
        self.path == other.path || own.is_some() && own == others
    }

    /// Returns the names of the marks of all databases whose photos it has.
    pub(super) fn marks(&self) -> io::Result<Vec<String>> {
        let owners = match fs::read_dir(self.path.join(OWNERS)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            owners => owners?,
        };
        owners
            .map(|owner| Ok(owner?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder and those in it, if they are not there.
    pub(super) fn make(&self) -> io::Result<()> {
        make_folder(&self.path, self.owner)?;
        sync(
            self.path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty()),
        )?;
        self.prepare()
    }

    /// Makes the folders in it, but not the folder: if that is away, it comes back.
    fn prepare(&self) -> io::Result<()> {
        let mut is_prepared = self.is_prepared.lock();
        if *is_prepared {
            return Ok(());
        }
        self.refuse_link_to_folder_of_another()?;
        for shard in 0..=u8::MAX {
            make_one(&self.shard(shard), self.owner)?;
        }
        sync(Some(&self.path))?;
        *is_prepared = true;
        Ok(())
    }

    /// Refuses to follow a link into a folder of another user than the one for whom root makes files. That
    /// user can make such a link.
    fn refuse_link_to_folder_of_another(&self) -> io::Result<()> {
        let Some(owner) = self.owner else {
            return Ok(());
        };
        if self.path.symlink_metadata()?.is_symlink()
            && !owner.has_same_user(&self.path.metadata()?)
        {
            let what = format!(
                "{} is a link to a folder that does not belong to the user of the database; name that \
                 folder itself, or give it to the user",
                self.path.display()
            );
            return Err(io::Error::new(ErrorKind::PermissionDenied, what));
        }
        Ok(())
    }

    /// The same for a copy, which also makes the folder.
    fn prepare_copy(&self) -> io::Result<()> {
        match self.prepare() {
            Err(error) if error.kind() == ErrorKind::NotFound => self.make(),
            prepared => prepared,
        }
    }

    /// Leaves the mark of a database, unless the folder is away.
    pub(super) fn mark(&self, owner: &str) -> io::Result<()> {
        let owners = self.path.join(OWNERS);
        match make_one(&owners, self.owner) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            made => made?,
        }
        match make_file(&owners.join(owner), self.owner) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        sync(Some(&owners))?;
        sync(Some(&self.path))
    }

    /// Writes the files of a photo, the smallest first. When this returns, they are on disk. After an
    /// error, some of them may be there.
    pub(super) fn write(&self, id: PhotoId, files: &[Bytes; PhotoSize::COUNT]) -> io::Result<()> {
        let write = || {
            self.prepare()?;
            for (file, content) in PhotoFile::all(id).into_iter().zip(files) {
                self.write_file(file, id, content)?;
            }
            self.sync_shard(first_byte(id))
        };
        let mut written = write();
        if written
            .as_ref()
            .is_err_and(|error| error.kind() == ErrorKind::NotFound)
        {
            // Somebody has replaced the folder, or removed those in it that were empty.
            *self.is_prepared.lock() = false;
            written = write();
        }
        written.inspect_err(|_| {
            // Otherwise, a task deletes them later. A full disk gets their space back now.
            let _ = self.delete(id);
        })
    }

    /// Writes one file of a photo from another place. Its content is on disk then, and its name after
    /// [`Self::sync_shard`].
    pub(super) fn write_copy(&self, file: PhotoFile, content: &[u8]) -> io::Result<()> {
        self.prepare_copy()?;
        self.write_file(file, file.id, content)
    }

    /// Adds a file to a photo, also while another process does. Until it is complete, it has the name of
    /// a photo that no animal has, so it is deleted if this process is killed.
    pub(super) fn add(&self, file: PhotoFile, unused: PhotoId, content: &[u8]) -> io::Result<()> {
        self.write_file(file, unused, content)?;
        self.sync_shard(first_byte(file.id))
    }

    fn write_file(&self, file: PhotoFile, begun: PhotoId, content: &[u8]) -> io::Result<()> {
        let shard = self.open_shard(file)?;
        let name = file.name();
        let partial = format!("{}{PARTIAL}", PhotoFile { id: begun, ..file }.name());
        // Left by a process that was killed.
        let _ = unlinkat(&shard, &partial, AtFlags::empty());
        let flags = HERE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mut out = File::from(openat(&shard, &partial, flags, Mode::RUSR | Mode::WUSR)?);
        self.owner.map_or(Ok(()), |owner| owner.give(&out))?;
        out.write_all(content)?;
        out.sync_all()?;
        Ok(renameat(&shard, partial, &shard, name)?)
    }

    /// Makes sure that the names of the files that begin with this byte are on disk.
    pub(super) fn sync_shard(&self, shard: u8) -> io::Result<()> {
        sync(Some(&self.shard(shard)))
    }

    /// Returns at most so many bytes of a file from this position on; `None` if it is not there.
    pub(super) fn read(&self, file: PhotoFile, at: u64, most: usize) -> io::Result<Option<Piece>> {
        let open = match openat(CWD, self.of(file), HERE | OFlags::RDONLY, Mode::empty()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            open => File::from(open?),
        };
        self.is_local.get_or_init(|| {
            fstatfs(&open).is_ok_and(|found| {
                LOCAL
                    .iter()
                    .any(|&own| i128::from(own) == i128::from(found.f_type))
            })
        });
        let of = open.metadata()?.len();
        let mut bytes = vec![0; length(of, at, most)];
        open.read_exact_at(&mut bytes, at)?;
        Ok(Some((bytes, of)))
    }

    /// Returns the same for a file of a local file system, if the page cache has these bytes, so
    /// that a thread that must not block can read them. To wait for another thread costs as much as
    /// to send a photo.
    pub(super) fn read_cached(&self, file: PhotoFile, at: u64, most: usize) -> Option<Piece> {
        if self.is_local.get() != Some(&true) {
            return None;
        }
        let flags = HERE | OFlags::RDONLY;
        let open = openat2(
            CWD,
            self.of(file),
            flags,
            Mode::empty(),
            ResolveFlags::CACHED,
        )
        .ok()?;
        let of = u64::try_from(fstat(&open).ok()?.st_size).ok()?;
        let mut bytes = vec![0; length(of, at, most)];
        let into = &mut [IoSliceMut::new(&mut bytes)];
        let read = preadv2(&open, into, at, ReadWriteFlags::NOWAIT).ok()?;
        (read == bytes.len()).then_some((bytes, of))
    }

    /// Returns the length of a file; `None` if it is not there.
    pub(super) fn length(&self, file: PhotoFile) -> io::Result<Option<u64>> {
        match self.of(file).symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            found => found.map(|found| found.is_file().then_some(found.len())),
        }
    }

    /// Gives a file of another folder with this length a second name here. Returns whether one has it.
    pub(super) fn link(&self, file: PhotoFile, length: u64) -> io::Result<bool> {
        if self.others.is_empty() {
            return Ok(false);
        }
        self.prepare_copy()?;
        let shard = self.open_shard(file)?;
        Ok(self.others.iter().any(|other| {
            let other = Self::new(other.clone());
            other.length(file).is_ok_and(|found| found == Some(length))
                && linkat(CWD, other.of(file), &shard, file.name(), AtFlags::empty()).is_ok()
        }))
    }

    /// Returns the files that it has of the photos whose identifiers begin with this byte. Other
    /// files are ignored.
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
        for file in PhotoFile::all(id) {
            let path = self.of(file);
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

    fn open_shard(&self, file: PhotoFile) -> io::Result<OwnedFd> {
        let path = self.shard(first_byte(file.id));
        let shard = File::from(openat(CWD, &path, HERE | OFlags::DIRECTORY, Mode::empty())?);
        // A link can have taken the place of the folder after it was looked at.
        if let Some(owner) = self.owner
            && !owner.has_same_user(&shard.metadata()?)
        {
            let what = format!(
                "{} belongs to another user than the database",
                path.display()
            );
            return Err(io::Error::new(ErrorKind::PermissionDenied, what));
        }
        Ok(shard.into())
    }

    fn shard(&self, byte: u8) -> PathBuf {
        self.path.join(format!("{byte:02x}"))
    }
}

/// How many bytes a file of this length has from this position on, and at most so many.
fn length(of: u64, at: u64, most: usize) -> usize {
    usize::try_from(of.saturating_sub(at))
        .unwrap_or(most)
        .min(most)
}

/// Makes sure that the names in a folder are on disk.
fn sync(folder: Option<&Path>) -> io::Result<()> {
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
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
            folder.read(files[0], 0, 10).unwrap().unwrap().0,
            contents[0]
        );
        let is_local = folder.is_local.get() == Some(&true);
        for (file, content) in files.into_iter().zip(contents) {
            for (at, most) in [(0, 200_000), (0, 70_000), (70_000, 70_000), (100_000, 1)] {
                let found = folder.read(file, at as u64, most).unwrap().unwrap();
                let from = content.len().min(at);
                assert_eq!(found.0, content[from..content.len().min(from + most)]);
                assert_eq!(found.1, content.len() as u64);
                // A kernel can refuse it at any time.
                let cached = folder.read_cached(file, at as u64, most);
                assert!(cached.is_none() || is_local && cached == Some(found));
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
