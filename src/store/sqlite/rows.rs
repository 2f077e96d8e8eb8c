//! The columns of a row, and those of animals.

use rusqlite::{
    Error, Row, ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, Type, ValueRef},
};

use crate::{
    domain::{PetId, PetStatus},
    store::columns::{Columns, Value},
};

impl Columns for Row<'_> {
    type Error = Error;

    fn value<T>(&self, at: usize) -> rusqlite::Result<T>
    where
        T: FromSql + for<'r> tokio_postgres::types::FromSql<'r>,
    {
        self.get(at)
    }

    fn text(&self, at: usize) -> rusqlite::Result<Option<&str>> {
        Ok(self.get_ref(at)?.as_str_or_null()?)
    }

    fn invalid(&self, at: usize) -> Error {
        match self.get_ref(at) {
            Ok(ValueRef::Integer(value)) => Error::IntegralValueOutOfRange(at, value),
            Ok(value) => {
                let shown = value.as_str().unwrap_or("invalid");
                Error::InvalidColumnType(at, shown.to_owned(), value.data_type())
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

/// The value in a column of any type that a table has.
pub(super) fn any_value(value: ValueRef<'_>) -> FromSqlResult<Value<'_>> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Text(_) => Value::Text(value.as_str()?),
        ValueRef::Blob(value) => Value::Blob(value),
        ValueRef::Real(_) => return Err(FromSqlError::InvalidType),
    })
}

/// Selects the animals of a status, by its index. The status is a literal: with a bound value, SQLite
/// could not use the partial index.
pub(super) fn of_status(status: PetStatus) -> String {
    format!("INDEXED BY pets_{status} WHERE status = '{status}'")
}

pub(super) fn identifier(id: i64) -> rusqlite::Result<PetId> {
    PetId::new(id).ok_or_else(|| rusqlite::Error::IntegralValueOutOfRange(0, id))
}

pub(super) fn status(value: ValueRef<'_>) -> rusqlite::Result<PetStatus> {
    let text = value.as_bytes()?;
    let status = PetStatus::ALL.into_iter().find(|status| status.as_str().as_bytes() == text);
    status.ok_or_else(|| rusqlite::Error::InvalidColumnType(3, "status".to_owned(), Type::Text))
}
