//! Changes of the profile of the store.

use petstore_domain::{
    StoredResponse, WriteContext,
    store_area::{Preconditions, Profile, ProfileChange, ProfileRefusal, decide_profile},
};
use petstore_store::{Store, StoreError, WriteOutcome};

use super::changed::{Changed, MAX_TRIES};

/// Makes a change, once for all repetitions of the request. A replay comes before the state is looked
/// at.
pub async fn change_profile(
    store: &dyn Store,
    change: &ProfileChange,
    preconditions: &Preconditions,
    context: WriteContext,
    respond: fn(&Profile) -> StoredResponse,
) -> Result<Changed<ProfileRefusal>, StoreError> {
    if let Some(request) = &context.idempotency
        && let Some(outcome) = store.recall_request(request.clone()).await?
    {
        return Ok(Changed::from_unchanged(outcome));
    }
    for _ in 0..MAX_TRIES {
        let present = store.profile().await?;
        let decision = match decide_profile(change, preconditions, &present) {
            Ok(decision) => decision,
            Err(refusal) => return Ok(Changed::Refused(refusal)),
        };
        let response = respond(&decision.profile);
        match store
            .write_profile(decision, response.clone(), context.clone())
            .await?
        {
            WriteOutcome::Done => return Ok(Changed::Done(response)),
            WriteOutcome::Stale => {}
            other => return Ok(Changed::from_unchanged(other)),
        }
    }
    Err(StoreError::Overloaded)
}
