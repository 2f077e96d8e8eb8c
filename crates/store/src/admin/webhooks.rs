//! Webhooks: their settings and secrets, and the methods for their deliveries, whose statements are
//! in `deliveries.rs`.

use futures_util::FutureExt;
use petstore_domain::{
    IdempotentRequest, StoredResponse, WriteContext,
    store_area::{
        Act, Attempt, DeliveryProgress, DeliveryUpdate, DisabledReason, Label, Lease, RestartPoint,
        RetiredSecret, SealedSecrets, StoredWebhook, TestMessage, WaitingMessage, Webhook,
        WebhookChange, WebhookId,
    },
};

use super::{
    Database, LOCK_COUNTED_TABLES, Parameter, Sql, WorkOutcome,
    deliveries::{self, ATTEMPTS, LOCK, TESTS, WAITING},
    no_result,
    requests::{self, Administration, WriteOutcome},
    store_trait, values,
};
use crate::{StoreError, columns::Columns};

const LIST: &str = "SELECT id, url, types, description, disabled_reason, created_at,
        updated_at, version, secret, previous_secret, previous_secret_until, cursor, last_message,
        failing_since, lease_holder, lease_beat
    FROM webhooks ORDER BY id";
const COUNT_WEBHOOKS: &str = "SELECT count(*) FROM webhooks";
const COUNT_TESTS: &str = "SELECT count(*) FROM webhook_tests";
const INSERT: &str =
    "INSERT INTO webhooks (id, url, types, description, disabled_reason, created_at,
        updated_at, version, secret, previous_secret, previous_secret_until, cursor, last_message,
        lease_holder, lease_beat)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, 0)";
const UPDATE: &str = "UPDATE webhooks SET url = $2, types = $3, description = $4,
        disabled_reason = $5, updated_at = $6, version = $7, secret = $8, previous_secret = $9,
        previous_secret_until = $10, lease_holder = 0, lease_beat = lease_beat + 1
    WHERE id = $1 AND version = CAST($7 AS bigint) - 1";
const DELETE: &str = "DELETE FROM webhooks WHERE id = $1 AND version = $2";
const ADD_TEST: &str = "INSERT INTO webhook_tests (message_id, webhook_id) VALUES ($1, $2)";
/// Makes all waiting messages that have a due time due at $1.
const RESUME: &str = "UPDATE webhook_waiting SET due_at = $1
    WHERE webhook_id = $2 AND due_at IS NOT NULL";
const CLEAR_FAILURE: &str = "UPDATE webhooks SET failing_since = NULL WHERE id = $1";
/// Moves the cursor of a webhook to the change $1, as if all changes up to it had been delivered.
const SKIP: &str = "UPDATE webhooks SET cursor = $1, last_message = $1 WHERE id = $2";
const DROP_WAITING: &str = "DELETE FROM webhook_waiting WHERE webhook_id = $1";

/// The columns of the previous secret, which stays valid for a while after a rotation.
struct PreviousSecret<'s> {
    sealed: Option<&'s [u8]>,
    /// The end of its validity, in milliseconds.
    until: Option<i64>,
}

impl<'s> From<&'s SealedSecrets> for PreviousSecret<'s> {
    fn from(secrets: &'s SealedSecrets) -> Self {
        match &secrets.previous {
            Some(previous) => Self {
                sealed: Some(&previous.sealed),
                until: Some(previous.valid_until.as_millisecond()),
            },
            None => Self {
                sealed: None,
                until: None,
            },
        }
    }
}

store_trait! {
/// Stores webhooks and the progress of their deliveries.
Webhooks {
    /// Reads every webhook, in ascending order of identifier.
    async fn list_webhooks(&self) -> Result<Vec<StoredWebhook>, StoreError> {
        self.list(LIST, values![], read_webhook).await
    }

    /// Returns an identifier for a new webhook. The same identifier is never returned again.
    async fn draw_webhook_id(&self) -> Result<WebhookId, StoreError> {
        let id = self
            .write((), |connection, ()| connection.number(D::Sql::DRAW_WEBHOOK_ID, &[]))
            .await?;
        Ok(WebhookId(id))
    }

    /// Returns the outcome of repeating a request that is remembered under its idempotency key:
    /// [`WriteOutcome::Replayed`] or [`WriteOutcome::IdempotencyConflict`]. Returns `None` if no
    /// request is remembered.
    async fn recall_request(
        &self,
        request: IdempotentRequest,
    ) -> Result<Option<WriteOutcome>, StoreError> {
        let result = self.write_once(
            request,
            |connection, request| recall_request(connection, request).boxed(),
            no_result,
        );
        match result.await? {
            WorkOutcome::Done(()) => Ok(None),
            WorkOutcome::Refused(outcome) => Ok(outcome),
        }
    }

    /// Makes a change, and remembers the response if the request has an idempotency key. A change
    /// also ends the lease of the webhook, so that the process that holds the lease reads the
    /// webhook again.
    async fn write_webhook(
        &self,
        change: WebhookChange,
        act: Option<Act>,
        response: StoredResponse,
        context: WriteContext,
    ) -> Result<WriteOutcome, StoreError> {
        let administration = Administration { acts: act.into_iter().collect(), response, context };
        requests::administer(self, change, administration, |connection, change| {
            write_change(connection, change).boxed()
        })
        .await
    }

    /// Saves the progress of deliveries atomically, and renews the leases. Returns for each update
    /// whether its lease is still held. Saves nothing for a webhook whose lease another process has
    /// acquired, or that has changed more than once.
    async fn save_deliveries(&self, updates: Vec<DeliveryUpdate>) -> Result<Vec<bool>, StoreError> {
        if updates.iter().any(|update| update.disable.is_some()) {
            // Disabling a webhook records an act, which comes after the changes that have a number.
            self.assign_change_numbers().await?;
        }
        self.write(updates, |connection, updates| {
            deliveries::save_updates(connection, updates).boxed()
        })
        .await
    }

    /// Reads the waiting messages of a webhook, in ascending order of their change.
    async fn waiting_messages(
        &self,
        webhook: WebhookId,
    ) -> Result<Vec<WaitingMessage>, StoreError> {
        let WebhookId(id) = webhook;
        self.list(WAITING, values![id], deliveries::read_waiting).await
    }

    /// Reads the test messages that are waiting to be sent ([`WebhookChange::Test`]).
    async fn waiting_tests(&self) -> Result<Vec<TestMessage>, StoreError> {
        self.list(TESTS, values![], deliveries::read_test).await
    }

    /// Claims a waiting test message. Returns `true` to at most one caller, and that caller sends
    /// the message.
    async fn take_test(&self, message_id: String) -> Result<bool, StoreError> {
        let result = self.write_once(
            message_id,
            |connection, id| deliveries::take_test(connection, id).boxed(),
            no_result,
        );
        Ok(result.await?.is_done())
    }

    /// Reads the attempts of a webhook after the attempt number `after`, oldest first: at most
    /// `limit`, each with its number.
    async fn list_attempts(
        &self,
        webhook: WebhookId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, Attempt)>, StoreError> {
        let WebhookId(id) = webhook;
        let limit = i64::from(limit);
        self.list(ATTEMPTS, values![id, after, limit], deliveries::read_attempt).await
    }

    /// Adds an attempt to send a test message, which belongs to no change.
    async fn add_attempt(&self, webhook: WebhookId, attempt: Attempt) -> Result<(), StoreError> {
        let result = self.write_once(
            (webhook, attempt),
            |connection, (webhook, attempt)| {
                deliveries::add_attempt(connection, *webhook, attempt).boxed()
            },
            no_result,
        );
        let WorkOutcome::Done(()) = result.await?;
        Ok(())
    }
}
}

/// Looks up a remembered request. Always refuses, because nothing must be written. The reason for
/// the refusal is the outcome of repeating the request, if one is remembered.
async fn recall_request<S: Sql>(
    connection: &mut S,
    request: &IdempotentRequest,
) -> Result<WorkOutcome<i64, Option<WriteOutcome>>, S::Error> {
    let known_request = requests::recall(connection, request).await?;
    Ok(WorkOutcome::Refused(known_request.map(WriteOutcome::from)))
}

/// Writes a change of a webhook. Returns [`WriteOutcome::Done`], or the reason why nothing was
/// written.
async fn write_change<S: Sql>(
    connection: &mut S,
    change: &WebhookChange,
) -> Result<WriteOutcome, S::Error> {
    let exceeds_limit = lock_and_check_limit(connection, change).await?;
    if exceeds_limit {
        return Ok(WriteOutcome::Full);
    }
    let written_count = match change {
        WebhookChange::Add(webhook) => insert_webhook(connection, webhook).await?,
        WebhookChange::Update {
            after,
            secrets,
            restart,
        } => {
            let updated_count = update_webhook(connection, after, secrets).await?;
            if updated_count == 1
                && let Some(restart) = restart
            {
                restart_deliveries(connection, after.id, *restart).await?;
            }
            updated_count
        }
        WebhookChange::Delete {
            id: WebhookId(id),
            version,
        } => connection.execute(DELETE, &[id, version]).await?,
        WebhookChange::Test(test) => add_test(connection, test).await?,
        // Nothing to write, so this is done.
        WebhookChange::Nothing => 1,
    };
    if written_count == 1 {
        Ok(WriteOutcome::Done)
    } else {
        Ok(WriteOutcome::Stale)
    }
}

/// Whether a change would exceed the maximum number of webhooks or of waiting test messages.
///
/// For a change that adds one, first takes a lock until the end of the transaction, so that
/// concurrent transactions cannot exceed the maximum together.
async fn lock_and_check_limit<S: Sql>(
    connection: &mut S,
    change: &WebhookChange,
) -> Result<bool, S::Error> {
    let (count_statement, max) = match change {
        WebhookChange::Add(_) => (COUNT_WEBHOOKS, Webhook::MAX),
        WebhookChange::Test(_) => (COUNT_TESTS, Webhook::MAX_TESTS),
        WebhookChange::Update { .. } | WebhookChange::Delete { .. } | WebhookChange::Nothing => {
            return Ok(false);
        }
    };
    connection.execute(LOCK_COUNTED_TABLES, &[]).await?;
    Ok(connection.number(count_statement, &[]).await? >= max)
}

/// Adds a test message to a webhook. Returns the number of added rows: 0 if the webhook does not
/// exist.
async fn add_test<S: Sql>(connection: &mut S, test: &TestMessage) -> Result<u64, S::Error> {
    let TestMessage {
        webhook: WebhookId(id),
        message_id,
    } = test;
    if connection.execute(LOCK, &[id]).await? == 0 {
        return Ok(0);
    }
    connection.execute(ADD_TEST, &[message_id, id]).await
}

/// Adds a webhook. Returns the number of added rows.
async fn insert_webhook<S: Sql>(
    connection: &mut S,
    stored_webhook: &StoredWebhook,
) -> Result<u64, S::Error> {
    let StoredWebhook {
        webhook,
        secrets,
        progress,
        ..
    } = stored_webhook;
    let WebhookId(id) = webhook.id;
    let previous_secret = PreviousSecret::from(secrets);
    connection
        .execute(
            INSERT,
            &[
                &id,
                &webhook.url,
                &webhook.types_text(),
                &webhook.description.as_ref().map(Label::as_str),
                &webhook.disabled.map(DisabledReason::as_str),
                &webhook.created_at.as_millisecond(),
                &webhook.updated_at.as_millisecond(),
                &webhook.version,
                &secrets.current,
                &previous_secret.sealed,
                &previous_secret.until,
                &progress.cursor,
                &progress.last,
            ],
        )
        .await
}

/// Updates a webhook and ends its lease. Returns the number of updated rows: 0 if the webhook has
/// another version than expected.
async fn update_webhook<S: Sql>(
    connection: &mut S,
    after: &Webhook,
    secrets: &SealedSecrets,
) -> Result<u64, S::Error> {
    let WebhookId(id) = after.id;
    let previous_secret = PreviousSecret::from(secrets);
    connection
        .execute(
            UPDATE,
            &[
                &id,
                &after.url,
                &after.types_text(),
                &after.description.as_ref().map(Label::as_str),
                &after.disabled.map(DisabledReason::as_str),
                &after.updated_at.as_millisecond(),
                &after.version,
                &secrets.current,
                &previous_secret.sealed,
                &previous_secret.until,
            ],
        )
        .await
}

/// Restarts the deliveries of a webhook, and forgets since when they have failed.
///
/// [`RestartPoint::Resume`] makes the waiting messages due. [`RestartPoint::After`] drops them, and
/// continues after the change with that number.
async fn restart_deliveries<S: Sql>(
    connection: &mut S,
    webhook: WebhookId,
    restart: RestartPoint,
) -> Result<(), S::Error> {
    let WebhookId(id) = webhook;
    match restart {
        RestartPoint::Resume(now) => {
            connection
                .execute(RESUME, &[&now.as_millisecond(), &id])
                .await?;
        }
        RestartPoint::After(seq) => {
            connection.execute(DROP_WAITING, &[&id]).await?;
            connection.execute(SKIP, &[&seq, &id]).await?;
        }
    }
    connection.execute(CLEAR_FAILURE, &[&id]).await?;
    Ok(())
}

/// Reads a row of [`LIST`].
fn read_webhook<R: Columns>(row: &R) -> Result<StoredWebhook, R::Error> {
    let previous_secret: Option<Vec<u8>> = row.value(9)?;
    let previous_until = row.optional_time(10)?;
    let previous = previous_secret
        .zip(previous_until)
        .map(|(sealed, valid_until)| RetiredSecret {
            sealed,
            valid_until,
        });
    Ok(StoredWebhook {
        webhook: Webhook {
            id: WebhookId(row.value(0)?),
            url: row.value(1)?,
            types: row.text(2)?.map(Webhook::parse_types),
            description: row.value::<Option<String>>(3)?.and_then(Label::new),
            disabled: row.optional_parsed(4, |reason| reason.parse().ok())?,
            created_at: row.time(5)?,
            updated_at: row.time(6)?,
            version: row.value(7)?,
        },
        secrets: SealedSecrets {
            current: row.value(8)?,
            previous,
        },
        progress: DeliveryProgress {
            cursor: row.value(11)?,
            last: row.value(12)?,
            failing_since: row.optional_time(13)?,
        },
        lease: Lease {
            holder: row.value(14)?,
            beat: row.value(15)?,
        },
    })
}
