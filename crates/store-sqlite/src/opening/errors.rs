//! Explains to the operator why a database cannot be opened.

use std::{
    fs::File,
    io,
    path::{self, Path},
    sync::Arc,
};

use petstore_store::OpenError;
use rusqlite::ErrorCode;
use rustix::fs::{StatVfsMountFlags, statvfs};

/// The message about a database in a read-only file system.
const READ_ONLY_ADVICE: &str = "the file system is read-only there; name a file in a folder that is writable, or \
     make this one writable (with the package, by ReadWritePaths in the unit)";

/// The message about a database that the user of this process may not use.
const NO_PERMISSION_ADVICE: &str =
    "this user has no permission to read and write it; run the command as the user that owns it";

/// Returns the error for a missing database. It shows the absolute path, because the wrong working
/// directory is a frequent cause.
pub(super) fn missing_error(path: &Path) -> OpenError {
    let absolute_path = path::absolute(path);
    let shown_path = absolute_path.as_deref().unwrap_or(path);
    OpenError::Absent(shown_path.display().to_string())
}

/// Returns the error for a database that SQLite has opened read-only, although it is needed for writing.
pub(super) fn read_only_error(path: &Path) -> OpenError {
    match File::options().write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => OpenError::BadSetting {
            path: path.display().to_string(),
            what: READ_ONLY_ADVICE.to_owned(),
        },
        _ => OpenError::ReadOnly(path.display().to_string()),
    }
}

/// Converts an error that SQLite reports while the database at `path` is opened.
pub(crate) fn open_error(path: &str, error: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => OpenError::BadSetting {
            what: diagnose_path(Path::new(&path)),
            path,
        },
        Some(ErrorCode::NotADatabase) => OpenError::NotADatabase(path),
        Some(ErrorCode::DatabaseCorrupt) => OpenError::Damaged {
            path,
            what: error.to_string(),
        },
        _ => OpenError::Io {
            path,
            cause: Arc::new(error),
        },
    }
}

/// Returns a message that tells the operator why no database can be opened or created at `path`. SQLite
/// reports only that it cannot open the file, so this opens the file to find out why.
fn diagnose_path(path: &Path) -> String {
    if path.is_dir() {
        let example = path.join("petstore.db");
        return format!(
            "it is a folder; name a file in it, such as {}",
            example.display()
        );
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder_text = folder.display();
    if let Err(error) = File::options().read(true).write(true).open(path) {
        match error.kind() {
            io::ErrorKind::PermissionDenied => return NO_PERMISSION_ADVICE.to_owned(),
            io::ErrorKind::ReadOnlyFilesystem => return READ_ONLY_ADVICE.to_owned(),
            io::ErrorKind::NotFound if !folder.exists() => {
                return format!(
                    "the folder {folder_text} does not exist; create it, or name another path"
                );
            }
            io::ErrorKind::NotFound => {}
            _ => return error.to_string(),
        }
    }
    // The file itself is fine, or missing. But SQLite creates files in its folder.
    if is_read_only(folder) {
        return READ_ONLY_ADVICE.to_owned();
    }
    format!(
        "no file can be created in the folder {folder_text}; run the command as a user that may \
         write there, or name another path"
    )
}

/// Whether the file system of a folder is mounted read-only for this process.
fn is_read_only(folder: &Path) -> bool {
    statvfs(folder).is_ok_and(|status| status.f_flag.contains(StatVfsMountFlags::RDONLY))
}
