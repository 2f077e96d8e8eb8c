//! The texts of the pages for managers.

use super::{change, in_words};
use crate::domain::store_area::{
    AuditType, ChangeType, DisabledReason, JournalSubject, SubjectKind,
};

// Activity
pub(crate) const EXPORT: &str = "Export as CSV";
pub(crate) const NO_ACTIVITY: &str = "Nothing happened in this period";
pub(crate) const NO_ACTIVITY_HINT: &str = "Choose other days, or remove a filter.";
pub(crate) const NO_ACTIVITY_YET: &str = "Nothing found yet";
pub(crate) const NO_ACTIVITY_YET_HINT: &str =
    "The newest entries do not match. The next page continues with older ones.";
pub(crate) const SINCE: &str = "From (day)";
pub(crate) const UP_TO: &str = "To (end of day)";
pub(crate) const ANIMAL_NUMBER: &str = "Animal number";
pub(crate) const ANY_TYPE: &str = "Everything";
pub(crate) const WHEN: &str = "When";
pub(crate) const WHO: &str = "Who";
pub(crate) const WHAT: &str = "What";
pub(crate) const ABOUT: &str = "About";
pub(crate) const DIFFERENCE: &str = "Details";
pub(crate) const EXPORT_COLUMNS: [&str; 6] = ["time", "who", "what", "about", "before", "after"];
pub(crate) const EXPORT_CUT: &str = "More entries follow. Export fewer days at a time.";

/// The words for a change, understandable without its context.
pub(crate) fn audited_change(kind: ChangeType) -> &'static str {
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
pub(crate) fn audited(kind: &str) -> String {
    match AuditType::parse(kind) {
        Some(AuditType::Change(kind)) => audited_change(kind).to_owned(),
        _ => in_words(kind),
    }
}

/// The subject of an entry.
pub(crate) fn subject(JournalSubject { kind, id }: &JournalSubject) -> String {
    let what = match kind.known() {
        Some(SubjectKind::Pet) => "Animal",
        Some(SubjectKind::Pets) => "Animals",
        Some(SubjectKind::Key) => "API key",
        _ => &in_words(kind.as_str()),
    };
    id.map_or_else(|| what.to_owned(), |id| format!("{what} {id}"))
}

// Webhooks
pub(crate) const WEBHOOKS_HINT: &str =
    "A webhook tells another program about each change, such as your web site or your accounts.";
pub(crate) const NO_WEBHOOKS: &str = "No webhooks yet";
pub(crate) const NO_WEBHOOKS_HINT: &str =
    "Add one with the address that the other program gives you.";
pub(crate) const NO_WEBHOOK: &str = "No webhook has this number.";
pub(crate) const ADD_WEBHOOK: &str = "Add a webhook";
pub(crate) const ADDRESS: &str = "Address";
pub(crate) const ADDRESS_HINT: &str = "It begins with https://.";
pub(crate) const DESCRIPTION: &str = "Description";
pub(crate) const SENDS: &str = "Sends";
pub(crate) const SENDS_HINT: &str = "If you choose none, every change is sent.";
pub(crate) const EVERY_CHANGE: &str = "Every change";
pub(crate) const WORKS: &str = "Works";
pub(crate) const NOT_USED: &str = "Not used yet";
pub(crate) const URL_MISSING: &str = "Enter the address.";
pub(crate) const FAILS: &str = "Fails";
pub(crate) const OFF: &str = "Off";
pub(crate) const FAILS_SINCE: &str = "Fails since";
pub(crate) const ATTEMPTS: &str = "Newest attempts";
pub(crate) const NO_ATTEMPTS: &str = "Nothing was sent yet.";
pub(crate) const RESULT: &str = "Result";
pub(crate) const DURATION: &str = "Duration";
pub(crate) const DELIVERED: &str = "Delivered";
pub(crate) const FAILED: &str = "Failed";
pub(crate) const TEST: &str = "Send a test message";
pub(crate) const TEST_HINT: &str = "The result is in the list of attempts a moment later.";
pub(crate) const ENABLE: &str = "Continue where it stopped";
pub(crate) const ENABLE_HINT: &str = "Everything since then is sent.";
pub(crate) const ENABLE_NOW: &str = "Continue from now on";
pub(crate) const ENABLE_NOW_HINT: &str = "What happened in the meantime is never sent.";
pub(crate) const DISABLE: &str = "Disable";
pub(crate) const DISABLE_HINT: &str = "Nothing more is sent until you enable it.";
pub(crate) const ROTATE: &str = "Create a new secret";
pub(crate) const ROTATE_HINT: &str = "The old one is valid for 24 more hours.";
pub(crate) const DELETE: &str = "Delete";
pub(crate) const DELETE_WEBHOOK: &str = "Delete this webhook";
pub(crate) const DELETE_HINT: &str =
    "This also deletes its list of attempts, and cannot be undone.";
pub(crate) const SECRET: &str = "The secret of the webhook";
pub(crate) const SECRET_HINT: &str =
    "Copy it into the settings of the program now. It is not shown again.";
pub(crate) const TOO_MANY_WEBHOOKS: &str = "There are 100 webhooks already. Delete one first.";
/// The problem with an address, which the message for programs calls `url`.
pub(crate) fn url_invalid(why: &str) -> String {
    why.strip_prefix("url ").map_or_else(|| why.to_owned(), |rest| format!("The address {rest}"))
}

pub(crate) fn failing_webhooks(count: usize) -> String {
    match count {
        1 => "1 webhook does not get its messages.".to_owned(),
        count => format!("{count} webhooks do not get their messages."),
    }
}

pub(crate) const SHOW_WEBHOOKS: &str = "Show the webhooks";

pub(crate) fn disabled(reason: DisabledReason) -> &'static str {
    match reason {
        DisabledReason::Failures => "Disabled, because every message failed for five days",
        DisabledReason::Gone => "Disabled, because the receiver wants no more messages",
        DisabledReason::Request => "Disabled by hand",
    }
}
