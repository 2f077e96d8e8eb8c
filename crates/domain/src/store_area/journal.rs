//! The journal, which is the log of all changes in a store, and the audit trail.
//!
//! Clients and webhooks read the journal. The audit trail, for managers, shows the same changes and
//! also the acts of administration.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use std::{borrow::Cow, fmt};

use jiff::Timestamp;

use super::{ChangeType, WebhookId};
use crate::{
    Actor, NamedActor,
    named_enum::{MaybeKnown, named_enum},
};

/// The random identity of a database, which is part of each cursor of the journal.
///
/// A restored or copied database gets a new one, so that cursors from before are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch(pub [u8; 16]);

/// The extent of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalState {
    /// The identity of the database.
    pub epoch: Epoch,
    /// The number of the oldest change that is still kept; `last + 1` if there is none.
    pub first: i64,
    /// The number of the newest change; 0 if there has never been one. Numbers up to this one are
    /// never assigned again.
    pub last: i64,
}

/// A change in the journal. `before` and `after` are JSON, as the interface shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// The number of the change: from 1, without gaps.
    pub seq: i64,
    /// When the change was made, to the millisecond.
    pub at: Timestamp,
    pub kind: MaybeKnown<ChangeType>,
    pub subject: JournalSubject,
    /// The version of the subject after the change, or its last version if it was deleted. `None`
    /// for an import.
    pub version: Option<i64>,
    /// The animal whose changes must be delivered in order: the subject itself, or the animal of
    /// the order or note.
    pub pet: Option<i64>,
    /// `None` if the change created the subject.
    pub before: Option<Box<str>>,
    /// `None` if the change deleted the subject.
    pub after: Option<Box<str>>,
    pub actor: NamedActor,
    /// The `X-Request-Id` of the request, if there was one.
    pub request_id: Option<Box<str>>,
}

impl JournalEntry {
    /// Returns the total length of `before` and `after`, in bytes.
    pub fn length(&self) -> usize {
        let before_length = self.before.as_ref().map_or(0, |text| text.len());
        let after_length = self.after.as_ref().map_or(0, |text| text.len());
        before_length + after_length
    }
}

/// A page of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangePage {
    /// The changes, in ascending order of their numbers.
    pub changes: Vec<JournalEntry>,
    /// The number up to which the journal was read. It is higher than the number of the last
    /// returned change if the filter skipped later changes.
    pub read_to: i64,
}

/// The subject of a change or of an act of administration, such as `pet:7`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSubject {
    pub kind: MaybeKnown<SubjectKind>,
    /// The identifier. `None` for an import, and for a subject without a number, such as a field.
    pub id: Option<i64>,
}

named_enum! {
    /// The kind of the subject of a change or of an act of administration.
    pub enum SubjectKind {
        Pet = "pet",
        /// Several animals at once: an import.
        Pets = "pets",
        Order = "order",
        Category = "category",
        /// A note on an animal.
        Note = "note",
        Key = "key",
        Staff = "staff",
        Webhook = "webhook",
        /// A field, whose name is in the details of the act.
        Field = "field",
        /// The profile of the store.
        Profile = "profile",
        /// The database as a whole, for example when a backup is restored.
        Database = "database",
    }
}

impl JournalSubject {
    /// Derives the subject from the type of a change or act: `pet.added` and 7 become `pet:7`.
    ///
    /// `None` if the text does not have the form of a type: two lower-case words, separated by a
    /// dot. The second word may contain `_`.
    pub fn from_type(type_name: &str, id: Option<i64>) -> Option<Self> {
        let (kind, action) = type_name.split_once('.')?;
        let has_valid_kind = kind.bytes().all(|byte| byte.is_ascii_lowercase());
        let has_valid_action = action
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if kind.is_empty() || action.is_empty() || !has_valid_kind || !has_valid_action {
            return None;
        }
        Some(Self {
            kind: MaybeKnown::from_name(kind),
            id,
        })
    }

    /// Parses the displayed form of a subject, such as `pet:7` or `database`; `None` for any other
    /// text. A number must be in its canonical spelling, so `pet:07` is rejected.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, id) = match text.split_once(':') {
            Some((kind, id)) => (kind, Some(id.parse().ok()?)),
            None => (text, None),
        };
        let kind: SubjectKind = kind.parse().ok()?;
        let needs_id = !matches!(
            kind,
            SubjectKind::Pets | SubjectKind::Field | SubjectKind::Profile | SubjectKind::Database
        );
        let subject = Self {
            kind: kind.into(),
            id,
        };
        // The second comparison rejects other spellings of the number.
        let is_valid = id.is_some() == needs_id && subject.to_string() == text;
        is_valid.then_some(subject)
    }
}

impl fmt::Display for JournalSubject {
    /// Writes a text such as `pet:7` or `database`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id {
            Some(id) => write!(f, "{}:{id}", self.kind.as_str()),
            None => f.write_str(self.kind.as_str()),
        }
    }
}

/// An act of administration, such as the creation of an API key. It is recorded only in the audit
/// trail, not in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// The type of the act, such as `key.created`.
    pub kind: MaybeKnown<ActType>,
    /// The subject of the act.
    pub subject: JournalSubject,
    /// Names and values of further details. They never contain secrets.
    pub details: Vec<(Cow<'static, str>, String)>,
}

impl Act {
    /// Creates an act of this type on a webhook, without details.
    pub fn for_webhook(act_type: ActType, webhook: WebhookId) -> Self {
        Self {
            kind: act_type.into(),
            subject: JournalSubject {
                kind: SubjectKind::Webhook.into(),
                id: Some(webhook.0),
            },
            details: Vec::new(),
        }
    }
}

named_enum! {
    /// The type of an act of administration, as the audit trail names it.
    pub enum ActType {
        KeyCreated = "key.created",
        KeyRotated = "key.rotated",
        KeyRevoked = "key.revoked",
        WebhookAdded = "webhook.added",
        WebhookChanged = "webhook.changed",
        WebhookDeleted = "webhook.deleted",
        WebhookSecretRotated = "webhook.secret_rotated",
        WebhookEnabled = "webhook.enabled",
        WebhookDisabled = "webhook.disabled",
        FieldAdded = "field.added",
        FieldChanged = "field.changed",
        FieldDeleted = "field.deleted",
        ProfileChanged = "profile.changed",
        StaffAdded = "staff.added",
        StaffRoleChanged = "staff.role_changed",
        StaffReset = "staff.reset",
        StaffDisabled = "staff.disabled",
        StaffPasswordSet = "staff.password_set",
        StaffLinked = "staff.linked",
        StaffSecondFactorSet = "staff.second_factor_set",
        StaffSecondFactorRemoved = "staff.second_factor_removed",
        StaffPasskeyAdded = "staff.passkey_added",
        StaffPasskeyRemoved = "staff.passkey_removed",
        StaffSignedIn = "staff.signed_in",
        StaffSignInFailed = "staff.sign_in_failed",
        StaffSessionsEnded = "staff.sessions_ended",
        DatabaseCopied = "database.copied",
        DatabaseRestored = "database.restored",
        DatabaseTimeConfirmed = "database.time_confirmed",
    }
}

/// A query for a page of the audit trail. An entry must match all filters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditQuery {
    pub subject: Option<JournalSubject>,
    pub actor: Option<Actor>,
    /// Only changes or acts of this type.
    pub kind: Option<AuditType>,
    /// Only entries at or after this time.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Only entries after this position, in the requested order.
    pub after: Option<AuditPosition>,
    /// Whether the newest entries come first.
    pub newest_first: bool,
    pub limit: u32,
}

/// The type of an entry in the audit trail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditType {
    Change(ChangeType),
    Act(ActType),
}

impl AuditType {
    /// Returns all types: first the types of changes, then the types of acts.
    pub fn all() -> impl Iterator<Item = Self> {
        ChangeType::ALL
            .map(Self::Change)
            .into_iter()
            .chain(ActType::ALL.map(Self::Act))
    }

    /// Parses a type such as `pet.added` or `key.created`; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::all().find(|kind| kind.as_str() == text)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Change(kind) => kind.as_str(),
            Self::Act(kind) => kind.as_str(),
        }
    }
}

/// The position of an entry in the audit trail, by which the trail is sorted.
///
/// Changes are sorted by number, and each act follows the change that was the newest one when the
/// act was recorded. The entries are therefore in chronological order, unless the clock of a
/// machine was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditPosition {
    /// The number of the change; for an act, the number of the newest change when it was recorded.
    pub seq: i64,
    /// The number of the act, from 1; 0 for a change.
    pub act: i64,
}

/// An entry of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditEntry {
    Change(JournalEntry),
    Act {
        id: i64,
        at: Timestamp,
        act: Act,
        actor: NamedActor,
        /// The `X-Request-Id` of the request, if there was one.
        request_id: Option<Box<str>>,
    },
}
