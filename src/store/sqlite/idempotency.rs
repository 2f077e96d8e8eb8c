//! Requests that may come again, as rows.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::pets;
use crate::{
    domain::{IdempotentRequest, NewPet, Pet, PetId, idempotency::forgotten_before},
    store::Created,
};

const RECALL: &str = "SELECT fingerprint, pet_id FROM idempotency_keys
    WHERE api_key_id = ?1 AND key = ?2 AND created_at >= ?3";
/// Takes the place of one that counts as forgotten.
const REMEMBER: &str = "INSERT OR REPLACE INTO idempotency_keys
    (api_key_id, key, fingerprint, pet_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
const FORGET: &str = "DELETE FROM idempotency_keys WHERE (api_key_id, key) IN
    (SELECT api_key_id, key FROM idempotency_keys WHERE created_at < ?1
     ORDER BY created_at LIMIT ?2)";

/// Adds an animal, unless the request was seen before.
pub(super) fn insert_once(
    connection: &Connection,
    new: NewPet,
    request: &IdempotentRequest,
) -> rusqlite::Result<Created> {
    if let Some((fingerprint, pet)) = recall(connection, request)? {
        let same = fingerprint == request.fingerprint;
        return Ok(if same { Created::Replayed(pet) } else { Created::Conflict });
    }
    let pet = pets::insert(connection, new)?;
    connection.prepare_cached(REMEMBER)?.execute(params![
        request.api_key.0,
        request.key.as_str(),
        request.fingerprint,
        pet.id.get(),
        request.now.as_second()
    ])?;
    Ok(Created::New(pet))
}

/// The fingerprint of the first request of this name, and the animal that it
/// added. `None` also if somebody deleted the animal by hand.
fn recall(
    connection: &Connection,
    request: &IdempotentRequest,
) -> rusqlite::Result<Option<([u8; 32], Pet)>> {
    let since = forgotten_before(request.now).as_second();
    let recalled: Option<([u8; 32], i64)> = connection
        .prepare_cached(RECALL)?
        .query_row(params![request.api_key.0, request.key.as_str(), since], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((fingerprint, id)) = recalled else {
        return Ok(None);
    };
    let id = PetId::new(id).ok_or(rusqlite::Error::IntegralValueOutOfRange(1, id))?;
    Ok(pets::get(connection, id)?.map(|pet| (fingerprint, pet)))
}

pub(super) fn forget(
    connection: &Connection,
    before: Timestamp,
    limit: u32,
) -> rusqlite::Result<usize> {
    connection.prepare_cached(FORGET)?.execute(params![before.as_second(), limit])
}
