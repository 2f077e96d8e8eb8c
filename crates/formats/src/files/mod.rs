//! Files with animals, one per row: CSV, or newline-delimited JSON, which can also contain orders,
//! categories and other resources of a store.
//!
//! Reading takes constant memory, and is strict: ambiguous input, and input that would lose data,
//! is rejected with the reason.

mod categories;
mod cell_values;
mod column_assignment;
mod csv;
mod csv_options;
mod csv_pet;
mod csv_writer;
mod header;
mod headings;
mod mapping;
mod ndjson;
mod pet_columns;
mod quotes;
mod resources;
mod row;
mod seen_ids;
mod separator;
mod source;
mod table;
mod table_rows;
mod table_start;

use std::{ffi::OsStr, path::Path};

use petstore_domain::named_enum::named_enum;

pub use self::{
    categories::Categories,
    csv_options::CsvOptions,
    csv_writer::{CsvWriter, spreadsheet_writer},
    headings::{AmbiguousHeading, KnownHeadings},
    mapping::Mapping,
    ndjson::NdjsonWriter,
    pet_columns::quote_beginning,
    row::{InvalidRow, ParsedRow, RawRow, ReadError, Row, RowProblems, Rows, Writer},
    seen_ids::{KeyHolder, SeenIds},
    separator::Separator,
    source::Source,
    table::{Table, read_table},
    table_rows::{TableLimits, TableProblem, TableRow},
};

named_enum! {
    /// The format of a file.
    pub enum Format {
        /// RFC 4180, in UTF-8, with a header.
        Csv = "csv",
        /// One JSON object per line, as in a response of the service.
        Ndjson = "ndjson",
    }
}

impl Format {
    /// Returns the format that a file name extension indicates: CSV for `pets.csv`, and NDJSON for
    /// `pets.ndjson` and `pets.jsonl`.
    pub fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension().and_then(OsStr::to_str)?;
        match extension.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            _ => None,
        }
    }
}

/// Opens the rows of a file for reading from the beginning. If `with_ids` is true, each animal must
/// have an identifier; otherwise, identifiers are not read. The options apply only to CSV.
pub fn open_rows<'s>(
    source: &'s Source,
    format: Format,
    with_ids: bool,
    options: &CsvOptions,
) -> Result<Box<dyn Rows + 's>, ReadError> {
    match format {
        Format::Csv => Ok(Box::new(csv::CsvRows::open(source, with_ids, options)?)),
        Format::Ndjson => Ok(Box::new(ndjson::NdjsonRows::open(source, with_ids)?)),
    }
}
