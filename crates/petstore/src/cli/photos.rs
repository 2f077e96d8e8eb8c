//! The options for the storage of the photos of animals. Texts for users call a storage a place.

use std::{
    env,
    io::{self, ErrorKind},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use clap::Args;
use petstore_databases::DatabaseUrl;
use petstore_domain::SystemClock;
use petstore_observe::log::error_chain;
use petstore_photos::{Bucket, Folder, PhotoStorage, Photos};
use petstore_system::owner::FileOwner;
use tracing::{info, warn};
use url::Url;

use super::{
    args::BadSetting, photo_files::backup_folder_path, values, variables::is_on_command_line,
};

/// The time limit for one request to a bucket.
const REQUEST_LIMIT: Duration = Duration::from_secs(8);

/// The environment variable of `--photos`.
const PHOTOS_VARIABLE: &str = "PETSTORE_PHOTOS";

/// The option for the storage of photos.
#[derive(Debug, Args)]
#[command(next_help_heading = "Photos")]
pub(super) struct PhotoArgs {
    /// Where the files of photos are: a folder, `s3://BUCKET/PREFIX`, or off; by default, `photos`
    /// next to the SQLite file, and off over PostgreSQL. Every process on a database needs the same
    /// place
    #[arg(long, value_name = "PLACE", env = PHOTOS_VARIABLE, value_parser = parse_storage)]
    pub(super) photos: Option<StorageSetting>,
}

/// The options for the photos of a service.
#[derive(Debug, Args)]
#[command(next_help_heading = "Photos")]
pub(super) struct ServicePhotoArgs {
    #[command(flatten)]
    photos: PhotoArgs,

    /// The largest picture that a client can send, such as 500KiB or 16MiB; up to 64MiB
    #[arg(long, value_name = "SIZE", env = "PETSTORE_MAX_PHOTO_SIZE", default_value = "16MiB", value_parser = values::parse_photo_size)]
    max_photo_size: usize,
}

/// The value of `--photos`, or of another option for a storage of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StorageSetting {
    Off,
    Folder(PathBuf),
    Bucket(Url),
}

/// Parses a storage of files: `off`, `s3://BUCKET/PREFIX`, or the path of a folder. Rejects a text
/// that is probably a misspelled `off` or bucket. With `./` before it, such a text is a folder.
pub(super) fn parse_storage(text: &str) -> Result<StorageSetting, String> {
    if text.is_empty() {
        return Err("the place is missing; name a folder, a bucket, or off".to_owned());
    }
    if text == "off" {
        return Ok(StorageSetting::Off);
    }
    if let Some((scheme, _)) = text.split_once("://") {
        if scheme != "s3" {
            return Err(format!(
                "{scheme}:// is not known; write s3://BUCKET/PREFIX"
            ));
        }
        let url = Url::parse(text).map_err(|error| error.to_string())?;
        return Ok(StorageSetting::Bucket(url));
    }

    // These texts are more likely to be mistakes than names of folders.
    let lower_case = text.to_ascii_lowercase();
    if matches!(&*lower_case, "off" | "no" | "none") {
        return Err(format!("write off for no photos, or ./{text} for a folder"));
    }
    if lower_case.starts_with("s3:") || text.starts_with("s3//") {
        return Err(format!(
            "write s3://BUCKET/PREFIX for a bucket, or ./{text} for a folder"
        ));
    }
    Ok(StorageSetting::Folder(text.into()))
}

/// Opens the storage of the photos of a database. Returns `None` if photos are off. Errors name the
/// `option` for the setting.
///
/// Without a setting, the photos of a SQLite database are in the folder `photos` next to its file,
/// and the photos of a PostgreSQL database are off.
pub(super) fn open_storage(
    setting: Option<&StorageSetting>,
    option: &str,
    database: &DatabaseUrl,
) -> anyhow::Result<Option<PhotoStorage>> {
    let folder = match (setting, database) {
        (Some(StorageSetting::Off), _) | (None, DatabaseUrl::Postgres(_)) => return Ok(None),
        (Some(StorageSetting::Bucket(url)), _) => {
            let bucket = Bucket::new(url, environment_variables(), REQUEST_LIMIT)
                .map_err(|reason| BadSetting(format!("{option} {url}: {reason}")))?;
            return Ok(Some(bucket.into()));
        }
        (Some(StorageSetting::Folder(path)), _) => path.clone(),
        (None, DatabaseUrl::Sqlite(file)) => file.with_file_name("photos"),
    };
    Ok(Some(open_folder(folder, database)))
}

/// Opens a folder for the photos of a database. New files in the folder get the owner of the SQLite
/// file. If the database is in PostgreSQL, they get the owner of the folder.
fn open_folder(path: PathBuf, database: &DatabaseUrl) -> PhotoStorage {
    let owner = match database {
        DatabaseUrl::Sqlite(file) => FileOwner::for_file(file),
        DatabaseUrl::Postgres(_) => FileOwner::for_file(&path),
    };
    Folder::new(path).with_owner(owner).into()
}

/// Returns the environment variables of this process, which include the settings of a bucket.
/// Leaves out the variables that are not UTF-8.
pub(super) fn environment_variables() -> Vec<(String, String)> {
    let mut variables = Vec::new();
    for (name, value) in env::vars_os() {
        if let Ok(name) = name.into_string()
            && let Ok(value) = value.into_string()
        {
            variables.push((name, value));
        }
    }
    variables
}

impl PhotoArgs {
    /// Returns the name of the storage if it may belong to another database than the one that the
    /// command uses. This is so if [`PHOTOS_VARIABLE`] names the storage, but the command line of
    /// this process names the database.
    pub(super) fn find_suspicious_storage(&self) -> Option<String> {
        let is_from_variable =
            env::var_os(PHOTOS_VARIABLE).is_some() && !is_on_command_line("photos");
        let is_suspicious = is_from_variable && is_on_command_line("database");
        if !is_suspicious {
            return None;
        }
        match &self.photos {
            Some(StorageSetting::Folder(path)) => Some(path.display().to_string()),
            Some(StorageSetting::Bucket(url)) => Some(url.to_string()),
            Some(StorageSetting::Off) | None => None,
        }
    }

    /// Fails if the storage may belong to another database, so that a command does not write to it.
    /// See [`Self::find_suspicious_storage`].
    pub(super) fn reject_suspicious_storage(&self) -> Result<(), BadSetting> {
        let Some(storage) = self.find_suspicious_storage() else {
            return Ok(());
        };
        Err(BadSetting(format!(
            "{PHOTOS_VARIABLE} names {storage}, which is perhaps the place of photos of another database than \
             --database names; name the place with --photos"
        )))
    }

    /// Opens the storage of photos. Returns `None` if photos are off.
    pub(super) fn open(&self, database: &DatabaseUrl) -> anyhow::Result<Option<PhotoStorage>> {
        open_storage(self.photos.as_ref(), "--photos", database)
    }

    /// Opens the storage for a command that only reads photos. Returns `None` if photos are off.
    ///
    /// If `--photos` is not set and the database is a backup, the storage is the folder that
    /// `petstore backup` made next to it.
    pub(super) fn open_to_read(
        &self,
        database: &DatabaseUrl,
    ) -> anyhow::Result<Option<PhotoStorage>> {
        if self.photos.is_none()
            && let DatabaseUrl::Sqlite(file) = database
        {
            let backup_folder = backup_folder_path(file);
            if backup_folder.is_dir() {
                return Ok(Some(Folder::new(backup_folder).into()));
            }
        }
        self.open(database)
    }

    /// Opens the storage for a service, and creates a folder that is missing. Returns `None` if
    /// photos are off. If the storage cannot be used, see [`Self::fail_or_warn`].
    async fn open_for_service(
        &self,
        database: &DatabaseUrl,
    ) -> anyhow::Result<Option<PhotoStorage>> {
        let Some(storage) = self.open(database)? else {
            if self.photos.is_none() {
                // PostgreSQL has no default, because the processes may run on several machines,
                // which share no folder.
                info!(
                    "photos are off, because all processes on a database need the same place for \
                     them; --photos names it"
                );
            }
            return Ok(None);
        };
        if let Err(error) = storage.probe().await {
            self.fail_or_warn(&storage, &error)?;
        }
        Ok(Some(storage))
    }

    /// Handles the error of a storage that cannot be used. Only logs a warning if it is the default
    /// storage, or a bucket that is unavailable at the moment. Otherwise fails, because the
    /// operator chose this storage with the option or its variable, and must correct it.
    fn fail_or_warn(&self, storage: &PhotoStorage, error: &io::Error) -> Result<(), BadSetting> {
        let is_folder = storage.as_folder().is_some();
        // Only errors of the kinds `Other` and `TimedOut` may be temporary: see
        // `PhotoStorage::probe`.
        let is_unavailable = matches!(error.kind(), ErrorKind::Other | ErrorKind::TimedOut);
        let is_unavailable_bucket = !is_folder && is_unavailable;
        let cause = error_chain(error);
        if self.photos.is_some() && !is_unavailable_bucket {
            let kind = if is_folder { "folder" } else { "bucket" };
            return Err(BadSetting(format!(
                "--photos {storage}: the {kind} cannot be used: {cause}"
            )));
        }
        warn!(place = %storage, error = cause, "the place of photos cannot be used; photos fail until it can");
        Ok(())
    }
}

impl ServicePhotoArgs {
    /// Checks the setting. Does not check whether the storage can be used, because opening a
    /// storage does not try this yet.
    pub(super) fn check(&self, database: &DatabaseUrl) -> anyhow::Result<()> {
        self.photos.open(database)?;
        Ok(())
    }

    /// Opens the storage, and returns the service that makes photos and reads their files.
    pub(super) async fn open(&self, database: &DatabaseUrl) -> anyhow::Result<Photos> {
        let storage = self.photos.open_for_service(database).await?;
        let random = super::runtime::random();
        Ok(Photos::new(
            storage,
            self.max_photo_size,
            Arc::new(SystemClock),
            random,
        ))
    }
}
