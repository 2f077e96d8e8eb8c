//! The meanings of the columns of pasted lines, and the headings that stand for them.
//!
//! The meaning of a column is the name of the form input into which a member would type its cells.
//! A heading can be in any supported language: `Kategorie` means the input `category`.

use petstore_domain::store_area::FieldSet;
use petstore_formats::{
    cells::CellReader,
    files::{AmbiguousHeading, KnownHeadings},
};
use petstore_languages::console::Label;

use super::{
    animal_fields::{CATEGORY_INPUT, LISTED, NAME_INPUT, STATUS_INPUT},
    values,
};
use crate::prelude::*;

/// The meanings of the first columns of a table without headings, in the order of the columns. Each
/// is the name of the input and its label.
pub(super) const DEFAULT_COLUMNS: [(&str, Label); 3] = [
    (NAME_INPUT, |texts| texts.name),
    (CATEGORY_INPUT, |texts| texts.category),
    (STATUS_INPUT, |texts| texts.status_label),
];

/// Returns the options of the dropdown for the meaning of a column, as pairs of the name of an
/// input and its label.
pub(super) fn column_choices(fields: &FieldSet) -> Vec<(String, String)> {
    let mut choices = Vec::new();
    for (name, label) in DEFAULT_COLUMNS {
        choices.push((name.to_owned(), label(texts()).to_owned()));
    }
    choices.push((LISTED.to_owned(), texts().website.to_owned()));
    for field in fields.all() {
        choices.push((values::input_name_of(field), values::label_of(field)));
    }
    choices
}

/// Recognizes the meanings of columns by their headings.
pub(super) struct ColumnMeanings<'r> {
    known_headings: KnownHeadings,
    fields: &'r FieldSet,
    reader: CellReader<'r>,
}

impl<'r> ColumnMeanings<'r> {
    /// Collects the headings that mean a property that every animal has, such as its name, or one
    /// of `fields`.
    pub(super) fn new(fields: &'r FieldSet, reader: CellReader<'r>) -> Self {
        Self {
            known_headings: KnownHeadings::new(fields.all(), reader.words),
            fields,
            reader,
        }
    }

    /// Returns the name of the input that a heading means, such as `category` for `Kategorie`.
    /// Returns `None` for an unknown heading.
    ///
    /// # Errors
    ///
    /// Fails if the heading is ambiguous, with the names of the two inputs that it can mean.
    pub(super) fn find_meaning(&self, heading: &str) -> Result<Option<String>, [String; 2]> {
        match self.known_headings.find(heading) {
            Ok(Some(column_name)) => Ok(self.input_name(column_name)),
            Ok(None) => Ok(None),
            // A column without an input, such as the id, is called by its own name.
            Err(AmbiguousHeading { names }) => {
                Err(names.map(|name| self.input_name(&name).unwrap_or(name)))
            }
        }
    }

    /// Whether a heading has a meaning, even an ambiguous one.
    pub(super) fn is_known(&self, heading: &str) -> bool {
        match self.find_meaning(heading) {
            Ok(meaning) => meaning.is_some(),
            Err(_ambiguous) => true,
        }
    }

    /// Returns the name of the input for the day of birth if a column has ages. Returns `None` for
    /// another column, or if the store has no field for the day of birth.
    ///
    /// A column has ages if its heading is a word such as `Age`, and each cell is empty or an age
    /// with a unit, such as `3 years`. A number without a unit is not an age, because it is ambiguous:
    /// it can be a number of years or months, or a year.
    pub(super) fn birth_input_for_ages<'c>(
        &self,
        heading: &str,
        mut cells: impl Iterator<Item = &'c String>,
    ) -> Option<String> {
        let birth_field = values::find_birth_field(self.fields)?;
        let has_ages = self.reader.words.is_age_heading(heading)
            && cells.all(|cell| cell.is_empty() || self.reader.birth_for_age(cell).is_some());
        if !has_ages {
            return None;
        }
        Some(values::input_name_of(birth_field))
    }

    /// Returns the name of the input for a column of an import file, such as `category` for
    /// `categoryId`. Returns `None` if there is no input, for example for the id.
    fn input_name(&self, column_name: &str) -> Option<String> {
        let is_input_name = column_name == LISTED
            || DEFAULT_COLUMNS
                .iter()
                .any(|(input_name, _)| *input_name == column_name);
        if is_input_name {
            return Some(column_name.to_owned());
        }
        if column_name == "categoryId" {
            return Some(CATEGORY_INPUT.to_owned());
        }
        self.fields.find(column_name).map(values::input_name_of)
    }
}
