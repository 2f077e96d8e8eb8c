//! The values of an animal's fields, and how a request changes them.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{collections::BTreeMap, fmt::Write};

use jiff::Timestamp;

use super::{FieldSet, FieldValue};

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

    /// Returns the problem of a name that no field has.
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
