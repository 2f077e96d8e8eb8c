//! Reads the values of rows.

use petstore_domain::{PetId, PetStatus};
use petstore_store::columns::Value;
use rusqlite::types::{FromSqlError, FromSqlResult, Type, ValueRef};

/// Returns the value in a column of any type that a table has.
pub(super) fn any_value(value: ValueRef<'_>) -> FromSqlResult<Value<'_>> {
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Integer(number)),
        ValueRef::Text(_) => Ok(Value::Text(value.as_str()?)),
        ValueRef::Blob(bytes) => Ok(Value::Blob(bytes)),
        ValueRef::Real(_) => Err(FromSqlError::InvalidType),
    }
}

/// Returns the clause that selects the animals of a status, by its index. The status is a literal: with a
/// bound value, SQLite could not use the partial index.
pub(super) fn status_clause(status: PetStatus) -> String {
    format!("INDEXED BY pets_{status} WHERE status = '{status}'")
}

pub(super) fn identifier(id: i64) -> rusqlite::Result<PetId> {
    PetId::new(id).ok_or_else(|| rusqlite::Error::IntegralValueOutOfRange(0, id))
}

pub(super) fn status(value: ValueRef<'_>) -> rusqlite::Result<PetStatus> {
    let text = value.as_bytes()?;
    let status = PetStatus::ALL
        .into_iter()
        .find(|status| status.as_str().as_bytes() == text);
    status.ok_or_else(|| rusqlite::Error::InvalidColumnType(3, "status".to_owned(), Type::Text))
}
