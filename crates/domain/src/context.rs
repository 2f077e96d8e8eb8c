//! The context of a write.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;

use super::{IdempotentRequest, NamedActor};

/// The context of a write: its actor, its time, and its request. A store gets the context with each act of an actor, and
/// records the act in the transaction that carries it out.
#[derive(Debug, Clone)]
pub struct WriteContext {
    pub actor: NamedActor,
    pub now: Timestamp,
    /// The `X-Request-Id` of the request, if there is one.
    pub request_id: Option<String>,
    /// The request, if its client may repeat it.
    pub idempotency: Option<IdempotentRequest>,
}

impl WriteContext {
    /// Returns the context of a write without a request.
    pub fn new(actor: impl Into<NamedActor>, now: Timestamp) -> Self {
        Self {
            actor: actor.into(),
            now,
            request_id: None,
            idempotency: None,
        }
    }
}
