//! How far the messages of webhooks are.

use std::{convert::Infallible, slice};

use jiff::Timestamp;
use petstore_domain::{
    Actor, WriteContext,
    store_area::{Attempt, DeliveryUpdate, Lease, Progress, TestMessage, Waiting},
};

use super::{Parameter, Sql, record, values};
use crate::columns::Columns;

/// The number of attempts that a store keeps for each webhook.
pub const KEPT_ATTEMPTS: i64 = 10_000;

/// Locks the webhook against a concurrent change.
pub(super) const LOCK: &str = "UPDATE webhooks SET version = version WHERE id = $1";
const RENEW: &str = "UPDATE webhooks SET lease_holder = $4, lease_beat = $5
    WHERE id = $1 AND lease_holder = $2 AND lease_beat = $3";
/// The lease of a webhook that was changed once since the holder saved, and that nobody has taken.
const CHANGED_ONCE: &str = "UPDATE webhooks SET lease_beat = lease_beat + 1
    WHERE id = $1 AND lease_holder = 0 AND lease_beat = $2";
const HAS_LEASE: &str =
    "SELECT 1 FROM webhooks WHERE id = $1 AND lease_holder = $2 AND lease_beat = $3";
const PROGRESS: &str =
    "UPDATE webhooks SET cursor = $1, last_message = $2, failing_since = $3 WHERE id = $4";
const DISABLE: &str = "UPDATE webhooks SET disabled_reason = $1, updated_at = $2,
    version = version + 1 WHERE id = $3 AND disabled_reason IS NULL";
pub(super) const WAITING: &str = "SELECT seq, previous, lane, failures, due_at
    FROM webhook_waiting WHERE webhook_id = $1 ORDER BY seq";
const WAIT: &str = "INSERT INTO webhook_waiting (webhook_id, seq, previous, lane, failures, due_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (webhook_id, seq)
    DO UPDATE SET failures = excluded.failures, due_at = excluded.due_at";
const DONE: &str = "DELETE FROM webhook_waiting WHERE webhook_id = $1 AND seq = $2";
pub(super) const TESTS: &str = "SELECT webhook_id, message_id FROM webhook_tests";
const TAKE_TEST: &str = "DELETE FROM webhook_tests WHERE message_id = $1";
const LAST_ATTEMPT: &str =
    "SELECT coalesce(max(number), 0) FROM webhook_attempts WHERE webhook_id = $1";
const ADD_ATTEMPT: &str = "INSERT INTO webhook_attempts
    (webhook_id, number, message_id, at, status, duration_ms, error)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";
const FORGET_FIRST: &str = "DELETE FROM webhook_attempts WHERE webhook_id = $1 AND number <=
    (SELECT max(number) FROM webhook_attempts WHERE webhook_id = $1) - $2";
const FORGET_OLD: &str = "DELETE FROM webhook_attempts WHERE webhook_id = $1 AND at < $2";
pub(super) const ATTEMPTS: &str = "SELECT number, message_id, at, status, duration_ms, error
    FROM webhook_attempts WHERE webhook_id = $1 AND number > $2 ORDER BY number LIMIT $3";

/// Whether the lease of each goes on, now or by an attempt whose connection broke. A change of a
/// webhook ends the lease. What its holder did before is saved once, but does not disable it.
pub(super) async fn save<S: Sql>(
    connection: &mut S,
    updates: &[DeliveryUpdate],
) -> Result<Vec<bool>, S::Error> {
    let mut in_order: Vec<_> = updates.iter().enumerate().collect();
    // So that two processes cannot wait for each other.
    in_order.sort_by_key(|(_, update)| update.webhook);
    let renewals = in_order.iter().map(
        |(
            _,
            DeliveryUpdate {
                webhook,
                seen,
                lease,
                ..
            },
        )| { values![*webhook, seen.holder, seen.beat, lease.holder, lease.beat] },
    );
    let renewed = connection.execute_each(RENEW, renewals.collect()).await?;
    let mut saved = vec![true; updates.len()];
    for ((position, update), renewed) in in_order.into_iter().zip(renewed) {
        if renewed == 1 {
            save_one(connection, update).await?;
            continue;
        }
        let Lease { holder, beat } = update.lease;
        let own = connection
            .row(HAS_LEASE, &[&update.webhook, &holder, &beat])
            .await?;
        saved[position] = own.is_some();
        let changed = update.seen.beat + 1;
        if own.is_none()
            && update.progress.is_some()
            && connection
                .execute(CHANGED_ONCE, &[&update.webhook, &changed])
                .await?
                == 1
        {
            save_one(
                connection,
                &DeliveryUpdate {
                    disable: None,
                    ..update.clone()
                },
            )
            .await?;
        }
    }
    Ok(saved)
}

async fn save_one<S: Sql>(connection: &mut S, update: &DeliveryUpdate) -> Result<(), S::Error> {
    let id = update.webhook;
    if let Some(Progress {
        cursor,
        last,
        failing_since,
    }) = &update.progress
    {
        let failing_since = failing_since.map(Timestamp::as_millisecond);
        connection
            .execute(PROGRESS, &[cursor, last, &failing_since, &id])
            .await?;
    }
    let done = update.done.iter().map(|seq| values![id, *seq]);
    connection.execute_each(DONE, done.collect()).await?;
    let waiting = update.waiting.iter().map(
        |Waiting {
             seq,
             previous,
             lane,
             failures,
             due_at,
         }| {
            let due_at = due_at.map(Timestamp::as_millisecond);
            values![
                id,
                *seq,
                *previous,
                lane.as_deref(),
                i64::from(*failures),
                due_at
            ]
        },
    );
    connection.execute_each(WAIT, waiting.collect()).await?;
    add_attempts(connection, id, &update.attempts).await?;
    if let Some(before) = update.forget_before {
        connection
            .execute(FORGET_OLD, &[&id, &before.as_millisecond()])
            .await?;
    }
    if let Some((reason, at)) = update.disable
        && connection
            .execute(DISABLE, &[&reason.as_str(), &at.as_millisecond(), &id])
            .await?
            == 1
    {
        record(
            connection,
            &reason.act(id),
            &WriteContext::new(Actor::Clock, at),
        )
        .await?;
    }
    Ok(())
}

/// Adds an attempt, unless the webhook was deleted.
pub(super) async fn add_one<S: Sql>(
    connection: &mut S,
    id: i64,
    attempt: &Attempt,
) -> Result<Result<i64, Infallible>, S::Error> {
    if connection.execute(LOCK, &[&id]).await? == 1 {
        add_attempts(connection, id, slice::from_ref(attempt)).await?;
    }
    Ok(Ok(0))
}

/// Adds attempts to a webhook that is locked.
async fn add_attempts<S: Sql>(
    connection: &mut S,
    id: i64,
    attempts: &[Attempt],
) -> Result<(), S::Error> {
    if attempts.is_empty() {
        return Ok(());
    }
    let last = connection.number(LAST_ATTEMPT, &[&id]).await?;
    let rows = attempts.iter().zip(last + 1..).map(|(attempt, number)| {
        let Attempt {
            message_id,
            at,
            status,
            duration_ms,
            error,
        } = attempt;
        let (at, status) = (at.as_millisecond(), status.map(i64::from));
        values![
            id,
            number,
            message_id.as_str(),
            at,
            status,
            *duration_ms,
            error.as_deref()
        ]
    });
    connection.execute_each(ADD_ATTEMPT, rows.collect()).await?;
    connection
        .execute(FORGET_FIRST, &[&id, &KEPT_ATTEMPTS])
        .await?;
    Ok(())
}

/// The message in a row of [`WAITING`].
pub(super) fn waiting<R: Columns>(row: &R) -> Result<Waiting, R::Error> {
    Ok(Waiting {
        seq: row.value(0)?,
        previous: row.value(1)?,
        lane: row.value(2)?,
        failures: row
            .value::<i64>(3)?
            .try_into()
            .map_err(|_| row.invalid(3))?,
        due_at: row.optional_time(4)?,
    })
}

/// The message in a row of [`TESTS`].
pub(super) fn test<R: Columns>(row: &R) -> Result<TestMessage, R::Error> {
    Ok(TestMessage {
        webhook: row.value(0)?,
        message_id: row.value(1)?,
    })
}

pub(super) async fn take_test<S: Sql>(
    connection: &mut S,
    message_id: &str,
) -> Result<Result<i64, ()>, S::Error> {
    Ok(
        if connection.execute(TAKE_TEST, &[&message_id]).await? == 1 {
            Ok(0)
        } else {
            Err(())
        },
    )
}

/// The attempt in a row of [`ATTEMPTS`], with its number.
pub(super) fn attempt<R: Columns>(row: &R) -> Result<(i64, Attempt), R::Error> {
    let status = row.value::<Option<i64>>(3)?.map(u16::try_from).transpose();
    let attempt = Attempt {
        message_id: row.value(1)?,
        at: row.time(2)?,
        status: status.map_err(|_| row.invalid(3))?,
        duration_ms: row.value(4)?,
        error: row.value(5)?,
    };
    Ok((row.value(0)?, attempt))
}
