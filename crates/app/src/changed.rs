//! The outcome of changes of administration.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use petstore_domain::StoredResponse;
use petstore_store::WriteOutcome;

/// How often a change is decided again because another one was faster.
pub(super) const MAX_TRIES: u32 = 10;

/// The outcome of a request to change a field, the profile or a webhook. `R` says why it was refused.
pub enum Changed<R> {
    /// The change was made, now or for the same request before. This is the response.
    Done(StoredResponse),
    Refused(R),
    /// The idempotency key was used for another request.
    IdempotencyConflict,
}

impl<R> Changed<R> {
    /// Returns the outcome of a request that changed nothing now.
    pub(super) fn known(written: WriteOutcome) -> Self {
        match written {
            WriteOutcome::Replayed(response) => Self::Done(response),
            _ => Self::IdempotencyConflict,
        }
    }
}
