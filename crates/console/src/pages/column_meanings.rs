//! The possible meanings of a column of pasted lines: a member of an animal or a field, known by its heading in any
//! language.

use std::collections::HashMap;

use petstore_domain::{store_area::FieldSet, text};
use petstore_languages::{all_field_labels, console::Label, in_each_language};

use super::values;
use crate::prelude::*;

/// The members that a column can have in addition to the fields: the names of their inputs, and their labels.
pub(super) const MEMBERS: [(&str, Label); 3] = [
    ("name", |texts| texts.name),
    ("category", |texts| texts.category),
    ("status", |texts| texts.status_label),
];

/// The headings of members in files of an import, each with the name of its input.
const IMPORTED_HEADINGS: [(&str, &str); 2] = [("animal", "name"), ("categoryid", "category")];

/// Returns the possible meanings of a column: the name of an input of an animal, and its label.
pub(super) fn column_choices(fields: &FieldSet) -> Vec<(String, String)> {
    let mut choices = Vec::new();
    for (name, label) in MEMBERS {
        choices.push((name.to_owned(), label(texts()).to_owned()));
    }
    for field in fields.all() {
        choices.push((values::input_of(field), values::label_of(field)));
    }
    choices
}

/// The known headings, each with the name of the input that it means.
pub(super) struct ColumnMeanings(HashMap<String, String>);

impl ColumnMeanings {
    /// Collects the headings of members and fields.
    ///
    /// If a heading has several meanings, a name decides first, then a label of the store, and then a label in any
    /// language.
    pub(super) fn new(fields: &FieldSet) -> Self {
        let mut meanings = Self(HashMap::new());
        for (heading, name) in IMPORTED_HEADINGS {
            meanings.add(heading, name);
        }
        for (name, _) in MEMBERS {
            meanings.add(name, name);
        }

        for field in fields.all() {
            let input = values::input_of(field);
            for heading in [
                field.name.as_str(),
                field.label.as_str(),
                &values::label_of(field),
            ] {
                meanings.add(heading, &input);
            }
        }

        for (name, label) in MEMBERS {
            for heading in in_each_language(label) {
                meanings.add(heading, name);
            }
        }
        for labels in all_field_labels() {
            meanings.add_field(labels.label, labels.name, fields);
        }
        for heading in in_each_language(|texts| texts.price) {
            meanings.add_field(heading, "price", fields);
        }
        meanings
    }

    /// Returns the name of the input that a heading means: `category` for `Kategorie`. Unknown headings mean nothing.
    pub(super) fn meaning(&self, heading: &str) -> Option<&str> {
        self.0.get(&text::heading_key(heading)).map(String::as_str)
    }

    /// Adds a heading, unless it already means something.
    fn add(&mut self, heading: &str, input: &str) {
        self.0
            .entry(text::heading_key(heading))
            .or_insert_with(|| input.to_owned());
    }

    /// Adds a heading of the field with this name, if the store has it.
    fn add_field(&mut self, heading: &str, name: &str, fields: &FieldSet) {
        if let Some(field) = fields.find(name) {
            self.add(heading, &values::input_of(field));
        }
    }
}
