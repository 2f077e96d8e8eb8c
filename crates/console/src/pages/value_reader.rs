//! Reads what people type as the values of fields, as a change of an animal.

use jiff::{Timestamp, civil::Date};
use petstore_domain::store_area::{
    FieldDefinition, FieldKind, FieldPatch, FieldSet, FieldValue, FieldValues, RequestedValue,
};
use petstore_formats::cells::{CellProblem, CellReader};

use super::{
    cells, parts,
    typed_age::is_too_early,
    values::{as_input_text, input_of, label_of, value_markup},
};
use crate::prelude::*;

/// The stored value of a member or field of an animal, compared with a form.
pub(super) struct ComparedValue {
    pub(super) label: String,
    /// The stored value in words.
    pub(super) stored_value: Markup,
    /// Whether the form has another value.
    pub(super) differs: bool,
}

/// A reader of the values that people type for the fields of a store.
#[derive(Clone, Copy)]
pub(super) struct ValueReader<'r> {
    pub(super) fields: &'r FieldSet,
    pub(super) cells: CellReader<'r>,
    pub(super) now: Timestamp,
    /// The day on which people type the values.
    today: Date,
}

impl<'r> ValueReader<'r> {
    /// Returns a reader for the form of this request.
    pub(super) fn new(desk: &'r Desk<'_>, fields: &'r FieldSet) -> Self {
        Self {
            fields,
            cells: desk.cell_reader(),
            now: desk.visit.now,
            today: parts::today(desk),
        }
    }

    /// Reads the values in a form as a change of the stored values.
    ///
    /// Each invalid value becomes an error of its input. A field that the form does not have stays as it is.
    pub(super) fn read_patch(
        &self,
        form: &Form,
        stored_values: &FieldValues,
        errors: &mut Errors,
    ) -> FieldPatch {
        let mut patch = FieldPatch::new();
        for field in self.fields.all() {
            let input_name = input_of(field);
            let Some(typed_text) = form.all(&input_name).next() else {
                continue;
            };
            let stored_value = stored_values.get(field.name.as_str());
            match self.read_change(field, typed_text, stored_value) {
                Ok(Some(change)) => {
                    patch.insert(field.name.as_str().to_owned(), change);
                }
                Ok(None) => {}
                Err(message) => errors.add(input_name, message),
            }
        }
        self.mark_estimated_birth(form, stored_values, &mut patch);
        patch
    }

    /// Lets the mark of an estimated birth follow a change of the day of birth, unless somebody changes the mark, too.
    fn mark_estimated_birth(
        &self,
        form: &Form,
        stored_values: &FieldValues,
        patch: &mut FieldPatch,
    ) {
        let mut all_fields = self.fields.all().iter();
        let Some(mark) = all_fields.find(|field| field.is_birth_estimate()) else {
            return;
        };
        let mut all_fields = self.fields.all().iter();
        let Some(birth_field) = all_fields.find(|field| field.is_birth()) else {
            return;
        };
        let has_new_birth = patch.get(birth_field.name.as_str()).is_some();
        let has_new_mark = patch.get(mark.name.as_str()).is_some();
        if !has_new_birth || has_new_mark {
            return;
        }
        let typed_birth = form.raw(&input_of(birth_field));
        let is_marked = stored_values.get(mark.name.as_str()) == Some(&FieldValue::Boolean(true));
        let change = if self.cells.is_estimated_birth(birth_field, typed_birth) {
            RequestedValue::Set(FieldValue::Boolean(true))
        } else if is_marked {
            RequestedValue::Clear
        } else {
            return;
        };
        patch.insert(mark.name.as_str().to_owned(), change);
    }

    /// Compares the stored values with the values in a form, for each field that the form has.
    pub(super) fn compare(
        &self,
        desk: &Desk<'_>,
        stored_values: &FieldValues,
        form: &Form,
    ) -> Vec<ComparedValue> {
        let mut compared_values = Vec::new();
        for field in self.fields.all() {
            let Some(typed_text) = form.all(&input_of(field)).next() else {
                continue;
            };
            let value = stored_values.get(field.name.as_str());
            let stored_value = if let Some(value) = value {
                value_markup(desk, field, value)
            } else {
                html! { (texts().no_value) }
            };
            compared_values.push(ComparedValue {
                label: label_of(field),
                stored_value,
                differs: self.differs(field, typed_text, value),
            });
        }
        compared_values
    }

    /// Whether a typed value, valid or not, is another value than the stored one.
    fn differs(
        &self,
        field: &FieldDefinition,
        typed_text: &str,
        stored_value: Option<&FieldValue>,
    ) -> bool {
        match self.read_change(field, typed_text, stored_value) {
            Ok(change) => change.is_some(),
            Err(_) => true,
        }
    }

    /// Reads the text in the input of a field as a change of the stored value.
    ///
    /// Returns `None` if the value stays as it is, and a message for people if the text is not a valid value. A stored
    /// value that its input cannot hold, such as two lines in an input of one line, stays while nobody changes the text.
    fn read_change(
        &self,
        field: &FieldDefinition,
        typed_text: &str,
        stored_value: Option<&FieldValue>,
    ) -> Result<Option<RequestedValue>, String> {
        let typed_text = without_irrelevant_space(field.kind, typed_text);
        if let Some(value) = stored_value
            && with_stored_line_ends(&as_input_text(field.kind, value)) == typed_text
        {
            return Ok(None);
        }

        let text = if has_spellings(field.kind) || field.is_unique {
            self.normalize(field, &typed_text)?
        } else {
            typed_text
        };

        if text.trim().is_empty() {
            return Ok(stored_value.map(|_| RequestedValue::Clear));
        }
        if has_spellings(field.kind) && stored_value.is_some_and(|value| value.to_string() == text)
        {
            return Ok(None);
        }
        let change = field.parse_cell(&text);
        if !self.is_valid(field, &change) {
            return Err(invalid_message(field, &text));
        }
        if field.is_birth()
            && text
                .parse()
                .is_ok_and(|born| is_too_early(born, self.today))
        {
            return Err([
                &*label_of(field),
                window_texts().colon,
                texts().birth_too_early,
            ]
            .concat());
        }
        Ok(Some(change))
    }

    /// Returns a typed number or date in the form that the store has. The message for people begins with the label.
    fn normalize(&self, field: &FieldDefinition, typed_text: &str) -> Result<String, String> {
        self.cells
            .normalize(field, typed_text)
            .map_err(|problem| match problem {
                CellProblem::Shortened => cells::describe(&problem, field, typed_text),
                _ => [
                    &*label_of(field),
                    window_texts().colon,
                    &*cells::describe(&problem, field, typed_text),
                ]
                .concat(),
            })
    }

    /// Whether an animal can have the value of a field.
    fn is_valid(&self, field: &FieldDefinition, change: &RequestedValue) -> bool {
        let patch = FieldPatch::from([(field.name.as_str().to_owned(), change.clone())]);
        self.fields
            .apply(&FieldValues::NONE, &patch, self.now)
            .is_ok()
    }
}

/// Whether people type a value of this kind in several spellings. Not every browser has an input for a date.
fn has_spellings(kind: FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Decimal | FieldKind::Integer | FieldKind::Date
    )
}

/// Returns the message that a text is not a value of the field, or no longer one of its choices.
fn invalid_message(field: &FieldDefinition, text: &str) -> String {
    let label = label_of(field);
    match field.kind {
        FieldKind::Choice => texts().choice_removed(&label, &markup::readable(text, SHORT_LENGTH)),
        _ => wording::value_invalid(&label, field),
    }
}

/// Returns a typed text without the space around a value of this kind. A text keeps its space.
fn without_irrelevant_space(kind: FieldKind, text: &str) -> String {
    match kind {
        FieldKind::Text => text.to_owned(),
        FieldKind::LongText => with_stored_line_ends(text),
        _ => text.trim().to_owned(),
    }
}

/// Returns a text with LF in place of CR LF, which browsers send.
fn with_stored_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n")
}
