//! The errors of a store.

use std::sync::Arc;

use petstore_observe::log::error_chain;

/// The reason why a store failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The store has reached a limit. Nothing was done, and the same request may succeed in a
    /// moment.
    #[error("the store is overloaded")]
    Overloaded,
    /// The disk is full. Nothing was done, and a retry fails until somebody frees space.
    #[error("the disk is full")]
    Full(#[source] Cause),
    /// A text in the request contains U+0000, which PostgreSQL can neither compare nor store.
    /// Nothing was done.
    #[error("the database cannot hold U+0000")]
    NulInText(#[source] Cause),
    /// The store is temporarily unavailable: for example the disk fails, or another process holds a
    /// lock.
    #[error("the store is unavailable")]
    Unavailable(#[source] Cause),
    /// The store became unavailable during a write. The write may or may not have been done.
    #[error("the store became unavailable during a write, and the outcome is unknown")]
    OutcomeUnknown(#[source] Cause),
    /// The store found an inconsistent state, either its own or in its data.
    #[error("the store failed")]
    Internal(#[source] Cause),
}

impl StoreError {
    /// Converts the error of one step of a request to an unknown outcome of the whole request. This
    /// is for a request whose earlier steps may already have taken effect.
    pub fn into_unknown_outcome(self) -> Self {
        match self {
            Self::Full(cause)
            | Self::NulInText(cause)
            | Self::Unavailable(cause)
            | Self::OutcomeUnknown(cause)
            | Self::Internal(cause) => Self::OutcomeUnknown(cause),
            Self::Overloaded => Self::OutcomeUnknown(Arc::new(Self::Overloaded)),
        }
    }
}

/// The cause of an error. It appears in the log, but a client never sees it.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Wraps a message as a cause.
pub fn cause(text: &str) -> Cause {
    Cause::from(Box::<dyn std::error::Error + Send + Sync>::from(text))
}

/// The reason why a database could not be opened, as one line for the operator.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database does not exist, and the caller did not ask to create it.
    #[error(
        "there is no database at {0}; name the right one with --database, or create it with \
         `petstore serve`, or with --create (`keys create`, `staff add` and `import`)"
    )]
    Absent(String),
    /// The database has no schema, and the caller did not ask to create it.
    #[error(
        "the database {0} is empty; if `petstore serve` has just started, it is preparing the \
         database: retry in a moment. Otherwise, name the right one with --database, or create it \
         with `petstore serve`, or with --create (`keys create`, `staff add` and `import`)"
    )]
    Empty(String),
    /// The settings of the database are invalid.
    #[error("cannot open the database {path}: {what}")]
    BadSetting {
        /// The path or URL of the database.
        path: String,
        /// The fault, and what the operator must do.
        what: String,
    },
    /// The file is not a SQLite database.
    #[error("{0} is not a SQLite database: it is another file, or its beginning is damaged")]
    NotADatabase(String),
    /// The user has no write permission.
    #[error(
        "this user has no permission to write to the database {0}; run the command as the user \
         that owns it"
    )]
    ReadOnly(String),
    /// The database belongs to another program.
    #[error("{0} is a SQLite database of another program; use another file")]
    ForeignDatabase(String),
    /// The database contains an object of another program, with a name that petstore needs.
    #[error("{path} contains objects of another program ({what}); use another database or schema")]
    NameTaken {
        /// The path or URL of the database.
        path: String,
        /// The objects of the other program.
        what: String,
    },
    /// A newer release migrated the database.
    #[error(
        "{path} has schema version {found}, but this release supports only versions up to {known}; \
         use the newer release that migrated it"
    )]
    TooNew {
        /// The path or URL of the database.
        path: String,
        /// The version of its schema.
        found: u32,
        /// The newest version that this release supports.
        known: u32,
    },
    /// The database has the schema of an older release. Only `petstore serve` migrates a database.
    #[error(
        "{path} has schema version {found}, but this release needs version {known}; \
         `petstore serve` migrates it"
    )]
    TooOld {
        /// The path or URL of the database.
        path: String,
        /// The version of its schema.
        found: u32,
        /// The version that this release needs.
        known: u32,
    },
    /// Another process has the database open with a different `-shm` file, so the locks of the two
    /// processes would not exclude each other.
    #[error(
        "another process has the database {0} open, but the file {0}-shm, which coordinates the \
         processes, was removed or replaced; stop that process first"
    )]
    OtherShmFile(String),
    /// The content of the database is damaged.
    #[error("the database {path} is damaged ({what}); for details, run `petstore check`")]
    Damaged {
        /// The path or URL of the database.
        path: String,
        /// The first damage that was found.
        what: String,
    },
    /// Reading or writing failed.
    #[error("cannot open the database {path}: {}", error_chain(.cause.as_ref()))]
    Io {
        /// The path or URL of the database.
        path: String,
        /// The error of the operating system or of the driver.
        cause: Cause,
    },
}

impl OpenError {
    /// Whether a retry fails until the operator removes the cause.
    pub fn is_permanent(&self) -> bool {
        !matches!(
            self,
            Self::Empty(_) | Self::OtherShmFile(_) | Self::Damaged { .. } | Self::Io { .. }
        )
    }
}
