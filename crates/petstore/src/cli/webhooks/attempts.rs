//! Prints attempts to deliver messages, for `petstore webhooks attempts` and
//! `petstore webhooks test`.

use std::time::Duration;

use anyhow::{bail, ensure};
use petstore_app::delivery::ATTEMPT_TIMEOUT;
use petstore_domain::{
    Clock, SystemClock,
    store_area::{Attempt, TestMessage, WebhookId},
};
use petstore_formats::json;
use petstore_store::Store;
use tokio::time;

use super::{super::output, stored};

/// The error class of [`petstore_app::delivery::AttemptError::Forbidden`], as attempts store it.
const FORBIDDEN_ADDRESS: &str = "address";

/// The number of attempts that are read at once.
const ATTEMPTS_PER_READ: u32 = 1000;

/// The time between two reads of the attempts while a test message is in flight.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long the command waits for a running service to take a test message. A service takes it
/// sooner.
const PICKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// The end of an error message about a test message that waits for a service. The subject before it
/// is the test message, such as `it`.
pub(super) const SENT_LATER: &str =
    "is sent when `petstore serve` runs with the key file of the webhooks";

/// Prints all attempts of a webhook, each on a line, the newest last.
pub(super) async fn print_all(store: &dyn Store, webhook: WebhookId) -> anyhow::Result<()> {
    let mut last_number = 0;
    loop {
        let attempts = store
            .list_attempts(webhook, last_number, ATTEMPTS_PER_READ)
            .await?;
        if attempts.is_empty() {
            return Ok(());
        }
        for (number, attempt) in &attempts {
            print(attempt)?;
            last_number = *number;
        }
    }
}

/// Waits until a running service has sent a test message, and prints the attempt. Fails if the
/// message was not delivered.
pub(super) async fn wait_for_test(store: &dyn Store, test: &TestMessage) -> anyhow::Result<()> {
    let began_at = SystemClock.instant();
    let mut last_number = 0;
    loop {
        if let Some(attempt) = find_test_attempt(store, test, &mut last_number).await? {
            print(&attempt)?;
            return check_delivery(&attempt);
        }

        let waiting_time = SystemClock.instant().saturating_duration_since(began_at);
        let is_pickup_late = waiting_time >= PICKUP_TIMEOUT;
        if is_pickup_late && store.waiting_tests().await?.contains(test) {
            bail!("no running service has taken the test message yet; it {SENT_LATER}");
        }
        // An attempt usually ends within `ATTEMPT_TIMEOUT`. The limit here is twice as long,
        // because it also covers the time before the service takes the message.
        ensure!(
            waiting_time < 2 * ATTEMPT_TIMEOUT,
            "the service stored no result; see its log"
        );
        time::sleep(POLL_INTERVAL).await;
    }
}

/// Looks for the attempt to deliver a test message among the attempts after `last_number`. Raises
/// `last_number` to the number of the last attempt that has another message, so that no attempt is
/// read twice.
async fn find_test_attempt(
    store: &dyn Store,
    test: &TestMessage,
    last_number: &mut i64,
) -> anyhow::Result<Option<Attempt>> {
    let attempts = store
        .list_attempts(test.webhook, *last_number, ATTEMPTS_PER_READ)
        .await?;
    for (number, attempt) in attempts {
        if attempt.message_id == test.message_id {
            return Ok(Some(attempt));
        }
        *last_number = number;
    }
    Ok(None)
}

/// Fails if an attempt did not deliver its test message.
fn check_delivery(attempt: &Attempt) -> anyhow::Result<()> {
    match attempt.error.as_deref() {
        None => Ok(()),
        Some(FORBIDDEN_ADDRESS) => bail!(
            "the test message was not delivered, because its address is not public; \
             start the service (petstore serve) with --webhook-allow and its network"
        ),
        Some(_) => bail!("the test message was not delivered"),
    }
}

/// Prints an attempt as JSON.
fn print(attempt: &Attempt) -> anyhow::Result<()> {
    let line = stored::json_line(|json| json::write_attempt(json, attempt))?;
    output::print(&line)
}
