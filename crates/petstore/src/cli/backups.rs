//! The options for the backups that `petstore serve` makes itself, the storage of backups that an
//! argument of a command names, and `petstore backups`, which lists the backups in a storage.

use std::{
    io::{self, ErrorKind},
    path::Path,
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use clap::Args;
use indicatif::HumanBytes;
use jiff::Timestamp;
use petstore_app::App;
use petstore_databases::DatabaseUrl;
use petstore_domain::{SystemClock, store_area::Epoch};
use petstore_photos::database_mark;
use tokio::time;

use super::{
    args::BadSetting,
    photos::{self, StorageSetting},
    values,
};
use crate::backups::{self, BackupStorage, Backups, PhotoList, StoredFiles};

/// How long the service waits at its start to find out whether another service makes backups in the
/// storage.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a backup may take.
pub(super) const BACKUP_TIMEOUT: Duration = Duration::from_hours(2);

/// The default time between two backups.
const DEFAULT_INTERVAL: Duration = Duration::from_hours(24);

/// How long the newest backup of each day is kept by default.
const DEFAULT_RETENTION: Duration = Duration::from_hours(14 * 24);

/// The advice about a storage that is read-only for the service.
const READ_ONLY_ADVICE: &str = "; the file system is read-only there: name another folder, or make this one writable \
     (with the package, by ReadWritePaths in the unit)";

/// The options for the backups that a service makes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Backups")]
pub(super) struct BackupArgs {
    /// Where the service makes backups of its SQLite database: a folder, `s3://BUCKET/PREFIX`, or
    /// off
    #[arg(long, value_name = "PLACE", env = "PETSTORE_BACKUP", default_value = "off", value_parser = photos::parse_storage)]
    backup: StorageSetting,

    /// How often it makes one, from 1s to 365d; by default, every 24h
    #[arg(long, value_name = "DURATION", env = "PETSTORE_BACKUP_EVERY", value_parser = values::parse_backup_interval)]
    backup_every: Option<Duration>,

    /// How long it keeps the newest backup of each day, from 1d on; by default, 14d. It keeps all
    /// of the last day, and always two
    #[arg(long, value_name = "DURATION", env = "PETSTORE_BACKUP_KEEP", value_parser = values::parse_retention)]
    backup_keep: Option<Duration>,
}

/// The maker of the backups of a service, and the time between two backups.
pub(super) struct BackupMaker {
    pub(super) backups: Arc<Backups>,
    pub(super) interval: Duration,
}

impl BackupArgs {
    /// Checks the settings, but not yet the storage.
    pub(super) fn check(&self, database: &DatabaseUrl) -> anyhow::Result<()> {
        if self.backup == StorageSetting::Off {
            let has_other_options = self.backup_every.is_some() || self.backup_keep.is_some();
            let message =
                "--backup-every and --backup-keep need --backup, the place of the backups";
            ensure!(!has_other_options, BadSetting(message.to_owned()));
            return Ok(());
        }
        match database {
            DatabaseUrl::Postgres(_) => {
                let message =
                    "--backup is for SQLite; for PostgreSQL, use pg_dump or pg_basebackup";
                bail!(BadSetting(message.to_owned()));
            }
            DatabaseUrl::Sqlite(file) => {
                open_storage(&self.backup, file)
                    .map_err(|reason| BadSetting(format!("--backup: {reason}")))?;
                Ok(())
            }
        }
    }

    /// Prepares the backups of a service. Returns `None` if the service makes no backups.
    ///
    /// Fails if another service uses the storage, or if the storage cannot work before an operator
    /// has acted. A storage that is only unavailable now is not an error, because later runs can
    /// still use it.
    pub(super) async fn prepare(
        &self,
        database: &DatabaseUrl,
        app: &App,
    ) -> anyhow::Result<Option<BackupMaker>> {
        let DatabaseUrl::Sqlite(file) = database else {
            return Ok(None);
        };
        // The service can back up a SQLite database. From here on, the console warns if it has not.
        app.backups.is_possible.store(true, Relaxed);
        if self.backup == StorageSetting::Off {
            return Ok(None);
        }

        let interval = self.backup_every.unwrap_or(DEFAULT_INTERVAL);
        app.backups.interval.store(interval.as_secs(), Relaxed);
        let backups = self.build_backups(file, app).await?;

        let lock_error = match time::timeout(LOCK_TIMEOUT, backups.lock()).await {
            Ok(lock_result) => lock_result.err(),
            // After a timeout, the service starts anyway: each backup locks the storage first.
            Err(_elapsed) => None,
        };
        // An error for which there is no advice does not stop the service either. If its cause
        // lasts, the first backup fails, which is logged.
        if let Some(error) = lock_error
            && let Some(advice) = self.advice_for(&error)
        {
            return Err(BadSetting(format!("--backup: {error}{advice}")).into());
        }
        Ok(Some(BackupMaker { backups, interval }))
    }

    /// Builds the maker of the backups of this database file. Does not use the storage yet.
    async fn build_backups(&self, file: &Path, app: &App) -> anyhow::Result<Arc<Backups>> {
        let setting = self.backup.clone();
        let database = file.to_owned();
        let open = move || open_storage(&setting, &database).map_err(io::Error::other);
        // A secret of the database that a restore keeps, from which the marks are derived.
        let key = app.store.etag_key();
        // A restore gives the log of changes another epoch, so the epoch identifies this copy of
        // the database.
        let Epoch(epoch_bytes) = app.store.journal_state().await?.epoch;
        let epoch = u128::from_be_bytes(epoch_bytes);

        Ok(Arc::new(Backups {
            open_storage: Box::new(open),
            database: file.to_owned(),
            photos: Arc::clone(&app.photos),
            retention: self.backup_keep.unwrap_or(DEFAULT_RETENTION),
            time_limit: BACKUP_TIMEOUT,
            clock: Arc::new(SystemClock),
            database_mark: database_mark(&key, "backups"),
            copy_id: database_mark(&key, &format!("{epoch:032x}")),
            metrics: Arc::clone(&app.backups),
            state: Mutex::default(),
        }))
    }

    /// Returns the advice to append to the message of an error. The advice is empty if the message
    /// itself says what to do. Returns `None` if the error may go away on its own.
    fn advice_for(&self, error: &io::Error) -> Option<&'static str> {
        if error.kind() == ErrorKind::ResourceBusy {
            return Some("");
        }
        if !matches!(self.backup, StorageSetting::Folder(_)) {
            return None;
        }
        match error.kind() {
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
                Some("; it is a file, or below a file: name a folder")
            }
            ErrorKind::PermissionDenied => Some(
                "; give the folder to the user of the service, as with \
                 `install -d -o petstore -g petstore -m 700 FOLDER`, or name another one",
            ),
            ErrorKind::ReadOnlyFilesystem => Some(READ_ONLY_ADVICE),
            ErrorKind::NotFound | ErrorKind::Unsupported | ErrorKind::InvalidInput => {
                Some("; no folder can be made there: name another one")
            }
            _ => None,
        }
    }
}

/// Opens the storage for the backups of a database. The error is a message for the operator.
fn open_storage(setting: &StorageSetting, database: &Path) -> Result<BackupStorage, String> {
    match setting {
        StorageSetting::Off => Err("name a folder or a bucket".to_owned()),
        StorageSetting::Folder(path) => {
            BackupStorage::from_folder(path.clone(), database).map_err(|error| error.to_string())
        }
        StorageSetting::Bucket(url) => {
            let variables = photos::environment_variables();
            BackupStorage::from_bucket(url, &variables, database)
                .map_err(|reason| format!("{url}: {reason}"))
        }
    }
}

/// The storage of backups that the argument of a command names. The argument is either the place of
/// the storage, or one of its backups.
pub(super) struct NamedBackups {
    pub(super) storage: BackupStorage,
    files: StoredFiles,
    /// The time of the backup, if the argument names one.
    named_time: Option<Timestamp>,
}

/// A backup in a storage.
pub(super) struct SelectedBackup {
    pub(super) time: Timestamp,
    /// The length of the compressed file in bytes.
    pub(super) length: u64,
}

impl NamedBackups {
    /// Opens the storage that the argument names, and lists its files. The argument is a place such
    /// as `/backup`, or a backup there, such as `/backup/petstore-20261126T040000Z.db.gz`.
    ///
    /// Returns `None` if the argument is neither a folder, nor a bucket, nor the name of a backup
    /// that a service made.
    pub(super) fn find(argument: &str, database: &Path) -> anyhow::Result<Option<Self>> {
        // A name without a folder before it is in the present folder.
        let (parent, name) = argument
            .trim_end_matches('/')
            .rsplit_once('/')
            .unwrap_or((".", argument));
        let named_time = backups::backup_time(name);
        let place_name = if named_time.is_some() {
            parent
        } else {
            argument
        };

        let setting = photos::parse_storage(place_name).map_err(BadSetting)?;
        if named_time.is_none()
            && let StorageSetting::Folder(path) = &setting
            && !path.is_dir()
        {
            return Ok(None);
        }

        let storage = open_storage(&setting, database).map_err(BadSetting)?;
        let files = storage
            .list_files()
            .with_context(|| format!("cannot read {storage}"))?;
        Ok(Some(Self {
            storage,
            files,
            named_time,
        }))
    }

    /// Selects the backup that the argument names, or else the newest one.
    pub(super) fn select(&self, now: Timestamp) -> anyhow::Result<SelectedBackup> {
        let time = self.named_time.or(self.files.newest_backup(now));
        if let Some(time) = time
            && let Some(&length) = self.files.backups.get(&time)
        {
            return Ok(SelectedBackup { time, length });
        }

        let storage = &self.storage;
        let message = match self.named_time {
            Some(time) => {
                let name = backups::backup_name(time);
                format!(
                    "{storage} has no backup {name}; petstore backups {storage} lists those it has"
                )
            }
            None => format!("{storage} has no backup that `petstore serve` made"),
        };
        bail!(BadSetting(message))
    }

    /// Returns the advice to restore the backup before this time, with the command for it.
    pub(super) fn advice_before(&self, time: Timestamp) -> String {
        match self.files.backups.range(..time).next_back() {
            Some((&earlier_time, _)) => {
                let name = backups::backup_name(earlier_time);
                format!(
                    "the one before it: petstore restore {}/{name}",
                    self.storage
                )
            }
            None => "there is none before it".to_owned(),
        }
    }
}

/// List the backups that `petstore serve` made
///
/// The command lists them with their times in UTC, their sizes and how many animals they have, the
/// newest last. `petstore restore` restores one of them.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore backups /backup\n",
    "  petstore backups s3://shop/backups"
))]
pub(super) struct List {
    /// The folder, or `s3://BUCKET/PREFIX`
    #[arg(value_name = "PLACE", env = "PETSTORE_BACKUP")]
    storage: String,
}

impl List {
    /// Prints the table of backups.
    pub(super) fn run(self) -> anyhow::Result<()> {
        // The path of the database matters only for writes, and this command writes nothing.
        let database = Path::new("petstore.db");
        let named_backups = NamedBackups::find(&self.storage, database)?;
        let place_backups = match named_backups {
            Some(named_backups) if named_backups.named_time.is_none() => named_backups,
            _ => bail!(BadSetting(format!(
                "{} is neither a folder nor a bucket; name the place of backups",
                self.storage
            ))),
        };

        let mut rows = vec![["NAME", "TIME", "SIZE", "ANIMALS"].map(str::to_owned)];
        for (&time, &length) in &place_backups.files.backups {
            // A backup without its list is still a backup, so the number of animals stays empty.
            let animal_count = match PhotoList::read(&place_backups.storage, time) {
                Ok(list) => list.animal_count.to_string(),
                Err(_) => String::new(),
            };
            let size = HumanBytes(length).to_string();
            rows.push([
                backups::backup_name(time),
                time.to_string(),
                size,
                animal_count,
            ]);
        }
        super::output::print(&super::output::render_table(&rows))
    }
}
