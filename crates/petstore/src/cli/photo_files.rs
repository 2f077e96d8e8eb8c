//! Copies the files of photos, for commands. Each photo has a file for each of its sizes.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::Context;
use petstore_domain::store_area::PhotoId;
use petstore_photos::{CopiedPhotos, Folder, PhotoStorage};
use petstore_system::owner::FileOwner;

use super::runtime::BlockingRuntime;

/// The suffix of the folder with the photos of a backup.
const BACKUP_FOLDER_SUFFIX: &str = ".photos";

/// Returns the path of the folder with the photos of a backup: `petstore.db.photos` for
/// `petstore.db`.
pub(super) fn backup_folder_path(backup: &Path) -> PathBuf {
    let mut path = backup.as_os_str().to_owned();
    path.push(BACKUP_FOLDER_SUFFIX);
    path.into()
}

/// A folder with the photos of a backup. Folders are ordered by the times at which they were last
/// modified.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct BackupFolder {
    modified_at: SystemTime,
    path: PathBuf,
}

impl BackupFolder {
    /// Returns the folder at a directory entry. Returns `None` if the entry is not a folder of
    /// photos, belongs to another user, or cannot be read.
    fn from_entry(entry: &fs::DirEntry, user: u32) -> Option<Self> {
        let path = entry.path();
        let name = path.as_os_str().as_encoded_bytes();
        if !name.ends_with(BACKUP_FOLDER_SUFFIX.as_bytes()) {
            return None;
        }
        let metadata = entry.metadata().ok()?;
        if !metadata.is_dir() || metadata.uid() != user {
            return None;
        }
        let modified_at = metadata.modified().ok()?;
        Some(Self { modified_at, path })
    }
}

/// Opens the folder for the photos of a new backup, which are copied from `source`. To save space,
/// the folder shares files with the backups of the same user next to it, preferring the newest.
pub(super) fn open_backup_folder(backup: &Path, source: &PhotoStorage) -> io::Result<PhotoStorage> {
    let user = backup.metadata()?.uid();
    // With `./` before it, a bare file name has a parent, too.
    let backup_path = Path::new(".").join(backup);
    let parent = backup_path.parent().unwrap_or(&backup_path);

    let mut folders = Vec::new();
    for entry in fs::read_dir(parent)? {
        // Without a folder that cannot be read, the backup only takes more space.
        if let Ok(entry) = entry
            && let Some(folder) = BackupFolder::from_entry(&entry, user)
        {
            folders.push(folder);
        }
    }
    // The newest first.
    folders.sort_unstable();
    folders.reverse();

    // Files are not shared with the photos of a service, even if their folder has the name of a
    // folder of a backup.
    let link_sources = folders
        .into_iter()
        .map(|folder| folder.path)
        .filter(|path| !PhotoStorage::from(Folder::new(path.clone())).is_same_as(source))
        .collect();
    let owner = FileOwner::for_file(backup);
    Ok(Folder::new(backup_folder_path(backup))
        .with_owner(owner)
        .with_link_sources(link_sources)
        .into())
}

/// Copies the files of the photos of a database to another storage, except the files that are
/// already there. Prints the number of copied photos. Fails if some files are in neither storage;
/// the error then contains `advice`, which says where to look for them or to put them.
pub(super) fn copy_and_report(
    source: PhotoStorage,
    destination: PhotoStorage,
    photos: &[PhotoId],
    advice: &str,
) -> anyhow::Result<()> {
    // Without photos, there is no need for a runtime and its thread.
    if photos.is_empty() {
        return Ok(());
    }
    let source_name = source.to_string();
    let places = format!("from {source} to {destination}");
    let copied_files = copy_files(source, destination, photos)
        .with_context(|| format!("the photos were not copied {places}"))?;

    if copied_files.count > 0 {
        super::output::print(&format!(
            "Copied {} {places}\n",
            counted_photos(copied_files.count)
        ))?;
    }
    anyhow::ensure!(
        copied_files.incomplete.is_empty(),
        "the database is copied, but {source_name} lacks files of {} of its {}; {advice}, or leave photos out \
         with --photos off",
        copied_files.incomplete.len(),
        counted_photos(photos.len() as u64)
    );
    Ok(())
}

/// Returns a number of photos with its noun, such as `2 photos`.
fn counted_photos(count: u64) -> String {
    super::output::counted(count, "photo")
}

/// Copies the files of photos, like [`PhotoStorage::copy_all_from`], and blocks until they are
/// copied.
pub(super) fn copy_files(
    source: PhotoStorage,
    destination: PhotoStorage,
    photos: &[PhotoId],
) -> io::Result<CopiedPhotos> {
    let photos = photos.to_vec();
    BlockingRuntime::new()?.wait(async move { destination.copy_all_from(&source, &photos).await })
}
