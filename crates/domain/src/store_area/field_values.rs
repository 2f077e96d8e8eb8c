//! The values of an animal's fields.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{collections::BTreeMap, fmt::Write};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use sha2::{Digest, Sha256};

use super::{
    Decimal, FieldDefinition, FieldKind, FieldName, FieldSet, FieldValue,
    kind::{MAX_KEY_BYTES, compact_key, is_date},
    whole_key,
};
use crate::PetId;

/// How many choices a message shows.
const SHOWN_CHOICES: usize = 20;

/// The value in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedValue {
    Clear,
    Set(FieldValue),
    /// A value that no kind allows, such as an array.
    Invalid,
}

/// The values of an animal in a request, by the names of fields. The others stay.
pub type FieldPatch = BTreeMap<String, RequestedValue>;

/// The key by which values of a unique field differ: the field, and a text.
pub type UniqueKey = (String, String);

/// An animal in the catalogue that has a unique value.
pub type UniqueValueOwner = (UniqueKey, PetId);

/// The values of an animal, by the names of fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldValues(Option<Box<Values>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Values {
    /// In the order of the names.
    all: Vec<(String, FieldValue)>,
    /// The same as a store keeps them and as a client gets them, because this is what most need.
    json: String,
}

/// A value that animals must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueFilter {
    pub field: FieldName,
    pub kind: FieldKind,
    pub is_unique: bool,
    /// As values of this kind are compared: [`FieldKind::key`].
    pub key: String,
}

impl ValueFilter {
    /// `None` if no search looks for the value.
    pub(super) fn new(field: &FieldDefinition, value: &FieldValue) -> Option<Self> {
        let FieldDefinition {
            name,
            kind,
            is_unique,
            ..
        } = field;
        let key = kind.key(*is_unique, value)?;
        Some(Self {
            field: name.clone(),
            kind: *kind,
            is_unique: *is_unique,
            key,
        })
    }

    pub(super) fn matches(&self, fields: &FieldValues) -> bool {
        let value = fields.get(self.field.as_str());
        let key = value.and_then(|value| self.kind.key(self.is_unique, value));
        key.is_some_and(|key| key == self.key)
    }
}

/// Why values are not valid, for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldProblem {
    Unknown(String),
    Invalid(String),
}

impl FieldProblem {
    /// The reason as a sentence.
    pub fn into_message(self) -> String {
        match self {
            Self::Unknown(message) | Self::Invalid(message) => message,
        }
    }
}

impl FieldValues {
    pub const NONE: Self = Self(None);

    /// The maximum length as JSON, in bytes.
    pub const MAX_LENGTH: usize = 32 << 10;

    /// Values, whatever their fields are. `None` if they are too long.
    pub fn new(all: BTreeMap<String, FieldValue>) -> Option<Self> {
        let mut json = String::from("{");
        for (name, value) in &all {
            if json.len() > 1 {
                json.push(',');
            }
            write_text(&mut json, name);
            json.push(':');
            match value {
                FieldValue::Text(text) => write_text(&mut json, text),
                value => drop(write!(json, "{value}")),
            }
        }
        json.push('}');
        Self::from_stored(all.into_iter().collect(), json)
    }

    /// Values in the order of their names, which a store keeps as this JSON. `None` if they are too long.
    pub fn from_stored(all: Vec<(String, FieldValue)>, json: String) -> Option<Self> {
        if all.is_empty() {
            return Some(Self::NONE);
        }
        (json.len() <= Self::MAX_LENGTH).then(|| Self(Some(Box::new(Values { all, json }))))
    }

    /// As a JSON object, whose members are sorted.
    pub fn as_json(&self) -> &str {
        self.as_stored().unwrap_or("{}")
    }

    /// As a store keeps them: `None` if there are none.
    pub fn as_stored(&self) -> Option<&str> {
        self.0.as_deref().map(|values| values.json.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the value of the field with this name.
    pub fn get(&self, name: &str) -> Option<&FieldValue> {
        let all = self.all();
        let at = all
            .binary_search_by(|(other, _)| other.as_str().cmp(name))
            .ok()?;
        all.get(at).map(|(_, value)| value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &FieldValue)> {
        self.all()
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    fn all(&self) -> &[(String, FieldValue)] {
        self.0.as_deref().map_or(&[], |values| &values.all)
    }
}

/// Writes a JSON string (RFC 8259, section 7).
pub(super) fn write_text(out: &mut String, text: &str) {
    out.push('"');
    if !text
        .bytes()
        .any(|byte| matches!(byte, b'"' | b'\\' | ..b' '))
    {
        out.push_str(text);
        out.push('"');
        return;
    }
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            ' '.. => out.push(character),
            _ => drop(write!(out, "\\u{:04x}", u32::from(character))),
        }
    }
    out.push('"');
}

/// Returns the key under which a store has a unique text. Migrations compute former keys again with it.
pub fn unique_text_key(text: &str) -> String {
    stored_key(compact_key(whole_key(text)))
}

/// Returns the key, or a hash of one that is too long for an index.
fn stored_key(key: String) -> String {
    if key.len() <= MAX_KEY_BYTES {
        return key;
    }
    let mut hash = String::from("sha256:");
    for byte in Sha256::digest(&key) {
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

impl FieldSet {
    /// Returns the values after a change at `now`, or why it is not possible. A value that stays as
    /// it was is valid, even if it is no longer one of the choices.
    pub fn apply(
        &self,
        before: &FieldValues,
        patch: &FieldPatch,
        now: Timestamp,
    ) -> Result<FieldValues, FieldProblem> {
        let mut values: BTreeMap<_, _> = before.all().iter().cloned().collect();
        for (name, given) in patch {
            let field = self.find(name).ok_or_else(|| self.unknown_field(name))?;
            match given {
                RequestedValue::Clear => drop(values.remove(name)),
                RequestedValue::Set(value) if values.get(name) == Some(value) => {}
                given => {
                    let value = field.validate(given, now);
                    let value = value
                        .ok_or_else(|| FieldProblem::Invalid(field.rule_sentence("fields")))?;
                    values.insert(name.clone(), value);
                }
            }
        }
        FieldValues::new(values).ok_or_else(|| {
            let max = FieldValues::MAX_LENGTH >> 10;
            let problem = format!("The fields of an animal must not exceed {max} KiB, as JSON.");
            FieldProblem::Invalid(problem)
        })
    }

    /// Why values in a store are not valid, if so.
    pub fn find_problem(&self, values: &FieldValues) -> Option<FieldProblem> {
        values.iter().find_map(|(name, value)| {
            let Some(field) = self.find(name) else {
                return Some(self.unknown_field(name));
            };
            (!field.kind.allows(value))
                .then(|| FieldProblem::Invalid(field.rule_sentence("fields")))
        })
    }

    /// Returns the keys of the values that no other animal may have.
    pub fn unique_keys(&self, values: &FieldValues) -> Vec<UniqueKey> {
        values
            .iter()
            .filter_map(|(name, value)| self.unique_key(name, value))
            .collect()
    }

    /// Returns the key of a value; `None` if other animals may also have it.
    pub fn unique_key(&self, name: &str, value: &FieldValue) -> Option<UniqueKey> {
        let field = self.find(name).filter(|field| field.is_unique)?;
        let key = field.kind.key(true, value)?;
        Some((name.to_owned(), stored_key(key)))
    }

    /// Returns the filter of a search, written as in a cell of a table. A choice may have been one
    /// before.
    pub fn parse_filter(&self, name: &str, text: &str) -> Result<ValueFilter, FieldProblem> {
        let field = self.find(name).ok_or_else(|| self.unknown_field(name))?;
        if field.kind == FieldKind::LongText {
            let problem = format!("field.{name} is of the kind longText, which has no search.");
            return Err(FieldProblem::Invalid(problem));
        }
        // In one way, as in every parameter.
        let filter = match field.parse_cell(text) {
            RequestedValue::Set(FieldValue::Integer(number)) if number.to_string() != text => None,
            RequestedValue::Set(value) if field.kind.allows(&value) => {
                ValueFilter::new(field, &value)
            }
            _ => None,
        };
        filter.ok_or_else(|| FieldProblem::Invalid(field.rule_sentence("field")))
    }

    pub(super) fn unknown_field(&self, name: &str) -> FieldProblem {
        let shown: String = name.chars().take(40).collect();
        let names: Vec<&str> = self.all().iter().map(|field| field.name.as_str()).collect();
        let message = format!(
            "No field has the name {shown:?}. The fields are {}.",
            names.join(", ")
        );
        FieldProblem::Unknown(message)
    }
}

impl FieldDefinition {
    /// Returns the value in a cell of a table, which has it as in JSON, without quotes. A choice is
    /// its value, not its label.
    pub fn parse_cell(&self, text: &str) -> RequestedValue {
        let choice = self.choices.as_ref().and_then(|choices| choices.find(text));
        let value = self.kind.read(choice.map_or(text, String::as_str));
        value.map_or(RequestedValue::Invalid, RequestedValue::Set)
    }

    /// Returns a choice or its label, in any case, as the value that is stored; other values as
    /// they are.
    pub fn resolve_choice(&self, given: RequestedValue) -> RequestedValue {
        match (&given, &self.choices) {
            (RequestedValue::Set(FieldValue::Text(text)), Some(choices)) => choices
                .find_by_value_or_label(text)
                .map_or(given, |choice| {
                    RequestedValue::Set(FieldValue::Text(choice.clone()))
                }),
            _ => given,
        }
    }

    /// Returns a value that is new at `now`; `None` if it is not valid.
    pub fn validate(&self, given: &RequestedValue, now: Timestamp) -> Option<FieldValue> {
        let RequestedValue::Set(value) = given else {
            return None;
        };
        let is_valid = match (value, &self.choices) {
            (FieldValue::Text(text), Some(choices)) => choices.find(text) == Some(text),
            (FieldValue::Text(text), _) if self.is_price() => {
                Decimal::new(text).is_some_and(|price| !price.has_minus())
            }
            (FieldValue::Text(text), _) if self.is_birth() => {
                let tomorrow = now
                    .to_zoned(TimeZone::UTC)
                    .date()
                    .tomorrow()
                    .unwrap_or(Date::MAX);
                is_date(text) && text.parse().is_ok_and(|born: Date| born <= tomorrow)
            }
            _ => self.kind.allows(value),
        };
        is_valid.then(|| value.clone())
    }

    /// Returns the rule for a value: a sentence about a member or a parameter with this name before
    /// the point.
    fn rule_sentence(&self, of: &str) -> String {
        format!("{of}.{} {}.", self.name.as_str(), self.rule())
    }

    /// Returns the rule for a value, as the rest of a sentence that begins with the name of the
    /// field.
    pub fn rule(&self) -> String {
        let is = match &self.choices {
            Some(choices) => {
                let all = choices.values();
                let shown: Vec<&str> = all.iter().take(SHOWN_CHOICES).map(String::as_str).collect();
                let more = if all.len() > shown.len() { ", …" } else { "" };
                format!("one of {}{more}", shown.join(", "))
            }
            None if self.is_price() => {
                "a string such as \"249.00\", without a minus, with at most 12 digits before the point and \
                 4 after it"
                    .to_owned()
            }
            None if self.is_birth() => format!("{}, not later than tomorrow in UTC", self.kind.rule()),
            None => self.kind.rule().to_owned(),
        };
        format!("is of the kind {} and must be {is}", self.kind)
    }
}
