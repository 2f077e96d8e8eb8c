//! The rules for creating, changing and deleting fields.

use std::borrow::Cow;

use super::{
    Act, ActType, FieldDefinition, FieldName, FieldSet, JournalSubject, Preconditions, SubjectKind,
};
use crate::text::comparison_key;

/// A client's request to change the definition of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldCommand {
    /// Creates the field, or replaces its definition. The version in the definition is ignored.
    Put(FieldDefinition),
    /// Deletes the field with this name.
    Delete(FieldName),
}

/// The outcome of a request that the rules allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDecision {
    /// The change to save; `None` if the field already is as requested.
    pub change: Option<FieldChange>,
    /// The act for the audit trail; `None` exactly if `change` is.
    pub act: Option<Act>,
    /// Whether the request creates the field.
    pub is_new: bool,
    /// The field after the change; `None` if the request deletes it.
    pub field: Option<FieldDefinition>,
}

/// A change of a field. A store saves it only while [`FieldSet::version`] is still `seen_version`
/// (optimistic locking).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    /// The common version of all fields, [`FieldSet::version`], on which the change is based.
    pub seen_version: i64,
    /// The name of the field.
    pub name: FieldName,
    /// The new definition; `None` deletes the field.
    pub after: Option<FieldDefinition>,
    /// Whether the change is allowed only while no animal has a value of the field. This is so if
    /// it deletes the field, or changes its kind or uniqueness. The store must then have found at
    /// `seen_version` that there is no value.
    pub must_be_unused: bool,
}

/// The reason why a request about a field is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldRefusal {
    /// The field to be deleted does not exist.
    NotFound,
    /// The request must have a precondition.
    PreconditionRequired,
    /// The field has a different version than the request requires. Contains the present
    /// definition; `None` if the field does not exist.
    PreconditionFailed(Option<Box<FieldDefinition>>),
    /// The store already has [`FieldDefinition::MAX`] fields.
    TooMany,
    /// An animal has a value of the field.
    InUse(Box<FieldDefinition>),
    /// This other field already has the label, regardless of upper and lower case.
    DuplicateLabel(Box<FieldDefinition>),
}

/// Decides what a request about a field changes, or why it is refused.
///
/// If there are several reasons to refuse a request, the first in this order is returned: field not
/// found, failed precondition, conflicting state.
pub fn decide_field(
    command: &FieldCommand,
    preconditions: &Preconditions,
    fields: &FieldSet,
) -> Result<FieldDecision, FieldRefusal> {
    match command {
        FieldCommand::Put(new_field) => decide_put(new_field, preconditions, fields),
        FieldCommand::Delete(name) => decide_deletion(name, preconditions, fields),
    }
}

/// Decides how a field is created or replaced.
fn decide_put(
    new_field: &FieldDefinition,
    preconditions: &Preconditions,
    fields: &FieldSet,
) -> Result<FieldDecision, FieldRefusal> {
    let before = fields.find(new_field.name.as_str());
    check_preconditions(preconditions, before)?;
    check_label(new_field, before, fields)?;
    match before {
        Some(before) => Ok(decide_change(before, new_field, fields)),
        None => decide_addition(new_field, fields),
    }
}

/// Decides how the field with this name is deleted, which is possible only while no animal has a
/// value.
fn decide_deletion(
    name: &FieldName,
    preconditions: &Preconditions,
    fields: &FieldSet,
) -> Result<FieldDecision, FieldRefusal> {
    let Some(before) = fields.find(name.as_str()) else {
        return Err(FieldRefusal::NotFound);
    };
    check_preconditions(preconditions, Some(before))?;
    Ok(FieldDecision {
        change: Some(FieldChange {
            seen_version: fields.version,
            name: before.name.clone(),
            after: None,
            must_be_unused: true,
        }),
        act: Some(before.create_act(ActType::FieldDeleted)),
        is_new: false,
        field: None,
    })
}

/// Rejects a request that has no preconditions, or whose preconditions do not hold for the field.
fn check_preconditions(
    preconditions: &Preconditions,
    before: Option<&FieldDefinition>,
) -> Result<(), FieldRefusal> {
    if !preconditions.are_given() {
        return Err(FieldRefusal::PreconditionRequired);
    }
    if !preconditions.hold_for(before.map(|field| field.version)) {
        let present_field = before.cloned().map(Box::new);
        return Err(FieldRefusal::PreconditionFailed(present_field));
    }
    Ok(())
}

/// Rejects a label that another field already has, regardless of upper and lower case, because
/// people could not tell the fields apart.
///
/// A new label that differs from the former one at most in upper and lower case is not checked.
/// Earlier releases allowed duplicates, and a field that is one must stay changeable.
fn check_label(
    new_field: &FieldDefinition,
    before: Option<&FieldDefinition>,
    fields: &FieldSet,
) -> Result<(), FieldRefusal> {
    let label_key = comparison_key(new_field.label.as_str());
    let changes_at_most_case =
        before.is_some_and(|before| comparison_key(before.label.as_str()) == label_key);
    if changes_at_most_case {
        return Ok(());
    }
    match fields.find_other_with_label(&new_field.name, new_field.label.as_str()) {
        Some(other_field) => Err(FieldRefusal::DuplicateLabel(Box::new(other_field.clone()))),
        None => Ok(()),
    }
}

/// Decides how a new field is added, with the version 1.
fn decide_addition(
    new_field: &FieldDefinition,
    fields: &FieldSet,
) -> Result<FieldDecision, FieldRefusal> {
    if fields.all().len() >= FieldDefinition::MAX {
        return Err(FieldRefusal::TooMany);
    }
    let after = with_version(new_field, 1);
    Ok(FieldDecision {
        change: Some(FieldChange {
            seen_version: fields.version,
            name: after.name.clone(),
            after: Some(after.clone()),
            must_be_unused: false,
        }),
        act: Some(after.create_act(ActType::FieldAdded)),
        is_new: true,
        field: Some(after),
    })
}

/// Decides how a field is replaced by `new_field`, with the next version.
fn decide_change(
    before: &FieldDefinition,
    new_field: &FieldDefinition,
    fields: &FieldSet,
) -> FieldDecision {
    if with_version(new_field, before.version) == *before {
        return FieldDecision {
            change: None,
            act: None,
            is_new: false,
            field: Some(before.clone()),
        };
    }
    let after = with_version(new_field, before.version + 1);
    // Only with the same kind and uniqueness are all present values certainly still valid.
    let keeps_values_valid = before.kind == after.kind && before.is_unique == after.is_unique;
    FieldDecision {
        change: Some(FieldChange {
            seen_version: fields.version,
            name: after.name.clone(),
            after: Some(after.clone()),
            must_be_unused: !keeps_values_valid,
        }),
        act: Some(before.create_change_act(&after)),
        is_new: false,
        field: Some(after),
    }
}

/// Returns a copy of a field with another version.
fn with_version(field: &FieldDefinition, version: i64) -> FieldDefinition {
    FieldDefinition {
        version,
        ..field.clone()
    }
}

impl FieldDefinition {
    /// Creates the act of changing this field to `after`.
    ///
    /// Its details describe the new definition. For each changed detail, another detail with the
    /// prefix `before.` has the former value, which is empty if there was none. For example, if the
    /// label changes from `Breed` to `Race`, the details contain `label` with `Race`, and
    /// `before.label` with `Breed`.
    fn create_change_act(&self, after: &Self) -> Act {
        let former_details = self.create_act(ActType::FieldChanged).details;
        let mut act = after.create_act(ActType::FieldChanged);

        let mut differences = Vec::new();
        for (name, former_text) in &former_details {
            if find_detail(&act.details, name) != Some(former_text) {
                differences.push((format!("before.{name}").into(), former_text.clone()));
            }
        }
        for (name, _) in &act.details {
            if find_detail(&former_details, name).is_none() {
                differences.push((format!("before.{name}").into(), String::new()));
            }
        }
        act.details.extend(differences);
        act
    }

    /// Creates an act of this type on the field. Its details have the whole definition.
    pub fn create_act(&self, act_type: ActType) -> Act {
        let mut details: Vec<(Cow<'static, str>, String)> = vec![
            ("name".into(), self.name.as_str().to_owned()),
            ("label".into(), self.label.as_str().to_owned()),
            ("kind".into(), self.kind.as_str().to_owned()),
            ("public".into(), self.is_public.to_string()),
            ("unique".into(), self.is_unique.to_string()),
            ("position".into(), self.position.to_string()),
        ];
        if let Some(choices) = &self.choices {
            details.push(("choices".into(), choices.values().join(", ")));
            let labels: Vec<String> = choices
                .labels()
                .iter()
                .map(|(value, label)| format!("{value}: {label}"))
                .collect();
            if !labels.is_empty() {
                details.push(("choiceLabels".into(), labels.join(", ")));
            }
        }
        Act {
            kind: act_type.into(),
            subject: JournalSubject {
                kind: SubjectKind::Field.into(),
                id: None,
            },
            details,
        }
    }
}

/// Returns the text of the detail with this name, if there is one.
fn find_detail<'d>(details: &'d [(Cow<'static, str>, String)], name: &str) -> Option<&'d String> {
    let (_, text) = details.iter().find(|(detail, _)| detail == name)?;
    Some(text)
}
