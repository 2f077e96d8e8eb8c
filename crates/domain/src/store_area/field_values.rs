//! The values of an animal's fields.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{collections::BTreeMap, fmt::Write};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use sha2::{Digest, Sha256};

use super::{
    Choices, Decimal, FieldDefinition, FieldKind, FieldName, FieldSet, FieldValue,
    kind::{MAX_KEY_BYTES, compact_key, is_date},
    name_key::identity_key,
};
use crate::{PetId, text::hex_digits};

/// The maximum number of choices in a message.
const MAX_CHOICES_IN_MESSAGE: usize = 20;

/// The value of a field in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedValue {
    Clear,
    Set(FieldValue),
    /// A value that no kind allows, such as an array.
    Invalid,
}

/// The values of an animal in a request, by the names of fields. The values of other fields stay.
pub type FieldPatch = BTreeMap<String, RequestedValue>;

/// The key of a value that only one animal may have. Two values with the same key count as the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UniqueKey {
    /// The name of the field.
    pub field: String,
    /// The value, as [`FieldKind::key`] compares it, or its hash if that is long.
    pub text: String,
}

/// An animal in the catalogue that has a unique value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UniqueValueOwner {
    pub key: UniqueKey,
    pub pet: PetId,
}

/// The values of an animal, by the names of fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldValues(Option<Box<Values>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Values {
    /// The names of fields with their values, in the order of the names.
    sorted: Vec<(String, FieldValue)>,
    /// The values as a JSON object, the form that a store keeps and a client gets, because most callers need only that.
    json: String,
}

/// A filter of a search: the value that animals must have in a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueFilter {
    pub field: FieldName,
    pub kind: FieldKind,
    pub is_unique: bool,
    /// The value in the form in which values of this kind are compared: [`FieldKind::key`].
    pub key: String,
}

impl ValueFilter {
    /// Returns the filter for a value of a field; `None` if no search looks for such values.
    pub(super) fn new(field: &FieldDefinition, value: &FieldValue) -> Option<Self> {
        let key = field.kind.key(field.is_unique, value)?;
        Some(Self {
            field: field.name.clone(),
            kind: field.kind,
            is_unique: field.is_unique,
            key,
        })
    }

    /// Whether these values have the value of the filter.
    pub(super) fn matches(&self, values: &FieldValues) -> bool {
        let Some(value) = values.get(self.field.as_str()) else {
            return false;
        };
        self.kind
            .key(self.is_unique, value)
            .is_some_and(|key| key == self.key)
    }
}

/// The reason for invalid values, as a message for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldProblem {
    Unknown(String),
    Invalid(String),
}

impl FieldProblem {
    /// Returns the reason as a sentence.
    pub(super) fn into_message(self) -> String {
        match self {
            Self::Unknown(message) | Self::Invalid(message) => message,
        }
    }
}

impl FieldValues {
    pub const NONE: Self = Self(None);

    /// The maximum length as JSON, in bytes.
    pub const MAX_LENGTH: usize = 32 << 10;

    /// Returns these values, whatever their fields are. `None` if they are too long.
    ///
    /// The values `sex` and `age` with `male` and 3 become the JSON object `{"age":3,"sex":"male"}`.
    pub fn new(values: BTreeMap<String, FieldValue>) -> Option<Self> {
        let mut json = String::from("{");
        for (name, value) in &values {
            if json.len() > 1 {
                json.push(',');
            }
            write_text(&mut json, name);
            json.push(':');
            match value {
                FieldValue::Text(text) => write_text(&mut json, text),
                // A write to a text cannot fail.
                value => {
                    let _ = write!(json, "{value}");
                }
            }
        }
        json.push('}');
        Self::from_stored(values.into_iter().collect(), json)
    }

    /// Returns values in the order of their names, which a store keeps as `json`. `None` if they are too long.
    pub fn from_stored(sorted: Vec<(String, FieldValue)>, json: String) -> Option<Self> {
        if sorted.is_empty() {
            return Some(Self::NONE);
        }
        if json.len() > Self::MAX_LENGTH {
            return None;
        }
        Some(Self(Some(Box::new(Values { sorted, json }))))
    }

    /// Returns the values as a JSON object, whose members are sorted.
    pub fn as_json(&self) -> &str {
        self.as_stored().unwrap_or("{}")
    }

    /// Returns the values in the form in which a store keeps them, a JSON object; `None` if there are none.
    pub fn as_stored(&self) -> Option<&str> {
        self.0.as_deref().map(|values| values.json.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the value of the field with this name.
    pub fn get(&self, name: &str) -> Option<&FieldValue> {
        let values = self.sorted_values();
        let position = values
            .binary_search_by(|(field, _)| field.as_str().cmp(name))
            .ok()?;
        values.get(position).map(|(_, value)| value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &FieldValue)> {
        self.sorted_values()
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    fn sorted_values(&self) -> &[(String, FieldValue)] {
        self.0.as_deref().map_or(&[], |values| &values.sorted)
    }
}

/// Writes a JSON string (RFC 8259, section 7): the text `5" tall` becomes `"5\" tall"`.
pub(super) fn write_text(out: &mut String, text: &str) {
    out.push('"');
    let needs_escape = text
        .bytes()
        .any(|byte| byte < b' ' || byte == b'"' || byte == b'\\');
    if !needs_escape {
        out.push_str(text);
        out.push('"');
        return;
    }
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\0'..' ' => {
                // A write to a text cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// Returns the text of the key under which a store has a unique text. Migrations compute former keys with it once more.
pub fn unique_text_key(text: &str) -> String {
    shorten_key(compact_key(identity_key(text)))
}

/// Returns the key, or `sha256:` with its hash if the key is too long for an index.
fn shorten_key(key: String) -> String {
    if key.len() <= MAX_KEY_BYTES {
        return key;
    }
    format!("sha256:{}", hex_digits(&Sha256::digest(&key)))
}

impl FieldSet {
    /// Returns the values after a change at `now`, or the reason why the change is not possible. A value that stays as
    /// it was is valid, even if it is no longer one of the choices.
    pub fn apply(
        &self,
        before: &FieldValues,
        patch: &FieldPatch,
        now: Timestamp,
    ) -> Result<FieldValues, FieldProblem> {
        let mut values: BTreeMap<_, _> = before.sorted_values().iter().cloned().collect();
        for (name, requested) in patch {
            let field = self.find(name).ok_or_else(|| self.unknown_field(name))?;
            match requested {
                RequestedValue::Clear => {
                    values.remove(name);
                }
                RequestedValue::Set(value) if values.get(name) == Some(value) => {}
                RequestedValue::Set(_) | RequestedValue::Invalid => {
                    let value = field
                        .validate(requested, now)
                        .ok_or_else(|| FieldProblem::Invalid(field.rule_sentence("fields")))?;
                    values.insert(name.clone(), value);
                }
            }
        }
        FieldValues::new(values).ok_or_else(|| {
            let max_kib = FieldValues::MAX_LENGTH >> 10;
            FieldProblem::Invalid(format!(
                "The fields of an animal must not exceed {max_kib} KiB, as JSON."
            ))
        })
    }

    /// Returns the first problem of values in a store, if they have one.
    pub fn find_problem(&self, values: &FieldValues) -> Option<FieldProblem> {
        for (name, value) in values.iter() {
            let Some(field) = self.find(name) else {
                return Some(self.unknown_field(name));
            };
            if !field.kind.allows(value) {
                return Some(FieldProblem::Invalid(field.rule_sentence("fields")));
            }
        }
        None
    }

    /// Returns the keys of the values that no other animal may have.
    pub fn unique_keys(&self, values: &FieldValues) -> Vec<UniqueKey> {
        values
            .iter()
            .filter_map(|(name, value)| self.unique_key(name, value))
            .collect()
    }

    /// Returns the key of a value; `None` if other animals may also have the value.
    pub fn unique_key(&self, name: &str, value: &FieldValue) -> Option<UniqueKey> {
        let field = self.find(name)?;
        if !field.is_unique {
            return None;
        }
        let key = field.kind.key(true, value)?;
        Some(UniqueKey {
            field: name.to_owned(),
            text: shorten_key(key),
        })
    }

    /// Parses the filter of a search for the value `text` of the field `name`, written as in a cell of a table.
    ///
    /// With a field `age` of the kind integer, `age` and `3` are a filter, and `age` and `03` are an error. A value
    /// that is no longer one of the choices can be searched for, because animals can still have it.
    pub fn parse_filter(&self, name: &str, text: &str) -> Result<ValueFilter, FieldProblem> {
        let field = self.find(name).ok_or_else(|| self.unknown_field(name))?;
        if field.kind == FieldKind::LongText {
            let message = format!("field.{name} is of the kind longText, which has no search.");
            return Err(FieldProblem::Invalid(message));
        }

        let filter = match field.parse_cell(text) {
            RequestedValue::Set(value) if field.kind.allows(&value) => {
                ValueFilter::new(field, &value)
            }
            _ => None,
        };
        filter.ok_or_else(|| FieldProblem::Invalid(field.rule_sentence("field")))
    }

    pub(super) fn unknown_field(&self, name: &str) -> FieldProblem {
        // Long enough to recognize it.
        let short_name: String = name.chars().take(40).collect();
        let names: Vec<&str> = self.all().iter().map(|field| field.name.as_str()).collect();
        FieldProblem::Unknown(format!(
            "No field has the name {short_name:?}. The fields are {}.",
            names.join(", ")
        ))
    }
}

impl FieldDefinition {
    /// Parses the text in a cell of a table, which is the value in JSON without quotes: `3`, `true` or
    /// `2020-05-01`. A choice is its value, not its label, whatever the case of its letters.
    pub fn parse_cell(&self, text: &str) -> RequestedValue {
        let choice = self.choices.as_ref().and_then(|choices| choices.find(text));
        let value_text = choice.map_or(text, String::as_str);
        match self.kind.parse(value_text) {
            Some(value) => RequestedValue::Set(value),
            None => RequestedValue::Invalid,
        }
    }

    /// Returns the stored value of a choice for its value or its label, whatever the case of their letters. Returns
    /// other values as they are.
    pub fn resolve_choice(&self, requested: RequestedValue) -> RequestedValue {
        let RequestedValue::Set(FieldValue::Text(text)) = &requested else {
            return requested;
        };
        let choice = self
            .choices
            .as_ref()
            .and_then(|choices| choices.find_by_value_or_label(text));
        match choice {
            Some(value) => RequestedValue::Set(FieldValue::Text(value.clone())),
            None => requested,
        }
    }

    /// Returns a value that is new at `now`; `None` if it is not valid.
    pub fn validate(&self, requested: &RequestedValue, now: Timestamp) -> Option<FieldValue> {
        let RequestedValue::Set(value) = requested else {
            return None;
        };
        self.allows_new(value, now).then(|| value.clone())
    }

    /// Whether an animal can get this value at `now`. Prices, days of birth and choices have rules beyond their kind.
    fn allows_new(&self, value: &FieldValue, now: Timestamp) -> bool {
        match (value, &self.choices) {
            (FieldValue::Text(text), Some(choices)) => choices.find(text) == Some(text),
            (FieldValue::Text(text), None) if self.is_price() => {
                Decimal::new(text).is_some_and(|price| !price.has_minus())
            }
            (FieldValue::Text(text), None) if self.is_birth() => {
                // Somewhere on earth, the next day of UTC has begun already.
                let today = now.to_zoned(TimeZone::UTC).date();
                let tomorrow = today.tomorrow().unwrap_or(Date::MAX);
                is_date(text) && text.parse().is_ok_and(|born: Date| born <= tomorrow)
            }
            _ => self.kind.allows(value),
        }
    }

    /// Returns the rule for a value, as a sentence about the member or the parameter with this name before the point:
    /// `fields.age is of the kind integer and must be …`.
    fn rule_sentence(&self, parent: &str) -> String {
        format!("{parent}.{} {}.", self.name.as_str(), self.rule())
    }

    /// Returns the rule for a value, as the rest of a sentence that begins with the name of the
    /// field.
    pub fn rule(&self) -> String {
        let value_rule = match &self.choices {
            Some(choices) => choices_rule(choices),
            None if self.is_price() => {
                "a string such as \"249.00\", without a minus, with at most 12 digits before the point and \
                 4 after it"
                    .to_owned()
            }
            None if self.is_birth() => format!("{}, not later than tomorrow in UTC", self.kind.rule()),
            None => self.kind.rule().to_owned(),
        };
        format!("is of the kind {} and must be {value_rule}", self.kind)
    }
}

/// Returns a rule such as `one of male, female`.
fn choices_rule(choices: &Choices) -> String {
    let values = choices.values();
    let first_values: Vec<&str> = values
        .iter()
        .take(MAX_CHOICES_IN_MESSAGE)
        .map(String::as_str)
        .collect();
    let ellipsis = if values.len() > MAX_CHOICES_IN_MESSAGE {
        ", …"
    } else {
        ""
    };
    format!("one of {}{ellipsis}", first_values.join(", "))
}
