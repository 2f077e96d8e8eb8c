//! The rows of a file, in every format.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{collections::BTreeMap, fmt, io, ops::ControlFlow};

use petstore_domain::{
    NewPet, PetId, PetName, PetRef, PetStatus,
    store_area::{FieldDefinition, FieldPatch, Profile, Resource},
    text::comparison_key,
};

use crate::json::members::UP_TO_HIGHEST_IMPORTED;

/// The content of a row of a file.
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
    /// What the store says about itself, and the file of its logo.
    Profile(Box<Profile>, Option<Vec<u8>>),
}

/// The problems of a row that is not valid, each with the column or member, by its name in the file,
/// and the reason. A problem of the whole row has an empty name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InvalidRow(Vec<(String, String)>);

impl InvalidRow {
    pub fn whole(reason: impl Into<String>) -> Self {
        Self::of("", reason)
    }

    pub fn of(column: impl Into<String>, reason: impl Into<String>) -> Self {
        Self(vec![(column.into(), reason.into())])
    }

    /// Returns the value. If it has problems, they are added to these, and the value means nothing.
    pub fn take<T: Default>(&mut self, value: Result<T, Self>) -> T {
        value
            .map_err(|Self(problems)| self.0.extend(problems))
            .unwrap_or_default()
    }

    /// Returns the value, if there are no problems.
    pub fn or<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// Returns the columns with problems.
    pub fn columns(&self) -> String {
        self.0
            .iter()
            .map(|(column, _)| &**column)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl fmt::Display for InvalidRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems = self
            .0
            .iter()
            .map(|(column, reason)| format!("{column} {reason}"));
        f.write_str(problems.collect::<Vec<_>>().join("; ").trim_start())
    }
}

/// Returns the beginning of a text from a file.
pub fn quoted(text: &str) -> String {
    format!("{:?}", text.chars().take(40).collect::<String>())
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
    /// Returns the next row, or why it is invalid; `None` after the last one.
    fn next(&mut self) -> Result<Option<Result<Row, InvalidRow>>, ReadError>;

    /// Returns the row that was read last, as it is in the file.
    fn raw_row(&self) -> io::Result<RawRow>;

    /// Returns the column or member with the values of the field that has this name.
    fn column_of(&self, field: &str) -> String {
        format!("fields.{field}")
    }

    /// Returns the headings of the columns that are left out, for a message.
    fn left_out(&self) -> Option<&str> {
        None
    }

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
pub(super) const CATEGORY: &str = "category";
pub(super) const STATUS: &str = "status";
pub(super) const FIELDS: &str = "fields";

pub(super) fn name(text: String) -> Result<PetName, String> {
    if text.len() > PetName::MAX_LENGTH {
        return Err(format!("is longer than {} bytes", PetName::MAX_LENGTH));
    }
    PetName::new(text).ok_or_else(|| "must not contain U+0000".to_owned())
}

/// The categories of a store by their labels in lower case. None if there are too many for memory.
pub type Labels = BTreeMap<String, Vec<i64>>;
const MOST_LABELS: usize = 10_000;

/// Adds a category. Breaks if there are too many.
pub fn add_label(labels: &mut Labels, id: i64, label: &str) -> ControlFlow<()> {
    labels.entry(comparison_key(label)).or_default().push(id);
    if labels.len() <= MOST_LABELS {
        return ControlFlow::Continue(());
    }
    labels.clear();
    ControlFlow::Break(())
}

/// Returns the category with this label.
pub(super) fn labelled(labels: &Labels, label: &str) -> Result<i64, String> {
    const INSTEAD: &str = "use a column categoryId with numbers";
    let found = quoted(label);
    Err(
        match labels.get(&comparison_key(label)).map(Vec::as_slice) {
            Some([id]) => return Ok(*id),
            Some([one, other, ..]) => {
                format!("{found} is the label of the categories {one} and {other}; {INSTEAD}")
            }
            _ if labels.is_empty() => {
                format!(
                    "must be the label of a category, but there are none, or too many; {INSTEAD}"
                )
            }
            _ => {
                let some: Vec<String> = labels.keys().take(10).map(|label| quoted(label)).collect();
                format!(
                    "must be a label of a category, such as {}, but was {found}",
                    some.join(", ")
                )
            }
        },
    )
}

/// `found` is the value in the file.
pub(super) fn invalid_category_id(found: &str) -> String {
    let range = format!("from {} to {}", i64::MIN, i64::MAX);
    format!(
        "must be an integer {range} without leading zeros, but was {}",
        quoted(found)
    )
}

pub(super) fn invalid_status(found: &str) -> String {
    let [a, b, c] = PetStatus::ALL;
    format!("must be one of {a}, {b} and {c}, but was {}", quoted(found))
}

pub(super) fn invalid_id(found: &str) -> String {
    format!(
        "must be {UP_TO_HIGHEST_IMPORTED}, but was {}",
        quoted(found)
    )
}
