//! The cells of a spreadsheet: values of fields as people type them.

use petstore_domain::store_area::{Choices, Currency, FieldDefinition, FieldKind, normalized};
use petstore_languages::{console_texts as texts, numbers};

use crate::{forms, markup};

/// Words for yes and for no, besides those that the pages show.
const YES: [&str; 12] = [
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
const NO: [&str; 9] = [
    "no", "n", "false", "0", "nein", "falsch", "non", "faux", "falso",
];

/// How many choices a message names.
const SHOWN_CHOICES: usize = 12;

/// A cell as the input for this field has it. What is no value of the kind stays, and is invalid.
pub(super) fn normalize(
    field: &FieldDefinition,
    cell: &str,
    currency: Option<&Currency>,
) -> Result<String, String> {
    let typed = normalized(cell.trim());
    Ok(match field.kind {
        FieldKind::Boolean if YES.contains(&&*typed) => "true".to_owned(),
        FieldKind::Boolean if NO.contains(&&*typed) => "false".to_owned(),
        FieldKind::Integer | FieldKind::Decimal => {
            forms::parse_field_number(field, cell, currency)?
        }
        FieldKind::Date => date(cell)?,
        FieldKind::Choice if !cell.is_empty() => {
            let choices = field.choices.as_ref();
            let choice = choices.and_then(|choices| choices.meant(cell));
            choice.ok_or_else(|| no_choice(field, cell))?.clone()
        }
        _ => cell.to_owned(),
    })
}

/// That a cell is none of the choices, and the first of them as people read them.
fn no_choice(field: &FieldDefinition, cell: &str) -> String {
    let all = field.choices.as_ref().map(Choices::all).unwrap_or_default();
    let shown = |text: &str| markup::readable(text, markup::SHORT);
    let mut choices: Vec<_> = all
        .iter()
        .take(SHOWN_CHOICES)
        .map(|choice| shown(field.shown(choice)))
        .collect();
    choices.extend((all.len() > SHOWN_CHOICES).then(|| "…".to_owned()));
    texts().no_choice(&shown(cell), &choices.join(", "))
}

/// A date in the form that the store has. Other text stays as it is, and is invalid.
///
/// # Errors
///
/// `03/04/2024` has two meanings in English, which the message names.
fn date(cell: &str) -> Result<String, String> {
    match numbers().parse_date(cell) {
        Ok(date) => Ok(date.map_or_else(|| cell.to_owned(), |date| date.to_string())),
        Err(both) => {
            let [one, other] = both.map(|day| numbers().date(day));
            let [first, second] = both.map(|day| day.to_string());
            Err(texts().ambiguous(cell, [&one, &other], [&first, &second]))
        }
    }
}
