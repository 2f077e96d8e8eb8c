//! API keys as rows.

use jiff::Timestamp;
use rusqlite::{Connection, Row, types::Type};

use crate::domain::{Deployment, KeyId, KeyRecord, RateLimit, Scope, rate_limit::InvalidRateLimit};

/// The columns in the order that [`record`] expects.
macro_rules! columns {
    () => {
        "id, name, coalesce(store_scope, scope), deployment, created_at, expires_at, last_used_at, \
         revoked_at, successor_id, rate_limit, last_deprecated_call_at"
    };
}
pub(super) use columns;

const LIST: &str = concat!("SELECT ", columns!(), " FROM api_keys ORDER BY id");

pub(super) fn list(connection: &Connection) -> rusqlite::Result<Vec<KeyRecord>> {
    connection.prepare_cached(LIST)?.query_map([], record)?.collect()
}

pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<KeyRecord> {
    Ok(KeyRecord {
        id: KeyId(row.get(0)?),
        name: row.get(1)?,
        scope: one_of(row, 2, Scope::ALL, Scope::as_str)?,
        deployment: one_of(row, 3, Deployment::ALL, Deployment::as_str)?,
        created_at: timestamp(row.get(4)?, 4)?,
        expires_at: optional_timestamp(row, 5)?,
        last_used_at: optional_timestamp(row, 6)?,
        revoked_at: optional_timestamp(row, 7)?,
        successor: row.get::<_, Option<i64>>(8)?.map(KeyId),
        rate_limit: optional_rate_limit(row, 9)?,
        last_deprecated_call_at: optional_timestamp(row, 10)?,
    })
}

/// The value of `all` with the name in this column.
fn one_of<T: Copy, const N: usize>(
    row: &Row<'_>,
    column: usize,
    all: [T; N],
    name: impl Fn(T) -> &'static str,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    all.into_iter()
        .find(|&value| name(value) == text)
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(column, text.to_owned(), Type::Text))
}

fn optional_rate_limit(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<RateLimit>> {
    let Some(text) = row.get_ref(column)?.as_str_or_null()? else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|error: InvalidRateLimit| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

fn optional_timestamp(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    let seconds: Option<i64> = row.get(column)?;
    seconds.map(|seconds| timestamp(seconds, column)).transpose()
}

fn timestamp(seconds: i64, column: usize) -> rusqlite::Result<Timestamp> {
    Timestamp::from_second(seconds)
        .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, seconds))
}
