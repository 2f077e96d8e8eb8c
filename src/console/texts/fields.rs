//! The texts about fields and their values.

use serde_json::Value;

use crate::domain::store_area::{FieldDefinition, FieldKind};

pub(crate) const FIELDS: &str = "Fields";
pub(crate) const FIELDS_HINT: &str =
    "Fields describe your animals: in the forms, on their pages, and for programs.";
pub(crate) const MORE_FIELDS: &str = "More fields";
pub(crate) const YES: &str = "Yes";
pub(crate) const NO: &str = "No";
pub(crate) const ANY_VALUE: &str = "Any";
pub(crate) const NO_VALUE: &str = "–";
pub(crate) const FIELD_LABEL: &str = "Label";
pub(crate) const FIELD_LABEL_HINT: &str = "What people read, such as Breed.";
pub(crate) const FIELD_NAME: &str = "Name for programs";
pub(crate) const FIELD_NAME_HINT: &str = "Lower-case letters, digits and underscores, such as coat_length. If it is empty, it is made from the label. It cannot change.";
pub(crate) const FIELD_NAME_INVALID: &str = "Enter a name for programs: 1 to 32 lower-case letters, digits and underscores, the first of them a letter.";
pub(crate) const FIELD_NAME_TAKEN: &str =
    "Another field has this name for programs. Enter a different one.";
pub(crate) const FIELD_KIND: &str = "Type";
pub(crate) const CHOOSE_KIND: &str = "Choose a type";
pub(crate) const FIELD_LABEL_INVALID: &str = "Enter a label of 1 to 255 characters.";
pub(crate) const FIELD_KIND_MISSING: &str = "Choose a type.";
pub(crate) const FIELD_CHOICES: &str = "Choices";
pub(crate) const MORE_CHOICES: &str = "More choices";
pub(crate) const REMOVE_CHOICE: &str = "Remove";
pub(crate) const FIELD_LABELS_HINT: &str = "Change what people read to rename a choice: no animal changes. Programs go on using the first name.";
pub(crate) const FIELD_LABELS_INVALID: &str = "Each choice needs a name of 1 to 100 characters that no other choice has or had. Capital and small letters \
     count as the same.";
pub(crate) const FIELD_CHOICES_HINT: &str = "Only for the type Choice from a list: one on each line, 1 to 100, each with at most 64 characters.";
pub(crate) const FIELD_CHOICES_INVALID: &str = "Enter 1 to 100 different choices, one on each line, each with at most 64 characters. Capital and small letters count as the same.";
pub(crate) const FIELD_POSITION: &str = "Position";
pub(crate) const FIELD_POSITION_HINT: &str = "From 0 to 10,000. Fields with lower positions come first. If it is empty, the field is the last one.";
pub(crate) const FIELD_POSITION_INVALID: &str = "Enter a position from 0 to 10,000.";
pub(crate) const FIELD_PUBLIC: &str = "Show on the web site";
pub(crate) const FIELD_PUBLIC_HINT: &str = "Everybody can see the values.";
pub(crate) const FIELD_UNIQUE: &str = "Unique";
pub(crate) const FIELD_UNIQUE_HINT: &str =
    "No two animals have the same value, as with a microchip. Only for text and whole numbers.";
pub(crate) const ADD_FIELD: &str = "Add a field";
pub(crate) const DELETE_FIELD: &str = "Delete field";
pub(crate) const FIELD_DELETED_EFFECT: &str =
    "It disappears from all forms and pages. This is possible only while no animal has a value.";
pub(crate) const NO_FIELD: &str = "There is no such field.";
pub(crate) const FIELD_IN_USE: &str = "Animals have values of this field. It cannot be deleted, and its type and Unique cannot change, until no \
     animal has a value, withdrawn animals included.";
pub(crate) const TOO_MANY_FIELDS: &str =
    "There are 50 fields already. Delete one before you add another.";
pub(crate) const FIELD_CHANGED: &str =
    "Somebody else changed this field at the same time. Check what it is now, and save again.";

/// The effect on the animals with a choice that is taken off. `None` if they were not counted, and
/// more than `most` were not.
pub(crate) fn choice_in_use(count: usize, most: usize, shown: &str) -> String {
    let animals = match count {
        1 => "1 animal has".to_owned(),
        _ if count > most => "More than 1,000 animals have".to_owned(),
        _ => format!("{count} animals have"),
    };
    format!(
        "{animals} “{shown}”. What animals have stays and is shown. No other animal can get it. To rename it, change what people read."
    )
}

/// The values that become visible with a field. `has_more` if not all animals were looked at.
pub(crate) fn becomes_public(count: usize, has_more: bool) -> String {
    let animals = match count {
        _ if has_more => "Many animals can have".to_owned(),
        1 => "1 animal has".to_owned(),
        count => format!("{count} animals have"),
    };
    format!("{animals} a value. Everybody will see it.")
}

/// The name of a kind, and what to type for a value of it.
pub(in crate::console) fn kind(kind: FieldKind) -> (&'static str, &'static str) {
    match kind {
        FieldKind::Text => ("Text", "Enter at most 255 characters."),
        FieldKind::LongText => ("Long text", "Enter at most 8,000 characters."),
        FieldKind::Integer => ("Whole number", "Enter a whole number, such as 4."),
        FieldKind::Decimal => (
            "Number with decimals",
            "Enter a number such as 249.00, with at most 12 digits before the point and 4 after it.",
        ),
        FieldKind::Date => ("Date", "Enter a date, such as 2024-05-03."),
        FieldKind::Boolean => ("Yes or no", "Choose yes or no."),
        FieldKind::Choice => ("Choice from a list", "Choose one from the list."),
    }
}

/// A value as the log has it.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => YES.to_owned(),
        Value::Bool(false) => NO.to_owned(),
        other => other.to_string(),
    }
}

/// Another animal has the value of a unique field: what it is called, and the field.
pub(crate) fn value_taken(label: &str, other: &str) -> String {
    format!("{label}: {other} already has this value, and no two animals may have the same one.")
}

pub(crate) const OTHER_NEW: &str = "Another of these animals";

/// The page of this animal.
pub(crate) fn show_animal(other: &str) -> String {
    format!("Show {other}")
}

/// Several animals have one value of the unique field with this name; they follow.
pub(crate) fn shared_value(name: &str) -> String {
    let name = super::in_words(name);
    format!("{name}: these animals have the same value, which must be unique. Change all but one:")
}

/// Someone deleted the field with this name while a value was typed.
pub(crate) fn field_removed(name: &str, typed: &str) -> String {
    let name = super::in_words(name);
    format!(
        "{name} was removed. What you typed: {typed}. It is not saved when you send the form again."
    )
}

/// Someone took a choice off a field while it was chosen.
pub(crate) fn choice_removed(label: &str, chosen: &str) -> String {
    format!("{label}: {chosen} is not a choice any more. Choose another one, or none.")
}

/// The problem with a value.
pub(crate) fn value_invalid(label: &str, field: &FieldDefinition) -> String {
    let enter = match kind(field.kind) {
        _ if field.is_price() => super::PRICE_INVALID,
        _ if field.is_birth() => "Enter a date such as 2024-05-03, not in the future.",
        (_, enter) => enter,
    };
    format!("{label}: {enter}")
}
