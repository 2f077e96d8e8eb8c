//! Determines the meaning of each column of a pasted table: what the member selected, or else what
//! the heading or the position of the column suggests.

use std::collections::HashSet;

use petstore_domain::store_area::FieldSet;
use petstore_formats::files::TableRow;

use super::{
    animal_fields::{CATEGORY_INPUT, NAME_INPUT},
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
    pub(super) choice_input: String,
    /// The heading of the column, or its number.
    pub(super) heading: String,
    /// The meaning of the column: the name of the input for its cells in the form of an animal,
    /// such as `category`. Empty if the column is left out.
    pub(super) meaning: String,
    /// The label of the meaning; empty if the column is left out.
    pub(super) label: String,
    /// Whether the column has a heading, or a cell with content.
    pub(super) has_content: bool,
}

impl Column {
    /// Whether the animals get no value from the column.
    pub(super) fn is_left_out(&self) -> bool {
        self.meaning.is_empty()
    }

    /// Whether the column is left out although it has content.
    pub(super) fn loses_content(&self) -> bool {
        self.is_left_out() && self.has_content
    }
}

/// The rows of a pasted table, split into the optional headings and the animals.
#[derive(Clone, Copy)]
pub(super) struct Sheet<'t> {
    pub(super) headings: Option<&'t TableRow>,
    pub(super) pet_rows: &'t [TableRow],
}

impl<'t> Sheet<'t> {
    /// Splits the rows of a pasted text into the optional headings and the rows of animals.
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
    /// Returns the name of an input, as in [`Column::meaning`]. Returns `None` if the meaning is
    /// unknown.
    ///
    /// # Errors
    ///
    /// Returns the names of both inputs if the heading is ambiguous.
    fn guess_meaning(
        self,
        index: usize,
        meanings: &ColumnMeanings<'_>,
    ) -> Result<Option<String>, [String; 2]> {
        let Some(headings) = self.headings else {
            return Ok(DEFAULT_COLUMNS
                .get(index)
                .map(|(name, _)| (*name).to_owned()));
        };
        if let Some(meaning) = meanings.find_meaning(&headings.cells[index])? {
            return Ok(Some(meaning));
        }
        Ok(self.guess_birth_from_ages(headings, index, meanings))
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
        for heading in &headings.cells {
            if let Ok(Some(meaning)) = meanings.find_meaning(heading)
                && meaning == birth_input
            {
                return None;
            }
        }
        Some(birth_input)
    }

    /// Whether the first row looks like headings, although it is read as an animal.
    ///
    /// Its cells are then different texts without digits, and in some column, all cells below it
    /// contain digits. A row that is too short for the column has no cell there.
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
        for index in 0..first_row.cells.len() {
            let mut cells_below = next_rows.iter().filter_map(|row| row.cells.get(index));
            if cells_below.all(|cell| contains_digit(cell)) {
                return true;
            }
        }
        false
    }

    /// Whether an animal has content in the column at this index.
    fn has_content(self, index: usize) -> bool {
        let mut cells = self.pet_rows.iter().filter_map(|row| row.cells.get(index));
        cells.any(|cell| !cell.is_empty())
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
/// [`Sheet::guess_meaning`] returns. Adds an error for the choice of a meaning if the heading of
/// the column is ambiguous, if the form selects the same meaning twice, or if no column has a
/// required meaning.
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
        let chosen_meaning = form.all(&column.choice_input).next();
        let is_chosen = chosen_meaning.is_some();
        let meaning = match chosen_meaning {
            Some(meaning) => Some(meaning.to_owned()),
            None => guess_or_report(sheet, index, meanings, &choices, errors),
        };
        let choice = choices
            .iter()
            .find(|(name, _)| Some(name) == meaning.as_ref());
        if let Some((name, label)) = choice {
            if !has_column_for(&columns, name) {
                column.meaning.clone_from(name);
                column.label.clone_from(label);
            } else if is_chosen {
                // A second column with a meaning is left out. It is an error only if the member
                // chose the meaning.
                errors.add(column.choice_input.clone(), texts().chosen_twice(label));
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
        choice_input: choice_input_of(index),
        heading: wording::heading(index, heading),
        meaning: String::new(),
        label: String::new(),
        has_content: !heading.is_empty() || sheet.has_content(index),
    }
}

/// Returns the name of the input that chooses the meaning of the column at this index.
fn choice_input_of(index: usize) -> String {
    format!("{COLUMN_INPUT_PREFIX}{}", index + 1)
}

/// Returns the meaning that [`Sheet::guess_meaning`] guesses for a column. Returns `None` without a
/// guess. An ambiguous heading also gives `None`, and adds an error.
fn guess_or_report(
    sheet: Sheet<'_>,
    index: usize,
    meanings: &ColumnMeanings<'_>,
    choices: &[(String, String)],
    errors: &mut Errors,
) -> Option<String> {
    match sheet.guess_meaning(index, meanings) {
        Ok(meaning) => meaning,
        Err(both_meanings) => {
            let heading = sheet.heading(index);
            let message = ambiguous_heading_message(heading, &both_meanings, choices);
            errors.add(choice_input_of(index), message);
            None
        }
    }
}

/// Returns the message that a heading is ambiguous, with the labels of both possible meanings.
///
/// `inputs` are the names of the inputs that the heading can mean. `choices` are pairs of the name
/// of an input and its label.
fn ambiguous_heading_message(
    heading: &str,
    inputs: &[String; 2],
    choices: &[(String, String)],
) -> String {
    let [first_input, second_input] = inputs;
    let first_label = label_of_input(first_input, choices);
    let second_label = label_of_input(second_input, choices);
    let readable_heading = markup::readable(heading, SHORT_LENGTH);
    if first_label != second_label {
        return texts().column_ambiguous(&readable_heading, first_label, second_label);
    }
    // The names of the inputs tell apart two fields with the same label.
    let first_text = format!("{first_label} ({first_input})");
    let second_text = format!("{second_label} ({second_input})");
    texts().column_ambiguous(&readable_heading, &first_text, &second_text)
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
/// The member probably has to choose the meaning of a column with content that is left out. The
/// error belongs to the first of these columns, or else to the first column.
fn report_missing_columns(columns: &[Column], fields: &FieldSet, errors: &mut Errors) {
    let choice_input = match columns.iter().find(|column| column.loses_content()) {
        Some(column) => column.choice_input.clone(),
        None => choice_input_of(0),
    };

    if !has_column_for(columns, NAME_INPUT) {
        errors.add(choice_input.clone(), texts().column_missing(texts().name));
    }
    let has_species = match fields.find("species") {
        Some(field) => has_column_for(columns, &values::input_name_of(field)),
        None => false,
    };
    if !has_species && !has_column_for(columns, CATEGORY_INPUT) {
        errors.add(choice_input, texts().column_missing(texts().category));
    }
}

/// Whether a column has this meaning, which is the name of an input: see [`Column::meaning`].
fn has_column_for(columns: &[Column], meaning: &str) -> bool {
    columns.iter().any(|column| column.meaning == meaning)
}
