//! The reader and the writer of newline-delimited JSON: files with one object on each line.

use std::{
    io::{self, BufRead, BufReader, BufWriter, Write},
    str,
};

use petstore_domain::{
    NewPet, PetId, PetName, PetRef, PetStatus,
    store_area::{FieldDefinition, FieldPatch, Profile, Resource},
};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{
    pet_columns::{
        CATEGORY_ID, FIELDS, ID, LISTED, NAME, STATUS, describe_invalid_category_id,
        describe_invalid_id, describe_invalid_listed, describe_invalid_status, parse_name,
    },
    resources,
    row::{InvalidRow, ParsedRow, RawRow, ReadError, Row, RowProblems, Rows, Writer},
    separator::BYTE_ORDER_MARK,
    source::{self, Allowance, BUFFER_BYTES, BoundedReader, Source},
};
use crate::json::{self, member_values::importable_number};

/// A reader of the rows of a file with one JSON object on each line.
pub(super) struct NdjsonRows<'s> {
    reader: BufReader<BoundedReader<'s>>,
    allowance: Allowance,
    /// The number of the line that was read last, from 1.
    line_number: u64,
    /// The content of the line that was read last.
    line: Vec<u8>,
    bytes_read: u64,
    with_ids: bool,
}

/// The members of an animal, which are not parsed yet. Other members are rejected, because the
/// value of a misspelt member would be lost.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PetMembers<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow, rename = "categoryId")]
    category_id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "keep_null")]
    status: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "keep_null")]
    listed: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "keep_null")]
    fields: Option<&'a RawValue>,
}

/// Deserializes a member that is present as `Some`, even if its value is null. By default, serde
/// treats such a member as absent, and the row would lose the null without an error.
fn keep_null<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

/// Parses a member that must be present.
fn parse_required<'a, T>(
    name: &str,
    value: Option<&'a RawValue>,
    parse: impl FnOnce(&'a RawValue) -> Result<T, String>,
) -> Result<T, InvalidRow> {
    match value {
        Some(value) => parse(value).map_err(|reason| InvalidRow::in_column(name, reason)),
        None => Err(InvalidRow::in_column(name, "is missing")),
    }
}

/// Parses a member that can be absent.
fn parse_optional<'a, T>(
    name: &str,
    value: Option<&'a RawValue>,
    parse: impl FnOnce(&'a RawValue) -> Result<T, String>,
) -> Result<Option<T>, InvalidRow> {
    match value {
        Some(_) => parse_required(name, value, parse).map(Some),
        None => Ok(None),
    }
}

fn read_name(value: &RawValue) -> Result<PetName, String> {
    match json::as_string(value) {
        Some(text) => parse_name(text),
        None => Err("must be a string".to_owned()),
    }
}

fn read_category_id(value: &RawValue) -> Result<i64, String> {
    json::as_integer(value).ok_or_else(|| describe_invalid_category_id(value.get()))
}

fn read_status(value: &RawValue) -> Result<PetStatus, String> {
    json::as_string(value)
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| describe_invalid_status(value.get()))
}

fn read_listed(value: &RawValue) -> Result<bool, String> {
    value
        .get()
        .parse()
        .map_err(|_| describe_invalid_listed(value.get()))
}

fn read_id(value: &RawValue) -> Result<PetId, String> {
    json::as_integer(value)
        .and_then(importable_number)
        .and_then(PetId::new)
        .ok_or_else(|| describe_invalid_id(value.get()))
}

fn read_fields(value: &RawValue) -> Result<FieldPatch, String> {
    json::parse_new_fields(value)
        .ok_or_else(|| "must be an object with values that are not null".to_owned())
}

impl<'s> NdjsonRows<'s> {
    /// Opens a file, and skips a byte order mark at its beginning.
    pub(super) fn open(source: &'s Source, with_ids: bool) -> Result<Self, ReadError> {
        let allowance = Allowance::full();
        let mut reader =
            BufReader::with_capacity(BUFFER_BYTES, source.open_at(0, allowance.clone()));
        if reader.fill_buf()?.starts_with(BYTE_ORDER_MARK.as_bytes()) {
            reader.consume(BYTE_ORDER_MARK.len());
        }
        Ok(Self {
            reader,
            allowance,
            line_number: 0,
            line: Vec::new(),
            bytes_read: 0,
            with_ids,
        })
    }

    /// Reads the next line that is not blank. Returns whether there was one before the end of the
    /// file.
    fn read_line(&mut self) -> Result<bool, ReadError> {
        loop {
            self.allowance.refill();
            self.line_number += 1;
            self.line.clear();
            match self.reader.read_until(b'\n', &mut self.line) {
                Ok(length) => self.bytes_read += length as u64,
                Err(error) if source::is_row_too_long(&error) => {
                    return Err(ReadError::Format {
                        line: self.line_number,
                        reason: error.to_string(),
                    });
                }
                Err(error) => return Err(ReadError::Io(error)),
            }
            if self.line.is_empty() {
                return Ok(false);
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    /// Parses the line that was read last.
    fn parse_row(&self) -> ParsedRow {
        let line =
            str::from_utf8(&self.line).map_err(|_| InvalidRow::new("the line is not UTF-8"))?;
        // Checked here, because serde also accepts an array with the values of the members.
        if !line.trim_start().starts_with('{') {
            return Err(InvalidRow::new("the line is not a JSON object"));
        }
        if resources::is_tagged(line) {
            return resources::parse_line(line);
        }
        self.parse_pet(line)
    }

    /// Parses a JSON object with the members of an animal, as in the contract of the API. The error
    /// has the problems of all members, including the required ones that are missing.
    fn parse_pet(&self, line: &str) -> ParsedRow {
        let members: PetMembers<'_> =
            serde_json::from_str(line).map_err(|error| syntax_problem(&error))?;
        let mut problems = RowProblems::default();
        let pet = NewPet {
            name: problems.value_or_record(parse_required(NAME, members.name, read_name)),
            category_id: problems.value_or_record(parse_required(
                CATEGORY_ID,
                members.category_id,
                read_category_id,
            )),
            status: problems
                .value_or_record(parse_optional(STATUS, members.status, read_status))
                .unwrap_or_default(),
            is_listed: problems
                .value_or_record(parse_optional(LISTED, members.listed, read_listed))
                .unwrap_or(true),
        };
        let id = if self.with_ids {
            problems.value_or_record(parse_required(ID, members.id, read_id).map(Some))
        } else {
            None
        };
        let fields = problems
            .value_or_record(parse_optional(FIELDS, members.fields, read_fields))
            .unwrap_or_default();
        problems.into_result(Row::Pet { id, pet, fields })
    }
}

/// Returns the problem of a line that is not a valid animal. The message has only the column of the
/// error, because the parser numbers each line as line 1.
fn syntax_problem(error: &serde_json::Error) -> InvalidRow {
    let message = error.to_string();
    let reason = match message.rsplit_once(" at line ") {
        Some((reason, _)) => reason,
        None => &message,
    };
    InvalidRow::new(format!(
        "not a valid JSON animal, at byte {}: {reason}",
        error.column()
    ))
}

impl Rows for NdjsonRows<'_> {
    fn read_row(&mut self) -> Result<Option<ParsedRow>, ReadError> {
        if !self.read_line()? {
            return Ok(None);
        }
        if !self.with_ids && str::from_utf8(&self.line).is_ok_and(resources::is_tagged) {
            let reason = "the file is an export with --all, with the ids of animals, orders and \
                          categories; import it with --keep-ids";
            return Err(ReadError::Format {
                line: self.line_number,
                reason: reason.to_owned(),
            });
        }
        Ok(Some(self.parse_row()))
    }

    fn raw_row(&self) -> io::Result<RawRow> {
        Ok(RawRow {
            line: self.line_number,
            text: self.line.trim_ascii_end().to_vec(),
        })
    }

    fn bytes_read(&self) -> u64 {
        self.bytes_read
    }
}

/// A writer of a file with one JSON object on each line.
pub struct NdjsonWriter<W: Write> {
    out: BufWriter<W>,
    /// The line that is being written. Each line reuses its memory.
    line: Vec<u8>,
}

impl<W: Write> NdjsonWriter<W> {
    /// Creates a writer.
    pub fn new(out: W) -> Self {
        Self {
            out: BufWriter::with_capacity(BUFFER_BYTES, out),
            line: Vec::new(),
        }
    }

    /// Writes the profile of the store. `logo` is the content of the file of its logo.
    pub fn write_profile(&mut self, profile: &Profile, logo: Option<&[u8]>) -> io::Result<()> {
        self.write_line(|line| resources::write_profile(line, profile, logo))
    }

    /// Writes the definition of a field.
    pub fn write_field(&mut self, field: &FieldDefinition) -> io::Result<()> {
        self.write_line(|line| resources::write_field(line, field))
    }

    /// Writes an animal, an order, a category or a note of the store area.
    pub fn write_resource(&mut self, resource: &Resource) -> io::Result<()> {
        self.write_line(|line| resources::write_resource(line, resource))
    }

    /// Writes the line that `render` produces, including its line end.
    fn write_line(&mut self, render: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.line.clear();
        render(&mut self.line);
        self.out.write_all(&self.line)
    }
}

impl<W: Write> Writer for NdjsonWriter<W> {
    fn write(&mut self, pet: PetRef<'_>) -> io::Result<()> {
        self.write_line(|line| {
            json::write_pet(line, pet);
            line.push(b'\n');
        })
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
