//! The rows and values of PostgreSQL, and the classification of its errors by how to recover from
//! them.

use std::{error::Error, io, sync::Arc};

use bytes::BytesMut;
use tokio_postgres::{
    Row,
    error::{DbError, Severity, SqlState},
    types::{FromSql, IsNull, ToSql, Type, to_sql_checked},
};

use crate::{
    StoreError,
    columns::{Columns, Value},
};

/// The reason why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The server reported an error, or the connection failed.
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
    /// The connection failed during a commit, so the outcome of the transaction is unknown.
    #[error("the connection failed during the commit")]
    CommitOutcomeUnknown(#[source] Arc<tokio_postgres::Error>),
    /// A named column of a row has an invalid value.
    #[error("the column {0} contains an invalid value")]
    Row(&'static str),
    /// A column that was read by its position has an invalid value.
    #[error("the column {0} contains an invalid value")]
    Column(String),
    /// The database role of the service lacks a privilege.
    #[error("the service's role has no privilege to {0}")]
    Forbidden(&'static str),
    /// Another process did the same work at the same time, and was first in every attempt.
    #[error("another process did the same at the same time, in every attempt")]
    Raced,
}

/// How to recover from a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Retry the operation: its transaction conflicted with another one.
    Repeat,
    /// Retry the operation over a new connection. The first attempt may or may not have taken
    /// effect.
    Reconnect,
    /// Fail. The cause may pass, so a later operation may succeed.
    GiveUp,
    /// Fail, and report a fault of the service or of the database.
    Report,
}

impl Failure {
    /// Returns how to recover from this failure.
    pub fn remedy(&self) -> Remedy {
        let error = match self {
            Self::Database(error) => error,
            Self::Row(_) | Self::Column(_) | Self::Forbidden(_) => return Remedy::Report,
            Self::Raced => return Remedy::Repeat,
            Self::CommitOutcomeUnknown(_) => return Remedy::Reconnect,
        };
        if let Some(error) = error.as_db_error() {
            return remedy_for(error);
        }
        let is_broken = error.source().is_some_and(<dyn Error>::is::<io::Error>);
        if error.is_closed() || is_broken {
            Remedy::Reconnect
        } else {
            Remedy::Report
        }
    }

    /// Whether the statement certainly had no effect. If the server reports an error and keeps the
    /// connection open, the server has rolled back the statement.
    pub fn had_no_effect(&self) -> bool {
        match self {
            Self::Database(error) => error.as_db_error().is_some_and(|error| {
                error.parsed_severity() == Some(Severity::Error)
                    && *error.code() != SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN
            }),
            Self::CommitOutcomeUnknown(_) => false,
            Self::Row(_) | Self::Column(_) | Self::Forbidden(_) | Self::Raced => true,
        }
    }

    /// Whether the server reported an error with this SQLSTATE code.
    pub fn has_code(&self, code: &SqlState) -> bool {
        matches!(self, Self::Database(error) if error.code() == Some(code))
    }

    /// Whether this transaction conflicted with the write of another one.
    pub fn is_conflict(&self) -> bool {
        // Write statements divide by zero on purpose unless they find every row as it was read. The
        // error aborts the whole transaction.
        self.has_code(&SqlState::UNIQUE_VIOLATION) || self.has_code(&SqlState::DIVISION_BY_ZERO)
    }

    /// Whether the statement violated the unique constraint `constraint`.
    pub fn is_duplicate(&self, constraint: &str) -> bool {
        let Self::Database(error) = self else {
            return false;
        };
        error.as_db_error().is_some_and(|error| {
            *error.code() == SqlState::UNIQUE_VIOLATION && error.constraint() == Some(constraint)
        })
    }
}

/// Returns how to recover from an error that the server reported, by the class of its SQLSTATE
/// code.
fn remedy_for(error: &DbError) -> Remedy {
    let code = error.code();
    let ends_connection = matches!(
        error.parsed_severity(),
        Some(Severity::Fatal | Severity::Panic)
    );
    // The class is the first two characters of the code, which always has five.
    let class = code.code().get(..2).unwrap_or_default();
    // The order of the arms matters: `ends_connection` decides only for codes that no arm before it
    // matches.
    match class {
        // Class 40: serialization failures, deadlocks, and commits whose outcome a distributed
        // engine does not know.
        "40" => Remedy::Repeat,
        // Class 08: the connection failed.
        "08" => Remedy::Reconnect,
        // Class 25: the server is a standby now, so a new connection may reach the new primary.
        "25" if *code == SqlState::READ_ONLY_SQL_TRANSACTION => Remedy::Reconnect,
        // Class 57, except a canceled statement: the server is starting or shutting down.
        "57" if *code != SqlState::QUERY_CANCELED => Remedy::Reconnect,
        _ if ends_connection => Remedy::Reconnect,
        // Classes 53, 55 and 58: insufficient resources such as a full disk, unavailable locks, and
        // I/O errors. Class 57: a statement that was canceled, such as after a timeout.
        "53" | "55" | "57" | "58" => Remedy::GiveUp,
        _ => Remedy::Report,
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        // Strings in Rust are valid UTF-8, and U+0000 is the only character that PostgreSQL
        // rejects.
        if failure.has_code(&SqlState::CHARACTER_NOT_IN_REPERTOIRE) {
            return Self::NulInText(Arc::new(failure));
        }
        if failure.remedy() == Remedy::Report {
            return Self::Internal(Arc::new(failure));
        }
        if failure.has_code(&SqlState::DISK_FULL) {
            return Self::Full(Arc::new(failure));
        }
        Self::Unavailable(Arc::new(failure))
    }
}

impl Columns for Row {
    type Error = Failure;

    fn value<T>(&self, column: usize) -> Result<T, Failure>
    where
        T: rusqlite::types::FromSql + for<'r> FromSql<'r>,
    {
        Ok(self.try_get(column)?)
    }

    fn text(&self, column: usize) -> Result<Option<&str>, Failure> {
        Ok(self.try_get(column)?)
    }

    fn invalid(&self, column: usize) -> Failure {
        let name = self
            .columns()
            .get(column)
            .map(|column| column.name().to_owned());
        Failure::Column(name.unwrap_or_default())
    }
}

impl<'r> FromSql<'r> for Value<'r> {
    fn from_sql(sql_type: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        match *sql_type {
            Type::INT8 => i64::from_sql(sql_type, raw).map(Self::Integer),
            Type::BOOL => bool::from_sql(sql_type, raw).map(Self::Boolean),
            Type::TEXT => <&str>::from_sql(sql_type, raw).map(Self::Text),
            _ => Ok(Self::Blob(raw)),
        }
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(sql_type: &Type) -> bool {
        [Type::INT8, Type::BOOL, Type::TEXT, Type::BYTEA].contains(sql_type)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        sql_type: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(value) => value.to_sql_checked(sql_type, out),
            Self::Boolean(value) => value.to_sql_checked(sql_type, out),
            Self::Text(value) => value.to_sql_checked(sql_type, out),
            Self::Blob(value) => value.to_sql_checked(sql_type, out),
        }
    }

    fn accepts(sql_type: &Type) -> bool {
        <Self as FromSql>::accepts(sql_type)
    }

    to_sql_checked!();
}
