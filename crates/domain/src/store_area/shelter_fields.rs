//! Additional fields for shelters, which a new database does not have.

use super::{Choices, FieldDefinition, FieldKind, FieldLabels, FieldName, FieldSet, Label};

/// The name of the field for the date of an animal's intake.
pub const INTAKE: &str = "intake";

/// The name of the field for the kind of an animal's intake.
pub const INTAKE_KIND: &str = "intake_kind";

/// The choice of [`INTAKE_KIND`] for an animal that an adopter has returned.
pub const RETURNED: &str = "Returned";

/// The name of the field for an animal's location, such as its kennel.
pub const PLACE: &str = "place";

/// The definition of a shelter field, without its label, which depends on the language.
struct ShelterField {
    name: &'static str,
    kind: FieldKind,
    choices: &'static [&'static str],
    is_public: bool,
    position: i64,
}

impl ShelterField {
    /// Returns a public boolean field, which is yes, no, or unknown.
    const fn yes_or_no(name: &'static str, position: i64) -> Self {
        Self {
            name,
            kind: FieldKind::Boolean,
            choices: &[],
            is_public: true,
            position,
        }
    }

    /// Creates the field with these labels; `None` if the definition or a label is invalid.
    fn define(&self, labels: &FieldLabels) -> Option<FieldDefinition> {
        let values: Vec<String> = self.choices.iter().map(|&choice| choice.into()).collect();
        let choices = if values.is_empty() {
            None
        } else {
            Some(Choices::new(values)?.with_labels(labels.choice_labels())?)
        };
        Some(FieldDefinition {
            name: FieldName::new(self.name)?,
            label: Label::new(labels.label.to_owned())?,
            kind: self.kind,
            choices,
            is_public: self.is_public,
            is_unique: false,
            position: self.position,
            version: 0,
        })
    }
}

/// The fields for shelters. Their positions are between the positions of the fields of a new
/// database: fields for prospective owners come before the description, and fields for the staff
/// come last.
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
        name: INTAKE_KIND,
        kind: FieldKind::Choice,
        choices: &["Found", "Surrendered", RETURNED, "Transferred", "Born here"],
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

/// Returns the shelter fields that a store does not have yet, with these labels and the version 0.
///
/// A field is omitted if another field already has its label: the store then has its own field for
/// this purpose.
pub fn missing_shelter_fields(fields: &FieldSet, labels: &[FieldLabels]) -> Vec<FieldDefinition> {
    let mut missing_fields = Vec::new();
    for shelter_field in &SHELTER_FIELDS {
        let field_labels = labels
            .iter()
            .find(|candidate| candidate.name == shelter_field.name);
        let Some(field_labels) = field_labels else {
            continue;
        };
        let Some(new_field) = shelter_field.define(field_labels) else {
            continue;
        };
        let same_label_field =
            fields.find_other_with_label(&new_field.name, new_field.label.as_str());
        if fields.find(shelter_field.name).is_none() && same_label_field.is_none() {
            missing_fields.push(new_field);
        }
    }
    missing_fields
}
