//! Who acts.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{fmt, sync::Arc};

use super::KeyId;

/// The number of a member of the staff, from 1. It is never given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StaffId(pub i64);

impl fmt::Display for StaffId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Who causes a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A client with this API key.
    Key(KeyId),
    /// A member of the staff, in the console.
    Staff(StaffId),
    /// The service itself, at a given time.
    Clock,
    /// An operator with a command.
    Command,
    /// An operator, by hand in the database.
    Database,
}

impl Actor {
    /// Its kind, as the interface and the log spell it.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::Staff(_) => "staff",
            Self::Clock => "clock",
            Self::Command => "command",
            Self::Database => "database",
        }
    }

    /// Its number, if it has one.
    pub fn id(self) -> Option<i64> {
        match self {
            Self::Key(KeyId(id)) | Self::Staff(StaffId(id)) => Some(id),
            Self::Clock | Self::Command | Self::Database => None,
        }
    }

    /// Parses the form in which it is displayed.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, id) = match text.split_once(':') {
            Some((kind, id)) => (kind, Some(id.parse().ok()?)),
            None => (text, None),
        };
        // An integer has one spelling.
        Self::from_kind_and_id(kind, id).filter(|actor| actor.to_string() == text)
    }

    /// Returns the actor with this kind and number, if there is one.
    pub fn from_kind_and_id(kind: &str, id: Option<i64>) -> Option<Self> {
        match (kind, id) {
            ("key", Some(id)) => Some(Self::Key(KeyId(id))),
            ("staff", Some(id)) => Some(Self::Staff(StaffId(id))),
            ("clock", None) => Some(Self::Clock),
            ("command", None) => Some(Self::Command),
            ("database", None) => Some(Self::Database),
            _ => None,
        }
    }
}

/// Such as `key:3` or `clock`.
impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id() {
            Some(id) => write!(f, "{}:{id}", self.kind()),
            None => f.write_str(self.kind()),
        }
    }
}

/// An actor, with the name that it has at this time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedActor {
    pub actor: Actor,
    /// The name of the key or of the member of the staff. `None` for an actor that has no name.
    pub name: Option<Arc<str>>,
}

impl From<Actor> for NamedActor {
    fn from(actor: Actor) -> Self {
        Self { actor, name: None }
    }
}
