//! The headings of tables, each with the member or the field that a column below it has.

use std::collections::HashMap;

use petstore_domain::{
    store_area::{FieldDefinition, letters_and_digits},
    text::heading_key,
};

use super::row::{CATEGORY, CATEGORY_ID, ID, LISTED, NAME, STATUS};
use crate::cells::TableWords;

/// The members of an animal that a table can have.
pub(super) const MEMBERS: [&str; 5] = [NAME, CATEGORY_ID, STATUS, ID, LISTED];

/// The headings that a store knows.
#[derive(Debug, Clone)]
pub struct KnownHeadings {
    /// The names of members and fields, and the name of the label of a category, unless a field has it.
    names: Vec<String>,
    /// The positions in `names` of the names themselves, and of the labels of fields.
    own_keys: HashMap<String, Vec<usize>>,
    /// The positions in `names` of the usual headings in all languages.
    usual_keys: HashMap<String, usize>,
}

/// The names of two columns that one heading can mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbiguousHeading {
    /// The names of members or fields.
    pub names: [String; 2],
}

impl KnownHeadings {
    /// Collects the headings of a store with these fields.
    pub fn new(fields: &[FieldDefinition], words: &TableWords) -> Self {
        let mut names: Vec<String> = MEMBERS.map(str::to_owned).to_vec();
        names.extend(fields.iter().map(|field| field.name.as_str().to_owned()));
        if !names.iter().any(|name| name == CATEGORY) {
            names.push(CATEGORY.to_owned());
        }

        let mut headings = Self {
            names: names.clone(),
            own_keys: HashMap::new(),
            usual_keys: HashMap::new(),
        };
        for (position, name) in names.iter().enumerate() {
            headings.add_own(name, position);
        }
        for (index, field) in fields.iter().enumerate() {
            headings.add_own(field.label.as_str(), MEMBERS.len() + index);
        }
        for (key, name) in &words.headings {
            if let Some(position) = names.iter().position(|known| known == name) {
                headings.usual_keys.entry(key.clone()).or_insert(position);
            }
        }
        headings
    }

    fn add_own(&mut self, heading: &str, position: usize) {
        // A field can have the name of a member, which comes first.
        let name = &self.names[position];
        let positions = self.own_keys.entry(heading_key(heading)).or_default();
        let is_known = positions.iter().any(|other| self.names[*other] == *name);
        if !is_known {
            positions.push(position);
        }
    }

    /// Returns the name of the member or field that a heading means: `breed` for `Rasse`. `None` for an unknown heading.
    ///
    /// A name comes first, then what the store calls its columns, in any case, and then the usual headings of all
    /// languages.
    ///
    /// # Errors
    ///
    /// The store calls two columns so.
    pub fn find(&self, heading: &str) -> Result<Option<&str>, AmbiguousHeading> {
        let heading_position = self.position(heading)?;
        Ok(heading_position.map(|position| &*self.names[position]))
    }

    /// Whether a heading means something, certain or not.
    pub fn is_known(&self, heading: &str) -> bool {
        !matches!(self.position(heading), Ok(None))
    }

    /// Returns the names of members and fields.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Like [`Self::find`], but returns the position of the name.
    pub(super) fn position(&self, heading: &str) -> Result<Option<usize>, AmbiguousHeading> {
        if let Some(position) = self.names.iter().position(|name| name == heading) {
            return Ok(Some(position));
        }
        let own_positions = self.own_keys.get(&heading_key(heading));
        match own_positions.map(Vec::as_slice) {
            None => Ok(self.usual_keys.get(&letters_and_digits(heading)).copied()),
            Some([first, second, ..]) => {
                let names = [first, second].map(|position| self.names[*position].clone());
                Err(AmbiguousHeading { names })
            }
            Some(positions) => Ok(positions.first().copied()),
        }
    }
}
