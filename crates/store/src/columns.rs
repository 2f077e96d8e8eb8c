//! Conversions between columns and domain types, which both stores share.

use std::str::FromStr;

use jiff::Timestamp;
use petstore_domain::{
    PetId, PetName, PetStatus, clock,
    store_area::{
        Contact, Decimal, FieldValues, NoteId, NoteText, OrderId, OrderStatus, Photos, Text,
        WithdrawalReason,
    },
};
use petstore_formats::json;
use rusqlite::types::FromSql as FromSqlite;
use tokio_postgres::types::FromSql as FromPostgres;

/// A database value of a type that both stores support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'v> {
    /// A null of any type.
    Null,
    /// An integer.
    Integer(i64),
    /// A truth value, which SQLite stores as 0 or 1.
    Boolean(bool),
    /// A text.
    Text(&'v str),
    /// Bytes.
    Blob(&'v [u8]),
}

/// A row of a query result, implemented for the row types of both database drivers. Columns count
/// from 0.
///
/// The provided methods convert columns to domain types in the same way for both stores. If a value
/// cannot be parsed or converted, they fail with [`Self::invalid`].
pub trait Columns {
    /// The error of the database driver.
    type Error;

    /// Reads the value of a column.
    fn value<T>(&self, column: usize) -> Result<T, Self::Error>
    where
        T: FromSqlite + for<'r> FromPostgres<'r>;

    /// Reads a text column. Returns `None` if the column is null.
    fn text(&self, column: usize) -> Result<Option<&str>, Self::Error>;

    /// Returns the error for a column whose value the service never writes.
    fn invalid(&self, column: usize) -> Self::Error;

    /// Parses a text column. Returns `None` if the column is null.
    fn optional_parsed<T>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Self::Error> {
        match self.text(column)? {
            Some(text) => parse(text).map(Some).ok_or_else(|| self.invalid(column)),
            None => Ok(None),
        }
    }

    /// Parses a text column that is never null. A null is an invalid value.
    fn parsed<T>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Self::Error> {
        self.optional_parsed(column, parse)?
            .ok_or_else(|| self.invalid(column))
    }

    /// Decodes a column of bytes. Returns `None` if the column is null.
    fn optional_decoded<T>(
        &self,
        column: usize,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, Self::Error> {
        match self.value::<Option<Vec<u8>>>(column)? {
            Some(bytes) => decode(&bytes).map(Some).ok_or_else(|| self.invalid(column)),
            None => Ok(None),
        }
    }

    /// Reads a column of exactly `N` bytes.
    fn bytes<const N: usize>(&self, column: usize) -> Result<[u8; N], Self::Error> {
        self.value::<Vec<u8>>(column)?
            .try_into()
            .map_err(|_| self.invalid(column))
    }

    /// Reads a time that is stored in milliseconds. Returns `None` if the column is null.
    fn optional_time(&self, column: usize) -> Result<Option<Timestamp>, Self::Error> {
        match self.value(column)? {
            Some(millisecond) => clock::timestamp_from_milliseconds(millisecond)
                .map(Some)
                .ok_or_else(|| self.invalid(column)),
            None => Ok(None),
        }
    }

    /// Reads a time that is stored in milliseconds, in a column that is never null.
    fn time(&self, column: usize) -> Result<Timestamp, Self::Error> {
        self.optional_time(column)?
            .ok_or_else(|| self.invalid(column))
    }

    /// Reads a time that is stored in seconds. Returns `None` if the column is null.
    fn optional_time_from_seconds(&self, column: usize) -> Result<Option<Timestamp>, Self::Error> {
        match self.value(column)? {
            Some(second) => Timestamp::from_second(second)
                .map(Some)
                .map_err(|_| self.invalid(column)),
            None => Ok(None),
        }
    }

    /// Reads a time that is stored in seconds, in a column that is never null.
    fn time_from_seconds(&self, column: usize) -> Result<Timestamp, Self::Error> {
        self.optional_time_from_seconds(column)?
            .ok_or_else(|| self.invalid(column))
    }
}

/// A type that is stored in a single column.
pub(super) trait Cell: Sized {
    /// The type of the column in PostgreSQL.
    const TYPE: &'static str;

    /// Returns the value to write to the column.
    fn value(&self) -> Value<'_>;

    /// Reads the value of a column. Returns `None` if the column is null.
    fn read_optional<R: Columns>(row: &R, column: usize) -> Result<Option<Self>, R::Error>;

    /// Reads the value of a column that is never null.
    fn read<R: Columns>(row: &R, column: usize) -> Result<Self, R::Error> {
        Self::read_optional(row, column)?.ok_or_else(|| row.invalid(column))
    }
}

impl<T: Cell> Cell for Option<T> {
    const TYPE: &'static str = T::TYPE;

    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, T::value)
    }

    /// Reads a null as the value `None`, so the outer option is always `Some`.
    fn read_optional<R: Columns>(row: &R, column: usize) -> Result<Option<Self>, R::Error> {
        T::read_optional(row, column).map(Some)
    }
}

/// Implements [`Cell`] for several types. Each entry gives the PostgreSQL type of the column, the
/// expression that writes a value, and the expression that reads it.
///
/// This is a macro because the types have no trait in common.
///
/// ```ignore
/// cells! {
///     PetStatus, "text": |status| Value::Text(status.as_str()), |row, column| parse_word(row, column);
/// }
/// // expands to
/// impl Cell for PetStatus {
///     const TYPE: &'static str = "text";
///     fn value(&self) -> Value<'_> {
///         let status = self;
///         Value::Text(status.as_str())
///     }
///     fn read_optional<R: Columns>(row: &R, column: usize) -> Result<Option<Self>, R::Error> {
///         parse_word(row, column)
///     }
/// }
/// ```
macro_rules! cells {
    ($($type:ty, $column_type:literal: |$cell:ident| $value:expr, |$row:ident, $column:ident| $read:expr;)+) => {
        $(impl Cell for $type {
            const TYPE: &'static str = $column_type;

            fn value(&self) -> Value<'_> {
                let $cell = self;
                $value
            }

            fn read_optional<R: Columns>($row: &R, $column: usize) -> Result<Option<Self>, R::Error> {
                $read
            }
        })+
    };
}

cells! {
    i64, "bigint": |number| Value::Integer(*number), |row, column| row.value(column);
    bool, "boolean": |flag| Value::Boolean(*flag), |row, column| row.value(column);
    Timestamp, "bigint":
        |time| Value::Integer(time.as_millisecond()), |row, column| row.optional_time(column);
    PetId, "bigint":
        |id| Value::Integer(id.get()), |row, column| convert_integer(row, column, Self::new);
    OrderId, "bigint":
        |id| Value::Integer(id.get()), |row, column| convert_integer(row, column, Self::new);
    NoteId, "bigint":
        |id| Value::Integer(id.get()), |row, column| convert_integer(row, column, Self::new);
    NoteText, "text":
        |text| Value::Text(text.as_str()), |row, column| convert_text(row, column, Self::new);
    PetName, "text":
        |name| Value::Text(name.as_str()), |row, column| convert_text(row, column, Self::new);
    Contact, "text":
        |contact| Value::Text(contact.as_str()), |row, column| convert_text(row, column, Self::new);
    Decimal, "text":
        |decimal| Value::Text(decimal.as_str()), |row, column| row.optional_parsed(column, Decimal::new);
    PetStatus, "text": |status| Value::Text(status.as_str()), |row, column| parse_word(row, column);
    OrderStatus, "text": |status| Value::Text(status.as_str()), |row, column| parse_word(row, column);
    WithdrawalReason, "text":
        |reason| Value::Text(reason.as_str()), |row, column| parse_word(row, column);
}

impl<const MAX: usize, const MIN: usize> Cell for Text<MAX, MIN> {
    const TYPE: &'static str = "text";

    fn value(&self) -> Value<'_> {
        Value::Text(self.as_str())
    }

    fn read_optional<R: Columns>(row: &R, column: usize) -> Result<Option<Self>, R::Error> {
        convert_text(row, column, Self::new)
    }
}

impl Cell for FieldValues {
    const TYPE: &'static str = "text";

    fn value(&self) -> Value<'_> {
        self.as_stored().map_or(Value::Null, Value::Text)
    }

    /// Reads a null as no values.
    fn read_optional<R: Columns>(row: &R, column: usize) -> Result<Option<Self>, R::Error> {
        let values = row.optional_parsed(column, json::parse_stored_fields)?;
        Ok(Some(values.unwrap_or_default()))
    }
}

impl Cell for Photos {
    const TYPE: &'static str = "text";

    fn value(&self) -> Value<'_> {
        self.as_stored().map_or(Value::Null, Value::Text)
    }

    /// Reads a null as no photos.
    fn read_optional<R: Columns>(row: &R, column: usize) -> Result<Option<Self>, R::Error> {
        let photos = row.optional_parsed(column, json::read_photos)?;
        Ok(Some(photos.unwrap_or_default()))
    }
}

/// Reads an integer column and converts the number. Returns `None` if the column is null.
fn convert_integer<R: Columns, T>(
    row: &R,
    column: usize,
    convert: impl FnOnce(i64) -> Option<T>,
) -> Result<Option<T>, R::Error> {
    match row.value(column)? {
        Some(integer) => convert(integer)
            .map(Some)
            .ok_or_else(|| row.invalid(column)),
        None => Ok(None),
    }
}

/// Reads a text column and converts the text. Returns `None` if the column is null.
fn convert_text<R: Columns, T>(
    row: &R,
    column: usize,
    convert: impl FnOnce(String) -> Option<T>,
) -> Result<Option<T>, R::Error> {
    row.optional_parsed(column, |text| convert(text.to_owned()))
}

/// Parses a text column with [`FromStr`]. Returns `None` if the column is null.
fn parse_word<R: Columns, T: FromStr>(row: &R, column: usize) -> Result<Option<T>, R::Error> {
    row.optional_parsed(column, |text| text.parse().ok())
}
