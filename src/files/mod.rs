//! Animals in files: one a row, as CSV or as newline-delimited JSON.
//!
//! Files are read in constant memory, and strictly: what has more than one
//! reading, or would lose something, is refused with the reason.

mod csv;
mod ndjson;
mod seen_ids;
mod source;

use std::{ffi::OsStr, io, path::Path};

pub use self::{
    csv::CsvWriter,
    ndjson::NdjsonWriter,
    seen_ids::SeenIds,
    source::{MAX_ROW, Source},
};
use crate::domain::{NewPet, PetId, PetName, PetRef, PetStatus};

/// How animals stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// RFC 4180, in UTF-8, with a header.
    Csv,
    /// An object of JSON on each line, as the interface answers it.
    Ndjson,
}

impl Format {
    /// The one that the name of a file tells by its ending.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
        match ending.as_str() {
            "csv" => Some(Self::Csv),
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            _ => None,
        }
    }
}

/// An animal as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its identifier, if that was asked for.
    pub id: Option<PetId>,
    /// All else.
    pub pet: NewPet,
}

/// Why a row is no animal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The column, or member, that is wrong; `None` if it is the whole row.
    pub column: Option<&'static str>,
    /// What is wrong with it.
    pub reason: String,
}

/// Where a row stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The number of its first line, from 1.
    pub line: u64,
    /// The row as it is, without the end of its line.
    pub text: Vec<u8>,
}

/// Why a file cannot be read any further.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The system says so.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is not what it should be.
    #[error("line {line}: {reason}")]
    File {
        /// The line where that shows.
        line: u64,
        /// What is wrong.
        reason: String,
    },
}

/// The rows of a file, one after the other.
pub trait Rows {
    /// The next row, or why it is no animal; `None` after the last one.
    ///
    /// # Errors
    ///
    /// If nothing more can be read.
    fn next(&mut self) -> Result<Option<Result<Row, Wrong>>, Fault>;

    /// Where the row stands that was read last.
    ///
    /// # Errors
    ///
    /// If the file cannot be read again.
    fn place(&self) -> io::Result<Place>;

    /// How many bytes were read so far.
    fn bytes_read(&self) -> u64;
}

/// Reads the rows of a file from its beginning, with their identifiers if
/// `with_ids` says so.
///
/// # Errors
///
/// If it cannot be read, or its beginning is not what it should be.
pub fn read<'s>(
    source: &'s Source,
    format: Format,
    with_ids: bool,
) -> Result<Box<dyn Rows + 's>, Fault> {
    Ok(match format {
        Format::Csv => Box::new(csv::CsvRows::open(source, with_ids)?),
        Format::Ndjson => Box::new(ndjson::NdjsonRows::open(source, with_ids)?),
    })
}

/// Writes animals to a file.
pub trait Writer {
    /// Writes one more.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn write(&mut self, pet: PetRef<'_>) -> io::Result<()>;

    /// Writes what is still on its way.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn finish(&mut self) -> io::Result<()>;
}

/// The columns, or members, of an animal.
const ID: &str = "id";
const NAME: &str = "name";
const CATEGORY_ID: &str = "categoryId";
const STATUS: &str = "status";

fn wrong(column: &'static str, reason: impl Into<String>) -> Wrong {
    Wrong { column: Some(column), reason: reason.into() }
}

fn name(text: String) -> Result<PetName, Wrong> {
    if text.len() > PetName::MAX_LENGTH {
        let reason = format!("is longer than {} bytes", PetName::MAX_LENGTH);
        return Err(wrong(NAME, reason));
    }
    PetName::new(text).ok_or_else(|| wrong(NAME, "must not contain U+0000"))
}

fn no_category_id() -> Wrong {
    wrong(CATEGORY_ID, format!("must be an integer from {} to {}", i64::MIN, i64::MAX))
}

fn no_status() -> Wrong {
    let [a, b, c] = PetStatus::ALL;
    wrong(STATUS, format!("must be one of {a}, {b} and {c}"))
}

fn no_id() -> Wrong {
    wrong(ID, format!("must be an integer from 1 to {}", PetId::MAX))
}
