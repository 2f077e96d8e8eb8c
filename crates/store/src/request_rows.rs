//! The rows of remembered requests, as far as they are the same in every store.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use petstore_domain::{IdempotencyKey, IdempotentRequest, KeyId, StoredResponse};

use super::{CreationOutcome, ExecutionOutcome, bulk::StoredRequest, columns::Columns};

/// Every request, with the columns that [`request`] expects. Over PostgreSQL, those without a caller
/// are writes of the service itself.
pub(super) const ALL: &str = "
    SELECT caller, key, operation, fingerprint, status, location, etag, body, created_at
    FROM requests WHERE caller <> 0
    UNION ALL
    SELECT caller, key, operation, fingerprint, status, location, NULL, body, created_at
    FROM unconverted_requests";
/// What is remembered under the idempotency key $2 of the caller $1, or of the key $3 of its lineage.
#[macro_export]
macro_rules! recall {
    () => {
        "SELECT operation, fingerprint, status, location, etag, body FROM requests
        WHERE caller IN ($1, $3) AND key = $2 ORDER BY caller <> $1 LIMIT 1"
    };
}
pub use recall;

pub(super) const RECALL: &str = recall!();
pub const REMEMBER: &str = "INSERT INTO requests
    (caller, key, operation, fingerprint, status, location, etag, body, created_at, mark)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,
        (SELECT coalesce(max(number), 0) FROM idempotency_marks))";
pub const NEWEST_MARK: &str = "SELECT coalesce(max(number), 0) FROM idempotency_marks";
/// Forgets requests in the table of the previous release.
pub(super) const FORGET_AS_BEFORE: &str = "
    DELETE FROM idempotency_keys WHERE (api_key_id, key) IN
    (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id <=
        (SELECT last_pet_id FROM idempotency_marks
         WHERE number = (SELECT max(number) FROM idempotency_marks) - $1)
     ORDER BY pet_id LIMIT $2)";

/// A request that was seen before.
pub enum KnownRequest {
    /// The same one. This was the response.
    Same(StoredResponse),
    /// Another one, with the same idempotency key.
    Other,
}

impl From<KnownRequest> for CreationOutcome {
    fn from(seen: KnownRequest) -> Self {
        match seen {
            KnownRequest::Same(response) => Self::Replayed(response),
            KnownRequest::Other => Self::Conflict,
        }
    }
}

impl From<KnownRequest> for ExecutionOutcome {
    fn from(seen: KnownRequest) -> Self {
        match seen {
            KnownRequest::Same(response) => Self::Replayed(response),
            KnownRequest::Other => Self::IdempotencyConflict,
        }
    }
}

/// Compares a request with that of a row, which has its operation, fingerprint and response.
pub fn seen<R: Columns>(row: &R, request: &IdempotentRequest) -> Result<KnownRequest, R::Error> {
    let is_same =
        row.text(0)? == Some(request.operation) && row.bytes::<32>(1)? == request.fingerprint;
    Ok(if is_same {
        KnownRequest::Same(response(row, 2)?)
    } else {
        KnownRequest::Other
    })
}

/// The request in a row of [`ALL`].
pub(super) fn request<R: Columns>(row: &R) -> Result<StoredRequest, R::Error> {
    Ok(StoredRequest {
        caller: KeyId(row.value(0)?),
        key: row.parsed(1, |key| IdempotencyKey::new(key.to_owned()))?,
        operation: row.value(2)?,
        fingerprint: row.bytes(3)?,
        response: response(row, 4)?,
        created_at: row.second(8)?,
    })
}

/// The response in the columns from `first` on: status, location, `ETag` and body.
fn response<R: Columns>(row: &R, first: usize) -> Result<StoredResponse, R::Error> {
    let status = u16::try_from(row.value::<i32>(first)?);
    Ok(StoredResponse {
        status: status.map_err(|_| row.invalid(first))?,
        location: row.value(first + 1)?,
        etag: row.value(first + 2)?,
        body: row.value(first + 3)?,
    })
}
