//! The context of a write: its origin, which a store records together with the write.

use jiff::Timestamp;

use super::{IdempotentRequest, NamedActor};

/// The origin of a write: its actor, its time and its request. A store receives it with each write,
/// and records it in the same transaction.
#[derive(Debug, Clone)]
pub struct WriteContext {
    /// The originator of the write.
    pub actor: NamedActor,
    /// The time of the write.
    pub now: Timestamp,
    /// The `X-Request-Id` of the request, if there is one.
    pub request_id: Option<String>,
    /// The request in a form that can be remembered, if the client may repeat it.
    pub idempotency: Option<IdempotentRequest>,
}

impl WriteContext {
    /// Creates the context of a write that is not caused by a request.
    pub fn new(actor: impl Into<NamedActor>, now: Timestamp) -> Self {
        Self {
            actor: actor.into(),
            now,
            request_id: None,
            idempotency: None,
        }
    }
}
