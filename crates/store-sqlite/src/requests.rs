//! Remembered requests as rows.

use jiff::Timestamp;
use petstore_domain::{IdempotentRequest, Owner, PetId, StoredResponse};
use petstore_store::request_rows::{KnownRequest, compare_request};
use rusqlite::params;

use super::{connection::Connection, newest::Newest};

const RECALL: &str = "SELECT operation, fingerprint, status, location, etag, body FROM requests
    WHERE caller = ?1 AND key = ?2";
/// Does nothing if a request is already remembered under this key.
const REMEMBER: &str = "INSERT INTO requests
    (caller, key, operation, fingerprint, status, location, etag, body, created_at, mark)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING";
/// For a request that a service of the previous release added after the migration.
const CONVERT: &str = "INSERT INTO requests
    (caller, key, operation, fingerprint, status, location, body, created_at, mark)
    SELECT *, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unconverted_requests WHERE caller = ?1 AND key = ?2";
const ADDED_PET: &str = "SELECT 1 FROM idempotency_keys WHERE pet_id = ?1";
/// The same for the requests that added an animal.
const CONVERT_OF_PET: &str = "INSERT INTO requests
    (caller, key, operation, fingerprint, status, location, body, created_at, mark)
    SELECT *, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unconverted_requests WHERE (caller, key) IN
        (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id = ?1)";
/// For the previous release. Replaces a request whose animal was deleted by hand.
const REMEMBER_AS_BEFORE: &str = "INSERT OR REPLACE INTO idempotency_keys
    (api_key_id, key, fingerprint, pet_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
/// Marks ascend with the identifiers.
pub(super) const FORGET: &str = "DELETE FROM requests WHERE id IN
    (SELECT id FROM (SELECT id, mark FROM requests ORDER BY id LIMIT $2)
     WHERE mark < (SELECT max(number) FROM idempotency_marks) - $1)";

fn by(owner: Owner, request: &IdempotentRequest) -> (i64, &str) {
    (owner.number(), request.key.as_str())
}

/// Returns the response that is remembered under the idempotency key of a request.
pub(super) fn recall(
    connection: &Connection,
    request: &IdempotentRequest,
) -> rusqlite::Result<Option<KnownRequest>> {
    for owner in request.owners() {
        let seen = recall_of(connection, owner, request)?;
        if seen.is_some() {
            return Ok(seen);
        }
    }
    Ok(None)
}

/// Converts what a service of the previous release remembers of a request, if it does.
pub(super) fn convert(
    connection: &Connection,
    request: &IdempotentRequest,
) -> rusqlite::Result<bool> {
    let mut convert = connection.prepare_cached(CONVERT)?;
    for owner in request.owners() {
        if convert.execute(by(owner, request))? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn recall_of(
    connection: &Connection,
    owner: Owner,
    request: &IdempotentRequest,
) -> rusqlite::Result<Option<KnownRequest>> {
    let mut recall = connection.prepare_cached(RECALL)?;
    let mut rows = recall.query(by(owner, request))?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    compare_request(row, request).map(Some)
}

/// Remembers a request with its response. Returns 0, and writes nothing, if another one has its key.
pub(super) fn remember(
    connection: &Connection,
    newest: &mut Newest,
    request: &IdempotentRequest,
    now: Timestamp,
    response: &StoredResponse,
) -> rusqlite::Result<usize> {
    let StoredResponse {
        status,
        location,
        etag,
        body,
    } = response;
    connection.prepare_cached(REMEMBER)?.execute(params![
        request.lineage.number(),
        request.key.as_str(),
        request.operation,
        request.fingerprint,
        status,
        location,
        etag,
        body,
        now.as_second(),
        newest.mark(connection)?
    ])
}

/// Remembers a request that added an animal where the previous release looks for it.
pub(super) fn remember_as_before(
    connection: &Connection,
    request: &IdempotentRequest,
    pet: PetId,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let mut remember = connection.prepare_cached(REMEMBER_AS_BEFORE)?;
    for owner in request.owners() {
        let (owner, key) = by(owner, request);
        remember.execute(params![
            owner,
            key,
            request.fingerprint,
            pet.get(),
            now.as_second()
        ])?;
    }
    Ok(())
}

/// Keeps the responses to the requests that added an animal, before its first change. From then on,
/// its row no longer shows the animal that the previous release responded with.
pub(super) fn keep_responses(connection: &Connection, pet: PetId) -> rusqlite::Result<()> {
    // Few animals were added by such a request, and this look is cheaper than the conversion.
    if connection.prepare_cached(ADDED_PET)?.exists([pet.get()])? {
        connection
            .prepare_cached(CONVERT_OF_PET)?
            .execute([pet.get()])?;
    }
    Ok(())
}
