//! Newline-delimited JSON: one object per line.

use std::{
    cell::Cell,
    io::{self, BufRead, BufReader, BufWriter, Write},
    rc::Rc,
    str,
};

use petstore_domain::{
    NewPet, PetId, PetRef,
    store_area::{FieldDefinition, Profile, Resource},
};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{
    resources,
    row::{
        CATEGORY_ID, FIELDS, ID, InvalidRow, NAME, RawRow, ReadError, Row, Rows, STATUS, Writer,
        invalid_category_id, invalid_id, invalid_status, name,
    },
    source::{self, Bounded, MAX_ROW, Source},
};
use crate::json::{self, members::imported};

const BUFFER: usize = 64 << 10;

pub(super) struct NdjsonRows<'s> {
    reader: BufReader<Bounded<'s>>,
    allowance: Rc<Cell<u64>>,
    /// The number of the line that was read last, and its content.
    number: u64,
    line: Vec<u8>,
    bytes_read: u64,
    with_ids: bool,
}

/// The members of an animal, not yet parsed. Others are rejected, because a misspelt member would
/// be lost.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Members<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow, rename = "categoryId")]
    category_id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "given")]
    status: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "given")]
    fields: Option<&'a RawValue>,
}

/// Returns a member that is present, perhaps as `null`, which is not a valid status.
fn given<'de: 'a, 'a, D: Deserializer<'de>>(value: D) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(value).map(Some)
}

/// Returns a member that must be present, as `parse` reads it.
fn required<'a, T>(
    name: &str,
    value: Option<&'a RawValue>,
    parse: impl FnOnce(&'a RawValue) -> Result<T, String>,
) -> Result<T, InvalidRow> {
    let value = value.ok_or_else(|| "is missing".to_owned());
    value
        .and_then(parse)
        .map_err(|reason| InvalidRow::of(name, reason))
}

impl<'s> NdjsonRows<'s> {
    pub(super) fn open(source: &'s Source, with_ids: bool) -> Result<Self, ReadError> {
        let allowance = Rc::new(Cell::new(MAX_ROW));
        let reader = BufReader::with_capacity(BUFFER, source.reader(&allowance));
        let line = Vec::new();
        let mut rows = Self {
            reader,
            allowance,
            number: 0,
            line,
            bytes_read: 0,
            with_ids,
        };
        let mark = "\u{FEFF}".as_bytes();
        if rows.reader.fill_buf()?.starts_with(mark) {
            rows.reader.consume(mark.len());
        }
        Ok(rows)
    }

    /// Reads the next line that is not blank, if there is one.
    fn read(&mut self) -> Result<bool, ReadError> {
        loop {
            self.allowance.set(MAX_ROW);
            self.number += 1;
            self.line.clear();
            let line = self.number;
            let read = self.reader.read_until(b'\n', &mut self.line);
            self.bytes_read += read.map_err(|error| {
                if source::is_row_too_long(&error) {
                    ReadError::Format {
                        line,
                        reason: error.to_string(),
                    }
                } else {
                    ReadError::Io(error)
                }
            })? as u64;
            if self.line.is_empty() {
                return Ok(false);
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    fn row(&self) -> Result<Row, InvalidRow> {
        let line =
            str::from_utf8(&self.line).map_err(|_| InvalidRow::whole("the line is not UTF-8"))?;
        // serde would accept an array of the members in their order.
        if !line.trim_start().starts_with('{') {
            return Err(InvalidRow::whole("the line is not a JSON object"));
        }
        if resources::is_tagged(line) {
            return resources::parse(line);
        }
        let members: Members<'_> = serde_json::from_str(line).map_err(|error| {
            let text = error.to_string();
            let reason = text
                .rsplit_once(" at line ")
                .map_or(&*text, |(reason, _)| reason);
            let at = error.column();
            InvalidRow::whole(format!("not a valid JSON animal, at byte {at}: {reason}"))
        })?;
        let mut problems = InvalidRow::default();
        let name = problems.take(required(NAME, members.name, |text| {
            json::string(text)
                .ok_or_else(|| "must be a string".to_owned())
                .and_then(name)
        }));
        let category_id = problems.take(required(CATEGORY_ID, members.category_id, |id| {
            json::integer(id).ok_or_else(|| invalid_category_id(id.get()))
        }));
        let status = members.status.map(|status| {
            problems.take(required(STATUS, Some(status), |status| {
                let word = json::string(status).and_then(|status| status.parse().ok());
                word.ok_or_else(|| invalid_status(status.get()))
            }))
        });
        let read_id = |id: &RawValue| {
            let known = json::integer(id).and_then(imported).and_then(PetId::new);
            known.map(Some).ok_or_else(|| invalid_id(id.get()))
        };
        let id = if self.with_ids {
            required(ID, members.id, read_id)
        } else {
            Ok(None)
        };
        let id = problems.take(id);
        let fields = members.fields.map(|fields| {
            problems.take(required(FIELDS, Some(fields), |fields| {
                let is = "must be an object with values that are not null";
                json::read_new_fields(fields).ok_or_else(|| is.to_owned())
            }))
        });
        let pet = NewPet {
            name,
            category_id,
            status: status.unwrap_or_default(),
        };
        problems.or(Row::Pet {
            id,
            pet,
            fields: fields.unwrap_or_default(),
        })
    }
}

impl Rows for NdjsonRows<'_> {
    fn next(&mut self) -> Result<Option<Result<Row, InvalidRow>>, ReadError> {
        if !self.read()? {
            return Ok(None);
        }
        if !self.with_ids && str::from_utf8(&self.line).is_ok_and(resources::is_tagged) {
            let reason = "the file is an export with --all, with the ids of animals, orders and \
                          categories; import it with --keep-ids";
            return Err(ReadError::Format {
                line: self.number,
                reason: reason.to_owned(),
            });
        }
        Ok(Some(self.row()))
    }

    fn raw_row(&self) -> io::Result<RawRow> {
        Ok(RawRow {
            line: self.number,
            text: self.line.trim_ascii_end().to_vec(),
        })
    }

    fn bytes_read(&self) -> u64 {
        self.bytes_read
    }
}

/// See [`Writer`].
pub struct NdjsonWriter<W: Write> {
    out: BufWriter<W>,
    line: Vec<u8>,
}

impl<W: Write> NdjsonWriter<W> {
    /// Writes nothing yet.
    pub fn new(out: W) -> Self {
        Self {
            out: BufWriter::with_capacity(BUFFER, out),
            line: Vec::new(),
        }
    }

    /// Writes the profile of the store, with the file of its logo.
    pub fn write_profile(&mut self, profile: &Profile, logo: Option<&[u8]>) -> io::Result<()> {
        self.line.clear();
        resources::write_profile(&mut self.line, profile, logo);
        self.out.write_all(&self.line)
    }

    /// Writes a field.
    pub fn write_field(&mut self, field: &FieldDefinition) -> io::Result<()> {
        self.line.clear();
        resources::write_field(&mut self.line, field);
        self.out.write_all(&self.line)
    }

    /// Writes one animal, order or category of the store area.
    pub fn write_resource(&mut self, resource: &Resource) -> io::Result<()> {
        self.line.clear();
        resources::write(&mut self.line, resource);
        self.out.write_all(&self.line)
    }
}

impl<W: Write> Writer for NdjsonWriter<W> {
    fn write(&mut self, pet: PetRef<'_>) -> io::Result<()> {
        self.line.clear();
        json::write_pet(&mut self.line, pet);
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
