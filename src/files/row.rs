//! The rows of a file, in every format.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::io;

use crate::{
    domain::{
        NewPet, PetId, PetName, PetRef, PetStatus,
        store_area::{FieldDefinition, FieldPatch, Resource},
    },
    json::members::UP_TO_HIGHEST_IMPORTED,
};

/// What a row of a file has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    Pet {
        /// Its identifier, if identifiers are read.
        id: Option<PetId>,
        pet: NewPet,
        /// The values of its fields, which were not compared with the fields of the store.
        fields: FieldPatch,
    },
    /// An animal, an order or a category of the store area, and the number of its photos: only their URLs
    /// are in the file, so they are ignored.
    Resource(Resource, u64),
    /// A field with which animals are described.
    Field(FieldDefinition),
}

/// Why a row is not valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidRow {
    /// The column or member that is invalid; `None` if it is the whole row.
    pub column: Option<&'static str>,
    pub reason: String,
}

/// A row as it is in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRow {
    /// The number of its first line, from 1.
    pub line: u64,
    /// Its bytes, without the line end.
    pub text: Vec<u8>,
}

/// Why the rest of a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file does not have the expected format.
    #[error("line {line}: {reason}")]
    Format { line: u64, reason: String },
}

/// Reads the rows of a file in order.
pub trait Rows {
    /// The next row, or why it is invalid; `None` after the last one.
    fn next(&mut self) -> Result<Option<Result<Row, InvalidRow>>, ReadError>;

    /// The row that was read last, as it is in the file.
    fn raw_row(&self) -> io::Result<RawRow>;

    fn bytes_read(&self) -> u64;
}

/// Writes animals to a file.
pub trait Writer {
    fn write(&mut self, pet: PetRef<'_>) -> io::Result<()>;

    fn finish(&mut self) -> io::Result<()>;
}

/// The columns or members of an animal.
pub(super) const ID: &str = "id";
pub(super) const NAME: &str = "name";
pub(super) const CATEGORY_ID: &str = "categoryId";
pub(super) const STATUS: &str = "status";
pub(super) const FIELDS: &str = "fields";

pub(super) fn invalid(column: &'static str, reason: impl Into<String>) -> InvalidRow {
    InvalidRow { column: Some(column), reason: reason.into() }
}

pub(super) fn name(text: String) -> Result<PetName, InvalidRow> {
    if text.len() > PetName::MAX_LENGTH {
        let reason = format!("is longer than {} bytes", PetName::MAX_LENGTH);
        return Err(invalid(NAME, reason));
    }
    PetName::new(text).ok_or_else(|| invalid(NAME, "must not contain U+0000"))
}

pub(super) fn invalid_category_id() -> InvalidRow {
    let range = format!("from {} to {}", i64::MIN, i64::MAX);
    invalid(CATEGORY_ID, format!("must be an integer {range} without leading zeros"))
}

pub(super) fn invalid_status() -> InvalidRow {
    let [a, b, c] = PetStatus::ALL;
    invalid(STATUS, format!("must be one of {a}, {b} and {c}"))
}

pub(super) fn invalid_id() -> InvalidRow {
    invalid(ID, format!("must be {UP_TO_HIGHEST_IMPORTED}"))
}
