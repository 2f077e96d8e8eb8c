//! The columns of a row, as every store reads them.

use jiff::Timestamp;
use rusqlite::types::FromSql as FromSqlite;
use tokio_postgres::types::FromSql as FromPostgres;

use crate::domain::clock;

/// A row of a database. The functions that make values of it are the same in every store.
pub(super) trait Columns {
    type Error;

    /// The value in a column.
    fn value<T>(&self, at: usize) -> Result<T, Self::Error>
    where
        T: FromSqlite + for<'r> FromPostgres<'r>;

    /// The text in a column, if it has a value.
    fn text(&self, at: usize) -> Result<Option<&str>, Self::Error>;

    /// Reports a value that the service has never written.
    fn invalid(&self, at: usize) -> Self::Error;

    /// What the text in a column means, if it has a value.
    fn optional_parsed<T>(
        &self,
        at: usize,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Self::Error> {
        self.text(at)?.map(|text| parse(text).ok_or_else(|| self.invalid(at))).transpose()
    }

    /// What the text in a column means.
    fn parsed<T>(
        &self,
        at: usize,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Self::Error> {
        self.optional_parsed(at, parse)?.ok_or_else(|| self.invalid(at))
    }

    /// What the bytes in a column mean, if it has a value.
    fn optional_decoded<T>(
        &self,
        at: usize,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, Self::Error> {
        let bytes: Option<Vec<u8>> = self.value(at)?;
        bytes.map(|bytes| decode(&bytes).ok_or_else(|| self.invalid(at))).transpose()
    }

    /// The bytes in a column, which are always as many.
    fn bytes<const N: usize>(&self, at: usize) -> Result<[u8; N], Self::Error> {
        self.value::<Vec<u8>>(at)?.try_into().map_err(|_| self.invalid(at))
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
