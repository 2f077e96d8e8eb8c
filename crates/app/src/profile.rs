//! Changes to the profile of the store.

use petstore_domain::{
    StoredResponse, WriteContext,
    store_area::{Preconditions, Profile, ProfileChange, ProfileRefusal, decide_profile},
};
use petstore_store::{Store, StoreError};

use super::changed::{Changed, MAX_TRIES};

/// Changes the profile of the store. If somebody else changes it at the same time, decides again on
/// the new state.
///
/// The change is idempotent: a retry gets the remembered response, whatever the present state is.
/// If somebody else changes the profile too often at the same time, fails with
/// [`StoreError::Overloaded`].
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
        return Ok(Changed::from_recalled(outcome));
    }
    for _ in 0..MAX_TRIES {
        let present = store.profile().await?;
        let decision = match decide_profile(change, preconditions, &present) {
            Ok(decision) => decision,
            Err(refusal) => return Ok(Changed::Refused(refusal)),
        };
        let response = respond(&decision.profile);
        let outcome = store
            .write_profile(decision, response.clone(), context.clone())
            .await?;
        // If somebody else has changed the profile since it was read, decide again.
        if let Some(changed) = Changed::from_write(outcome, response) {
            return Ok(changed);
        }
    }
    Err(StoreError::Overloaded)
}
