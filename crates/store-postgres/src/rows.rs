//! Converts values from and to columns.

use petstore_domain::PetId;
use petstore_store::{columns::Value, drivers::postgres::Failure};

/// Converts the number in a column to the identifier of an animal. Fails if it is not valid.
pub(super) fn pet_id(number: i64) -> Result<PetId, Failure> {
    PetId::new(number).ok_or(Failure::Row("id"))
}

/// Returns a text as a value, and null for `None`.
pub(super) fn text_or_null(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Null, Value::Text)
}

/// Returns a number as a value, and null for `None`.
pub(super) fn integer_or_null<'v>(number: Option<i64>) -> Value<'v> {
    number.map_or(Value::Null, Value::Integer)
}
