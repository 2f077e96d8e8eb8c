//! Remembered requests as rows.

use tokio_postgres::types::ToSql;

use super::{errors::Failure, pets, pool::Connection};
use crate::{
    domain::{IdempotentRequest, NewPet, idempotency::REMEMBERED_FOR_MARKS},
    store::Created,
};

/// Claims the idempotency key for the lineage ($4), records it for the API key itself ($8), and
/// adds the animal, in one statement. Does nothing if the key is taken, unless by a request whose
/// animal was $9. Waits for a concurrent request with the same key.
///
/// The id is taken first, so that the returned row shows that everything was done.
const INSERT_ONCE: &str = "
    WITH claimed AS (
        INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at)
        SELECT $4, $5, $6, nextval('pets_ids'), $7 WHERE NOT EXISTS (
            SELECT 1 FROM idempotency_keys
            WHERE api_key_id IN ($4, $8) AND key = $5 AND pet_id <> $9)
        ON CONFLICT (api_key_id, key) DO UPDATE SET
            fingerprint = excluded.fingerprint,
            pet_id = excluded.pet_id,
            created_at = excluded.created_at
            WHERE idempotency_keys.pet_id = $9
        RETURNING pet_id
    ), noted AS (
        INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at)
        SELECT $8, $5, $6, pet_id, $7 FROM claimed WHERE $8 <> $4
        ON CONFLICT (api_key_id, key) DO UPDATE SET
            fingerprint = excluded.fingerprint,
            pet_id = excluded.pet_id,
            created_at = excluded.created_at)
    INSERT INTO pets (id, name, category_id, status)
    SELECT pet_id, $1, $2, $3 FROM claimed RETURNING id";
const RECALL: &str = "
    SELECT pets.id, name, category_id, status, fingerprint, pet_id
    FROM idempotency_keys LEFT JOIN pets ON pets.id = pet_id
    WHERE api_key_id IN ($1, $3) AND key = $2
    ORDER BY pets.id IS NULL, api_key_id <> $1 LIMIT 1";
const NEWEST_MARK: &str = "SELECT coalesce(max(number), 0) FROM idempotency_marks";
/// Another process may set the same mark at the same time.
const MARK: &str = "INSERT INTO idempotency_marks (number, last_pet_id)
    SELECT $1::bigint + 1, coalesce(max(pet_id), 0) FROM idempotency_keys
    HAVING $1 = (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    ON CONFLICT DO NOTHING";
const FORGET_MARKS: &str = "DELETE FROM idempotency_marks WHERE number < $1";
const FORGET: &str = "
    DELETE FROM idempotency_keys WHERE (api_key_id, key) IN
    (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id <=
        (SELECT last_pet_id FROM idempotency_marks
         WHERE number = (SELECT max(number) FROM idempotency_marks) - $1)
     ORDER BY pet_id LIMIT $2)";

/// Adds an animal, unless the request was seen before.
pub(super) async fn insert_once(
    connection: &mut Connection,
    new: &NewPet,
    request: &IdempotentRequest,
) -> Result<Created, Failure> {
    let insert = connection.prepared(INSERT_ONCE).await?;
    let (name, status) = (new.name.as_str(), new.status.as_str());
    let (lineage, own, key) = (request.lineage.0, request.api_key.0, request.key.as_str());
    let fingerprint = &request.fingerprint[..];
    let now = request.now.as_second();
    // The animal of the remembered request was deleted by hand.
    let mut deleted = 0_i64;
    for _ in 0..2 {
        let parameters: [&(dyn ToSql + Sync); 9] =
            [&name, &new.category_id, &status, &lineage, &key, &fingerprint, &now, &own, &deleted];
        if let Some(row) = connection.query_opt(&insert, &parameters).await? {
            let id = pets::id(row.try_get(0)?)?;
            return Ok(Created::New(new.clone().with_id(id)));
        }
        let known: [&(dyn ToSql + Sync); 3] = [&lineage, &key, &own];
        let recall = connection.prepared(RECALL).await?;
        let Some(row) = connection.query_opt(&recall, &known).await? else {
            continue;
        };
        if row.try_get::<_, Option<i64>>(0)?.is_none() {
            deleted = row.try_get(5)?;
            continue;
        }
        let same = row.try_get::<_, &[u8]>(4)? == fingerprint;
        if !same {
            return Ok(Created::Conflict);
        }
        connection.confirm().await?;
        return Ok(Created::Replayed(pets::owned(&row)?));
    }
    Err(Failure::Raced)
}

pub(super) async fn mark(connection: &mut Connection, seen: Option<i64>) -> Result<i64, Failure> {
    if let Some(seen) = seen {
        connection.execute(MARK, &[&seen]).await?;
        connection.execute(FORGET_MARKS, &[&(seen - REMEMBERED_FOR_MARKS)]).await?;
    }
    Ok(connection.query_one(NEWEST_MARK, &[]).await?.try_get(0)?)
}

pub(super) async fn forget(
    connection: &mut Connection,
    marks: i64,
    limit: u32,
) -> Result<usize, Failure> {
    let parameters: [&(dyn ToSql + Sync); 2] = [&marks, &i64::from(limit)];
    let forgotten = connection.execute(FORGET, &parameters).await?;
    Ok(usize::try_from(forgotten).unwrap_or(usize::MAX))
}
