//! Renders the forms of a preview of pasted lines, in which the member chooses the meanings of the
//! columns, and says whether the first line has headings.

use petstore_formats::files::Separator;

use super::{
    column_meanings::column_choices,
    paste::PetTable,
    pasted_columns::Column,
    pasted_text::{HEADINGS_INPUT, LINES_INPUT, NO_HEADINGS, SEPARATOR_INPUT, WITH_HEADINGS},
    pet_schema::PetSchema,
};
use crate::prelude::*;

/// What a preview shows.
pub(super) struct ImportPreview<'p> {
    pub(super) form: &'p Form,
    pub(super) pet_table: &'p PetTable,
    pub(super) schema: PetSchema<'p>,
    /// The number of animals from earlier lines that were just added.
    pub(super) added_count: usize,
}

/// Renders a hidden input.
pub(super) fn hidden_input(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// Returns the value of [`HEADINGS_INPUT`] for these lines.
pub(super) fn headings_value(pet_table: &PetTable) -> &'static str {
    if pet_table.has_headings {
        WITH_HEADINGS
    } else {
        NO_HEADINGS
    }
}

/// Renders a form with a button that repeats the preview with the first line as headings.
///
/// Renders nothing unless the line looks like headings, but is read as an animal.
pub(super) fn headings_offer(form: &Form, pet_table: &PetTable) -> Markup {
    html! {
        @if pet_table.may_have_headings {
            form.card.row method="post" action="/add/preview" {
                (hidden_input(LINES_INPUT, form.raw(LINES_INPUT)))
                (hidden_input(SEPARATOR_INPUT, pet_table.separator.as_str()))
                (hidden_input(HEADINGS_INPUT, WITH_HEADINGS))
                button.main { (texts().first_line_has_headings) }
                span.muted { (texts().first_line_counts) }
            }
        }
    }
}

/// Whether the member must choose the meaning of a column.
fn needs_choice(column: &Column, errors: &Errors) -> bool {
    column.loses_content() || errors.message_for(&column.choice_input).is_some()
}

/// Whether the member must choose the meaning of any column.
pub(super) fn has_unknown_columns(pet_table: &PetTable) -> bool {
    pet_table
        .columns
        .iter()
        .any(|column| needs_choice(column, &pet_table.column_errors))
}

/// Renders the form that requests another preview. `has_errors` says whether the preview has errors
/// of any kind.
///
/// The form begins with the columns whose meaning the member must choose. The other columns are
/// collapsed. The lines are collapsed, too, unless the preview has errors.
pub(super) fn preview_form(
    preview: &ImportPreview<'_>,
    errors: &Errors,
    has_errors: bool,
) -> Markup {
    let pet_table = preview.pet_table;
    let column_errors = &pet_table.column_errors;
    let mut choices = vec![(String::new(), texts().leave_out.to_owned())];
    choices.extend(column_choices(preview.schema.fields));
    let (unknown_columns, known_columns): (Vec<&Column>, Vec<&Column>) = pet_table
        .columns
        .iter()
        .partition(|column| needs_choice(column, column_errors));
    let lines_input =
        Input::from_form(LINES_INPUT, texts().paste, preview.form, errors).make_multiline();
    html! {
        form.card.stack method="post" action="/add/preview" {
            @if !unknown_columns.is_empty() {
                h2 { (texts().unknown_columns) }
                div.fields {
                    @for column in unknown_columns { (column_input(column, &choices, column_errors)) }
                }
            }
            details {
                summary { (texts().columns) }
                div.fields {
                    (layout_inputs(pet_table))
                    @for column in known_columns { (column_input(column, &choices, column_errors)) }
                }
            }
            details open[has_errors] {
                summary { (texts().change_lines) }
                (lines_input.show())
            }
            div { button { (texts().preview_again) } }
        }
    }
}

/// Renders the dropdowns that say whether the first line has headings, and what separates the
/// cells.
fn layout_inputs(pet_table: &PetTable) -> Markup {
    // The labels are in the order of the values.
    let [no_headings_label, with_headings_label] = texts().first_line_is;
    let headings_choices = [
        (NO_HEADINGS, no_headings_label),
        (WITH_HEADINGS, with_headings_label),
    ];
    let headings_input = Input {
        id: HEADINGS_INPUT,
        label: texts().first_line,
        value: headings_value(pet_table),
        ..Input::default()
    };
    // The labels are in the order of `Separator::ALL`.
    let separator_choices: Vec<_> = Separator::ALL
        .into_iter()
        .map(Separator::as_str)
        .zip(texts().separators)
        .collect();
    let separator_input = Input {
        id: SEPARATOR_INPUT,
        label: texts().separator,
        value: pet_table.separator.as_str(),
        ..Input::default()
    };
    html! {
        (headings_input.show_dropdown(&headings_choices))
        (separator_input.show_dropdown(&separator_choices))
    }
}

/// Renders the dropdown for the meaning of a column.
fn column_input(column: &Column, choices: &[(String, String)], errors: &Errors) -> Markup {
    let label = texts().column(&column.heading);
    let input = Input {
        id: &column.choice_input,
        label: &label,
        value: &column.meaning,
        error: errors.message_for(&column.choice_input),
        ..Input::default()
    };
    input.show_dropdown(choices)
}
