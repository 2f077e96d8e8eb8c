//! The notes of a check: facts that an operator should know, although they are not problems. Every
//! note is about equal values or labels that an earlier release or a migration left.

use std::collections::{HashMap, hash_map::Entry};

use petstore_domain::{
    store_area::{Category, Choices, FieldSet, UniqueValueOwner},
    text::comparison_key,
};

/// The maximum number of distinct category labels that a check compares. It limits the memory of
/// the check.
const MAX_COMPARED_LABELS: usize = 10_000;

/// The labels of the categories so far, to find labels that are equal regardless of upper and lower
/// case.
#[derive(Default)]
pub(super) struct CategoryLabels {
    /// The first category with each label: at most [`MAX_COMPARED_LABELS`].
    ids: HashMap<String, i64>,
}

impl CategoryLabels {
    /// Adds a category. Returns a note if an earlier one has the same label. Ignores the category
    /// if there are already [`MAX_COMPARED_LABELS`].
    pub(super) fn add(&mut self, category: &Category) -> Option<String> {
        if self.ids.len() >= MAX_COMPARED_LABELS {
            return None;
        }
        match self.ids.entry(comparison_key(category.label.as_str())) {
            Entry::Vacant(entry) => {
                entry.insert(category.id);
                None
            }
            Entry::Occupied(entry) => Some(format!(
                "categories {} and {} have the same label {:?}, regardless of upper and lower \
                 case; rename one",
                entry.get(),
                category.id,
                category.label.as_str()
            )),
        }
    }
}

/// Returns a note for each value of a unique field that several animals share. A migration kept
/// such duplicates. Owners of the same value must be adjacent in `owners`.
pub(super) fn notes_on_shared_values(owners: &[UniqueValueOwner]) -> Vec<String> {
    let mut notes = Vec::new();
    for owners_of_value in owners.chunk_by(|owner, next_owner| owner.key == next_owner.key) {
        let Some(first_owner) = owners_of_value.first() else {
            continue;
        };
        let ids: Vec<_> = owners_of_value
            .iter()
            .map(|owner| owner.pet.to_string())
            .collect();
        notes.push(format!(
            "animals {} have the same {}, which is unique; change the value of all but one",
            ids.join(" and "),
            first_owner.key.field
        ));
    }
    notes
}

/// Returns a note for each pair of equal choices of a field. Choices are compared by their values
/// and labels, regardless of upper and lower case. An earlier release accepted equal choices.
pub(super) fn notes_on_choices(fields: &FieldSet) -> Vec<String> {
    let mut notes = Vec::new();
    for field in fields.all() {
        for [text, duplicate] in field.choices.iter().flat_map(Choices::duplicates) {
            notes.push(format!(
                "the field {} has the choices {text:?} and {duplicate:?}, which are equal \
                 regardless of upper and lower case; rename or remove one",
                field.name.as_str()
            ));
        }
    }
    notes
}

/// Returns a note for each field whose label equals the label of an earlier field, regardless of
/// upper and lower case. An earlier release accepted such labels.
pub(super) fn notes_on_field_labels(fields: &FieldSet) -> Vec<String> {
    let mut names_by_label = HashMap::new();
    let mut notes = Vec::new();
    for field in fields.all() {
        let name = field.name.as_str();
        match names_by_label.entry(comparison_key(field.label.as_str())) {
            Entry::Vacant(entry) => {
                entry.insert(name);
            }
            Entry::Occupied(entry) => notes.push(format!(
                "the fields {} and {name} have the same label {:?}, regardless of upper and lower \
                 case; rename one",
                entry.get(),
                field.label.as_str()
            )),
        }
    }
    notes
}
