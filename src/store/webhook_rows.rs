//! The rows of webhooks, as far as they are the same in every store. SQLite numbers the parameters
//! of a statement as they first appear.

use super::columns::Columns;
use crate::domain::store_area::{
    Attempt, Label, Lease, Progress, SealedSecrets, StoredWebhook, TestMessage, Waiting, Webhook,
    WebhookChange,
};

/// The number of attempts that a store keeps for each webhook.
pub const KEPT_ATTEMPTS: i64 = 10_000;

pub(super) const LIST: &str = "SELECT id, url, types, description, disabled_reason, created_at,
        updated_at, version, secret, previous_secret, previous_secret_until, cursor, last_message,
        failing_since, lease_holder, lease_beat
    FROM webhooks ORDER BY id";
pub(super) const INSERT: &str =
    "INSERT INTO webhooks (id, url, types, description, disabled_reason, created_at,
        updated_at, version, secret, previous_secret, previous_secret_until, cursor, last_message,
        lease_holder, lease_beat)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, 0)";
pub(super) const RESUME: &str = "UPDATE webhook_waiting SET due_at = $1
    WHERE webhook_id = $2 AND due_at IS NOT NULL";
pub(super) const SUCCEED: &str = "UPDATE webhooks SET failing_since = NULL WHERE id = $1";
pub(super) const SKIP: &str = "UPDATE webhooks SET cursor = $1, last_message = $1 WHERE id = $2";
pub(super) const DROP_WAITING: &str = "DELETE FROM webhook_waiting WHERE webhook_id = $1";
pub(super) const PROGRESS: &str =
    "UPDATE webhooks SET cursor = $1, last_message = $2, failing_since = $3 WHERE id = $4";
pub(super) const DISABLE: &str = "UPDATE webhooks SET disabled_reason = $1, updated_at = $2,
    version = version + 1 WHERE id = $3 AND disabled_reason IS NULL";
pub(super) const WAITING: &str = "SELECT seq, previous, lane, failures, due_at
    FROM webhook_waiting WHERE webhook_id = $1 ORDER BY seq";
pub(super) const TESTS: &str = "SELECT webhook_id, message_id FROM webhook_tests";
pub(super) const TAKE_TEST: &str = "DELETE FROM webhook_tests WHERE message_id = $1";
pub(super) const FORGET_OLD: &str =
    "DELETE FROM webhook_attempts WHERE webhook_id = $1 AND at < $2";
pub(super) const ATTEMPTS: &str = "SELECT number, message_id, at, status, duration_ms, error
    FROM webhook_attempts WHERE webhook_id = $1 AND number > $2 ORDER BY number LIMIT $3";

/// The statement that counts what such a change adds, and how many there may be.
pub(super) fn limit(change: &WebhookChange) -> Option<(&'static str, i64)> {
    match change {
        WebhookChange::Add(_) => Some(("SELECT count(*) FROM webhooks", Webhook::MAX)),
        WebhookChange::Test(_) => Some(("SELECT count(*) FROM webhook_tests", Webhook::MAX_TESTS)),
        _ => None,
    }
}

/// The webhook in a row of [`LIST`].
pub(super) fn webhook<R: Columns>(row: &R) -> Result<StoredWebhook, R::Error> {
    let previous: Option<Vec<u8>> = row.value(9)?;
    Ok(StoredWebhook {
        webhook: Webhook {
            id: row.value(0)?,
            url: row.value(1)?,
            types: row.text(2)?.map(Webhook::types_in),
            description: row.value::<Option<String>>(3)?.and_then(Label::new),
            disabled: row.optional_parsed(4, |reason| reason.parse().ok())?,
            created_at: row.time(5)?,
            updated_at: row.time(6)?,
            version: row.value(7)?,
        },
        secrets: SealedSecrets {
            current: row.value(8)?,
            previous: previous.zip(row.optional_time(10)?),
        },
        progress: Progress {
            cursor: row.value(11)?,
            last: row.value(12)?,
            failing_since: row.optional_time(13)?,
        },
        lease: Lease { holder: row.value(14)?, beat: row.value(15)? },
    })
}

/// The message in a row of [`TESTS`].
pub(super) fn test<R: Columns>(row: &R) -> Result<TestMessage, R::Error> {
    Ok(TestMessage { webhook: row.value(0)?, message_id: row.value(1)? })
}

/// The message in a row of [`WAITING`].
pub(super) fn waiting<R: Columns>(row: &R) -> Result<Waiting, R::Error> {
    Ok(Waiting {
        seq: row.value(0)?,
        previous: row.value(1)?,
        lane: row.value(2)?,
        failures: row.value::<i64>(3)?.try_into().map_err(|_| row.invalid(3))?,
        due_at: row.optional_time(4)?,
    })
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

/// The columns of the secret before the present one.
pub(super) fn previous(secrets: &SealedSecrets) -> (Option<&[u8]>, Option<i64>) {
    let previous = secrets.previous.as_ref();
    previous.map(|(secret, until)| (secret.as_slice(), until.as_millisecond())).unzip()
}

/// The column of the remark.
pub(super) fn description(webhook: &Webhook) -> Option<&str> {
    webhook.description.as_ref().map(Label::as_str)
}
