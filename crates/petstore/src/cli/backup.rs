//! `petstore backup`.

use std::{
    fmt::Display,
    path::{Path, PathBuf},
};

use clap::Args;
use petstore_databases::DatabaseUrl;
use petstore_domain::{WriteContext, store_area::PhotoId};
use petstore_store_sqlite::{self as sqlite, Copied, CopyError};
use rand::RngExt;

use super::{
    args::{BadSetting, DatabaseArgs},
    photos::{self, PhotoArgs},
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
    pub(super) fn run(self) -> anyhow::Result<()> {
        let from = file(&self.database, "pg_dump or pg_basebackup")?;
        let to = &self.destination;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
        let wrong = match folder {
            _ if to.is_dir() => format!("{} is a folder; name a file in it", to.display()),
            Some(folder) if !folder.is_dir() => {
                format!("the folder {} does not exist; create it", folder.display())
            }
            _ => String::new(),
        };
        anyhow::ensure!(wrong.is_empty(), BadSetting(wrong));
        let photos = copy(
            from,
            to,
            self.force,
            None,
            (&to.display(), &self.database.database),
        )?;
        match self.photos.open_to_read(&self.database.database)? {
            Some(place) if place.as_folder().is_some() => {
                let advice = "name their place with --photos";
                let to = photos::of_backup(to, &place)?;
                photos::copy_all(place, to, &photos, advice)
            }
            _ if photos.is_empty() => Ok(()),
            Some(bucket) => {
                super::output::print(&format!("The photos stay in {bucket}; the copy has none\n"))
            }
            None => super::output::print("The copy has no photos, because they are off\n"),
        }
    }
}

/// Copies a database and prints a message with `names`: those of the copy and of the
/// database. Returns the photos that the copy needs.
pub(super) fn copy(
    from: &Path,
    to: &Path,
    replace: bool,
    restored: Option<&WriteContext>,
    names: (&dyn Display, &dyn Display),
) -> anyhow::Result<Vec<PhotoId>> {
    let copied = sqlite::copy(
        from,
        to,
        replace,
        super::runtime::random().random(),
        restored,
    );
    let Copied {
        animals,
        photos,
        aside,
    } = copied.map_err(|error| match error {
        CopyError::Open(error) => anyhow::Error::from(error),
        error @ (CopyError::Exists(_) | CopyError::Same(_)) => BadSetting(error.to_string()).into(),
        error => error.into(),
    })?;
    if let Some(aside) = aside {
        super::output::print_message(&format!(
            "The old content of {} was damaged or not in one file. It is kept as {}; \
             remove it, and the files with names that begin like this, when you no longer \
             need them.",
            names.0,
            aside.display()
        ));
    }
    let animals = super::output::counted(animals, "animal");
    super::output::print(&format!(
        "{} is a valid copy of {}: {animals}\n",
        names.0, names.1
    ))?;
    Ok(photos)
}

/// Returns the file of the database. For PostgreSQL, the error names these tools.
pub(super) fn file<'d>(database: &'d DatabaseArgs, tools: &str) -> anyhow::Result<&'d Path> {
    match &database.database {
        DatabaseUrl::Sqlite(path) => Ok(path),
        DatabaseUrl::Postgres(url) => {
            let message = format!("{url} is not a SQLite database; for PostgreSQL, use {tools}");
            anyhow::bail!(BadSetting(message))
        }
    }
}
