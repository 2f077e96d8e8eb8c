//! The rows, values and errors of SQLite.

use std::sync::Arc;

use rusqlite::{
    Error, Row, ToSql,
    types::{FromSql, ToSqlOutput, ValueRef},
};

use crate::{
    StoreError,
    columns::{Columns, Value},
};

impl Columns for Row<'_> {
    type Error = Error;

    fn value<T>(&self, column: usize) -> rusqlite::Result<T>
    where
        T: FromSql + for<'r> tokio_postgres::types::FromSql<'r>,
    {
        self.get(column)
    }

    fn text(&self, column: usize) -> rusqlite::Result<Option<&str>> {
        Ok(self.get_ref(column)?.as_str_or_null()?)
    }

    fn invalid(&self, column: usize) -> Error {
        match self.get_ref(column) {
            Ok(ValueRef::Integer(value)) => Error::IntegralValueOutOfRange(column, value),
            Ok(value) => {
                // The message shows the value in place of the name of the column.
                let text = value.as_str().unwrap_or("invalid");
                Error::InvalidColumnType(column, text.to_owned(), value.data_type())
            }
            Err(error) => error,
        }
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Integer(value) => ValueRef::Integer(value),
            Value::Boolean(value) => ValueRef::Integer(value.into()),
            Value::Text(value) => ValueRef::Text(value.as_bytes()),
            Value::Blob(value) => ValueRef::Blob(value),
        }))
    }
}

/// Distinguishes temporary failures from internal errors by the code of SQLite.
impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        use rusqlite::ErrorCode as Code;
        match error.sqlite_error_code() {
            Some(Code::DiskFull) => Self::Full(Arc::new(error)),
            Some(
                Code::DatabaseBusy
                | Code::DatabaseLocked
                | Code::SystemIoFailure
                | Code::CannotOpen
                | Code::ReadOnly
                | Code::FileLockingProtocolFailed
                | Code::OutOfMemory,
            ) => Self::Unavailable(Arc::new(error)),
            _ => Self::Internal(Arc::new(error)),
        }
    }
}
