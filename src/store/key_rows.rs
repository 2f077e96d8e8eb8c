//! The rows of API keys, as far as they are the same in every store.

use super::columns::Columns;
use crate::domain::{KeyId, KeyRecord};

/// The columns in the order that [`record`] expects.
macro_rules! columns {
    () => {
        "id, name, coalesce(store_scope, scope), deployment, created_at, expires_at, last_used_at, \
         revoked_at, successor_id, rate_limit, last_deprecated_call_at"
    };
}
pub(super) use columns;

pub(super) const LIST: &str = concat!("SELECT ", columns!(), " FROM api_keys ORDER BY id");

/// The key in a row.
pub(super) fn record<R: Columns>(row: &R) -> Result<KeyRecord, R::Error> {
    Ok(KeyRecord {
        id: KeyId(row.value(0)?),
        name: row.value(1)?,
        scope: row.parsed(2, |scope| scope.parse().ok())?,
        deployment: row.parsed(3, |deployment| deployment.parse().ok())?,
        created_at: row.second(4)?,
        expires_at: row.optional_second(5)?,
        last_used_at: row.optional_second(6)?,
        revoked_at: row.optional_second(7)?,
        successor: row.value::<Option<i64>>(8)?.map(KeyId),
        rate_limit: row.optional_parsed(9, |limit| limit.parse().ok())?,
        last_deprecated_call_at: row.optional_second(10)?,
    })
}
