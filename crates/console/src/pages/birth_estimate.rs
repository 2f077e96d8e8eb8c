//! The field that marks a day of birth as estimated, because it was calculated from an age.
//!
//! It is an ordinary boolean field, so it is part of every export and import, and of the interface
//! for programs. A store gets the field when the first such day of birth is saved.

use petstore_domain::{
    StoredResponse,
    store_area::{
        FieldCommand, FieldDefinition, FieldKind, FieldName, FieldSet, Label, Preconditions,
    },
};

use crate::prelude::*;

/// Adds the field for an estimated birth next to the day of birth, unless the store has it already.
/// Returns all fields.
///
/// Adds nothing if the store has no field for the day of birth, or as many fields as it can have.
pub(super) async fn ensure_birth_estimate_field(
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
    let Some(new_field) = estimate_field(birth_field) else {
        return Ok(fields);
    };

    let command = FieldCommand::Put(new_field);
    // Without the idempotency key of the form, which is used for the command that adds the animal.
    // A second click finds that the field exists.
    let context = desk.context_of(None);
    // A refusal is no error here, for example because the store has as many fields as it can have.
    desk.app()
        .fields
        .change(&command, &Preconditions::ABSENT, context, |_| {
            StoredResponse::default()
        })
        .await?;
    Ok(desk.store().fields().await?)
}

/// Returns the definition of the field that marks estimated values of `birth_field`.
///
/// It is public if the days of birth are, so that the public window does not show an estimate as an
/// exact day.
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
