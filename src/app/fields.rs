//! Changes of fields.

use std::sync::Arc;

use crate::{
    domain::{
        StoredResponse, WriteContext,
        store_area::{FieldDecision, FieldRefusal, FieldWish, Preconditions, decide_field},
    },
    store::{Store, StoreError, Written},
};

/// How often a change is decided again because another one was faster.
const MAX_TRIES: u32 = 10;

/// The fields with which the store describes its animals.
pub(crate) struct Fields {
    store: Arc<dyn Store>,
}

/// The outcome of a request to change a field.
pub(crate) enum FieldChanged {
    /// The change was made, now or for the same request before. This is the response.
    Done(StoredResponse),
    Refused(FieldRefusal),
    /// The idempotency key was used for another request.
    IdempotencyConflict,
}

impl Fields {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Makes a change, once for all repetitions of the request. A replay comes before the state is
    /// looked at.
    pub(crate) async fn change(
        &self,
        wish: &FieldWish,
        preconditions: &Preconditions,
        context: WriteContext,
        respond: fn(&FieldDecision) -> StoredResponse,
    ) -> Result<FieldChanged, StoreError> {
        if let Some(request) = &context.idempotency
            && let Some(written) = self.store.recall_request(request.clone()).await?
        {
            return Ok(known(written));
        }
        for _ in 0..MAX_TRIES {
            let present = self.store.fields().await?;
            let decision = match decide_field(wish, preconditions, &present) {
                Ok(decision) => decision,
                Err(refusal) => return Ok(FieldChanged::Refused(refusal)),
            };
            let response = respond(&decision);
            let FieldDecision { mut change, act, .. } = decision;
            if let Some(change) = change.as_mut().filter(|change| change.must_be_unused) {
                if !self.store.examine_field(change.name.clone(), change.seen).await? {
                    continue;
                }
                change.seen += 1;
                if self.store.has_values(&change.name).await? {
                    let field = present.find(change.name.as_str()).cloned().map(Box::new);
                    let refusal = field.map_or(FieldRefusal::NotFound, FieldRefusal::InUse);
                    return Ok(FieldChanged::Refused(refusal));
                }
                // With the kind of the field, values that it had leave the search.
                while self.store.tend_search(0).await? {}
            }
            match self.store.write_field(change, act, response.clone(), context.clone()).await? {
                Written::Done => return Ok(FieldChanged::Done(response)),
                Written::Stale => {}
                other => return Ok(known(other)),
            }
        }
        Err(StoreError::Overloaded)
    }
}

/// The outcome of a request that changed nothing now.
fn known(written: Written) -> FieldChanged {
    match written {
        Written::Replayed(response) => FieldChanged::Done(response),
        _ => FieldChanged::IdempotencyConflict,
    }
}
