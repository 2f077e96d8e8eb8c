//! Checks the files of photos, for `petstore check`. Each photo has a file for each of its sizes.

use std::{io, ops::ControlFlow, sync::Arc};

use futures_util::future::try_join_all;
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{
    PetId,
    store_area::{PhotoFile, PhotoId, Resource},
};
use petstore_photos::{self as photos, MAX_COPIES_AT_ONCE, PhotoStorage};

use super::runtime::BlockingRuntime;

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

/// Finds the problems with the files of all photos of a database. If `decodes_content` is set,
/// decodes the content of each file. Without a storage, only counts the photos.
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
        let found_problems = runtime.wait(try_join_all(checks))?;
        for (file, problem) in files.iter().zip(found_problems) {
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
/// content can be decoded. Returns the problem with the file, or `None` if there is no problem.
async fn check_file(
    storage: Arc<PhotoStorage>,
    file: PhotoFile,
    decodes_content: bool,
) -> io::Result<Option<&'static str>> {
    match storage.length(file).await? {
        // The service makes this file later.
        None if file.size.may_be_missing() => return Ok(None),
        None | Some(0) => return Ok(Some("is missing or empty")),
        Some(_) => {}
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

/// Returns a line that warns of a storage that several databases use. Returns `None` if at most one
/// database uses it.
pub(super) fn describe_shared_storage(
    storage: &Arc<PhotoStorage>,
) -> anyhow::Result<Option<String>> {
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
