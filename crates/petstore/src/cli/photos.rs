//! Where the photos of animals are.

use std::{
    env,
    ffi::OsString,
    fmt::Display,
    fs,
    io::{self, ErrorKind},
    ops::ControlFlow,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use clap::Args;
use futures_util::future::try_join_all;
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{
    PetId, SystemClock,
    store_area::{PhotoFile, PhotoId, Resource},
};
use petstore_observe::log::chain;
use petstore_photos::{self as photos, AT_ONCE, Bucket, Folder, Photos, Place};
use petstore_system::owner::Owner;
use tracing::{info, warn};
use url::Url;

use super::{args::BadSetting, runtime::Waiting, values};

/// How long one request to a bucket may take.
const REQUEST_LIMIT: Duration = Duration::from_secs(8);

/// The place of photos.
#[derive(Debug, Args)]
#[command(next_help_heading = "Photos")]
pub(super) struct PhotoArgs {
    /// Where the files of photos are: a folder, `s3://BUCKET/PREFIX`, or off; by default, `photos` next to
    /// the SQLite file, and off over PostgreSQL. Every process on a database needs the same place
    #[arg(long, value_name = "PLACE", env = "PETSTORE_PHOTOS", value_parser = place)]
    pub(super) photos: Option<PlaceSetting>,
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

/// The value of `--photos`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlaceSetting {
    Off,
    Folder(PathBuf),
    Bucket(Url),
}

/// Parses a place of photos.
pub(super) fn place(text: &str) -> Result<PlaceSetting, String> {
    match text.split_once("://") {
        _ if text.is_empty() => {
            Err("the place is missing; name a folder, a bucket, or off".to_owned())
        }
        _ if text == "off" => Ok(PlaceSetting::Off),
        None if ["off", "no", "none"].contains(&&*text.to_ascii_lowercase()) => {
            Err(format!("write off for no photos, or ./{text} for a folder"))
        }
        None if text
            .get(..3)
            .is_some_and(|start| start.eq_ignore_ascii_case("s3:"))
            || text.starts_with("s3//") =>
        {
            Err(format!(
                "write s3://BUCKET/PREFIX for a bucket, or ./{text} for a folder"
            ))
        }
        None => Ok(PlaceSetting::Folder(text.into())),
        Some(("s3", _)) => {
            let url = Url::parse(text).map_err(|error| error.to_string())?;
            Ok(PlaceSetting::Bucket(url))
        }
        Some((scheme, _)) => Err(format!(
            "{scheme}:// is not known; write s3://BUCKET/PREFIX"
        )),
    }
}

/// Returns the place of the photos of a database; `None` if they are off. `option` names the
/// setting in an error.
pub(super) fn open(
    setting: Option<&PlaceSetting>,
    option: &str,
    database: &DatabaseUrl,
) -> anyhow::Result<Option<Place>> {
    let folder = |path: PathBuf| {
        let owner = Owner::for_file(if let DatabaseUrl::Sqlite(file) = database {
            file
        } else {
            &path
        });
        Some(Folder::new(path).with(owner, Vec::new()).into())
    };
    Ok(match (setting, database) {
        (Some(PlaceSetting::Folder(path)), _) => folder(path.clone()),
        (Some(PlaceSetting::Bucket(url)), _) => {
            let bucket = Bucket::new(url, variables(), REQUEST_LIMIT)
                .map_err(|reason| BadSetting(format!("{option} {url}: {reason}")))?;
            Some(bucket.into())
        }
        (None, DatabaseUrl::Sqlite(file)) => folder(file.with_file_name("photos")),
        (Some(PlaceSetting::Off), _) | (None, DatabaseUrl::Postgres(_)) => None,
    })
}

/// Returns the variables of this process, among which are the settings of a bucket.
pub(super) fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    env::vars_os().filter_map(text).collect()
}

/// Returns the path of the folder with the photos of a backup.
pub(super) fn path_of(backup: &Path) -> PathBuf {
    let mut path = backup.as_os_str().to_owned();
    path.push(OF_BACKUP);
    path.into()
}

/// Returns the place for the photos of a new backup. It shares files with the backups next to it
/// that belong to the same user, first with the newest.
pub(super) fn of_backup(backup: &Path, from: &Place) -> io::Result<Place> {
    let user = backup.metadata()?.uid();
    let here = Path::new(".").join(backup);
    let of_backup = |entry: io::Result<fs::DirEntry>| {
        let (path, found) = entry
            .and_then(|entry| Ok((entry.path(), entry.metadata()?)))
            .ok()?;
        let is_one = path
            .as_os_str()
            .as_encoded_bytes()
            .ends_with(OF_BACKUP.as_bytes());
        let is_usable = is_one && found.is_dir() && found.uid() == user;
        Some((found.modified().ok().filter(|_| is_usable)?, path))
    };
    let around = fs::read_dir(here.parent().unwrap_or(&here))?;
    let mut others: Vec<_> = around.filter_map(of_backup).collect();
    others.sort_unstable_by(|one, other| other.cmp(one));
    // Photos of a service are no backup, whatever their folder is called.
    let is_backup = |path: &PathBuf| !Place::from(Folder::new(path.clone())).is(from);
    let others = others
        .into_iter()
        .map(|(_, path)| path)
        .filter(is_backup)
        .collect();
    Ok(Folder::new(path_of(backup))
        .with(Owner::for_file(backup), others)
        .into())
}

/// The variable that names the place of photos.
const PHOTOS: &str = "PETSTORE_PHOTOS";

/// Whether an argument of this command has this name, such as `--photos`.
fn is_argument(name: &str) -> bool {
    env::args_os().any(|argument| {
        let value = argument
            .to_str()
            .and_then(|argument| argument.strip_prefix(name));
        value.is_some_and(|value| value.is_empty() || value.starts_with('='))
    })
}

impl PhotoArgs {
    /// Returns the place that a variable names, if an argument names the database: then the place
    /// is perhaps that of another database.
    pub(super) fn place_of_another_database(&self) -> Option<String> {
        let is_from_variable = env::var_os(PHOTOS).is_some() && !is_argument("--photos");
        if !is_from_variable || !is_argument("--database") {
            return None;
        }
        match &self.photos {
            Some(PlaceSetting::Folder(path)) => Some(path.display().to_string()),
            Some(PlaceSetting::Bucket(url)) => Some(url.to_string()),
            Some(PlaceSetting::Off) | None => None,
        }
    }

    /// Refuses to write to the place of photos of another database.
    pub(super) fn refuse_those_of_another_database(&self) -> Result<(), BadSetting> {
        let Some(place) = self.place_of_another_database() else {
            return Ok(());
        };
        Err(BadSetting(format!(
            "{PHOTOS} names {place}, which is perhaps the place of photos of another database than \
             --database names; name the place with --photos"
        )))
    }

    /// Returns the place of photos; `None` if they are off.
    pub(super) fn open(&self, database: &DatabaseUrl) -> anyhow::Result<Option<Place>> {
        open(self.photos.as_ref(), "--photos", database)
    }

    /// Returns the same for a command that only reads them: by default, a backup has its own.
    pub(super) fn open_to_read(&self, database: &DatabaseUrl) -> anyhow::Result<Option<Place>> {
        match (&self.photos, database) {
            (None, DatabaseUrl::Sqlite(file)) if path_of(file).is_dir() => {
                Ok(Some(Folder::new(path_of(file)).into()))
            }
            _ => self.open(database),
        }
    }

    /// Returns the same for a service. A place that was named must be there; the service makes a
    /// folder.
    async fn of_service(&self, database: &DatabaseUrl) -> anyhow::Result<Option<Place>> {
        let place = self.open(database)?;
        let Some(place) = place else {
            if self.photos.is_none() {
                info!(
                    "photos are off, because all processes on a database need the same place for \
                     them; --photos names it"
                );
            }
            return Ok(None);
        };
        if let Err(error) = place.probe().await {
            let of_service = matches!(error.kind(), ErrorKind::Other | ErrorKind::TimedOut);
            if self.photos.is_some() && (place.as_folder().is_some() || !of_service) {
                let kind = if place.as_folder().is_some() {
                    "folder"
                } else {
                    "bucket"
                };
                let error = chain(&error);
                let message = format!("--photos {place}: the {kind} cannot be used: {error}");
                return Err(BadSetting(message).into());
            }
            let error = chain(&error);
            warn!(%place, error, "the place of photos cannot be used; photos fail until it can");
        }
        Ok(Some(place))
    }
}

impl ServicePhotoArgs {
    /// Checks the setting, but not yet the place.
    pub(super) fn check(&self, database: &DatabaseUrl) -> anyhow::Result<()> {
        self.place.open(database).map(drop)
    }

    /// Returns the maker of photos, which also reads their files.
    pub(super) async fn open(&self, database: &DatabaseUrl) -> anyhow::Result<Photos> {
        let place = self.place.of_service(database).await?;
        let random = super::runtime::random();
        Ok(Photos::new(
            place,
            self.max_photo_size,
            Arc::new(SystemClock),
            random,
        ))
    }
}

/// Copies the files of the photos of a database into another place, except those that are there. Fails
/// with this advice if some are in neither.
pub(super) fn copy_all(
    from: Place,
    to: Place,
    photos: &[PhotoId],
    advice: &str,
) -> anyhow::Result<()> {
    // Then no thread is started.
    if photos.is_empty() {
        return Ok(());
    }
    let [names, place] = [format!("from {from} to {to}"), from.to_string()];
    let copied = copy_files(from, to, photos);
    let (copied, missing) =
        copied.with_context(|| format!("the photos were not copied {names}"))?;
    if copied > 0 {
        super::output::print(&format!("Copied {} {names}\n", counted(copied)))?;
    }
    anyhow::ensure!(
        missing.is_empty(),
        "the database is copied, but {place} lacks files of {} of its {}; {advice}, or leave photos out \
         with --photos off",
        missing.len(),
        counted(photos.len() as u64)
    );
    Ok(())
}

fn counted(photos: u64) -> impl Display {
    super::output::counted(photos, "photo")
}

/// Copies the files of photos. See [`Place::copy_all_from`].
pub(super) fn copy_files(
    from: Place,
    to: Place,
    photos: &[PhotoId],
) -> io::Result<(u64, Vec<PhotoId>)> {
    let photos = photos.to_vec();
    Waiting::new()?.wait(async move { to.copy_all_from(&from, &photos).await })
}

/// After the name of a backup.
const OF_BACKUP: &str = ".photos";

/// Returns a line about a place that several databases use, if this one does.
pub(super) fn line_of_marks(place: &Arc<Place>) -> anyhow::Result<Option<String>> {
    let place = Arc::clone(place);
    let marks = Waiting::new()?.wait(async move { place.marks().await })?;
    let marks = (marks.len() > 1).then(|| marks.join(", "));
    Ok(marks.map(|marks| {
        format!(
            "several databases use this place of photos, so no files are deleted; delete the marks of those that no longer \
             use it, in its folder `owners`: {marks}\n"
        )
    }))
}

/// How many problems with files are shown.
const SHOWN: u64 = 100;

/// Problems with the files of the photos of a database, as far as they are shown; their number; and that of
/// the photos.
pub(super) fn problems(
    database: &DatabaseUrl,
    place: Option<&Arc<Place>>,
    content: bool,
) -> anyhow::Result<(Vec<String>, u64, u64)> {
    let mut photos = Vec::new();
    databases::snapshot(database)?.resources(&mut |resource| {
        if let Resource::Pet(pet) = &resource {
            photos.extend(pet.photos.all().iter().map(|photo| (pet.id, photo.id)));
        }
        ControlFlow::Continue(())
    })?;
    let waiting = Waiting::new()?;
    let mut count = 0;
    let mut problems = Vec::new();
    for (photos, place) in photos
        .chunks(AT_ONCE)
        .filter_map(|photos| Some((photos, place?)))
    {
        let of_photo = |&(pet, id)| PhotoFile::all(id).map(|file| (pet, file));
        let files: Vec<(PetId, PhotoFile)> = photos.iter().flat_map(of_photo).collect();
        let states = files
            .iter()
            .map(|&(_, file)| state(Arc::clone(place), file, content));
        for ((pet, file), problem) in files.iter().zip(waiting.wait(try_join_all(states))?) {
            let Some(problem) = problem else { continue };
            count += 1;
            if count <= SHOWN {
                let name = file.name();
                problems.push(format!(
                    "animal {pet}: the file {name} of a photo {problem}"
                ));
            }
        }
    }
    if count > SHOWN {
        problems.push(format!("more of this kind: {}", count - SHOWN));
    }
    Ok((problems, count, photos.len() as u64))
}

/// Returns the problem with a file, if it has one.
async fn state(
    place: Arc<Place>,
    file: PhotoFile,
    content: bool,
) -> io::Result<Option<&'static str>> {
    let length = place.length(file).await?;
    if length.is_none() && file.size.is_made_later() {
        return Ok(None);
    }
    if length.is_none_or(|length| length == 0) {
        return Ok(Some("is missing or empty"));
    }
    let is_readable = !content
        || place
            .read(file)
            .await?
            .is_none_or(|content| photos::is_readable(&content));
    Ok((!is_readable).then_some("cannot be decoded"))
}
