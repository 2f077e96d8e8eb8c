//! CSV (RFC 4180) with a header, in UTF-8.

use std::{
    borrow::Cow,
    cell::Cell,
    io::{self, Write},
    rc::Rc,
    str,
};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use jiff::Timestamp;
use petstore_domain::{
    NewPet, PetId, PetRef, PetStatus,
    store_area::{FieldPatch, RequestedValue, is_shortened_number},
    text::{comparison_key, formulas::without_formulas, parse_integer},
};

use super::{
    header::{Columns, Headings},
    row::{
        CATEGORY_ID, ID, InvalidRow, NAME, RawRow, ReadError, Row, Rows, STATUS, Writer,
        invalid_category_id, invalid_id, invalid_status, labelled, name, quoted,
    },
    source::{self, Bounded, MAX_ROW, Source},
};
use crate::json::members::imported;

const BUFFER: usize = 64 << 10;

/// The byte order mark, which some programs write at the beginning of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

pub(super) struct CsvRows<'s> {
    source: &'s Source,
    reader: Reader<Bounded<'s>>,
    allowance: Rc<Cell<u64>>,
    record: ByteRecord,
    columns: Columns,
}

impl<'s> CsvRows<'s> {
    pub(super) fn open(
        source: &'s Source,
        with_ids: bool,
        headings: &Headings,
    ) -> Result<Self, ReadError> {
        let allowance = Rc::new(Cell::new(MAX_ROW));
        let reader = ReaderBuilder::new()
            .has_headers(false)
            // `Columns` checks the number of fields, with a better message.
            .flexible(true)
            .buffer_capacity(BUFFER)
            .from_reader(source.reader(&allowance));
        let record = ByteRecord::new();
        let columns = Columns::default();
        let mut rows = Self {
            source,
            reader,
            allowance,
            record,
            columns,
        };
        let checked = if rows.read()? {
            let columns = |()| Columns::of(&rows.record, with_ids, headings);
            let columns = rows.well_formed()?.and_then(columns);
            columns.map(|columns| rows.columns = columns)
        } else {
            Err(
                "the file is empty; its first line must be a header such as name,categoryId,status"
                    .into(),
            )
        };
        match checked {
            Ok(()) => Ok(rows),
            Err(reason) => Err(ReadError::Format {
                line: rows.raw_row()?.line,
                reason,
            }),
        }
    }

    /// Reads the next record, if there is one.
    fn read(&mut self) -> Result<bool, ReadError> {
        self.allowance.set(MAX_ROW);
        let line = self.reader.position().line();
        self.reader
            .read_byte_record(&mut self.record)
            .map_err(|error| match error.into_kind() {
                ErrorKind::Io(error) if source::is_row_too_long(&error) => {
                    let reason = format!("{error}; a quote may not be closed");
                    ReadError::Format { line, reason }
                }
                ErrorKind::Io(error) => ReadError::Io(error),
                other => ReadError::Format {
                    line,
                    reason: format!("{other:?}"),
                },
            })
    }

    /// Returns the first and last byte of the record in the file, with the line ends around it.
    fn extent(&self) -> (u64, u64) {
        let start = self.record.position().map_or(0, csv::Position::byte);
        (start, self.reader.position().byte())
    }

    /// Whether the record follows RFC 4180. The reader also accepts quotes in other places, and
    /// closes an open quote at the end of the file.
    fn well_formed(&self) -> io::Result<Result<(), String>> {
        let (start, end) = self.extent();
        let bare = self.record.as_slice().len() + self.record.len().saturating_sub(1);
        // A line end has up to two characters. An open quote adds one character and extends to the
        // end of the file.
        let is_bare = end - start <= bare as u64 + 2 && end < self.source.length();
        let is_well_formed = (is_bare && !self.record.as_slice().contains(&b'"'))
            || is_well_quoted(&self.raw_row()?.text);
        Ok(if is_well_formed {
            Ok(())
        } else {
            Err("a quote is not closed, or is inside a field that is not quoted".to_owned())
        })
    }

    fn row(&self) -> Result<Row, InvalidRow> {
        let columns = &self.columns;
        let found = self.record.len();
        let expected = columns.headings.len();
        if found != expected {
            let reason = format!("the row has {found} fields, and the header {expected}");
            return Err(InvalidRow::whole(reason));
        }
        let mut problems = InvalidRow::default();
        let name = self.cell(columns.name, &mut problems, |text| name(text.to_owned()));
        let category_id = self.cell(columns.category, &mut problems, |text| {
            match &columns.labels {
                Some(labels) => labelled(labels, text),
                None => parse_integer(text).ok_or_else(|| invalid_category_id(text)),
            }
        });
        let read_status = |text: &str| match text {
            "" => Ok(PetStatus::default()),
            _ => comparison_key(text)
                .parse()
                .map_err(|_| invalid_status(text)),
        };
        let status = columns
            .status
            .map(|at| self.cell(at, &mut problems, read_status));
        let read_id = |text: &str| {
            let id = parse_integer(text).and_then(imported).and_then(PetId::new);
            id.map(Some).ok_or_else(|| invalid_id(text))
        };
        let id = columns
            .id
            .and_then(|at| self.cell(at, &mut problems, read_id));
        let mut fields = FieldPatch::new();
        for (at, field) in &columns.fields {
            fields.extend(self.cell(*at, &mut problems, |text| {
                // Which days are in the future, the import knows.
                match field.validate(
                    &field.resolve_choice(field.parse_cell(text)),
                    Timestamp::MAX,
                ) {
                    _ if text.is_empty() => Ok(None),
                    _ if field.is_unique && is_shortened_number(text) => Err(shortened(text)),
                    Some(value) => Ok(Some((
                        field.name.as_str().to_owned(),
                        RequestedValue::Set(value),
                    ))),
                    None => Err(format!("{}, but was {}", field.rule(), quoted(text))),
                }
            }));
        }
        let pet = NewPet {
            name,
            category_id,
            status: status.unwrap_or_default(),
        };
        problems.or(Row::Pet { id, pet, fields })
    }

    /// Returns the value in a cell of the record, as `read` makes it, see [`InvalidRow::take`].
    fn cell<T: Default>(
        &self,
        at: usize,
        problems: &mut InvalidRow,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> T {
        let bytes = self.record.get(at).unwrap_or_default();
        let text = str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned());
        let wrong = |reason| InvalidRow::of(&*self.columns.headings[at], reason);
        problems.take(text.and_then(read).map_err(wrong))
    }
}

impl Rows for CsvRows<'_> {
    fn next(&mut self) -> Result<Option<Result<Row, InvalidRow>>, ReadError> {
        if !self.read()? {
            return Ok(None);
        }
        Ok(Some(match self.well_formed()? {
            Ok(()) => self.row(),
            Err(reason) => Err(InvalidRow::whole(reason)),
        }))
    }

    fn raw_row(&self) -> io::Result<RawRow> {
        let (start, end) = self.extent();
        let bytes = self.source.bytes(start, end)?;
        let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
        // The reader's line number does not count line ends that it skipped before the row.
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let first = text
            .iter()
            .position(|byte| !is_end(byte))
            .unwrap_or(text.len());
        let last = text
            .iter()
            .rposition(|byte| !is_end(byte))
            .map_or(first, |last| last + 1);
        let passed = text[..first].split(|&byte| byte == b'\n').count() as u64 - 1;
        let line = self.record.position().map_or(1, csv::Position::line) + passed;
        Ok(RawRow {
            line,
            text: text[first..last].to_vec(),
        })
    }

    fn column_of(&self, field: &str) -> String {
        let mut columns = self.columns.fields.iter();
        let column = columns.find(|(_, of)| of.name.as_str() == field);
        column
            .map_or(field, |(at, _)| &self.columns.headings[*at])
            .to_owned()
    }

    fn left_out(&self) -> Option<&str> {
        Some(&*self.columns.left_out).filter(|left_out| !left_out.is_empty())
    }

    fn bytes_read(&self) -> u64 {
        self.reader.position().byte()
    }
}

/// Returns the error of a number that a spreadsheet has shortened.
fn shortened(text: &str) -> String {
    format!(
        "has a number that a spreadsheet has shortened, so that its last digits are lost: {}; in the \
         spreadsheet, format the column as a number without decimals, and save the file again",
        quoted(text)
    )
}

/// Whether every quote of a record encloses a field, or is doubled within a quoted field (RFC 4180,
/// section 2, rules 5 to 7).
fn is_well_quoted(mut rest: &[u8]) -> bool {
    loop {
        let after = if let Some(quoted) = rest.strip_prefix(b"\"") {
            after_closing_quote(quoted)
        } else {
            let end = rest
                .iter()
                .position(|&byte| byte == b',')
                .unwrap_or(rest.len());
            (!rest[..end].contains(&b'"')).then_some(&rest[end..])
        };
        match after {
            Some([]) => return true,
            Some([b',', next @ ..]) => rest = next,
            _ => return false,
        }
    }
}

fn after_closing_quote(mut quoted: &[u8]) -> Option<&[u8]> {
    loop {
        let quote = quoted.iter().position(|&byte| byte == b'"')?;
        quoted = &quoted[quote + 1..];
        match quoted.strip_prefix(b"\"") {
            Some(doubled) => quoted = doubled,
            None => return Some(quoted),
        }
    }
}

/// See [`Writer`].
pub struct CsvWriter<W: Write> {
    writer: csv::Writer<W>,
    name: fn(&str) -> Cow<'_, str>,
}

impl<W: Write> CsvWriter<W> {
    /// Writes the header.
    pub fn new(out: W) -> io::Result<Self> {
        let mut writer = csv::WriterBuilder::new()
            .buffer_capacity(BUFFER)
            .from_writer(out);
        writer.write_record([ID, NAME, CATEGORY_ID, STATUS])?;
        Ok(Self {
            writer,
            name: |name| name.into(),
        })
    }

    /// Like [`Self::new`], but for a spreadsheet: changes names so that no spreadsheet reads them
    /// as formulas. Such a file is not for an import.
    pub fn for_spreadsheet(out: W) -> io::Result<Self> {
        Ok(Self {
            name: without_formulas,
            ..Self::new(out)?
        })
    }
}

impl<W: Write> Writer for CsvWriter<W> {
    fn write(&mut self, pet: PetRef<'_>) -> io::Result<()> {
        let mut id = itoa::Buffer::new();
        let mut category_id = itoa::Buffer::new();
        let record = [
            id.format(pet.id.get()),
            &(self.name)(pet.name),
            category_id.format(pet.category_id),
            pet.status.as_str(),
        ];
        self.writer
            .write_record(record)
            .map_err(|error| match error.into_kind() {
                ErrorKind::Io(error) => error,
                other => io::Error::other(format!("{other:?}")),
            })
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
