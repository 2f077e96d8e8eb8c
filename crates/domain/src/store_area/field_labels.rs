//! The labels of predefined fields in different languages. The names of the fields and the values
//! of their choices do not depend on the language, so that programs can rely on them.

use std::collections::BTreeMap;

use super::{Choices, FieldDefinition, FieldSet, Label};

/// The label of a field in one language, with the label of each choice whose label differs from its
/// value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names say it")]
pub struct FieldLabels {
    pub name: &'static str,
    pub label: &'static str,
    /// Pairs of a value and its label.
    pub choices: &'static [(&'static str, &'static str)],
}

impl FieldLabels {
    /// Creates the labels of the field with this name. `choices` contains pairs of a value and its
    /// label.
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

    /// Returns the labels of the choices, by value.
    pub(super) fn choice_labels(&self) -> BTreeMap<String, String> {
        let labels = self.choices.iter();
        labels
            .map(|&(value, label)| (value.to_owned(), label.to_owned()))
            .collect()
    }

    /// Returns the label of a choice; `None` if it does not differ from the value.
    fn choice_label(&self, value: &str) -> Option<&'static str> {
        self.choices
            .iter()
            .find(|(choice, _)| *choice == value)
            .map(|(_, label)| *label)
    }
}

/// Translates field labels when a store changes its language, and returns the fields that change.
///
/// `all_default_labels` contains the lists of labels in all languages, and the list of earlier
/// releases. `new_labels` is the list in the new language. Only a default label is replaced: a
/// label that the field or the choice has in one of the lists. A label that somebody has edited
/// stays. For example, if the new language is English, a field with the German label `Art` is
/// returned with the label `Species`, but a field that was renamed to `Tierart` is not returned.
///
/// A new label that another field already has is not applied.
pub fn relabel(
    fields: &FieldSet,
    all_default_labels: &[&'static [FieldLabels]],
    new_labels: &[FieldLabels],
) -> Vec<FieldDefinition> {
    let mut changed_fields = Vec::new();
    for new_field_labels in new_labels {
        let Some(field) = fields.find(new_field_labels.name) else {
            continue;
        };
        // The default labels of this field only.
        let default_labels: Vec<&FieldLabels> = all_default_labels
            .iter()
            .flat_map(|list| list.iter())
            .filter(|labels| labels.name == field.name.as_str())
            .collect();
        let mut new_field = relabel_field(field, &default_labels, new_field_labels);
        let same_label_field =
            fields.find_other_with_label(&new_field.name, new_field.label.as_str());
        if same_label_field.is_some() {
            new_field.label = field.label.clone();
        }
        if new_field != *field {
            changed_fields.push(new_field);
        }
    }
    changed_fields
}

/// Returns the field with `new_field_labels` in place of labels that are among `default_labels`.
fn relabel_field(
    field: &FieldDefinition,
    default_labels: &[&FieldLabels],
    new_field_labels: &FieldLabels,
) -> FieldDefinition {
    let mut new_field = field.clone();
    let has_default_label = default_labels
        .iter()
        .any(|labels| labels.label == field.label.as_str());
    if has_default_label && let Some(label) = Label::new(new_field_labels.label.to_owned()) {
        new_field.label = label;
    }
    if let Some(choices) = new_field.choices {
        new_field.choices = Some(relabel_choices(choices, default_labels, new_field_labels));
    }
    new_field
}

/// Returns the choices with their labels from `new_field_labels`, but keeps each label that is not
/// among `default_labels`, because somebody has edited it.
fn relabel_choices(
    mut choices: Choices,
    default_labels: &[&FieldLabels],
    new_field_labels: &FieldLabels,
) -> Choices {
    // Iterates over a copy of the values, because each step replaces the choices.
    for value in choices.values().to_vec() {
        let mut labels = choices.labels().clone();
        let current_label = labels.get(&value).map(String::as_str);
        let is_edited = current_label.is_some()
            && default_labels
                .iter()
                .all(|labels| labels.choice_label(&value) != current_label);
        if is_edited {
            continue;
        }
        // Without a label in the new language, the value itself is displayed.
        match new_field_labels.choice_label(&value) {
            Some(label) => labels.insert(value, label.to_owned()),
            None => labels.remove(&value),
        };
        // This fails if another value already has the label. The value then keeps its former
        // label.
        if let Some(with_new_label) = choices.clone().with_labels(labels) {
            choices = with_new_label;
        }
    }
    choices
}
