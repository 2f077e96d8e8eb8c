//! The log of changes and the audit trail as JSON.

use jiff::Timestamp;
use petstore_domain::store_area::{AuditEntry, Change, JournalEntry, JournalSubject, Resource};

use super::{Object, actor::write_actor, read_resource};

/// Reads the change in an entry of the log. Returns `None` if a later release wrote the entry, and
/// this release does not know its kind or its members.
pub fn read_change(entry: &JournalEntry) -> Option<Change> {
    let mut change = Change {
        kind: entry.kind.value()?,
        before: None,
        after: None,
    };
    if let Some(before) = &entry.before {
        change.before = Some(read_representation(entry, before)?);
    }
    if let Some(after) = &entry.after {
        change.after = Some(read_representation(entry, after)?);
    }
    Some(change)
}

/// Reads the representation of a resource before or after the change of an entry.
fn read_representation(entry: &JournalEntry, text: &str) -> Option<Resource> {
    let subject = entry.subject.kind.value()?;
    read_resource(subject, text)
}

/// Writes a change as the object `Change` of the OpenAPI document, on one line.
pub fn write_change(out: &mut Vec<u8>, change: &JournalEntry) {
    let mut object = Object::begin(out);
    object.integer("seq", change.seq);
    write_event(
        &mut object,
        change.at,
        change.kind.as_str(),
        &change.subject,
    );
    write_representations(&mut object, change);
    object.text_or_null("requestId", change.request_id.as_deref());
    object.end();
}

/// Writes an entry as the object `AuditEntry` of the OpenAPI document, on one line.
pub fn write_audit_entry(out: &mut Vec<u8>, entry: &AuditEntry) {
    let mut object = Object::begin(out);
    let (actor, request_id) = match entry {
        AuditEntry::Change(change) => {
            write_event(
                &mut object,
                change.at,
                change.kind.as_str(),
                &change.subject,
            );
            object.integer("seq", change.seq);
            write_representations(&mut object, change);
            object.raw_or_null("details", None);
            (&change.actor, &change.request_id)
        }
        AuditEntry::Act {
            at: time,
            act,
            actor,
            request_id,
            ..
        } => {
            write_event(&mut object, *time, act.kind.as_str(), &act.subject);
            for name in ["seq", "version", "before", "after"] {
                object.raw_or_null(name, None);
            }
            let mut details = Object::begin(object.name("details"));
            for (name, text) in &act.details {
                details.text(name, text);
            }
            details.end();
            (actor, request_id)
        }
    };
    write_actor(object.name("actor"), actor);
    object.text_or_null("requestId", request_id.as_deref());
    object.end();
}

/// Writes the members that changes and acts of administration have in common.
fn write_event(object: &mut Object<'_>, time: Timestamp, kind: &str, subject: &JournalSubject) {
    object.time("at", time);
    object.text("type", kind);
    let mut subject_object = Object::begin(object.name("subject"));
    subject_object.text("kind", subject.kind.as_str());
    subject_object.or_null("id", subject.id, |object, id| object.integer("id", id));
    subject_object.end();
}

/// Writes the version of the resource, and its representations before and after the change.
fn write_representations(object: &mut Object<'_>, change: &JournalEntry) {
    object.or_null("version", change.version, |object, version| {
        object.integer("version", version);
    });
    object.raw_or_null("before", change.before.as_deref());
    object.raw_or_null("after", change.after.as_deref());
}
