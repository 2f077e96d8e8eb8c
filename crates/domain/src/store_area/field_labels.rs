//! The labels of the fields of a new database, in each language. The names of the fields and the values
//! of their choices do not depend on the language, so programs know them.

use std::collections::BTreeMap;

use super::{Choices, FieldDefinition, FieldSet, Label};
use crate::text::comparison_key;

/// The label of a field, and the labels of its choices where they differ from the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names say it")]
pub struct FieldLabels {
    pub name: &'static str,
    pub label: &'static str,
    /// Pairs of a value and its label.
    pub choices: &'static [(&'static str, &'static str)],
}

impl FieldLabels {
    /// Returns the labels of the field with this name. `choices` has pairs of a value and its label.
    pub const fn new(
        name: &'static str,
        label: &'static str,
        choices: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self {
            name,
            label,
            choices,
        }
    }

    /// Returns the labels of the choices, by the values.
    pub(super) fn labels_of_choices(&self) -> BTreeMap<String, String> {
        let labels = self.choices.iter();
        labels
            .map(|&(value, label)| (value.to_owned(), label.to_owned()))
            .collect()
    }

    fn choice_label(&self, value: &str) -> Option<&'static str> {
        self.choices
            .iter()
            .find(|(choice, _)| *choice == value)
            .map(|(_, label)| *label)
    }
}

/// Returns the fields that change when the store takes the labels of another language, each with its new labels.
///
/// A label that somebody has written by hand stays: `all_languages` has no such label for the field or the value. If a
/// field has the German label `Art`, and `new_labels` are English, the field is returned with the label `Species`; if
/// somebody has renamed the field to `Tierart`, it is not returned. A label that another field has is not given again.
pub fn relabel(
    fields: &FieldSet,
    all_languages: &[&'static [FieldLabels]],
    new_labels: &[FieldLabels],
) -> Vec<FieldDefinition> {
    let mut changed_fields = Vec::new();
    for new_label in new_labels {
        let Some(field) = fields.find(new_label.name) else {
            continue;
        };
        let former_labels: Vec<&FieldLabels> = all_languages
            .iter()
            .flat_map(|language| language.iter())
            .filter(|labels| labels.name == new_label.name)
            .collect();
        let mut new_field = relabel_field(field, &former_labels, new_label);
        if has_label_of_another(&new_field, fields) {
            new_field.label = field.label.clone();
        }
        if new_field != *field {
            changed_fields.push(new_field);
        }
    }
    changed_fields
}

/// Whether another field has the label of this field, in any case.
fn has_label_of_another(field: &FieldDefinition, fields: &FieldSet) -> bool {
    let label_key = comparison_key(field.label.as_str());
    fields
        .all()
        .iter()
        .any(|other| other.name != field.name && comparison_key(other.label.as_str()) == label_key)
}

/// Returns a field with `new_labels` in place of each label that is one of `former_labels`.
fn relabel_field(
    field: &FieldDefinition,
    former_labels: &[&FieldLabels],
    new_labels: &FieldLabels,
) -> FieldDefinition {
    let mut after = field.clone();
    let has_former_label = former_labels
        .iter()
        .any(|labels| labels.label == field.label.as_str());
    if has_former_label && let Some(label) = Label::new(new_labels.label.to_owned()) {
        after.label = label;
    }
    if let Some(choices) = after.choices {
        after.choices = Some(relabel_choices(choices, former_labels, new_labels));
    }
    after
}

/// Returns choices with `new_labels`, except where somebody has written another label than one of `former_labels`.
fn relabel_choices(
    mut choices: Choices,
    former_labels: &[&FieldLabels],
    new_labels: &FieldLabels,
) -> Choices {
    for value in choices.values().to_vec() {
        let mut labels = choices.labels().clone();
        let current_label = labels.get(&value).map(String::as_str);
        let is_former_label = former_labels
            .iter()
            .any(|former| former.choice_label(&value) == current_label);
        if current_label.is_some() && !is_former_label {
            continue;
        }
        match new_labels.choice_label(&value) {
            Some(label) => labels.insert(value, label.to_owned()),
            None => labels.remove(&value),
        };
        // A label can be one that somebody gave to another value. Then the value keeps the label that it has.
        if let Some(with_new_label) = choices.clone().with_labels(labels) {
            choices = with_new_label;
        }
    }
    choices
}
