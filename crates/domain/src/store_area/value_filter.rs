//! The filter of a search for animals that have one value in a field.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{
    FieldDefinition, FieldKind, FieldName, FieldProblem, FieldSet, FieldValue, FieldValues,
    RequestedValue,
};

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

impl FieldSet {
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
}
