//! Changes to the fields with which the store describes its animals.

use std::sync::Arc;

use petstore_domain::{
    StoredResponse, WriteContext,
    store_area::{
        FieldChange, FieldCommand, FieldDecision, FieldDefinition, FieldRefusal, Preconditions,
        decide_field,
    },
};
use petstore_store::{Store, StoreError, WriteOutcome};

use super::changed::{Changed, MAX_TRIES};

/// Changes the fields with which the store describes its animals.
pub struct Fields {
    store: Arc<dyn Store>,
}

/// Whether a field is in use.
enum UsageCheck {
    /// No animal has a value of the field.
    Unused,
    /// An animal has a value of the field.
    InUse,
    /// The fields have changed since they were read, so the change must be decided again.
    Stale,
}

impl Fields {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Changes or deletes a field. The change is idempotent: a retry gets the remembered response, whatever
    /// the present state is. If other changes interfere, decides again on the new state.
    pub async fn change(
        &self,
        command: &FieldCommand,
        preconditions: &Preconditions,
        context: WriteContext,
        respond: fn(&FieldDecision) -> StoredResponse,
    ) -> Result<Changed<FieldRefusal>, StoreError> {
        if let Some(request) = &context.idempotency
            && let Some(outcome) = self.store.recall_request(request.clone()).await?
        {
            return Ok(Changed::from_recalled(outcome));
        }
        for _ in 0..MAX_TRIES {
            let present = self.store.fields().await?;
            let decision = match decide_field(command, preconditions, &present) {
                Ok(decision) => decision,
                Err(refusal) => return Ok(Changed::Refused(refusal)),
            };
            let response = respond(&decision);
            let FieldDecision {
                mut change, act, ..
            } = decision;
            if let Some(change) = &mut change
                && change.must_be_unused
            {
                match self.check_unused(change).await? {
                    UsageCheck::Stale => continue,
                    UsageCheck::InUse => {
                        let field = present.find(change.name.as_str()).cloned().map(Box::new);
                        let refusal = field.map_or(FieldRefusal::NotFound, FieldRefusal::InUse);
                        return Ok(Changed::Refused(refusal));
                    }
                    UsageCheck::Unused => {}
                }
            }
            let changes = change.into_iter().collect();
            let acts = act.into_iter().collect();
            match self
                .store
                .write_fields(changes, acts, response.clone(), context.clone())
                .await?
            {
                WriteOutcome::Done => return Ok(Changed::Done(response)),
                WriteOutcome::Stale => {}
                other => return Ok(Changed::from_recalled(other)),
            }
        }
        Err(StoreError::Overloaded)
    }

    /// Checks whether an animal has a value of the field. First marks the field as under examination: a
    /// transaction that writes a value of it from then on ends the examination, and with it this change
    /// becomes stale.
    async fn check_unused(&self, change: &mut FieldChange) -> Result<UsageCheck, StoreError> {
        let is_current = self
            .store
            .examine_field(change.name.clone(), change.seen_version)
            .await?;
        if !is_current {
            return Ok(UsageCheck::Stale);
        }
        change.seen_version += 1;
        if self.store.has_values(&change.name).await? {
            return Ok(UsageCheck::InUse);
        }
        // Merge all pending changes into the search index while the old kind of the field is still known,
        // because the kind decides which entries must leave the index. The time limit of the request bounds
        // this loop.
        while self.store.tend_search(0).await? {}
        Ok(UsageCheck::Unused)
    }

    /// Creates or changes several fields atomically. Each `version` must be the stored one, or 0 for a new
    /// field. The changes must not require that a field has no values, because this does not check it.
    pub async fn put_all(
        &self,
        fields: &[FieldDefinition],
        context: &WriteContext,
    ) -> Result<Changed<FieldRefusal>, StoreError> {
        for _ in 0..MAX_TRIES {
            let present = self.store.fields().await?;
            let mut changes = Vec::new();
            let mut acts = Vec::new();
            for field in fields {
                let command = FieldCommand::Put(field.clone());
                let preconditions = match field.version {
                    0 => Preconditions::ABSENT,
                    version => Preconditions::version(version),
                };
                let decision = match decide_field(&command, &preconditions, &present) {
                    Ok(decision) => decision,
                    Err(refusal) => return Ok(Changed::Refused(refusal)),
                };
                acts.extend(decision.act);
                if let Some(mut change) = decision.change {
                    // Each earlier change in the list will increment the version of the fields.
                    for _ in &changes {
                        change.seen_version += 1;
                    }
                    changes.push(change);
                }
            }

            let response = StoredResponse::default();
            match self
                .store
                .write_fields(changes, acts, response.clone(), context.clone())
                .await?
            {
                WriteOutcome::Done => return Ok(Changed::Done(response)),
                WriteOutcome::Stale => {}
                other => return Ok(Changed::from_recalled(other)),
            }
        }
        Err(StoreError::Overloaded)
    }
}
