//! The journal: the log of all changes of animals, notes, orders and categories in a store.
//!
//! Clients and webhooks read the journal. The audit trail shows the same changes to managers.

use std::fmt;

use jiff::Timestamp;

use super::ChangeType;
use crate::{
    NamedActor,
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
    /// The type of the change, such as `pet.added`.
    pub kind: MaybeKnown<ChangeType>,
    /// The resource that the change is about.
    pub subject: JournalSubject,
    /// The version of the subject after the change, or its last version if it was deleted. `None`
    /// for an import.
    pub version: Option<i64>,
    /// The animal whose changes must be delivered in order: the subject itself, or the animal of
    /// the order or note.
    pub pet: Option<i64>,
    /// The subject before the change; `None` if the change created it.
    pub before: Option<Box<str>>,
    /// The subject after the change; `None` if the change deleted it.
    pub after: Option<Box<str>>,
    /// The originator of the change.
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
    /// The kind of the subject, such as `pet`.
    pub kind: MaybeKnown<SubjectKind>,
    /// The identifier. `None` for an import, and for a subject without a number, such as a field.
    pub id: Option<i64>,
}

named_enum! {
    /// The kind of the subject of a change or of an act of administration.
    pub enum SubjectKind {
        /// An animal.
        Pet = "pet",
        /// Several animals at once: an import.
        Pets = "pets",
        /// An order.
        Order = "order",
        /// A category with a label.
        Category = "category",
        /// A note on an animal.
        Note = "note",
        /// An API key.
        Key = "key",
        /// A member of the staff.
        Staff = "staff",
        /// A webhook.
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
    /// Returns `None` for a text that does not have the form of a type.
    ///
    /// A type consists of two lower-case words, separated by a dot. The second word may contain
    /// `_`.
    pub fn from_type(type_name: &str, id: Option<i64>) -> Option<Self> {
        let (kind, action) = type_name.split_once('.')?;
        let is_kind = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_lowercase());
        let is_action = !action.is_empty()
            && action
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !is_kind || !is_action {
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
