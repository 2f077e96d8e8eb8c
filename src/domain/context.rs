//! The circumstances of a write.

use jiff::Timestamp;

use super::{IdempotentRequest, KeyId};

/// Who causes a write, when, and by which request. A store gets it with each act of an actor, so
/// that it can record the act in the transaction that carries it out.
#[derive(Debug, Clone)]
pub struct WriteContext {
    /// Who causes the write.
    pub actor: Actor,
    /// When the write is made.
    pub now: Timestamp,
    /// The `X-Request-Id` of the request, if there is one.
    pub request_id: Option<String>,
    /// The request, if its client may repeat it.
    pub idempotency: Option<IdempotentRequest>,
}

impl WriteContext {
    /// A write that no request asks for.
    #[must_use]
    pub fn new(actor: Actor, now: Timestamp) -> Self {
        Self { actor, now, request_id: None, idempotency: None }
    }
}

/// Who causes a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// A client with this API key.
    Key(KeyId),
    /// The service itself, at a given time.
    Clock,
    /// An operator with a command.
    Command,
    /// An operator, by hand in the database.
    Database,
}
