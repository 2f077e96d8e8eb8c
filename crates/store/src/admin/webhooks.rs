//! Webhooks.

use futures_util::FutureExt;
use petstore_domain::{
    IdempotentRequest, StoredResponse, WriteContext,
    store_area::{
        Act, Attempt, DeliveryUpdate, DisabledReason, Label, Lease, Progress, Restart,
        SealedSecrets, StoredWebhook, TestMessage, Waiting, Webhook, WebhookChange,
    },
};

use super::{
    Database, ONE_ADDS, Parameter, Sql,
    deliveries::{self, ATTEMPTS, LOCK, TESTS, WAITING},
    nothing, promise,
    requests::{self, WriteOutcome},
    values,
};
use crate::{StoreError, columns::Columns};

const LIST: &str = "SELECT id, url, types, description, disabled_reason, created_at,
        updated_at, version, secret, previous_secret, previous_secret_until, cursor, last_message,
        failing_since, lease_holder, lease_beat
    FROM webhooks ORDER BY id";
const COUNT: &str = "SELECT count(*) FROM webhooks";
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
const RESUME: &str = "UPDATE webhook_waiting SET due_at = $1
    WHERE webhook_id = $2 AND due_at IS NOT NULL";
const SUCCEED: &str = "UPDATE webhooks SET failing_since = NULL WHERE id = $1";
const SKIP: &str = "UPDATE webhooks SET cursor = $1, last_message = $1 WHERE id = $2";
const DROP_WAITING: &str = "DELETE FROM webhook_waiting WHERE webhook_id = $1";

promise! {
/// Stores webhooks, and how far their messages are.
Webhooks {
    /// Every webhook, in ascending order of identifier.
    async fn list_webhooks(&self) -> Vec<StoredWebhook> {
        self.list(LIST, values![], webhook).await
    }

    /// An identifier for a new webhook, which is never given again.
    async fn draw_webhook_id(&self) -> i64 {
        self.write((), |connection, ()| connection.number(D::Sql::DRAW_WEBHOOK_ID, &[])).await
    }

    /// What is remembered of a request: [`WriteOutcome::Replayed`] or
    /// [`WriteOutcome::IdempotencyConflict`]; `None` if it was not carried out.
    async fn recall_request(&self, request: IdempotentRequest) -> Option<WriteOutcome> {
        let recalled = self.once(request, |connection, request| recall(connection, request).boxed(), nothing);
        Ok(recalled.await?.err().flatten())
    }

    /// Makes a change, and remembers the response if the client may repeat the request. A change
    /// also ends the lease of the webhook, so that the process that has it reads the webhook again.
    async fn write_webhook(
        &self,
        change: WebhookChange,
        act: Option<Act>,
        response: StoredResponse,
        context: WriteContext,
    ) -> WriteOutcome {
        requests::administer(self, change, (act, response, context), |connection, change| {
            write(connection, change).boxed()
        })
        .await
    }

    /// Saves what was delivered, all or nothing, except for the webhooks that have another lease
    /// than was seen. Returns for each whether it was saved.
    async fn save_deliveries(&self, updates: Vec<DeliveryUpdate>) -> Vec<bool> {
        if updates.iter().any(|update| update.disable.is_some()) {
            // For its act.
            self.number_changes().await?;
        }
        self.write(updates, |connection, updates| deliveries::save(connection, updates).boxed()).await
    }

    /// The messages of a webhook that wait, in ascending order.
    async fn waiting_messages(&self, webhook: i64) -> Vec<Waiting> {
        self.list(WAITING, values![webhook], deliveries::waiting).await
    }

    /// The test messages that wait to be sent ([`WebhookChange::Test`]).
    async fn waiting_tests(&self) -> Vec<TestMessage> {
        self.list(TESTS, values![], deliveries::test).await
    }

    /// Removes a test message from those that wait. Returns `true` to at most one caller, and that
    /// caller sends the message.
    async fn take_test(&self, message_id: String) -> bool {
        let taken = self.once(message_id, |connection, id| deliveries::take_test(connection, id).boxed(), nothing);
        Ok(taken.await?.is_ok())
    }

    /// The attempts of a webhook after the one with this number, the oldest first and at most
    /// `limit`, with their numbers.
    async fn list_attempts(&self, webhook: i64, after: i64, limit: u32) -> Vec<(i64, Attempt)> {
        let of = values![webhook, after, i64::from(limit)];
        self.list(ATTEMPTS, of, deliveries::attempt).await
    }

    /// Adds an attempt that belongs to no change: a test.
    async fn add_attempt(&self, webhook: i64, attempt: Attempt) -> () {
        let added = self.once(
            (webhook, attempt),
            |connection, (webhook, attempt)| deliveries::add_one(connection, *webhook, attempt).boxed(),
            nothing,
        );
        let Ok(()) = added.await?;
        Ok(())
    }
}
}

/// Refuses in any case, because it does nothing.
async fn recall<S: Sql>(
    connection: &mut S,
    request: &IdempotentRequest,
) -> Result<Result<i64, Option<WriteOutcome>>, S::Error> {
    Ok(Err(requests::recall(connection, request)
        .await?
        .map(WriteOutcome::from)))
}

async fn write<S: Sql>(
    connection: &mut S,
    change: &WebhookChange,
) -> Result<Option<WriteOutcome>, S::Error> {
    let limit = match change {
        WebhookChange::Add(_) => Some((COUNT, Webhook::MAX)),
        WebhookChange::Test(_) => Some((COUNT_TESTS, Webhook::MAX_TESTS)),
        _ => None,
    };
    if let Some((count, max)) = limit {
        connection.execute(ONE_ADDS, &[]).await?;
        if connection.number(count, &[]).await? >= max {
            return Ok(Some(WriteOutcome::Full));
        }
    }
    let changed = match change {
        WebhookChange::Add(new) => insert(connection, new).await?,
        WebhookChange::Change {
            after,
            secrets,
            restart,
        } => {
            let changed = update(connection, after, secrets).await?;
            if changed == 1 {
                restart_at(connection, after.id, *restart).await?;
            }
            changed
        }
        WebhookChange::Delete { id, version } => connection.execute(DELETE, &[id, version]).await?,
        WebhookChange::Test(TestMessage {
            webhook,
            message_id,
        }) => {
            if connection.execute(LOCK, &[webhook]).await? == 0 {
                return Ok(Some(WriteOutcome::Stale));
            }
            connection.execute(ADD_TEST, &[message_id, webhook]).await?
        }
        WebhookChange::Nothing => 1,
    };
    Ok((changed != 1).then_some(WriteOutcome::Stale))
}

async fn insert<S: Sql>(connection: &mut S, new: &StoredWebhook) -> Result<u64, S::Error> {
    let StoredWebhook {
        webhook,
        secrets,
        progress,
        ..
    } = new;
    let (previous, until) = previous(secrets);
    connection
        .execute(
            INSERT,
            &[
                &webhook.id,
                &webhook.url,
                &webhook.types_text(),
                &webhook.description.as_ref().map(Label::as_str),
                &webhook.disabled.map(DisabledReason::as_str),
                &webhook.created_at.as_millisecond(),
                &webhook.updated_at.as_millisecond(),
                &webhook.version,
                &secrets.current,
                &previous,
                &until,
                &progress.cursor,
                &progress.last,
            ],
        )
        .await
}

async fn update<S: Sql>(
    connection: &mut S,
    after: &Webhook,
    secrets: &SealedSecrets,
) -> Result<u64, S::Error> {
    let (previous, until) = previous(secrets);
    connection
        .execute(
            UPDATE,
            &[
                &after.id,
                &after.url,
                &after.types_text(),
                &after.description.as_ref().map(Label::as_str),
                &after.disabled.map(DisabledReason::as_str),
                &after.updated_at.as_millisecond(),
                &after.version,
                &secrets.current,
                &previous,
                &until,
            ],
        )
        .await
}

/// The columns of the secret before the present one.
fn previous(secrets: &SealedSecrets) -> (Option<&[u8]>, Option<i64>) {
    let previous = secrets.previous.as_ref();
    previous
        .map(|(secret, until)| (secret.as_slice(), until.as_millisecond()))
        .unzip()
}

async fn restart_at<S: Sql>(
    connection: &mut S,
    id: i64,
    restart: Option<Restart>,
) -> Result<(), S::Error> {
    match restart {
        None => return Ok(()),
        Some(Restart::Resume(now)) => {
            connection
                .execute(RESUME, &[&now.as_millisecond(), &id])
                .await?;
        }
        Some(Restart::From(seq)) => {
            connection.execute(DROP_WAITING, &[&id]).await?;
            connection.execute(SKIP, &[&seq, &id]).await?;
        }
    }
    connection.execute(SUCCEED, &[&id]).await?;
    Ok(())
}

/// The webhook in a row of [`LIST`].
fn webhook<R: Columns>(row: &R) -> Result<StoredWebhook, R::Error> {
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
        lease: Lease {
            holder: row.value(14)?,
            beat: row.value(15)?,
        },
    })
}
