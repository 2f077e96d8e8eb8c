//! What was delivered, as rows.

use jiff::Timestamp;
use tokio_postgres::{Row, Transaction, types::ToSql};

use crate::{
    domain::{
        Actor, WriteContext,
        store_area::{Attempt, DeliveryUpdate, Progress},
    },
    store::{
        KEPT_ATTEMPTS,
        postgres::{errors::Failure, log, pool::Connection},
        webhook_rows as rows,
    },
};

const RENEW: &str = "UPDATE webhooks SET lease_holder = renewal.holder, lease_beat = renewal.beat
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
        AS renewal (id, seen_holder, seen_beat, holder, beat)
    WHERE webhooks.id = renewal.id AND lease_holder = seen_holder AND lease_beat = seen_beat
    RETURNING webhooks.id";
const RENEWED: &str = "SELECT webhooks.id FROM webhooks
    JOIN unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS renewal (id, holder, beat)
    ON webhooks.id = renewal.id AND lease_holder = holder AND lease_beat = beat";
const WAIT: &str = "INSERT INTO webhook_waiting (webhook_id, seq, previous, lane, failures, due_at)
    SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[])
    ON CONFLICT (webhook_id, seq)
    DO UPDATE SET failures = excluded.failures, due_at = excluded.due_at";
const DONE: &str = "DELETE FROM webhook_waiting WHERE webhook_id = $1 AND seq = ANY($2)";
const ADD_ATTEMPTS: &str = "INSERT INTO webhook_attempts
        (webhook_id, number, message_id, at, status, duration_ms, error)
    SELECT $1, last + position, message_id, at, status, duration_ms, error
    FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
            WITH ORDINALITY AS new (message_id, at, status, duration_ms, error, position),
        (SELECT coalesce(max(number), 0) AS last FROM webhook_attempts WHERE webhook_id = $1) AS old";
const FORGET_FIRST: &str = "DELETE FROM webhook_attempts WHERE webhook_id = $1 AND number <=
    (SELECT max(number) FROM webhook_attempts WHERE webhook_id = $1) - $2";

pub(super) async fn save(
    connection: &mut Connection,
    updates: &[DeliveryUpdate],
) -> Result<Vec<bool>, Failure> {
    let column =
        |value: fn(&DeliveryUpdate) -> i64| -> Vec<i64> { updates.iter().map(value).collect() };
    let ids = column(|update| update.webhook);
    let (holders, beats) =
        (column(|update| update.lease.holder), column(|update| update.lease.beat));
    let transaction = connection.transaction().await?;
    // In the order of the identifiers, so that two processes cannot wait for each other.
    let seen_holders = column(|update| update.seen.holder);
    let seen_beats = column(|update| update.seen.beat);
    let seen: [&(dyn ToSql + Sync); 5] = [&ids, &seen_holders, &seen_beats, &holders, &beats];
    let renewed = numbers(&transaction.query(RENEW, &seen).await?)?;
    for update in updates.iter().filter(|update| renewed.contains(&update.webhook)) {
        save_one(&transaction, update).await?;
    }
    // An earlier attempt, whose connection broke, saved the others that have this lease.
    let own: [&(dyn ToSql + Sync); 3] = [&ids, &holders, &beats];
    let saved = numbers(&transaction.query(RENEWED, &own).await?)?;
    transaction.commit().await?;
    Ok(ids.iter().map(|id| saved.contains(id)).collect())
}

fn numbers(rows: &[Row]) -> Result<Vec<i64>, Failure> {
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

async fn save_one(on: &Transaction<'_>, update: &DeliveryUpdate) -> Result<(), Failure> {
    let id = update.webhook;
    if let Some(Progress { cursor, last, failing_since }) = update.progress {
        let failing_since = failing_since.map(Timestamp::as_millisecond);
        on.execute(rows::PROGRESS, &[&cursor, &last, &failing_since, &id]).await?;
    }
    if !update.done.is_empty() {
        on.execute(DONE, &[&id, &update.done]).await?;
    }
    if !update.waiting.is_empty() {
        let waiting = update.waiting.iter();
        let seqs: Vec<i64> = waiting.clone().map(|waiting| waiting.seq).collect();
        let previous: Vec<Option<i64>> = waiting.clone().map(|waiting| waiting.previous).collect();
        let lanes: Vec<Option<&str>> =
            waiting.clone().map(|waiting| waiting.lane.as_deref()).collect();
        let failures: Vec<i64> = waiting.clone().map(|waiting| waiting.failures.into()).collect();
        let due: Vec<Option<i64>> =
            waiting.map(|waiting| waiting.due_at.map(Timestamp::as_millisecond)).collect();
        on.execute(WAIT, &[&id, &seqs, &previous, &lanes, &failures, &due]).await?;
    }
    add_attempts(on, id, &update.attempts).await?;
    if let Some(before) = update.forget_before {
        on.execute(rows::FORGET_OLD, &[&id, &before.as_millisecond()]).await?;
    }
    if let Some((reason, at)) = update.disable
        && on.execute(rows::DISABLE, &[&reason.as_str(), &at.as_millisecond(), &id]).await? == 1
    {
        let by = WriteContext::new(Actor::Clock, at);
        log::record(on, &reason.act(id), (&by).into()).await?;
    }
    Ok(())
}

pub(super) async fn add_one(
    on: &mut Connection,
    id: i64,
    attempt: &Attempt,
) -> Result<(), Failure> {
    let transaction = on.transaction().await?;
    add_attempts(&transaction, id, std::slice::from_ref(attempt)).await?;
    Ok(transaction.commit().await?)
}

async fn add_attempts(on: &Transaction<'_>, id: i64, attempts: &[Attempt]) -> Result<(), Failure> {
    if attempts.is_empty() {
        return Ok(());
    }
    let messages: Vec<&str> = attempts.iter().map(|attempt| &*attempt.message_id).collect();
    let times: Vec<i64> = attempts.iter().map(|attempt| attempt.at.as_millisecond()).collect();
    let statuses: Vec<Option<i64>> =
        attempts.iter().map(|attempt| attempt.status.map(i64::from)).collect();
    let durations: Vec<i64> = attempts.iter().map(|attempt| attempt.duration_ms).collect();
    let errors: Vec<Option<&str>> =
        attempts.iter().map(|attempt| attempt.error.as_deref()).collect();
    on.execute(ADD_ATTEMPTS, &[&id, &messages, &times, &statuses, &durations, &errors]).await?;
    on.execute(FORGET_FIRST, &[&id, &KEPT_ATTEMPTS]).await?;
    Ok(())
}
