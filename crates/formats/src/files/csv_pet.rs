//! Parses an animal from a record of a CSV file.

use std::str;

use csv::ByteRecord;
use petstore_domain::{
    NewPet, PetId, PetStatus,
    store_area::{FieldPatch, FieldValue, RequestedValue},
};

use super::{
    cell_values::{describe_spreadsheet_error, parse_value},
    column_assignment::FieldColumn,
    csv_options::CsvOptions,
    header::Columns,
    pet_columns::{
        SPECIES, describe_invalid_category_id, describe_invalid_id, describe_invalid_listed,
        describe_invalid_status, parse_name, quote_beginning,
    },
    row::{InvalidRow, ParsedRow, Row, RowProblems},
};
use crate::{
    cells::{is_spreadsheet_error, parse_integer_cell, trim_cell},
    json::member_values::importable_number,
};

/// The problem of a text in another encoding. Excel has two formats: `CSV` is in the legacy
/// encoding of Windows, and `CSV UTF-8` is in UTF-8.
pub(super) const NOT_UTF8: &str = "is not UTF-8; save the file again as \"CSV UTF-8\"";

/// A record of a CSV file, with the columns of the file.
#[derive(Clone, Copy)]
pub(super) struct PetRecord<'r> {
    pub(super) record: &'r ByteRecord,
    pub(super) columns: &'r Columns,
    pub(super) options: &'r CsvOptions,
}

impl PetRecord<'_> {
    /// Parses the animal. The error has the problems of all cells.
    pub(super) fn parse(self) -> ParsedRow {
        self.check_shape()?;
        let columns = &self.columns;
        let mut problems = RowProblems::default();
        let name = self.read_cell(columns.name, &mut problems, |text| {
            // A file with ids is a copy of a catalogue, so its names are not trimmed.
            let name = if columns.id.is_some() {
                text
            } else {
                trim_cell(text)
            };
            parse_name(name.to_owned())
        });
        let category_id = self.read_category(&mut problems);
        let status = match columns.status {
            Some(column) => self.read_cell(column, &mut problems, |text| self.parse_status(text)),
            None => PetStatus::default(),
        };
        let is_listed = match columns.listed {
            Some(column) => self.read_cell(column, &mut problems, |text| self.parse_listed(text)),
            None => true,
        };
        let id = match columns.id {
            Some(column) => self.read_cell(column, &mut problems, |text| parse_id(text).map(Some)),
            None => None,
        };
        let fields = self.read_fields(&mut problems);

        let pet = NewPet {
            name,
            category_id,
            status,
            is_listed,
        };
        problems.into_result(Row::Pet { id, pet, fields })
    }

    /// Reads the values of the fields for which the file has columns. Also marks the day of birth if
    /// it is only an estimate.
    fn read_fields(self, problems: &mut RowProblems) -> FieldPatch {
        let mut fields = FieldPatch::new();
        for FieldColumn { position, field } in &self.columns.fields {
            let value = self.read_cell(*position, problems, |text| {
                parse_value(field, text, self.options.cell_reader())
            });
            if let Some(value) = value {
                let name = field.name.as_str().to_owned();
                fields.insert(name, RequestedValue::Set(value));
            }
        }
        self.mark_estimated_birth(&mut fields);
        fields
    }

    /// Marks the day of birth as an estimate if its cell has only an estimate, such as an age. Does
    /// nothing if the store has no field for this mark, or the record already has a value for it.
    fn mark_estimated_birth(self, fields: &mut FieldPatch) {
        if !self.has_estimated_birth() {
            return;
        }
        let mut store_fields = self.options.fields.iter();
        let Some(mark) = store_fields.find(|field| field.is_birth_estimate()) else {
            return;
        };
        let value = RequestedValue::Set(FieldValue::Boolean(true));
        fields.entry(mark.name.as_str().to_owned()).or_insert(value);
    }

    /// Whether the cell of the day of birth has only an estimate.
    fn has_estimated_birth(self) -> bool {
        let reader = self.options.cell_reader();
        self.columns.fields.iter().any(|column| {
            str::from_utf8(self.cell(column.position))
                .is_ok_and(|text| reader.is_estimated_birth(&column.field, text))
        })
    }

    /// Checks that the record has as many cells as the header, except for additional empty cells,
    /// and that cells without a heading are empty.
    fn check_shape(self) -> Result<(), InvalidRow> {
        let cell_count = self.record.len();
        let column_count = self.columns.headings.len();
        let mut surplus_columns = column_count..cell_count;
        if cell_count < column_count || surplus_columns.any(|column| self.has_content(column)) {
            return Err(InvalidRow::new(format!(
                "the row has {cell_count} fields, and the header {column_count}"
            )));
        }
        for column in &self.columns.must_be_empty {
            if self.has_content(*column) {
                return Err(InvalidRow::new(format!(
                    "column {} has a value and no heading; give it one, or add \
                     --ignore-unknown-columns",
                    column + 1
                )));
            }
        }
        Ok(())
    }

    /// Returns the cell in a column, which [`Self::check_shape`] has found to exist.
    fn cell(&self, column: usize) -> &[u8] {
        self.record.get(column).unwrap_or_default()
    }

    /// Whether a cell has content. A text that is not UTF-8 counts as content.
    fn has_content(self, column: usize) -> bool {
        match str::from_utf8(self.cell(column)) {
            Ok(text) => !trim_cell(text).is_empty(),
            Err(_) => true,
        }
    }

    /// Returns the category of the animal: from its cell, or otherwise the category of its species.
    fn read_category(self, problems: &mut RowProblems) -> i64 {
        let categories = &self.options.categories;
        let species = self.species();
        let species_category = species
            .as_deref()
            .and_then(|species| categories.species_category(species));
        let Some(column) = self.columns.category else {
            let category =
                species_category.ok_or_else(|| self.unknown_category_problem(species.as_deref()));
            return problems.value_or_record(category);
        };

        let is_species_column = self.columns.species() == Some(column);
        self.read_cell(column, problems, |text| {
            let text = trim_cell(text);
            let category = self.parse_category(text);
            // The species decides if the cell is empty, or if it is the cell of the species and
            // names no category. Any other text that is no category is an error.
            let can_follow_from_species = text.is_empty() || is_species_column;
            if category.is_err()
                && can_follow_from_species
                && let Some(id) = species_category
            {
                return Ok(id);
            }
            category
        })
    }

    /// Parses the cell of a category: a label, or an id.
    fn parse_category(self, text: &str) -> Result<i64, String> {
        if self.columns.has_labels {
            return self.options.categories.find(text);
        }
        parse_integer_cell(text).ok_or_else(|| describe_invalid_category_id(text))
    }

    /// Returns the problem of an animal whose category should follow from its species, but does
    /// not.
    fn unknown_category_problem(self, species: Option<&str>) -> InvalidRow {
        let reason = match species {
            Some(species) => format!(
                "is {}, whose category is not certain; add a column category",
                quote_beginning(species)
            ),
            None => "is missing or invalid, and decides the category".to_owned(),
        };
        InvalidRow::in_column(self.columns.field_heading(SPECIES), reason)
    }

    /// Returns the species of the animal, if its cell is valid.
    fn species(self) -> Option<String> {
        let column = self.columns.field_column(SPECIES)?;
        let cell = str::from_utf8(self.cell(column.position)).ok()?;
        match parse_value(&column.field, cell, self.options.cell_reader()) {
            Ok(Some(FieldValue::Text(species))) => Some(species),
            _ => None,
        }
    }

    /// Parses a status by its name or a word for it, regardless of upper and lower case. An empty
    /// cell means the default.
    fn parse_status(self, text: &str) -> Result<PetStatus, String> {
        if trim_cell(text).is_empty() {
            return Ok(PetStatus::default());
        }
        self.options
            .words
            .find_status(text)
            .ok_or_else(|| describe_invalid_status(text))
    }

    /// Parses whether the window may show the animal. An empty cell means that it may.
    fn parse_listed(self, text: &str) -> Result<bool, String> {
        if trim_cell(text).is_empty() {
            return Ok(true);
        }
        self.options
            .words
            .find_listing(text)
            .ok_or_else(|| describe_invalid_listed(text))
    }

    /// Whether a text must be rejected as an error value of a spreadsheet.
    ///
    /// The result is false for the cell of a field, because the parser of cells decides: a choice
    /// may look like an error. It is also false in a file with ids, which is a copy of a catalogue,
    /// so its names stay as they are.
    fn has_spreadsheet_error(&self, column: usize, text: &str) -> bool {
        let is_field = self
            .columns
            .fields
            .iter()
            .any(|field| field.position == column);
        !is_field && self.columns.id.is_none() && is_spreadsheet_error(trim_cell(text))
    }

    /// Parses a cell of the record with `parse`. If `parse` fails, adds the problem to `problems`:
    /// see [`RowProblems::value_or_record`].
    fn read_cell<T: Default>(
        &self,
        column: usize,
        problems: &mut RowProblems,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> T {
        let value = match str::from_utf8(self.cell(column)) {
            Ok(text) if self.has_spreadsheet_error(column, text) => {
                Err(describe_spreadsheet_error(text))
            }
            Ok(text) => parse(text),
            Err(_) => Err(NOT_UTF8.to_owned()),
        };
        let heading = &*self.columns.headings[column];
        problems.value_or_record(value.map_err(|reason| InvalidRow::in_column(heading, reason)))
    }
}

/// Parses the id of an animal. The error says what is wrong with it.
fn parse_id(text: &str) -> Result<PetId, String> {
    parse_integer_cell(text)
        .and_then(importable_number)
        .and_then(PetId::new)
        .ok_or_else(|| describe_invalid_id(text))
}
