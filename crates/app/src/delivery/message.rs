//! The ids, lanes and bodies of messages, in the format of Standard Webhooks.

use bytes::Bytes;
use jiff::Timestamp;
use petstore_domain::store_area::{Epoch, JournalEntry, SubjectKind, WebhookId};
use petstore_formats::json;
use sha2::{Digest, Sha256};

use super::registrar::message_id;

/// Returns the `webhook-id` of the message about a change. The id is a hash, so every attempt by any
/// process has the same id, and receivers can deduplicate by it. A restored or copied database has another
/// epoch, hence other ids.
pub(super) fn change_message_id(epoch: Epoch, webhook: WebhookId, seq: i64) -> String {
    let mut hash = Sha256::new();
    hash.update(epoch.0);
    hash.update(webhook.0.to_be_bytes());
    hash.update(seq.to_be_bytes());
    let hash = hash.finalize();
    message_id(&std::array::from_fn(|index| hash[index]))
}

/// Returns the lane of the message about a change, such as `pet:7`. Messages of one lane are delivered in
/// order. The changes of an order or a note are in the lane of its animal.
pub(super) fn lane(change: &JournalEntry) -> Option<String> {
    match (change.pet, change.subject.kind.value(), change.subject.id) {
        (Some(pet), ..) => Some(format!("pet:{pet}")),
        (None, Some(SubjectKind::Category), Some(id)) => Some(format!("category:{id}")),
        _ => None,
    }
}

/// The content of a message.
#[derive(Clone)]
pub(super) struct Content {
    /// The JSON of the body.
    pub(super) body: Bytes,
    /// The id of the request that made the change, for the traces.
    pub(super) request_id: Option<Box<str>>,
}

/// Renders the content of the message about a change. `previous_id` is the `webhook-id` of the preceding
/// message to the same endpoint, by which a receiver can detect a missing message.
pub(super) fn change_content(change: &JournalEntry, previous_id: Option<&str>) -> Content {
    let before = change.before.as_deref();
    let after = change.after.as_deref();
    let estimated_length = before.map_or(0, str::len) + after.map_or(0, str::len) + 256;

    let mut body = Vec::with_capacity(estimated_length);
    let mut message = json::Object::begin(&mut body);
    message.text("type", change.kind.as_str());
    message.time("timestamp", change.at);
    let mut data = json::Object::begin(message.name("data"));
    data.integer("seq", change.seq);
    data.or_null("version", change.version, |data, version| {
        data.integer("version", version);
    });
    data.name("before")
        .extend_from_slice(before.unwrap_or("null").as_bytes());
    data.name("after")
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
pub(super) fn test_content(now: Timestamp) -> Content {
    let mut body = Vec::new();
    let mut message = json::Object::begin(&mut body);
    message.text("type", "webhook.test");
    message.time("timestamp", now);
    message.name("data").extend_from_slice(b"{}");
    message.end();
    Content {
        body: body.into(),
        request_id: None,
    }
}
