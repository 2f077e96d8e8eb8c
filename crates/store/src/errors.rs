//! The errors of a store.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::sync::Arc;

use petstore_observe::log::chain;

/// The reason for which a store failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The store has reached a limit. Nothing was done, and the same request may succeed in a
    /// moment.
    #[error("the store is overloaded")]
    Overloaded,
    /// The disk is full. Nothing was done, and a retry fails until somebody makes room.
    #[error("the disk is full")]
    Full(#[source] Cause),
    /// A text of the request has U+0000, which the database cannot compare or store. Nothing was done.
    #[error("the database cannot hold U+0000")]
    NulInText(#[source] Cause),
    /// The store cannot work at the moment: for example the disk fails, or another process holds a
    /// lock.
    #[error("the store is unavailable")]
    Unavailable(#[source] Cause),
    /// The store became unavailable during a write. The write may or may not have been done.
    #[error("the store became unavailable during a write, and the outcome is unknown")]
    OutcomeUnknown(#[source] Cause),
    /// The store found an invalid state, in itself or in its data.
    #[error("the store failed")]
    Internal(#[source] Cause),
}

impl StoreError {
    /// Returns the error of a request that may have been carried out in part.
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

/// The cause of an error: for the log, never for a client.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Makes a cause that is only a text.
pub fn cause(text: &str) -> Cause {
    Cause::from(Box::<dyn std::error::Error + Send + Sync>::from(text))
}

/// The reason for which a database could not be opened, in one line for the operator.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database does not exist, and was not to be created.
    #[error(
        "there is no database at {0}; name the right one with --database, or create it with \
         `petstore serve`, or with --create (`keys create`, `staff add` and `import`)"
    )]
    Absent(String),
    /// The database has no schema, and was not to be created.
    #[error(
        "the database {0} is empty; if `petstore serve` has just started, it is preparing the \
         database: retry in a moment. Otherwise, name the right one with --database, or create it \
         with `petstore serve`, or with --create (`keys create`, `staff add` and `import`)"
    )]
    Empty(String),
    /// The settings cannot work.
    #[error("cannot open the database {path}: {what}")]
    BadSetting {
        path: String,
        /// The fault, and what the operator must do.
        what: String,
    },
    /// The file is something else.
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
    OfAnotherProgram(String),
    /// The database has an object of another program, with a name that petstore needs.
    #[error("{path} contains objects of another program ({what}); use another database or schema")]
    NameTaken { path: String, what: String },
    /// A newer release migrated the database.
    #[error(
        "{path} has schema version {found}, but this release supports only versions up to {known}; \
         use the newer release that migrated it"
    )]
    TooNew {
        path: String,
        found: u32,
        known: u32,
    },
    /// The database has the schema of an older release, and only `petstore serve` migrates.
    #[error(
        "{path} has schema version {found}, but this release needs version {known}; \
         `petstore serve` migrates it"
    )]
    TooOld {
        path: String,
        found: u32,
        known: u32,
    },
    /// Another process has the database open, with another `-shm` file.
    #[error(
        "another process has the database {0} open, but the file {0}-shm, which coordinates the \
         processes, was removed or replaced; stop that process first"
    )]
    OtherShmFile(String),
    /// The content of the database is damaged.
    #[error("the database {path} is damaged ({what}); for details, run `petstore check`")]
    Damaged { path: String, what: String },
    /// Reading or writing failed.
    #[error("cannot open the database {path}: {}", chain(.cause.as_ref()))]
    Io { path: String, cause: Cause },
}

impl OpenError {
    /// Whether the error stays until the operator changes something.
    pub fn is_permanent(&self) -> bool {
        use OpenError as E;
        !matches!(
            self,
            E::Empty(_) | E::OtherShmFile(_) | E::Damaged { .. } | E::Io { .. }
        )
    }
}
