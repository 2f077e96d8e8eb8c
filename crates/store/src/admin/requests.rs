//! Remembered requests.

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    IdempotentRequest, StoredResponse, WriteContext, idempotency::REMEMBERED_FOR_MARKS,
    store_area::Act,
};

use super::{Database, Shared, Sql, Work, nothing, promise, record};
use crate::{
    StoreError,
    request_rows::{FORGET_AS_BEFORE, NEWEST_MARK, RECALL, REMEMBER, Seen, seen},
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
        self.write(seen, |on, seen| mark(on, *seen).boxed()).await
    }

    /// Forgets requests older than the mark that is `marks` before the newest one: the oldest
    /// first, and at most `limit`. Returns how many.
    async fn forget_idempotency_keys(&self, marks: i64, limit: u32) -> usize {
        let limit = i64::from(limit);
        self.write((marks, limit), |on, (marks, limit)| forget(on, *marks, *limit).boxed()).await
    }
}
}

/// The result of a write of administration, such as [`super::Webhooks::write_webhook`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
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

impl From<Seen> for Written {
    fn from(seen: Seen) -> Self {
        match seen {
            Seen::Same(response) => Self::Replayed(response),
            Seen::Other => Self::IdempotencyConflict,
        }
    }
}

async fn mark<S: Sql>(on: &mut S, seen: Option<i64>) -> Result<i64, S::Error> {
    if let Some(seen) = seen {
        on.execute(MARK, &[&seen]).await?;
        on.execute(FORGET_MARKS, &[&(seen - REMEMBERED_FOR_MARKS)])
            .await?;
    }
    on.number(NEWEST_MARK, &[]).await
}

async fn forget<S: Sql>(on: &mut S, marks: i64, limit: i64) -> Result<usize, S::Error> {
    let forgotten = on.execute(S::FORGET_REQUESTS, &[&marks, &limit]).await?;
    let before = on.execute(FORGET_AS_BEFORE, &[&marks, &limit]).await?;
    Ok(usize::try_from(forgotten.max(before)).unwrap_or(usize::MAX))
}

/// The response that is remembered under the idempotency key of a request.
pub(super) async fn recall<S: Sql>(
    on: &mut S,
    request: &IdempotentRequest,
) -> Result<Option<Seen>, S::Error> {
    let (lineage, caller) = (request.lineage.number(), request.caller.number());
    let row = on
        .row(RECALL, &[&lineage, &request.key.as_str(), &caller])
        .await?;
    row.map(|row| seen(&row, request)).transpose()
}

/// Remembers a request with its response.
pub(super) async fn remember<S: Sql>(
    on: &mut S,
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
    on.execute(
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
pub(super) async fn administer<D: Database, C: Shared>(
    store: &D,
    change: C,
    (acts, response, context): (impl IntoIterator<Item = Act>, StoredResponse, WriteContext),
    make: Work<D::Sql, C, Option<Written>>,
) -> Result<Written, StoreError> {
    let acts: Vec<Act> = acts.into_iter().collect();
    if !acts.is_empty() {
        store.number_changes().await?;
    }
    let written = store.once(
        (change, acts, response, context, make),
        |on, (change, acts, response, context, make)| {
            async move {
                let request = context.idempotency.as_ref();
                if let Some(request) = request
                    && let Some(known) = recall(on, request).await?
                {
                    return Ok(Err(known.into()));
                }
                if let Some(not_made) = make(on, change).await? {
                    return Ok(Err(not_made));
                }
                for act in acts {
                    record(on, act, context).await?;
                }
                if let Some(request) = request {
                    remember(on, request, context.now, response).await?;
                }
                Ok(Ok(0))
            }
            .boxed()
        },
        nothing,
    );
    Ok(written.await?.err().unwrap_or(Written::Done))
}
