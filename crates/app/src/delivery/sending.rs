//! One message on its way.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    Actor, Clock, StoredResponse, WriteContext,
    store_area::{Attempt, DisabledReason, StoredWebhook, TestMessage},
};
use petstore_observe::{
    log::chain,
    traces::{Span, Spans, Work},
};
use petstore_store::{Store, StoreError, WriteOutcome};
use tracing::error;

use super::{
    AttemptError, Connector, Secret, Vault, VaultError,
    endpoint::Outcome,
    message::{self, Content},
    registrar::open_secret,
    sign,
};

/// The secrets of a webhook, each with the end of its use.
pub(super) type Secrets = Vec<(Secret, Option<Timestamp>)>;

/// Reads the secrets of a webhook. One that was replaced because its key file was lost is left out.
pub(super) fn open_secrets(vault: &Vault, stored: &StoredWebhook) -> Result<Secrets, VaultError> {
    let id = stored.webhook.id;
    let mut secrets = vec![(open_secret(vault, id, &stored.secrets.current)?, None)];
    let previous = stored.secrets.previous.as_ref();
    secrets
        .extend(previous.and_then(|(sealed, until)| {
            Some((open_secret(vault, id, sealed).ok()?, Some(*until)))
        }));
    Ok(secrets)
}

/// Notes the attempt of a test message. A response with 410 disables the webhook, as that to any
/// other message.
pub(super) async fn note_test(
    store: &dyn Store,
    webhook: i64,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    store.add_attempt(webhook, attempt.clone()).await?;
    if attempt.status != Some(410) {
        return Ok(());
    }
    let webhooks = store.list_webhooks().await?;
    let reason = DisabledReason::Gone;
    let stored = webhooks
        .into_iter()
        .find(|stored| stored.webhook.id == webhook);
    if let Some(change) = stored.and_then(|stored| stored.disabled(reason, attempt.at)) {
        let act = reason.act(webhook);
        let by = WriteContext::new(Actor::Clock, attempt.at);
        let written = store
            .write_webhook(change, Some(act), StoredResponse::default(), by)
            .await?;
        // Otherwise somebody has just changed it, perhaps because of the 410.
        if written == WriteOutcome::Done {
            error!(webhook, reason = reason.as_str(), "a webhook is disabled");
        }
    }
    Ok(())
}

/// An attempt that has ended.
pub(super) struct Ended {
    pub(super) webhook: i64,
    /// That of [`Sending`].
    pub(super) generation: u64,
    /// `None` for a test.
    pub(super) seq: Option<i64>,
    pub(super) outcome: Outcome,
    pub(super) cause: Option<String>,
    /// That of [`message::Content`].
    request_id: Option<Box<str>>,
}

impl Ended {
    /// Records its span, unless its trace is not sampled.
    pub(super) fn trace(&self, spans: &Spans) {
        let trace_id = spans.new_trace_id();
        if !spans.samples(None, &trace_id) {
            return;
        }
        let Attempt {
            message_id,
            at,
            status,
            duration_ms,
            error,
        } = self.outcome.attempt.clone();
        let ended = u64::try_from(at.as_nanosecond()).unwrap_or_default();
        let took = u64::try_from(duration_ms).unwrap_or_default() * 1_000_000;
        spans.record(Span {
            trace_id,
            span_id: spans.new_span_id(),
            parent_id: None,
            started: ended.saturating_sub(took),
            ended,
            work: Work::Delivery {
                webhook: self.webhook,
                message_id,
                status,
                error,
            },
            request_id: self.request_id.as_deref().map(str::to_owned),
        });
    }
}

/// A message that is being sent.
pub(super) struct Sending {
    pub(super) webhook: i64,
    /// Which lease of the process it belongs to.
    pub(super) generation: u64,
    pub(super) seq: Option<i64>,
    pub(super) url: String,
    pub(super) message_id: String,
    pub(super) signature: String,
    pub(super) now: Timestamp,
    pub(super) content: Content,
}

impl Sending {
    /// A test message, signed.
    pub(super) fn test(
        stored: &StoredWebhook,
        vault: &Vault,
        now: Timestamp,
        TestMessage {
            webhook,
            message_id,
        }: TestMessage,
    ) -> Result<Self, VaultError> {
        let secrets = open_secrets(vault, stored)?;
        let url = stored.webhook.url.clone();
        let content = message::test_content(now);
        let signature = signature(&secrets, &message_id, now, &content.body);
        let generation = 0;
        let seq = None;
        Ok(Self {
            webhook,
            generation,
            seq,
            url,
            message_id,
            signature,
            now,
            content,
        })
    }

    pub(super) async fn send(self, connector: Arc<Connector>, clock: Arc<dyn Clock>) -> Ended {
        let fields = [
            ("webhook-id", self.message_id.clone()),
            ("webhook-timestamp", self.now.as_second().to_string()),
            ("webhook-signature", self.signature),
        ];
        let began = clock.instant();
        let delivering = connector.deliver(&self.url, fields, self.content.body);
        let delivered = AssertUnwindSafe(delivering)
            .catch_unwind()
            .await
            .unwrap_or_else(|_| Err(AttemptError::Response("the attempt panicked".into())));
        let took = clock.instant().saturating_duration_since(began);
        let (status, retry_after, error, cause) = match delivered {
            Ok(head) => {
                let class = match head.status {
                    200..300 => None,
                    300..400 => Some("redirect"),
                    _ => Some("status"),
                };
                let cause = class.map(|_| format!("it responded with {}", head.status));
                (Some(head.status), head.retry_after, class, cause)
            }
            Err(error) => (None, None, Some(error.class()), Some(chain(&error))),
        };
        let attempt = Attempt {
            message_id: self.message_id,
            at: clock.now(),
            status,
            duration_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
            error: error.map(str::to_owned),
        };
        let outcome = Outcome {
            attempt,
            retry_after,
        };
        let Self {
            webhook,
            generation,
            seq,
            ..
        } = self;
        Ended {
            webhook,
            generation,
            seq,
            outcome,
            cause,
            request_id: self.content.request_id,
        }
    }
}

/// Returns the value of `webhook-signature`, with the secrets that are valid now.
pub(super) fn signature(
    secrets: &Secrets,
    message_id: &str,
    now: Timestamp,
    body: &[u8],
) -> String {
    let valid = secrets
        .iter()
        .filter(|(_, until)| until.is_none_or(|until| now < until));
    sign(
        valid.map(|(secret, _)| secret),
        message_id,
        now.as_second(),
        body,
    )
}
