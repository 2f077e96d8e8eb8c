//! The rows of a file, whatever its format, and the problems that can make a row invalid.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use std::{fmt, io};

use petstore_domain::{
    NewPet, PetId, PetName, PetRef, PetStatus,
    store_area::{FieldDefinition, FieldPatch, Profile, Resource},
};

use crate::json::{self, member_values::IMPORTED_NUMBER_RULE};

/// The content of a row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    Pet {
        /// The identifier; `None` if the import assigns a new one.
        id: Option<PetId>,
        pet: NewPet,
        /// The values of its fields, which are not validated against the fields of the store yet.
        fields: FieldPatch,
    },
    /// An animal, an order, a category or a note of the store area.
    Resource {
        resource: Resource,
        /// The number of photos of an animal; 0 for other resources. The photos are ignored,
        /// because the file has only their URLs.
        photo_count: u64,
    },
    /// The definition of a field of the store.
    Field(FieldDefinition),
    Profile {
        /// The profile of the store, without its logo.
        profile: Box<Profile>,
        /// The content of the PNG file of its logo.
        logo: Option<Vec<u8>>,
    },
}

/// A row that was read: its content, or the problems that make it invalid.
pub type ParsedRow = Result<Row, InvalidRow>;

/// The problems of an invalid row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InvalidRow {
    problems: Vec<RowProblem>,
}

/// A problem of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RowProblem {
    /// The name of the column or member in the file. Empty for a problem of the whole row.
    column: String,
    reason: String,
}

impl InvalidRow {
    /// Creates a problem of the whole row.
    pub fn new(reason: impl Into<String>) -> Self {
        Self::in_column("", reason)
    }

    /// Creates a problem of one column.
    pub fn in_column(column: impl Into<String>, reason: impl Into<String>) -> Self {
        let problem = RowProblem {
            column: column.into(),
            reason: reason.into(),
        };
        Self {
            problems: vec![problem],
        }
    }

    /// Returns the value of a result. If it failed, records its problems and returns a default
    /// value, which is never used: [`Self::into_result`] returns the problems in its place.
    pub fn record<T: Default>(&mut self, result: Result<T, Self>) -> T {
        match result {
            Ok(value) => value,
            Err(invalid) => {
                self.add(invalid);
                T::default()
            }
        }
    }

    /// Adds the problems of another part of the row.
    pub fn add(&mut self, other: Self) {
        self.problems.extend(other.problems);
    }

    /// Returns `value` if no problem was recorded, or else all problems.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.problems.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// Returns the names of the columns with problems, such as `name, status`.
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
        // A problem of the whole row has an empty column, and thus begins with a space.
        out.write_str(problems.join("; ").trim_start())
    }
}

/// Quotes the beginning of a text from a file, with escapes, for a message.
pub fn quote_beginning(text: &str) -> String {
    format!("{:?}", json::beginning(text))
}

/// A row exactly as it is in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRow {
    /// The number of the first line of the row, from 1.
    pub line: u64,
    /// The bytes of the row, without the line end.
    pub text: Vec<u8>,
}

/// The reason why the rest of a file cannot be read.
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
    /// Reads the next row. Returns `None` after the last row. An error ends the reading, while an
    /// invalid row does not: see [`ParsedRow`].
    fn next(&mut self) -> Result<Option<ParsedRow>, ReadError>;

    /// Returns the row that was read last, exactly as it is in the file.
    fn raw_row(&self) -> io::Result<RawRow>;

    /// Returns the name of the column or member that has the values of a field, such as
    /// `fields.age`.
    fn field_column(&self, field: &str) -> String {
        format!("fields.{field}")
    }

    /// Returns a list of the headings of ignored columns, for a message. Returns `None` if no
    /// column is ignored.
    fn ignored_columns(&self) -> Option<&str> {
        None
    }

    /// Returns the rows above the header, which are titles, such as the name of a list.
    fn titles(&self) -> &[String] {
        &[]
    }

    /// Whether the species of an animal may decide its category, so that the reader needs the
    /// category of each species.
    fn needs_species_categories(&self) -> bool {
        false
    }

    /// Returns how many bytes of the file were read so far, for a progress bar.
    fn bytes_read(&self) -> u64;
}

/// A writer of animals to a file.
pub trait Writer {
    fn write(&mut self, pet: PetRef<'_>) -> io::Result<()>;

    /// Flushes the output. Must be called after the last animal.
    fn finish(&mut self) -> io::Result<()>;
}

// The names of the columns of CSV, and of the members of JSON, that an animal can have.
pub(super) const ID: &str = "id";
pub(super) const NAME: &str = "name";
pub(super) const CATEGORY_ID: &str = "categoryId";
pub(super) const CATEGORY: &str = "category";
pub(super) const STATUS: &str = "status";
pub(super) const SPECIES: &str = "species";
pub(super) const LISTED: &str = "listed";
pub(super) const FIELDS: &str = "fields";

/// Parses the name of an animal. The error says what is wrong with it.
pub(super) fn parse_name(text: String) -> Result<PetName, String> {
    if text.len() > PetName::MAX_LENGTH {
        return Err(format!("is longer than {} bytes", PetName::MAX_LENGTH));
    }
    PetName::new(text).ok_or_else(|| "must not contain U+0000".to_owned())
}

/// Returns the problem of a text that is not the id of a category.
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

/// Returns the problem of a text that does not say whether the window may show an animal.
pub(super) fn invalid_listed(text: &str) -> String {
    format!("must be true or false, but was {}", quote_beginning(text))
}

/// Returns the problem of a text that is not the id of an animal.
pub(super) fn invalid_id(text: &str) -> String {
    format!(
        "must be {IMPORTED_NUMBER_RULE}, but was {}",
        quote_beginning(text)
    )
}
