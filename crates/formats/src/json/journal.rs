//! The log of changes (the journal) and the audit trail as JSON.
//!
//! The log has the changes of animals, orders, categories and notes. The audit trail has these
//! changes, and also the acts of administration, such as the creation of an API key.

use petstore_domain::store_area::{AuditEntry, Change, JournalEntry, JournalSubject, Resource};

use super::{Object, actor::write_actor, read_logged_resource};

/// Reads the change in an entry of the log. Returns `None` if a later release wrote the entry, and
/// this release does not know its kind or its members.
pub fn read_change(entry: &JournalEntry) -> Option<Change> {
    let kind = entry.kind.value()?;
    let before = match &entry.before {
        Some(representation) => Some(read_representation(entry, representation)?),
        None => None,
    };
    let after = match &entry.after {
        Some(representation) => Some(read_representation(entry, representation)?),
        None => None,
    };
    Some(Change {
        kind,
        before,
        after,
    })
}

/// Reads the representation of a resource before or after the change of an entry.
fn read_representation(entry: &JournalEntry, representation: &str) -> Option<Resource> {
    let subject = entry.subject.kind.value()?;
    read_logged_resource(subject, representation)
}

/// Writes an entry of the log as the object `Change` of the OpenAPI document, on one line.
pub fn write_change(out: &mut Vec<u8>, entry: &JournalEntry) {
    let mut object = Object::begin(out);
    object.integer("seq", entry.seq);
    object.time("at", entry.at);
    object.text("type", entry.kind.as_str());
    write_subject(&mut object, &entry.subject);
    object.put("version", &entry.version);
    object.raw_or_null("before", entry.before.as_deref());
    object.raw_or_null("after", entry.after.as_deref());
    object.text_or_null("requestId", entry.request_id.as_deref());
    object.end();
}

/// Writes an entry of the audit trail as the object `AuditEntry` of the OpenAPI document, on one
/// line.
pub fn write_audit_entry(out: &mut Vec<u8>, audit_entry: &AuditEntry) {
    match audit_entry {
        AuditEntry::Change(entry) => write_audited_change(out, entry),
        AuditEntry::Act {
            at,
            act,
            actor,
            request_id,
            ..
        } => {
            let mut object = Object::begin(out);
            object.time("at", *at);
            object.text("type", act.kind.as_str());
            write_subject(&mut object, &act.subject);
            // Only changes have these members.
            for name in ["seq", "version", "before", "after"] {
                object.null(name);
            }
            let mut details = Object::begin(object.begin_member("details"));
            for (name, text) in &act.details {
                details.text(name, text);
            }
            details.end();
            write_actor(object.begin_member("actor"), actor);
            object.text_or_null("requestId", request_id.as_deref());
            object.end();
        }
    }
}

/// Writes a change as an entry of the audit trail, which also has its actor.
fn write_audited_change(out: &mut Vec<u8>, entry: &JournalEntry) {
    let mut object = Object::begin(out);
    object.time("at", entry.at);
    object.text("type", entry.kind.as_str());
    write_subject(&mut object, &entry.subject);
    object.integer("seq", entry.seq);
    object.put("version", &entry.version);
    object.raw_or_null("before", entry.before.as_deref());
    object.raw_or_null("after", entry.after.as_deref());
    // Only acts have details.
    object.null("details");
    write_actor(object.begin_member("actor"), &entry.actor);
    object.text_or_null("requestId", entry.request_id.as_deref());
    object.end();
}

/// Writes the member `subject`, such as `{"kind":"order","id":7}`: what a change or an act is
/// about.
fn write_subject(object: &mut Object<'_>, subject: &JournalSubject) {
    let mut subject_object = Object::begin(object.begin_member("subject"));
    subject_object.text("kind", subject.kind.as_str());
    subject_object.put("id", &subject.id);
    subject_object.end();
}
