//! Remembered requests as rows.

use rusqlite::{Connection, OptionalExtension, params};

use super::pets;
use crate::{
    domain::{
        IdempotencyKey, IdempotentRequest, KeyId, NewPet, Pet, PetId,
        idempotency::REMEMBERED_FOR_MARKS,
    },
    store::Created,
};

const RECALL: &str = "SELECT fingerprint, pet_id FROM idempotency_keys
    WHERE api_key_id = ?1 AND key = ?2";
/// Replaces a request whose animal was deleted by hand.
const REMEMBER: &str = "INSERT OR REPLACE INTO idempotency_keys
    (api_key_id, key, fingerprint, pet_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
const NEWEST_MARK: &str = "SELECT coalesce(max(number), 0) FROM idempotency_marks";
const MARK: &str = "INSERT INTO idempotency_marks (number, last_pet_id)
    SELECT ?1 + 1, coalesce(max(pet_id), 0) FROM idempotency_keys";
const FORGET_MARKS: &str = "DELETE FROM idempotency_marks WHERE number < ?1";
const FORGET: &str = "DELETE FROM idempotency_keys WHERE (api_key_id, key) IN
    (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id <=
        (SELECT last_pet_id FROM idempotency_marks
         WHERE number = (SELECT max(number) FROM idempotency_marks) - ?1)
     ORDER BY pet_id LIMIT ?2)";

/// Adds an animal, unless the request was seen before.
pub(super) fn insert_once(
    connection: &Connection,
    new: NewPet,
    request: &IdempotentRequest,
) -> rusqlite::Result<Created> {
    for owner in request.owners() {
        if let Some((fingerprint, pet)) = recall(connection, owner, &request.key)? {
            let same = fingerprint == request.fingerprint;
            return Ok(if same { Created::Replayed(pet) } else { Created::Conflict });
        }
    }
    let pet = pets::insert(connection, new)?;
    let mut remember = connection.prepare_cached(REMEMBER)?;
    for owner in request.owners() {
        remember.execute(params![
            owner.0,
            request.key.as_str(),
            request.fingerprint,
            pet.id.get(),
            request.now.as_second()
        ])?;
    }
    Ok(Created::New(pet))
}

/// The fingerprint of the remembered request, and the animal that it added. `None` also if the
/// animal was deleted by hand.
fn recall(
    connection: &Connection,
    owner: KeyId,
    key: &IdempotencyKey,
) -> rusqlite::Result<Option<([u8; 32], Pet)>> {
    let recalled: Option<([u8; 32], i64)> = connection
        .prepare_cached(RECALL)?
        .query_row(params![owner.0, key.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((fingerprint, id)) = recalled else {
        return Ok(None);
    };
    let id = PetId::new(id).ok_or(rusqlite::Error::IntegralValueOutOfRange(1, id))?;
    Ok(pets::get(connection, id)?.map(|pet| (fingerprint, pet)))
}

pub(super) fn mark(connection: &Connection, seen: Option<i64>) -> rusqlite::Result<i64> {
    let newest = connection.prepare_cached(NEWEST_MARK)?.query_row([], |row| row.get(0))?;
    if seen != Some(newest) {
        return Ok(newest);
    }
    connection.execute(MARK, [newest])?;
    connection.execute(FORGET_MARKS, [newest - REMEMBERED_FOR_MARKS])?;
    Ok(newest + 1)
}

pub(super) fn forget(connection: &Connection, marks: i64, limit: u32) -> rusqlite::Result<usize> {
    connection.prepare_cached(FORGET)?.execute(params![marks, limit])
}
