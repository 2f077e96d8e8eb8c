//! The outcome of changes of administration.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use petstore_domain::StoredResponse;
use petstore_store::WriteOutcome;

/// The number of times that a change is decided, if other changes are faster.
pub(super) const MAX_TRIES: u32 = 10;

/// The outcome of a request to change a field, the profile or a webhook. `R` is the reason for a rejection.
pub enum Changed<R> {
    /// The change was made, now or for the same request before. This is the response.
    Done(StoredResponse),
    Refused(R),
    /// The idempotency key was used for another request.
    IdempotencyConflict,
}

impl<R> Changed<R> {
    /// Returns the outcome of a request that changed nothing now.
    pub(super) fn from_unchanged(outcome: WriteOutcome) -> Self {
        match outcome {
            WriteOutcome::Replayed(response) => Self::Done(response),
            _ => Self::IdempotencyConflict,
        }
    }
}
