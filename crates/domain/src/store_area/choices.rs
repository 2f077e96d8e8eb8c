//! The choices of a field of the kind `choice`, with their labels.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::collections::{BTreeMap, HashMap, HashSet, hash_map::Entry};

use super::valid_text::is_text;
use crate::text::comparison_key;

/// The values of a field of the kind `choice`: 1 to 100, each of 1 to 64 characters without U+0000. Some have labels, which
/// people read in place of the value. No two new values and labels have the same [`comparison_key`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    values: Vec<String>,
    /// The labels by their values. A value that is no longer a choice can have a label, because animals can still have
    /// the value.
    labels: BTreeMap<String, String>,
}

impl Choices {
    const MAX_LABELS: usize = 200;

    /// Returns choices without labels. `None` if there are too few or too many, one of them is not valid, or two are equal in
    /// any case.
    pub fn new(values: Vec<String>) -> Option<Self> {
        let choices = Self::from_stored(values, BTreeMap::new())?;
        if choices.twins().is_empty() {
            Some(choices)
        } else {
            None
        }
    }

    /// Returns the choices with these labels, by their values. `None` if there are too many labels,
    /// one of them is not valid, or two labels, or a label and a value, are equal in any case.
    pub fn with_labels(self, labels: BTreeMap<String, String>) -> Option<Self> {
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

    /// Returns choices that a store has. An earlier release could make some that are equal in any case, and they stay.
    pub fn from_stored(values: Vec<String>, labels: BTreeMap<String, String>) -> Option<Self> {
        let different_values: HashSet<&String> = values.iter().collect();
        let are_valid = (1..=100).contains(&values.len())
            && labels.len() <= Self::MAX_LABELS
            && different_values.len() == values.len()
            && values.iter().all(|value| is_text(value, 64))
            && labels.keys().all(|value| is_text(value, 64))
            && labels.values().all(|label| is_text(label, 100));
        are_valid.then_some(Self { values, labels })
    }

    /// Returns the values and labels that are equal to an earlier one in any case, each after the earlier one.
    pub fn twins(&self) -> Vec<[&str; 2]> {
        let mut texts_by_key = HashMap::new();
        let mut twins = Vec::new();
        for text in self.values.iter().chain(self.labels.values()) {
            match texts_by_key.entry(comparison_key(text)) {
                Entry::Vacant(entry) => {
                    entry.insert(text);
                }
                Entry::Occupied(entry) => twins.push([entry.get().as_str(), text.as_str()]),
            }
        }
        twins
    }

    /// Returns the values, in the order that the store chose.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// Returns the choice with this value, or else the first choice that is equal in any case.
    pub fn find(&self, text: &str) -> Option<&String> {
        if let Some(value) = self.values.iter().find(|value| *value == text) {
            return Some(value);
        }
        let key = comparison_key(text);
        self.values
            .iter()
            .find(|value| comparison_key(value) == key)
    }

    /// Returns the choice with this value, or else the choice with this label, in any case.
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
