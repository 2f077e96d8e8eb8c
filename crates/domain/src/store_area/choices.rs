//! The allowed values of a `choice` field, with their labels.

use std::collections::{BTreeMap, HashMap, HashSet, hash_map::Entry};

use super::valid_text::{is_choice, is_text};
use crate::text::comparison_key;

/// The allowed values of a `choice` field: 1 to 100 values of 1 to 64 characters without U+0000.
///
/// A value can have a label, which is displayed in its place. The [`comparison_key`]s of new values
/// and labels must all be different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    values: Vec<String>,
    /// The labels, by value. A value that is no longer a choice can still have a label, because
    /// animals can still have the value.
    labels: BTreeMap<String, String>,
}

impl Choices {
    /// The maximum number of values.
    const MAX_VALUES: usize = 100;

    /// The maximum number of labels. There can be more of them than values, because a value that is
    /// no longer a choice keeps its label.
    const MAX_LABELS: usize = 200;

    /// The maximum length of a label, in characters.
    const MAX_LABEL_LENGTH: usize = 100;

    /// Creates choices without labels; `None` if the values are invalid: see [`Self::from_stored`].
    ///
    /// Two values that differ only in upper and lower case are invalid as well.
    pub fn new(values: Vec<String>) -> Option<Self> {
        let no_labels = BTreeMap::new();
        let choices = Self::from_stored(values, no_labels)?;
        if choices.duplicates().is_empty() {
            Some(choices)
        } else {
            None
        }
    }

    /// Replaces the labels, which are given by value; `None` if they are invalid: see
    /// [`Self::from_stored`].
    ///
    /// A label that equals a value or another label, regardless of upper and lower case, is invalid
    /// as well.
    pub fn with_labels(self, labels: BTreeMap<String, String>) -> Option<Self> {
        // A labelled value that is no longer a choice is also used, because animals can still have
        // it.
        let mut used_texts: HashSet<String> = self
            .values
            .iter()
            .chain(labels.keys())
            .map(|value| comparison_key(value))
            .collect();
        for label in labels.values() {
            if !used_texts.insert(comparison_key(label)) {
                return None;
            }
        }
        Self::from_stored(self.values, labels)
    }

    /// Creates choices that were read from a store; `None` if they are invalid.
    ///
    /// There must be 1 to 100 different values and at most 200 labels, each of a valid length and
    /// form. Values and labels that differ only in upper and lower case are accepted, because
    /// earlier releases allowed them.
    pub fn from_stored(values: Vec<String>, labels: BTreeMap<String, String>) -> Option<Self> {
        let different_values: HashSet<&String> = values.iter().collect();
        let values_are_valid = (1..=Self::MAX_VALUES).contains(&values.len())
            && different_values.len() == values.len()
            && values.iter().all(|value| is_choice(value));
        let labels_are_valid = labels.len() <= Self::MAX_LABELS
            && labels.keys().all(|value| is_choice(value))
            && labels
                .values()
                .all(|label| is_text(label, Self::MAX_LABEL_LENGTH));
        if !values_are_valid || !labels_are_valid {
            return None;
        }
        Some(Self { values, labels })
    }

    /// Returns the pairs of values and labels that are equal regardless of upper and lower case,
    /// such as `["Red", "red"]`. The first of each pair comes first among the choices.
    pub fn duplicates(&self) -> Vec<[&str; 2]> {
        let mut texts_by_key = HashMap::new();
        let mut duplicates = Vec::new();
        for text in self.values.iter().chain(self.labels.values()) {
            match texts_by_key.entry(comparison_key(text)) {
                Entry::Vacant(entry) => {
                    entry.insert(text);
                }
                Entry::Occupied(entry) => duplicates.push([entry.get().as_str(), text.as_str()]),
            }
        }
        duplicates
    }

    /// Returns the values, in the order in which the store defined them.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Returns the labels, by value.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// Finds a choice by its exact value, or otherwise the first choice that is equal regardless of
    /// upper and lower case.
    pub fn find(&self, text: &str) -> Option<&String> {
        if let Some(value) = self.values.iter().find(|value| *value == text) {
            return Some(value);
        }
        let key = comparison_key(text);
        self.values
            .iter()
            .find(|value| comparison_key(value) == key)
    }

    /// Finds a choice by its value, or otherwise by its label, regardless of upper and lower case.
    pub fn find_by_value_or_label(&self, text: &str) -> Option<&String> {
        if let Some(value) = self.find(text) {
            return Some(value);
        }
        let key = comparison_key(text);
        let (labelled_value, _) = self
            .labels
            .iter()
            .find(|(_, label)| comparison_key(label) == key)?;
        self.find(labelled_value)
    }
}
