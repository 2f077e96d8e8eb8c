//! The new intake of an animal that a customer returns. Its days in the shelter then count from the
//! return.

use petstore_domain::{
    PetId,
    store_area::{
        Command, FieldKind, FieldPatch, FieldSet, FieldValue, INTAKE, INTAKE_KIND, PetPatch,
        Preconditions, RETURNED, RequestedValue,
    },
};

use super::parts::today;
use crate::prelude::*;

/// The name of the checkbox that records a return as a new intake.
const NEW_INTAKE_FIELD: &str = "new-intake";

/// Renders the checkbox that records a return as a new intake. Renders nothing if the store has no
/// field for the day of an intake.
pub(super) fn checkbox(fields: &FieldSet, is_checked: bool) -> Markup {
    if !has_intake_day(fields) {
        return html! {};
    }
    html! {
        label {
            input type="checkbox" name=(NEW_INTAKE_FIELD) value="yes" checked[is_checked];
            (texts().new_intake)
        }
    }
}

/// Whether the form records the return as a new intake.
pub(super) fn is_checked(form: &Form) -> bool {
    form.get(NEW_INTAKE_FIELD) == "yes"
}

/// Returns the command that sets the day of the intake to today; `None` if the store has no field
/// for this day.
///
/// If the kind of an intake has a choice for a return, the command also sets the kind to it.
pub(super) fn intake_command(desk: &Desk<'_>, pet: PetId, fields: &FieldSet) -> Option<Command> {
    if !has_intake_day(fields) {
        return None;
    }
    let mut patch = FieldPatch::new();
    let day = FieldValue::Text(today(desk).to_string());
    patch.insert(INTAKE.to_owned(), RequestedValue::Set(day));
    let choices = fields
        .find(INTAKE_KIND)
        .and_then(|field| field.choices.as_ref());
    if choices.is_some_and(|choices| choices.find(RETURNED).is_some()) {
        let kind = FieldValue::Text(RETURNED.to_owned());
        patch.insert(INTAKE_KIND.to_owned(), RequestedValue::Set(kind));
    }
    Some(Command::PatchPet {
        id: pet,
        patch: PetPatch {
            fields: patch,
            ..PetPatch::default()
        },
        preconditions: Preconditions::PRESENT,
    })
}

/// Whether the store has the field for the day of an intake. A field of this name that is not a
/// date does not count.
fn has_intake_day(fields: &FieldSet) -> bool {
    fields
        .find(INTAKE)
        .is_some_and(|field| field.kind == FieldKind::Date)
}
