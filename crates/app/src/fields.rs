//! Changes of fields.

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

/// The fields with which the store describes its animals.
pub struct Fields {
    store: Arc<dyn Store>,
}

/// The result of a look at a field that must be unused.
enum Examination {
    /// No animal has a value.
    Unused,
    /// An animal has a value.
    InUse,
    /// The fields have changed since they were read.
    Stale,
}

impl Fields {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Makes a change, once for all repetitions of the request. A replay comes before the state is
    /// looked at.
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
            return Ok(Changed::from_unchanged(outcome));
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
                match self.examine(change).await? {
                    Examination::Stale => continue,
                    Examination::InUse => {
                        let field = present.find(change.name.as_str()).cloned().map(Box::new);
                        let refusal = field.map_or(FieldRefusal::NotFound, FieldRefusal::InUse);
                        return Ok(Changed::Refused(refusal));
                    }
                    Examination::Unused => {}
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
                other => return Ok(Changed::from_unchanged(other)),
            }
        }
        Err(StoreError::Overloaded)
    }

    /// Looks whether an animal has a value of a field that must be unused. Marks the field before, so that a transaction that
    /// writes a value of it must say so.
    async fn examine(&self, change: &mut FieldChange) -> Result<Examination, StoreError> {
        let is_current = self
            .store
            .examine_field(change.name.clone(), change.seen_version)
            .await?;
        if !is_current {
            return Ok(Examination::Stale);
        }
        change.seen_version += 1;
        if self.store.has_values(&change.name).await? {
            return Ok(Examination::InUse);
        }
        // The kind of the field decides what leaves the search. This ends as soon as nothing waits, and with
        // the time of the request at the latest.
        while self.store.tend_search(0).await? {}
        Ok(Examination::Unused)
    }

    /// Puts fields whose versions must be the stored ones, all or none. A field with the version 0 must be a new one. No change
    /// may need a field without values.
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
                    // Each change makes the next version of the fields.
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
                other => return Ok(Changed::from_unchanged(other)),
            }
        }
        Err(StoreError::Overloaded)
    }
}
