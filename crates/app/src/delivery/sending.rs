//! Signs and sends one message, and classifies the outcome.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    Clock,
    store_area::{Attempt, StoredWebhook, TestMessage, WebhookId},
};
use petstore_observe::{
    log::error_chain,
    traces::{Span, Spans, Work},
};

use super::{
    AttemptError, Connector, EndpointResponse, Secret, Vault, VaultError,
    connector::SignedFields,
    endpoint::AttemptOutcome,
    message::{self, Content},
    registrar::open_secret,
    sign,
};

/// The decrypted secrets of a webhook.
pub(super) struct SigningSecrets {
    current: Secret,
    previous: Option<PreviousSecret>,
}

/// The secret before the last rotation.
struct PreviousSecret {
    secret: Secret,
    /// Until when messages are also signed with this secret.
    valid_until: Timestamp,
}

/// The change that a message is about, and the lease under which the message is sent.
#[derive(Clone, Copy)]
pub(super) struct LeasedChange {
    /// The sequence number of the change.
    pub(super) seq: i64,
    /// The number of the lease among all leases that this process has taken.
    pub(super) generation: u64,
}

/// A signed message, ready to send.
pub(super) struct OutgoingMessage {
    pub(super) webhook: WebhookId,
    /// The change that the message is about. A test message has none.
    pub(super) change: Option<LeasedChange>,
    pub(super) url: String,
    pub(super) message_id: String,
    pub(super) signature: String,
    /// The signed time of the attempt.
    pub(super) now: Timestamp,
    pub(super) content: Content,
}

/// A completed attempt.
pub(super) struct FinishedAttempt {
    pub(super) webhook: WebhookId,
    /// The change that the message is about. A test message has none.
    pub(super) change: Option<LeasedChange>,
    pub(super) outcome: AttemptOutcome,
    /// The cause of a failure, for the log.
    pub(super) cause: Option<String>,
    /// The id of the request that made the change.
    request_id: Option<Box<str>>,
}

/// The failure of an attempt.
struct Failure {
    /// The class of the error, which the API and the metrics show.
    class: &'static str,
    /// The cause, for the log.
    cause: String,
}

impl SigningSecrets {
    /// Decrypts the secrets of a webhook. Fails if the current secret cannot be decrypted.
    ///
    /// Ignores a previous secret that cannot be decrypted: the secret may have been rotated
    /// because its key file was lost.
    pub(super) fn open(vault: &Vault, stored: &StoredWebhook) -> Result<Self, VaultError> {
        let webhook = stored.webhook.id;
        let current = open_secret(vault, webhook, &stored.secrets.current)?;
        let mut previous = None;
        if let Some(retired) = &stored.secrets.previous
            && let Ok(secret) = open_secret(vault, webhook, &retired.sealed)
        {
            previous = Some(PreviousSecret {
                secret,
                valid_until: retired.valid_until,
            });
        }
        Ok(Self { current, previous })
    }

    /// Returns the value of the `webhook-signature` header, signed with each secret that is valid
    /// at `now`.
    pub(super) fn sign(&self, message_id: &str, now: Timestamp, body: &[u8]) -> String {
        let mut valid_secrets = vec![&self.current];
        if let Some(previous) = &self.previous
            && now < previous.valid_until
        {
            valid_secrets.push(&previous.secret);
        }
        sign(valid_secrets, message_id, now.as_second(), body)
    }
}

impl OutgoingMessage {
    /// Renders and signs a test message. Fails if the secret of the webhook cannot be decrypted.
    pub(super) fn from_test(
        test: TestMessage,
        stored: &StoredWebhook,
        vault: &Vault,
        now: Timestamp,
    ) -> Result<Self, VaultError> {
        let secrets = SigningSecrets::open(vault, stored)?;
        let content = message::render_test(now);
        let signature = secrets.sign(&test.message_id, now, &content.body);
        Ok(Self {
            webhook: test.webhook,
            change: None,
            url: stored.webhook.url.clone(),
            message_id: test.message_id,
            signature,
            now,
            content,
        })
    }

    /// Sends the message and returns the completed attempt. A panic counts as a failed attempt, so
    /// that the message does not stay in flight forever.
    pub(super) async fn send(
        self,
        connector: Arc<Connector>,
        clock: Arc<dyn Clock>,
    ) -> FinishedAttempt {
        let fields = SignedFields {
            id: self.message_id.clone(),
            timestamp: self.now.as_second().to_string(),
            signature: self.signature,
        };
        let started = clock.instant();
        let delivery = connector.deliver(&self.url, &fields, self.content.body);
        let result = match AssertUnwindSafe(delivery).catch_unwind().await {
            Ok(result) => result,
            Err(_panic) => Err(AttemptError::Response("the attempt panicked".into())),
        };
        let duration = clock.instant().saturating_duration_since(started);

        let failure = Failure::from_result(&result);
        let response = result.ok();
        let attempt = Attempt {
            message_id: self.message_id,
            at: clock.now(),
            status: response.map(|response| response.status),
            duration_ms: i64::try_from(duration.as_millis()).unwrap_or(i64::MAX),
            error: failure.as_ref().map(|failure| failure.class.to_owned()),
        };
        FinishedAttempt {
            webhook: self.webhook,
            change: self.change,
            outcome: AttemptOutcome {
                attempt,
                retry_after: response.and_then(|response| response.retry_after),
            },
            cause: failure.map(|failure| failure.cause),
            request_id: self.content.request_id,
        }
    }
}

impl Failure {
    /// Returns the failure of an attempt with this result. Returns `None` if the endpoint accepted
    /// the message, which only a 2xx status code does.
    fn from_result(result: &Result<EndpointResponse, AttemptError>) -> Option<Self> {
        let status = match result {
            Ok(response) => response.status,
            Err(error) => {
                return Some(Self {
                    class: error.class(),
                    cause: error_chain(error),
                });
            }
        };
        let class = match status {
            200..300 => return None,
            300..400 => "redirect",
            _ => "status",
        };
        Some(Self {
            class,
            cause: format!("it responded with {status}"),
        })
    }
}

impl FinishedAttempt {
    /// Records a span for the attempt, if its trace is sampled.
    pub(super) fn record_span(&self, spans: &Spans) {
        let trace_id = spans.new_trace_id();
        // No client decides about the sampling, because the trace begins with this attempt.
        let parent_decision = None;
        if !spans.samples(parent_decision, &trace_id) {
            return;
        }
        let attempt = self.outcome.attempt.clone();
        let ended = u64::try_from(attempt.at.as_nanosecond()).unwrap_or_default();
        let milliseconds = u64::try_from(attempt.duration_ms).unwrap_or_default();
        spans.record(Span {
            trace_id,
            span_id: spans.new_span_id(),
            parent_id: None,
            started: ended.saturating_sub(milliseconds * 1_000_000),
            ended,
            work: Work::Delivery {
                webhook: self.webhook,
                message_id: attempt.message_id,
                status: attempt.status,
                error: attempt.error,
            },
            request_id: self.request_id.as_deref().map(str::to_owned),
        });
    }
}
