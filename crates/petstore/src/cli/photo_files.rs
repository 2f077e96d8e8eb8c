//! Copies and checks the files of photos, for commands. Each photo has a file for each of its
//! sizes.

use std::{
    fs, io,
    ops::ControlFlow,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use anyhow::Context;
use futures_util::future::try_join_all;
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{
    PetId,
    store_area::{PhotoFile, PhotoId, Resource},
};
use petstore_photos::{self as photos, CopiedPhotos, Folder, MAX_COPIES_AT_ONCE, PhotoStorage};
use petstore_system::owner::FileOwner;

use super::runtime::BlockingRuntime;

/// The suffix of the folder with the photos of a backup.
const BACKUP_FOLDER_SUFFIX: &str = ".photos";

/// Returns the path of the folder with the photos of a backup: `petstore.db.photos` for `petstore.db`.
pub(super) fn backup_folder_path(backup: &Path) -> PathBuf {
    let mut path = backup.as_os_str().to_owned();
    path.push(BACKUP_FOLDER_SUFFIX);
    path.into()
}

/// A folder with the photos of a backup. Folders are ordered by the times at which they were last modified.
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

/// Opens the folder for the photos of a new backup, which are copied from `source`. To save space, the
/// folder shares files with the backups of the same user next to it, preferring the newest.
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

    // Files are not shared with the photos of a service, even if their folder has the name of a folder
    // of a backup.
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
pub(super) fn copy_all(
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

/// Copies the files of photos, like [`PhotoStorage::copy_all_from`], and blocks until they are copied.
pub(super) fn copy_files(
    source: PhotoStorage,
    destination: PhotoStorage,
    photos: &[PhotoId],
) -> io::Result<CopiedPhotos> {
    let photos = photos.to_vec();
    BlockingRuntime::new()?.wait(async move { destination.copy_all_from(&source, &photos).await })
}

/// Returns a line that warns of a storage that several databases use. Returns `None` if at most one
/// database uses it.
pub(super) fn shared_storage_line(storage: &Arc<PhotoStorage>) -> anyhow::Result<Option<String>> {
    let storage = Arc::clone(storage);
    let marks = BlockingRuntime::new()?.wait(async move { storage.marks().await })?;
    if marks.len() <= 1 {
        return Ok(None);
    }
    Ok(Some(format!(
        "several databases use this place of photos, so no files are deleted; delete the marks of those that no longer \
         use it, in its folder `owners`: {}\n",
        marks.join(", ")
    )))
}

/// The maximum number of problems with files that a command prints.
const MAX_PRINTED_PROBLEMS: u64 = 100;

/// The problems with the files of the photos of a database.
#[derive(Default)]
pub(super) struct FileProblems {
    /// A line for each of the first problems, and one with the number of further problems.
    pub(super) lines: Vec<String>,
    pub(super) problem_count: u64,
    /// The number of photos that the database has.
    pub(super) photo_count: u64,
}

impl FileProblems {
    /// Adds a problem with a file of a photo.
    fn add(&mut self, file: &PetFile, problem: &str) {
        self.problem_count += 1;
        if self.problem_count <= MAX_PRINTED_PROBLEMS {
            let pet = file.pet;
            let name = file.photo_file.name();
            let line = format!("animal {pet}: the file {name} of a photo {problem}");
            self.lines.push(line);
        }
    }

    /// Adds the line with the number of problems that have no line, if there are any.
    fn add_remaining_count(&mut self) {
        if self.problem_count > MAX_PRINTED_PROBLEMS {
            let remaining_count = self.problem_count - MAX_PRINTED_PROBLEMS;
            let line = format!("more of this kind: {remaining_count}");
            self.lines.push(line);
        }
    }
}

/// A photo of an animal.
struct PetPhoto {
    pet: PetId,
    photo: PhotoId,
}

/// A file of a photo of an animal.
struct PetFile {
    pet: PetId,
    photo_file: PhotoFile,
}

impl PetPhoto {
    /// Returns the files of the photo.
    fn files(&self) -> impl Iterator<Item = PetFile> {
        let pet = self.pet;
        PhotoFile::all(self.photo)
            .into_iter()
            .map(move |photo_file| PetFile { pet, photo_file })
    }
}

/// Finds the problems with the files of all photos of a database. Also decodes the content of the
/// files if `decodes_content` is set. Without a storage, only counts the photos.
pub(super) fn find_problems(
    database: &DatabaseUrl,
    storage: Option<&Arc<PhotoStorage>>,
    decodes_content: bool,
) -> anyhow::Result<FileProblems> {
    let photos = read_photos(database)?;
    let mut problems = FileProblems {
        photo_count: photos.len() as u64,
        ..FileProblems::default()
    };
    let Some(storage) = storage else {
        return Ok(problems);
    };

    let runtime = BlockingRuntime::new()?;
    for chunk in photos.chunks(MAX_COPIES_AT_ONCE) {
        let files: Vec<PetFile> = chunk.iter().flat_map(PetPhoto::files).collect();
        let checks = files
            .iter()
            .map(|file| check_file(Arc::clone(storage), file.photo_file, decodes_content));
        // A problem for each of the files, or `None`.
        let results = runtime.wait(try_join_all(checks))?;
        for (file, problem) in files.iter().zip(results) {
            if let Some(problem) = problem {
                problems.add(file, problem);
            }
        }
    }
    problems.add_remaining_count();
    Ok(problems)
}

/// Reads the photos of all animals of a database.
fn read_photos(database: &DatabaseUrl) -> anyhow::Result<Vec<PetPhoto>> {
    let mut photos = Vec::new();
    databases::open_snapshot(database)?.visit_resources(&mut |resource| {
        if let Resource::Pet(pet) = &resource {
            for photo in pet.photos.all() {
                photos.push(PetPhoto {
                    pet: pet.id,
                    photo: photo.id,
                });
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(photos)
}

/// Checks that a file exists and is not empty. If `decodes_content` is set, also checks that its
/// content can be decoded. Returns the problem with the file, or `None`.
async fn check_file(
    storage: Arc<PhotoStorage>,
    file: PhotoFile,
    decodes_content: bool,
) -> io::Result<Option<&'static str>> {
    let length = storage.length(file).await?;
    if length.is_none() && file.size.may_be_missing() {
        return Ok(None);
    }
    if matches!(length, None | Some(0)) {
        return Ok(Some("is missing or empty"));
    }
    // A file that has disappeared since is no problem: the service deletes files of removed photos.
    if decodes_content
        && let Some(content) = storage.read(file).await?
        && !photos::is_readable(&content)
    {
        return Ok(Some("cannot be decoded"));
    }
    Ok(None)
}
