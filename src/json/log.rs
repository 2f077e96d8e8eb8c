//! The log of changes as JSON.

use jiff::Timestamp;

use super::Object;
use crate::domain::store_area::{LogSubject, LoggedChange};

/// A `Change`, on one line.
pub(crate) fn write_change(out: &mut Vec<u8>, change: &LoggedChange) {
    let mut object = Object::begin(out);
    object.integer("seq", change.seq);
    write_what(&mut object, change.at, change.kind.as_str(), change.subject);
    write_representations(&mut object, change);
    object.text_or_null("requestId", change.request_id.as_deref());
    object.end();
}

fn write_what(object: &mut Object<'_>, at: Timestamp, kind: &str, subject: LogSubject) {
    object.time("at", at);
    object.text("type", kind);
    let mut of_subject = Object::begin(object.name("subject"));
    of_subject.text("kind", subject.kind.as_str());
    of_subject.or_null("id", subject.id, |object, id| object.integer("id", id));
    of_subject.end();
}

fn write_representations(object: &mut Object<'_>, change: &LoggedChange) {
    object.or_null("version", change.version, |object, version| object.integer("version", version));
    object.raw_or_null("before", change.before.as_deref());
    object.raw_or_null("after", change.after.as_deref());
}
