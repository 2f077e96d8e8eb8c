//! Determines the meaning of each column of a pasted table: what the member selected, or else what
//! the heading or the position of the column suggests.

use std::collections::HashSet;

use petstore_domain::store_area::FieldSet;
use petstore_formats::files::TableRow;

use super::{
    column_meanings::{ColumnMeanings, DEFAULT_COLUMNS, column_choices},
    pasted_text::{HEADINGS_INPUT, PastedText, WITH_HEADINGS},
    values,
};
use crate::prelude::*;

/// The prefix of the name of the input that chooses the meaning of a column: the input of the first
/// column is `column-1`.
pub(super) const COLUMN_INPUT_PREFIX: &str = "column-";

/// The number of known headings by which a row is recognized as headings. A single one can also be
/// a value of an animal, such as its name.
const MIN_KNOWN_HEADINGS: usize = 2;

/// A column of a pasted table.
pub(super) struct Column {
    /// The name of the input that chooses the meaning of the column.
    pub(super) id: String,
    /// The heading of the column, or its number.
    pub(super) heading: String,
    /// The meaning of the column: the name of the input for its cells in the form of an animal, such
    /// as `category`. Empty if the column is left out.
    pub(super) input: String,
    /// The label of that input.
    pub(super) label: String,
    /// Whether the column has no heading and no cell with content.
    pub(super) is_empty: bool,
}

/// The rows of a pasted table, split into the optional headings and the animals.
#[derive(Clone, Copy)]
pub(super) struct Sheet<'t> {
    pub(super) headings: Option<&'t TableRow>,
    pub(super) pet_rows: &'t [TableRow],
}

impl<'t> Sheet<'t> {
    /// Splits the rows of a pasted text into headings and animals.
    ///
    /// The form can say whether the first row has headings. If it does not, the row counts as
    /// headings if at least [`MIN_KNOWN_HEADINGS`] of its cells are known headings.
    pub(super) fn split(text: &'t PastedText, form: &Form, meanings: &ColumnMeanings<'_>) -> Self {
        let rows = text.rows();
        if let Some((first_row, next_rows)) = rows.split_first()
            && has_headings(first_row, form, meanings)
        {
            return Self {
                headings: Some(first_row),
                pet_rows: next_rows,
            };
        }
        Self {
            headings: None,
            pet_rows: rows,
        }
    }

    /// Returns the number of columns, which is the number of headings. Without headings, it is the
    /// number of cells in the longest row.
    fn column_count(self) -> usize {
        if let Some(row) = self.headings {
            return row.cells.len();
        }
        let lengths = self.pet_rows.iter().map(|row| row.cells.len());
        lengths.max().unwrap_or(0)
    }

    /// Returns the heading of the column at this index; empty without headings.
    fn heading(self, index: usize) -> &'t str {
        match self.headings {
            Some(row) => &row.cells[index],
            None => "",
        }
    }

    /// Guesses the meaning of a column from its heading, or without headings, from its position.
    ///
    /// Returns the name of an input, as in [`Column::input`]; `None` if the meaning is unknown.
    ///
    /// # Errors
    ///
    /// Returns the names of both inputs if the heading is ambiguous.
    fn guess_input(
        self,
        index: usize,
        meanings: &ColumnMeanings<'_>,
    ) -> Result<Option<String>, [String; 2]> {
        let Some(headings) = self.headings else {
            return Ok(DEFAULT_COLUMNS
                .get(index)
                .map(|(name, _)| (*name).to_owned()));
        };
        let meaning = meanings.meaning(&headings.cells[index])?;
        Ok(meaning.or_else(|| self.guess_birth_from_ages(headings, index, meanings)))
    }

    /// Returns the name of the input for the day of birth if the column contains ages, from which
    /// days of birth are estimated.
    ///
    /// Returns `None` if the column contains no ages, or if another column has days of birth.
    fn guess_birth_from_ages(
        self,
        headings: &TableRow,
        index: usize,
        meanings: &ColumnMeanings<'_>,
    ) -> Option<String> {
        let cells = self.pet_rows.iter().filter_map(|row| row.cells.get(index));
        let birth_input = meanings.birth_input_for_ages(&headings.cells[index], cells)?;
        let has_birth_column = headings.cells.iter().any(
            |heading| matches!(meanings.meaning(heading), Ok(Some(input)) if input == birth_input),
        );
        if has_birth_column {
            return None;
        }
        Some(birth_input)
    }

    /// Whether the first row looks like headings, although it is read as an animal.
    ///
    /// Its cells are then different texts without digits, and some column below it has digits in
    /// every row.
    pub(super) fn looks_like_headings(self) -> bool {
        let Some((first_row, next_rows)) = self.pet_rows.split_first() else {
            return false;
        };
        if self.headings.is_some() || next_rows.is_empty() || first_row.cells.len() < 2 {
            return false;
        }
        let mut distinct_cells = HashSet::new();
        for cell in &first_row.cells {
            if cell.is_empty() || contains_digit(cell) || !distinct_cells.insert(cell) {
                return false;
            }
        }
        let mut column_indices = 0..first_row.cells.len();
        column_indices.any(|index| {
            let mut cells = next_rows.iter().filter_map(|row| row.cells.get(index));
            cells.all(|cell| contains_digit(cell))
        })
    }

    /// Whether the cells of all animals in the column at this index are empty.
    fn has_no_content(self, index: usize) -> bool {
        let mut rows = self.pet_rows.iter();
        rows.all(|row| row.cells.get(index).is_none_or(String::is_empty))
    }
}

/// Whether a text contains a digit, as nearly every number, date and price does.
fn contains_digit(text: &str) -> bool {
    text.contains(|character: char| character.is_ascii_digit())
}

/// Whether the first row of a pasted text has headings. See [`Sheet::split`].
fn has_headings(first_row: &TableRow, form: &Form, meanings: &ColumnMeanings<'_>) -> bool {
    let choice = form.raw(HEADINGS_INPUT);
    if !choice.is_empty() {
        return choice == WITH_HEADINGS;
    }
    let known_count = first_row
        .cells
        .iter()
        .filter(|cell| meanings.is_known(cell))
        .count();
    known_count >= MIN_KNOWN_HEADINGS
}

/// Returns the columns of a table with their meanings.
///
/// The meaning of a column is the one that the form selects, or else the one that
/// [`Sheet::guess_input`] returns. Adds an error for the input of a column if its heading is
/// ambiguous, if the form selects the same meaning twice, or if no column has a required meaning.
pub(super) fn read_columns(
    form: &Form,
    sheet: Sheet<'_>,
    meanings: &ColumnMeanings<'_>,
    fields: &FieldSet,
    errors: &mut Errors,
) -> Vec<Column> {
    let choices = column_choices(fields);
    let mut columns: Vec<Column> = Vec::new();
    for index in 0..sheet.column_count() {
        let mut column = column_without_meaning(sheet, index);
        let chosen_input = form.all(&column.id).next();
        let guessed_input = match chosen_input {
            Some(_) => None,
            None => guess_or_report(sheet, index, meanings, &choices, errors),
        };
        let input = chosen_input.or(guessed_input.as_deref());
        let choice = choices
            .iter()
            .find(|(name, _)| Some(name.as_str()) == input);
        if let Some((name, label)) = choice {
            // A second column with the same meaning is left out. If the member chose it, that is an
            // error.
            let is_duplicate = has_column_for(&columns, name);
            if !is_duplicate {
                column.input.clone_from(name);
                column.label.clone_from(label);
            } else if chosen_input.is_some() {
                errors.add(column.id.clone(), texts().chosen_twice(label));
            }
        }
        columns.push(column);
    }
    report_missing_columns(&columns, fields, errors);
    columns
}

/// Returns the column at this index without a meaning, as if it were left out.
fn column_without_meaning(sheet: Sheet<'_>, index: usize) -> Column {
    let heading = sheet.heading(index);
    Column {
        id: column_id(index),
        heading: wording::heading(index, heading),
        input: String::new(),
        label: String::new(),
        is_empty: heading.is_empty() && sheet.has_no_content(index),
    }
}

/// Returns the name of the input that chooses the meaning of the column at this index.
fn column_id(index: usize) -> String {
    format!("{COLUMN_INPUT_PREFIX}{}", index + 1)
}

/// Returns the meaning that [`Sheet::guess_input`] guesses for a column. If the heading is
/// ambiguous, adds an error and returns `None`.
fn guess_or_report(
    sheet: Sheet<'_>,
    index: usize,
    meanings: &ColumnMeanings<'_>,
    choices: &[(String, String)],
    errors: &mut Errors,
) -> Option<String> {
    match sheet.guess_input(index, meanings) {
        Ok(input) => input,
        Err(inputs) => {
            let message = ambiguous_heading_message(sheet.heading(index), &inputs, choices);
            errors.add(column_id(index), message);
            None
        }
    }
}

/// Returns the message that a heading is ambiguous, with the labels of both possible meanings.
/// `choices` are pairs of an input and its label.
fn ambiguous_heading_message(
    heading: &str,
    inputs: &[String; 2],
    choices: &[(String, String)],
) -> String {
    let [first_input, second_input] = inputs;
    let mut first_meaning = label_of_input(first_input, choices).to_owned();
    let mut second_meaning = label_of_input(second_input, choices).to_owned();
    if first_meaning == second_meaning {
        // The names of the inputs tell apart two fields with the same label.
        first_meaning = format!("{first_meaning} ({first_input})");
        second_meaning = format!("{second_meaning} ({second_input})");
    }
    let readable_heading = markup::readable(heading, SHORT_LENGTH);
    texts().column_ambiguous(&readable_heading, &first_meaning, &second_meaning)
}

/// Returns the label of an input among `choices`, or its name if it is not among them.
fn label_of_input<'c>(input: &'c str, choices: &'c [(String, String)]) -> &'c str {
    match choices.iter().find(|(name, _)| name == input) {
        Some((_, label)) => label,
        None => input,
    }
}

/// Adds an error for each required meaning that no column has. The name is required, and either the
/// category or the species.
///
/// The error belongs to the first column without a meaning, because that is probably the missing one.
fn report_missing_columns(columns: &[Column], fields: &FieldSet, errors: &mut Errors) {
    let column_without_meaning = columns
        .iter()
        .find(|column| column.input.is_empty() && !column.is_empty);
    let column_id = match column_without_meaning {
        Some(column) => column.id.clone(),
        None => column_id(0),
    };

    if !has_column_for(columns, "name") {
        errors.add(column_id.clone(), texts().column_missing(texts().name));
    }
    let has_species = match fields.find("species") {
        Some(field) => has_column_for(columns, &values::input_of(field)),
        None => false,
    };
    if !has_species && !has_column_for(columns, "category") {
        errors.add(column_id, texts().column_missing(texts().category));
    }
}

/// Whether a column has this meaning. `input` is the name of an input, as in [`Column::input`].
fn has_column_for(columns: &[Column], input: &str) -> bool {
    columns.iter().any(|column| column.input == input)
}
