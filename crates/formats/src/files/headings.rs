//! The headings of tables, and which member or field of an animal each one means.

use std::collections::HashMap;

use petstore_domain::{
    store_area::{FieldDefinition, letters_and_digits},
    text::heading_key,
};

use super::pet_columns::{CATEGORY, CATEGORY_ID, ID, LISTED, NAME, STATUS};
use crate::cells::TableWords;

/// The names of the members that a table can have.
pub(super) const MEMBERS: [&str; 5] = [NAME, CATEGORY_ID, STATUS, ID, LISTED];

/// The headings that a store recognizes.
#[derive(Debug, Clone)]
pub struct KnownHeadings {
    /// The names of members, then the names of fields, and then the name of the column with labels
    /// of categories, unless a field has that name.
    names: Vec<String>,
    /// The headings of this store: the names, and the labels of fields. The key is the
    /// [`heading_key`], and the value has the positions in `names`.
    store_headings: HashMap<String, Vec<usize>>,
    /// The usual headings in all languages. The key is by [`letters_and_digits`], and the value is
    /// the position in `names`.
    usual_headings: HashMap<String, usize>,
}

/// The error for a heading that can mean two columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbiguousHeading {
    /// The names of the two members or fields.
    pub names: [String; 2],
}

impl KnownHeadings {
    /// Collects the headings that a store with these fields recognizes.
    pub fn new(fields: &[FieldDefinition], words: &TableWords) -> Self {
        let mut names: Vec<String> = MEMBERS.map(str::to_owned).to_vec();
        names.extend(fields.iter().map(|field| field.name.as_str().to_owned()));
        if !names.iter().any(|name| name == CATEGORY) {
            names.push(CATEGORY.to_owned());
        }

        let mut headings = Self {
            names: names.clone(),
            store_headings: HashMap::new(),
            usual_headings: HashMap::new(),
        };
        for (position, name) in names.iter().enumerate() {
            headings.add_store_heading(name, position);
        }
        // In `names`, the names of fields follow the names of members.
        for (index, field) in fields.iter().enumerate() {
            headings.add_store_heading(field.label.as_str(), MEMBERS.len() + index);
        }
        for (key, name) in &words.headings {
            if let Some(position) = names.iter().position(|known| known == name) {
                headings
                    .usual_headings
                    .entry(key.clone())
                    .or_insert(position);
            }
        }
        headings
    }

    /// Adds a heading for the name at this position, unless the heading already means this name: if
    /// a field has the name of a member, the heading means the member.
    fn add_store_heading(&mut self, heading: &str, position: usize) {
        let name = &self.names[position];
        let positions = self.store_headings.entry(heading_key(heading)).or_default();
        let is_known = positions.iter().any(|other| self.names[*other] == *name);
        if !is_known {
            positions.push(position);
        }
    }

    /// Returns the name of the member or field that a heading means: `breed` for `Rasse`. Returns
    /// `None` for an unknown heading.
    ///
    /// An exact name takes precedence, then the names and labels of this store regardless of upper
    /// and lower case, and then the usual headings in all languages.
    ///
    /// # Errors
    ///
    /// Two columns of the store have this name or label.
    pub fn find(&self, heading: &str) -> Result<Option<&str>, AmbiguousHeading> {
        let heading_position = self.find_position(heading)?;
        Ok(heading_position.map(|position| &*self.names[position]))
    }

    /// Whether a heading is recognized, even if it is ambiguous.
    pub fn is_known(&self, heading: &str) -> bool {
        !matches!(self.find_position(heading), Ok(None))
    }

    /// Returns the names of members and fields.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the position of the name that a heading means, like [`Self::find`].
    pub(super) fn find_position(&self, heading: &str) -> Result<Option<usize>, AmbiguousHeading> {
        if let Some(position) = self.names.iter().position(|name| name == heading) {
            return Ok(Some(position));
        }
        let store_positions = self
            .store_headings
            .get(&heading_key(heading))
            .map(Vec::as_slice);
        match store_positions.unwrap_or_default() {
            [] => {
                let key = letters_and_digits(heading);
                Ok(self.usual_headings.get(&key).copied())
            }
            [position] => Ok(Some(*position)),
            [first, second, ..] => {
                let names = [first, second].map(|position| self.names[*position].clone());
                Err(AmbiguousHeading { names })
            }
        }
    }
}
