//! Custom fields of animals, such as breed or colour, that each store defines for itself.

use super::{Choices, FieldKind, Label};
use crate::text::comparison_key;

/// The machine-readable name of a field, such as `microchip_2`: a lower-case ASCII letter, followed
/// by up to 31 lower-case ASCII letters, digits or `_`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldName(String);

impl FieldName {
    /// The maximum length, in characters.
    const MAX_LENGTH: usize = 32;

    /// The rule for a name, as error messages state it.
    pub const RULE: &str =
        "1 to 32 lower-case letters, digits and underscores, the first of them a letter";

    /// Validates a field name; `None` if the text does not follow [`FieldName::RULE`].
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
        let is_valid = begins_with_letter && has_valid_bytes && text.len() <= Self::MAX_LENGTH;
        is_valid.then(|| Self(text.to_owned()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A store's definition of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDefinition {
    /// The identifier of the field, chosen by the client that creates it.
    pub name: FieldName,
    /// The name that people see, such as `Breed`.
    pub label: Label,
    /// The kind, which determines the valid values.
    pub kind: FieldKind,
    /// The allowed values of a `choice` field; `None` for every other kind.
    pub choices: Option<Choices>,
    /// Whether the public may see the values. If not, only the staff and programs with a key see
    /// them.
    pub is_public: bool,
    /// Whether each value may occur only once among the animals that are not withdrawn. Possible
    /// only for texts and integers.
    pub is_unique: bool,
    /// The sort position among the fields. Fields are displayed by position, and then by name.
    pub position: i64,
    /// Starts at 1 and increases by one with each change. A field that is deleted and created again
    /// starts at 1 again.
    pub version: i64,
}

impl FieldDefinition {
    /// The maximum number of fields that a store can define.
    pub const MAX: usize = 50;

    /// The highest position that a client can choose.
    pub const HIGHEST_POSITION: i64 = 10_000;

    /// The name of the field for the prices of animals. A store can give this field another kind.
    pub(super) const PRICE: &str = "price";

    /// The name of the field for the dates of birth of animals. A store can give this field another
    /// kind.
    const BIRTH: &str = "born";

    /// The name of the boolean field that marks a date of birth as an estimate, calculated from an
    /// age.
    pub const BIRTH_ESTIMATE: &str = "born_estimated";

    /// Whether this field holds the prices of animals.
    pub fn is_price(&self) -> bool {
        self.kind == FieldKind::Decimal && self.name.as_str() == Self::PRICE
    }

    /// Whether this field holds the dates of birth of animals.
    pub fn is_birth(&self) -> bool {
        self.kind == FieldKind::Date && self.name.as_str() == Self::BIRTH
    }

    /// Whether this field marks dates of birth as estimates: see [`Self::BIRTH_ESTIMATE`].
    pub fn is_birth_estimate(&self) -> bool {
        self.kind == FieldKind::Boolean && self.name.as_str() == Self::BIRTH_ESTIMATE
    }

    /// Returns the text to display for a value: the label of the choice if it has one, otherwise
    /// the value itself.
    pub fn display_text<'a>(&'a self, value: &'a str) -> &'a str {
        let Some(choices) = &self.choices else {
            return value;
        };
        match choices.labels().get(value) {
            Some(label) => label,
            None => value,
        }
    }

    /// Returns a message for the client if the members do not fit together. For example, only a
    /// `choice` field can have choices.
    pub fn find_problem(&self) -> Option<&'static str> {
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

    /// Returns the total length of the label and the choices, in bytes.
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

/// All fields of a store, in display order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldSet {
    /// Increases with each change of any field.
    pub version: i64,
    fields: Vec<FieldDefinition>,
    /// The fields with a pending deletion, or a pending change of kind or uniqueness. Such a change
    /// is possible only while no animal has a value of the field. The store is currently checking
    /// this.
    examined: Vec<FieldName>,
}

impl FieldSet {
    /// Creates the set, with the fields sorted into display order.
    pub fn new(version: i64, mut fields: Vec<FieldDefinition>, examined: Vec<FieldName>) -> Self {
        fields.sort_by(|left, right| {
            let by_position = left.position.cmp(&right.position);
            by_position.then_with(|| left.name.cmp(&right.name))
        });
        Self {
            version,
            fields,
            examined,
        }
    }

    /// Whether the store is currently checking that no animal has a value of this field. A
    /// transaction that writes a value must then cancel the check.
    pub fn is_examined(&self, name: &str) -> bool {
        self.examined
            .iter()
            .any(|field_name| field_name.as_str() == name)
    }

    /// Returns the fields in display order.
    pub fn all(&self) -> &[FieldDefinition] {
        &self.fields
    }

    /// Finds the field with this name.
    pub fn find(&self, name: &str) -> Option<&FieldDefinition> {
        self.fields.iter().find(|field| field.name.as_str() == name)
    }

    /// Finds a field, other than the field `name`, that has this label, regardless of upper and
    /// lower case.
    pub(super) fn find_other_with_label(
        &self,
        name: &FieldName,
        label: &str,
    ) -> Option<&FieldDefinition> {
        let label_key = comparison_key(label);
        self.fields
            .iter()
            .find(|field| field.name != *name && comparison_key(field.label.as_str()) == label_key)
    }
}
