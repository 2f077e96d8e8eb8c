//! Renders the preview of pasted lines: the animals that they would add, and the problems that the
//! member must correct first.

use petstore_domain::store_area::{FieldDefinition, RequestedValue};

use super::{
    animal_fields::{CATEGORY_INPUT, LISTED, NAME_INPUT, STATUS_INPUT},
    line_problems::LineProblems,
    paste::{Line, PastedPet, PetTable},
    pasted_columns::Column,
    pasted_text::{HEADINGS_INPUT, LEFT_OUT_INPUT, LINES_INPUT, SEPARATOR_INPUT},
    pet_schema::PetSchema,
    preview_forms::{
        ImportPreview, has_unknown_columns, headings_offer, headings_value, hidden_input,
        preview_form,
    },
    values,
};
use crate::prelude::*;

/// Renders the page with a preview. If all lines can be added, it has a form that adds the animals.
pub(super) fn show_preview(desk: &Desk<'_>, preview: &ImportPreview<'_>, errors: &Errors) -> Page {
    let form = preview.form;
    let pet_table = preview.pet_table;
    let line_count = pet_table.lines.len();
    let remaining_count = pet_table.remaining_count;
    let wrong_count = count_wrong_lines(&pet_table.lines);
    let has_column_errors = !pet_table.column_errors.is_empty();
    let has_wrong_input = wrong_count > 0 || has_column_errors;
    let has_errors = has_wrong_input || !errors.is_empty();
    let can_be_added = !has_wrong_input && line_count > 0;
    let asks_about_columns = has_unknown_columns(pet_table);
    let line_problems = LineProblems::new(&pet_table.lines);
    let form_markup = preview_form(preview, errors, has_errors);

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
            div.problem role="alert" tabindex="-1" autofocus {
                (texts().wrong_lines(wrong_count)) (line_problems.summary())
            }
        }
        (headings_offer(form, pet_table))
        // If the member must choose the meaning of a column, the form for it precedes the table.
        div.columns {
            @if asks_about_columns { (form_markup) }
            @if can_be_added { (add_form(desk, form, pet_table)) }
        }
        div.scrolls tabindex="0" { (preview_table(desk, pet_table, preview.schema, &line_problems)) }
        @if !asks_about_columns { (form_markup) }
    };
    Page::new(texts().preview, content).with_error_status_if(has_errors)
}

/// Returns the number of lines that cannot be added.
fn count_wrong_lines(lines: &[Line]) -> usize {
    lines.iter().filter(|line| line.result.is_err()).count()
}

/// Renders the form that adds the animals of the preview. If columns are left out, the member must
/// confirm that with a checkbox.
fn add_form(desk: &Desk<'_>, form: &Form, pet_table: &PetTable) -> Markup {
    let left_out_headings = pet_table.left_out_headings();
    html! {
        form.card.stack method="post" action="/add/many" {
            // Each step of a long paste is another form, so its key has another name.
            (desk.idempotency_field(&format!("many-{}", pet_table.remaining_count)))
            (hidden_input(LINES_INPUT, form.raw(LINES_INPUT)))
            (hidden_input(HEADINGS_INPUT, headings_value(pet_table)))
            (hidden_input(SEPARATOR_INPUT, pet_table.separator.as_str()))
            @for column in &pet_table.columns { (hidden_input(&column.choice_input, &column.meaning)) }
            @if !left_out_headings.is_empty() {
                @let label = texts().left_out(&left_out_headings);
                fieldset {
                    p { (texts().left_out_hint) }
                    label {
                        input #(LEFT_OUT_INPUT) type="checkbox" name=(LEFT_OUT_INPUT)
                            value=(label) required;
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

/// Renders the lines as a table, without the columns that are left out. A valid line shows the
/// values that it would add.
fn preview_table(
    desk: &Desk<'_>,
    pet_table: &PetTable,
    schema: PetSchema<'_>,
    line_problems: &LineProblems<'_>,
) -> Markup {
    let mut labels = vec![texts().line];
    for column in &pet_table.columns {
        if !column.is_left_out() {
            labels.push(&column.label);
        }
    }
    labels.push(texts().check);

    let rows = html! {
        @for line in &pet_table.lines {
            tr.wrong[line.result.is_err()] {
                td.number data-label=(texts().line) { (line.number) }
                (line_cells(desk, line, &pet_table.columns, schema))
                td data-label=(texts().check) {
                    @match &line.result {
                        Ok(_) => (texts().fine),
                        Err(messages) => (line_problems.messages_of_line(messages)),
                    }
                }
            }
        }
    };
    markup::table(&markup::headings(&labels), &rows)
}

/// Renders the cells of a line, without the columns that are left out.
fn line_cells(desk: &Desk<'_>, line: &Line, columns: &[Column], schema: PetSchema<'_>) -> Markup {
    html! {
        @for (index, column) in columns.iter().enumerate() {
            @if !column.is_left_out() {
                td.first[column.meaning == NAME_INPUT] data-label=(column.label) {
                    (cell_content(desk, line, index, column, schema))
                }
            }
        }
    }
}

/// Renders the content of a line's cell in the column with this index.
///
/// This is the value that the cell would add. If the line is invalid, or if the cell is the name of
/// the animal, it is the pasted text.
fn cell_content(
    desk: &Desk<'_>,
    line: &Line,
    index: usize,
    column: &Column,
    schema: PetSchema<'_>,
) -> Markup {
    if let Ok(pet) = &line.result
        && let Some(value) = added_value(desk, pet, &column.meaning, schema)
    {
        return value;
    }
    html! { bdi { (line.cells[index]) } }
}

/// Renders the value that a pasted animal has for this input, such as `category`. Returns `None`
/// for its name, which is shown as it was pasted.
fn added_value(
    desk: &Desk<'_>,
    pasted_pet: &PastedPet,
    input: &str,
    schema: PetSchema<'_>,
) -> Option<Markup> {
    let pet = &pasted_pet.pet;
    match input {
        CATEGORY_INPUT => Some(html! {
            bdi { (markup::category(schema.categories, pet.category_id)) }
        }),
        STATUS_INPUT => Some(markup::status_badge(pet.status)),
        LISTED => Some(html! { (forms::listing_words(pet.is_listed)) }),
        _ => {
            let mut fields = schema.fields.all().iter();
            let field = fields.find(|field| values::input_name_of(field) == input)?;
            Some(added_field_value(desk, pasted_pet, field))
        }
    }
}

/// Renders the value that a pasted animal has for a field of the store, or nothing if it has none.
fn added_field_value(desk: &Desk<'_>, pasted_pet: &PastedPet, field: &FieldDefinition) -> Markup {
    match pasted_pet.fields.get(field.name.as_str()) {
        Some(RequestedValue::Set(value)) if field.is_birth() && pasted_pet.is_birth_estimated => {
            values::estimated_birth(desk, value)
        }
        Some(RequestedValue::Set(value)) => values::value_markup(desk, field, value),
        _ => html! {},
    }
}
