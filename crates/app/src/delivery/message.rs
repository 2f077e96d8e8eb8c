//! Renders messages to webhooks, in the format of Standard Webhooks.
//!
//! A message tells a webhook about one change of the journal. A lane is a queue of messages that
//! are delivered in order: for example, `pet:7` has the messages about the animal 7, its orders and
//! its notes.

use bytes::Bytes;
use jiff::Timestamp;
use petstore_domain::store_area::{Epoch, JournalEntry, SubjectKind, WebhookId};
use petstore_formats::json;
use sha2::{Digest, Sha256};

use super::registrar::format_message_id;

/// The approximate length of a body without the states before and after the change.
const ENVELOPE_LENGTH: usize = 256;

/// The content of a message.
#[derive(Clone)]
pub(super) struct Content {
    /// The JSON of the body.
    pub(super) body: Bytes,
    /// The id of the request that made the change, for the traces.
    pub(super) request_id: Option<Box<str>>,
}

/// Returns the `webhook-id` of the message about the change `seq`.
///
/// The id is a hash, so every attempt by any process has the same id, and receivers can deduplicate
/// by it. A restored or copied database has another epoch, so its messages have other ids.
pub(super) fn compute_id(epoch: Epoch, webhook: WebhookId, seq: i64) -> String {
    let mut hash = Sha256::new();
    hash.update(epoch.0);
    hash.update(webhook.0.to_be_bytes());
    hash.update(seq.to_be_bytes());
    let hash = hash.finalize();
    // An id has 16 bytes, half of the hash.
    format_message_id(&std::array::from_fn(|index| hash[index]))
}

/// Returns the lane of the message about a change, such as `pet:7`. The changes of an order or a
/// note are in the lane of its animal.
///
/// Returns `None` if the message is in no lane. Such a message waits for no other one.
pub(super) fn find_lane(change: &JournalEntry) -> Option<String> {
    if let Some(pet) = change.pet {
        return Some(format!("pet:{pet}"));
    }
    match (change.subject.kind.value(), change.subject.id) {
        (Some(SubjectKind::Category), Some(id)) => Some(format!("category:{id}")),
        _ => None,
    }
}

/// Renders the content of the message about a change.
///
/// `previous_id` is the `webhook-id` of the preceding message to the same endpoint. A receiver can
/// detect by it that a message is missing.
pub(super) fn render_change(change: &JournalEntry, previous_id: Option<&str>) -> Content {
    let before = change.before.as_deref();
    let after = change.after.as_deref();
    let states_length = before.map_or(0, str::len) + after.map_or(0, str::len);

    let mut body = Vec::with_capacity(states_length + ENVELOPE_LENGTH);
    let mut message = json::Object::begin(&mut body);
    message.text("type", change.kind.as_str());
    message.time("timestamp", change.at);
    let mut data = json::Object::begin(message.begin_member("data"));
    data.integer("seq", change.seq);
    data.or_null("version", change.version, |data, name, version| {
        data.integer(name, version);
    });
    data.begin_member("before")
        .extend_from_slice(before.unwrap_or("null").as_bytes());
    data.begin_member("after")
        .extend_from_slice(after.unwrap_or("null").as_bytes());
    data.text_or_null("previous", previous_id);
    data.end();
    message.end();
    Content {
        body: body.into(),
        request_id: change.request_id.clone(),
    }
}

/// Renders the content of a test message.
pub(super) fn render_test(now: Timestamp) -> Content {
    let mut body = Vec::new();
    let mut message = json::Object::begin(&mut body);
    message.text("type", "webhook.test");
    message.time("timestamp", now);
    message.begin_member("data").extend_from_slice(b"{}");
    message.end();
    Content {
        body: body.into(),
        request_id: None,
    }
}
