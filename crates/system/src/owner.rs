//! Gives the files that root creates to the user of the service.
//!
//! When root creates a file next to a database, such as a copy, the file must belong to the user
//! who owns the database, so that the service can use it.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::{MetadataExt, OpenOptionsExt, fchown},
    path::Path,
};

use rustix::{fs::OFlags, process::geteuid};

/// The user id of root, who may read and give away every file.
const ROOT: u32 = 0;

/// The bit of a mode that lets the owner read.
const OWNER_MAY_READ: u32 = 0o400;

/// The bits of a mode that let the group and everybody else read.
const OTHERS_MAY_READ: u32 = 0o044;

/// The owner of a file or folder: the ids of its user and group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOwner {
    user: u32,
    group: u32,
}

impl FileOwner {
    /// Returns the owner of an existing file or folder.
    pub fn from_metadata(metadata: &Metadata) -> Self {
        Self {
            user: metadata.uid(),
            group: metadata.gid(),
        }
    }

    /// Returns the owner to whom new files next to the file at `path` must be given. This is the
    /// owner of that file. If it does not exist, this is the owner of the nearest existing folder
    /// above it.
    ///
    /// Returns `None` if new files must not be given away. This is so if this process does not run
    /// as root, because only root can give files away. It is also so if the owner is root, because
    /// the files of this process then belong to root anyway.
    pub fn for_file(path: &Path) -> Option<Self> {
        if !geteuid().is_root() {
            return None;
        }
        // The last ancestor of a relative path is empty. Joined with `.`, it means the current
        // folder. Absolute paths stay the same.
        let metadata = path
            .ancestors()
            .find_map(|ancestor| Path::new(".").join(ancestor).metadata().ok())?;
        let owner = Self::from_metadata(&metadata);
        (owner.user != ROOT).then_some(owner)
    }

    /// Changes the owner of an open file or folder to this user and group.
    pub fn chown(self, file: &File) -> io::Result<()> {
        fchown(file, Some(self.user), Some(self.group))
    }

    /// Whether a file or folder belongs to this user, regardless of its group.
    pub fn has_same_user(self, metadata: &Metadata) -> bool {
        metadata.uid() == self.user
    }

    /// Whether this user may be able to read a file, according to its mode. The user's additional
    /// groups are not known here, so permission for any group is assumed to apply.
    pub fn may_read(self, metadata: &Metadata) -> bool {
        let owner_bit = if metadata.uid() == self.user {
            OWNER_MAY_READ
        } else {
            0
        };
        self.user == ROOT || metadata.mode() & (owner_bit | OTHERS_MAY_READ) != 0
    }
}

/// Gives a new file or folder to `owner`. Without an owner, it stays with the user of this process.
fn give_away(file: &File, owner: Option<FileOwner>) -> io::Result<()> {
    match owner {
        Some(owner) => owner.chown(file),
        None => Ok(()),
    }
}

/// Creates a file that belongs to `owner`. Only this user may read and write it. Fails if the file
/// exists already.
///
/// Without an owner, the file belongs to the user of this process.
pub fn create_file(path: &Path, owner: Option<FileOwner>) -> io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    if let Err(error) = give_away(&file, owner) {
        // The caller gets the first error, whether or not the file can be removed.
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

/// Creates a folder like [`create_folder`], and all missing folders above it.
pub fn create_folder_all(path: &Path, owner: Option<FileOwner>) -> io::Result<()> {
    match (create_folder(path, owner), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == ErrorKind::NotFound => {
            create_folder_all(parent, owner)?;
            create_folder(path, owner)
        }
        (result, _) => result,
    }
}

/// Creates a folder that belongs to `owner`. Does not change a folder that exists already.
///
/// Without an owner, the folder belongs to the user of this process. Fails with `NotFound` if the
/// parent folder does not exist.
pub fn create_folder(path: &Path, owner: Option<FileOwner>) -> io::Result<()> {
    match fs::create_dir(path) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => return Ok(()),
        Err(error) => return Err(error),
    }
    if owner.is_none() {
        return Ok(());
    }
    // `NOFOLLOW`, because somebody could have replaced the new folder with a symbolic link.
    let flags = OFlags::NOFOLLOW | OFlags::DIRECTORY;
    // `custom_flags` expects the same bits as a signed number.
    let flag_bits = i32::from_ne_bytes(flags.bits().to_ne_bytes());
    let folder = File::options()
        .read(true)
        .custom_flags(flag_bits)
        .open(path)?;
    let result = give_away(&folder, owner);
    if result.is_err() {
        // Otherwise, the next call would take the folder of the wrong owner for a finished one.
        let _ = fs::remove_dir(path);
    }
    result
}
