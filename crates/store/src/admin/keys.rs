//! API keys.
//!
//! A rotation replaces a key by its successor. The first key and all of its successors are a
//! lineage.

use std::convert::Infallible;

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, WriteContext, store_area::ActType,
};

use super::{
    Database, Parameter, Sql, Values, WorkOutcome,
    acts::{key_act, new_key_details, record_act},
    store_trait, values,
};
use crate::{StoreError, columns::Columns};

/// Expands to the columns in the order that [`read_key`] expects. This is a macro because `concat!`
/// takes no constants.
macro_rules! columns {
    () => {
        "id, name, coalesce(store_scope, scope), deployment, created_at, expires_at, last_used_at, \
         revoked_at, successor_id, rate_limit, last_deprecated_call_at"
    };
}

const INSERT: &str = "INSERT INTO api_keys
        (digest, name, scope, store_scope, deployment, created_at, expires_at, rate_limit)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id";
/// Selects the key with the digest $1.
const FIND: &str = concat!("SELECT ", columns!(), " FROM api_keys WHERE digest = $1");
const DIGESTS: &str = "SELECT digest FROM api_keys";
const GET: &str = concat!("SELECT ", columns!(), " FROM api_keys WHERE id = $1");
const REVOKE: &str = "UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
/// Lets the key $1 expire and sets its successor. A concurrent rotation of the same key blocks
/// here, and then finds that the key has a successor.
const ROTATE: &str = "UPDATE api_keys SET successor_id = $3,
        expires_at = CASE WHEN expires_at < $2 THEN expires_at ELSE $2 END
    WHERE id = $1 AND successor_id IS NULL";
pub(crate) const LIST: &str = concat!("SELECT ", columns!(), " FROM api_keys ORDER BY id");
/// Selects the first key of the lineage of $1. It runs once per key and process, so it needs no
/// index.
const FIRST_OF_LINEAGE: &str = "WITH RECURSIVE lineage (id) AS (
        SELECT CAST($1 AS bigint)
        UNION SELECT api_keys.id FROM lineage JOIN api_keys ON successor_id = lineage.id)
    SELECT id FROM lineage
    WHERE NOT EXISTS (SELECT 1 FROM api_keys WHERE successor_id = lineage.id)";
/// Records that the key $1 was used at $2, and called the deprecated operation at $3 if that is not
/// null. Writes nothing if neither time is later than the recorded one.
const RECORD_USE: &str = "UPDATE api_keys
    SET last_used_at = CASE WHEN last_used_at > $2 THEN last_used_at ELSE $2 END,
        last_deprecated_call_at = CASE
            WHEN last_deprecated_call_at < $3 OR last_deprecated_call_at IS NULL THEN $3
            ELSE last_deprecated_call_at END
    WHERE id = $1 AND (coalesce(last_used_at < $2, TRUE)
        OR coalesce(last_deprecated_call_at < $3, CAST($3 AS bigint) IS NOT NULL))";

store_trait! {
/// Stores API keys.
Keys {
    /// Adds a key.
    async fn create_key(
        &self,
        key: NewKey,
        context: WriteContext,
    ) -> Result<KeyRecord, StoreError> {
        self.assign_change_numbers().await?;
        let result = self.write_once(
            (key, context),
            |connection, (key, context)| create_key(connection, key, context).boxed(),
            |connection, id| get_new_key(connection, KeyId(*id)).boxed(),
        );
        let WorkOutcome::Done(key) = result.await?;
        Ok(key)
    }

    /// Finds the key with this digest, valid or not.
    async fn find_key(&self, digest: &KeyDigest) -> Result<Option<KeyRecord>, StoreError> {
        self.find(FIND, values![digest.as_bytes().to_vec()], read_key).await
    }

    /// Reads the digests of all keys, valid or not, in any order.
    async fn key_digests(&self) -> Result<Vec<KeyDigest>, StoreError> {
        self.list(DIGESTS, values![], |row| row.bytes(0).map(KeyDigest::from_bytes)).await
    }

    /// Finds the key with this id, valid or not.
    async fn get_key(&self, id: KeyId) -> Result<Option<KeyRecord>, StoreError> {
        let KeyId(number) = id;
        self.find(GET, values![number], read_key).await
    }

    /// Reads all keys, valid or not, in ascending order of id.
    async fn list_keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.list(LIST, values![], read_key).await
    }

    /// Revokes a key, and returns its new state. Returns `None` if there is no such key. A key that
    /// is already revoked keeps its revocation time.
    async fn revoke_key(
        &self,
        id: KeyId,
        context: WriteContext,
    ) -> Result<Option<KeyRecord>, StoreError> {
        self.assign_change_numbers().await?;
        let result = self.write_once(
            (id, context),
            |connection, (id, context)| revoke_key(connection, *id, context).boxed(),
            |connection, id| get_key(connection, KeyId(*id)).boxed(),
        );
        let WorkOutcome::Done(key) = result.await?;
        Ok(key)
    }

    /// Rotates a key: atomically adds `successor`, and lets the key `id` expire at `until` unless
    /// it expires sooner. Returns the successor. Returns `None`, without a change, if the key `id`
    /// does not exist or already has a successor.
    async fn rotate_key(
        &self,
        id: KeyId,
        successor: NewKey,
        until: Timestamp,
        context: WriteContext,
    ) -> Result<Option<KeyRecord>, StoreError> {
        self.assign_change_numbers().await?;
        let result = self.write_once(
            (id, successor, until, context),
            |connection, (id, successor, until, context)| {
                rotate_key(connection, *id, successor, *until, context).boxed()
            },
            |connection, id| get_key(connection, KeyId(*id)).boxed(),
        );
        match result.await? {
            WorkOutcome::Done(successor) => Ok(successor),
            WorkOutcome::Refused(()) => Ok(None),
        }
    }

    /// Finds the first key of the lineage of the key `id`, which is `id` itself if that key is not
    /// a successor. The result never changes.
    async fn first_of_lineage(&self, id: KeyId) -> Result<KeyId, StoreError> {
        let KeyId(number) = id;
        let first_number = self
            .read(number, |connection, number| {
                async { connection.number(FIRST_OF_LINEAGE, &[number]).await }.boxed()
            })
            .await?;
        Ok(KeyId(first_number))
    }

    /// Records when keys were last used, and when they last called the deprecated operation.
    /// Ignores times earlier than the recorded ones, and unknown keys.
    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), StoreError> {
        self.write(uses, |connection, uses| record_key_uses(connection, uses).boxed()).await
    }
}
}

/// Inserts a key, and returns its id.
async fn insert_key<S: Sql>(
    connection: &mut S,
    key: &NewKey,
    now: Timestamp,
) -> Result<i64, S::Error> {
    let rate_limit = key.rate_limit.map(|limit| limit.to_string());
    connection
        .number(
            INSERT,
            &[
                &&key.digest.as_bytes()[..],
                &key.name,
                &key.scope.contract_scope().as_str(),
                &key.scope.store_area_name(),
                &key.deployment.as_str(),
                &now.as_second(),
                &key.expires_at.map(Timestamp::as_second),
                &rate_limit,
            ],
        )
        .await
}

/// Adds a key, and returns its id.
async fn create_key<S: Sql>(
    connection: &mut S,
    key: &NewKey,
    context: &WriteContext,
) -> Result<WorkOutcome<i64, Infallible>, S::Error> {
    let id = insert_key(connection, key, context.now).await?;
    let act = key_act(ActType::KeyCreated, KeyId(id), new_key_details(key));
    record_act(connection, &act, context).await?;
    Ok(WorkOutcome::Done(id))
}

/// Reads the key with this id, valid or not.
async fn get_key<S: Sql>(connection: &mut S, id: KeyId) -> Result<Option<KeyRecord>, S::Error> {
    let KeyId(number) = id;
    match connection.row(GET, &[&number]).await? {
        Some(row) => read_key(&row).map(Some),
        None => Ok(None),
    }
}

/// Reads a key that [`create_key`] has added, in this attempt or an earlier one.
async fn get_new_key<S: Sql>(connection: &mut S, id: KeyId) -> Result<KeyRecord, S::Error> {
    get_key(connection, id).await?.ok_or_else(S::no_row)
}

/// Revokes a key, and returns its id. A missing or revoked key stays as it is.
async fn revoke_key<S: Sql>(
    connection: &mut S,
    id: KeyId,
    context: &WriteContext,
) -> Result<WorkOutcome<i64, Infallible>, S::Error> {
    let KeyId(number) = id;
    let revoked_count = connection
        .execute(REVOKE, &[&number, &context.now.as_second()])
        .await?;
    if revoked_count > 0 {
        let act = key_act(ActType::KeyRevoked, id, Vec::new());
        record_act(connection, &act, context).await?;
    }
    Ok(WorkOutcome::Done(number))
}

/// Rotates a key, and returns the id of the successor. Refuses if the key is missing or has a
/// successor.
async fn rotate_key<S: Sql>(
    connection: &mut S,
    id: KeyId,
    successor: &NewKey,
    until: Timestamp,
    context: &WriteContext,
) -> Result<WorkOutcome<i64, ()>, S::Error> {
    let Some(key) = get_key(connection, id).await? else {
        return Ok(WorkOutcome::Refused(()));
    };
    if key.successor.is_some() {
        return Ok(WorkOutcome::Refused(()));
    }

    let KeyId(number) = id;
    let successor_number = insert_key(connection, successor, context.now).await?;
    let rotated_count = connection
        .execute(ROTATE, &[&number, &until.as_second(), &successor_number])
        .await?;
    if rotated_count == 0 {
        // A concurrent rotation was first. The refusal rolls back the new successor.
        return Ok(WorkOutcome::Refused(()));
    }

    let details = vec![("successor".into(), successor_number.to_string())];
    let act = key_act(ActType::KeyRotated, id, details);
    record_act(connection, &act, context).await?;
    Ok(WorkOutcome::Done(successor_number))
}

/// Records when keys were used. See [`Keys::record_key_uses`].
async fn record_key_uses<S: Sql>(connection: &mut S, uses: &[KeyUse]) -> Result<(), S::Error> {
    let mut ordered_uses: Vec<&KeyUse> = uses.iter().collect();
    // All processes update keys in the same order, which prevents deadlocks.
    ordered_uses.sort_by_key(|key_use| key_use.id);

    let mut rows: Vec<Values<'_>> = Vec::with_capacity(uses.len());
    for key_use in ordered_uses {
        let KeyUse {
            id: KeyId(number),
            used_at,
            deprecated_call_at,
        } = key_use;
        rows.push(values![
            *number,
            used_at.as_second(),
            deprecated_call_at.map(Timestamp::as_second)
        ]);
    }
    connection.execute_each(RECORD_USE, rows).await?;
    Ok(())
}

/// Reads a row of [`LIST`].
pub(crate) fn read_key<R: Columns>(row: &R) -> Result<KeyRecord, R::Error> {
    Ok(KeyRecord {
        id: KeyId(row.value(0)?),
        name: row.value(1)?,
        scope: row.parsed(2, |scope| scope.parse().ok())?,
        deployment: row.parsed(3, |deployment| deployment.parse().ok())?,
        created_at: row.time_from_seconds(4)?,
        expires_at: row.optional_time_from_seconds(5)?,
        last_used_at: row.optional_time_from_seconds(6)?,
        revoked_at: row.optional_time_from_seconds(7)?,
        successor: row.value::<Option<i64>>(8)?.map(KeyId),
        rate_limit: row.optional_parsed(9, |limit| limit.parse().ok())?,
        last_deprecated_call_at: row.optional_time_from_seconds(10)?,
    })
}
