//! The owner of what a process makes: what root makes for a database belongs to the user of the database.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::{MetadataExt, OpenOptionsExt, fchown},
    path::Path,
};

use rustix::{fs::OFlags, process::geteuid};

/// A user and a group, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner(u32, u32);

impl Owner {
    /// Returns the owner of a file or a folder.
    pub fn of(found: &Metadata) -> Self {
        Self(found.uid(), found.gid())
    }

    /// Who gets what this process makes for the file at `path`: the owner of the file or, if there is none
    /// yet, of the folder for it. `None` if that is root, or this process is not: then it keeps the file.
    pub fn for_file(path: &Path) -> Option<Self> {
        let or_here = |path: &Path| Path::new(".").join(path).metadata().ok();
        let owner = Self::of(&path.ancestors().find_map(or_here)?);
        (geteuid().is_root() && owner.0 != 0).then_some(owner)
    }

    /// Gives away an open file or folder that this process has made.
    pub fn give(self, made: &File) -> io::Result<()> {
        fchown(made, Some(self.0), Some(self.1))
    }

    /// Whether the file or folder belongs to this user, in whichever group.
    pub fn has_same_user(self, found: &Metadata) -> bool {
        found.uid() == self.0
    }

    /// Whether the mode lets this user read the file, perhaps by one more group.
    pub fn may_read(self, found: &Metadata) -> bool {
        let as_owner = if found.uid() == self.0 { 0o400 } else { 0 };
        self.0 == 0 || found.mode() & (as_owner | 0o044) != 0
    }
}

/// Makes a file that is not there, for this owner.
pub fn make_file(path: &Path, owner: Option<Owner>) -> io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    let given = owner.map_or(Ok(()), |owner| owner.give(&file));
    given.inspect_err(|_| drop(fs::remove_file(path)))?;
    Ok(file)
}

/// Makes a folder, and those above it that are missing, for this owner. Leaves one that is there as it is.
pub fn make_folder(path: &Path, owner: Option<Owner>) -> io::Result<()> {
    match (make_one(path, owner), path.parent()) {
        (Err(error), Some(above)) if error.kind() == ErrorKind::NotFound => {
            make_folder(above, owner)?;
            make_one(path, owner)
        }
        (made, _) => made,
    }
}

/// The same without those above it: `NotFound` if the one above is missing.
pub fn make_one(path: &Path, owner: Option<Owner>) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => {
            let flags = OFlags::NOFOLLOW | OFlags::DIRECTORY;
            let flags = i32::from_ne_bytes(flags.bits().to_ne_bytes());
            let open = || File::options().read(true).custom_flags(flags).open(path);
            made.and_then(|()| owner.map_or(Ok(()), |owner| owner.give(&open()?)))
        }
    }
}
