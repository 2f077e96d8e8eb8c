//! Webhooks as rows.

mod deliveries;

use std::mem;

use async_trait::async_trait;
use futures_util::FutureExt;
use tokio_postgres::error::SqlState;

use super::{
    PostgresStore,
    errors::Failure,
    log,
    pool::{Access, Connection},
    requests,
    writes::{Value, Write, in_transaction, one_row, prepare, values},
};
use crate::{
    domain::{
        IdempotentRequest, StoredResponse, WriteContext,
        store_area::{
            Act, Attempt, DeliveryUpdate, DisabledReason, Restart, StoredWebhook, TestMessage,
            Waiting, WebhookChange,
        },
    },
    store::{Changes, StoreError, WebhookWritten, Webhooks, webhook_rows as rows},
};

const DRAW_ID: &str = "SELECT nextval('webhook_ids')";
const UPDATE: &str = one_row!(
    "UPDATE webhooks SET url = $2, types = $3, description = $4, disabled_reason = $5,
        updated_at = $6, version = $7::bigint, secret = $8, previous_secret = $9,
        previous_secret_until = $10, lease_holder = 0, lease_beat = lease_beat + 1
        WHERE id = $1 AND version = $7::bigint - 1"
);
const DELETE: &str = one_row!("DELETE FROM webhooks WHERE id = $1 AND version = $2");
const ADD_TEST: &str = one_row!(
    "INSERT INTO webhook_tests (message_id, webhook_id)
        SELECT $1, id FROM webhooks WHERE id = $2 FOR KEY SHARE"
);
const VERSION: &str = "SELECT version FROM webhooks WHERE id = $1";

#[async_trait]
impl Webhooks for PostgresStore {
    async fn list_webhooks(&self) -> Result<Vec<StoredWebhook>, StoreError> {
        self.run(Access::Read, (), |on, ()| list(on).boxed()).await
    }

    async fn draw_webhook_id(&self) -> Result<i64, StoreError> {
        self.run(Access::Write, (), |on, ()| draw_id(on).boxed()).await
    }

    async fn recall_request(
        &self,
        request: IdempotentRequest,
    ) -> Result<Option<WebhookWritten>, StoreError> {
        self.run(Access::Write, request, |on, request| recall(on, request).boxed()).await
    }

    async fn write_webhook(
        &self,
        change: WebhookChange,
        act: Option<Act>,
        response: StoredResponse,
        context: WriteContext,
    ) -> Result<WebhookWritten, StoreError> {
        if act.is_some() {
            // The act is in the audit trail behind the changes that have a number.
            self.log_state().await?;
        }
        let job = Job { change, act, response, context, is_retry: false };
        self.run(Access::Write, job, |on, job| job.attempt(on).boxed()).await
    }

    async fn save_deliveries(&self, updates: Vec<DeliveryUpdate>) -> Result<Vec<bool>, StoreError> {
        if updates.iter().any(|update| update.disable.is_some()) {
            // For its act.
            self.log_state().await?;
        }
        self.run(Access::Write, updates, |on, updates| deliveries::save(on, updates).boxed()).await
    }

    async fn waiting_messages(&self, webhook: i64) -> Result<Vec<Waiting>, StoreError> {
        self.run(Access::Read, (), |on, ()| waiting(on, webhook).boxed()).await
    }

    async fn waiting_tests(&self) -> Result<Vec<TestMessage>, StoreError> {
        self.run(Access::Read, (), |on, ()| tests(on).boxed()).await
    }

    async fn take_test(&self, message_id: String) -> Result<bool, StoreError> {
        self.run(Access::Write, message_id, |on, id| take_test(on, id).boxed()).await
    }

    async fn list_attempts(
        &self,
        webhook: i64,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, Attempt)>, StoreError> {
        self.run(Access::Read, (), |on, ()| attempts(on, webhook, after, limit).boxed()).await
    }

    async fn add_attempt(&self, webhook: i64, attempt: Attempt) -> Result<(), StoreError> {
        self.run(Access::Write, attempt, |on, attempt| {
            deliveries::add_one(on, webhook, attempt).boxed()
        })
        .await
    }
}

async fn list(connection: &mut Connection) -> Result<Vec<StoredWebhook>, Failure> {
    let list = connection.prepared(rows::LIST).await?;
    connection.query(&list, &[]).await?.iter().map(rows::webhook).collect()
}

async fn draw_id(connection: &mut Connection) -> Result<i64, Failure> {
    Ok(connection.query_one(DRAW_ID, &[]).await?.try_get(0)?)
}

async fn recall(
    connection: &mut Connection,
    request: &IdempotentRequest,
) -> Result<Option<WebhookWritten>, Failure> {
    let recall = connection.prepared(requests::RECALL).await?;
    let seen = requests::recall(connection, &recall, request).await?;
    if seen.is_some() {
        connection.confirm().await?;
    }
    Ok(seen.map(WebhookWritten::from))
}

/// A change that is made once, however many attempts this takes.
struct Job {
    change: WebhookChange,
    act: Option<Act>,
    response: StoredResponse,
    context: WriteContext,
    is_retry: bool,
}

impl Job {
    async fn attempt(&mut self, connection: &mut Connection) -> Result<WebhookWritten, Failure> {
        let is_retry = mem::replace(&mut self.is_retry, true);
        if let Some(request) = &self.context.idempotency
            && let Some(written) = recall(connection, request).await?
        {
            return Ok(written);
        }
        if is_retry && self.was_made(connection).await? {
            connection.confirm().await?;
            return Ok(WebhookWritten::Done);
        }
        let mut writes = self.writes();
        if let Some(act) = &self.act {
            let values = log::values_of(act, (&self.context).into());
            writes.push(Write { sql: log::RECORD, values });
        }
        if let Some(request) = &self.context.idempotency {
            writes.push(requests::remember(request, &self.response, self.context.now));
        }
        if let Some((count, max)) = rows::limit(&self.change)
            && connection.query_one(count, &[]).await?.try_get::<_, i64>(0)? >= max
        {
            return Ok(WebhookWritten::Full);
        }
        let prepared = prepare(connection, &writes).await?;
        match in_transaction(connection, &writes, &prepared).await.map_err(Failure::from) {
            Ok(()) => Ok(WebhookWritten::Done),
            Err(failure) if failure.has_code(&SqlState::DIVISION_BY_ZERO) => {
                Ok(WebhookWritten::Stale)
            }
            Err(failure) if failure.is_conflict() => Err(Failure::Raced),
            Err(failure) => Err(failure),
        }
    }

    /// Whether an earlier attempt made the change, although its connection broke.
    async fn was_made(&self, connection: &Connection) -> Result<bool, Failure> {
        let (id, version) = match &self.change {
            WebhookChange::Add(new) => (new.webhook.id, Some(new.webhook.version)),
            WebhookChange::Change { after, .. } => (after.id, Some(after.version)),
            WebhookChange::Delete { id, .. } => (*id, None),
            WebhookChange::Test(test) => return Ok(tests(connection).await?.contains(test)),
            WebhookChange::Nothing => return Ok(false),
        };
        let row = connection.query_opt(VERSION, &[&id]).await?;
        let present: Option<i64> = row.map(|row| row.try_get(0)).transpose()?;
        Ok(present == version)
    }

    fn writes(&self) -> Vec<Write> {
        match &self.change {
            WebhookChange::Add(StoredWebhook { webhook, secrets, progress, .. }) => {
                let (previous, until) = rows::previous(secrets);
                let previous = previous.map(<[u8]>::to_vec);
                let values = values![
                    webhook.id,
                    webhook.url.clone(),
                    webhook.types_text(),
                    rows::description(webhook).map(str::to_owned),
                    webhook.disabled.map(DisabledReason::as_str),
                    webhook.created_at.as_millisecond(),
                    webhook.updated_at.as_millisecond(),
                    webhook.version,
                    secrets.current.clone(),
                    previous,
                    until,
                    progress.cursor,
                    progress.last,
                ];
                vec![Write { sql: rows::INSERT, values }]
            }
            WebhookChange::Change { after, secrets, restart } => {
                let (previous, until) = rows::previous(secrets);
                let previous = previous.map(<[u8]>::to_vec);
                let values = values![
                    after.id,
                    after.url.clone(),
                    after.types_text(),
                    rows::description(after).map(str::to_owned),
                    after.disabled.map(DisabledReason::as_str),
                    after.updated_at.as_millisecond(),
                    after.version,
                    secrets.current.clone(),
                    previous,
                    until,
                ];
                let mut writes = vec![Write { sql: UPDATE, values }];
                let mut and = |sql, values| writes.push(Write { sql, values });
                match *restart {
                    None => return writes,
                    Some(Restart::Resume(now)) => {
                        and(rows::RESUME, values![now.as_millisecond(), after.id]);
                    }
                    Some(Restart::From(seq)) => {
                        and(rows::DROP_WAITING, values![after.id]);
                        and(rows::SKIP, values![seq, after.id]);
                    }
                }
                and(rows::SUCCEED, values![after.id]);
                writes
            }
            WebhookChange::Delete { id, version } => {
                vec![Write { sql: DELETE, values: values![*id, *version] }]
            }
            WebhookChange::Test(TestMessage { webhook, message_id }) => {
                vec![Write { sql: ADD_TEST, values: values![message_id.clone(), *webhook] }]
            }
            WebhookChange::Nothing => vec![],
        }
    }
}

async fn waiting(connection: &mut Connection, webhook: i64) -> Result<Vec<Waiting>, Failure> {
    connection.query(rows::WAITING, &[&webhook]).await?.iter().map(rows::waiting).collect()
}

async fn tests(connection: &Connection) -> Result<Vec<TestMessage>, Failure> {
    connection.query(rows::TESTS, &[]).await?.iter().map(rows::test).collect()
}

async fn take_test(connection: &mut Connection, message_id: &str) -> Result<bool, Failure> {
    Ok(connection.execute(rows::TAKE_TEST, &[&message_id]).await? == 1)
}

async fn attempts(
    connection: &mut Connection,
    webhook: i64,
    after: i64,
    limit: u32,
) -> Result<Vec<(i64, Attempt)>, Failure> {
    let found = connection.query(rows::ATTEMPTS, &[&webhook, &after, &i64::from(limit)]).await?;
    found.iter().map(rows::attempt).collect()
}
