//! Fields, with which a store describes its animals: their names, their definitions, and the set of all.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{Choices, FieldKind, Label};

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

    /// The name of the field that says whether the day of birth was calculated from an age.
    pub const BIRTH_ESTIMATE: &str = "born_estimated";

    /// Whether its values are the prices of animals.
    pub fn is_price(&self) -> bool {
        self.kind == FieldKind::Decimal && self.name.as_str() == "price"
    }

    /// Whether its values are the days on which animals were born.
    pub fn is_birth(&self) -> bool {
        self.kind == FieldKind::Date && self.name.as_str() == "born"
    }

    /// Whether its values say that the day of birth of an animal was calculated from an age.
    pub fn is_birth_estimate(&self) -> bool {
        self.kind == FieldKind::Boolean && self.name.as_str() == Self::BIRTH_ESTIMATE
    }

    /// Returns the text for people in place of a value: the label of a choice, if it has one.
    pub fn display_text<'a>(&'a self, value: &'a str) -> &'a str {
        let Some(choices) = &self.choices else {
            return value;
        };
        match choices.labels().get(value) {
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
            length += choices.values().iter().map(String::len).sum::<usize>();
            for (value, label) in choices.labels() {
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
