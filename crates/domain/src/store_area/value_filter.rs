//! The search filter for the value of a field.

use super::{
    FieldDefinition, FieldKind, FieldName, FieldProblem, FieldSet, FieldValue, FieldValues,
    RequestedValue,
};

/// A search filter that requires a value in a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueFilter {
    /// The field that must have the value.
    pub field: FieldName,
    /// The kind of the field.
    pub kind: FieldKind,
    /// Whether the field is unique.
    pub is_unique: bool,
    /// The key of the value, by which values of this kind are compared: see [`FieldKind::key`].
    pub key: String,
}

impl ValueFilter {
    /// Creates the filter for a value of a field; `None` if values of this kind cannot be searched
    /// for.
    pub(super) fn new(field: &FieldDefinition, value: &FieldValue) -> Option<Self> {
        let key = field.kind.key(field.is_unique, value)?;
        Some(Self {
            field: field.name.clone(),
            kind: field.kind,
            is_unique: field.is_unique,
            key,
        })
    }

    /// Whether the values of an animal match the filter.
    pub(super) fn matches(&self, values: &FieldValues) -> bool {
        let Some(value) = values.get(self.field.as_str()) else {
            return false;
        };
        self.kind
            .key(self.is_unique, value)
            .is_some_and(|key| key == self.key)
    }
}

impl FieldSet {
    /// Parses a filter for the field `name`. `text` is the value as it is written in a cell of a
    /// table. The error is a message for the client.
    ///
    /// For example, if `age` is a field of the kind integer, `3` is valid, and `03` is an error. A
    /// value that is no longer one of the choices is accepted, because animals can still have it.
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
}
