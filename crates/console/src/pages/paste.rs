//! Animals on the lines of a spreadsheet.

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
    animal_fields::LISTED,
    category_choice::Species,
    cells,
    column_meanings::ColumnMeanings,
    pasted_columns::{Column, Sheet, read_columns},
    pasted_text::{LINE_END, MAX_ANIMALS, PastedText},
    value_reader::ValueReader,
    values,
};
use crate::{prelude::*, words::PREFIX};

/// A reader of lines with the categories of a store, and with the reader of its values.
#[derive(Clone, Copy)]
pub(super) struct LineReader<'r> {
    pub(super) categories: &'r [Category],
    pub(super) values: ValueReader<'r>,
}

/// The lines that were pasted into a form, read as a table of animals.
pub(super) struct PetTable {
    pub(super) columns: Vec<Column>,
    pub(super) has_headings: bool,
    /// Whether the first line counts as an animal, but looks like headings.
    pub(super) may_have_headings: bool,
    pub(super) separator: Separator,
    /// The rows above the headings that are titles and no animals, each in quotes.
    pub(super) titles: String,
    /// The first [`MAX_ANIMALS`] lines with animals.
    pub(super) lines: Vec<Line>,
    /// The number of further lines, which the next form has.
    pub(super) remaining_count: usize,
    /// The text of the next form: the headings and the further lines.
    pub(super) remaining_text: String,
    /// The problems of the columns, each at the input for a column.
    pub(super) column_errors: Errors,
}

/// A pasted line with an animal.
pub(super) struct Line {
    /// The number of the line in the text, from 1.
    pub(super) number: usize,
    /// The cells as people read them, one for each column.
    pub(super) cells: Vec<String>,
    /// The animal, or all messages about the line.
    pub(super) result: Result<PastedPet, Vec<String>>,
    /// The species, if the line has no category.
    pub(super) species: Option<Species>,
}

/// An animal on a pasted line.
#[derive(Clone)]
pub(super) struct PastedPet {
    pub(super) pet: NewPet,
    pub(super) fields: FieldPatch,
    /// Whether the day of birth follows from an age, a year or a month.
    pub(super) is_birth_estimated: bool,
}

impl PetTable {
    /// Returns the headings of the columns that have content but are left out, in quotes: `"Owner", "Notes"`.
    pub(super) fn left_out_headings(&self) -> String {
        let mut headings = Vec::new();
        for column in &self.columns {
            if column.input.is_empty() && !column.is_empty {
                headings.push(quoted(&column.heading));
            }
        }
        headings.join(", ")
    }
}

/// A column with the field that its cells are values of; without a field, they are a member of an animal.
struct TypedColumn<'c> {
    column: &'c Column,
    field: Option<&'c FieldDefinition>,
}

/// Reads pasted lines as animals.
///
/// The form says what each column is. If it does not say so, the heading or the place of the column decides.
pub(super) fn read(text: &PastedText, form: &Form, reader: LineReader<'_>) -> PetTable {
    let fields = reader.values.fields;
    let meanings = ColumnMeanings::new(fields, reader.values.cells);
    let sheet = Sheet::new(text, form, &meanings);
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

/// Returns the field that the cells of a column are values of.
fn find_field<'f>(column: &Column, fields: &'f FieldSet) -> Option<&'f FieldDefinition> {
    fields
        .all()
        .iter()
        .find(|field| values::input_of(field) == column.input)
}

/// Reads a row as an animal, and collects all messages about it.
fn read_line(row: &TableRow, columns: &[TypedColumn<'_>], reader: LineReader<'_>) -> Line {
    let mut errors = Errors::default();
    let form = form_from_cells(row, columns, reader, &mut errors);
    if row.is_ambiguous {
        errors.add("", texts().several_lines);
    }
    let mut cells_without_heading = row.cells.iter().skip(columns.len());
    if row.has_more_cells || cells_without_heading.any(|cell| !cell.is_empty()) {
        errors.add("", texts().no_heading);
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

/// Returns the cells of a line as a browser would send them in the form of an animal. Adds a message for each cell that
/// cannot be read.
fn form_from_cells(
    row: &TableRow,
    columns: &[TypedColumn<'_>],
    reader: LineReader<'_>,
    errors: &mut Errors,
) -> Form {
    let mut inputs = Vec::new();
    for (TypedColumn { column, field }, cell) in columns.iter().zip(&row.cells) {
        if column.input.is_empty() {
            continue;
        }
        let may_have_lines = field.is_some_and(|field| field.kind == FieldKind::LongText);
        let value = if cell.contains(LINE_END) && !may_have_lines {
            Err(texts().several_lines.to_owned())
        } else if let Some(field) = field {
            reader
                .values
                .cells
                .read(field, cell)
                .map_err(|problem| cells::describe(&problem, field, cell))
        } else if is_spreadsheet_error(cell) {
            Err(cells::spreadsheet_error_message(cell))
        } else {
            Ok(cell.clone())
        };
        if let Some(value) = take_labelled(&column.label, value, errors) {
            inputs.push((column.input.clone(), value));
        }
        if field.is_some_and(|field| reader.values.cells.is_estimated_birth(field, cell)) {
            let mark = format!("{PREFIX}{}", FieldDefinition::BIRTH_ESTIMATE);
            // A column of its own says it.
            if !columns.iter().any(|column| column.column.input == mark) {
                inputs.push((mark, "true".to_owned()));
            }
        }
    }
    inputs.into_iter().collect()
}

/// Reads the animal of a line. Returns `None` if its name, category or status is not valid.
///
/// Adds a message for each invalid value. The values of fields can have messages even if this returns an animal.
fn read_pet(
    form: &Form,
    species: Option<&Species>,
    reader: LineReader<'_>,
    errors: &mut Errors,
) -> Option<PastedPet> {
    let name = take_labelled(texts().name, forms::parse_name(form.get("name")), errors);
    let category_name = match species {
        Some(species) => &species.label,
        None => form.get("category"),
    };
    let category_id = match category_name {
        "" => Err(texts().species_or_category.to_owned()),
        category_name => forms::find_category(category_name, reader.categories),
    };
    let category_id = take_labelled(texts().category, category_id, errors);
    let status = match form.get("status") {
        "" => Some(PetStatus::default()),
        status => take_labelled(texts().status_label, forms::parse_status(status), errors),
    };
    let is_listed = match form.get(LISTED) {
        "" => Some(true),
        listing => take_labelled(texts().website, forms::parse_listing(listing), errors),
    };
    let fields = reader.values.read_patch(form, &FieldValues::NONE, errors);

    let pet = NewPet {
        name: name?,
        category_id: category_id?,
        status: status?,
        is_listed: is_listed?,
    };
    let mark = format!("{PREFIX}{}", FieldDefinition::BIRTH_ESTIMATE);
    Some(PastedPet {
        pet,
        fields,
        is_birth_estimated: form.get(&mark) == "true",
    })
}

/// Returns a value, or adds its message with the label of its column to the errors of the line.
fn take_labelled<T>(label: &str, value: Result<T, String>, errors: &mut Errors) -> Option<T> {
    match value {
        Ok(value) => Some(value),
        Err(message) => {
            let label = markup::readable(label, SHORT_LENGTH);
            errors.add("", [&*label, window_texts().colon, &*message].concat());
            None
        }
    }
}
