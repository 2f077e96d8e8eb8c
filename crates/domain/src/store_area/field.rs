//! Fields: what a store describes its animals with.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::collections::{BTreeMap, HashSet};

use super::{
    Label,
    kind::{FieldKind, is_text},
};

/// The name of a field: a letter, then up to 31 letters, digits and `_`, all of them ASCII and in
/// lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldName(String);

impl FieldName {
    /// The rule for the text of a name.
    pub const RULE: &str =
        "1 to 32 lower-case letters, digits and underscores, the first of them a letter";

    /// `None` if the text is not a name.
    pub fn new(text: &str) -> Option<Self> {
        let is_part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        let begins = text.starts_with(|first: char| first.is_ascii_lowercase());
        (begins && text.len() <= 32 && text.bytes().all(is_part)).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The values of a choice: 1 to 100, each of 1 to 64 characters without U+0000, which differ in more
/// than their case. And the labels of some, which people read instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    values: Vec<String>,
    /// By the values. A value that animals still have can have one when it is not a choice any more.
    labels: BTreeMap<String, String>,
}

impl Choices {
    /// `None` if there are too few or too many, or one of them is not valid.
    pub fn new(texts: Vec<String>) -> Option<Self> {
        let different: HashSet<_> = texts.iter().map(|text| in_no_case(text)).collect();
        let are_valid = (1..=100).contains(&texts.len())
            && different.len() == texts.len()
            && texts.iter().all(|text| is_text(text, 64));
        are_valid.then_some(Self {
            values: texts,
            labels: BTreeMap::new(),
        })
    }

    /// How many labels there can be.
    const MOST_LABELS: usize = 200;

    /// Returns the same choices with these labels, by their values. `None` if there are too many,
    /// one of them is not valid, or two labels, or a label and a value, differ only in their case.
    pub fn with_labels(self, labels: BTreeMap<String, String>) -> Option<Self> {
        let values = self
            .values
            .iter()
            .chain(labels.keys())
            .map(|value| in_no_case(value));
        let mut seen: HashSet<_> = values.collect();
        let are_valid = labels.len() <= Self::MOST_LABELS
            && labels.keys().all(|value| is_text(value, 64))
            && labels
                .values()
                .all(|label| is_text(label, 100) && seen.insert(in_no_case(label)));
        are_valid.then_some(Self { labels, ..self })
    }

    /// Returns the values.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// Returns the choice with this value, in any case.
    pub fn find(&self, text: &str) -> Option<&String> {
        let key = in_no_case(text);
        self.values.iter().find(|choice| in_no_case(choice) == key)
    }

    /// Returns the choice with this value, or else the value with this label, in any case.
    pub fn find_by_value_or_label(&self, text: &str) -> Option<&String> {
        let key = in_no_case(text);
        let is_label = |(_, label): &(&String, &String)| in_no_case(label) == key;
        let of_label = || self.labels.iter().find(is_label).map(|(value, _)| value);
        self.find(text)
            .or_else(|| of_label().and_then(|value| self.find(value)))
    }
}

/// Returns a text without its case. Upper case first: some letters have two lower-case forms.
fn in_no_case(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}

/// A field, as the store defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDefinition {
    /// Chosen by the client.
    pub name: FieldName,
    /// The name for people.
    pub label: Label,
    pub kind: FieldKind,
    /// Of the kind `choice`, and of no other.
    pub choices: Option<Choices>,
    /// Whether everybody may see its values.
    pub is_public: bool,
    /// Whether no two animals that are not withdrawn may have the same value. Only for texts and
    /// integers.
    pub is_unique: bool,
    /// The place among the others, by which people see them, and then by name.
    pub position: i64,
    /// From 1, one higher with each change. A field that is made again starts at 1.
    pub version: i64,
}

impl FieldDefinition {
    /// How many there can be.
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

    /// Returns the text for people in place of a value: the label of a choice, if it has one.
    pub fn display_text<'a>(&'a self, value: &'a str) -> &'a str {
        let label = self
            .choices
            .as_ref()
            .and_then(|choices| choices.labels.get(value));
        label.map_or(value, String::as_str)
    }

    /// Returns the error, if its members do not fit together.
    pub fn problem(&self) -> Option<&'static str> {
        match (self.kind == FieldKind::Choice, self.choices.is_some()) {
            (true, false) => Some("choices is missing. A field of the kind choice needs it."),
            (false, true) => Some("choices must be null for every kind other than choice."),
            _ if self.is_unique && !self.kind.may_be_unique() => {
                Some("unique can be true only for a field of the kind text or integer.")
            }
            _ => None,
        }
    }

    /// Returns the length of its texts, in bytes.
    pub fn length(&self) -> usize {
        let choices = self.choices.iter().flat_map(Choices::values);
        let labels = self.choices.iter().flat_map(Choices::labels);
        self.label.as_str().len()
            + choices.map(String::len).sum::<usize>()
            + labels
                .map(|(value, label)| value.len() + label.len())
                .sum::<usize>()
    }
}

/// All fields of a store, in the order in which people see them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldSet {
    /// Higher with each change of any field.
    pub version: i64,
    all: Vec<FieldDefinition>,
    /// Those that are about to be deleted, or to get another kind, if no animal has a value of them.
    examined: Vec<FieldName>,
}

impl FieldSet {
    pub fn new(version: i64, mut all: Vec<FieldDefinition>, examined: Vec<FieldName>) -> Self {
        all.sort_by(|one, other| (one.position, &one.name).cmp(&(other.position, &other.name)));
        Self {
            version,
            all,
            examined,
        }
    }

    /// Whether a transaction that writes a value of this field must say so.
    pub fn is_examined(&self, name: &str) -> bool {
        self.examined
            .iter()
            .any(|examined| examined.as_str() == name)
    }

    pub fn all(&self) -> &[FieldDefinition] {
        &self.all
    }

    pub fn find(&self, name: &str) -> Option<&FieldDefinition> {
        self.all.iter().find(|field| field.name.as_str() == name)
    }
}
