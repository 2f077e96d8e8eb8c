//! The owner of files. If root makes a file for a database, the file belongs to the user of the database.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::{MetadataExt, OpenOptionsExt, fchown},
    path::Path,
};

use rustix::{fs::OFlags, process::geteuid};

/// The owner of a file or a folder: a user and a group, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOwner {
    user: u32,
    group: u32,
}

impl FileOwner {
    /// Returns the owner of a file or a folder.
    pub fn from_metadata(metadata: &Metadata) -> Self {
        Self {
            user: metadata.uid(),
            group: metadata.gid(),
        }
    }

    /// Returns the owner that a file gets which this process makes for the file at `path`: the owner of the file or, if
    /// there is no file yet, of its folder. `None` if that is root, or if this process is not root: then it keeps the file.
    pub fn for_file(path: &Path) -> Option<Self> {
        let metadata = path
            .ancestors()
            // A relative path is in this folder.
            .find_map(|ancestor| Path::new(".").join(ancestor).metadata().ok())?;
        let owner = Self::from_metadata(&metadata);
        let gives_away = geteuid().is_root() && owner.user != 0;
        gives_away.then_some(owner)
    }

    /// Gives away an open file or folder that this process has made.
    pub fn take_over(self, file: &File) -> io::Result<()> {
        fchown(file, Some(self.user), Some(self.group))
    }

    /// Whether a file or folder belongs to this user, in whichever group.
    pub fn has_same_user(self, metadata: &Metadata) -> bool {
        metadata.uid() == self.user
    }

    /// Whether the mode lets this user read the file, perhaps by one more group.
    pub fn may_read(self, metadata: &Metadata) -> bool {
        let owner_bit = if metadata.uid() == self.user {
            0o400
        } else {
            0
        };
        self.user == 0 || metadata.mode() & (owner_bit | 0o044) != 0
    }
}

fn give_away(file: &File, owner: Option<FileOwner>) -> io::Result<()> {
    match owner {
        Some(owner) => owner.take_over(file),
        None => Ok(()),
    }
}

/// Makes a file that does not exist yet, for this owner.
pub fn make_file(path: &Path, owner: Option<FileOwner>) -> io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    if let Err(error) = give_away(&file, owner) {
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

/// Makes a folder for this owner, and each missing folder above it. A folder that exists stays as it is.
pub fn make_folder(path: &Path, owner: Option<FileOwner>) -> io::Result<()> {
    match (make_last_folder(path, owner), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == ErrorKind::NotFound => {
            make_folder(parent, owner)?;
            make_last_folder(path, owner)
        }
        (result, _) => result,
    }
}

/// Makes a folder for this owner in a folder that exists, else fails with `NotFound`. A folder that exists stays as it is.
pub fn make_last_folder(path: &Path, owner: Option<FileOwner>) -> io::Result<()> {
    if let Err(error) = fs::create_dir(path) {
        let exists = error.kind() == ErrorKind::AlreadyExists && path.is_dir();
        return if exists { Ok(()) } else { Err(error) };
    }
    if owner.is_none() {
        return Ok(());
    }
    // Somebody could have put a link in the place of the folder since.
    let flags = OFlags::NOFOLLOW | OFlags::DIRECTORY;
    let flag_bits = i32::from_ne_bytes(flags.bits().to_ne_bytes());
    let folder = File::options()
        .read(true)
        .custom_flags(flag_bits)
        .open(path)?;
    give_away(&folder, owner)
}
