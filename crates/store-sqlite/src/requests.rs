//! Remembers requests with an idempotency key, and recalls their responses.
//!
//! A request is remembered under its idempotency key and its owner ([`RequestOwner`]). Marks tell how
//! old it is, without a clock ([`petstore_domain::idempotency::MARK_INTERVAL`]).
//!
//! A service of the previous release may still be running after the migration. It remembers only the
//! requests that add animals, in a table of its own.

use jiff::Timestamp;
use petstore_domain::{IdempotentRequest, PetId, RequestOwner, StoredResponse};
use petstore_store::request_rows::{KnownRequest, compare_request};
use rusqlite::params;

use super::{connection::Connection, newest::Newest};

/// The query for the request that is remembered under an owner and a key.
const RECALL: &str = "SELECT operation, fingerprint, status, location, etag, body FROM requests
    WHERE caller = ?1 AND key = ?2";
/// The statement that remembers a request. It inserts no row if one is already remembered under this key.
const REMEMBER: &str = "INSERT INTO requests
    (caller, key, operation, fingerprint, status, location, etag, body, created_at, mark)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING";
/// The statement that copies a request from the table of the previous release into `requests`.
const COPY_FROM_PREVIOUS_RELEASE: &str = "INSERT INTO requests
    (caller, key, operation, fingerprint, status, location, body, created_at, mark)
    SELECT *, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unconverted_requests WHERE caller = ?1 AND key = ?2";
/// The query that selects a row if a request of the previous release added a certain animal.
const ADDED_PET: &str = "SELECT 1 FROM idempotency_keys WHERE pet_id = ?1";
/// The statement that copies all requests that added a certain animal, like
/// [`COPY_FROM_PREVIOUS_RELEASE`].
const COPY_OF_PET: &str = "INSERT INTO requests
    (caller, key, operation, fingerprint, status, location, body, created_at, mark)
    SELECT *, (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    FROM unconverted_requests WHERE (caller, key) IN
        (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id = ?1)";
/// The statement that remembers a request in the table of the previous release. It replaces a request
/// whose animal was deleted by hand.
const REMEMBER_FOR_PREVIOUS_RELEASE: &str = "INSERT OR REPLACE INTO idempotency_keys
    (api_key_id, key, fingerprint, pet_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
/// The statement that deletes old requests. It examines only the first $2 rows, because marks never
/// decrease with ascending identifiers.
pub(super) const FORGET_REQUESTS: &str = "DELETE FROM requests WHERE id IN
    (SELECT id FROM (SELECT id, mark FROM requests ORDER BY id LIMIT $2)
     WHERE mark < (SELECT max(number) FROM idempotency_marks) - $1)";

/// Returns the values that identify a remembered request: its owner and its idempotency key.
fn identity_values(owner: RequestOwner, request: &IdempotentRequest) -> (i64, &str) {
    (owner.number(), request.key.as_str())
}

/// Looks up the request that is remembered under the idempotency key of `request`, for any of its
/// owners: the lineage, and the caller. Returns `None` if no request is remembered.
pub(super) fn recall(
    connection: &Connection,
    request: &IdempotentRequest,
) -> rusqlite::Result<Option<KnownRequest>> {
    for owner in request.owners() {
        let known_request = recall_for_owner(connection, owner, request)?;
        if known_request.is_some() {
            return Ok(known_request);
        }
    }
    Ok(None)
}

/// Copies a request from the table of the previous release into `requests`. Returns whether there was
/// one.
pub(super) fn copy_from_previous_release(
    connection: &Connection,
    request: &IdempotentRequest,
) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached(COPY_FROM_PREVIOUS_RELEASE)?;
    for owner in request.owners() {
        if statement.execute(identity_values(owner, request))? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Looks up the request that is remembered for one owner under the idempotency key of `request`.
fn recall_for_owner(
    connection: &Connection,
    owner: RequestOwner,
    request: &IdempotentRequest,
) -> rusqlite::Result<Option<KnownRequest>> {
    let mut statement = connection.prepare_cached(RECALL)?;
    let mut rows = statement.query(identity_values(owner, request))?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    compare_request(row, request).map(Some)
}

/// Remembers a request with its response. Returns the number of rows written: 0 if a request is already
/// remembered under its key, and otherwise 1.
pub(super) fn remember(
    connection: &Connection,
    newest: &mut Newest,
    request: &IdempotentRequest,
    now: Timestamp,
    response: &StoredResponse,
) -> rusqlite::Result<usize> {
    connection.prepare_cached(REMEMBER)?.execute(params![
        request.lineage.number(),
        request.key.as_str(),
        request.operation,
        request.fingerprint,
        response.status,
        response.location,
        response.etag,
        response.body,
        now.as_second(),
        newest.request_mark(connection)?
    ])
}

/// Copies the request that added an animal to the table of the previous release. A service of that
/// release then recognises a repetition of the request.
pub(super) fn remember_for_previous_release(
    connection: &Connection,
    request: &IdempotentRequest,
    pet: PetId,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(REMEMBER_FOR_PREVIOUS_RELEASE)?;
    for owner in request.owners() {
        let (owner_number, key) = identity_values(owner, request);
        statement.execute(params![
            owner_number,
            key,
            request.fingerprint,
            pet.get(),
            now.as_second()
        ])?;
    }
    Ok(())
}

/// Stores the responses to the requests with which the previous release added an animal. That
/// release did not store them, so they are rendered from the row of the animal. So this must run
/// before the first change of the animal.
pub(super) fn store_former_responses(connection: &Connection, pet: PetId) -> rusqlite::Result<()> {
    // Few animals were added by such a request, so this cheap query usually saves the expensive
    // statement.
    if connection.prepare_cached(ADDED_PET)?.exists([pet.get()])? {
        connection
            .prepare_cached(COPY_OF_PET)?
            .execute([pet.get()])?;
    }
    Ok(())
}
