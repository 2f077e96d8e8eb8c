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

/// The number of the user root, who may read and give away every file.
const ROOT: u32 = 0;

/// The bit of a mode that lets the owner read.
const OWNER_MAY_READ: u32 = 0o400;

/// The bits of a mode that let the group and everybody else read.
const OTHERS_MAY_READ: u32 = 0o044;

/// The owner of a file or folder: the numbers of its user and group.
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

    /// Returns the user to whom files next to the file at `path` must be given. This is the owner
    /// of that file or, if it does not exist, of the nearest existing folder above it.
    ///
    /// Returns `None` if the files stay with the user of this process. If that user is not root, it
    /// cannot give files away. If the owner is root, it need not.
    pub fn for_file(path: &Path) -> Option<Self> {
        if !geteuid().is_root() {
            return None;
        }
        // Joining with `.` makes the last ancestor of a relative path, which is empty, the current
        // folder. An absolute path is not affected.
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

/// Gives a newly created file or folder to its owner. `None` leaves it to the user of this process.
fn give_away(file: &File, owner: Option<FileOwner>) -> io::Result<()> {
    match owner {
        Some(owner) => owner.chown(file),
        None => Ok(()),
    }
}

/// Creates a file that must not exist yet, with this owner. Only the owner may read and write it.
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

/// Creates a folder with this owner, and all missing folders above it. Existing folders are not
/// changed.
pub fn create_folder_all(path: &Path, owner: Option<FileOwner>) -> io::Result<()> {
    let Err(error) = create_folder(path, owner) else {
        return Ok(());
    };
    let is_parent_missing = error.kind() == ErrorKind::NotFound;
    match path.parent() {
        Some(parent) if is_parent_missing => {
            create_folder_all(parent, owner)?;
            create_folder(path, owner)
        }
        _ => Err(error),
    }
}

/// Creates a folder with this owner in its parent folder. An existing folder is not changed.
///
/// Fails with `NotFound` if the parent folder does not exist.
pub fn create_folder(path: &Path, owner: Option<FileOwner>) -> io::Result<()> {
    if let Err(error) = fs::create_dir(path) {
        let exists = error.kind() == ErrorKind::AlreadyExists && path.is_dir();
        return if exists { Ok(()) } else { Err(error) };
    }
    if owner.is_none() {
        return Ok(());
    }
    // `NOFOLLOW`, because somebody could have replaced the new folder by a symbolic link.
    let flags = OFlags::NOFOLLOW | OFlags::DIRECTORY;
    // `custom_flags` expects the same bits as a signed number.
    let flag_bits = i32::from_ne_bytes(flags.bits().to_ne_bytes());
    let folder = File::options()
        .read(true)
        .custom_flags(flag_bits)
        .open(path)?;
    give_away(&folder, owner)
}
