//! The rows of a file, whatever its format: what a row can contain, the problems that can make it
//! invalid, and the traits of readers and writers.

use std::{fmt, io};

use petstore_domain::{
    NewPet, PetId, PetRef,
    store_area::{FieldDefinition, FieldPatch, Profile, Resource},
};

/// The content of a row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// An animal of the contract.
    Pet {
        /// The identifier. It is `None` if the import assigns a new one.
        id: Option<PetId>,
        /// The animal.
        pet: NewPet,
        /// The values of its fields, which are not validated against the fields of the store yet.
        fields: FieldPatch,
    },
    /// An animal, an order, a category or a note of the store area.
    Resource {
        /// The animal, order, category or note.
        resource: Resource,
        /// The number of photos of an animal; 0 for other resources. The photos are ignored,
        /// because the file has only their URLs.
        photo_count: u64,
    },
    /// The definition of a field of the store.
    Field(FieldDefinition),
    /// The profile of the store.
    Profile {
        /// The profile, without its logo.
        profile: Box<Profile>,
        /// The content of the PNG file of its logo.
        logo: Option<Vec<u8>>,
    },
}

/// A row that was read: its content, or the problems that make it invalid.
pub type ParsedRow = Result<Row, InvalidRow>;

/// The problems of an invalid row, of which there is at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidRow {
    problems: Vec<RowProblem>,
}

/// The problems that were found so far in a row that is being parsed.
#[derive(Debug, Default)]
pub struct RowProblems {
    problems: Vec<RowProblem>,
}

/// A problem of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RowProblem {
    /// The name of the column or member in the file. Empty for a problem of the whole row.
    column: String,
    reason: String,
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
    Format {
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with the line.
        reason: String,
    },
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

    /// Returns the names of the columns with problems, such as `name, status`. The name is empty
    /// for a problem of the whole row.
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
        // A problem of the whole row has an empty column, and thus begins with a space. It is the
        // only problem of its row.
        out.write_str(problems.join("; ").trim_start())
    }
}

impl RowProblems {
    /// Returns the value of a part of the row. If the part is invalid, adds its problems, and
    /// returns a default value.
    ///
    /// The default is never used, because [`Self::into_result`] then returns the problems.
    pub(super) fn value_or_record<T: Default>(&mut self, part: Result<T, InvalidRow>) -> T {
        match part {
            Ok(value) => value,
            Err(invalid) => {
                self.add(invalid);
                T::default()
            }
        }
    }

    /// Adds the problems of a part of the row.
    pub fn add(&mut self, invalid: InvalidRow) {
        self.problems.extend(invalid.problems);
    }

    /// Returns `value` if no problem was added. Fails with all problems otherwise.
    pub fn into_result<T>(self, value: T) -> Result<T, InvalidRow> {
        if self.problems.is_empty() {
            return Ok(value);
        }
        Err(InvalidRow {
            problems: self.problems,
        })
    }
}

/// A reader of the rows of a file, from the first to the last.
pub trait Rows {
    /// Reads the next row. Returns `None` after the last row.
    ///
    /// After an error, the rest of the file cannot be read. After an invalid row, it can: see
    /// [`ParsedRow`].
    fn read_row(&mut self) -> Result<Option<ParsedRow>, ReadError>;

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
    /// Writes an animal.
    fn write(&mut self, pet: PetRef<'_>) -> io::Result<()>;

    /// Flushes the output. Must be called after the last animal.
    fn finish(&mut self) -> io::Result<()>;
}
