//! The progress of webhook deliveries: leases, waiting messages, and attempts.
//!
//! A lease allows one process, its holder, to deliver the messages of a webhook. Its beat increases
//! with each renewal. Messages of one lane, such as `pet:7`, are delivered in order, so a message
//! can wait for an earlier one. The `seq` of a message is the number of its change in the log.

use std::{convert::Infallible, slice};

use jiff::Timestamp;
use petstore_domain::{
    Actor, WriteContext,
    store_area::{
        Attempt, DeliveryProgress, DeliveryUpdate, Lease, TestMessage, WaitingMessage, WebhookId,
    },
};

use super::{NO_RESULT, Parameter, Sql, Values, WorkOutcome, acts::record_act, values};
use crate::columns::Columns;

/// The maximum number of attempts that a store keeps for each webhook.
pub const KEPT_ATTEMPTS: i64 = 10_000;

/// Locks the row of a webhook against concurrent changes, by writing it unchanged.
pub(super) const LOCK: &str = "UPDATE webhooks SET version = version WHERE id = $1";
/// Renews the lease of a webhook, or takes it over. Affects no row if the lease has changed since
/// this process read it.
const RENEW: &str = "UPDATE webhooks SET lease_holder = $4, lease_beat = $5
    WHERE id = $1 AND lease_holder = $2 AND lease_beat = $3";
/// Increments the beat of a lease that exactly one change of the webhook has ended, and that no
/// process has acquired since. $2 is the beat of the lease after that change. Because of the
/// increment, the statement affects a row only once, so a late update is saved only once.
const END_LEASE_AFTER_ONE_CHANGE: &str = "UPDATE webhooks SET lease_beat = lease_beat + 1
    WHERE id = $1 AND lease_holder = 0 AND lease_beat = $2";
/// Selects a row if the webhook has this lease.
const HAS_LEASE: &str =
    "SELECT 1 FROM webhooks WHERE id = $1 AND lease_holder = $2 AND lease_beat = $3";
const PROGRESS: &str =
    "UPDATE webhooks SET cursor = $1, last_message = $2, failing_since = $3 WHERE id = $4";
const DISABLE: &str = "UPDATE webhooks SET disabled_reason = $1, updated_at = $2,
    version = version + 1 WHERE id = $3 AND disabled_reason IS NULL";
/// Selects the waiting messages of the webhook $1.
pub(super) const WAITING: &str = "SELECT seq, previous, lane, failures, due_at
    FROM webhook_waiting WHERE webhook_id = $1 ORDER BY seq";
const UPSERT_WAITING: &str =
    "INSERT INTO webhook_waiting (webhook_id, seq, previous, lane, failures, due_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (webhook_id, seq)
    DO UPDATE SET failures = excluded.failures, due_at = excluded.due_at";
const REMOVE_WAITING: &str = "DELETE FROM webhook_waiting WHERE webhook_id = $1 AND seq = $2";
/// Selects the test messages that no process has taken yet.
pub(super) const TESTS: &str = "SELECT webhook_id, message_id FROM webhook_tests";
const TAKE_TEST: &str = "DELETE FROM webhook_tests WHERE message_id = $1";
const LAST_ATTEMPT_NUMBER: &str =
    "SELECT coalesce(max(number), 0) FROM webhook_attempts WHERE webhook_id = $1";
const ADD_ATTEMPT: &str = "INSERT INTO webhook_attempts
    (webhook_id, number, message_id, at, status, duration_ms, error)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";
const FORGET_OLDEST_ATTEMPTS: &str =
    "DELETE FROM webhook_attempts WHERE webhook_id = $1 AND number <=
    (SELECT max(number) FROM webhook_attempts WHERE webhook_id = $1) - $2";
const FORGET_ATTEMPTS_BEFORE: &str =
    "DELETE FROM webhook_attempts WHERE webhook_id = $1 AND at < $2";
/// Selects at most $3 attempts of the webhook $1 after the attempt number $2.
pub(super) const ATTEMPTS: &str = "SELECT number, message_id, at, status, duration_ms, error
    FROM webhook_attempts WHERE webhook_id = $1 AND number > $2 ORDER BY number LIMIT $3";

/// Saves the progress of several webhooks, and renews their leases. Returns for each update whether
/// its holder still has the lease.
///
/// A lease cannot be renewed for one of three reasons:
///
/// - An earlier attempt has renewed it, but its connection broke after the commit.
/// - A change of the webhook has ended it. The progress that the holder made before the change is
///   still saved once, but cannot disable the webhook.
/// - Another process has taken it over.
pub(super) async fn save_updates<S: Sql>(
    connection: &mut S,
    updates: &[DeliveryUpdate],
) -> Result<Vec<bool>, S::Error> {
    let mut ordered_updates: Vec<(usize, &DeliveryUpdate)> = updates.iter().enumerate().collect();
    // All processes lock webhooks in the same order, which prevents deadlocks.
    ordered_updates.sort_by_key(|(_, update)| update.webhook);

    let mut renewals: Vec<Values<'_>> = Vec::with_capacity(updates.len());
    for (_, update) in &ordered_updates {
        let WebhookId(id) = update.webhook;
        renewals.push(values![
            id,
            update.seen_lease.holder,
            update.seen_lease.beat,
            update.lease.holder,
            update.lease.beat
        ]);
    }
    let renewed_counts = connection.execute_each(RENEW, renewals).await?;

    // This has the order of `updates`. `renewed_counts` has the order of `ordered_updates`.
    let mut held_leases = vec![true; updates.len()];
    for ((position, update), renewed_count) in ordered_updates.into_iter().zip(renewed_counts) {
        if renewed_count == 1 {
            save_update(connection, update).await?;
        } else {
            held_leases[position] = save_without_renewal(connection, update).await?;
        }
    }
    Ok(held_leases)
}

/// Handles an update whose lease could not be renewed.
///
/// Returns `true` if an earlier attempt has already renewed the lease and saved the update. Returns
/// `false` if the lease is lost. If a single change of the webhook has ended the lease, first saves
/// the progress that the holder made before the change.
async fn save_without_renewal<S: Sql>(
    connection: &mut S,
    update: &DeliveryUpdate,
) -> Result<bool, S::Error> {
    let WebhookId(id) = update.webhook;
    let Lease { holder, beat } = update.lease;
    let lease_row = connection.row(HAS_LEASE, &[&id, &holder, &beat]).await?;
    let was_renewed_earlier = lease_row.is_some();
    if was_renewed_earlier {
        return Ok(true);
    }
    if update.progress.is_none() {
        return Ok(false);
    }

    // A change of a webhook increments the beat and removes the holder.
    let beat_after_change = update.seen_lease.beat + 1;
    let ended_count = connection
        .execute(END_LEASE_AFTER_ONE_CHANGE, &[&id, &beat_after_change])
        .await?;
    if ended_count == 1 {
        // The change may have repaired the webhook, so the update must not disable it.
        let update_without_disabling = DeliveryUpdate {
            disable: None,
            ..update.clone()
        };
        save_update(connection, &update_without_disabling).await?;
    }
    Ok(false)
}

/// Saves the update of a webhook whose row is locked.
async fn save_update<S: Sql>(connection: &mut S, update: &DeliveryUpdate) -> Result<(), S::Error> {
    let webhook = update.webhook;
    let WebhookId(id) = webhook;
    if let Some(progress) = &update.progress {
        save_progress(connection, webhook, progress).await?;
    }
    let removals = update.done.iter().map(|seq| values![id, *seq]).collect();
    connection.execute_each(REMOVE_WAITING, removals).await?;
    save_waiting(connection, webhook, &update.waiting).await?;

    add_attempts(connection, webhook, &update.attempts).await?;
    if let Some(before) = update.forget_before {
        connection
            .execute(FORGET_ATTEMPTS_BEFORE, &[&id, &before.as_millisecond()])
            .await?;
    }

    if let Some((reason, at)) = update.disable {
        let disabled_count = connection
            .execute(DISABLE, &[&reason.as_str(), &at.as_millisecond(), &id])
            .await?;
        if disabled_count == 1 {
            let context = WriteContext::new(Actor::Clock, at);
            record_act(connection, &reason.create_act(webhook), &context).await?;
        }
    }
    Ok(())
}

/// Saves the progress of a webhook: its cursor in the log, its last message, and the start of its
/// present failure.
async fn save_progress<S: Sql>(
    connection: &mut S,
    webhook: WebhookId,
    progress: &DeliveryProgress,
) -> Result<(), S::Error> {
    let WebhookId(id) = webhook;
    let DeliveryProgress {
        cursor,
        last,
        failing_since,
    } = progress;
    let failing_since = failing_since.map(Timestamp::as_millisecond);
    connection
        .execute(PROGRESS, &[cursor, last, &failing_since, &id])
        .await?;
    Ok(())
}

/// Upserts waiting messages. An existing message gets the new number of failures and the new due
/// time.
async fn save_waiting<S: Sql>(
    connection: &mut S,
    webhook: WebhookId,
    messages: &[WaitingMessage],
) -> Result<(), S::Error> {
    let WebhookId(id) = webhook;
    let mut rows: Vec<Values<'_>> = Vec::with_capacity(messages.len());
    for message in messages {
        let WaitingMessage {
            seq,
            previous,
            lane,
            failures,
            due_at,
        } = message;
        rows.push(values![
            id,
            *seq,
            *previous,
            lane.as_deref(),
            i64::from(*failures),
            due_at.map(Timestamp::as_millisecond)
        ]);
    }
    connection.execute_each(UPSERT_WAITING, rows).await?;
    Ok(())
}

/// Adds an attempt. Does nothing if the webhook has been deleted.
pub(super) async fn add_attempt<S: Sql>(
    connection: &mut S,
    webhook: WebhookId,
    attempt: &Attempt,
) -> Result<WorkOutcome<i64, Infallible>, S::Error> {
    let WebhookId(id) = webhook;
    if connection.execute(LOCK, &[&id]).await? == 1 {
        add_attempts(connection, webhook, slice::from_ref(attempt)).await?;
    }
    Ok(WorkOutcome::Done(NO_RESULT))
}

/// Adds attempts to a webhook whose row is locked. Keeps only the newest [`KEPT_ATTEMPTS`].
async fn add_attempts<S: Sql>(
    connection: &mut S,
    webhook: WebhookId,
    attempts: &[Attempt],
) -> Result<(), S::Error> {
    if attempts.is_empty() {
        return Ok(());
    }
    let WebhookId(id) = webhook;
    let mut last_number = connection.number(LAST_ATTEMPT_NUMBER, &[&id]).await?;
    let mut rows: Vec<Values<'_>> = Vec::with_capacity(attempts.len());
    for attempt in attempts {
        let Attempt {
            message_id,
            at,
            status,
            duration_ms,
            error,
        } = attempt;
        last_number += 1;
        rows.push(values![
            id,
            last_number,
            message_id.as_str(),
            at.as_millisecond(),
            status.map(i64::from),
            *duration_ms,
            error.as_deref()
        ]);
    }
    connection.execute_each(ADD_ATTEMPT, rows).await?;
    connection
        .execute(FORGET_OLDEST_ATTEMPTS, &[&id, &KEPT_ATTEMPTS])
        .await?;
    Ok(())
}

/// Reads a row of [`WAITING`].
pub(super) fn read_waiting<R: Columns>(row: &R) -> Result<WaitingMessage, R::Error> {
    let failures: i64 = row.value(3)?;
    Ok(WaitingMessage {
        seq: row.value(0)?,
        previous: row.value(1)?,
        lane: row.value(2)?,
        failures: failures.try_into().map_err(|_| row.invalid(3))?,
        due_at: row.optional_time(4)?,
    })
}

/// Reads a row of [`TESTS`].
pub(super) fn read_test<R: Columns>(row: &R) -> Result<TestMessage, R::Error> {
    Ok(TestMessage {
        webhook: WebhookId(row.value(0)?),
        message_id: row.value(1)?,
    })
}

/// Removes a waiting test message, so that no other process takes it. Refuses if there is no such
/// message.
pub(super) async fn take_test<S: Sql>(
    connection: &mut S,
    message_id: &str,
) -> Result<WorkOutcome<i64, ()>, S::Error> {
    if connection.execute(TAKE_TEST, &[&message_id]).await? == 1 {
        Ok(WorkOutcome::Done(NO_RESULT))
    } else {
        Ok(WorkOutcome::Refused(()))
    }
}

/// Reads a row of [`ATTEMPTS`]: the number of the attempt, and the attempt.
pub(super) fn read_attempt<R: Columns>(row: &R) -> Result<(i64, Attempt), R::Error> {
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
