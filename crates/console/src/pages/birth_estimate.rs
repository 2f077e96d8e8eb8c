//! The field that marks a day of birth as estimated, because it was calculated from an age.
//!
//! The field is an ordinary boolean one, so exports, imports and the interface for programs include
//! it. A store gets the field when a member saves the first estimated day of birth.

use petstore_domain::{
    StoredResponse,
    store_area::{
        FieldCommand, FieldDefinition, FieldKind, FieldName, FieldSet, Label, Preconditions,
    },
};

use super::values;
use crate::prelude::*;

/// Adds the field that marks an estimated day of birth, unless the store has it already. Returns
/// all fields of the store.
///
/// Adds nothing if the store has no field for the day of birth, or has the maximum number of
/// fields.
pub(super) async fn ensure_birth_estimate_field(
    desk: &Desk<'_>,
    fields: FieldSet,
) -> Result<FieldSet, ApiError> {
    if values::find_birth_estimate_field(&fields).is_some() {
        return Ok(fields);
    }
    let Some(birth_field) = values::find_birth_field(&fields) else {
        return Ok(fields);
    };
    let Some(new_field) = define_estimate_field(birth_field) else {
        return Ok(fields);
    };

    let command = FieldCommand::Put(new_field);
    // The idempotency key of the form belongs to the command that adds the animal, so this change
    // has no key. A second click on the form finds the field and does not add it again.
    let context = desk.context_of(None);
    // The outcome is ignored: if the store refuses the field, for example because it has too many,
    // the day of birth is saved without the mark.
    desk.app()
        .fields
        .change(&command, &Preconditions::ABSENT, context, |_| {
            StoredResponse::default()
        })
        .await?;
    Ok(desk.store().fields().await?)
}

/// Returns the definition of the field that marks the values of `birth_field` as estimated.
///
/// The new field is public if the days of birth are public. Otherwise, the public window would show
/// an estimate as an exact day.
///
/// This is never `None`, because both constructors accept the constant name and the label in every
/// language.
fn define_estimate_field(birth_field: &FieldDefinition) -> Option<FieldDefinition> {
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
