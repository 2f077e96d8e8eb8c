//! Animals in files, one per row, as CSV or newline-delimited JSON, which can also have orders and
//! categories.
//!
//! Reading takes constant memory, and is strict: input that is ambiguous, or would lose something,
//! is rejected with the reason.

mod csv;
mod header;
mod ndjson;
mod resources;
mod row;
mod seen_ids;
mod source;
mod table;

use std::{ffi::OsStr, path::Path};

use petstore_domain::words::words;

pub use self::{
    csv::CsvWriter,
    header::{Headings, Mapping},
    ndjson::NdjsonWriter,
    row::{InvalidRow, Labels, RawRow, ReadError, Row, Rows, Writer, add_label, quoted},
    seen_ids::SeenIds,
    source::Source,
    table::{Table, TableLimits, TableProblem, TableRow, read_table},
};

words! {
    /// The format of a file.
    pub enum Format {
        /// RFC 4180, in UTF-8, with a header.
        Csv = "csv",
        /// One JSON object per line, as in a response of the service.
        Ndjson = "ndjson",
    }
}

impl Format {
    /// Returns the format that the file name extension indicates.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path
            .extension()
            .and_then(OsStr::to_str)?
            .to_ascii_lowercase();
        match ending.as_str() {
            "csv" => Some(Self::Csv),
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            _ => None,
        }
    }
}

/// Reads the rows of a file from its beginning, with identifiers if `with_ids` is set. Only CSV has
/// headings.
pub fn read<'s>(
    source: &'s Source,
    format: Format,
    with_ids: bool,
    headings: &Headings,
) -> Result<Box<dyn Rows + 's>, ReadError> {
    Ok(match format {
        Format::Csv => Box::new(csv::CsvRows::open(source, with_ids, headings)?),
        Format::Ndjson => Box::new(ndjson::NdjsonRows::open(source, with_ids)?),
    })
}
