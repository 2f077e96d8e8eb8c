//! Webhooks as rows.

mod deliveries;

use std::mem;

use async_trait::async_trait;
use futures_util::FutureExt;
use tokio_postgres::{Row, error::SqlState};

use super::{
    PostgresStore,
    errors::Failure,
    log,
    pool::{Access, Connection},
    requests::{self, Seen},
    store_area::{
        Value, Write, in_transaction, one_row, prepare, remember,
        rows::{optional_time, time},
        values,
    },
};
use crate::{
    domain::{
        IdempotentRequest, NamedActor, StoredResponse, WriteContext,
        store_area::{
            Act, Attempt, DeliveryUpdate, DisabledReason, Label, Lease, Progress, Restart,
            SealedSecrets, StoredWebhook, Waiting, Webhook, WebhookChange,
        },
    },
    store::{StoreError, WebhookWritten, Webhooks, log as store_log},
};

const LIST: &str = "SELECT id, url, types, description, disabled_reason, created_at, updated_at,
        version, secret, previous_secret, previous_secret_until, cursor, last_message,
        failing_since, lease_holder, lease_beat
    FROM webhooks ORDER BY id";
const COUNT: &str = "SELECT count(*) FROM webhooks";
const DRAW_ID: &str = "SELECT nextval('webhook_ids')";
const INSERT: &str =
    "INSERT INTO webhooks (id, url, types, description, disabled_reason, created_at,
        updated_at, version, secret, previous_secret, previous_secret_until, cursor, last_message,
        lease_holder, lease_beat)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, 0)";
const UPDATE: &str = one_row!(
    "UPDATE webhooks SET url = $2, types = $3, description = $4, disabled_reason = $5,
        updated_at = $6, version = $7::bigint, secret = $8, previous_secret = $9,
        previous_secret_until = $10, lease_holder = 0, lease_beat = lease_beat + 1
        WHERE id = $1 AND version = $7::bigint - 1"
);
const RESUME: &str = "UPDATE webhook_waiting SET due_at = $2
    WHERE webhook_id = $1 AND due_at IS NOT NULL";
const SUCCEED: &str = "UPDATE webhooks SET failing_since = NULL WHERE id = $1";
const SKIP: &str = "UPDATE webhooks SET cursor = $2, last_message = $2 WHERE id = $1";
const DROP_WAITING: &str = "DELETE FROM webhook_waiting WHERE webhook_id = $1";
const DELETE: &str = one_row!("DELETE FROM webhooks WHERE id = $1 AND version = $2");
const VERSION: &str = "SELECT version FROM webhooks WHERE id = $1";
const WAITING: &str = "SELECT seq, previous, lane, failures, due_at FROM webhook_waiting
    WHERE webhook_id = $1 ORDER BY seq";
const ATTEMPTS: &str = "SELECT number, message_id, at, status, duration_ms, error
    FROM webhook_attempts WHERE webhook_id = $1 AND number > $2 ORDER BY number LIMIT $3";

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
        let job = Job { change, act, response, context, is_retry: false };
        self.run(Access::Write, job, |on, job| job.attempt(on).boxed()).await
    }

    async fn save_deliveries(&self, updates: Vec<DeliveryUpdate>) -> Result<Vec<bool>, StoreError> {
        self.run(Access::Write, updates, |on, updates| deliveries::save(on, updates).boxed()).await
    }

    async fn waiting_messages(&self, webhook: i64) -> Result<Vec<Waiting>, StoreError> {
        self.run(Access::Read, (), |on, ()| waiting(on, webhook).boxed()).await
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
    let list = connection.prepared(LIST).await?;
    connection.query(&list, &[]).await?.iter().map(webhook).collect()
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
    Ok(seen.map(|seen| match seen {
        Seen::Same(response) => WebhookWritten::Replayed(response),
        Seen::Other => WebhookWritten::IdempotencyConflict,
    }))
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
            let NamedActor { actor, name } = &self.context.actor;
            let values = values![
                self.context.now.as_millisecond(),
                act.kind.as_str(),
                act.subject.id,
                actor.kind(),
                actor.id(),
                name.as_deref().map(str::to_owned),
                self.context.request_id.clone(),
                store_log::written(act),
            ];
            writes.push(Write { sql: log::RECORD, values });
        }
        if let Some(request) = &self.context.idempotency {
            writes.push(remember(request, &self.response, self.context.now));
        }
        if let WebhookChange::Add(_) = self.change
            && connection.query_one(COUNT, &[]).await?.try_get::<_, i64>(0)? >= Webhook::MAX
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
            WebhookChange::Nothing => return Ok(false),
        };
        let row = connection.query_opt(VERSION, &[&id]).await?;
        let present: Option<i64> = row.map(|row| row.try_get(0)).transpose()?;
        Ok(present == version)
    }

    fn writes(&self) -> Vec<Write> {
        match &self.change {
            WebhookChange::Add(StoredWebhook { webhook, secrets, progress, .. }) => {
                let (previous, until) = previous(secrets);
                let values = values![
                    webhook.id,
                    webhook.url.clone(),
                    webhook.types_text(),
                    description(webhook),
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
                vec![Write { sql: INSERT, values }]
            }
            WebhookChange::Change { after, secrets, restart } => {
                let (previous, until) = previous(secrets);
                let values = values![
                    after.id,
                    after.url.clone(),
                    after.types_text(),
                    description(after),
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
                        and(RESUME, values![after.id, now.as_millisecond()]);
                    }
                    Some(Restart::From(seq)) => {
                        and(DROP_WAITING, values![after.id]);
                        and(SKIP, values![after.id, seq]);
                    }
                }
                and(SUCCEED, values![after.id]);
                writes
            }
            WebhookChange::Delete { id, version } => {
                vec![Write { sql: DELETE, values: values![*id, *version] }]
            }
            WebhookChange::Nothing => vec![],
        }
    }
}

fn description(webhook: &Webhook) -> Option<String> {
    webhook.description.as_ref().map(|text| text.as_str().to_owned())
}

fn previous(secrets: &SealedSecrets) -> (Option<Vec<u8>>, Option<i64>) {
    secrets.previous.clone().map(|(secret, until)| (secret, until.as_millisecond())).unzip()
}

async fn waiting(connection: &mut Connection, webhook: i64) -> Result<Vec<Waiting>, Failure> {
    let rows = connection.query(WAITING, &[&webhook]).await?;
    let waiting = |row: &Row| {
        Ok(Waiting {
            seq: row.try_get(0)?,
            previous: row.try_get(1)?,
            lane: row.try_get(2)?,
            failures: u32::try_from(row.try_get::<_, i64>(3)?).unwrap_or(u32::MAX),
            due_at: optional_time(row, 4)?,
        })
    };
    rows.iter().map(waiting).collect()
}

async fn attempts(
    connection: &mut Connection,
    webhook: i64,
    after: i64,
    limit: u32,
) -> Result<Vec<(i64, Attempt)>, Failure> {
    let rows = connection.query(ATTEMPTS, &[&webhook, &after, &i64::from(limit)]).await?;
    let attempt = |row: &Row| {
        let status: Option<i64> = row.try_get(3)?;
        let attempt = Attempt {
            message_id: row.try_get(1)?,
            at: time(row.try_get(2)?)?,
            status: status.and_then(|status| status.try_into().ok()),
            duration_ms: row.try_get(4)?,
            error: row.try_get(5)?,
        };
        Ok((row.try_get(0)?, attempt))
    };
    rows.iter().map(attempt).collect()
}

fn webhook(row: &Row) -> Result<StoredWebhook, Failure> {
    let disabled = row.try_get::<_, Option<&str>>(4)?.map(str::parse).transpose();
    let previous: Option<Vec<u8>> = row.try_get(9)?;
    Ok(StoredWebhook {
        webhook: Webhook {
            id: row.try_get(0)?,
            url: row.try_get(1)?,
            types: row.try_get::<_, Option<&str>>(2)?.map(Webhook::types_in),
            description: row.try_get::<_, Option<String>>(3)?.and_then(Label::new),
            disabled: disabled.map_err(|()| Failure::Row("disabled_reason"))?,
            created_at: time(row.try_get(5)?)?,
            updated_at: time(row.try_get(6)?)?,
            version: row.try_get(7)?,
        },
        secrets: SealedSecrets {
            current: row.try_get(8)?,
            previous: previous.zip(optional_time(row, 10)?),
        },
        progress: Progress {
            cursor: row.try_get(11)?,
            last: row.try_get(12)?,
            failing_since: optional_time(row, 13)?,
        },
        lease: Lease { holder: row.try_get(14)?, beat: row.try_get(15)? },
    })
}
