//! Changes of the profile of the store.

use crate::{
    domain::{
        StoredResponse, WriteContext,
        store_area::{Preconditions, Profile, ProfilePatch, ProfileRefusal, decide_profile},
    },
    store::{Store, StoreError, Written},
};

/// How often a change is decided again because another one was faster.
const MAX_TRIES: u32 = 10;

/// The outcome of a request to change the profile.
pub(crate) enum ProfileChanged {
    /// The change was made, now or for the same request before. This is the response.
    Done(StoredResponse),
    Refused(ProfileRefusal),
    /// The idempotency key was used for another request.
    IdempotencyConflict,
}

/// Makes a change, once for all repetitions of the request. A replay comes before the state is looked
/// at.
pub(crate) async fn change_profile(
    store: &dyn Store,
    patch: &ProfilePatch,
    preconditions: &Preconditions,
    context: WriteContext,
    respond: fn(&Profile) -> StoredResponse,
) -> Result<ProfileChanged, StoreError> {
    if let Some(request) = &context.idempotency
        && let Some(written) = store.recall_request(request.clone()).await?
    {
        return Ok(known(written));
    }
    for _ in 0..MAX_TRIES {
        let present = store.profile().await?;
        let decision = match decide_profile(patch, preconditions, &present) {
            Ok(decision) => decision,
            Err(refusal) => return Ok(ProfileChanged::Refused(refusal)),
        };
        let response = respond(&decision.profile);
        match store.write_profile(decision, response.clone(), context.clone()).await? {
            Written::Done => return Ok(ProfileChanged::Done(response)),
            Written::Stale => {}
            other => return Ok(known(other)),
        }
    }
    Err(StoreError::Overloaded)
}

/// The outcome of a request that changed nothing now.
fn known(written: Written) -> ProfileChanged {
    match written {
        Written::Replayed(response) => ProfileChanged::Done(response),
        _ => ProfileChanged::IdempotencyConflict,
    }
}
