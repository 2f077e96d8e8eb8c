//! Messages by Standard Webhooks: their identifiers and their bodies.

use bytes::Bytes;
use jiff::Timestamp;
use petstore_domain::store_area::{Epoch, JournalEntry, SubjectKind};
use petstore_formats::json;
use sha2::{Digest, Sha256};

use super::registrar::message_id;

/// Returns the `webhook-id` of the message about a change. Every attempt has the same one, of any
/// process, and a restored or copied database has others.
pub(super) fn id_of(epoch: Epoch, webhook: i64, seq: i64) -> String {
    let mut hash = Sha256::new();
    hash.update(epoch.0);
    hash.update(webhook.to_be_bytes());
    hash.update(seq.to_be_bytes());
    let hash = hash.finalize();
    message_id(&std::array::from_fn(|at| hash[at]))
}

/// Returns the lane of the messages about a change: those of one lane are delivered in order.
pub(super) fn lane_of(change: &JournalEntry) -> Option<String> {
    match (change.pet, change.subject.kind.known(), change.subject.id) {
        (Some(pet), ..) => Some(format!("pet:{pet}")),
        (None, Some(SubjectKind::Category), Some(id)) => Some(format!("category:{id}")),
        _ => None,
    }
}

#[derive(Clone)]
pub(super) struct Content {
    pub(super) body: Bytes,
    /// The identifier of the request that made the change.
    pub(super) request_id: Option<Box<str>>,
}

/// Returns the content of the message about a change. `previous` is the `webhook-id` of the message
/// before it to the same endpoint.
pub(super) fn content_of(change: &JournalEntry, previous: Option<&str>) -> Content {
    let before = change.before.as_deref();
    let after = change.after.as_deref();
    let length = before.map_or(0, str::len) + after.map_or(0, str::len) + 256;
    let mut body = Vec::with_capacity(length);
    let mut message = json::Object::begin(&mut body);
    message.text("type", change.kind.as_str());
    message.time("timestamp", change.at);
    let mut data = json::Object::begin(message.name("data"));
    data.integer("seq", change.seq);
    data.or_null("version", change.version, |data, version| {
        data.integer("version", version)
    });
    for (name, representation) in [("before", before), ("after", after)] {
        data.name(name)
            .extend_from_slice(representation.unwrap_or("null").as_bytes());
    }
    data.text_or_null("previous", previous);
    data.end();
    message.end();
    Content {
        body: body.into(),
        request_id: change.request_id.clone(),
    }
}

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
