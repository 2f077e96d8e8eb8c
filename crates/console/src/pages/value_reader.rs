//! Reads the values that a member submits for the fields of an animal: as a patch of the animal, or
//! to compare them with the stored values.

use jiff::{Timestamp, civil::Date};
use petstore_domain::store_area::{
    FieldDefinition, FieldKind, FieldPatch, FieldSet, FieldValue, FieldValues, RequestedValue,
};
use petstore_formats::cells::{CellProblem, CellReader};

use super::{
    cells, parts,
    typed_age::is_too_early,
    values::{
        find_birth_estimate_field, find_birth_field, format_for_input, input_name_of,
        is_birth_estimated, label_of, value_markup,
    },
};
use crate::prelude::*;

/// The result of comparing a stored value of an animal with the value in a form.
pub(super) struct ComparedValue {
    pub(super) label: String,
    /// The stored value in readable form.
    pub(super) stored_value: Markup,
    /// Whether the form has a different value.
    pub(super) differs: bool,
}

/// A reader of the values that members enter for the fields of a store.
#[derive(Clone, Copy)]
pub(super) struct ValueReader<'r> {
    pub(super) fields: &'r FieldSet,
    pub(super) cells: CellReader<'r>,
    pub(super) now: Timestamp,
    /// The current day of the store, from which the age of an animal is computed.
    today: Date,
}

impl<'r> ValueReader<'r> {
    /// Creates a reader for the form of this request.
    pub(super) fn new(desk: &'r Desk<'_>, fields: &'r FieldSet) -> Self {
        Self {
            fields,
            cells: desk.cell_reader(),
            now: desk.visit.now,
            today: parts::today(desk),
        }
    }

    /// Reads the values in a form as a patch of the stored values.
    ///
    /// A field that the form does not contain stays unchanged. Each invalid value becomes an error
    /// of its input.
    pub(super) fn read_patch(
        &self,
        form: &Form,
        stored_values: &FieldValues,
        errors: &mut Errors,
    ) -> FieldPatch {
        let mut patch = FieldPatch::new();
        for field in self.fields.all() {
            let input_name = input_name_of(field);
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
        self.update_birth_estimate(form, stored_values, &mut patch);
        patch
    }

    /// Sets or clears the mark that the day of birth is an estimate, if the patch changes that day.
    ///
    /// The mark is set if the new day is an estimate, and cleared otherwise. If the patch already
    /// changes the mark, because the member edited it, nothing is adapted.
    fn update_birth_estimate(
        &self,
        form: &Form,
        stored_values: &FieldValues,
        patch: &mut FieldPatch,
    ) {
        let Some(mark_field) = find_birth_estimate_field(self.fields) else {
            return;
        };
        let Some(birth_field) = find_birth_field(self.fields) else {
            return;
        };
        let mark_name = mark_field.name.as_str();
        let has_new_birth = patch.get(birth_field.name.as_str()).is_some();
        let has_new_mark = patch.get(mark_name).is_some();
        if !has_new_birth || has_new_mark {
            return;
        }
        let typed_birth = form.raw(&input_name_of(birth_field));
        if self.cells.is_estimated_birth(birth_field, typed_birth) {
            let mark = RequestedValue::Set(FieldValue::Boolean(true));
            patch.insert(mark_name.to_owned(), mark);
        } else if is_birth_estimated(self.fields, stored_values) {
            patch.insert(mark_name.to_owned(), RequestedValue::Clear);
        }
    }

    /// Compares each value in a form with the stored value of its field.
    pub(super) fn compare(
        &self,
        desk: &Desk<'_>,
        stored_values: &FieldValues,
        form: &Form,
    ) -> Vec<ComparedValue> {
        let mut compared_values = Vec::new();
        for field in self.fields.all() {
            let Some(typed_text) = form.all(&input_name_of(field)).next() else {
                continue;
            };
            let stored_value = stored_values.get(field.name.as_str());
            let shown_value = if let Some(value) = stored_value {
                value_markup(desk, field, value)
            } else {
                html! { (texts().no_value) }
            };
            compared_values.push(ComparedValue {
                label: label_of(field),
                stored_value: shown_value,
                differs: self.differs(field, typed_text, stored_value),
            });
        }
        compared_values
    }

    /// Whether a submitted text differs from the stored value. An invalid text always does.
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

    /// Reads the text in the input of a field as a change of the stored value. Returns `None` if
    /// the value stays unchanged.
    ///
    /// Some stored values cannot be represented by their input, such as two lines in an input of
    /// one line. Such a value is kept until the member edits the text.
    ///
    /// # Errors
    ///
    /// Returns the error message if the text is not a valid value.
    fn read_change(
        &self,
        field: &FieldDefinition,
        typed_text: &str,
        stored_value: Option<&FieldValue>,
    ) -> Result<Option<RequestedValue>, String> {
        let trimmed_text = trim_for_kind(field.kind, typed_text);
        if let Some(value) = stored_value
            && with_stored_line_ends(&format_for_input(field.kind, value)) == trimmed_text
        {
            // The member has not edited the text.
            return Ok(None);
        }

        // For a unique field, this rejects a number whose last digits a spreadsheet has dropped.
        let text = if has_several_spellings(field.kind) || field.is_unique {
            self.normalize(field, &trimmed_text)?
        } else {
            trimmed_text
        };

        // In a field with texts, the text can consist of white space, which counts as no value.
        if text.trim().is_empty() {
            return Ok(stored_value.map(|_| RequestedValue::Clear));
        }
        if has_several_spellings(field.kind)
            && stored_value.is_some_and(|value| value.to_string() == text)
        {
            // The text is another spelling of the stored value.
            return Ok(None);
        }
        let change = field.parse_cell(&text);
        if !self.is_valid(field, &change) {
            return Err(invalid_message(field, &text));
        }
        self.check_birth(field, &text)?;
        Ok(Some(change))
    }

    /// Checks that a day of birth does not make the animal implausibly old. If it does, returns the
    /// error message. Accepts every value of another field.
    fn check_birth(&self, field: &FieldDefinition, text: &str) -> Result<(), String> {
        if field.is_birth()
            && let Ok(born) = text.parse::<Date>()
            && is_too_early(born, self.today)
        {
            return Err(labelled_message(field, texts().birth_too_early));
        }
        Ok(())
    }

    /// Converts a typed text to the format of the store, or returns the error message.
    fn normalize(&self, field: &FieldDefinition, typed_text: &str) -> Result<String, String> {
        self.cells
            .canonical_text(field, typed_text)
            .map_err(|problem| {
                let message = cells::problem_message(&problem, field, typed_text);
                match problem {
                    // This message needs no label.
                    CellProblem::Shortened => message,
                    _ => labelled_message(field, &message),
                }
            })
    }

    /// Whether the value is valid for the field.
    fn is_valid(&self, field: &FieldDefinition, change: &RequestedValue) -> bool {
        let patch = FieldPatch::from([(field.name.as_str().to_owned(), change.clone())]);
        self.fields
            .apply(&FieldValues::NONE, &patch, self.now)
            .is_ok()
    }
}

/// Returns a message, preceded by the label of a field and a colon.
fn labelled_message(field: &FieldDefinition, message: &str) -> String {
    [&*label_of(field), window_texts().colon, message].concat()
}

/// Whether values of this kind can be written in several ways, such as `1,5` and `1.5`. Dates can,
/// because not every browser has a date input.
fn has_several_spellings(kind: FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Decimal | FieldKind::Integer | FieldKind::Date
    )
}

/// Returns the message that a text is not a valid value of the field. For a choice, the message
/// says that the choice was removed.
fn invalid_message(field: &FieldDefinition, text: &str) -> String {
    let label = label_of(field);
    match field.kind {
        FieldKind::Choice => texts().choice_removed(&label, &markup::readable(text, SHORT_LENGTH)),
        _ => wording::value_invalid(&label, field),
    }
}

/// Trims a submitted text, unless it is for a field with texts: there, white space is significant.
/// The line breaks of a long text are converted to the format of the store.
fn trim_for_kind(kind: FieldKind, text: &str) -> String {
    match kind {
        FieldKind::Text => text.to_owned(),
        FieldKind::LongText => with_stored_line_ends(text),
        _ => text.trim().to_owned(),
    }
}

/// Replaces CR LF, the line break that browsers send, with LF, the line break in the store.
fn with_stored_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n")
}
