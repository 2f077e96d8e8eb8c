//! The fields of a shelter that a new database does not have.

use super::{Choices, FieldDefinition, FieldKind, FieldLabels, FieldName, FieldSet, Label};
use crate::text::comparison_key;

/// The name of the field with the day on which an animal came.
pub const INTAKE: &str = "intake";

/// The name of the field with the place of an animal, such as its kennel.
pub const PLACE: &str = "place";

/// A field of a shelter, without its label.
struct ShelterField {
    name: &'static str,
    kind: FieldKind,
    choices: &'static [&'static str],
    is_public: bool,
    position: i64,
}

impl ShelterField {
    /// Returns a public field that is yes, no, or not known.
    const fn yes_or_no(name: &'static str, position: i64) -> Self {
        Self {
            name,
            kind: FieldKind::Boolean,
            choices: &[],
            is_public: true,
            position,
        }
    }

    /// Returns the field with this label. Returns `None` if the field or the label is not valid.
    fn define(&self, label: &str) -> Option<FieldDefinition> {
        let choices: Vec<String> = self.choices.iter().map(|&choice| choice.into()).collect();
        let choices = if choices.is_empty() {
            None
        } else {
            Some(Choices::new(choices)?)
        };
        Some(FieldDefinition {
            name: FieldName::new(self.name)?,
            label: Label::new(label.to_owned())?,
            kind: self.kind,
            choices,
            is_public: self.is_public,
            is_unique: false,
            position: self.position,
            version: 0,
        })
    }
}

/// The fields of a shelter. Their positions are between the positions of a new database: what people ask comes before the
/// description, and what only the staff need comes last.
const SHELTER_FIELDS: [ShelterField; 8] = [
    ShelterField::yes_or_no("good_with_children", 61),
    ShelterField::yes_or_no("good_with_dogs", 62),
    ShelterField::yes_or_no("good_with_cats", 63),
    ShelterField::yes_or_no("neutered", 64),
    ShelterField::yes_or_no("house_trained", 65),
    ShelterField {
        name: INTAKE,
        kind: FieldKind::Date,
        choices: &[],
        is_public: true,
        position: 66,
    },
    ShelterField {
        name: "intake_kind",
        kind: FieldKind::Choice,
        choices: &[
            "Found",
            "Surrendered",
            "Returned",
            "Transferred",
            "Born here",
        ],
        is_public: false,
        position: 91,
    },
    ShelterField {
        name: PLACE,
        kind: FieldKind::Text,
        choices: &[],
        is_public: false,
        position: 92,
    },
];

/// Returns the fields of a shelter that a store does not have, with these labels and the version 0.
///
/// A field whose label another field has is left out: the store has its own field for this.
pub fn missing_shelter_fields(fields: &FieldSet, labels: &[FieldLabels]) -> Vec<FieldDefinition> {
    let mut missing_fields = Vec::new();
    for shelter_field in &SHELTER_FIELDS {
        if fields.find(shelter_field.name).is_some() {
            continue;
        }
        let labels = labels
            .iter()
            .find(|labels| labels.name == shelter_field.name);
        let Some(labels) = labels else { continue };
        if !has_label(fields, labels.label)
            && let Some(mut field) = shelter_field.define(labels.label)
        {
            field.choices = field
                .choices
                .and_then(|choices| choices.with_labels(labels.labels_of_choices()));
            missing_fields.push(field);
        }
    }
    missing_fields
}

/// Whether a field has this label, in any case.
fn has_label(fields: &FieldSet, label: &str) -> bool {
    let label_key = comparison_key(label);
    fields
        .all()
        .iter()
        .any(|field| comparison_key(field.label.as_str()) == label_key)
}
