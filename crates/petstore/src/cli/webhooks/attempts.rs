//! The attempts to deliver messages, as `petstore webhooks attempts` and `petstore webhooks test` print them.

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

/// The class of [`petstore_app::delivery::AttemptError::Forbidden`].
const FORBIDDEN: &str = "address";

/// The number of attempts in a read.
const ATTEMPTS_PER_READ: u32 = 1000;

/// The pause between two reads while a test message is sent.
const PAUSE: Duration = Duration::from_millis(100);

/// The time that a running service needs at most until it begins to send a test message.
const MAX_TIME_UNTIL_TAKEN: Duration = Duration::from_secs(5);

/// The end of a message about a test message that waits.
pub(super) const SENT_LATER: &str =
    "is sent when `petstore serve` runs with the key file of the webhooks";

/// Prints all attempts of a webhook, the newest last, each on a line.
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

/// Waits until a service has sent a test message, and prints the attempt. Fails if the message was not delivered.
pub(super) async fn wait_for_test(store: &dyn Store, test: &TestMessage) -> anyhow::Result<()> {
    let began_at = SystemClock.instant();
    let mut last_number = 0;
    loop {
        let attempts = store
            .list_attempts(test.webhook, last_number, ATTEMPTS_PER_READ)
            .await?;
        for (number, attempt) in attempts {
            if attempt.message_id == test.message_id {
                print(&attempt)?;
                return check_delivery(&attempt);
            }
            last_number = number;
        }

        let waiting_time = SystemClock.instant().saturating_duration_since(began_at);
        if waiting_time >= MAX_TIME_UNTIL_TAKEN && store.waiting_tests().await?.contains(test) {
            bail!("no running service has taken the test message yet; it {SENT_LATER}");
        }
        ensure!(
            waiting_time < 2 * ATTEMPT_TIMEOUT,
            "the service stored no result; see its log"
        );
        time::sleep(PAUSE).await;
    }
}

/// Fails if an attempt did not deliver its test message.
fn check_delivery(attempt: &Attempt) -> anyhow::Result<()> {
    match attempt.error.as_deref() {
        None => Ok(()),
        Some(FORBIDDEN) => bail!(
            "the test message was not delivered, because its address is not public; \
             start the service (petstore serve) with --webhook-allow and its network"
        ),
        Some(_) => bail!("the test message was not delivered"),
    }
}

/// Prints an attempt as JSON.
fn print(attempt: &Attempt) -> anyhow::Result<()> {
    output::print(&stored::json_line(|json| {
        json::write_attempt(json, attempt);
    })?)
}
