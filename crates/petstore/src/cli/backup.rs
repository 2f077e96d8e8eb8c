//! `petstore backup`: copies the database and its photos to files. `petstore restore` copies
//! databases with the same functions.

use std::{
    fmt::Display,
    path::{Path, PathBuf},
};

use clap::Args;
use petstore_databases::DatabaseUrl;
use petstore_domain::{WriteContext, store_area::PhotoId};
use petstore_store_sqlite::{self as sqlite, CopyError};
use rand::RngExt;

use super::{
    args::{BadSetting, DatabaseArgs},
    photo_files,
    photos::PhotoArgs,
};

/// Copy the database to a file, whether the service runs or not
///
/// The copy is a snapshot. It contains everything that was acknowledged before the
/// command began. The command checks the copy and writes it to disk before it
/// gives it the name DEST. Only its owner may read DEST, because it contains the
/// digests of API keys. It also copies the files of photos into the folder DEST.photos, except
/// those that are there, and shares those of other backups next to DEST. It fails if it cannot
/// find all. The database must be a SQLite file; for PostgreSQL, use
/// `pg_dump` or `pg_basebackup`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Example:\n",
    "  petstore backup /backup/petstore.db"
))]
pub(super) struct Backup {
    /// The file to write
    #[arg(value_name = "DEST")]
    destination: PathBuf,

    /// Replace DEST if it exists
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    photos: PhotoArgs,
}

impl Backup {
    /// Copies the database, then its photos.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let postgres_alternative = "pg_dump or pg_basebackup";
        let source = require_sqlite_file(&self.database, postgres_alternative)?;
        let destination = &self.destination;
        check_destination(destination)?;

        let copy = DatabaseCopy {
            source,
            source_name: &self.database.url,
            destination,
            destination_name: &destination.display(),
            replace: self.force,
            restore_context: None,
        };
        let photos = copy.copy_and_print_summary()?;
        self.copy_photos(&photos)
    }

    /// Copies the files of photos if they are in a folder. Otherwise, prints why the backup has no
    /// photos, unless the database has none.
    fn copy_photos(&self, photos: &[PhotoId]) -> anyhow::Result<()> {
        let why_not_copied = match self.photos.open_to_read(&self.database.url)? {
            Some(source) if source.as_folder().is_some() => {
                let destination = photo_files::open_backup_folder(&self.destination, &source)?;
                let advice = "name their place with --photos";
                return photo_files::copy_and_report(source, destination, photos, advice);
            }
            Some(bucket) => format!("The photos stay in {bucket}; the copy has none\n"),
            None => "The copy has no photos, because they are off\n".to_owned(),
        };
        if photos.is_empty() {
            return Ok(());
        }
        super::output::print(&why_not_copied)
    }
}

/// Checks that a file can be written to this path: it is not a folder, and its folder exists.
fn check_destination(destination: &Path) -> Result<(), BadSetting> {
    if destination.is_dir() {
        let path = destination.display();
        return Err(BadSetting(format!("{path} is a folder; name a file in it")));
    }
    if let Some(folder) = destination.parent()
        && !folder.as_os_str().is_empty()
        && !folder.is_dir()
    {
        let path = folder.display();
        return Err(BadSetting(format!(
            "the folder {path} does not exist; create it"
        )));
    }
    Ok(())
}

/// The source and the destination of a copy of a SQLite database, for a backup or for a restore.
pub(super) struct DatabaseCopy<'c> {
    pub(super) source: &'c Path,
    /// The name of the source in messages.
    pub(super) source_name: &'c dyn Display,
    pub(super) destination: &'c Path,
    /// The name of the destination in messages.
    pub(super) destination_name: &'c dyn Display,
    /// Whether to replace an existing file.
    pub(super) replace: bool,
    /// The context of a restore, which the copy records in its audit trail. A backup has none.
    pub(super) restore_context: Option<&'c WriteContext>,
}

impl DatabaseCopy<'_> {
    /// Copies the database, and prints a summary. Returns the photos that the copy needs.
    pub(super) fn copy_and_print_summary(&self) -> anyhow::Result<Vec<PhotoId>> {
        // The temporary file of the copy has this number in its name.
        let file_number = super::runtime::random().random();
        let copied_database = sqlite::copy(
            self.source,
            self.destination,
            self.replace,
            file_number,
            self.restore_context,
        )
        .map_err(to_command_error)?;

        let destination = self.destination_name;
        if let Some(kept_old_database) = copied_database.kept_old_database {
            super::output::print_message(&format!(
                "The old content of {destination} was damaged or in several files. It is kept as {}; \
                 remove it, and the files whose names begin with its name, when you no longer \
                 need them.",
                kept_old_database.display()
            ));
        }
        let source = self.source_name;
        let animals = super::output::counted(copied_database.animals, "animal");
        super::output::print(&format!(
            "{destination} is a valid copy of {source}: {animals}\n"
        ))?;
        Ok(copied_database.photos)
    }
}

/// Converts the error of a copy to the error of the command. A destination that cannot be used is a
/// mistake in the arguments.
fn to_command_error(error: CopyError) -> anyhow::Error {
    match error {
        CopyError::Open(error) => error.into(),
        CopyError::Exists(_) | CopyError::Same(_) => BadSetting(error.to_string()).into(),
        _ => error.into(),
    }
}

/// Returns the path of the SQLite database. Fails for a PostgreSQL database, with an error that
/// names the programs to use instead, `postgres_alternative`.
pub(super) fn require_sqlite_file<'d>(
    database: &'d DatabaseArgs,
    postgres_alternative: &str,
) -> anyhow::Result<&'d Path> {
    match &database.url {
        DatabaseUrl::Sqlite(path) => Ok(path),
        DatabaseUrl::Postgres(url) => {
            let message = format!(
                "{url} is not a SQLite database; for PostgreSQL, use {postgres_alternative}"
            );
            anyhow::bail!(BadSetting(message))
        }
    }
}
