//! The texts of the pages for managers.

use super::{change, in_words};
use crate::domain::store_area::{
    AuditType, ChangeType, DisabledReason, JournalSubject, SubjectKind,
};

// Activity
pub(in crate::console) const EXPORT: &str = "Export as CSV";
pub(in crate::console) const NO_ACTIVITY: &str = "Nothing happened in this period";
pub(in crate::console) const NO_ACTIVITY_HINT: &str = "Choose other days, or remove a filter.";
pub(in crate::console) const NO_ACTIVITY_YET: &str = "Nothing found yet";
pub(in crate::console) const NO_ACTIVITY_YET_HINT: &str =
    "The newest entries do not match. The next page continues with older ones.";
pub(in crate::console) const SINCE: &str = "From (day)";
pub(in crate::console) const UP_TO: &str = "To (end of day)";
pub(in crate::console) const ANIMAL_NUMBER: &str = "Animal number";
pub(in crate::console) const ANY_TYPE: &str = "Everything";
pub(in crate::console) const WHEN: &str = "When";
pub(in crate::console) const WHO: &str = "Who";
pub(in crate::console) const WHAT: &str = "What";
pub(in crate::console) const ABOUT: &str = "About";
pub(in crate::console) const DIFFERENCE: &str = "Details";
pub(in crate::console) const EXPORT_COLUMNS: [&str; 6] =
    ["time", "who", "what", "about", "before", "after"];
pub(in crate::console) const EXPORT_CUT: &str = "More entries follow. Export fewer days at a time.";

/// The words for a change, understandable without its context.
pub(in crate::console) fn audited_change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::PetAdded => "Animal added",
        ChangeType::PetChanged => "Animal changed",
        ChangeType::PetWithdrawn => "Animal withdrawn",
        ChangeType::PetRestored => "Animal restored",
        ChangeType::PetsImported => "Animals imported",
        ChangeType::OrderPlaced => "Animal reserved",
        ChangeType::OrderCompleted => "Animal sold",
        ChangeType::OrderReturned => "Animal taken back",
        ChangeType::OrderReopened => "Animal reserved again",
        other => change(other),
    }
}

/// The words for an entry of the audit trail with this type.
pub(in crate::console) fn audited(kind: &str) -> String {
    match AuditType::parse(kind) {
        Some(AuditType::Change(kind)) => audited_change(kind).to_owned(),
        _ => in_words(kind),
    }
}

/// The subject of an entry.
pub(in crate::console) fn subject(JournalSubject { kind, id }: &JournalSubject) -> String {
    let what = match kind.known() {
        Some(SubjectKind::Pet) => "Animal",
        Some(SubjectKind::Pets) => "Animals",
        Some(SubjectKind::Key) => "API key",
        _ => &in_words(kind.as_str()),
    };
    id.map_or_else(|| what.to_owned(), |id| format!("{what} {id}"))
}

// Webhooks
pub(in crate::console) const WEBHOOKS_HINT: &str =
    "A webhook tells another program about each change, such as your web site or your accounts.";
pub(in crate::console) const NO_WEBHOOKS: &str = "No webhooks yet";
pub(in crate::console) const NO_WEBHOOKS_HINT: &str =
    "Add one with the address that the other program gives you.";
pub(in crate::console) const NO_WEBHOOK: &str = "No webhook has this number.";
pub(in crate::console) const ADD_WEBHOOK: &str = "Add a webhook";
pub(in crate::console) const ADDRESS: &str = "Address";
pub(in crate::console) const ADDRESS_HINT: &str = "It begins with https://.";
pub(in crate::console) const DESCRIPTION: &str = "Description";
pub(in crate::console) const SENDS: &str = "Sends";
pub(in crate::console) const SENDS_HINT: &str = "If you choose none, every change is sent.";
pub(in crate::console) const EVERY_CHANGE: &str = "Every change";
pub(in crate::console) const WORKS: &str = "Works";
pub(in crate::console) const NOT_USED: &str = "Not used yet";
pub(in crate::console) const URL_MISSING: &str = "Enter the address.";
pub(in crate::console) const FAILS: &str = "Fails";
pub(in crate::console) const OFF: &str = "Off";
pub(in crate::console) const FAILS_SINCE: &str = "Fails since";
pub(in crate::console) const ATTEMPTS: &str = "Newest attempts";
pub(in crate::console) const NO_ATTEMPTS: &str = "Nothing was sent yet.";
pub(in crate::console) const RESULT: &str = "Result";
pub(in crate::console) const DURATION: &str = "Duration";
pub(in crate::console) const DELIVERED: &str = "Delivered";
pub(in crate::console) const FAILED: &str = "Failed";
pub(in crate::console) const TEST: &str = "Send a test message";
pub(in crate::console) const TEST_HINT: &str =
    "The result is in the list of attempts a moment later.";
pub(in crate::console) const ENABLE: &str = "Continue where it stopped";
pub(in crate::console) const ENABLE_HINT: &str = "Everything since then is sent.";
pub(in crate::console) const ENABLE_NOW: &str = "Continue from now on";
pub(in crate::console) const ENABLE_NOW_HINT: &str = "What happened in the meantime is never sent.";
pub(in crate::console) const DISABLE: &str = "Disable";
pub(in crate::console) const DISABLE_HINT: &str = "Nothing more is sent until you enable it.";
pub(in crate::console) const ROTATE: &str = "Make a new secret";
pub(in crate::console) const ROTATE_HINT: &str = "The old one is valid for 24 more hours.";
pub(in crate::console) const DELETE: &str = "Delete";
pub(in crate::console) const DELETE_WEBHOOK: &str = "Delete this webhook";
pub(in crate::console) const DELETE_HINT: &str =
    "This also deletes its list of attempts, and cannot be undone.";
pub(in crate::console) const SECRET: &str = "The secret of the webhook";
pub(in crate::console) const SECRET_HINT: &str =
    "Copy it into the settings of the program now. It is not shown again.";
pub(in crate::console) const TOO_MANY_WEBHOOKS: &str =
    "There are 100 webhooks already. Delete one first.";
/// The problem with an address, which the message for programs calls `url`.
pub(in crate::console) fn url_invalid(why: &str) -> String {
    why.strip_prefix("url ").map_or_else(|| why.to_owned(), |rest| format!("The address {rest}"))
}

pub(in crate::console) fn failing_webhooks(count: usize) -> String {
    match count {
        1 => "1 webhook does not get its messages.".to_owned(),
        count => format!("{count} webhooks do not get their messages."),
    }
}

pub(in crate::console) const SHOW_WEBHOOKS: &str = "Show the webhooks";

pub(in crate::console) fn disabled(reason: DisabledReason) -> &'static str {
    match reason {
        DisabledReason::Failures => "Disabled, because every message failed for five days",
        DisabledReason::Gone => "Disabled, because the receiver wants no more messages",
        DisabledReason::Request => "Disabled by hand",
    }
}
