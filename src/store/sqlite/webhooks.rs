//! Webhooks as rows.

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, Row, Statement, ToSql, params, types::Type};

use super::{SqliteStore, log, requests, requests::Seen};
use crate::{
    domain::{
        IdempotentRequest, StoredResponse, WriteContext,
        store_area::{
            Act, Attempt, DeliveryUpdate, DisabledReason, Label, Lease, Progress, Restart,
            SealedSecrets, StoredWebhook, Waiting, Webhook, WebhookChange,
        },
    },
    store::{KEPT_ATTEMPTS, StoreError, WebhookWritten, Webhooks},
};

const LIST: &str = "SELECT id, url, types, description, disabled_reason, created_at, updated_at,
        version, secret, previous_secret, previous_secret_until, cursor, last_message,
        failing_since, lease_holder, lease_beat
    FROM webhooks ORDER BY id";
const COUNT: &str = "SELECT count(*) FROM webhooks";
const DRAW_ID: &str = "UPDATE webhook_ids SET last = last + 1 RETURNING last";
const INSERT: &str =
    "INSERT INTO webhooks (id, url, types, description, disabled_reason, created_at,
        updated_at, version, secret, previous_secret, previous_secret_until, cursor, last_message,
        lease_holder, lease_beat)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, 0)";
const UPDATE: &str = "UPDATE webhooks SET url = ?2, types = ?3, description = ?4,
        disabled_reason = ?5, updated_at = ?6, version = ?7, secret = ?8, previous_secret = ?9,
        previous_secret_until = ?10, lease_holder = 0, lease_beat = lease_beat + 1
    WHERE id = ?1 AND version = ?7 - 1";
const RESUME: &str = "UPDATE webhook_waiting SET due_at = ?2 WHERE webhook_id = ?1
    AND due_at IS NOT NULL";
const SUCCEED: &str = "UPDATE webhooks SET failing_since = NULL WHERE id = ?1";
const SKIP: &str = "UPDATE webhooks SET cursor = ?2, last_message = ?2 WHERE id = ?1";
const DROP_WAITING: &str = "DELETE FROM webhook_waiting WHERE webhook_id = ?1";
const DELETE: &str = "DELETE FROM webhooks WHERE id = ?1 AND version = ?2";
const RENEW: &str = "UPDATE webhooks SET lease_holder = ?4, lease_beat = ?5
    WHERE id = ?1 AND lease_holder = ?2 AND lease_beat = ?3";
const PROGRESS: &str =
    "UPDATE webhooks SET cursor = ?2, last_message = ?3, failing_since = ?4 WHERE id = ?1";
const DISABLE: &str = "UPDATE webhooks SET disabled_reason = ?2, updated_at = ?3,
    version = version + 1 WHERE id = ?1 AND disabled_reason IS NULL";
const WAIT: &str = "INSERT INTO webhook_waiting (webhook_id, seq, previous, lane, failures, due_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT DO UPDATE SET failures = excluded.failures, due_at = excluded.due_at";
const DONE: &str = "DELETE FROM webhook_waiting WHERE webhook_id = ?1 AND seq = ?2";
const WAITING: &str = "SELECT seq, previous, lane, failures, due_at FROM webhook_waiting
    WHERE webhook_id = ?1 ORDER BY seq";
const LAST_ATTEMPT: &str =
    "SELECT coalesce(max(number), 0) FROM webhook_attempts WHERE webhook_id = ?1";
const ADD_ATTEMPT: &str = "INSERT INTO webhook_attempts
    (webhook_id, number, message_id, at, status, duration_ms, error)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const FORGET_FIRST: &str = "DELETE FROM webhook_attempts WHERE webhook_id = ?1 AND number <= ?2";
const FORGET_OLD: &str = "DELETE FROM webhook_attempts WHERE webhook_id = ?1 AND at < ?2";
const ATTEMPTS: &str = "SELECT number, message_id, at, status, duration_ms, error
    FROM webhook_attempts WHERE webhook_id = ?1 AND number > ?2 ORDER BY number LIMIT ?3";

#[async_trait]
impl Webhooks for SqliteStore {
    async fn list_webhooks(&self) -> Result<Vec<StoredWebhook>, StoreError> {
        self.readers
            .read(|connection| connection.prepare_cached(LIST)?.query_map([], webhook)?.collect())
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
        Ok(self.writer.write(recall).await?.map(written))
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
            connection.prepare_cached(WAITING)?.query_map([webhook], waiting)?.collect()
        })
    }

    async fn list_attempts(
        &self,
        webhook: i64,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, Attempt)>, StoreError> {
        self.readers.read(|connection| {
            let mut list = connection.prepare_cached(ATTEMPTS)?;
            list.query_map(params![webhook, after, limit], attempt)?.collect()
        })
    }

    async fn add_attempt(&self, webhook: i64, attempt: Attempt) -> Result<(), StoreError> {
        let add = move |connection: &Connection| add_attempts(connection, webhook, &[attempt]);
        self.writer.write(add).await
    }
}

fn written(seen: Seen) -> WebhookWritten {
    match seen {
        Seen::Same(response) => WebhookWritten::Replayed(response),
        Seen::Other => WebhookWritten::IdempotencyConflict,
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
        return Ok(written(seen));
    }
    let changed = match change {
        WebhookChange::Add(new) => {
            let count: i64 = connection.query_row(COUNT, [], |row| row.get(0))?;
            if count >= Webhook::MAX {
                return Ok(WebhookWritten::Full);
            }
            insert(connection, new)?
        }
        WebhookChange::Change { after, secrets, restart } => {
            let changed = update(connection, after, secrets)?;
            if changed == 1 {
                restart_at(connection, after.id, *restart)?;
            }
            changed
        }
        WebhookChange::Delete { id, version } => connection.execute(DELETE, [id, version])?,
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
    let (previous, until) = previous(secrets);
    connection.execute(
        INSERT,
        params![
            webhook.id,
            webhook.url,
            webhook.types_text(),
            webhook.description.as_ref().map(Label::as_str),
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
    let (previous, until) = previous(secrets);
    connection.execute(
        UPDATE,
        params![
            after.id,
            after.url,
            after.types_text(),
            after.description.as_ref().map(Label::as_str),
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
        Some(Restart::Resume(now)) => connection.execute(RESUME, [id, now.as_millisecond()])?,
        Some(Restart::From(seq)) => {
            connection.execute(DROP_WAITING, [id])?;
            connection.execute(SKIP, [id, seq])?
        }
    };
    connection.execute(SUCCEED, [id])?;
    Ok(())
}

fn previous(secrets: &SealedSecrets) -> (Option<&[u8]>, Option<i64>) {
    let previous = secrets.previous.as_ref();
    previous.map(|(secret, until)| (secret.as_slice(), until.as_millisecond())).unzip()
}

fn save(connection: &Connection, update: &DeliveryUpdate) -> rusqlite::Result<bool> {
    let DeliveryUpdate { webhook: id, seen, lease, progress, .. } = update;
    let mut renew = connection.prepare_cached(RENEW)?;
    if renew.execute(params![id, seen.holder, seen.beat, lease.holder, lease.beat])? == 0 {
        return Ok(false);
    }
    if let Some(Progress { cursor, last, failing_since }) = progress {
        let failing_since = failing_since.map(Timestamp::as_millisecond);
        connection.prepare_cached(PROGRESS)?.execute(params![id, cursor, last, failing_since])?;
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
        connection.prepare_cached(FORGET_OLD)?.execute([*id, before.as_millisecond()])?;
    }
    if let Some((reason, at)) = update.disable {
        connection.execute(DISABLE, params![id, reason.as_str(), at.as_millisecond()])?;
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

fn webhook(row: &Row<'_>) -> rusqlite::Result<StoredWebhook> {
    let types: Option<String> = row.get(2)?;
    let description: Option<String> = row.get(3)?;
    let reason = |text: String| {
        let invalid = || rusqlite::Error::InvalidColumnType(4, text.clone(), Type::Text);
        text.parse().map_err(|()| invalid())
    };
    let disabled: Option<String> = row.get(4)?;
    let previous: Option<Vec<u8>> = row.get(9)?;
    Ok(StoredWebhook {
        webhook: Webhook {
            id: row.get(0)?,
            url: row.get(1)?,
            types: types.as_deref().map(Webhook::types_in),
            description: description.and_then(Label::new),
            disabled: disabled.map(reason).transpose()?,
            created_at: time(row.get(5)?, 5)?,
            updated_at: time(row.get(6)?, 6)?,
            version: row.get(7)?,
        },
        secrets: SealedSecrets {
            current: row.get(8)?,
            previous: previous.zip(optional_time(row, 10)?),
        },
        progress: Progress {
            cursor: row.get(11)?,
            last: row.get(12)?,
            failing_since: optional_time(row, 13)?,
        },
        lease: Lease { holder: row.get(14)?, beat: row.get(15)? },
    })
}

fn waiting(row: &Row<'_>) -> rusqlite::Result<Waiting> {
    Ok(Waiting {
        seq: row.get(0)?,
        previous: row.get(1)?,
        lane: row.get(2)?,
        failures: row.get(3)?,
        due_at: optional_time(row, 4)?,
    })
}

fn attempt(row: &Row<'_>) -> rusqlite::Result<(i64, Attempt)> {
    let attempt = Attempt {
        message_id: row.get(1)?,
        at: time(row.get(2)?, 2)?,
        status: row.get(3)?,
        duration_ms: row.get(4)?,
        error: row.get(5)?,
    };
    Ok((row.get(0)?, attempt))
}

fn optional_time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    row.get::<_, Option<i64>>(column)?.map(|at| time(at, column)).transpose()
}

fn time(millisecond: i64, column: usize) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(millisecond)
        .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, millisecond))
}
