//! The cells of a spreadsheet: values of fields as people type them.

use petstore_domain::store_area::{Choices, Currency, FieldDefinition, FieldKind, search_key};
use petstore_languages::{console_texts as texts, numbers};

use crate::{forms, markup};

/// Words for yes, in addition to the word that the pages show.
const YES_WORDS: [&str; 12] = [
    "yes",
    "y",
    "true",
    "1",
    "x",
    "ja",
    "j",
    "wahr",
    "oui",
    "vrai",
    "si",
    "verdadero",
];

/// Words for no, in addition to the word that the pages show.
const NO_WORDS: [&str; 9] = [
    "no", "n", "false", "0", "nein", "falsch", "non", "faux", "falso",
];

/// The number of choices that a message names.
const MAX_CHOICES_IN_MESSAGE: usize = 12;

/// Returns the text in a cell as the input of the field has it.
///
/// `Ja` in a field for yes or no becomes `true`, and the label of a choice becomes its value. A text that is not a value
/// of the kind stays as it is: it is invalid, and the check of all values reports it.
///
/// # Errors
///
/// The message about a choice that the field does not have, or about a number or date with two meanings.
pub(super) fn normalize(
    field: &FieldDefinition,
    cell: &str,
    currency: Option<&Currency>,
) -> Result<String, String> {
    match field.kind {
        FieldKind::Boolean => Ok(normalize_boolean(cell)),
        FieldKind::Integer | FieldKind::Decimal => forms::parse_field_number(field, cell, currency),
        FieldKind::Date => normalize_date(cell),
        FieldKind::Choice if !cell.is_empty() => find_choice(field, cell),
        FieldKind::Choice | FieldKind::Text | FieldKind::LongText => Ok(cell.to_owned()),
    }
}

/// Returns `true` or `false` for a word for yes or no, and any other text as it is.
fn normalize_boolean(cell: &str) -> String {
    let word = search_key(cell.trim());
    if YES_WORDS.contains(&&*word) {
        "true".to_owned()
    } else if NO_WORDS.contains(&&*word) {
        "false".to_owned()
    } else {
        cell.to_owned()
    }
}

/// Returns a date in the form that the store has, such as `2024-03-31`, and any other text as it is.
///
/// # Errors
///
/// `03/04/2024` has two meanings in English, which the message names.
fn normalize_date(cell: &str) -> Result<String, String> {
    match numbers().parse_date(cell) {
        Ok(Some(date)) => Ok(date.to_string()),
        Ok(None) => Ok(cell.to_owned()),
        Err([first_date, second_date]) => {
            let meanings = [numbers().date(first_date), numbers().date(second_date)];
            let spellings = [first_date.to_string(), second_date.to_string()];
            Err(texts().ambiguous(
                cell,
                [&meanings[0], &meanings[1]],
                [&spellings[0], &spellings[1]],
            ))
        }
    }
}

/// Returns the choice with this value or label.
///
/// # Errors
///
/// The message that the field has no such choice.
fn find_choice(field: &FieldDefinition, cell: &str) -> Result<String, String> {
    let choice = match &field.choices {
        Some(choices) => choices.find_by_value_or_label(cell),
        None => None,
    };
    match choice {
        Some(choice) => Ok(choice.clone()),
        None => Err(no_choice_message(field, cell)),
    }
}

/// Returns the message that a cell is not one of the choices. It names the first choices as people read them.
fn no_choice_message(field: &FieldDefinition, cell: &str) -> String {
    let choices = field
        .choices
        .as_ref()
        .map(Choices::values)
        .unwrap_or_default();
    let mut labels = Vec::new();
    for choice in choices.iter().take(MAX_CHOICES_IN_MESSAGE) {
        labels.push(markup::readable(
            field.display_text(choice),
            markup::SHORT_LENGTH,
        ));
    }
    if choices.len() > MAX_CHOICES_IN_MESSAGE {
        labels.push("…".to_owned());
    }
    texts().no_choice(
        &markup::readable(cell, markup::SHORT_LENGTH),
        &labels.join(", "),
    )
}
