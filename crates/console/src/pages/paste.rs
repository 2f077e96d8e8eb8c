//! Reads pasted lines of a spreadsheet as animals.

use petstore_domain::{
    NewPet, PetStatus,
    store_area::{Category, FieldDefinition, FieldKind, FieldPatch, FieldSet, FieldValues},
};
use petstore_formats::{
    cells::is_spreadsheet_error,
    files::{Separator, TableRow},
};
use petstore_languages::quoted;

use super::{
    animal_fields::{CATEGORY_INPUT, LISTED, NAME_INPUT, STATUS_INPUT},
    category_choice::Species,
    cells,
    column_meanings::ColumnMeanings,
    pasted_columns::{Column, Sheet, read_columns},
    pasted_text::{LINE_END, MAX_ANIMALS, PastedText},
    value_reader::ValueReader,
    values,
};
use crate::{prelude::*, words::FIELD_PREFIX};

/// The key of the errors of a line in [`Errors`]. It names no input, because the errors belong to
/// the line as a whole.
const WHOLE_LINE: &str = "";

/// A reader of lines as animals, for a store with these categories and fields.
#[derive(Clone, Copy)]
pub(super) struct LineReader<'r> {
    pub(super) categories: &'r [Category],
    pub(super) values: ValueReader<'r>,
}

/// Pasted lines, read as a table of animals.
pub(super) struct PetTable {
    pub(super) columns: Vec<Column>,
    pub(super) has_headings: bool,
    /// Whether the first line looks like headings, although it is read as an animal.
    pub(super) may_have_headings: bool,
    pub(super) separator: Separator,
    /// The titles above the headings, such as the name of the sheet, each in quotes. The member
    /// sees that they are not read as animals.
    pub(super) titles: String,
    /// The first [`MAX_ANIMALS`] lines with animals.
    pub(super) lines: Vec<Line>,
    /// The number of lines beyond [`MAX_ANIMALS`]. The next form adds them.
    pub(super) remaining_count: usize,
    /// The text for the next form: the headings and the remaining lines.
    pub(super) remaining_text: String,
    /// The errors about columns, each for the input that selects the meaning of the column.
    pub(super) column_errors: Errors,
}

/// A pasted line that describes an animal.
pub(super) struct Line {
    /// The number of the line in the pasted text, from 1.
    pub(super) number: usize,
    /// The cells in readable form, one for each column.
    pub(super) cells: Vec<String>,
    /// The animal, or all messages about the line.
    pub(super) result: Result<PastedPet, Vec<String>>,
    /// The species, which serves as the category if the line has no category.
    pub(super) species: Option<Species>,
}

/// An animal on a pasted line.
#[derive(Clone)]
pub(super) struct PastedPet {
    pub(super) pet: NewPet,
    pub(super) fields: FieldPatch,
    /// Whether the day of birth is an estimate, from an age, a year or a month.
    pub(super) is_birth_estimated: bool,
}

/// A column with its field.
struct TypedColumn<'c> {
    column: &'c Column,
    /// The field whose values the column contains; `None` if the column is left out, or if it is
    /// for another property of the animal, such as its name.
    field: Option<&'c FieldDefinition>,
}

impl PetTable {
    /// Returns the headings of the columns whose content is left out, each in quotes:
    /// `"Owner", "Notes"`.
    pub(super) fn left_out_headings(&self) -> String {
        let mut headings = Vec::new();
        for column in &self.columns {
            if column.loses_content() {
                headings.push(quoted(&column.heading));
            }
        }
        headings.join(", ")
    }
}

/// Reads pasted lines as a table of animals.
///
/// The meaning of a column is what the member selected in the form, or else what its heading or its
/// position suggests.
pub(super) fn read_pet_table(text: &PastedText, form: &Form, reader: LineReader<'_>) -> PetTable {
    let fields = reader.values.fields;
    let meanings = ColumnMeanings::new(fields, reader.values.cells);
    let sheet = Sheet::split(text, form, &meanings);
    let mut column_errors = Errors::default();
    let columns = read_columns(form, sheet, &meanings, fields, &mut column_errors);

    let mut typed_columns = Vec::new();
    for column in &columns {
        let field = find_field(column, fields);
        typed_columns.push(TypedColumn { column, field });
    }
    let mut lines = Vec::new();
    for row in sheet.pet_rows.iter().take(MAX_ANIMALS) {
        lines.push(read_line(row, &typed_columns, reader));
    }

    let has_headings = sheet.headings.is_some();
    let shown_row_count = lines.len() + usize::from(has_headings);
    PetTable {
        has_headings,
        may_have_headings: sheet.looks_like_headings(),
        separator: text.separator(),
        titles: titles_in_quotes(text),
        remaining_count: text.row_count().saturating_sub(shown_row_count),
        remaining_text: text.text_after_first_lines(has_headings, sheet.pet_rows),
        lines,
        columns,
        column_errors,
    }
}

/// Returns the titles above the headings, each in quotes: `"Our animals", "November"`.
fn titles_in_quotes(text: &PastedText) -> String {
    let mut titles = Vec::new();
    for title in text.titles() {
        titles.push(quoted(&markup::readable(title, SHORT_LENGTH)));
    }
    titles.join(", ")
}

/// Returns the field whose values a column contains.
fn find_field<'f>(column: &Column, fields: &'f FieldSet) -> Option<&'f FieldDefinition> {
    fields
        .all()
        .iter()
        .find(|field| values::input_name_of(field) == column.meaning)
}

/// Reads a row as an animal, or collects all error messages about the row.
fn read_line(row: &TableRow, columns: &[TypedColumn<'_>], reader: LineReader<'_>) -> Line {
    let mut errors = Errors::default();
    let form = form_from_cells(row, columns, reader, &mut errors);
    if row.is_ambiguous {
        errors.add(WHOLE_LINE, texts().several_lines);
    }
    let mut cells_without_heading = row.cells.iter().skip(columns.len());
    if row.has_more_cells || cells_without_heading.any(|cell| !cell.is_empty()) {
        errors.add(WHOLE_LINE, texts().no_heading);
    }

    let species = Species::without_category(&form, reader.values.fields);
    let pet = read_pet(&form, species.as_ref(), reader, &mut errors);
    let result = match pet {
        Some(pet) if errors.is_empty() => Ok(pet),
        _ => Err(errors.messages().map(str::to_owned).collect()),
    };

    let mut cells = Vec::new();
    for index in 0..columns.len() {
        let cell = row.cells.get(index).map_or("", String::as_str);
        cells.push(markup::readable(cell, SHORT_LENGTH));
    }
    Line {
        number: row.line,
        cells,
        result,
        species,
    }
}

/// Converts the cells of a row into the form that a browser would send for the animal. Adds an
/// error for each cell that cannot be read.
fn form_from_cells(
    row: &TableRow,
    columns: &[TypedColumn<'_>],
    reader: LineReader<'_>,
    errors: &mut Errors,
) -> Form {
    let estimate_input = birth_estimate_input();
    let has_estimate_column = columns
        .iter()
        .any(|TypedColumn { column, .. }| column.meaning == estimate_input);
    let mut inputs = Vec::new();
    for (TypedColumn { column, field }, cell) in columns.iter().zip(&row.cells) {
        if column.is_left_out() {
            continue;
        }
        let value = read_cell(*field, cell, reader);
        if let Some(value) = ok_or_add_labelled(value, &column.label, errors) {
            inputs.push((column.meaning.clone(), value));
        }
        let is_estimated =
            field.is_some_and(|field| reader.values.cells.is_estimated_birth(field, cell));
        // If a column says whether the day of birth is an estimate, that column decides.
        if is_estimated && !has_estimate_column {
            inputs.push((estimate_input.clone(), "true".to_owned()));
        }
    }
    inputs.into_iter().collect()
}

/// Returns the name of the input that marks the day of birth as an estimate.
fn birth_estimate_input() -> String {
    format!("{FIELD_PREFIX}{}", FieldDefinition::BIRTH_ESTIMATE)
}

/// Converts a cell into the text that a member would type into the input for `field`. Without a
/// field, returns the text of the cell unchanged.
///
/// # Errors
///
/// Returns the error message if the cell cannot be read.
fn read_cell(
    field: Option<&FieldDefinition>,
    cell: &str,
    reader: LineReader<'_>,
) -> Result<String, String> {
    let may_have_lines = field.is_some_and(|field| field.kind == FieldKind::LongText);
    if cell.contains(LINE_END) && !may_have_lines {
        return Err(texts().several_lines.to_owned());
    }
    if let Some(field) = field {
        return reader
            .values
            .cells
            .read_cell(field, cell)
            .map_err(|problem| cells::problem_message(&problem, field, cell));
    }
    if is_spreadsheet_error(cell) {
        return Err(cells::spreadsheet_error_message(cell));
    }
    Ok(cell.to_owned())
}

/// Reads the animal of a line, and adds an error for each invalid value.
///
/// Returns `None` if the name, the category, the status, or the listing on the website is invalid.
/// Invalid values of fields only add errors.
fn read_pet(
    form: &Form,
    species: Option<&Species>,
    reader: LineReader<'_>,
    errors: &mut Errors,
) -> Option<PastedPet> {
    let parsed_name = forms::parse_name(form.get(NAME_INPUT));
    let name = ok_or_add_labelled(parsed_name, texts().name, errors);
    let category_name = match species {
        Some(species) => &species.label,
        None => form.get(CATEGORY_INPUT),
    };
    let found_category = match category_name {
        "" => Err(texts().species_or_category.to_owned()),
        category_name => forms::find_category(category_name, reader.categories),
    };
    let category_id = ok_or_add_labelled(found_category, texts().category, errors);
    let status = match form.get(STATUS_INPUT) {
        "" => Some(PetStatus::default()),
        status => ok_or_add_labelled(forms::parse_status(status), texts().status_label, errors),
    };
    let is_listed = match form.get(LISTED) {
        "" => Some(true),
        listing => ok_or_add_labelled(forms::parse_listing(listing), texts().website, errors),
    };
    let fields = reader.values.read_patch(form, &FieldValues::NONE, errors);

    let pet = NewPet {
        name: name?,
        category_id: category_id?,
        status: status?,
        is_listed: is_listed?,
    };
    Some(PastedPet {
        pet,
        fields,
        is_birth_estimated: form.get(&birth_estimate_input()) == "true",
    })
}

/// Returns the value of a result. An error becomes `None`, and its message is added to the errors
/// of the line, preceded by the label of the column.
fn ok_or_add_labelled<T>(result: Result<T, String>, label: &str, errors: &mut Errors) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(message) => {
            let label = markup::readable(label, SHORT_LENGTH);
            errors.add(
                WHOLE_LINE,
                [&*label, window_texts().colon, &*message].concat(),
            );
            None
        }
    }
}
