//! Changes to the fields with which the store describes its animals.

use std::sync::Arc;

use petstore_domain::{
    StoredResponse, WriteContext,
    store_area::{
        Act, FieldChange, FieldCommand, FieldDecision, FieldDefinition, FieldRefusal, FieldSet,
        Preconditions, decide_field,
    },
};
use petstore_store::{Store, StoreError};

use super::changed::{Changed, MAX_TRIES};

/// Changes the fields with which the store describes its animals.
pub struct Fields {
    store: Arc<dyn Store>,
}

/// Changes to write in one transaction, and their acts for the audit trail.
#[derive(Default)]
struct FieldChanges {
    changes: Vec<FieldChange>,
    acts: Vec<Act>,
}

/// The result of the examination whether a field is in use.
enum Examination {
    /// No animal has a value of the field. The start of the examination has given the fields this
    /// version.
    Unused { version: i64 },
    /// An animal has a value of the field.
    InUse,
    /// The fields have changed since they were read.
    Stale,
}

impl Fields {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Creates, changes or deletes a field, if a decision on the present fields allows this. If
    /// somebody else changes the fields in the meantime, decides again on the changed fields. If
    /// that happens too often, fails with [`StoreError::Overloaded`].
    ///
    /// The change is idempotent: a retry gets the remembered response, even if the fields have
    /// changed since.
    pub async fn change(
        &self,
        command: &FieldCommand,
        preconditions: &Preconditions,
        context: WriteContext,
        respond: fn(&FieldDecision) -> StoredResponse,
    ) -> Result<Changed<FieldRefusal>, StoreError> {
        if let Some(request) = &context.idempotency
            && let Some(recalled) = self.store.recall_request(request.clone()).await?
        {
            return Ok(Changed::from_recalled(recalled));
        }
        for _ in 0..MAX_TRIES {
            if let Some(changed) = self
                .try_change(command, preconditions, &context, respond)
                .await?
            {
                return Ok(changed);
            }
        }
        Err(StoreError::Overloaded)
    }

    /// Decides about a change of a field in the present state, and writes it. Returns `None` if
    /// somebody else changed the fields in the meantime.
    async fn try_change(
        &self,
        command: &FieldCommand,
        preconditions: &Preconditions,
        context: &WriteContext,
        respond: fn(&FieldDecision) -> StoredResponse,
    ) -> Result<Option<Changed<FieldRefusal>>, StoreError> {
        let present = self.store.fields().await?;
        let mut decision = match decide_field(command, preconditions, &present) {
            Ok(decision) => decision,
            Err(refusal) => return Ok(Some(Changed::Refused(refusal))),
        };
        let response = respond(&decision);
        if let Some(change) = &mut decision.change
            && change.must_be_unused
        {
            match self.examine_use(change).await? {
                Examination::Unused { version } => change.seen_version = version,
                Examination::InUse => {
                    let refusal = refuse_in_use(&present, change);
                    return Ok(Some(Changed::Refused(refusal)));
                }
                Examination::Stale => return Ok(None),
            }
            self.merge_search_index().await?;
        }
        let field_changes = FieldChanges {
            changes: decision.change.into_iter().collect(),
            acts: decision.act.into_iter().collect(),
        };
        self.write(field_changes, response, context).await
    }

    /// Writes decided changes in one transaction. Returns `None` if somebody else changed the
    /// fields after the decision.
    async fn write(
        &self,
        field_changes: FieldChanges,
        response: StoredResponse,
        context: &WriteContext,
    ) -> Result<Option<Changed<FieldRefusal>>, StoreError> {
        let FieldChanges { changes, acts } = field_changes;
        let outcome = self
            .store
            .write_fields(changes, acts, response.clone(), context.clone())
            .await?;
        Ok(Changed::from_write(outcome, response))
    }

    /// Examines whether an animal has a value of the field that `change` is about.
    ///
    /// No value can appear between the examination and the change: the store knows about the
    /// examination, and a transaction that writes a value of the field makes the change stale.
    async fn examine_use(&self, change: &FieldChange) -> Result<Examination, StoreError> {
        let is_current = self
            .store
            .examine_field(change.name.clone(), change.seen_version)
            .await?;
        if !is_current {
            return Ok(Examination::Stale);
        }
        if self.store.has_values(&change.name).await? {
            return Ok(Examination::InUse);
        }
        // The start of the examination has incremented the version of the fields.
        Ok(Examination::Unused {
            version: change.seen_version + 1,
        })
    }

    /// Merges all pending changes into the search index. This must precede a change to the kind of
    /// a field, because the kind determines which entries must be removed from the index.
    async fn merge_search_index(&self) -> Result<(), StoreError> {
        let max_unmerged_changes = 0;
        // The time limit of the request bounds this loop.
        while self.store.tend_search(max_unmerged_changes).await? {}
        Ok(())
    }

    /// Creates or changes several fields in one transaction. Each field must have its present
    /// version, or the version 0 if it is new. If somebody else changes the fields too often at the
    /// same time, fails with [`StoreError::Overloaded`].
    ///
    /// Does not check whether a field is in use, so the changes must be allowed for fields in use.
    pub async fn put_all(
        &self,
        fields: &[FieldDefinition],
        context: &WriteContext,
    ) -> Result<Changed<FieldRefusal>, StoreError> {
        for _ in 0..MAX_TRIES {
            let present = self.store.fields().await?;
            let field_changes = match decide_all(fields, &present) {
                Ok(field_changes) => field_changes,
                Err(refusal) => return Ok(Changed::Refused(refusal)),
            };
            // The callers are pages, which respond without a remembered response.
            let response = StoredResponse::default();
            if let Some(outcome) = self.write(field_changes, response, context).await? {
                return Ok(outcome);
            }
        }
        Err(StoreError::Overloaded)
    }
}

/// Returns the refusal of a change that needs an unused field, because an animal has a value.
fn refuse_in_use(present: &FieldSet, change: &FieldChange) -> FieldRefusal {
    match present.find(change.name.as_str()) {
        Some(field) => FieldRefusal::InUse(Box::new(field.clone())),
        // Does not occur: only the change of an existing field needs an unused field.
        None => FieldRefusal::NotFound,
    }
}

/// Decides how to put several fields in one transaction. Fails if one of the fields is refused.
fn decide_all(
    fields: &[FieldDefinition],
    present: &FieldSet,
) -> Result<FieldChanges, FieldRefusal> {
    let mut field_changes = FieldChanges::default();
    let mut earlier_change_count = 0;
    for field in fields {
        let command = FieldCommand::Put(field.clone());
        let preconditions = match field.version {
            0 => Preconditions::ABSENT,
            version => Preconditions::version(version),
        };
        let decision = decide_field(&command, &preconditions, present)?;
        field_changes.acts.extend(decision.act);
        if let Some(mut change) = decision.change {
            // Each earlier change in the list will increment the version of the fields.
            change.seen_version += earlier_change_count;
            earlier_change_count += 1;
            field_changes.changes.push(change);
        }
    }
    Ok(field_changes)
}
