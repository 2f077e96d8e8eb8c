//! The rows of a file, in every format.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{fmt, io};

use petstore_domain::{
    NewPet, PetId, PetName, PetRef, PetStatus,
    store_area::{FieldDefinition, FieldPatch, Profile, Resource},
};

use crate::json::member_values::UP_TO_HIGHEST_IMPORTED;

/// The content of a row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    Pet {
        /// The identifier, if identifiers are read.
        id: Option<PetId>,
        pet: NewPet,
        /// The values of its fields, which were not compared with the fields of the store.
        fields: FieldPatch,
    },
    /// An animal, an order, a category or a note of the store area, and the number of its photos: only their URLs
    /// are in the file, so they are ignored.
    Resource(Resource, u64),
    /// A field of the store.
    Field(FieldDefinition),
    /// The profile of the store, and the content of the file of its logo.
    Profile(Box<Profile>, Option<Vec<u8>>),
}

/// The problems of a row that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InvalidRow {
    problems: Vec<RowProblem>,
}

/// A problem of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RowProblem {
    /// The column or member, by its name in the file; empty for a problem of the whole row.
    column: String,
    reason: String,
}

impl InvalidRow {
    /// Returns a problem of the whole row.
    pub fn new(reason: impl Into<String>) -> Self {
        Self::in_column("", reason)
    }

    /// Returns a problem of a column.
    pub fn in_column(column: impl Into<String>, reason: impl Into<String>) -> Self {
        let problem = RowProblem {
            column: column.into(),
            reason: reason.into(),
        };
        Self {
            problems: vec![problem],
        }
    }

    /// Returns a value. If it has problems, adds them, and returns a default value, which no caller may use.
    pub fn take<T: Default>(&mut self, value: Result<T, Self>) -> T {
        match value {
            Ok(value) => value,
            Err(invalid) => {
                self.problems.extend(invalid.problems);
                T::default()
            }
        }
    }

    /// Returns the value if there are no problems, or else the problems.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.problems.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// Returns the columns with problems, such as `name, status`.
    pub fn columns(&self) -> String {
        let columns: Vec<&str> = self
            .problems
            .iter()
            .map(|problem| problem.column.as_str())
            .collect();
        columns.join(", ")
    }
}

impl fmt::Display for InvalidRow {
    /// Writes the problems, such as `name is missing; categoryId is missing`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems: Vec<String> = self
            .problems
            .iter()
            .map(|problem| format!("{} {}", problem.column, problem.reason))
            .collect();
        out.write_str(problems.join("; ").trim_start())
    }
}

/// Returns the beginning of a text from a file, in quotes and with escapes, for a message.
pub fn quote_beginning(text: &str) -> String {
    format!("{:?}", text.chars().take(40).collect::<String>())
}

/// A row as it is in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRow {
    /// The number of the first line of the row, from 1.
    pub line: u64,
    /// The bytes of the row, without the line end.
    pub text: Vec<u8>,
}

/// The reason why the remaining file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file does not have the expected format.
    #[error("line {line}: {reason}")]
    Format { line: u64, reason: String },
}

/// A reader of the rows of a file, from the first to the last.
pub trait Rows {
    /// Reads the next row, or returns the problems of a row that is invalid; `None` after the last row.
    fn next(&mut self) -> Result<Option<Result<Row, InvalidRow>>, ReadError>;

    /// Returns the row that was read last, as it is in the file.
    fn raw_row(&self) -> io::Result<RawRow>;

    /// Returns the name of the column or member with the values of a field, such as `fields.age`.
    fn field_column(&self, field: &str) -> String {
        format!("fields.{field}")
    }

    /// Returns the headings of the columns that are left out, for a message; `None` if there are none.
    fn ignored_columns(&self) -> Option<&str> {
        None
    }

    /// Returns the rows above the header that are titles, such as the name of a list.
    fn titles(&self) -> &[String] {
        &[]
    }

    /// Whether the species of animals can decide their categories.
    fn needs_species_categories(&self) -> bool {
        false
    }

    fn bytes_read(&self) -> u64;
}

/// A writer of animals to a file.
pub trait Writer {
    fn write(&mut self, pet: PetRef<'_>) -> io::Result<()>;

    fn finish(&mut self) -> io::Result<()>;
}

/// The names of the columns or members of an animal.
pub(super) const ID: &str = "id";
pub(super) const NAME: &str = "name";
pub(super) const CATEGORY_ID: &str = "categoryId";
pub(super) const CATEGORY: &str = "category";
pub(super) const STATUS: &str = "status";
pub(super) const SPECIES: &str = "species";
pub(super) const LISTED: &str = "listed";
pub(super) const FIELDS: &str = "fields";

/// Returns the name of an animal, or the problem of the text.
pub(super) fn parse_name(text: String) -> Result<PetName, String> {
    if text.len() > PetName::MAX_LENGTH {
        return Err(format!("is longer than {} bytes", PetName::MAX_LENGTH));
    }
    PetName::new(text).ok_or_else(|| "must not contain U+0000".to_owned())
}

/// Returns the problem of a text that is no category.
pub(super) fn invalid_category_id(text: &str) -> String {
    format!(
        "must be an integer from {} to {} without leading zeros, but was {}",
        i64::MIN,
        i64::MAX,
        quote_beginning(text)
    )
}

/// Returns the problem of an invalid status.
pub(super) fn invalid_status(text: &str) -> String {
    let [first, second, third] = PetStatus::ALL;
    format!(
        "must be one of {first}, {second} and {third}, but was {}",
        quote_beginning(text)
    )
}

/// Returns the problem of a text that is neither yes nor no.
pub(super) fn invalid_listed(text: &str) -> String {
    format!("must be true or false, but was {}", quote_beginning(text))
}

/// Returns the problem of a text that is no identifier.
pub(super) fn invalid_id(text: &str) -> String {
    format!(
        "must be {UP_TO_HIGHEST_IMPORTED}, but was {}",
        quote_beginning(text)
    )
}
