//! What can go wrong with a statement, and what is to be done about it.

use std::{error::Error, io, sync::Arc};

use tokio_postgres::error::{DbError, Severity, SqlState};

use crate::store::StoreError;

/// Why a statement was not done.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The server said so, or could not be asked.
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
    /// A row holds what cannot be.
    #[error("the column {0} holds what it cannot")]
    Row(&'static str),
    /// The role of the service lacks a right.
    #[error("the role of the service may not {0}")]
    Forbidden(&'static str),
    /// Another process did the same at this moment.
    #[error("somebody else was faster, again and again")]
    Raced,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    /// The same once more: the transaction met another one.
    Repeat,
    /// The same over another connection. Whether it was done is not known.
    Reconnect,
    /// Nothing. It may pass.
    GiveUp,
    /// Nothing. It should not have happened.
    Report,
}

impl Failure {
    pub(super) fn remedy(&self) -> Remedy {
        let error = match self {
            Self::Database(error) => error,
            Self::Row(_) | Self::Forbidden(_) => return Remedy::Report,
            Self::Raced => return Remedy::Repeat,
        };
        if let Some(error) = error.as_db_error() {
            return remedy_of(error);
        }
        let broken = error.source().is_some_and(<dyn Error>::is::<io::Error>);
        if error.is_closed() || broken { Remedy::Reconnect } else { Remedy::Report }
    }

    /// Whether it is certain that nothing was done. A server that says so over a
    /// connection that it goes on with has undone the statement.
    pub(super) fn is_certain(&self) -> bool {
        let Self::Database(error) = self else {
            return true;
        };
        error.as_db_error().is_some_and(|error| {
            error.parsed_severity() == Some(Severity::Error)
                && *error.code() != SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
        })
    }

    /// Whether this is a row that must not be there twice, by the constraint
    /// of this name.
    pub(super) fn is_duplicate(&self, constraint: &str) -> bool {
        let Self::Database(error) = self else {
            return false;
        };
        error.as_db_error().is_some_and(|error| {
            *error.code() == SqlState::UNIQUE_VIOLATION && error.constraint() == Some(constraint)
        })
    }
}

fn remedy_of(error: &DbError) -> Remedy {
    let code = error.code();
    let is_last = matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
    match &code.code()[..2] {
        // Serialization failures, deadlocks, and what distributed engines
        // report when they do not know whether a commit was done.
        "40" => Remedy::Repeat,
        // A server that has become a standby.
        "25" if *code == SqlState::READ_ONLY_SQL_TRANSACTION => Remedy::Reconnect,
        "08" => Remedy::Reconnect,
        // It is told to stop, starts, or has stopped.
        "57" if *code != SqlState::QUERY_CANCELED => Remedy::Reconnect,
        _ if is_last => Remedy::Reconnect,
        // Timeouts, a full disk, no memory, locks, failing devices.
        "53" | "55" | "57" | "58" => Remedy::GiveUp,
        _ => Remedy::Report,
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure.remedy() {
            Remedy::Report => Self::Internal(Arc::new(failure)),
            _ => Self::Unavailable(Arc::new(failure)),
        }
    }
}
