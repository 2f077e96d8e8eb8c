//! The reader of CSV (RFC 4180) with a header, in UTF-8.

use std::{cell::Cell, io, rc::Rc, str};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use jiff::Timestamp;
use petstore_domain::{
    NewPet, PetId, PetStatus,
    store_area::{FieldDefinition, FieldPatch, FieldValue, RequestedValue, is_shortened_number},
    text::{comparison_key, parse_integer},
};

use super::{
    header::{Columns, FieldColumn, Headings},
    row::{
        InvalidRow, RawRow, ReadError, Row, Rows, find_category, invalid_category_id, invalid_id,
        invalid_status, parse_name, quote_beginning,
    },
    source::{self, BoundedReader, MAX_ROW_BYTES, Source},
};
use crate::json::members::importable;

/// The length of the buffer of a reader or writer, in bytes.
pub(super) const BUFFER_BYTES: usize = 64 << 10;

/// The byte order mark, which some programs write at the beginning of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A reader of the rows of a CSV file.
pub(super) struct CsvRows<'s> {
    source: &'s Source,
    reader: Reader<BoundedReader<'s>>,
    /// The number of bytes that may still be read for the current record.
    allowance: Rc<Cell<u64>>,
    /// The record that was read last.
    record: ByteRecord,
    columns: Columns,
}

impl<'s> CsvRows<'s> {
    /// Opens a file, and reads its header.
    pub(super) fn open(
        source: &'s Source,
        with_ids: bool,
        headings: &Headings,
    ) -> Result<Self, ReadError> {
        let allowance = Rc::new(Cell::new(MAX_ROW_BYTES));
        let reader = ReaderBuilder::new()
            .has_headers(false)
            // `Columns` checks the number of fields, with a better message.
            .flexible(true)
            .buffer_capacity(BUFFER_BYTES)
            .from_reader(source.reader(&allowance));
        let mut rows = Self {
            source,
            reader,
            allowance,
            record: ByteRecord::new(),
            columns: Columns::default(),
        };
        match rows.read_header(with_ids, headings)? {
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
        headings: &Headings,
    ) -> Result<Result<Columns, String>, ReadError> {
        if !self.read_record()? {
            let reason =
                "the file is empty; its first line must be a header such as name,categoryId,status";
            return Ok(Err(reason.to_owned()));
        }
        if !self.is_well_formed()? {
            return Ok(Err(INVALID_QUOTES.to_owned()));
        }
        Ok(Columns::from_header(&self.record, with_ids, headings))
    }

    /// Reads the next record, if there is one.
    fn read_record(&mut self) -> Result<bool, ReadError> {
        self.allowance.set(MAX_ROW_BYTES);
        let line = self.reader.position().line();
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
        let start = self.record.position().map_or(0, csv::Position::byte);
        (start, self.reader.position().byte())
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
        Ok(is_well_quoted(&self.raw_row()?.text))
    }

    /// Returns the animal in the record, or the problems of its cells.
    fn row(&self) -> Result<Row, InvalidRow> {
        let columns = &self.columns;
        let field_count = self.record.len();
        let column_count = columns.headings.len();
        if field_count != column_count {
            return Err(InvalidRow::new(format!(
                "the row has {field_count} fields, and the header {column_count}"
            )));
        }

        let mut problems = InvalidRow::default();
        let name = self.read_cell(columns.name, &mut problems, |text| {
            parse_name(text.to_owned())
        });
        let category_id = self.read_cell(columns.category, &mut problems, |text| {
            match &columns.labels {
                Some(labels) => find_category(labels, text),
                None => parse_integer(text).ok_or_else(|| invalid_category_id(text)),
            }
        });
        let status = match columns.status {
            Some(column) => self.read_cell(column, &mut problems, parse_status),
            None => PetStatus::default(),
        };
        let id = match columns.id {
            Some(column) => self.read_cell(column, &mut problems, |text| parse_id(text).map(Some)),
            None => None,
        };
        let mut fields = FieldPatch::new();
        for FieldColumn { position, field } in &columns.fields {
            let value = self.read_cell(*position, &mut problems, |text| parse_value(field, text));
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
            Err(_) => Err("is not UTF-8".to_owned()),
        };
        problems.take(
            value.map_err(|reason| InvalidRow::in_column(&*self.columns.headings[column], reason)),
        )
    }
}

/// The problem of a record that does not follow RFC 4180.
const INVALID_QUOTES: &str = "a quote is not closed, or is inside a field that is not quoted";

/// Parses a status in any case. An empty cell is the default.
fn parse_status(text: &str) -> Result<PetStatus, String> {
    if text.is_empty() {
        return Ok(PetStatus::default());
    }
    comparison_key(text)
        .parse()
        .map_err(|_| invalid_status(text))
}

fn parse_id(text: &str) -> Result<PetId, String> {
    parse_integer(text)
        .and_then(importable)
        .and_then(PetId::new)
        .ok_or_else(|| invalid_id(text))
}

/// Parses a value of a field; `None` for an empty cell. The import checks later which days are in the future.
fn parse_value(field: &FieldDefinition, text: &str) -> Result<Option<FieldValue>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    if field.is_unique && is_shortened_number(text) {
        return Err(shortened_number_problem(text));
    }
    let requested = field.resolve_choice(field.parse_cell(text));
    match field.validate(&requested, Timestamp::MAX) {
        Some(value) => Ok(Some(value)),
        None => Err(format!(
            "{}, but was {}",
            field.rule(),
            quote_beginning(text)
        )),
    }
}

impl Rows for CsvRows<'_> {
    fn next(&mut self) -> Result<Option<Result<Row, InvalidRow>>, ReadError> {
        if !self.read_record()? {
            return Ok(None);
        }
        if self.is_well_formed()? {
            Ok(Some(self.row()))
        } else {
            Ok(Some(Err(InvalidRow::new(INVALID_QUOTES))))
        }
    }

    fn raw_row(&self) -> io::Result<RawRow> {
        let (start, end) = self.extent();
        let bytes = self.source.bytes(start, end)?;
        let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);

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
        let line = self.record.position().map_or(1, csv::Position::line) + skipped_lines;
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

    fn bytes_read(&self) -> u64 {
        self.reader.position().byte()
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Returns the problem of a number that a spreadsheet has shortened.
fn shortened_number_problem(text: &str) -> String {
    format!(
        "has a number that a spreadsheet has shortened, so that its last digits are lost: {}; in the \
         spreadsheet, format the column as a number without decimals, and save the file again",
        quote_beginning(text)
    )
}

/// Whether every quote of a record encloses a field, or is doubled within a quoted field (RFC 4180,
/// section 2, rules 5 to 7). This is so in `"a ""b""",c`, and not in `a "b",c`.
fn is_well_quoted(record: &[u8]) -> bool {
    let mut unread = record;
    loop {
        let after_field = match unread.strip_prefix(b"\"") {
            Some(content) => after_closing_quote(content),
            None => after_unquoted_field(unread),
        };
        match after_field {
            Some([]) => return true,
            Some([b',', next_field @ ..]) => unread = next_field,
            _ => return false,
        }
    }
}

/// Returns the bytes after a field without quotes; `None` if it has a quote.
fn after_unquoted_field(text: &[u8]) -> Option<&[u8]> {
    let end = text
        .iter()
        .position(|&byte| byte == b',')
        .unwrap_or(text.len());
    let (field, after_field) = text.split_at(end);
    if field.contains(&b'"') {
        return None;
    }
    Some(after_field)
}

/// Returns the bytes after the quote that closes a field, which begins with `content`; `None` if no quote closes it.
fn after_closing_quote(content: &[u8]) -> Option<&[u8]> {
    let mut unread = content;
    loop {
        let quote = unread.iter().position(|&byte| byte == b'"')?;
        let after_quote = &unread[quote + 1..];
        match after_quote.strip_prefix(b"\"") {
            Some(after_doubled_quote) => unread = after_doubled_quote,
            None => return Some(after_quote),
        }
    }
}
