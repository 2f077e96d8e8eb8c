//! The log of changes, and the audit trail.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{borrow::Cow, fmt};

use jiff::Timestamp;

use super::ChangeType;
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
    /// Of the database.
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
    /// The animal whose changes this one must follow in order: the subject, or that of the order.
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
    /// Returns the length of its texts, in bytes.
    pub fn length(&self) -> usize {
        let of = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        of(&self.before) + of(&self.after)
    }
}

/// A part of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangePage {
    /// In ascending order of number.
    pub changes: Vec<JournalEntry>,
    /// The number up to which the log was read. Higher than that of the last change if others
    /// followed that were not selected.
    pub read_to: i64,
}

/// The subject of a change or of an act of administration, such as `pet:7`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSubject {
    pub kind: Word<SubjectKind>,
    /// Its identifier. `None` for an import, and for what has none.
    pub id: Option<i64>,
}

words! {
    pub enum SubjectKind {
        Pet = "pet",
        /// Many animals: an import.
        Pets = "pets",
        Order = "order",
        Category = "category",
        Key = "key",
        Staff = "staff",
        Webhook = "webhook",
        /// A field. Its name is in the details of the act.
        Field = "field",
        /// What the store says about itself.
        Profile = "profile",
        /// The whole database: a copy, or a restored backup.
        Database = "database",
    }
}

impl JournalSubject {
    /// Returns the subject of a change or an act of this type: a `pet` for `pet.added`. `None` if a
    /// type of no release has this form.
    pub fn from_type(text: &str, id: Option<i64>) -> Option<Self> {
        let is_word = |word: &str, others: &[u8]| {
            let is_letter = |byte: u8| byte.is_ascii_lowercase() || others.contains(&byte);
            !word.is_empty() && word.bytes().all(is_letter)
        };
        let (kind, what) = text.split_once('.')?;
        (is_word(kind, b"") && is_word(what, b"_")).then(|| Self {
            kind: Word::from_name(kind),
            id,
        })
    }

    /// Parses the form in which it is displayed.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, id) = match text.split_once(':') {
            Some((kind, id)) => (kind, Some(id.parse().ok()?)),
            None => (text, None),
        };
        let kind: SubjectKind = kind.parse().ok()?;
        let has_id = !matches!(
            kind,
            SubjectKind::Pets | SubjectKind::Field | SubjectKind::Profile | SubjectKind::Database
        );
        let subject = Self {
            kind: kind.into(),
            id,
        };
        // An integer has one spelling.
        (id.is_some() == has_id && subject.to_string() == text).then_some(subject)
    }
}

/// Such as `pet:7` or `database`.
impl fmt::Display for JournalSubject {
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
    pub fn for_webhook(kind: ActType, id: i64) -> Self {
        let subject = JournalSubject {
            kind: SubjectKind::Webhook.into(),
            id: Some(id),
        };
        Self {
            kind: kind.into(),
            subject,
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

/// A part of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditQuery {
    pub subject: Option<JournalSubject>,
    pub actor: Option<Actor>,
    /// Only of this type, of a change or an act.
    pub kind: Option<AuditType>,
    /// Only at or after this time.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Only what follows this position, in the order of the entries.
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
        Self::all().find(|known| known.as_str() == text)
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
