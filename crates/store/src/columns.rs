//! The columns of a row, as every store reads and writes them.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::str::FromStr;

use jiff::Timestamp;
use petstore_domain::{
    PetId, PetName, PetStatus, clock,
    store_area::{
        Contact, Decimal, FieldValues, OrderId, OrderStatus, Photos, Text, WithdrawalReason,
    },
};
use petstore_formats::json;
use rusqlite::types::FromSql as FromSqlite;
use tokio_postgres::types::FromSql as FromPostgres;

/// A value in a row, as every store can have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'v> {
    Null,
    Integer(i64),
    Boolean(bool),
    Text(&'v str),
    Blob(&'v [u8]),
}

/// A row of a database. The functions that make values of it are the same in every store.
pub trait Columns {
    type Error;

    fn value<T>(&self, at: usize) -> Result<T, Self::Error>
    where
        T: FromSqlite + for<'r> FromPostgres<'r>;

    /// The text in a column, if it has a value.
    fn text(&self, at: usize) -> Result<Option<&str>, Self::Error>;

    /// Reports a value that the service has never written.
    fn invalid(&self, at: usize) -> Self::Error;

    /// The parsed text of a column, if it has a value.
    fn optional_parsed<T>(
        &self,
        at: usize,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Self::Error> {
        self.text(at)?
            .map(|text| parse(text).ok_or_else(|| self.invalid(at)))
            .transpose()
    }

    /// The parsed text of a column.
    fn parsed<T>(
        &self,
        at: usize,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Self::Error> {
        self.optional_parsed(at, parse)?
            .ok_or_else(|| self.invalid(at))
    }

    /// The decoded bytes of a column, if it has a value.
    fn optional_decoded<T>(
        &self,
        at: usize,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, Self::Error> {
        let bytes: Option<Vec<u8>> = self.value(at)?;
        bytes
            .map(|bytes| decode(&bytes).ok_or_else(|| self.invalid(at)))
            .transpose()
    }

    /// The bytes in a column, which are always as many.
    fn bytes<const N: usize>(&self, at: usize) -> Result<[u8; N], Self::Error> {
        self.value::<Vec<u8>>(at)?
            .try_into()
            .map_err(|_| self.invalid(at))
    }

    /// The time in a column, in milliseconds.
    fn optional_time(&self, at: usize) -> Result<Option<Timestamp>, Self::Error> {
        let time = |value| clock::at_millisecond(value).ok_or_else(|| self.invalid(at));
        self.value::<Option<i64>>(at)?.map(time).transpose()
    }

    fn time(&self, at: usize) -> Result<Timestamp, Self::Error> {
        self.optional_time(at)?.ok_or_else(|| self.invalid(at))
    }

    /// The time in a column, in seconds.
    fn optional_second(&self, at: usize) -> Result<Option<Timestamp>, Self::Error> {
        let time = |value| Timestamp::from_second(value).map_err(|_| self.invalid(at));
        self.value::<Option<i64>>(at)?.map(time).transpose()
    }

    fn second(&self, at: usize) -> Result<Timestamp, Self::Error> {
        self.optional_second(at)?.ok_or_else(|| self.invalid(at))
    }
}

/// A type that is read from a value in a row.
pub(super) trait Cell: Sized {
    /// The type of its column in PostgreSQL.
    const TYPE: &'static str;

    fn value(&self) -> Value<'_>;

    /// `None` if the column has no value.
    fn find<R: Columns>(row: &R, at: usize) -> Result<Option<Self>, R::Error>;

    fn read<R: Columns>(row: &R, at: usize) -> Result<Self, R::Error> {
        Self::find(row, at)?.ok_or_else(|| row.invalid(at))
    }
}

impl<T: Cell> Cell for Option<T> {
    const TYPE: &'static str = T::TYPE;

    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, T::value)
    }

    fn find<R: Columns>(row: &R, at: usize) -> Result<Option<Self>, R::Error> {
        T::find(row, at).map(Some)
    }
}

/// Declares the types of values in PostgreSQL, how they are written, and how they are read.
macro_rules! cells {
    ($($type:ty, $column:literal: |$of:ident| $value:expr, |$row:ident, $at:ident| $find:expr;)+) => {
        $(impl Cell for $type {
            const TYPE: &'static str = $column;

            fn value(&self) -> Value<'_> {
                let $of = self;
                $value
            }

            fn find<R: Columns>($row: &R, $at: usize) -> Result<Option<Self>, R::Error> {
                $find
            }
        })+
    };
}

cells! {
    i64, "bigint": |of| Value::Integer(*of), |row, at| row.value(at);
    bool, "boolean": |of| Value::Boolean(*of), |row, at| row.value(at);
    Timestamp, "bigint": |of| Value::Integer(of.as_millisecond()), |row, at| row.optional_time(at);
    PetId, "bigint": |of| Value::Integer(of.get()), |row, at| identifier(row, at, Self::new);
    OrderId, "bigint": |of| Value::Integer(of.get()), |row, at| identifier(row, at, Self::new);
    PetName, "text": |of| Value::Text(of.as_str()), |row, at| text(row, at, Self::new);
    Contact, "text": |of| Value::Text(of.as_str()), |row, at| text(row, at, Self::new);
    Decimal, "text": |of| Value::Text(of.as_str()), |row, at| row.optional_parsed(at, Decimal::new);
    PetStatus, "text": |of| Value::Text(of.as_str()), |row, at| word(row, at);
    OrderStatus, "text": |of| Value::Text(of.as_str()), |row, at| word(row, at);
    WithdrawalReason, "text": |of| Value::Text(of.as_str()), |row, at| word(row, at);
}

impl<const MAX: usize, const MIN: usize> Cell for Text<MAX, MIN> {
    const TYPE: &'static str = "text";

    fn value(&self) -> Value<'_> {
        Value::Text(self.as_str())
    }

    fn find<R: Columns>(row: &R, at: usize) -> Result<Option<Self>, R::Error> {
        text(row, at, Self::new)
    }
}

impl Cell for FieldValues {
    const TYPE: &'static str = "text";

    fn value(&self) -> Value<'_> {
        self.as_stored().map_or(Value::Null, Value::Text)
    }

    fn find<R: Columns>(row: &R, at: usize) -> Result<Option<Self>, R::Error> {
        row.optional_parsed(at, json::read_stored_fields)
            .map(|values| Some(values.unwrap_or_default()))
    }
}

impl Cell for Photos {
    const TYPE: &'static str = "text";

    fn value(&self) -> Value<'_> {
        self.as_stored().map_or(Value::Null, Value::Text)
    }

    fn find<R: Columns>(row: &R, at: usize) -> Result<Option<Self>, R::Error> {
        row.optional_parsed(at, json::read_photos)
            .map(|photos| Some(photos.unwrap_or_default()))
    }
}

fn identifier<R: Columns, T>(
    row: &R,
    at: usize,
    new: impl FnOnce(i64) -> Option<T>,
) -> Result<Option<T>, R::Error> {
    let id: Option<i64> = row.value(at)?;
    id.map(|id| new(id).ok_or_else(|| row.invalid(at)))
        .transpose()
}

fn text<R: Columns, T>(
    row: &R,
    at: usize,
    new: impl FnOnce(String) -> Option<T>,
) -> Result<Option<T>, R::Error> {
    row.optional_parsed(at, |text| new(text.to_owned()))
}

fn word<R: Columns, T: FromStr>(row: &R, at: usize) -> Result<Option<T>, R::Error> {
    row.optional_parsed(at, |text| text.parse().ok())
}
