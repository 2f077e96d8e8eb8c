//! The preview of pasted lines: the animals that they would add, and what is wrong with them.

use super::{
    animal_fields::LISTED,
    column_meanings::column_choices,
    paste::{Line, PastedPet, PetTable},
    pasted_columns::Column,
    pasted_text::{HEADINGS_INPUT, NO_HEADINGS, SEPARATOR_INPUT},
    pet_schema::PetSchema,
    values,
};
use crate::prelude::*;
use petstore_domain::store_area::{FieldSet, RequestedValue};
use petstore_formats::files::Separator;

/// The lines that a preview shows.
pub(super) struct ImportPreview<'p> {
    pub(super) form: &'p Form,
    pub(super) pet_table: &'p PetTable,
    pub(super) schema: PetSchema<'p>,
    /// The number of animals of earlier lines that were just added.
    pub(super) added_count: usize,
}

/// Returns the page with a preview. Without errors, it has a form that adds the animals.
pub(super) fn show_preview(desk: &Desk<'_>, preview: &ImportPreview<'_>, errors: &Errors) -> Page {
    let form = preview.form;
    let pet_table = preview.pet_table;
    let line_count = pet_table.lines.len();
    let remaining_count = pet_table.remaining_count;
    let wrong_lines = pet_table.lines.iter().filter(|line| line.result.is_err());
    let wrong_count = wrong_lines.count();
    let has_column_errors = !pet_table.column_errors.is_empty();
    let is_wrong = wrong_count > 0 || has_column_errors || !errors.is_empty();

    let content = html! {
        h1 { (texts().preview) }
        @if preview.added_count > 0 {
            div.flash role="status" { (texts().lines_added(preview.added_count)) }
        }
        (errors.summary())
        (pet_table.column_errors.summary())
        @if !pet_table.titles.is_empty() { p { (texts().titles_left_out(&pet_table.titles)) } }
        @if remaining_count > 0 { p { (texts().first_lines(line_count, remaining_count)) } }
        @if wrong_count > 0 && !has_column_errors {
            div.problem role="alert" tabindex="-1" autofocus { (texts().wrong_lines(wrong_count)) }
        } @else if !has_column_errors && line_count > 0 {
            (add_form(desk, form, pet_table))
        }
        div.scrolls tabindex="0" { (table(desk, pet_table, preview.schema)) }
        form.card.stack method="post" action="/add/preview" {
            (column_inputs(pet_table, preview.schema.fields))
            details open[is_wrong] {
                summary { (texts().change_lines) }
                (Input::from_form("lines", texts().paste, form, errors).make_multiline().show())
            }
            div { button { (texts().preview_again) } }
        }
    };
    Page::new(texts().preview, content).with_error_status_if(is_wrong)
}

/// Shows the form that adds the animals of the preview. A person must agree to columns that are left out.
fn add_form(desk: &Desk<'_>, form: &Form, pet_table: &PetTable) -> Markup {
    let left_out_headings = pet_table.left_out_headings();
    html! {
        form.card.stack method="post" action="/add/many" {
            (desk.key(&format!("many-{}", pet_table.remaining_count)))
            (hidden_input("lines", form.raw("lines")))
            (hidden_input(HEADINGS_INPUT, headings_value(pet_table)))
            (hidden_input(SEPARATOR_INPUT, pet_table.separator.as_str()))
            @for column in &pet_table.columns { (hidden_input(&column.id, &column.input)) }
            @if !left_out_headings.is_empty() {
                @let label = texts().left_out(&left_out_headings);
                fieldset {
                    p { (texts().left_out_hint) }
                    label {
                        input #left-out type="checkbox" name="left-out" value=(label) required;
                        (label)
                    }
                }
            }
            div.buttons {
                button.main { (texts().add_count(pet_table.lines.len())) }
                span.muted { (texts().preview_hint) }
            }
        }
    }
}

fn hidden_input(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// The values of [`HEADINGS_INPUT`]: the first line is an animal, or it has headings.
const HEADINGS_VALUES: [&str; 2] = [NO_HEADINGS, "yes"];

/// Returns the value of [`HEADINGS_INPUT`] for these lines.
fn headings_value(pet_table: &PetTable) -> &'static str {
    HEADINGS_VALUES[usize::from(pet_table.has_headings)]
}

/// Shows an input for the first line and an input for the meaning of each column.
fn column_inputs(pet_table: &PetTable, fields: &FieldSet) -> Markup {
    let mut choices = vec![(String::new(), texts().leave_out.to_owned())];
    choices.extend(column_choices(fields));

    let mut headings_choices = Vec::new();
    for (value, label) in HEADINGS_VALUES.iter().zip(texts().first_line_is) {
        headings_choices.push((value, label));
    }
    let headings_input = Input {
        id: HEADINGS_INPUT,
        label: texts().first_line,
        value: headings_value(pet_table),
        ..Input::default()
    };
    let separators: Vec<_> = Separator::ALL
        .into_iter()
        .zip(texts().separators)
        .map(|(separator, label)| (separator.as_str(), label))
        .collect();
    let separator_input = Input {
        id: SEPARATOR_INPUT,
        label: texts().separator,
        value: pet_table.separator.as_str(),
        ..Input::default()
    };
    html! {
        h2 { (texts().columns) }
        div.fields {
            (headings_input.choose(&headings_choices))
            (separator_input.choose(&separators))
            @for column in &pet_table.columns {
                (column_input(column, &choices, &pet_table.column_errors))
            }
        }
    }
}

fn column_input(column: &Column, choices: &[(String, String)], errors: &Errors) -> Markup {
    let label = texts().column(&column.heading);
    let input = Input {
        id: &column.id,
        label: &label,
        value: &column.input,
        error: errors.message_for(&column.id),
        ..Input::default()
    };
    input.choose(choices)
}

/// Shows the lines without the columns that are left out. A valid line shows the values that it would add.
fn table(desk: &Desk<'_>, pet_table: &PetTable, schema: PetSchema<'_>) -> Markup {
    let mut labels = vec![texts().line];
    for column in &pet_table.columns {
        if !column.input.is_empty() {
            labels.push(&column.label);
        }
    }
    labels.push(texts().check);

    let rows = html! {
        @for line in &pet_table.lines {
            tr.wrong[line.result.is_err()] {
                td.number data-label=(texts().line) { (line.number) }
                @for (index, column) in pet_table.columns.iter().enumerate() {
                    @if !column.input.is_empty() {
                        td.first[column.input == "name"] data-label=(column.label) {
                            (cell(desk, line, index, column, schema))
                        }
                    }
                }
                td data-label=(texts().check) {
                    @match &line.result {
                        Ok(_) => (texts().fine),
                        Err(messages) => @for message in messages { p.error { (message) } },
                    }
                }
            }
        }
    };
    markup::table(&markup::headings(&labels), &rows)
}

/// Shows a cell as its value would be added, or as it was pasted if the line is wrong or the cell has no other form.
fn cell(
    desk: &Desk<'_>,
    line: &Line,
    index: usize,
    column: &Column,
    schema: PetSchema<'_>,
) -> Markup {
    let added_value = match &line.result {
        Ok(pet) => added_value(desk, pet, &column.input, schema),
        Err(_) => None,
    };
    added_value.unwrap_or_else(|| html! { bdi { (line.cells[index]) } })
}

/// Returns the value of an animal that the input with this name has, as pages show it; `None` for its name.
fn added_value(
    desk: &Desk<'_>,
    pasted_pet: &PastedPet,
    input: &str,
    schema: PetSchema<'_>,
) -> Option<Markup> {
    let PastedPet { pet, fields: patch } = pasted_pet;
    if input == "category" {
        return Some(html! {
            bdi { (markup::category(schema.categories, pet.category_id)) }
        });
    }
    if input == "status" {
        return Some(markup::status_badge(pet.status));
    }

    if input == LISTED {
        return Some(html! { (forms::listing_words(pet.is_listed)) });
    }

    let mut fields = schema.fields.all().iter();
    let field = fields.find(|field| values::input_of(field) == input)?;
    match patch.get(field.name.as_str()) {
        Some(RequestedValue::Set(value)) => Some(values::value_markup(desk, field, value)),
        _ => Some(html! {}),
    }
}
