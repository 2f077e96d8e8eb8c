//! The columns of a pasted table: what each is, as somebody chose it, or as its heading or its place says.

use std::collections::HashSet;

use petstore_domain::store_area::FieldSet;
use petstore_formats::files::TableRow;

use super::{
    column_meanings::{ColumnMeanings, MEMBERS, column_choices},
    pasted_text::{HEADINGS_INPUT, PastedText},
    values,
};
use crate::prelude::*;

/// The prefix of the name of the input for a column, before its number from 1.
pub(super) const COLUMN_INPUT_PREFIX: &str = "column-";

/// A column of pasted lines.
pub(super) struct Column {
    /// The name of the input that chooses the meaning of the column.
    pub(super) id: String,
    /// The heading of the column, or its number.
    pub(super) heading: String,
    /// The name of the input of an animal that the cells are for; empty if the column is left out.
    pub(super) input: String,
    /// The label of that input.
    pub(super) label: String,
    /// Whether the column has neither a heading nor a cell with content.
    pub(super) is_empty: bool,
}

/// The rows of a pasted table: the headings, if the first row has them, and the rows with animals.
#[derive(Clone, Copy)]
pub(super) struct Sheet<'t> {
    pub(super) headings: Option<&'t TableRow>,
    pub(super) pet_rows: &'t [TableRow],
}

impl<'t> Sheet<'t> {
    /// Splits the rows of a pasted text.
    ///
    /// The form says whether the first row has headings. If it does not say so, the row has headings if two of its cells
    /// are known headings.
    pub(super) fn new(text: &'t PastedText, form: &Form, meanings: &ColumnMeanings<'_>) -> Self {
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

    /// Returns the number of columns: as many as there are headings, or else as the longest row has cells.
    fn column_count(self) -> usize {
        if let Some(row) = self.headings {
            return row.cells.len();
        }
        let lengths = self.pet_rows.iter().map(|row| row.cells.len());
        lengths.max().unwrap_or(0)
    }

    /// Returns the heading of the column with this index; empty without headings.
    fn heading(self, index: usize) -> &'t str {
        match self.headings {
            Some(row) => &row.cells[index],
            None => "",
        }
    }

    /// Returns the name of the input that a column is probably for: as its heading says, or else as its place does.
    ///
    /// # Errors
    ///
    /// The names of the two inputs that the heading can mean.
    fn guess_input(
        self,
        index: usize,
        meanings: &ColumnMeanings<'_>,
    ) -> Result<Option<String>, [String; 2]> {
        match self.headings {
            Some(row) => match meanings.meaning(&row.cells[index])? {
                None => Ok(self.guess_ages(row, index, meanings)),
                meaning => Ok(meaning),
            },
            None => Ok(MEMBERS.get(index).map(|(name, _)| (*name).to_owned())),
        }
    }

    /// Returns the name of the input for the day of birth, if a column has ages, and no other column has days of birth.
    fn guess_ages(
        self,
        headings: &TableRow,
        index: usize,
        meanings: &ColumnMeanings<'_>,
    ) -> Option<String> {
        let cells = self.pet_rows.iter().filter_map(|row| row.cells.get(index));
        let birth = meanings.birth_of_ages(&headings.cells[index], cells)?;
        let mut others = headings.cells.iter();
        let has_births = others.any(|heading| meanings.meaning(heading) == Ok(Some(birth.clone())));
        (!has_births).then_some(birth)
    }

    /// Whether the first row counts as an animal, but looks like headings: each of its cells has a text of its own without
    /// digits, and a column below one of them has digits in each row.
    pub(super) fn looks_like_headings(self) -> bool {
        let Some((first_row, next_rows)) = self.pet_rows.split_first() else {
            return false;
        };
        if self.headings.is_some() || next_rows.is_empty() || first_row.cells.len() < 2 {
            return false;
        }
        let mut texts = HashSet::new();
        let is_text = |cell: &String| !cell.is_empty() && !has_digits(cell);
        let are_texts = first_row.cells.iter().all(is_text);
        let are_different = first_row.cells.iter().all(|cell| texts.insert(cell));
        let mut columns = 0..first_row.cells.len();
        are_texts
            && are_different
            && columns.any(|index| {
                let mut cells = next_rows.iter().filter_map(|row| row.cells.get(index));
                cells.all(|cell| has_digits(cell))
            })
    }

    /// Whether no animal has content in the column with this index.
    fn is_without_content(self, index: usize) -> bool {
        let mut rows = self.pet_rows.iter();
        rows.all(|row| row.cells.get(index).is_none_or(String::is_empty))
    }
}

fn has_digits(text: &str) -> bool {
    text.contains(|character: char| character.is_ascii_digit())
}

/// Whether the first row of a pasted text has headings.
fn has_headings(first_row: &TableRow, form: &Form, meanings: &ColumnMeanings<'_>) -> bool {
    let choice = form.raw(HEADINGS_INPUT);
    if !choice.is_empty() {
        return choice == "yes";
    }
    let cells = first_row.cells.iter();
    let known_headings = cells.filter(|cell| meanings.is_known(cell));
    known_headings.count() > 1
}

/// Returns the columns of a table, each with its meaning: as the form says, or else as [`Sheet::guess_input`] guesses.
///
/// A meaning that two columns have, or that no column has, becomes an error of the input for a column.
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
        let heading = sheet.heading(index);
        let mut column = Column {
            id: format!("{COLUMN_INPUT_PREFIX}{}", index + 1),
            heading: wording::heading(index, heading),
            input: String::new(),
            label: String::new(),
            is_empty: heading.is_empty() && sheet.is_without_content(index),
        };

        let chosen_input = form.all(&column.id).next();
        let guessed_input = sheet.guess_input(index, meanings).unwrap_or_else(|inputs| {
            if chosen_input.is_none() {
                errors.add(
                    column.id.clone(),
                    ambiguous_heading_message(heading, &inputs, &choices),
                );
            }
            None
        });
        let input = chosen_input.or(guessed_input.as_deref());
        let choice = choices
            .iter()
            .find(|(name, _)| Some(name.as_str()) == input);
        if let Some((name, label)) = choice {
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

/// Returns the message that a heading can be two columns, with the labels of both.
fn ambiguous_heading_message(
    heading: &str,
    inputs: &[String; 2],
    choices: &[(String, String)],
) -> String {
    let labels = inputs.each_ref().map(|input| {
        let choice = choices.iter().find(|(name, _)| name == input);
        choice.map_or(&**input, |(_, label)| label)
    });
    let mut names = labels.map(str::to_owned);
    if labels[0] == labels[1] {
        names = inputs
            .each_ref()
            .map(|input| format!("{} ({input})", labels[0]));
    }
    let readable_heading = markup::readable(heading, SHORT_LENGTH);
    texts().column_ambiguous(&readable_heading, &names[0], &names[1])
}

/// Adds an error for each necessary member without a column: the name, and the category or the species.
///
/// The error is that of the first column without a meaning, which probably is for this member.
fn report_missing_columns(columns: &[Column], fields: &FieldSet, errors: &mut Errors) {
    let column_without_meaning = columns
        .iter()
        .find(|column| column.input.is_empty() && !column.is_empty);
    let column_id = match column_without_meaning {
        Some(column) => column.id.clone(),
        None => format!("{COLUMN_INPUT_PREFIX}1"),
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

fn has_column_for(columns: &[Column], input: &str) -> bool {
    columns.iter().any(|column| column.input == input)
}
