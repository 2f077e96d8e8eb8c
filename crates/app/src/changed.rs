//! The outcome of changes to fields, the profile and webhooks.

use petstore_domain::StoredResponse;
use petstore_store::WriteOutcome;

/// How often a change is tried before the request fails. A change is tried again if another one
/// was written between its decision and its write.
pub(super) const MAX_TRIES: u32 = 10;

/// The outcome of a request to change a field, the profile or a webhook. `R` is the reason for a
/// refusal.
pub enum Changed<R> {
    /// The change was made, by this request or by an earlier attempt of it. This is the response.
    Done(StoredResponse),
    /// The rules do not allow the change.
    Refused(R),
    /// The idempotency key was used for a different request.
    IdempotencyConflict,
}

impl<R> Changed<R> {
    /// Converts the outcome of a write. `response` is the response to the request if the change was
    /// made.
    ///
    /// Returns `None` if another change was written after the decision. The caller must then decide
    /// again.
    pub(super) fn from_write(outcome: WriteOutcome, response: StoredResponse) -> Option<Self> {
        match outcome {
            WriteOutcome::Done => Some(Self::Done(response)),
            WriteOutcome::Stale => None,
            other => Some(Self::from_recalled(other)),
        }
    }

    /// Converts the outcome of a request whose idempotency key was used before: a replay of the
    /// same request, or a conflict with a different one.
    pub(super) fn from_recalled(outcome: WriteOutcome) -> Self {
        match outcome {
            WriteOutcome::Replayed(response) => Self::Done(response),
            // A recalled request has only one other outcome: `IdempotencyConflict`.
            _ => Self::IdempotencyConflict,
        }
    }
}
