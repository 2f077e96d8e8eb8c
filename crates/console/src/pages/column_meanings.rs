//! The possible meanings of a column of pasted lines: a member of an animal or a field, known by its heading in any
//! language.

use petstore_domain::store_area::FieldSet;
use petstore_formats::{
    cells::CellReader,
    files::{AmbiguousHeading, KnownHeadings},
};
use petstore_languages::console::Label;

use super::{animal_fields::LISTED, values};
use crate::prelude::*;

/// The members that a column without a heading can have, by its place: the names of their inputs, and their labels.
pub(super) const MEMBERS: [(&str, Label); 3] = [
    ("name", |texts| texts.name),
    ("category", |texts| texts.category),
    ("status", |texts| texts.status_label),
];

/// Returns the possible meanings of a column: the name of an input of an animal, and its label.
pub(super) fn column_choices(fields: &FieldSet) -> Vec<(String, String)> {
    let mut choices = Vec::new();
    for (name, label) in MEMBERS {
        choices.push((name.to_owned(), label(texts()).to_owned()));
    }
    choices.push((LISTED.to_owned(), texts().website.to_owned()));
    for field in fields.all() {
        choices.push((values::input_of(field), values::label_of(field)));
    }
    choices
}

/// The known headings, each with the name of the input that it means.
pub(super) struct ColumnMeanings<'r> {
    known: KnownHeadings,
    fields: &'r FieldSet,
    reader: CellReader<'r>,
}

impl<'r> ColumnMeanings<'r> {
    /// Collects the headings of members and fields, as an import knows them.
    pub(super) fn new(fields: &'r FieldSet, reader: CellReader<'r>) -> Self {
        Self {
            known: KnownHeadings::new(fields.all(), reader.words),
            fields,
            reader,
        }
    }

    /// Returns the name of the input that a heading means: `category` for `Kategorie`. Unknown headings mean nothing.
    ///
    /// # Errors
    ///
    /// The names of the two inputs that the heading can mean.
    pub(super) fn meaning(&self, heading: &str) -> Result<Option<String>, [String; 2]> {
        match self.known.find(heading) {
            Ok(Some(name)) => Ok(self.input(name)),
            Ok(None) => Ok(None),
            Err(AmbiguousHeading { names }) => {
                Err(names.map(|name| self.input(&name).unwrap_or(name)))
            }
        }
    }

    /// Whether a heading means something, certain or not.
    pub(super) fn is_known(&self, heading: &str) -> bool {
        !matches!(self.meaning(heading), Ok(None))
    }

    /// Returns the name of the input for the day of birth, if a column with an unknown heading such as `Age` has only ages with
    /// a unit, such as `3 years`. A number without a unit does not say whether it is a year, a month or an age.
    pub(super) fn birth_of_ages<'c>(
        &self,
        heading: &str,
        mut cells: impl Iterator<Item = &'c String>,
    ) -> Option<String> {
        let has_ages = self.reader.words.is_age_heading(heading)
            && cells.all(|cell| cell.is_empty() || self.reader.birth_for_age(cell).is_some());
        let birth = self.fields.all().iter().find(|field| field.is_birth())?;
        has_ages.then(|| values::input_of(birth))
    }

    /// Returns the name of the input for a member or field of an import; `None` if no input has it.
    fn input(&self, name: &str) -> Option<String> {
        if name == LISTED || MEMBERS.iter().any(|(member, _)| *member == name) {
            return Some(name.to_owned());
        }
        if name == "categoryId" {
            return Some("category".to_owned());
        }
        self.fields.find(name).map(values::input_of)
    }
}
