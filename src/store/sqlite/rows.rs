//! The columns of a row, and those of animals.

use rusqlite::{
    Error, Row,
    types::{FromSql, Type, ValueRef},
};

use crate::{
    domain::{PetId, PetName, PetStatus},
    store::columns::Columns,
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

/// The animals of a status, by its index. The status is a literal: with a bound value, SQLite could
/// not use the partial index.
pub(super) fn of_status(status: PetStatus) -> String {
    format!("FROM pets INDEXED BY pets_{status} WHERE status = '{status}'")
}

pub(super) fn identifier(id: i64) -> rusqlite::Result<PetId> {
    PetId::new(id).ok_or_else(|| rusqlite::Error::IntegralValueOutOfRange(0, id))
}

/// The name in a column.
pub(super) fn name(row: &Row<'_>, column: usize) -> rusqlite::Result<PetName> {
    PetName::new(row.get(column)?)
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(column, "name".to_owned(), Type::Text))
}

pub(super) fn status(value: ValueRef<'_>) -> rusqlite::Result<PetStatus> {
    let text = value.as_bytes()?;
    let status = PetStatus::ALL.into_iter().find(|status| status.as_str().as_bytes() == text);
    status.ok_or_else(|| rusqlite::Error::InvalidColumnType(3, "status".to_owned(), Type::Text))
}
