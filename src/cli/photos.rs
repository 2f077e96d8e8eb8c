//! Where the photos of animals are.

use std::{
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use tracing::info;

use super::{args::BadSetting, values};
use crate::{
    domain::{
        SystemClock,
        store_area::{PhotoId, Resource, StorePet},
    },
    photos::{Folder, PhotoFile, Photos, Size, first_byte},
    store::{self, DatabaseUrl},
};

/// The place of photos.
#[derive(Debug, Args)]
#[command(next_help_heading = "Photos")]
pub(super) struct PhotoArgs {
    /// The folder with the files of photos, or off; by default, `photos` next to the SQLite file, and off
    /// over PostgreSQL. Every process on a database needs the same one
    #[arg(long, value_name = "FOLDER", env = "PETSTORE_PHOTOS", value_parser = place)]
    pub(super) photos: Option<Place>,
}

/// The photos of a service.
#[derive(Debug, Args)]
#[command(next_help_heading = "Photos")]
pub(super) struct ServicePhotoArgs {
    #[command(flatten)]
    place: PhotoArgs,

    /// The largest picture that a client can send, such as 500KiB or 16MiB; up to 64MiB
    #[arg(long, value_name = "SIZE", env = "PETSTORE_MAX_PHOTO_SIZE", default_value = "16MiB", value_parser = values::photo_size)]
    max_photo_size: usize,
}

/// What `--photos` can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Off,
    Folder(PathBuf),
}

/// Parses a place of photos.
pub(super) fn place(text: &str) -> Result<Place, &'static str> {
    match text {
        "" => Err("the folder is missing; name one, or off"),
        "off" => Ok(Place::Off),
        url if url.contains("://") => Err(
            "this release keeps photos only in a folder, which can be a shared one; name a folder, or \
                 off",
        ),
        folder => Ok(Place::Folder(folder.into())),
    }
}

/// The folder of the photos of a database; `None` if they are off.
pub(super) fn folder(photos: Option<&Place>, database: &DatabaseUrl) -> Option<PathBuf> {
    match (photos, database) {
        (Some(Place::Folder(folder)), _) => Some(folder.clone()),
        (None, DatabaseUrl::Sqlite(file)) => Some(file.with_file_name("photos")),
        (Some(Place::Off), _) | (None, DatabaseUrl::Postgres(_)) => None,
    }
}

impl PhotoArgs {
    /// The folder of photos; `None` if they are off.
    pub(super) fn folder(&self, database: &DatabaseUrl) -> Option<PathBuf> {
        folder(self.photos.as_ref(), database)
    }

    /// The same for a service. A folder that was named must be there, or the service makes it.
    fn of_service(&self, database: &DatabaseUrl) -> anyhow::Result<Option<PathBuf>> {
        if let Some(Place::Folder(folder)) = &self.photos {
            Folder::new(folder.clone()).prepare().map_err(|error| {
                let folder = folder.display();
                BadSetting(format!("--photos {folder}: the folder cannot be used: {error}"))
            })?;
        }
        let folder = self.folder(database);
        if self.photos.is_none() && folder.is_none() {
            info!(
                "photos are off, because all processes on a database need the same folder for them; \
                 --photos names it"
            );
        }
        Ok(folder)
    }
}

impl ServicePhotoArgs {
    /// What makes photos, and reads their files.
    pub(super) fn open(&self, database: &DatabaseUrl) -> anyhow::Result<Photos> {
        let (folder, random) = (self.place.of_service(database)?, super::runtime::random());
        Ok(Photos::new(folder, self.max_photo_size, Arc::new(SystemClock), random))
    }
}

/// Copies the files of all photos into another folder, except those that are there. Returns the number
/// of photos.
pub(super) fn copy_all(from: &Path, to: &Path) -> io::Result<u64> {
    let (from, mut to) = (Folder::new(from.to_owned()), Copying::to(to.to_owned()));
    for shard in 0..=u8::MAX {
        for id in from.list(shard)?.photos.into_keys() {
            to.copy(&from, id)?;
        }
    }
    to.finish()
}

/// A folder into which photos are copied.
pub(super) struct Copying {
    to: Folder,
    /// The folders in it that got files.
    changed: [bool; 256],
    copied: u64,
    pub(super) missing: u64,
}

impl Copying {
    pub(super) fn to(folder: PathBuf) -> Self {
        Self { to: Folder::new(folder), changed: [false; 256], copied: 0, missing: 0 }
    }

    /// Copies the files of a photo, if it has them.
    pub(super) fn copy(&mut self, from: &Folder, id: PhotoId) -> io::Result<()> {
        self.to.prepare()?;
        let (mut is_missing, mut is_copied) = (false, false);
        for size in Size::ALL {
            match self.to.copy_from(from, PhotoFile { id, size }) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => is_missing = true,
                copied => is_copied |= copied?,
            }
        }
        self.changed[usize::from(first_byte(id))] |= is_copied;
        self.copied += u64::from(is_copied);
        self.missing += u64::from(is_missing);
        Ok(())
    }

    /// Waits until all are on disk. Returns how many photos were copied.
    pub(super) fn finish(self) -> io::Result<u64> {
        for shard in (0..=u8::MAX).filter(|&shard| self.changed[usize::from(shard)]) {
            self.to.sync_shard(shard)?;
        }
        Ok(self.copied)
    }
}

/// How many problems with files are shown.
const SHOWN: usize = 100;

/// What is wrong with the files of the photos of a database, and how many photos it has.
pub(super) fn problems(
    database: &DatabaseUrl,
    folder: Option<PathBuf>,
    content: bool,
) -> anyhow::Result<(Vec<String>, u64)> {
    let place = folder.map(Folder::new);
    let (mut photos, mut count, mut problems) = (0, 0, Vec::new());
    let mut failed: io::Result<()> = Ok(());
    let mut check = |pet: &StorePet, place: &Folder| -> io::Result<()> {
        for photo in pet.photos.all() {
            for file in Size::ALL.map(|size| PhotoFile { id: photo.id, size }) {
                let problem = if !place.has(file)? {
                    "is missing"
                } else if content && !place.is_readable(file)? {
                    "cannot be decoded"
                } else {
                    continue;
                };
                count += 1;
                if count <= SHOWN {
                    let (id, name) = (pet.id, file.name());
                    problems.push(format!("animal {id}: the file {name} of a photo {problem}"));
                }
            }
        }
        Ok(())
    };
    store::snapshot(database)?.resources(&mut |resource| {
        if let Resource::Pet(pet) = &resource {
            photos += pet.photos.all().len() as u64;
            if let Some(place) = &place {
                failed = check(pet, place);
            }
        }
        if failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    failed?;
    if count > SHOWN {
        problems.push(format!("more of this kind: {}", count - SHOWN));
    }
    Ok((problems, photos))
}
