//! API keys.

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{log, store::SqliteStore};
use crate::{
    domain::{KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, WriteContext, store_area::ActType},
    store::{
        Keys, StoreError,
        columns::Columns,
        key_rows::{DIGESTS, FIND, FIRST_OF_LINEAGE, GET, INSERT, LIST, columns, record},
        log::{act_on_key, details_of},
    },
};

const REVOKE: &str = concat!(
    "UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1 RETURNING ",
    columns!()
);
const EXPIRE: &str = "UPDATE api_keys
    SET expires_at = min(coalesce(expires_at, ?2), ?2), successor_id = ?3 WHERE id = ?1";
const RECORD_USE: &str = "UPDATE api_keys
    SET last_used_at = max(coalesce(last_used_at, ?2), ?2),
        last_deprecated_call_at = max(
            coalesce(last_deprecated_call_at, ?3), coalesce(?3, last_deprecated_call_at))
    WHERE id = ?1";

#[async_trait]
impl Keys for SqliteStore {
    async fn create_key(
        &self,
        key: NewKey,
        context: WriteContext,
    ) -> Result<KeyRecord, StoreError> {
        self.writer.write(move |connection| create(connection, &key, &context)).await
    }

    async fn find_key(&self, digest: &KeyDigest) -> Result<Option<KeyRecord>, StoreError> {
        self.readers.read(|connection| find(connection, digest))
    }

    async fn key_digests(&self) -> Result<Vec<KeyDigest>, StoreError> {
        self.readers.read(digests)
    }

    async fn get_key(&self, id: KeyId) -> Result<Option<KeyRecord>, StoreError> {
        self.readers.read(|connection| get(connection, id))
    }

    async fn list_keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.readers.read(list)
    }

    async fn revoke_key(
        &self,
        id: KeyId,
        context: WriteContext,
    ) -> Result<Option<KeyRecord>, StoreError> {
        self.writer.write(move |connection| revoke(connection, id, &context)).await
    }

    async fn rotate_key(
        &self,
        id: KeyId,
        successor: NewKey,
        until: Timestamp,
        context: WriteContext,
    ) -> Result<Option<KeyRecord>, StoreError> {
        let rotate =
            move |connection: &Connection| rotate(connection, id, &successor, until, &context);
        self.writer.write(rotate).await
    }

    async fn first_of_lineage(&self, id: KeyId) -> Result<KeyId, StoreError> {
        self.readers.read(|connection| first_of_lineage(connection, id))
    }

    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), StoreError> {
        self.writer.write(move |connection| record_uses(connection, &uses)).await
    }
}

fn insert(connection: &Connection, key: &NewKey, now: Timestamp) -> rusqlite::Result<KeyRecord> {
    connection.prepare_cached(INSERT)?.query_row(
        params![
            key.digest.as_bytes(),
            key.name,
            key.scope.in_contract().as_str(),
            key.scope.in_store_area(),
            key.deployment.as_str(),
            now.as_second(),
            key.expires_at.map(Timestamp::as_second),
            key.rate_limit.map(|limit| limit.to_string())
        ],
        |row| record(row),
    )
}

fn create(
    connection: &Connection,
    key: &NewKey,
    context: &WriteContext,
) -> rusqlite::Result<KeyRecord> {
    let record = insert(connection, key, context.now)?;
    let act = act_on_key(ActType::KeyCreated, record.id, details_of(key));
    log::record(connection, &act, context.into())?;
    Ok(record)
}

fn find(connection: &Connection, digest: &KeyDigest) -> rusqlite::Result<Option<KeyRecord>> {
    connection.prepare_cached(FIND)?.query_row([digest.as_bytes()], |row| record(row)).optional()
}

fn digests(connection: &Connection) -> rusqlite::Result<Vec<KeyDigest>> {
    let digest = |row: &Row<'_>| row.bytes(0).map(KeyDigest::from_bytes);
    connection.prepare_cached(DIGESTS)?.query_map([], digest)?.collect()
}

fn list(connection: &Connection) -> rusqlite::Result<Vec<KeyRecord>> {
    connection.prepare_cached(LIST)?.query_map([], |row| record(row))?.collect()
}

fn get(connection: &Connection, id: KeyId) -> rusqlite::Result<Option<KeyRecord>> {
    connection.prepare_cached(GET)?.query_row([id.0], |row| record(row)).optional()
}

fn revoke(
    connection: &Connection,
    id: KeyId,
    context: &WriteContext,
) -> rusqlite::Result<Option<KeyRecord>> {
    let Some(before) = get(connection, id)? else {
        return Ok(None);
    };
    if before.revoked_at.is_none() {
        let act = act_on_key(ActType::KeyRevoked, id, Vec::new());
        log::record(connection, &act, context.into())?;
    }
    let at = context.now.as_second();
    connection.prepare_cached(REVOKE)?.query_row(params![id.0, at], |row| record(row)).map(Some)
}

fn rotate(
    connection: &Connection,
    id: KeyId,
    successor: &NewKey,
    until: Timestamp,
    context: &WriteContext,
) -> rusqlite::Result<Option<KeyRecord>> {
    if get(connection, id)?.is_none_or(|key| key.successor.is_some()) {
        return Ok(None);
    }
    let successor = insert(connection, successor, context.now)?;
    connection.prepare_cached(EXPIRE)?.execute(params![id.0, until.as_second(), successor.id.0])?;
    let details = vec![("successor".into(), successor.id.to_string())];
    log::record(connection, &act_on_key(ActType::KeyRotated, id, details), context.into())?;
    Ok(Some(successor))
}

fn first_of_lineage(connection: &Connection, id: KeyId) -> rusqlite::Result<KeyId> {
    connection.prepare_cached(FIRST_OF_LINEAGE)?.query_row([id.0], |row| row.get(0).map(KeyId))
}

fn record_uses(connection: &Connection, uses: &[KeyUse]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(RECORD_USE)?;
    for KeyUse { id, used_at, deprecated_call_at } in uses {
        let deprecated_call_at = deprecated_call_at.map(Timestamp::as_second);
        statement.execute(params![id.0, used_at.as_second(), deprecated_call_at])?;
    }
    Ok(())
}
