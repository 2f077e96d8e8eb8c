//! Webhooks as rows.

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, Statement, ToSql, params};

use super::{log, requests, store::SqliteStore};
use crate::{
    domain::{
        Actor, IdempotentRequest, StoredResponse, WriteContext,
        store_area::{
            Act, Attempt, DeliveryUpdate, DisabledReason, Progress, Restart, SealedSecrets,
            StoredWebhook, TestMessage, Waiting, Webhook, WebhookChange,
        },
    },
    store::{KEPT_ATTEMPTS, StoreError, WebhookWritten, Webhooks, webhook_rows as rows},
};

const DRAW_ID: &str = "UPDATE webhook_ids SET last = last + 1 RETURNING last";
const UPDATE: &str = "UPDATE webhooks SET url = ?2, types = ?3, description = ?4,
        disabled_reason = ?5, updated_at = ?6, version = ?7, secret = ?8, previous_secret = ?9,
        previous_secret_until = ?10, lease_holder = 0, lease_beat = lease_beat + 1
    WHERE id = ?1 AND version = ?7 - 1";
const DELETE: &str = "DELETE FROM webhooks WHERE id = ?1 AND version = ?2";
const ADD_TEST: &str = "INSERT INTO webhook_tests (message_id, webhook_id)
    SELECT ?1, id FROM webhooks WHERE id = ?2";
const RENEW: &str = "UPDATE webhooks SET lease_holder = ?4, lease_beat = ?5
    WHERE id = ?1 AND lease_holder = ?2 AND lease_beat = ?3";
const WAIT: &str = "INSERT INTO webhook_waiting (webhook_id, seq, previous, lane, failures, due_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT DO UPDATE SET failures = excluded.failures, due_at = excluded.due_at";
const DONE: &str = "DELETE FROM webhook_waiting WHERE webhook_id = ?1 AND seq = ?2";
const LAST_ATTEMPT: &str =
    "SELECT coalesce(max(number), 0) FROM webhook_attempts WHERE webhook_id = ?1";
const ADD_ATTEMPT: &str = "INSERT INTO webhook_attempts
    (webhook_id, number, message_id, at, status, duration_ms, error)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const FORGET_FIRST: &str = "DELETE FROM webhook_attempts WHERE webhook_id = ?1 AND number <= ?2";

#[async_trait]
impl Webhooks for SqliteStore {
    async fn list_webhooks(&self) -> Result<Vec<StoredWebhook>, StoreError> {
        self.readers.read(|connection| {
            let mut list = connection.prepare_cached(rows::LIST)?;
            list.query_map([], |row| rows::webhook(row))?.collect()
        })
    }

    async fn draw_webhook_id(&self) -> Result<i64, StoreError> {
        let draw = |connection: &Connection| connection.query_row(DRAW_ID, [], |row| row.get(0));
        self.writer.write(draw).await
    }

    async fn recall_request(
        &self,
        request: IdempotentRequest,
    ) -> Result<Option<WebhookWritten>, StoreError> {
        let recall = move |connection: &Connection| requests::recall(connection, &request);
        Ok(self.writer.write(recall).await?.map(WebhookWritten::from))
    }

    async fn write_webhook(
        &self,
        change: WebhookChange,
        act: Option<Act>,
        response: StoredResponse,
        context: WriteContext,
    ) -> Result<WebhookWritten, StoreError> {
        let work = move |connection: &Connection| {
            write(connection, &change, act.as_ref(), &response, &context)
        };
        self.writer.write(work).await
    }

    async fn save_deliveries(&self, updates: Vec<DeliveryUpdate>) -> Result<Vec<bool>, StoreError> {
        let save = move |connection: &Connection| {
            updates.iter().map(|update| save(connection, update)).collect()
        };
        self.writer.write(save).await
    }

    async fn waiting_messages(&self, webhook: i64) -> Result<Vec<Waiting>, StoreError> {
        self.readers.read(|connection| {
            let mut list = connection.prepare_cached(rows::WAITING)?;
            list.query_map([webhook], |row| rows::waiting(row))?.collect()
        })
    }

    async fn waiting_tests(&self) -> Result<Vec<TestMessage>, StoreError> {
        self.readers.read(|connection| {
            connection.prepare_cached(rows::TESTS)?.query_map([], |row| rows::test(row))?.collect()
        })
    }

    async fn take_test(&self, message_id: String) -> Result<bool, StoreError> {
        let take = move |connection: &Connection| connection.execute(rows::TAKE_TEST, [message_id]);
        Ok(self.writer.write(take).await? == 1)
    }

    async fn list_attempts(
        &self,
        webhook: i64,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, Attempt)>, StoreError> {
        self.readers.read(|connection| {
            let mut list = connection.prepare_cached(rows::ATTEMPTS)?;
            list.query_map(params![webhook, after, limit], |row| rows::attempt(row))?.collect()
        })
    }

    async fn add_attempt(&self, webhook: i64, attempt: Attempt) -> Result<(), StoreError> {
        let add = move |connection: &Connection| add_attempts(connection, webhook, &[attempt]);
        self.writer.write(add).await
    }
}

fn write(
    connection: &Connection,
    change: &WebhookChange,
    act: Option<&Act>,
    response: &StoredResponse,
    context: &WriteContext,
) -> rusqlite::Result<WebhookWritten> {
    if let Some(request) = &context.idempotency
        && let Some(seen) = requests::recall(connection, request)?
    {
        return Ok(seen.into());
    }
    if let Some((count, max)) = rows::limit(change)
        && connection.query_row(count, [], |row| row.get::<_, i64>(0))? >= max
    {
        return Ok(WebhookWritten::Full);
    }
    let changed = match change {
        WebhookChange::Add(new) => insert(connection, new)?,
        WebhookChange::Change { after, secrets, restart } => {
            let changed = update(connection, after, secrets)?;
            if changed == 1 {
                restart_at(connection, after.id, *restart)?;
            }
            changed
        }
        WebhookChange::Delete { id, version } => connection.execute(DELETE, [id, version])?,
        WebhookChange::Test(TestMessage { webhook, message_id }) => {
            connection.execute(ADD_TEST, params![message_id, webhook])?
        }
        WebhookChange::Nothing => 1,
    };
    if changed != 1 {
        return Ok(WebhookWritten::Stale);
    }
    if let Some(act) = act {
        log::record(connection, act, context.into())?;
    }
    if let Some(request) = &context.idempotency {
        requests::remember(connection, request, context.now, response)?;
    }
    Ok(WebhookWritten::Done)
}

fn insert(connection: &Connection, new: &StoredWebhook) -> rusqlite::Result<usize> {
    let StoredWebhook { webhook, secrets, progress, .. } = new;
    let (previous, until) = rows::previous(secrets);
    connection.execute(
        rows::INSERT,
        params![
            webhook.id,
            webhook.url,
            webhook.types_text(),
            rows::description(webhook),
            webhook.disabled.map(DisabledReason::as_str),
            webhook.created_at.as_millisecond(),
            webhook.updated_at.as_millisecond(),
            webhook.version,
            secrets.current,
            previous,
            until,
            progress.cursor,
            progress.last,
        ],
    )
}

fn update(
    connection: &Connection,
    after: &Webhook,
    secrets: &SealedSecrets,
) -> rusqlite::Result<usize> {
    let (previous, until) = rows::previous(secrets);
    connection.execute(
        UPDATE,
        params![
            after.id,
            after.url,
            after.types_text(),
            rows::description(after),
            after.disabled.map(DisabledReason::as_str),
            after.updated_at.as_millisecond(),
            after.version,
            secrets.current,
            previous,
            until,
        ],
    )
}

fn restart_at(connection: &Connection, id: i64, restart: Option<Restart>) -> rusqlite::Result<()> {
    match restart {
        None => return Ok(()),
        Some(Restart::Resume(now)) => {
            connection.execute(rows::RESUME, [now.as_millisecond(), id])?
        }
        Some(Restart::From(seq)) => {
            connection.execute(rows::DROP_WAITING, [id])?;
            connection.execute(rows::SKIP, [seq, id])?
        }
    };
    connection.execute(rows::SUCCEED, [id])?;
    Ok(())
}

fn save(connection: &Connection, update: &DeliveryUpdate) -> rusqlite::Result<bool> {
    let DeliveryUpdate { webhook: id, seen, lease, progress, .. } = update;
    let mut renew = connection.prepare_cached(RENEW)?;
    if renew.execute(params![id, seen.holder, seen.beat, lease.holder, lease.beat])? == 0 {
        return Ok(false);
    }
    if let Some(Progress { cursor, last, failing_since }) = progress {
        let failing_since = failing_since.map(Timestamp::as_millisecond);
        let values = params![cursor, last, failing_since, id];
        connection.prepare_cached(rows::PROGRESS)?.execute(values)?;
    }
    let mut done: Statement<'_> = connection.prepare(DONE)?;
    for seq in &update.done {
        done.execute([id, seq])?;
    }
    let mut wait = connection.prepare_cached(WAIT)?;
    for Waiting { seq, previous, lane, failures, due_at } in &update.waiting {
        let due_at = due_at.map(Timestamp::as_millisecond);
        wait.execute(params![id, seq, previous, lane, failures, due_at])?;
    }
    add_attempts(connection, *id, &update.attempts)?;
    if let Some(before) = update.forget_before {
        connection.prepare_cached(rows::FORGET_OLD)?.execute([*id, before.as_millisecond()])?;
    }
    if let Some((reason, at)) = update.disable {
        let values = params![reason.as_str(), at.as_millisecond(), id];
        if connection.execute(rows::DISABLE, values)? == 1 {
            let by = WriteContext::new(Actor::Clock, at);
            log::record(connection, &reason.act(*id), (&by).into())?;
        }
    }
    Ok(true)
}

fn add_attempts(connection: &Connection, id: i64, attempts: &[Attempt]) -> rusqlite::Result<()> {
    if attempts.is_empty() {
        return Ok(());
    }
    let mut last: i64 =
        connection.prepare_cached(LAST_ATTEMPT)?.query_row([id], |row| row.get(0))?;
    let mut add = connection.prepare_cached(ADD_ATTEMPT)?;
    for Attempt { message_id, at, status, duration_ms, error } in attempts {
        last += 1;
        let at = at.as_millisecond();
        let values: [&dyn ToSql; 7] = [&id, &last, message_id, &at, status, duration_ms, error];
        add.execute(values)?;
    }
    connection.prepare_cached(FORGET_FIRST)?.execute([id, last - KEPT_ATTEMPTS])?;
    Ok(())
}
