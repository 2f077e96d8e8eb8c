//! The field values of an animal, and their changes by requests.

use std::{collections::BTreeMap, fmt::Write};

use jiff::Timestamp;

use super::{FieldSet, FieldValue};

/// The value of a field in a request, before it is validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedValue {
    /// Clears the value of the field.
    Clear,
    /// Sets this value.
    Set(FieldValue),
    /// A value that no kind of field allows, such as an array.
    Invalid,
}

/// The requested changes of field values, by field name. Fields that are not mentioned keep their
/// values.
pub type FieldPatch = BTreeMap<String, RequestedValue>;

/// The field values of an animal, by field name. They are in a box, so that an animal without
/// values stays small.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldValues(Option<Box<Values>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Values {
    /// The names of the fields with their values, sorted by name.
    sorted: Vec<(String, FieldValue)>,
    /// The values as a JSON object, as they are stored and sent to clients. The text is kept,
    /// because most callers need only this form.
    json: String,
}

/// The reason why field values are rejected, with a message for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldProblem {
    /// The store has no field with this name.
    Unknown(String),
    /// A value does not follow the rule for its field, or all values together are too long.
    Invalid(String),
}

impl FieldProblem {
    /// Returns the message.
    pub(super) fn into_message(self) -> String {
        match self {
            Self::Unknown(message) | Self::Invalid(message) => message,
        }
    }
}

impl FieldValues {
    /// No values.
    pub const NONE: Self = Self(None);

    /// The maximum length as JSON, in bytes.
    pub const MAX_LENGTH: usize = 32 << 10;

    /// Creates the values, and serializes them to JSON; `None` if the JSON is too long.
    ///
    /// The values are not validated against the definitions of the fields: see [`FieldSet::apply`].
    ///
    /// The fields `sex` and `age` with the values `male` and 3 become the JSON object
    /// `{"age":3,"sex":"male"}`.
    pub fn new(values: BTreeMap<String, FieldValue>) -> Option<Self> {
        let mut json = String::from("{");
        for (name, value) in &values {
            if json.len() > 1 {
                json.push(',');
            }
            write_json_string(&mut json, name);
            json.push(':');
            write_json_value(&mut json, value);
        }
        json.push('}');
        Self::from_stored(values.into_iter().collect(), json)
    }

    /// Creates the values from their stored form; `None` if the JSON is too long. `sorted` must be
    /// the parsed content of `json`, sorted by name.
    pub fn from_stored(sorted: Vec<(String, FieldValue)>, json: String) -> Option<Self> {
        if sorted.is_empty() {
            return Some(Self::NONE);
        }
        if json.len() > Self::MAX_LENGTH {
            return None;
        }
        Some(Self(Some(Box::new(Values { sorted, json }))))
    }

    /// Returns the values as a JSON object with sorted members; `{}` if there are none.
    pub fn as_json(&self) -> &str {
        self.as_stored().unwrap_or("{}")
    }

    /// Returns the stored form, a JSON object; `None` if there are no values.
    pub fn as_stored(&self) -> Option<&str> {
        self.0.as_deref().map(|values| values.json.as_str())
    }

    /// Whether no field has a value.
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

    /// Returns the names of the fields with their values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &FieldValue)> {
        self.sorted_values()
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    fn sorted_values(&self) -> &[(String, FieldValue)] {
        self.0.as_deref().map_or(&[], |values| &values.sorted)
    }
}

/// Writes a value as JSON: a text as an escaped string, and other values as they are displayed.
fn write_json_value(out: &mut String, value: &FieldValue) {
    match value {
        FieldValue::Text(text) => write_json_string(out, text),
        FieldValue::Integer(_) | FieldValue::Boolean(_) => {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "{value}");
        }
    }
}

/// Writes a text as an escaped JSON string (RFC 8259, section 7): `5" tall` becomes `"5\" tall"`.
pub(super) fn write_json_string(out: &mut String, text: &str) {
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
                // Writing to a `String` cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

impl FieldSet {
    /// Applies a patch at `now` to the values `before`, and returns the resulting values. The error
    /// is the first problem of the patch.
    ///
    /// A value that does not change is always accepted, even if it is no longer one of the choices.
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
                // The value does not change, so it is not validated again.
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

    /// Checks stored values, and returns their first problem, if there is one.
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

    /// Returns the problem for a name that no field has. The message lists the existing fields.
    pub(super) fn unknown_field(&self, name: &str) -> FieldProblem {
        /// The maximum length of the name in the message: long enough to recognize it.
        const MAX_NAME_LENGTH: usize = 40;

        let short_name: String = name.chars().take(MAX_NAME_LENGTH).collect();
        let names: Vec<&str> = self.all().iter().map(|field| field.name.as_str()).collect();
        FieldProblem::Unknown(format!(
            "No field has the name {short_name:?}. The fields are {}.",
            names.join(", ")
        ))
    }
}
