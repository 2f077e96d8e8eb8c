//! The labels of the fields of a new database, in each language. The names of the fields and the values
//! of their choices are the same in all of them, so programs know them.

use super::{FieldDefinition, FieldSet, Label};

/// The label of a field, and those of its choices that differ from the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names say it")]
pub struct FieldLabels {
    pub name: &'static str,
    pub label: &'static str,
    pub choices: &'static [(&'static str, &'static str)],
}

impl FieldLabels {
    /// Returns the labels of the field with this name.
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

    fn of_choice(&self, value: &str) -> Option<&'static str> {
        self.choices
            .iter()
            .find(|(of, _)| *of == value)
            .map(|(_, label)| *label)
    }
}

/// Returns the fields that change if all get these labels, each as it is then. A label that
/// somebody has changed stays: one that no language has (`known`) for the field or the value.
pub fn relabel(
    fields: &FieldSet,
    known: &[&'static [FieldLabels]],
    wanted: &[FieldLabels],
) -> Vec<FieldDefinition> {
    let changed = |wanted: &FieldLabels| {
        let field = fields.find(wanted.name)?;
        let known = known
            .iter()
            .flat_map(|all| all.iter())
            .filter(|of| of.name == wanted.name);
        let known: Vec<_> = known.collect();
        let after = field_with(field, &known, wanted);
        (after != *field).then_some(after)
    };
    wanted.iter().filter_map(changed).collect()
}

/// Returns a field with these labels in place of those that are known.
fn field_with(
    field: &FieldDefinition,
    known: &[&FieldLabels],
    wanted: &FieldLabels,
) -> FieldDefinition {
    let mut after = field.clone();
    if known.iter().any(|of| of.label == field.label.as_str()) {
        after.label = Label::new(wanted.label.to_owned()).unwrap_or(after.label);
    }
    let Some(choices) = &mut after.choices else {
        return after;
    };
    for value in choices.values().to_vec() {
        let mut labels = choices.labels().clone();
        let present = labels.get(&value).map(String::as_str);
        if present.is_some() && !known.iter().any(|of| of.of_choice(&value) == present) {
            continue;
        }
        match wanted.of_choice(&value) {
            Some(label) => labels.insert(value, label.to_owned()),
            None => labels.remove(&value),
        };
        // A label can be one that somebody gave to another value. Then the value keeps the one it has.
        if let Some(labelled) = choices.clone().with_labels(labels) {
            *choices = labelled;
        }
    }
    after
}
