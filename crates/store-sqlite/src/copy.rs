//! Copies a database into a single file, atomically and with a check of the copy.

mod content;
mod hard_links;
mod partial_file;
mod replacement;

use std::path::Path;

use petstore_domain::WriteContext;
use petstore_store::OpenMode;
use petstore_system::owner::create_file;

pub use self::content::{CopiedContent, CopiedDatabase};
use self::{content::copy_content, partial_file::PartialFile, replacement::prepare_replacement};
use super::{
    copy_error::CopyError,
    file_identity::{files_of, is_companion, is_same_file, remove_database},
    opening,
};

/// Copies the database at `source_path` to `target_path`, even while other processes write to it.
///
/// The copy is a single file of mode 0600, because it contains the digests of keys. A file at
/// `target_path` is replaced only with `replace`, and only if no process has it open. With
/// `restore_context`, the copy begins a new epoch of the log, and records the restore as an act if it
/// has the schema of this release.
///
/// The copy is first written next to `target_path`, under a name that contains the random `number`.
/// If the process is killed, that file stays behind. At any moment, even after a power cut, the
/// target is either the old file or the complete copy. If the old database has several files, it
/// always remains complete, under its own name or under the name of its hard links.
///
/// # Errors
///
/// See [`CopyError`]. Unless the error says otherwise, the target is unchanged.
pub fn copy(
    source_path: &Path,
    target_path: &Path,
    replace: bool,
    number: u64,
    restore_context: Option<&WriteContext>,
) -> Result<CopiedDatabase, CopyError> {
    if is_companion(target_path) {
        return Err(CopyError::Companion(target_path.display().to_string()));
    }
    let source = opening::open_read_only(source_path, OpenMode::CreateAndMigrate)?;
    check_target(source_path, target_path, replace)?;

    let replaced_database = prepare_replacement(target_path)?;
    let partial_file = PartialFile::create(target_path, number)
        .map_err(|error| CopyError::from_write(target_path, error))?;
    let no_callback = || {};
    let content = copy_content(partial_file.path(), &source, restore_context, no_callback)
        .map_err(|problem| problem.into_copy_error(source_path, target_path))?;

    // The service at the target must be able to write to a restored database. A backup belongs to the
    // owner of its source.
    let is_restore = restore_context.is_some();
    let owner_path = if is_restore { target_path } else { source_path };
    let owner_result = partial_file.set_owner(replaced_database.as_ref(), owner_path);
    // A failure does not matter for a new backup: the service does not open it, and some file systems for
    // backups have no owners.
    let is_new_backup = replaced_database.is_none() && !is_restore;
    if !is_new_backup {
        owner_result.map_err(|error| CopyError::from_write(target_path, error))?;
    }
    let kept_old_database =
        partial_file.move_to(target_path, replaced_database.as_ref(), number)?;
    Ok(CopiedDatabase {
        animals: content.animals,
        photos: content.photos,
        kept_old_database,
    })
}

/// Rejects a target that is one of the files of the source. Unless `replace` is set, rejects a
/// target that exists, or has companion files.
fn check_target(source_path: &Path, target_path: &Path, replace: bool) -> Result<(), CopyError> {
    // SQLite keeps the companion files next to the file itself, not next to a link to it. The source is
    // open, so resolving its path fails only if somebody has just removed it.
    let real_source_path = source_path
        .canonicalize()
        .unwrap_or_else(|_| source_path.to_owned());
    let target_files = files_of(target_path);
    for source_file in files_of(&real_source_path) {
        if target_files
            .iter()
            .any(|target_file| is_same_file(&source_file, target_file))
        {
            return Err(CopyError::Same(target_path.display().to_string()));
        }
    }

    let existing_file = target_files
        .iter()
        .find(|path| path.symlink_metadata().is_ok());
    match existing_file {
        Some(path) if !replace => Err(CopyError::Exists(path.display().to_string())),
        Some(_) | None => Ok(()),
    }
}

/// Copies the database at `source_path` to `target_path`, replacing any files there, and checks the
/// copy. Unlike [`copy`], this is not atomic, and does not sync.
///
/// Calls `after_copy` as soon as the pages are copied, because the check takes most of the time.
pub fn copy_into(
    source_path: &Path,
    target_path: &Path,
    after_copy: impl FnOnce(),
) -> Result<CopiedContent, CopyError> {
    remove_database(target_path);
    create_file(target_path, None).map_err(|error| CopyError::from_write(target_path, error))?;
    let source = opening::open_read_only(source_path, OpenMode::AsIs)?;
    copy_content(target_path, &source, None, after_copy)
        .map_err(|problem| problem.into_copy_error(source_path, target_path))
}
