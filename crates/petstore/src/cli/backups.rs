//! `petstore backups`, and the backups that `petstore serve` makes itself.

use std::{
    io::{self, ErrorKind},
    path::Path,
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
    time::Duration,
};

use anyhow::{Context, ensure};
use clap::Args;
use indicatif::HumanBytes;
use jiff::Timestamp;
use petstore_app::App;
use petstore_databases::DatabaseUrl;
use petstore_domain::{SystemClock, store_area::Epoch};
use petstore_photos::mark_of;
use tokio::time;

use super::{
    args::BadSetting,
    photos::{self, PlaceSetting},
    values,
};
use crate::backups::{self, Backups, Own, Place};

/// How long the service waits at its start to know whether another one makes backups in the place.
const LOCKED_WITHIN: Duration = Duration::from_secs(5);

/// How long a backup may take.
pub(super) const LIMIT: Duration = Duration::from_hours(2);

/// The advice about a place that is read-only for the service.
const READ_ONLY: &str = "; the file system is read-only there: name another folder, or make this one writable \
     (with the package, by ReadWritePaths in the unit)";

/// The backups that a service makes itself.
#[derive(Debug, Args)]
#[command(next_help_heading = "Backups")]
pub(super) struct BackupArgs {
    /// Where the service makes backups of its SQLite database: a folder, `s3://BUCKET/PREFIX`, or off
    #[arg(long, value_name = "PLACE", env = "PETSTORE_BACKUP", default_value = "off", value_parser = photos::place)]
    backup: PlaceSetting,

    /// How often it makes one, from 1s to 365d; by default, every 24h
    #[arg(long, value_name = "DURATION", env = "PETSTORE_BACKUP_EVERY", value_parser = values::backup_interval)]
    backup_every: Option<Duration>,

    /// How long it keeps the newest backup of each day, from 1d on; by default, 14d. It keeps all of the
    /// last day, and always two
    #[arg(long, value_name = "DURATION", env = "PETSTORE_BACKUP_KEEP", value_parser = values::retention)]
    backup_keep: Option<Duration>,
}

/// The maker of backups, and how often it makes one.
pub(super) type Maker = (Arc<Backups>, Duration);

impl BackupArgs {
    /// Checks the settings, but not yet the place.
    pub(super) fn check(&self, database: &DatabaseUrl) -> anyhow::Result<()> {
        let is_off = self.backup == PlaceSetting::Off;
        let needs_place = self.backup_every.or(self.backup_keep).is_some();
        let what = "--backup-every and --backup-keep need --backup, the place of the backups";
        ensure!(!is_off || !needs_place, BadSetting(what.to_owned()));
        let what = "--backup is for SQLite; for PostgreSQL, use pg_dump or pg_basebackup";
        match database {
            DatabaseUrl::Postgres(_) => ensure!(is_off, BadSetting(what.to_owned())),
            DatabaseUrl::Sqlite(file) if !is_off => {
                open(&self.backup, file).map_err(|why| BadSetting(format!("--backup: {why}")))?;
            }
            DatabaseUrl::Sqlite(_) => {}
        }
        Ok(())
    }

    /// Opens the place; `None` if the service makes no backups. A place that cannot be used now is used
    /// as soon as it can, but none that another service uses.
    pub(super) async fn open(
        &self,
        database: &DatabaseUrl,
        app: &App,
    ) -> anyhow::Result<Option<Maker>> {
        let DatabaseUrl::Sqlite(file) = database else {
            return Ok(None);
        };
        app.backups.is_possible.store(true, Relaxed);
        if self.backup == PlaceSetting::Off {
            return Ok(None);
        }
        let day = Duration::from_hours(24);
        let every = self.backup_every.unwrap_or(day);
        let keep = self.backup_keep.unwrap_or(14 * day);
        app.backups.interval.store(every.as_secs(), Relaxed);
        let setting = self.backup.clone();
        let database = file.clone();
        let key = app.store.etag_key();
        let Epoch(epoch) = app.store.journal_state().await?.epoch;
        let copy = u128::from_be_bytes(epoch);
        let made = Arc::new(Backups {
            place: Box::new(move || open(&setting, &database).map_err(io::Error::other)),
            database: file.clone(),
            photos: Arc::clone(&app.photos),
            keep,
            limit: LIMIT,
            clock: Arc::new(SystemClock),
            mark: mark_of(&key, "backups"),
            copy: mark_of(&key, &format!("{copy:032x}")),
            metrics: Arc::clone(&app.backups),
            state: Mutex::default(),
        });
        // Another failure is that of the first backup.
        if let Ok(Err(error)) = time::timeout(LOCKED_WITHIN, made.lock()).await
            && let Some(advice) = self.advice(&error)
        {
            return Err(BadSetting(format!("--backup: {error}{advice}")).into());
        }
        Ok(Some((made, every)))
    }
}

impl BackupArgs {
    /// Returns what to do about an error that does not pass by itself; `None` if it may.
    fn advice(&self, error: &io::Error) -> Option<&'static str> {
        if error.kind() == ErrorKind::ResourceBusy {
            return Some("");
        }
        if !matches!(self.backup, PlaceSetting::Folder(_)) {
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
            ErrorKind::ReadOnlyFilesystem => Some(READ_ONLY),
            ErrorKind::NotFound | ErrorKind::Unsupported | ErrorKind::InvalidInput => {
                Some("; no folder can be made there: name another one")
            }
            _ => None,
        }
    }
}

/// Opens a place for the backups of this database.
fn open(setting: &PlaceSetting, database: &Path) -> Result<Place, String> {
    match setting {
        PlaceSetting::Off => Err("name a folder or a bucket".to_owned()),
        PlaceSetting::Folder(path) => {
            Place::folder(path.clone(), database).map_err(|error| error.to_string())
        }
        PlaceSetting::Bucket(url) => {
            let variables = photos::variables();
            Place::bucket(url, &variables, database).map_err(|why| format!("{url}: {why}"))
        }
    }
}

/// What a command names: a place, or one backup in it.
pub(super) struct Named {
    pub(super) place: Place,
    own: Own,
    one: Option<Timestamp>,
}

impl Named {
    /// `None` if the text names neither a folder, nor a bucket, nor a backup that the service made.
    pub(super) fn find(text: &str, database: &Path) -> anyhow::Result<Option<Self>> {
        let (above, last) = text
            .trim_end_matches('/')
            .rsplit_once('/')
            .unwrap_or((".", text));
        let one = backups::time_of(last);
        let place = if one.is_some() { above } else { text };
        let setting = photos::place(place).map_err(BadSetting)?;
        if one.is_none() && matches!(&setting, PlaceSetting::Folder(path) if !path.is_dir()) {
            return Ok(None);
        }
        let place = open(&setting, database).map_err(BadSetting)?;
        let own = place
            .own()
            .with_context(|| format!("cannot read {place}"))?;
        Ok(Some(Self { place, own, one }))
    }

    /// Returns the time and the length of the backup that is meant: by default, the newest one.
    pub(super) fn one(&self, now: Timestamp) -> anyhow::Result<(Timestamp, u64)> {
        let found = self.one.or(self.own.newest(now));
        let found = found.and_then(|at| Some((at, *self.own.backups.get(&at)?)));
        let what = match self.one {
            Some(at) => {
                let place = &self.place;
                let name = backups::name(at);
                format!("{place} has no backup {name}; petstore backups {place} lists those it has")
            }
            None => format!("{} has no backup that `petstore serve` made", self.place),
        };
        Ok(found.ok_or(BadSetting(what))?)
    }

    /// Returns the command that restores the backup before this one.
    pub(super) fn before(&self, at: Timestamp) -> String {
        match self.own.backups.range(..at).next_back() {
            Some((&before, _)) => {
                let name = backups::name(before);
                format!("the one before it: petstore restore {}/{name}", self.place)
            }
            None => "there is none before it".to_owned(),
        }
    }
}

/// List the backups that `petstore serve` made
///
/// The command lists them with their times in UTC, their sizes and how many animals they have, the newest
/// last. `petstore restore` restores one of them.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore backups /backup\n",
    "  petstore backups s3://shop/backups"
))]
pub(super) struct List {
    /// The folder, or `s3://BUCKET/PREFIX`
    #[arg(value_name = "PLACE", env = "PETSTORE_BACKUP")]
    place: String,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let named = Named::find(&self.place, Path::new("petstore.db"))?;
        let named = named.filter(|named| named.one.is_none()).with_context(|| {
            BadSetting(format!(
                "{} is no folder and no bucket; name the place of backups",
                self.place
            ))
        })?;
        let mut rows = vec![["NAME", "TIME", "SIZE", "ANIMALS"].map(str::to_owned)];
        for (&at, &size) in &named.own.backups {
            // A list can be lost.
            let animals = backups::list(&named.place, at).map(|(animals, _)| animals.to_string());
            let size = HumanBytes(size).to_string();
            rows.push([
                backups::name(at),
                at.to_string(),
                size,
                animals.unwrap_or_default(),
            ]);
        }
        super::output::print(&super::output::table(&rows))
    }
}
