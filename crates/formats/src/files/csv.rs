//! The reader of CSV (RFC 4180) with a header, in UTF-8. Its fields can also be separated by semicolons or tabs.

use std::{cell::Cell, io, rc::Rc, str};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use petstore_domain::{
    NewPet, PetId, PetStatus,
    store_area::{FieldPatch, FieldValue, RequestedValue},
};

use super::{
    cell_values::parse_value,
    column_assignment::FieldColumn,
    header::{Columns, CsvOptions},
    headings::KnownHeadings,
    quotes::is_well_quoted,
    row::{
        InvalidRow, RawRow, ReadError, Row, Rows, SPECIES, invalid_category_id, invalid_id,
        invalid_status, parse_name, quote_beginning,
    },
    source::{self, BoundedReader, MAX_ROW_BYTES, Source},
    table_rows::TableStart,
    table_start::find_start,
};
use crate::{
    cells::{parse_integer_cell, trim_cell},
    json::members::importable,
};

/// The length of the buffer of a reader or writer, in bytes.
pub(super) const BUFFER_BYTES: usize = 64 << 10;

/// A reader of the rows of a CSV file.
pub(super) struct CsvRows<'s> {
    source: &'s Source,
    reader: Reader<BoundedReader<'s>>,
    /// The number of bytes that may still be read for the current record.
    allowance: Rc<Cell<u64>>,
    /// The record that was read last.
    record: ByteRecord,
    start: TableStart,
    columns: Columns,
    options: CsvOptions,
}

impl<'s> CsvRows<'s> {
    /// Opens a file, and reads its header.
    pub(super) fn open(
        source: &'s Source,
        with_ids: bool,
        options: &CsvOptions,
    ) -> Result<Self, ReadError> {
        let known = KnownHeadings::new(&options.fields, options.words);
        let is_heading = |text: &str| known.is_known(text) || options.maps(text);
        let start = find_start(&source.first_lines()?, options.separator, &is_heading);

        let allowance = Rc::new(Cell::new(MAX_ROW_BYTES));
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .delimiter(start.separator.byte())
            // `Columns` checks the number of fields, with a better message.
            .flexible(true)
            .buffer_capacity(BUFFER_BYTES)
            .from_reader(source.reader(start.position as u64, &allowance));
        let mut rows = Self {
            source,
            reader,
            allowance,
            record: ByteRecord::new(),
            start,
            columns: Columns::default(),
            options: options.clone(),
        };
        match rows.read_header(with_ids, &known)? {
            Ok(columns) => {
                rows.columns = columns;
                Ok(rows)
            }
            Err(reason) => Err(ReadError::Format {
                line: rows.raw_row()?.line,
                reason,
            }),
        }
    }

    /// Reads the header, or returns what is wrong with it.
    fn read_header(
        &mut self,
        with_ids: bool,
        known: &KnownHeadings,
    ) -> Result<Result<Columns, String>, ReadError> {
        loop {
            if !self.read_record()? {
                let reason = "the file is empty; its first line must be a header such as \
                              name,categoryId,status";
                return Ok(Err(reason.to_owned()));
            }
            if !self.is_blank() {
                break;
            }
        }
        if !self.is_well_formed()? {
            return Ok(Err(INVALID_QUOTES.to_owned()));
        }
        let mut headings = Vec::new();
        for heading in &self.record {
            match str::from_utf8(heading) {
                Ok(heading) => headings.push(heading),
                Err(_) => return Ok(Err(format!("the header {NOT_UTF8}"))),
            }
        }
        Ok(Columns::from_header(
            &headings,
            with_ids,
            &self.options,
            known,
        ))
    }

    /// Reads the next record, if there is one.
    fn read_record(&mut self) -> Result<bool, ReadError> {
        self.allowance.set(MAX_ROW_BYTES);
        let line = self.reader.position().line() + self.lines_before();
        let error = match self.reader.read_byte_record(&mut self.record) {
            Ok(has_record) => return Ok(has_record),
            Err(error) => error.into_kind(),
        };
        match error {
            ErrorKind::Io(error) if source::is_row_too_long(&error) => Err(ReadError::Format {
                line,
                reason: format!("{error}; a quote may not be closed"),
            }),
            ErrorKind::Io(error) => Err(ReadError::Io(error)),
            error => Err(ReadError::Format {
                line,
                reason: format!("{error:?}"),
            }),
        }
    }

    /// Returns the positions in the file at which the record begins and ends, with the line ends around it.
    fn extent(&self) -> (u64, u64) {
        let offset = self.start.position as u64;
        let start = self.record.position().map_or(0, csv::Position::byte);
        (offset + start, offset + self.reader.position().byte())
    }

    /// Returns the number of lines before the text that the reader reads, such as `sep=;`.
    fn lines_before(&self) -> u64 {
        self.start.line as u64 - 1
    }

    /// Whether the record has no content. A spreadsheet also writes rows that look empty.
    fn is_blank(&self) -> bool {
        self.record
            .iter()
            .all(|cell| str::from_utf8(cell).is_ok_and(|cell| trim_cell(cell).is_empty()))
    }

    /// Whether the record follows RFC 4180. The reader also accepts quotes in other places, and
    /// closes an open quote at the end of the file.
    fn is_well_formed(&self) -> io::Result<bool> {
        let (start, end) = self.extent();
        let separators_length = self.record.len().saturating_sub(1);
        let unquoted_length = self.record.as_slice().len() + separators_length;
        // A line end has up to two characters. An open quote adds one character and extends to the
        // end of the file.
        let is_unquoted = end - start <= unquoted_length as u64 + 2 && end < self.source.length();
        if is_unquoted && !self.record.as_slice().contains(&b'"') {
            return Ok(true);
        }
        Ok(is_well_quoted(
            &self.raw_row()?.text,
            self.start.separator.byte(),
        ))
    }

    /// Returns the animal in the record, or the problems of its cells.
    fn row(&self) -> Result<Row, InvalidRow> {
        self.check_shape()?;
        let columns = &self.columns;
        let mut problems = InvalidRow::default();
        let name = self.read_cell(columns.name, &mut problems, |text| {
            // A file with ids is a copy of a catalogue, whose names stay as they are.
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
        let id = match columns.id {
            Some(column) => self.read_cell(column, &mut problems, |text| parse_id(text).map(Some)),
            None => None,
        };
        let mut fields = FieldPatch::new();
        for FieldColumn { position, field } in &columns.fields {
            let value = self.read_cell(*position, &mut problems, |text| {
                parse_value(field, text, self.options.cell_reader())
            });
            if let Some(value) = value {
                let name = field.name.as_str().to_owned();
                fields.insert(name, RequestedValue::Set(value));
            }
        }

        let pet = NewPet {
            name,
            category_id,
            status,
        };
        problems.into_result(Row::Pet { id, pet, fields })
    }

    /// Checks that the record has as many cells as the header, apart from empty cells at its end, and that cells without a
    /// heading are empty.
    fn check_shape(&self) -> Result<(), InvalidRow> {
        let field_count = self.record.len();
        let column_count = self.columns.headings.len();
        let mut surplus_columns = column_count..field_count;
        if field_count < column_count || surplus_columns.any(|column| self.has_content(column)) {
            return Err(InvalidRow::new(format!(
                "the row has {field_count} fields, and the header {column_count}"
            )));
        }
        for column in &self.columns.blank {
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

    fn has_content(&self, column: usize) -> bool {
        let cell = self.record.get(column).unwrap_or_default();
        str::from_utf8(cell).map_or(true, |cell| !trim_cell(cell).is_empty())
    }

    /// Returns the category of the animal: as its cell says, or else the category of its species.
    fn read_category(&self, problems: &mut InvalidRow) -> i64 {
        let categories = &self.options.categories;
        let species = self.species();
        let species_category = species
            .as_deref()
            .and_then(|species| categories.of_species(species));
        let Some(column) = self.columns.category else {
            let category = species_category.ok_or_else(|| {
                let reason = match species {
                    Some(species) => format!(
                        "is {}, whose category is not certain; add a column category",
                        quote_beginning(&species)
                    ),
                    None => "is missing or invalid, and decides the category".to_owned(),
                };
                InvalidRow::in_column(self.field_column(SPECIES), reason)
            });
            return problems.take(category);
        };

        let is_species = self.species_column() == Some(column);
        self.read_cell(column, problems, |text| {
            let text = trim_cell(text);
            let category = if self.columns.has_labels {
                categories.find(text)
            } else {
                parse_integer_cell(text).ok_or_else(|| invalid_category_id(text))
            };
            match species_category {
                Some(id) if text.is_empty() || is_species => category.or(Ok(id)),
                _ => category,
            }
        })
    }

    fn species_column(&self) -> Option<usize> {
        let mut fields = self.columns.fields.iter();
        let column = fields.find(|column| column.field.name.as_str() == SPECIES)?;
        Some(column.position)
    }

    /// Returns the species of the animal, if its cell has a valid one.
    fn species(&self) -> Option<String> {
        let mut fields = self.columns.fields.iter();
        let column = fields.find(|column| column.field.name.as_str() == SPECIES)?;
        let cell = str::from_utf8(self.record.get(column.position)?).ok()?;
        match parse_value(&column.field, cell, self.options.cell_reader()) {
            Ok(Some(FieldValue::Text(species))) => Some(species),
            _ => None,
        }
    }

    /// Parses a status by its name or a word for it, in any case. An empty cell is the default.
    fn parse_status(&self, text: &str) -> Result<PetStatus, String> {
        if trim_cell(text).is_empty() {
            return Ok(PetStatus::default());
        }
        self.options
            .words
            .find_status(text)
            .ok_or_else(|| invalid_status(text))
    }

    /// Returns the value in a cell of the record, which `parse` returns. See [`InvalidRow::take`] for its problem.
    fn read_cell<T: Default>(
        &self,
        column: usize,
        problems: &mut InvalidRow,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> T {
        let bytes = self.record.get(column).unwrap_or_default();
        let value = match str::from_utf8(bytes) {
            Ok(text) => parse(text),
            Err(_) => Err(NOT_UTF8.to_owned()),
        };
        problems.take(
            value.map_err(|reason| InvalidRow::in_column(&*self.columns.headings[column], reason)),
        )
    }
}

/// The problem of a record that does not follow RFC 4180.
const INVALID_QUOTES: &str = "a quote is not closed, or is inside a field that is not quoted";

/// The problem of a text in another encoding. Excel saves `CSV` in that of Windows.
const NOT_UTF8: &str = "is not UTF-8; save the file again as \"CSV UTF-8\"";

fn parse_id(text: &str) -> Result<PetId, String> {
    parse_integer_cell(text)
        .and_then(importable)
        .and_then(PetId::new)
        .ok_or_else(|| invalid_id(text))
}

impl Rows for CsvRows<'_> {
    fn next(&mut self) -> Result<Option<Result<Row, InvalidRow>>, ReadError> {
        while self.read_record()? {
            if !self.is_well_formed()? {
                return Ok(Some(Err(InvalidRow::new(INVALID_QUOTES))));
            }
            if !self.is_blank() {
                return Ok(Some(self.row()));
            }
        }
        Ok(None)
    }

    fn raw_row(&self) -> io::Result<RawRow> {
        let (start, end) = self.extent();
        let text = self.source.bytes(start, end)?;

        let row_start = text
            .iter()
            .position(|&byte| !is_line_end(byte))
            .unwrap_or(text.len());
        let row_end = text
            .iter()
            .rposition(|&byte| !is_line_end(byte))
            .map_or(row_start, |last| last + 1);

        // The reader's line number does not count line ends that it skipped before the row.
        let skipped_text = text[..row_start].split(|&byte| byte == b'\n');
        let skipped_lines = skipped_text.count() as u64 - 1;
        let line = self.record.position().map_or(1, csv::Position::line)
            + skipped_lines
            + self.lines_before();
        Ok(RawRow {
            line,
            text: text[row_start..row_end].to_vec(),
        })
    }

    fn field_column(&self, field: &str) -> String {
        let column = self
            .columns
            .fields
            .iter()
            .find(|column| column.field.name.as_str() == field);
        match column {
            Some(column) => self.columns.headings[column.position].clone(),
            None => field.to_owned(),
        }
    }

    fn ignored_columns(&self) -> Option<&str> {
        if self.columns.ignored.is_empty() {
            None
        } else {
            Some(&self.columns.ignored)
        }
    }

    fn needs_species_categories(&self) -> bool {
        let is_species = self.columns.category == self.species_column();
        self.species_column().is_some() && (self.columns.has_labels || is_species)
    }

    fn bytes_read(&self) -> u64 {
        self.start.position as u64 + self.reader.position().byte()
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}
