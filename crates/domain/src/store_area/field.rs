//! Fields, with which a store describes its animals.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::collections::{BTreeMap, HashMap, HashSet, hash_map::Entry};

use super::{
    Label,
    kind::{FieldKind, is_text},
};
use crate::text::comparison_key;

/// The name of a field: a letter, then up to 31 letters, digits and `_`, all of them ASCII and in
/// lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldName(String);

impl FieldName {
    /// The rule for the text of a name.
    pub const RULE: &str =
        "1 to 32 lower-case letters, digits and underscores, the first of them a letter";

    /// Returns the name; `None` if the text does not follow [`FieldName::RULE`].
    ///
    /// ```
    /// use petstore_domain::store_area::FieldName;
    ///
    /// assert!(FieldName::new("microchip_2").is_some());
    /// assert!(FieldName::new("Microchip").is_none());
    /// ```
    pub fn new(text: &str) -> Option<Self> {
        let begins_with_letter = text.starts_with(|first: char| first.is_ascii_lowercase());
        let has_valid_bytes = text
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        let is_valid = begins_with_letter && has_valid_bytes && text.len() <= 32;
        is_valid.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

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

/// The definition of a field by the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDefinition {
    /// Chosen by the client.
    pub name: FieldName,
    /// The name for people.
    pub label: Label,
    pub kind: FieldKind,
    /// The choices of a field of the kind `choice`; `None` for every other kind.
    pub choices: Option<Choices>,
    /// Whether everybody may see its values.
    pub is_public: bool,
    /// Whether no two animals that are not withdrawn may have the same value. Only for texts and
    /// integers.
    pub is_unique: bool,
    /// The place among the fields. People see fields in the order of their positions, and then of their names.
    pub position: i64,
    /// From 1, one higher with each change. A field that is made again starts at 1.
    pub version: i64,
}

impl FieldDefinition {
    /// The maximum number of fields of a store.
    pub const MAX: usize = 50;

    pub const HIGHEST_POSITION: i64 = 10_000;

    /// Whether its values are the prices of animals.
    pub fn is_price(&self) -> bool {
        self.kind == FieldKind::Decimal && self.name.as_str() == "price"
    }

    /// Whether its values are the days on which animals were born.
    pub fn is_birth(&self) -> bool {
        self.kind == FieldKind::Date && self.name.as_str() == "born"
    }

    /// The name of the field that says whether the day of birth was calculated from an age.
    pub const BIRTH_ESTIMATE: &str = "born_estimated";

    /// Whether its values say that the day of birth of an animal was calculated from an age.
    pub fn is_birth_estimate(&self) -> bool {
        self.kind == FieldKind::Boolean && self.name.as_str() == Self::BIRTH_ESTIMATE
    }

    /// Returns the text for people in place of a value: the label of a choice, if it has one.
    pub fn display_text<'a>(&'a self, value: &'a str) -> &'a str {
        let Some(choices) = &self.choices else {
            return value;
        };
        match choices.labels.get(value) {
            Some(label) => label,
            None => value,
        }
    }

    /// Returns the error, if its members do not fit together.
    pub fn problem(&self) -> Option<&'static str> {
        let needs_choices = self.kind == FieldKind::Choice;
        if needs_choices && self.choices.is_none() {
            return Some("choices is missing. A field of the kind choice needs it.");
        }
        if !needs_choices && self.choices.is_some() {
            return Some("choices must be null for every kind other than choice.");
        }
        if self.is_unique && !self.kind.may_be_unique() {
            return Some("unique can be true only for a field of the kind text or integer.");
        }
        None
    }

    /// Returns the length of its texts, in bytes.
    pub fn length(&self) -> usize {
        let mut length = self.label.as_str().len();
        if let Some(choices) = &self.choices {
            length += choices.values.iter().map(String::len).sum::<usize>();
            for (value, label) in &choices.labels {
                length += value.len() + label.len();
            }
        }
        length
    }
}

/// All fields of a store, in the order in which people see them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldSet {
    /// Higher with each change of any field.
    pub version: i64,
    all: Vec<FieldDefinition>,
    /// The fields that are about to be deleted, or to get another kind, if no animal has a value of them.
    examined: Vec<FieldName>,
}

impl FieldSet {
    /// Sorts the fields into the order in which people see them.
    pub fn new(version: i64, mut fields: Vec<FieldDefinition>, examined: Vec<FieldName>) -> Self {
        fields.sort_by(|left, right| {
            let by_position = left.position.cmp(&right.position);
            by_position.then_with(|| left.name.cmp(&right.name))
        });
        Self {
            version,
            all: fields,
            examined,
        }
    }

    /// Whether a transaction that writes a value of this field must say so.
    pub fn is_examined(&self, name: &str) -> bool {
        self.examined
            .iter()
            .any(|field_name| field_name.as_str() == name)
    }

    /// Returns the fields in the order in which people see them.
    pub fn all(&self) -> &[FieldDefinition] {
        &self.all
    }

    pub fn find(&self, name: &str) -> Option<&FieldDefinition> {
        self.all.iter().find(|field| field.name.as_str() == name)
    }
}
