//! The audit trail, which managers read: the changes in the journal, and the acts of
//! administration.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use std::borrow::Cow;

use jiff::Timestamp;

use super::{ChangeType, JournalEntry, JournalSubject, SubjectKind, WebhookId};
use crate::{
    Actor, NamedActor,
    named_enum::{MaybeKnown, named_enum},
};

/// An act of administration, such as the creation of an API key. Acts are recorded only in the
/// audit trail, not in the journal.
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
