//! Converts the values of rows, and selects the animals of a status.

use petstore_domain::{PetId, PetStatus};
use petstore_store::columns::Value;
use rusqlite::types::{FromSqlError, FromSqlResult, Type, ValueRef};

/// The column of the status in the statements for pages of animals.
const STATUS_COLUMN: usize = 3;

/// Converts a column value of any type that the schema uses. Fails for a floating-point number.
pub(super) fn to_value(value: ValueRef<'_>) -> FromSqlResult<Value<'_>> {
    match value {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(Value::Integer(number)),
        ValueRef::Text(_) => Ok(Value::Text(value.as_str()?)),
        ValueRef::Blob(bytes) => Ok(Value::Blob(bytes)),
        ValueRef::Real(_) => Err(FromSqlError::InvalidType),
    }
}

/// Returns the SQL clause that selects the animals of a status by the partial index for it. The status
/// is a literal, because with a bound value, SQLite could not use that index.
pub(super) fn status_clause(status: PetStatus) -> String {
    format!("INDEXED BY pets_{status} WHERE status = '{status}'")
}

/// Converts the number in a column to the identifier of an animal. Fails if it is not valid.
pub(super) fn pet_id(number: i64) -> rusqlite::Result<PetId> {
    PetId::new(number).ok_or_else(|| rusqlite::Error::IntegralValueOutOfRange(0, number))
}

/// Parses the status of an animal, without validating the text as UTF-8 first.
pub(super) fn parse_status(value: ValueRef<'_>) -> rusqlite::Result<PetStatus> {
    let bytes = value.as_bytes()?;
    let status = PetStatus::ALL
        .into_iter()
        .find(|status| status.as_str().as_bytes() == bytes);
    status.ok_or_else(|| {
        rusqlite::Error::InvalidColumnType(STATUS_COLUMN, "status".to_owned(), Type::Text)
    })
}
