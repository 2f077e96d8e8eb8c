//! The mark of a day of birth that was calculated from an age: a field for yes or no, which the store gets with the first
//! such day. As a field, it is in every export and import, and in the interface.

use petstore_domain::{
    StoredResponse,
    store_area::{
        FieldCommand, FieldDefinition, FieldKind, FieldName, FieldSet, Label, Preconditions,
    },
};

use crate::prelude::*;

/// Returns the fields of the store with the mark of an estimated birth. Adds it next to the day of birth if it is missing.
///
/// A store without days of birth, or with as many fields as it can have, stays as it is.
pub(super) async fn with_birth_estimate(
    desk: &Desk<'_>,
    fields: FieldSet,
) -> Result<FieldSet, ApiError> {
    let birth_field = fields.all().iter().find(|field| field.is_birth());
    let has_estimate = fields.all().iter().any(FieldDefinition::is_birth_estimate);
    let Some(birth_field) = birth_field else {
        return Ok(fields);
    };
    if has_estimate {
        return Ok(fields);
    }
    let Some(estimate) = estimate_field(birth_field) else {
        return Ok(fields);
    };

    let command = FieldCommand::Put(estimate);
    // The key of the form belongs to the animal. A second click finds the field.
    let context = desk.context_of(None);
    let respond = |_: &_| StoredResponse::default();
    let all_fields = &desk.app().fields;
    all_fields
        .change(&command, &Preconditions::ABSENT, context, respond)
        .await?;
    Ok(desk.store().fields().await?)
}

/// Returns the mark for a field with days of birth, as public as they are.
fn estimate_field(birth_field: &FieldDefinition) -> Option<FieldDefinition> {
    Some(FieldDefinition {
        name: FieldName::new(FieldDefinition::BIRTH_ESTIMATE)?,
        label: Label::new(window_texts().birth_estimated.to_owned())?,
        kind: FieldKind::Boolean,
        choices: None,
        is_public: birth_field.is_public,
        is_unique: false,
        position: birth_field.position,
        version: 0,
    })
}
