//! Remembered requests.

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    IdempotentRequest, StoredResponse, WriteContext, idempotency::MARKS_UNTIL_FORGOTTEN,
    store_area::Act,
};

use super::{
    Database, NO_RESULT, SharedValue, Sql, Work, WorkOutcome, acts::record_act, no_result, promise,
};
use crate::{
    StoreError,
    request_rows::{
        FORGET_IN_PREVIOUS_TABLE, KnownRequest, NEWEST_MARK, RECALL, REMEMBER, compare_request,
    },
};

/// Adds a mark if `$1` is still the newest. Another process may add the same one at the same time.
const MARK: &str = "INSERT INTO idempotency_marks (number, last_pet_id)
    SELECT CAST($1 AS bigint) + 1, coalesce(max(pet_id), 0) FROM idempotency_keys
    HAVING $1 = (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    ON CONFLICT DO NOTHING";
const FORGET_MARKS: &str = "DELETE FROM idempotency_marks WHERE number < $1";

promise! {
/// Forgets old requests. The write that a request asks for remembers the request: see
/// [`crate::Pets::create_pet`].
Requests {
    /// Adds a mark after all remembered requests, if `seen` is still the newest mark, and returns
    /// the newest mark. Marks count from 1; 0 means that there is no mark.
    async fn mark_idempotency_keys(&self, seen: Option<i64>) -> i64 {
        self.write(seen, |connection, seen| add_mark(connection, *seen).boxed()).await
    }

    /// Forgets requests older than the mark that is `marks` before the newest one: the oldest
    /// first, and at most `limit`. Returns the number of forgotten requests.
    async fn forget_idempotency_keys(&self, marks: i64, limit: u32) -> usize {
        self.write((marks, i64::from(limit)), |connection, (marks, limit)| {
            forget_requests(connection, *marks, *limit).boxed()
        })
        .await
    }
}
}

/// The result of an administrative write, such as [`super::Webhooks::write_webhook`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The change was made.
    Done,
    /// The same request was carried out before, with this response.
    Replayed(StoredResponse),
    /// Nothing was done: the idempotency key was used before, for another request.
    IdempotencyConflict,
    /// Nothing was done: the subject has another version than was seen, or does not exist.
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

/// Adds a mark after the mark `seen`, if that is still the newest one. Returns the newest mark.
async fn add_mark<S: Sql>(connection: &mut S, seen_mark: Option<i64>) -> Result<i64, S::Error> {
    if let Some(seen_mark) = seen_mark {
        connection.execute(MARK, &[&seen_mark]).await?;
        connection
            .execute(FORGET_MARKS, &[&(seen_mark - MARKS_UNTIL_FORGOTTEN)])
            .await?;
    }
    connection.number(NEWEST_MARK, &[]).await
}

/// Forgets requests in the table of this release, and in the table of the previous one. Returns the higher of the two
/// counts: the caller goes on while it is `limit`, so while either table may have more.
async fn forget_requests<S: Sql>(
    connection: &mut S,
    marks: i64,
    limit: i64,
) -> Result<usize, S::Error> {
    let count = connection
        .execute(S::FORGET_REQUESTS, &[&marks, &limit])
        .await?;
    let previous_release_count = connection
        .execute(FORGET_IN_PREVIOUS_TABLE, &[&marks, &limit])
        .await?;
    Ok(usize::try_from(count.max(previous_release_count)).unwrap_or(usize::MAX))
}

/// Reads what is remembered under the idempotency key of a request.
pub(super) async fn recall<S: Sql>(
    connection: &mut S,
    request: &IdempotentRequest,
) -> Result<Option<KnownRequest>, S::Error> {
    let lineage = request.lineage.number();
    let caller = request.caller.number();
    let row = connection
        .row(RECALL, &[&lineage, &request.key.as_str(), &caller])
        .await?;
    match row {
        Some(row) => compare_request(&row, request).map(Some),
        None => Ok(None),
    }
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

/// The data that an administrative change stores in addition to the change itself.
pub(super) struct Administration {
    pub(super) acts: Vec<Act>,
    /// The response that is remembered if the client may repeat the request.
    pub(super) response: StoredResponse,
    pub(super) context: WriteContext,
}

/// Makes an administrative change, unless its request was carried out before, records the acts, and
/// remembers the response if the client may repeat the request.
///
/// `make` returns [`WriteOutcome::Done`] after it made the change, and otherwise the reason why it made nothing.
pub(super) async fn administer<D: Database, C: SharedValue>(
    store: &D,
    change: C,
    administration: Administration,
    make: Work<D::Sql, C, WriteOutcome>,
) -> Result<WriteOutcome, StoreError> {
    if !administration.acts.is_empty() {
        store.assign_change_numbers().await?;
    }
    let result = store.write_once(
        (change, administration, make),
        |connection, (change, administration, make)| {
            administer_in_transaction(connection, change, administration, *make).boxed()
        },
        no_result,
    );
    match result.await? {
        WorkOutcome::Done(()) => Ok(WriteOutcome::Done),
        WorkOutcome::Refused(outcome) => Ok(outcome),
    }
}

/// Does the work of [`administer`] in its transaction. Refuses with the reason if nothing is to be done.
async fn administer_in_transaction<S: Sql, C: SharedValue>(
    connection: &mut S,
    change: &C,
    administration: &Administration,
    make: Work<S, C, WriteOutcome>,
) -> Result<WorkOutcome<i64, WriteOutcome>, S::Error> {
    let context = &administration.context;
    let request = context.idempotency.as_ref();
    if let Some(request) = request
        && let Some(known_request) = recall(connection, request).await?
    {
        return Ok(WorkOutcome::Refused(known_request.into()));
    }
    let outcome = make(connection, change).await?;
    if outcome != WriteOutcome::Done {
        return Ok(WorkOutcome::Refused(outcome));
    }

    for act in &administration.acts {
        record_act(connection, act, context).await?;
    }
    if let Some(request) = request {
        remember(connection, request, context.now, &administration.response).await?;
    }
    Ok(WorkOutcome::Done(NO_RESULT))
}
