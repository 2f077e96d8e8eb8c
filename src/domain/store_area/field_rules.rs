//! What a request about a field changes.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{Act, ActType, FieldDefinition, FieldName, FieldSet, Preconditions};

/// What a client wants of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldWish {
    /// That it is like this. The version does not count.
    Put(FieldDefinition),
    Delete(FieldName),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDecision {
    /// `None` if the field is already as it is wanted.
    pub change: Option<FieldChange>,
    /// For the audit trail.
    pub act: Option<Act>,
    /// Whether the field is new.
    pub is_new: bool,
    /// The field after the change; `None` if it is deleted.
    pub field: Option<FieldDefinition>,
}

/// A change of a field, which is valid while [`FieldSet::version`] is the one that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    pub seen: i64,
    pub name: FieldName,
    /// `None` if it is deleted.
    pub after: Option<FieldDefinition>,
}

/// Why nothing is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldRefusal {
    NotFound,
    PreconditionRequired,
    /// The field has another version. `None` if it does not exist.
    PreconditionFailed(Option<Box<FieldDefinition>>),
    /// There are [`FieldDefinition::MAX`] fields.
    TooMany,
}

/// Decides about a wish. The reason why nothing is changed is looked for in the order: not found,
/// precondition, state.
pub fn decide_field(
    wish: &FieldWish,
    preconditions: &Preconditions,
    present: &FieldSet,
) -> Result<FieldDecision, FieldRefusal> {
    let (FieldWish::Put(FieldDefinition { name, .. }) | FieldWish::Delete(name)) = wish;
    let before = present.find(name.as_str());
    if before.is_none() && matches!(wish, FieldWish::Delete(_)) {
        return Err(FieldRefusal::NotFound);
    }
    if !preconditions.are_given() {
        return Err(FieldRefusal::PreconditionRequired);
    }
    if !preconditions.hold_for(before.map(|field| field.version)) {
        return Err(FieldRefusal::PreconditionFailed(before.cloned().map(Box::new)));
    }
    let decided = |kind, field: &FieldDefinition, after: Option<FieldDefinition>| FieldDecision {
        change: Some(FieldChange {
            seen: present.version,
            name: name.clone(),
            after: after.clone(),
        }),
        act: Some(field.act(kind)),
        is_new: kind == ActType::FieldAdded,
        field: after,
    };
    match (wish, before) {
        (FieldWish::Put(wanted), Some(before)) => {
            let after = FieldDefinition { version: before.version, ..wanted.clone() };
            if after == *before {
                return Ok(FieldDecision {
                    change: None,
                    act: None,
                    is_new: false,
                    field: Some(after),
                });
            }
            let after = FieldDefinition { version: before.version + 1, ..after };
            Ok(decided(ActType::FieldChanged, &after.clone(), Some(after)))
        }
        (FieldWish::Put(_), None) if present.all().len() >= FieldDefinition::MAX => {
            Err(FieldRefusal::TooMany)
        }
        (FieldWish::Put(wanted), None) => {
            let after = FieldDefinition { version: 1, ..wanted.clone() };
            Ok(decided(ActType::FieldAdded, &after.clone(), Some(after)))
        }
        (FieldWish::Delete(_), Some(before)) => Ok(decided(ActType::FieldDeleted, before, None)),
        (FieldWish::Delete(_), None) => Err(FieldRefusal::NotFound),
    }
}
