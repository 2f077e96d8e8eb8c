//! What is done when a file of the database was removed, replaced or changed
//! while it is open: the log says so, and what only this process can still
//! reach is brought to safety.

use std::{
    error::Error,
    fs::{self, File},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, config::DbConfig};
use tracing::{error, info};

use super::{
    check,
    file::{Files, What, beside},
};

/// How many rescued copies there may be.
const MAX_COPIES: usize = 100;

/// What was said and done about the harm that was found last.
#[derive(Default)]
pub(super) struct Rescue {
    told: bool,
    is_over: bool,
}

impl Rescue {
    /// Says once what has happened, and rescues what can be rescued.
    pub(super) fn tend(&mut self, connection: &Connection, files: &Files) {
        let Some(harm) = files.harm() else {
            if self.told {
                info!("{} is back, and animals are added again", files.path().display());
                *self = Self::default();
            }
            return;
        };
        if self.is_over {
            return;
        }
        let outcome = match harm.what {
            What::DatabaseGone => self.copy(connection, files),
            What::LogGone => self.log(connection, files),
            What::LogChanged => cannot_restore(
                "What it held and no checkpoint had written into the database is lost.",
            ),
            What::DatabaseChanged => cannot_restore(
                "What was acknowledged and is not in the write-ahead log may be lost.",
            ),
            What::IndexGone => "Everything that was acknowledged is in the database and its \
                 write-ahead log. Stop every process that uses the database, then start again."
                .to_owned(),
        };
        if harm.what != What::DatabaseGone {
            self.is_over = true;
            // The log stays as it is, and nothing of it gets into a file that
            // is not the one that it belongs to.
            let untouched = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            let _ = connection.set_db_config(untouched, true);
        }
        if self.is_over || !self.told {
            error!("nothing is added any more, since {harm}. {outcome}");
        }
        self.told = true;
    }

    /// The log has no name any more, and ends with this process. The database
    /// takes up what is in it.
    fn log(&mut self, connection: &Connection, files: &Files) -> String {
        if !files.can_checkpoint() {
            return self.copy(connection, files);
        }
        let checkpoint = connection.query_row("PRAGMA wal_checkpoint(FULL)", [], |row| {
            Ok(row.get::<_, i64>(0)? == 0 && row.get::<_, i64>(1)? == row.get::<_, i64>(2)?)
        });
        match checkpoint {
            Ok(true) => "Everything that was acknowledged was written into the database. \
                 Restart the service."
                .to_owned(),
            Ok(false) | Err(_) => self.copy(connection, files),
        }
    }

    /// Writes all that was committed into a new file in the same folder. If the
    /// folder is away, too, that is tried again.
    fn copy(&mut self, connection: &Connection, files: &Files) -> String {
        let copied = copy_beside(connection, files.path());
        self.is_over = files.path().parent().is_some_and(Path::exists);
        match copied {
            Ok(copy) => format!(
                "Everything that was acknowledged was copied to {0}. Stop the service, then run: \
                 petstore restore {0} --force --database sqlite:{1}",
                copy.display(),
                files.path().display()
            ),
            Err(error) => format!(
                "What was acknowledged could not be copied ({error}). Put the file back before \
                 this process ends, or it is lost."
            ),
        }
    }
}

fn cannot_restore(lost: &str) -> String {
    format!(
        "{lost} Stop the service, copy the files that remain, and look at the database with \
         `petstore check`, or restore a backup with `petstore restore`."
    )
}

/// Writes a copy of a database in the same folder, and returns where.
fn copy_beside(
    connection: &Connection,
    database: &Path,
) -> Result<PathBuf, Box<dyn Error + Send + Sync>> {
    let copy = free_place(database)?;
    fill(connection, &copy).inspect_err(|_| {
        let _ = fs::remove_file(beside(&copy, ".partial"));
    })?;
    Ok(copy)
}

/// A name that no copy has yet.
fn free_place(database: &Path) -> io::Result<PathBuf> {
    let places = (1..=MAX_COPIES).map(|number| beside(database, &format!(".rescued-{number}")));
    for place in places {
        if !place.try_exists()? {
            return Ok(place);
        }
    }
    Err(io::Error::other("there are too many rescued copies already"))
}

/// Puts a copy there, whole and on disk, or nothing.
fn fill(connection: &Connection, copy: &Path) -> Result<(), Box<dyn Error + Send + Sync>> {
    let partial = beside(copy, ".partial");
    let name = partial.to_str().ok_or(io::Error::from(io::ErrorKind::InvalidFilename))?;
    let folder = copy.parent().ok_or(io::Error::from(io::ErrorKind::NotADirectory))?;
    // SQLite takes an empty file as it is.
    File::options().write(true).create(true).truncate(true).mode(0o600).open(&partial)?;
    connection.execute("VACUUM INTO ?1", [name])?;
    let found = check::all(&Connection::open(&partial)?)?;
    if let Some(problem) = found.problems.into_iter().next() {
        return Err(problem.into());
    }
    File::open(&partial)?.sync_all()?;
    fs::rename(&partial, copy)?;
    Ok(File::open(folder)?.sync_all()?)
}
