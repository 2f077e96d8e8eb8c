//! Remembered requests: the responses that repetitions with the same idempotency key get.

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    IdempotentRequest, StoredResponse, WriteContext, idempotency::MARKS_UNTIL_FORGOTTEN,
    store_area::Act,
};

use super::{
    Database, NO_RESULT, SharedValue, Sql, Work, WorkOutcome, acts::record_act, no_result,
    store_trait,
};
use crate::{
    StoreError,
    request_rows::{
        FORGET_IN_PREVIOUS_TABLE, KnownRequest, NEWEST_MARK, RECALL, REMEMBER, compare_request,
    },
};

/// Adds a mark if $1 is still the newest one. Another process may add the same mark concurrently.
const ADD_MARK: &str = "INSERT INTO idempotency_marks (number, last_pet_id)
    SELECT CAST($1 AS bigint) + 1, coalesce(max(pet_id), 0) FROM idempotency_keys
    HAVING $1 = (SELECT coalesce(max(number), 0) FROM idempotency_marks)
    ON CONFLICT DO NOTHING";
const FORGET_MARKS: &str = "DELETE FROM idempotency_marks WHERE number < $1";

/// The result of an administrative write, such as [`super::Webhooks::write_webhook`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The change was made.
    Done,
    /// The same request was executed before, with this response.
    Replayed(StoredResponse),
    /// Nothing was done: the idempotency key was used before for another request.
    IdempotencyConflict,
    /// Nothing was done: the subject has changed since it was seen, or no longer exists.
    Stale,
    /// Nothing was done: there are already [`petstore_domain::store_area::Webhook::MAX`] webhooks,
    /// or [`petstore_domain::store_area::Webhook::MAX_TESTS`] waiting test messages.
    Full,
}

impl From<KnownRequest> for WriteOutcome {
    fn from(request: KnownRequest) -> Self {
        match request {
            KnownRequest::Same(response) => Self::Replayed(response),
            KnownRequest::Other => Self::IdempotencyConflict,
        }
    }
}

/// The data that an administrative change stores in addition to the change itself.
pub(super) struct Administration {
    pub(super) acts: Vec<Act>,
    /// The response to remember if the request has an idempotency key.
    pub(super) response: StoredResponse,
    pub(super) context: WriteContext,
}

store_trait! {
/// Forgets old requests. Requests are remembered by the writes that they cause: see
/// [`crate::Pets::create_pet`].
Requests {
    /// Adds a mark if `seen` is still the newest one. Adds no mark if `seen` is `None`. Returns the
    /// newest mark, or 0 if there is none.
    ///
    /// Marks count from 1. They measure the age of remembered requests without a clock: each
    /// request refers to the mark that was the newest at its time.
    async fn mark_idempotency_keys(&self, seen: Option<i64>) -> Result<i64, StoreError> {
        self.write(seen, |connection, seen| add_mark(connection, *seen).boxed()).await
    }

    /// Forgets requests that are more than `marks` marks older than the newest mark: oldest first,
    /// at most `limit`. If it returns `limit`, there may be more to forget.
    async fn forget_idempotency_keys(&self, marks: i64, limit: u32) -> Result<usize, StoreError> {
        self.write((marks, i64::from(limit)), |connection, (marks, limit)| {
            forget_requests(connection, *marks, *limit).boxed()
        })
        .await
    }
}
}

/// Adds a mark, and forgets old ones. See [`Requests::mark_idempotency_keys`].
async fn add_mark<S: Sql>(connection: &mut S, seen_mark: Option<i64>) -> Result<i64, S::Error> {
    if let Some(seen_mark) = seen_mark {
        connection.execute(ADD_MARK, &[&seen_mark]).await?;
        connection
            .execute(FORGET_MARKS, &[&(seen_mark - MARKS_UNTIL_FORGOTTEN)])
            .await?;
    }
    connection.number(NEWEST_MARK, &[]).await
}

/// Forgets requests in the tables of this release and of the previous one, at most `limit` in each.
/// Returns the higher of the two counts. If it equals `limit`, one of the tables may have more.
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

/// Looks up the request that is remembered under the idempotency key of a request.
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

/// Makes an administrative change in one transaction, unless its request was executed before. Also
/// records its acts, and remembers the response if the request has an idempotency key.
///
/// `apply_change` returns [`WriteOutcome::Done`] after it has written the change, and otherwise the
/// reason why it wrote nothing.
pub(super) async fn administer<D: Database, C: SharedValue>(
    store: &D,
    change: C,
    administration: Administration,
    apply_change: Work<D::Sql, C, WriteOutcome>,
) -> Result<WriteOutcome, StoreError> {
    if !administration.acts.is_empty() {
        store.assign_change_numbers().await?;
    }
    let result = store.write_once(
        (change, administration, apply_change),
        |connection, (change, administration, apply_change)| {
            administer_in_transaction(connection, change, administration, *apply_change).boxed()
        },
        no_result,
    );
    match result.await? {
        WorkOutcome::Done(()) => Ok(WriteOutcome::Done),
        WorkOutcome::Refused(outcome) => Ok(outcome),
    }
}

/// Runs the transaction of [`administer`]. If the change cannot be made, refuses with the outcome.
async fn administer_in_transaction<S: Sql, C: SharedValue>(
    connection: &mut S,
    change: &C,
    administration: &Administration,
    apply_change: Work<S, C, WriteOutcome>,
) -> Result<WorkOutcome<i64, WriteOutcome>, S::Error> {
    let context = &administration.context;
    let request = context.idempotency.as_ref();
    if let Some(request) = request
        && let Some(known_request) = recall(connection, request).await?
    {
        return Ok(WorkOutcome::Refused(known_request.into()));
    }
    let outcome = apply_change(connection, change).await?;
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
