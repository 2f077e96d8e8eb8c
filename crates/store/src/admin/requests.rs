//! Remembered requests.

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    IdempotentRequest, StoredResponse, WriteContext, idempotency::REMEMBERED_FOR_MARKS,
    store_area::Act,
};

use super::{Database, SharedValue, Sql, Work, nothing, promise, record};
use crate::{
    StoreError,
    request_rows::{FORGET_AS_BEFORE, KnownRequest, NEWEST_MARK, RECALL, REMEMBER, seen},
};

/// Another process may set the same mark at the same time.
const MARK: &str = "INSERT INTO idempotency_marks (number, last_pet_id)
    SELECT CAST($1 AS bigint) + 1, coalesce(max(pet_id), 0) FROM idempotency_keys
    HAVING $1 = (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    ON CONFLICT DO NOTHING";
const FORGET_MARKS: &str = "DELETE FROM idempotency_marks WHERE number < $1";

promise! {
/// Forgets old requests. Each is remembered by the write that it asks for, such as
/// [`crate::Pets::create_pet`].
Requests {
    /// Adds a mark after all remembered requests, if `seen` is still the newest mark, and returns
    /// the newest mark. Marks count from 1; 0 means that there is no mark.
    async fn mark_idempotency_keys(&self, seen: Option<i64>) -> i64 {
        self.write(seen, |connection, seen| mark(connection, *seen).boxed()).await
    }

    /// Forgets requests older than the mark that is `marks` before the newest one: the oldest
    /// first, and at most `limit`. Returns how many.
    async fn forget_idempotency_keys(&self, marks: i64, limit: u32) -> usize {
        let limit = i64::from(limit);
        self.write((marks, limit), |connection, (marks, limit)| forget(connection, *marks, *limit).boxed()).await
    }
}
}

/// The result of a write of administration, such as [`super::Webhooks::write_webhook`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOutcome {
    /// It was done.
    Done,
    /// The same request was carried out before. This was the response.
    Replayed(StoredResponse),
    /// Nothing was done: the idempotency key was used before, for another request.
    IdempotencyConflict,
    /// Nothing was done: it has another version than was seen, or does not exist.
    Stale,
    /// Nothing was done: there are [`petstore_domain::store_area::Webhook::MAX`] webhooks, or
    /// [`petstore_domain::store_area::Webhook::MAX_TESTS`] test messages wait.
    Full,
}

impl From<KnownRequest> for WriteOutcome {
    fn from(seen: KnownRequest) -> Self {
        match seen {
            KnownRequest::Same(response) => Self::Replayed(response),
            KnownRequest::Other => Self::IdempotencyConflict,
        }
    }
}

async fn mark<S: Sql>(connection: &mut S, seen: Option<i64>) -> Result<i64, S::Error> {
    if let Some(seen) = seen {
        connection.execute(MARK, &[&seen]).await?;
        connection
            .execute(FORGET_MARKS, &[&(seen - REMEMBERED_FOR_MARKS)])
            .await?;
    }
    connection.number(NEWEST_MARK, &[]).await
}

async fn forget<S: Sql>(connection: &mut S, marks: i64, limit: i64) -> Result<usize, S::Error> {
    let forgotten = connection
        .execute(S::FORGET_REQUESTS, &[&marks, &limit])
        .await?;
    let before = connection
        .execute(FORGET_AS_BEFORE, &[&marks, &limit])
        .await?;
    Ok(usize::try_from(forgotten.max(before)).unwrap_or(usize::MAX))
}

/// The response that is remembered under the idempotency key of a request.
pub(super) async fn recall<S: Sql>(
    connection: &mut S,
    request: &IdempotentRequest,
) -> Result<Option<KnownRequest>, S::Error> {
    let (lineage, caller) = (request.lineage.number(), request.caller.number());
    let row = connection
        .row(RECALL, &[&lineage, &request.key.as_str(), &caller])
        .await?;
    row.map(|row| seen(&row, request)).transpose()
}

/// Remembers a request with its response.
pub(super) async fn remember<S: Sql>(
    connection: &mut S,
    request: &IdempotentRequest,
    now: Timestamp,
    response: &StoredResponse,
) -> Result<(), S::Error> {
    let StoredResponse {
        status,
        location,
        etag,
        body,
    } = response;
    connection
        .execute(
            REMEMBER,
            &[
                &request.lineage.number(),
                &request.key.as_str(),
                &request.operation,
                &&request.fingerprint[..],
                &i32::from(*status),
                location,
                etag,
                body,
                &now.as_second(),
            ],
        )
        .await?;
    Ok(())
}

/// Makes a change of administration, unless its request was carried out before, records the acts, and
/// remembers the response if the client may repeat the request. `make` returns why it made nothing.
pub(super) async fn administer<D: Database, C: SharedValue>(
    store: &D,
    change: C,
    (acts, response, context): (impl IntoIterator<Item = Act>, StoredResponse, WriteContext),
    make: Work<D::Sql, C, Option<WriteOutcome>>,
) -> Result<WriteOutcome, StoreError> {
    let acts: Vec<Act> = acts.into_iter().collect();
    if !acts.is_empty() {
        store.number_changes().await?;
    }
    let written = store.once(
        (change, acts, response, context, make),
        |connection, (change, acts, response, context, make)| {
            async move {
                let request = context.idempotency.as_ref();
                if let Some(request) = request
                    && let Some(known) = recall(connection, request).await?
                {
                    return Ok(Err(known.into()));
                }
                if let Some(not_made) = make(connection, change).await? {
                    return Ok(Err(not_made));
                }
                for act in acts {
                    record(connection, act, context).await?;
                }
                if let Some(request) = request {
                    remember(connection, request, context.now, response).await?;
                }
                Ok(Ok(0))
            }
            .boxed()
        },
        nothing,
    );
    Ok(written.await?.err().unwrap_or(WriteOutcome::Done))
}
