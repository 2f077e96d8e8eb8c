//! The values of rows.

use petstore_domain::{PetId, PetStatus};
use petstore_store::columns::Value;
use rusqlite::types::{FromSqlError, FromSqlResult, Type, ValueRef};

/// Returns the value in a column of any type that a table has.
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
    let status = PetStatus::ALL
        .into_iter()
        .find(|status| status.as_str().as_bytes() == text);
    status.ok_or_else(|| rusqlite::Error::InvalidColumnType(3, "status".to_owned(), Type::Text))
}
