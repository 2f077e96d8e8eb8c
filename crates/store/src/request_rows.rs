//! The rows of remembered requests: the statements and conversions that both stores share.
//!
//! A mark measures the age of a request without a clock. See [`super::Requests`].

use petstore_domain::{IdempotencyKey, IdempotentRequest, KeyId, StoredResponse};

use super::{CreationOutcome, ExecutionOutcome, bulk::StoredRequest, columns::Columns};

/// Selects every request, with the columns that [`read_request`] expects. In PostgreSQL, rows whose
/// caller is 0 are writes of the service itself, not requests.
pub(super) const ALL_REQUESTS: &str = "
    SELECT caller, key, operation, fingerprint, status, location, etag, body, created_at
    FROM requests WHERE caller <> 0
    UNION ALL
    SELECT caller, key, operation, fingerprint, status, location, NULL, body, created_at
    FROM unconverted_requests";

/// Expands to the statement that looks up a remembered request by its idempotency key $2. It
/// searches under the caller $1, the first key of the lineage, and under $3, the key that the
/// client used. The lineage takes precedence. This is a macro because `concat!` takes no constants.
#[macro_export]
macro_rules! recall {
    () => {
        "SELECT operation, fingerprint, status, location, etag, body FROM requests
        WHERE caller IN ($1, $3) AND key = $2 ORDER BY caller <> $1 LIMIT 1"
    };
}
pub use recall;

/// Looks up a remembered request. See [`recall!`].
pub(super) const RECALL: &str = recall!();
/// Adds a remembered request, with the newest mark.
pub const REMEMBER: &str = "INSERT INTO requests
    (caller, key, operation, fingerprint, status, location, etag, body, created_at, mark)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,
        (SELECT coalesce(max(number), 0) FROM idempotency_marks))";
/// Selects the newest mark, or 0 if there is none.
pub const NEWEST_MARK: &str = "SELECT coalesce(max(number), 0) FROM idempotency_marks";
/// Deletes at most $2 requests that are older than $1 marks from the table of the previous release.
pub(super) const FORGET_IN_PREVIOUS_TABLE: &str = "
    DELETE FROM idempotency_keys WHERE (api_key_id, key) IN
    (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id <=
        (SELECT last_pet_id FROM idempotency_marks
         WHERE number = (SELECT max(number) FROM idempotency_marks) - $1)
     ORDER BY pet_id LIMIT $2)";

/// The result of comparing a new request with the request that is remembered under its idempotency
/// key.
pub enum KnownRequest {
    /// The requests are the same; this is the remembered response.
    Same(StoredResponse),
    /// The client used the idempotency key for another request before.
    Other,
}

impl From<KnownRequest> for CreationOutcome {
    fn from(request: KnownRequest) -> Self {
        match request {
            KnownRequest::Same(response) => Self::Replayed(response),
            KnownRequest::Other => Self::Conflict,
        }
    }
}

impl From<KnownRequest> for ExecutionOutcome {
    fn from(request: KnownRequest) -> Self {
        match request {
            KnownRequest::Same(response) => Self::Replayed(response),
            KnownRequest::Other => Self::IdempotencyConflict,
        }
    }
}

/// Compares a request with the remembered one in a row of [`recall!`].
pub fn compare_request<R: Columns>(
    row: &R,
    request: &IdempotentRequest,
) -> Result<KnownRequest, R::Error> {
    let is_same =
        row.text(0)? == Some(request.operation) && row.bytes::<32>(1)? == request.fingerprint;
    if !is_same {
        return Ok(KnownRequest::Other);
    }
    let response = read_response(row, 2)?;
    Ok(KnownRequest::Same(response))
}

/// Reads a row of [`ALL_REQUESTS`].
pub(super) fn read_request<R: Columns>(row: &R) -> Result<StoredRequest, R::Error> {
    Ok(StoredRequest {
        caller: KeyId(row.value(0)?),
        key: row.parsed(1, |key| IdempotencyKey::new(key.to_owned()))?,
        operation: row.value(2)?,
        fingerprint: row.bytes(3)?,
        response: read_response(row, 4)?,
        created_at: row.time_from_seconds(8)?,
    })
}

/// Reads a response from the four columns that begin at `first_column`: status, location, `ETag`
/// and body.
fn read_response<R: Columns>(row: &R, first_column: usize) -> Result<StoredResponse, R::Error> {
    let status: i32 = row.value(first_column)?;
    Ok(StoredResponse {
        status: u16::try_from(status).map_err(|_| row.invalid(first_column))?,
        location: row.value(first_column + 1)?,
        etag: row.value(first_column + 2)?,
        body: row.value(first_column + 3)?,
    })
}
