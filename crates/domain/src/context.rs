//! The circumstances of a write.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;

use super::{IdempotentRequest, NamedActor};

/// The circumstances of a write: its actor, its time, and its request. A store gets them with each act of an actor, so
/// that it can record the act in the transaction that carries it out.
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
    /// Returns the circumstances of a write for which there is no request.
    pub fn new(actor: impl Into<NamedActor>, now: Timestamp) -> Self {
        Self {
            actor: actor.into(),
            now,
            request_id: None,
            idempotency: None,
        }
    }
}
