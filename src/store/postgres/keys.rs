//! API keys as rows.

use std::mem;

use async_trait::async_trait;
use futures_util::FutureExt;
use jiff::Timestamp;
use tokio_postgres::{GenericClient, types::ToSql};

use super::{
    PostgresStore,
    errors::Failure,
    pool::{Access, Connection},
};
use crate::{
    domain::{KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, WriteContext, store_area::ActType},
    store::{
        Changes, Keys, StoreError,
        columns::Columns,
        key_rows::{DIGESTS, FIND, FIRST_OF_LINEAGE, GET, INSERT, LIST, columns, record},
        log::{self, Origin, details_of},
    },
};

/// [`INSERT`] with its act.
const CREATE: &str = concat!(
    "WITH added AS (
        INSERT INTO api_keys
            (digest, name, scope, store_scope, deployment, created_at, expires_at, rate_limit)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING *
    ), act AS (
        INSERT INTO acts (seq, at, type, subject_id, actor, actor_id, actor_name, request_id, details)
        SELECT last, $9, 'key.created', id, $10, $11, $12, $13, $14 FROM added CROSS JOIN change_log)
    SELECT ",
    columns!(),
    " FROM added"
);
/// With its act, unless it was revoked before.
const REVOKE: &str = concat!(
    "WITH act AS (
        INSERT INTO acts (seq, at, type, subject_id, actor, actor_id, actor_name, request_id, details)
        SELECT last, $3, 'key.revoked', id, $4, $5, $6, $7, '{}'
        FROM api_keys CROSS JOIN change_log WHERE id = $1 AND revoked_at IS NULL)
    UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING ",
    columns!()
);
/// A concurrent rotation of the same key waits here.
const LOCK: &str = "SELECT successor_id FROM api_keys WHERE id = $1 FOR UPDATE";
const EXPIRE: &str = "UPDATE api_keys
    SET expires_at = least(coalesce(expires_at, $2), $2), successor_id = $3 WHERE id = $1";
/// GREATEST ignores NULL.
const RECORD_USES: &str = "UPDATE api_keys
    SET last_used_at = greatest(last_used_at, used.at),
        last_deprecated_call_at = greatest(last_deprecated_call_at, used.deprecated_call_at)
    FROM (SELECT id, max(at) AS at, max(deprecated_call_at) AS deprecated_call_at
          FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS use (id, at, deprecated_call_at)
          GROUP BY id) AS used
    WHERE api_keys.id = used.id
        AND (last_used_at IS NULL OR last_used_at < used.at
            OR coalesce(last_deprecated_call_at < used.deprecated_call_at,
                        used.deprecated_call_at IS NOT NULL))";

/// The unique constraint on digests.
const DIGEST: &str = "api_keys_digest";

/// An act is in the audit trail behind the changes that have a number. So those before it get
/// theirs first.
#[async_trait]
impl Keys for PostgresStore {
    async fn create_key(
        &self,
        key: NewKey,
        context: WriteContext,
    ) -> Result<KeyRecord, StoreError> {
        self.log_state().await?;
        let create = Create { key, context, is_retry: false };
        self.run(Access::Write, create, |on, create| create.insert(on).boxed()).await
    }

    async fn find_key(&self, digest: &KeyDigest) -> Result<Option<KeyRecord>, StoreError> {
        self.run(Access::Read, *digest, |on, digest| find(on, digest).boxed()).await
    }

    async fn key_digests(&self) -> Result<Vec<KeyDigest>, StoreError> {
        self.run(Access::Read, (), |on, ()| digests(on).boxed()).await
    }

    async fn get_key(&self, id: KeyId) -> Result<Option<KeyRecord>, StoreError> {
        self.run(Access::Read, (), |on, ()| get(on, id).boxed()).await
    }

    async fn list_keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.run(Access::Read, (), |on, ()| list(on).boxed()).await
    }

    async fn revoke_key(
        &self,
        id: KeyId,
        context: WriteContext,
    ) -> Result<Option<KeyRecord>, StoreError> {
        self.log_state().await?;
        self.run(Access::Write, context, |on, context| revoke(on, id, context).boxed()).await
    }

    async fn rotate_key(
        &self,
        id: KeyId,
        successor: NewKey,
        until: Timestamp,
        context: WriteContext,
    ) -> Result<Option<KeyRecord>, StoreError> {
        self.log_state().await?;
        self.run(Access::Write, (successor, context), |on, (successor, context)| {
            rotate(on, id, successor, until, context).boxed()
        })
        .await
    }

    async fn first_of_lineage(&self, id: KeyId) -> Result<KeyId, StoreError> {
        self.run(Access::Read, (), |on, ()| first_of_lineage(on, id).boxed()).await
    }

    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), StoreError> {
        self.run(Access::Write, uses, |on, uses| record_uses(on, uses).boxed()).await
    }
}

/// Adds a key, with an act of this origin.
async fn insert(
    client: &impl GenericClient,
    key: &NewKey,
    now: Timestamp,
    created_by: Option<Origin<'_>>,
) -> Result<KeyRecord, Failure> {
    let digest = &key.digest.as_bytes()[..];
    let expires_at = key.expires_at.map(Timestamp::as_second);
    let rate_limit = key.rate_limit.map(|limit| limit.to_string());
    let parameters: [&(dyn ToSql + Sync); 8] = [
        &digest,
        &key.name,
        &key.scope.in_contract().as_str(),
        &key.scope.in_store_area(),
        &key.deployment.as_str(),
        &now.as_second(),
        &expires_at,
        &rate_limit,
    ];
    let Some(Origin { at, actor, request_id }) = created_by else {
        return record(&client.query_one(INSERT, &parameters).await?);
    };
    // Its number is known only in the statement.
    let details = log::written(&log::act_on_key(ActType::KeyCreated, KeyId(0), details_of(key)));
    let act: [&(dyn ToSql + Sync); 6] = [
        &at,
        &actor.actor.kind(),
        &actor.actor.id(),
        &actor.name.as_deref(),
        &request_id,
        &details,
    ];
    record(&client.query_one(CREATE, &[&parameters[..], &act].concat()).await?)
}

/// A key that is being added. It is added once, however many attempts this takes.
struct Create {
    key: NewKey,
    context: WriteContext,
    is_retry: bool,
}

impl Create {
    /// Adds the key, unless an earlier attempt has added it.
    async fn insert(&mut self, connection: &mut Connection) -> Result<KeyRecord, Failure> {
        let is_retry = mem::replace(&mut self.is_retry, true);
        match insert(&**connection, &self.key, self.context.now, Some((&self.context).into())).await
        {
            Err(failure) if is_retry && failure.is_duplicate(DIGEST) => {
                let found = find(connection, &self.key.digest).await?.ok_or(Failure::Raced)?;
                connection.confirm().await?;
                Ok(found)
            }
            done => done,
        }
    }
}

async fn find(
    connection: &mut Connection,
    digest: &KeyDigest,
) -> Result<Option<KeyRecord>, Failure> {
    let digest = &digest.as_bytes()[..];
    let statement = connection.prepared(FIND).await?;
    let row = connection.query_opt(&statement, &[&digest]).await?;
    row.as_ref().map(record).transpose()
}

async fn digests(connection: &mut Connection) -> Result<Vec<KeyDigest>, Failure> {
    let rows = connection.query(DIGESTS, &[]).await?;
    rows.iter().map(|row| row.bytes(0).map(KeyDigest::from_bytes)).collect()
}

async fn get(connection: &mut Connection, id: KeyId) -> Result<Option<KeyRecord>, Failure> {
    let row = connection.query_opt(GET, &[&id.0]).await?;
    row.as_ref().map(record).transpose()
}

async fn list(connection: &mut Connection) -> Result<Vec<KeyRecord>, Failure> {
    let rows = connection.query(LIST, &[]).await?;
    rows.iter().map(record).collect()
}

async fn revoke(
    connection: &mut Connection,
    id: KeyId,
    context: &WriteContext,
) -> Result<Option<KeyRecord>, Failure> {
    let Origin { at, actor, request_id } = context.into();
    let parameters: [&(dyn ToSql + Sync); 7] = [
        &id.0,
        &context.now.as_second(),
        &at,
        &actor.actor.kind(),
        &actor.actor.id(),
        &actor.name.as_deref(),
        &request_id,
    ];
    let row = connection.query_opt(REVOKE, &parameters).await?;
    row.as_ref().map(record).transpose()
}

/// Adds the successor, unless an earlier attempt has added it.
async fn rotate(
    connection: &mut Connection,
    id: KeyId,
    successor: &NewKey,
    until: Timestamp,
    context: &WriteContext,
) -> Result<Option<KeyRecord>, Failure> {
    let transaction = connection.transaction().await?;
    let Some(row) = transaction.query_opt(LOCK, &[&id.0]).await? else {
        return Ok(None);
    };
    if row.try_get::<_, Option<i64>>(0)?.is_some() {
        drop(transaction);
        return rotated_before(connection, id, successor).await;
    }
    let added = insert(&transaction, successor, context.now, None).await?;
    let expiry: [&(dyn ToSql + Sync); 3] = [&id.0, &until.as_second(), &added.id.0];
    transaction.execute(EXPIRE, &expiry).await?;
    let details = vec![("successor".into(), added.id.to_string())];
    let act = log::act_on_key(ActType::KeyRotated, id, details);
    super::log::record(&transaction, &act, context.into()).await?;
    transaction.commit().await?;
    Ok(Some(added))
}

/// The existing successor, if it has the same digest.
async fn rotated_before(
    connection: &mut Connection,
    id: KeyId,
    successor: &NewKey,
) -> Result<Option<KeyRecord>, Failure> {
    let old = get(connection, id).await?;
    let found = find(connection, &successor.digest).await?;
    connection.confirm().await?;
    Ok(found.filter(|found| old.is_some_and(|old| old.successor == Some(found.id))))
}

async fn first_of_lineage(connection: &mut Connection, id: KeyId) -> Result<KeyId, Failure> {
    let row = connection.query_one(FIRST_OF_LINEAGE, &[&id.0]).await?;
    Ok(KeyId(row.try_get(0)?))
}

async fn record_uses(connection: &mut Connection, uses: &[KeyUse]) -> Result<(), Failure> {
    let ids: Vec<i64> = uses.iter().map(|key| key.id.0).collect();
    let times: Vec<i64> = uses.iter().map(|key| key.used_at.as_second()).collect();
    let calls: Vec<Option<i64>> =
        uses.iter().map(|key| key.deprecated_call_at.map(Timestamp::as_second)).collect();
    connection.execute(RECORD_USES, &[&ids, &times, &calls]).await?;
    Ok(())
}
