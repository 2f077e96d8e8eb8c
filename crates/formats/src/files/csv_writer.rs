//! The writers of CSV files (RFC 4180) with a header, in UTF-8.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use csv::ErrorKind;
use petstore_domain::{PetRef, text::formulas::without_formulas};

use super::{
    pet_columns::{CATEGORY_ID, ID, NAME, STATUS},
    row::Writer,
    separator::{BYTE_ORDER_MARK, Separator},
    source::BUFFER_BYTES,
};

/// Creates a writer of a file that opens as a table in spreadsheets. The file begins with a byte
/// order mark, because without it, Excel assumes an encoding other than UTF-8.
pub fn spreadsheet_writer<W: Write>(
    mut out: W,
    separator: Separator,
) -> io::Result<csv::Writer<W>> {
    out.write_all(BYTE_ORDER_MARK.as_bytes())?;
    Ok(csv::WriterBuilder::new()
        .buffer_capacity(BUFFER_BYTES)
        .delimiter(separator.byte())
        .from_writer(out))
}

/// A writer of animals to a CSV file.
pub struct CsvWriter<W: Write> {
    writer: csv::Writer<W>,
    /// The function that converts each name before it is written.
    convert_name: fn(&str) -> Cow<'_, str>,
}

impl<W: Write> CsvWriter<W> {
    /// Creates a writer, and writes the header.
    pub fn new(out: W) -> io::Result<Self> {
        let writer = csv::WriterBuilder::new()
            .buffer_capacity(BUFFER_BYTES)
            .from_writer(out);
        Self::with_header(writer, |name| name.into())
    }

    /// Creates a writer for a spreadsheet: see [`spreadsheet_writer`]. Escapes names that a
    /// spreadsheet would evaluate as formulas, so the file is not suitable for an import.
    pub fn for_spreadsheet(out: W, separator: Separator) -> io::Result<Self> {
        Self::with_header(spreadsheet_writer(out, separator)?, without_formulas)
    }

    fn with_header(
        mut writer: csv::Writer<W>,
        convert_name: fn(&str) -> Cow<'_, str>,
    ) -> io::Result<Self> {
        writer.write_record([ID, NAME, CATEGORY_ID, STATUS])?;
        Ok(Self {
            writer,
            convert_name,
        })
    }
}

impl<W: Write> Writer for CsvWriter<W> {
    fn write(&mut self, pet: PetRef<'_>) -> io::Result<()> {
        let mut id = itoa::Buffer::new();
        let mut category_id = itoa::Buffer::new();
        let record = [
            id.format(pet.id.get()),
            &(self.convert_name)(pet.name),
            category_id.format(pet.category_id),
            pet.status.as_str(),
        ];
        self.writer.write_record(record).map_err(to_io_error)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Converts an error of the CSV library.
fn to_io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}
