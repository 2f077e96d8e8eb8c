//! Actors: the API keys, people and parts of the service that cause writes.

use std::{fmt, sync::Arc};

use super::KeyId;

/// The number of a member of the staff, from 1. Numbers are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StaffId(pub i64);

impl fmt::Display for StaffId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The originator of a write: a client, a person, or the service itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A client, by its API key.
    Key(KeyId),
    /// A member of the staff, in the console.
    Staff(StaffId),
    /// The service itself, when something is due, such as the expiry of a reservation.
    Clock,
    /// An operator, by a command such as `petstore keys`.
    Command,
    /// An operator, by direct access to the database.
    Database,
}

impl Actor {
    /// Returns the kind of the actor, as it appears in the interface and in logs.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::Staff(_) => "staff",
            Self::Clock => "clock",
            Self::Command => "command",
            Self::Database => "database",
        }
    }

    /// Returns the number of the key or the member of the staff; `None` for other actors.
    pub fn id(self) -> Option<i64> {
        match self {
            Self::Key(KeyId(id)) | Self::Staff(StaffId(id)) => Some(id),
            Self::Clock | Self::Command | Self::Database => None,
        }
    }

    /// Parses the displayed form of an actor, such as `key:3` or `clock`; `None` for any other
    /// text. A number must be in its canonical spelling, so `key:03` is rejected.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, id) = match text.split_once(':') {
            Some((kind, id)) => (kind, Some(id.parse().ok()?)),
            None => (text, None),
        };
        let actor = Self::from_kind_and_id(kind, id)?;
        // The comparison rejects other spellings of the number.
        (actor.to_string() == text).then_some(actor)
    }

    /// Returns the actor of this kind with this number; `None` if there is no such actor.
    ///
    /// Keys and members of the staff have a number, and other actors have none.
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

/// An actor, with its name at the time of the write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedActor {
    /// The actor, without its name.
    pub actor: Actor,
    /// The name of the key or the member of the staff; `None` for other actors.
    pub name: Option<Arc<str>>,
}

impl From<Actor> for NamedActor {
    fn from(actor: Actor) -> Self {
        Self { actor, name: None }
    }
}
