//! Actors: the keys, people and parts of the service that cause a write.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{fmt, sync::Arc};

use super::KeyId;

/// The number of a member of the staff, from 1. It is never given to another member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StaffId(pub i64);

impl fmt::Display for StaffId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The actor who causes a write.
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
    /// Returns the kind of the actor, as the interface and the log spell it.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::Staff(_) => "staff",
            Self::Clock => "clock",
            Self::Command => "command",
            Self::Database => "database",
        }
    }

    /// Returns the number of the key or of the member of the staff; `None` for other actors.
    pub fn id(self) -> Option<i64> {
        match self {
            Self::Key(KeyId(id)) | Self::Staff(StaffId(id)) => Some(id),
            Self::Clock | Self::Command | Self::Database => None,
        }
    }

    /// Parses a text such as `key:3` or `clock`, the form in which an actor is displayed. `None` for another text, and for
    /// a number in another spelling, such as `key:03`.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, id) = match text.split_once(':') {
            Some((kind, id)) => (kind, Some(id.parse().ok()?)),
            None => (text, None),
        };
        let actor = Self::from_kind_and_id(kind, id)?;
        (actor.to_string() == text).then_some(actor)
    }

    /// Returns the actor with this kind and number; `None` if there is no such kind, or its actors have no number or
    /// need one.
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

impl fmt::Display for Actor {
    /// Writes a text such as `key:3` or `clock`.
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
