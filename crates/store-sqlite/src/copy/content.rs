//! Copies the pages of a database, and checks the copy.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use petstore_domain::{WriteContext, store_area::PhotoId};
use petstore_store::check::Checkup;
use rusqlite::{
    OpenFlags,
    backup::{Backup, StepResult},
};

use crate::{
    check, connection::Connection, copy_error::CopyError, errors::is_damage, journal, migrations,
    opening,
};

/// The result of a copy.
pub struct CopiedDatabase {
    /// The number of animals in the copy.
    pub animals: u64,
    /// The photos whose files belong to the copy.
    pub photos: Vec<PhotoId>,
    /// The path at which the replaced database is kept; `None` if it was intact and a single file, or if
    /// there was none.
    pub kept_old_database: Option<PathBuf>,
}

/// The content of a copy.
pub struct CopiedContent {
    /// The number of animals in the copy.
    pub animals: u64,
    /// The photos whose files belong to the copy.
    pub photos: Vec<PhotoId>,
}

/// The reason why the content could not be copied.
pub(super) enum CopyProblem {
    /// The source is damaged, as the text explains.
    Damage(String),
    /// Another process is replacing the source.
    Locked,
    /// The copy cannot be written.
    Write(rusqlite::Error),
}

impl CopyProblem {
    /// Returns the error for the operator, with the paths of both databases.
    pub(super) fn into_copy_error(self, source_path: &Path, target_path: &Path) -> CopyError {
        let source = source_path.display().to_string();
        match self {
            Self::Damage(what) => CopyError::Damaged { path: source, what },
            Self::Locked => CopyError::InUse(source),
            Self::Write(error) => CopyError::Write {
                path: target_path.display().to_string(),
                cause: Arc::new(error),
            },
        }
    }
}

impl From<rusqlite::Error> for CopyProblem {
    fn from(error: rusqlite::Error) -> Self {
        if is_damage(&error) {
            Self::Damage(error.to_string())
        } else {
            Self::Write(error)
        }
    }
}

/// Copies a snapshot of all pages into the file at `path`, and checks the copy completely. Calls
/// `after_copy` between the two steps. With `restore_context`, the copy begins a new epoch of the log.
pub(super) fn copy_content(
    path: &Path,
    source: &Connection,
    restore_context: Option<&WriteContext>,
    after_copy: impl FnOnce(),
) -> Result<CopiedContent, CopyProblem> {
    let mut target = opening::open_connection(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // No journal and no syncs: the caller discards the file if the copy fails.
    target.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    target.pragma_update(None, "journal_mode", "OFF")?;
    target.pragma_update(None, "synchronous", "OFF")?;
    // A negative number copies all pages in one step.
    if Backup::new(source, &mut target)?.step(-1)? != StepResult::Done {
        return Err(CopyProblem::Locked);
    }
    after_copy();

    // The copied header selects WAL mode. Switch to DELETE mode, so that users without write permission
    // on the folder can read the copy.
    target.pragma_update(None, "journal_mode", "DELETE")?;
    let is_current = migrations::is_current(&target)?;
    let checkup = check_copy(&mut target, is_current)?;
    if let Some(context) = restore_context {
        journal::finish_restore(&mut target, context, is_current)?;
    }
    Ok(CopiedContent {
        animals: checkup.animals,
        photos: read_photo_ids(&target)?,
    })
}

/// Checks a copy. Fails with the first problem. `is_current` tells that the copy has the schema version
/// of this release; only the checks for any version apply to other copies.
fn check_copy(target: &mut Connection, is_current: bool) -> Result<Checkup, CopyProblem> {
    let mut checkup = if is_current {
        check::check_current_version(target)?
    } else {
        check::check_any_version(target)?
    };
    if checkup.problems.is_empty() {
        return Ok(checkup);
    }
    Err(CopyProblem::Damage(checkup.problems.swap_remove(0)))
}

/// Returns the ids of the photos of all animals. A database of an older version may have no table of
/// photos, and so no photos.
fn read_photo_ids(copy: &Connection) -> rusqlite::Result<Vec<PhotoId>> {
    if !copy.table_exists(None, "photos")? {
        return Ok(Vec::new());
    }
    let mut ids = Vec::new();
    let mut statement = copy.prepare("SELECT id FROM photos")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text: String = row.get(0)?;
        // Skip a text that is not an id: no file can belong to it.
        if let Some(id) = PhotoId::parse(&text) {
            ids.push(id);
        }
    }
    Ok(ids)
}
