//! Changes to the fields with which the store describes its animals.

use std::sync::Arc;

use petstore_domain::{
    StoredResponse, WriteContext,
    store_area::{
        Act, FieldChange, FieldCommand, FieldDecision, FieldDefinition, FieldRefusal, FieldSet,
        Preconditions, decide_field,
    },
};
use petstore_store::{Store, StoreError, WriteOutcome};

use super::changed::{Changed, MAX_TRIES};

/// Changes the fields with which the store describes its animals.
pub struct Fields {
    store: Arc<dyn Store>,
}

/// The result of the check whether a field is in use.
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

    /// Creates or changes a field, or deletes it. The change is idempotent: a retry gets the remembered
    /// response, whatever the present state is. If the fields change in the meantime, decides again on the new
    /// state.
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
            if let Some(field_change) = &mut change
                && field_change.must_be_unused
            {
                match self.check_unused(field_change).await? {
                    UsageCheck::Stale => continue,
                    UsageCheck::InUse => {
                        let refusal = match present.find(field_change.name.as_str()) {
                            Some(field) => FieldRefusal::InUse(Box::new(field.clone())),
                            None => FieldRefusal::NotFound,
                        };
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

    /// Checks whether an animal has a value of the field. First starts an examination of the field in the
    /// store. A transaction that writes a value of the field ends the examination, which makes this change
    /// stale. Therefore no value can appear between the check and the change.
    async fn check_unused(&self, change: &mut FieldChange) -> Result<UsageCheck, StoreError> {
        let is_current = self
            .store
            .examine_field(change.name.clone(), change.seen_version)
            .await?;
        if !is_current {
            return Ok(UsageCheck::Stale);
        }
        // The start of the examination has incremented the version of the fields.
        change.seen_version += 1;
        if self.store.has_values(&change.name).await? {
            return Ok(UsageCheck::InUse);
        }
        // Merge all pending changes into the search index before the kind of the field changes, because the
        // kind determines which entries must be removed from the index. The time limit of the request
        // bounds this loop.
        while self.store.tend_search(0).await? {}
        Ok(UsageCheck::Unused)
    }

    /// Creates or changes several fields atomically. Each field must have its present version, or 0 if it is
    /// new. Does not check whether a field is in use, so the changes must be allowed for fields in use.
    pub async fn put_all(
        &self,
        fields: &[FieldDefinition],
        context: &WriteContext,
    ) -> Result<Changed<FieldRefusal>, StoreError> {
        for _ in 0..MAX_TRIES {
            let present = self.store.fields().await?;
            let (changes, acts) = match decide_all(fields, &present) {
                Ok(decided) => decided,
                Err(refusal) => return Ok(Changed::Refused(refusal)),
            };
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

/// Decides how to put several fields in one transaction, and returns the changes and their acts. Fails if
/// one of the fields is refused.
fn decide_all(
    fields: &[FieldDefinition],
    present: &FieldSet,
) -> Result<(Vec<FieldChange>, Vec<Act>), FieldRefusal> {
    let mut changes = Vec::new();
    let mut acts = Vec::new();
    let mut earlier_change_count = 0;
    for field in fields {
        let command = FieldCommand::Put(field.clone());
        let preconditions = match field.version {
            0 => Preconditions::ABSENT,
            version => Preconditions::version(version),
        };
        let decision = decide_field(&command, &preconditions, present)?;
        acts.extend(decision.act);
        if let Some(mut change) = decision.change {
            // Each earlier change in the list will increment the version of the fields.
            change.seen_version += earlier_change_count;
            earlier_change_count += 1;
            changes.push(change);
        }
    }
    Ok((changes, acts))
}
