//! The log of changes, and the audit trail.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{borrow::Cow, fmt};

use jiff::Timestamp;

use super::{ChangeType, WebhookId};
use crate::{
    Actor, NamedActor,
    words::{Word, words},
};

/// The random identity of a database, part of each cursor of the log. A restored or copied database
/// has another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch(pub [u8; 16]);

/// The contents of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalState {
    /// The identity of the database.
    pub epoch: Epoch,
    /// The number of the oldest change that is kept; `last + 1` if there is none.
    pub first: i64,
    /// The number of the newest change; 0 if there never was one. No change will ever get a number
    /// up to this one.
    pub last: i64,
}

/// A change in the log. The representations are JSON, as the interface shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// Its number, from 1, without gaps.
    pub seq: i64,
    /// When it was made, in milliseconds.
    pub at: Timestamp,
    pub kind: Word<ChangeType>,
    pub subject: JournalSubject,
    /// The version after the change, or the last one if the subject was deleted. `None` for an
    /// import.
    pub version: Option<i64>,
    /// The animal whose changes this one must follow in order: the subject, or the animal of the order.
    pub pet: Option<i64>,
    /// `None` if it was new.
    pub before: Option<Box<str>>,
    /// `None` if it was deleted.
    pub after: Option<Box<str>>,
    pub actor: NamedActor,
    /// The `X-Request-Id` of the request, if there was one.
    pub request_id: Option<Box<str>>,
}

impl JournalEntry {
    /// Returns the length of its representations, in bytes.
    pub fn length(&self) -> usize {
        let before_length = self.before.as_ref().map_or(0, |text| text.len());
        let after_length = self.after.as_ref().map_or(0, |text| text.len());
        before_length + after_length
    }
}

/// A part of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangePage {
    /// The changes in ascending order of their numbers.
    pub changes: Vec<JournalEntry>,
    /// The number up to which the log was read. It is higher than the number of the last change if
    /// other changes followed that were not selected.
    pub read_to: i64,
}

/// The subject of a change or of an act of administration, such as `pet:7`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSubject {
    pub kind: Word<SubjectKind>,
    /// The identifier. `None` for an import, and for a subject without identifier, such as a field.
    pub id: Option<i64>,
}

words! {
    pub enum SubjectKind {
        Pet = "pet",
        /// Many animals: an import.
        Pets = "pets",
        Order = "order",
        Category = "category",
        /// A note on an animal.
        Note = "note",
        Key = "key",
        Staff = "staff",
        Webhook = "webhook",
        /// A field. Its name is in the details of the act.
        Field = "field",
        /// The profile of the store.
        Profile = "profile",
        /// The whole database: a copy, or a restored backup.
        Database = "database",
    }
}

impl JournalSubject {
    /// Returns the subject of a change or an act of this type: `pet.added` and 7 become `pet:7`.
    /// `None` if no type can have this form, which is two words with a point between them.
    pub fn from_type(text: &str, id: Option<i64>) -> Option<Self> {
        let (kind, action) = text.split_once('.')?;
        let is_kind = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_action = !action.is_empty()
            && action
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !is_kind || !is_action {
            return None;
        }
        Some(Self {
            kind: Word::from_name(kind),
            id,
        })
    }

    /// Parses a text such as `pet:7` or `database`, the form in which a subject is displayed. `None` for another text, and
    /// for a number in another spelling, such as `pet:07`.
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

/// An act of administration, for the audit trail only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// The type of the act, such as `key.created`.
    pub kind: Word<ActType>,
    /// The subject of the act.
    pub subject: JournalSubject,
    /// Further facts, without secrets: names and texts.
    pub details: Vec<(Cow<'static, str>, String)>,
}

impl Act {
    /// Returns an act on a webhook without details.
    pub fn for_webhook(kind: ActType, webhook: WebhookId) -> Self {
        Self {
            kind: kind.into(),
            subject: JournalSubject {
                kind: SubjectKind::Webhook.into(),
                id: Some(webhook.0),
            },
            details: Vec::new(),
        }
    }
}

words! {
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

/// A query for a part of the audit trail. All filters apply together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditQuery {
    pub subject: Option<JournalSubject>,
    pub actor: Option<Actor>,
    /// Only changes or acts of this type.
    pub kind: Option<AuditType>,
    /// Only at or after this time.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Only entries that follow this position, in the order of the entries.
    pub after: Option<AuditPosition>,
    /// Whether the entries are in descending order.
    pub newest_first: bool,
    pub limit: u32,
}

/// The type of an entry of the audit trail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditType {
    Change(ChangeType),
    Act(ActType),
}

impl AuditType {
    pub fn all() -> impl Iterator<Item = Self> {
        ChangeType::ALL
            .map(Self::Change)
            .into_iter()
            .chain(ActType::ALL.map(Self::Act))
    }

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

/// The position of an entry in the audit trail. The changes are in the order of their numbers, and
/// each act comes after the changes that were numbered when it was recorded. So the times ascend,
/// except where the clock of a machine was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditPosition {
    /// The number of the change, or of the newest one when the act was recorded.
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
