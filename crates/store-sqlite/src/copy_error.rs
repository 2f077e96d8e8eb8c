//! The error of a failed copy of a database.

use std::{io, path::Path, sync::Arc};

use petstore_store::{Cause, OpenError};

/// The reason why a copy failed. Its message is one line for the operator.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The source, or the database to replace, cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The source is damaged.
    #[error("{path} is damaged ({what}) and was not copied")]
    Damaged {
        /// The path of the source.
        path: String,
        /// The damage.
        what: String,
    },
    /// The target exists, and the caller does not want to replace it.
    #[error("{0} already exists; --force replaces it")]
    Exists(String),
    /// Another process has the database open.
    #[error("{0} is in use; stop the service first")]
    InUse(String),
    /// The target is a file of the source.
    #[error("{0} is the database itself; name another file")]
    Same(String),
    /// The target has the name of a companion file, such as `petstore.db-wal`.
    #[error("{0} is the name of a file that SQLite keeps next to a database; name another file")]
    Companion(String),
    /// The target is a device, a folder, a pipe or a socket.
    #[error("{0} is not a regular file; name another file")]
    NotAFile(String),
    /// The database to replace may have transactions in its WAL, and the checkpoint failed although the
    /// database is not known to be damaged.
    #[error(
        "cannot write the WAL of {path} into the database, which is necessary before it is replaced: \
         {cause}. Nothing was changed; remove the cause and repeat the command"
    )]
    Checkpoint {
        /// The path of the database to replace.
        path: String,
        /// The error of the checkpoint.
        cause: Cause,
    },
    /// The copy cannot be written.
    #[error("cannot write {path}: {cause}")]
    Write {
        /// The path of the target.
        path: String,
        /// The error of SQLite or of the file system.
        cause: Cause,
    },
    /// The copy could not be renamed to its target, and the old database could not get its name back.
    #[error(
        "cannot write {path}: {cause}; the old database is now {kept_path}, with its WAL next to it"
    )]
    OldDatabaseMoved {
        /// The path of the target.
        path: String,
        /// The path at which the old database is now.
        kept_path: String,
        /// The error that prevented the renaming.
        cause: Cause,
    },
    /// The copy is at its target, but the directory could not be synced.
    #[error(
        "{path} is the copy now, but it cannot be synced to the disk: {cause}. \
         After a power cut, the old database may be back; repeat the command"
    )]
    NotSynced {
        /// The path of the target.
        path: String,
        /// The error of the sync.
        cause: Cause,
    },
}

impl CopyError {
    /// Returns the error of a copy that cannot be written to `path`.
    pub(super) fn from_write(path: &Path, error: io::Error) -> Self {
        Self::Write {
            path: path.display().to_string(),
            cause: Arc::new(error),
        }
    }
}
