//! The reader of CSV files (RFC 4180) with a header, in UTF-8. Cells can also be separated by
//! semicolons or tabs.

use std::{io, str};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use super::{
    csv_options::CsvOptions,
    csv_pet::{NOT_UTF8, PetRecord},
    header::Columns,
    headings::KnownHeadings,
    quotes::is_well_quoted,
    row::{InvalidRow, ParsedRow, RawRow, ReadError, Rows},
    source::{self, Allowance, BUFFER_BYTES, BoundedReader, Source},
    table_rows::TableStart,
    table_start::find_start,
};
use crate::cells::trim_cell;

/// The problem of a record that does not follow RFC 4180.
const INVALID_QUOTES: &str = "a quote is not closed, or is inside a field that is not quoted";

/// A reader of the rows of a CSV file.
pub(super) struct CsvRows<'s> {
    records: Records<'s>,
    columns: Columns,
    options: CsvOptions,
}

/// A reader of the records of a CSV file: the header, and then the rows.
struct Records<'s> {
    source: &'s Source,
    reader: Reader<BoundedReader<'s>>,
    allowance: Allowance,
    /// The record that was read last.
    record: ByteRecord,
    start: TableStart,
}

impl<'s> CsvRows<'s> {
    /// Opens a file, and reads its header.
    pub(super) fn open(
        source: &'s Source,
        with_ids: bool,
        options: &CsvOptions,
    ) -> Result<Self, ReadError> {
        let headings = KnownHeadings::new(&options.fields, options.words);
        let is_heading = |text: &str| headings.is_known(text) || options.has_mapping_for(text);
        let start = find_start(&source.read_first_lines()?, options.separator, &is_heading);

        let mut records = Records::new(source, start);
        let columns = read_columns(&mut records, with_ids, options, &headings)?;
        Ok(Self {
            records,
            columns,
            options: options.clone(),
        })
    }

    /// Returns a parser of the animal in the record that was read last.
    fn pet_record(&self) -> PetRecord<'_> {
        PetRecord {
            record: &self.records.record,
            columns: &self.columns,
            options: &self.options,
        }
    }
}

/// Reads the header, which is the first record that is not blank, and assigns its columns.
fn read_columns(
    records: &mut Records<'_>,
    with_ids: bool,
    options: &CsvOptions,
    headings: &KnownHeadings,
) -> Result<Columns, ReadError> {
    loop {
        if !records.read_record()? {
            let reason = "the file is empty; its first line must be a header such as \
                          name,categoryId,status";
            return Err(records.create_error(reason.to_owned()));
        }
        if !records.is_blank() {
            break;
        }
    }
    if !records.is_well_formed()? {
        return Err(records.create_error(INVALID_QUOTES.to_owned()));
    }

    let mut header = Vec::new();
    for cell in &records.record {
        match str::from_utf8(cell) {
            Ok(heading) => header.push(heading),
            Err(_) => return Err(records.create_error(format!("the header {NOT_UTF8}"))),
        }
    }
    Columns::from_header(&header, with_ids, options, headings)
        .map_err(|reason| records.create_error(reason))
}

impl<'s> Records<'s> {
    /// Creates a reader at the first row of the table, which is the header.
    fn new(source: &'s Source, start: TableStart) -> Self {
        let allowance = Allowance::full();
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .delimiter(start.separator.byte())
            // `Columns` checks the number of fields, with a better message.
            .flexible(true)
            .buffer_capacity(BUFFER_BYTES)
            .from_reader(source.open_at(start.position as u64, allowance.clone()));
        Self {
            source,
            reader,
            allowance,
            record: ByteRecord::new(),
            start,
        }
    }

    /// Creates an error with the line of the record that was read last.
    fn create_error(&self, reason: String) -> ReadError {
        match self.raw_row() {
            Ok(row) => ReadError::Format {
                line: row.line,
                reason,
            },
            Err(error) => ReadError::Io(error),
        }
    }

    /// Reads the next record. Returns whether there was one before the end of the file.
    fn read_record(&mut self) -> Result<bool, ReadError> {
        self.allowance.refill();
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

    /// Returns the range of the record in the file, including line ends around it: the positions of
    /// its first byte and of the byte after it.
    fn byte_range(&self) -> (u64, u64) {
        let offset = self.start.position as u64;
        let start = self.record.position().map_or(0, csv::Position::byte);
        (offset + start, offset + self.reader.position().byte())
    }

    /// Returns the number of lines before the table, such as `sep=;` and titles.
    fn lines_before(&self) -> u64 {
        self.start.line as u64 - 1
    }

    /// Whether all cells of the record are empty. Spreadsheets also save rows that look empty.
    fn is_blank(&self) -> bool {
        self.record
            .iter()
            .all(|cell| str::from_utf8(cell).is_ok_and(|cell| trim_cell(cell).is_empty()))
    }

    /// Whether the quotes of the record follow RFC 4180. The CSV library also accepts quotes in
    /// other places, and closes an open quote at the end of the file.
    fn is_well_formed(&self) -> io::Result<bool> {
        let (start, end) = self.byte_range();
        let separators_length = self.record.len().saturating_sub(1);
        let unquoted_length = self.record.as_slice().len() + separators_length;
        // First try to decide from the length, without reading the text again. A record without
        // quotes has only its cells, its separators and a line end. With the two quotes of a cell
        // and any line end, it is longer. At the end of the file, the length decides nothing: the
        // line end may be missing, and an open quote adds only one character.
        let longest_length = (unquoted_length + "\r\n".len()) as u64;
        let is_unquoted = end < self.source.length() && end - start <= longest_length;
        if is_unquoted && !self.record.as_slice().contains(&b'"') {
            return Ok(true);
        }
        Ok(is_well_quoted(
            &self.raw_row()?.text,
            self.start.separator.byte(),
        ))
    }

    /// Returns the record that was read last as it is in the file, with its line.
    fn raw_row(&self) -> io::Result<RawRow> {
        let (start, end) = self.byte_range();
        let text = self.source.read_bytes(start, end)?;

        let row_start = text
            .iter()
            .position(|&byte| !is_line_end(byte))
            .unwrap_or(text.len());
        let row_end = text
            .iter()
            .rposition(|&byte| !is_line_end(byte))
            .map_or(row_start, |last| last + 1);

        // The line number of the library excludes the line ends that it skipped before the row.
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
}

impl Rows for CsvRows<'_> {
    fn read_row(&mut self) -> Result<Option<ParsedRow>, ReadError> {
        while self.records.read_record()? {
            if !self.records.is_well_formed()? {
                return Ok(Some(Err(InvalidRow::new(INVALID_QUOTES))));
            }
            if !self.records.is_blank() {
                return Ok(Some(self.pet_record().parse()));
            }
        }
        Ok(None)
    }

    fn raw_row(&self) -> io::Result<RawRow> {
        self.records.raw_row()
    }

    fn field_column(&self, field: &str) -> String {
        self.columns.field_heading(field)
    }

    fn ignored_columns(&self) -> Option<&str> {
        if self.columns.ignored.is_empty() {
            None
        } else {
            Some(&self.columns.ignored)
        }
    }

    fn titles(&self) -> &[String] {
        &self.records.start.titles
    }

    fn needs_species_categories(&self) -> bool {
        // A column with ids has the category of each animal, so the species does not matter, unless
        // it is in the same column.
        let species_column = self.columns.species();
        species_column.is_some()
            && (self.columns.has_labels || self.columns.category == species_column)
    }

    fn bytes_read(&self) -> u64 {
        self.records.start.position as u64 + self.records.reader.position().byte()
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}
