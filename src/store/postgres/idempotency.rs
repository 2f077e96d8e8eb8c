//! Requests that may come again, as rows.

use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::{faults::Failure, pets, pool::Connection};
use crate::{
    domain::{IdempotentRequest, NewPet, idempotency::forgotten_before},
    store::Created,
};

/// Claims the name of the request and adds the animal, in one statement. Does
/// nothing if the name is taken, unless by a request that came before $8 or
/// whose animal was $9. Who claims it at the same moment is waited for.
///
/// The identifier is drawn first, so that the one row says that all was done.
const INSERT_ONCE: &str = "
    WITH claimed AS (
        INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at)
        SELECT $4, $5, $6, nextval('pets_ids'), $7 WHERE NOT EXISTS (
            SELECT 1 FROM idempotency_keys
            WHERE api_key_id = $4 AND key = $5 AND created_at >= $8 AND pet_id <> $9)
        ON CONFLICT (api_key_id, key) DO UPDATE SET
            fingerprint = excluded.fingerprint,
            pet_id = excluded.pet_id,
            created_at = excluded.created_at
            WHERE idempotency_keys.created_at < $8 OR idempotency_keys.pet_id = $9
        RETURNING pet_id)
    INSERT INTO pets (id, name, category_id, status)
    SELECT pet_id, $1, $2, $3 FROM claimed RETURNING id";
const RECALL: &str = "
    SELECT pets.id, name, category_id, status, fingerprint, pet_id
    FROM idempotency_keys LEFT JOIN pets ON pets.id = pet_id
    WHERE api_key_id = $1 AND key = $2 AND created_at >= $3";
const FORGET: &str = "
    DELETE FROM idempotency_keys WHERE (api_key_id, key) IN
    (SELECT api_key_id, key FROM idempotency_keys WHERE created_at < $1
     ORDER BY created_at LIMIT $2)";

/// Adds an animal, unless the request was seen before.
pub(super) async fn insert_once(
    connection: &mut Connection,
    new: &NewPet,
    request: &IdempotentRequest,
) -> Result<Created, Failure> {
    let insert = connection.prepared(INSERT_ONCE).await?;
    let (name, status) = (new.name.as_str(), new.status.as_str());
    let (api_key, key) = (request.api_key.0, request.key.as_str());
    let fingerprint = &request.fingerprint[..];
    let since = forgotten_before(request.now).as_second();
    let now = request.now.as_second();
    // Of an animal that somebody deleted by hand.
    let mut deleted = 0_i64;
    for _ in 0..2 {
        let parameters: [&(dyn ToSql + Sync); 9] = [
            &name,
            &new.category_id,
            &status,
            &api_key,
            &key,
            &fingerprint,
            &now,
            &since,
            &deleted,
        ];
        if let Some(row) = connection.query_opt(&insert, &parameters).await? {
            let id = pets::id(row.try_get(0)?)?;
            return Ok(Created::New(new.clone().with_id(id)));
        }
        let known: [&(dyn ToSql + Sync); 3] = [&api_key, &key, &since];
        let recall = connection.prepared(RECALL).await?;
        let Some(row) = connection.query_opt(&recall, &known).await? else {
            continue;
        };
        if row.try_get::<_, Option<i64>>(0)?.is_none() {
            deleted = row.try_get(5)?;
            continue;
        }
        let same = row.try_get::<_, &[u8]>(4)? == fingerprint;
        return Ok(if same { Created::Replayed(pets::owned(&row)?) } else { Created::Conflict });
    }
    Err(Failure::Raced)
}

pub(super) async fn forget(
    connection: &mut Connection,
    before: Timestamp,
    limit: u32,
) -> Result<usize, Failure> {
    let parameters: [&(dyn ToSql + Sync); 2] = [&before.as_second(), &i64::from(limit)];
    let forgotten = connection.execute(FORGET, &parameters).await?;
    Ok(usize::try_from(forgotten).unwrap_or(usize::MAX))
}
