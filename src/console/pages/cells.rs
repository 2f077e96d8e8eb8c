//! The cells of a spreadsheet: values of fields as people type them.

use crate::{
    console::{forms, markup},
    domain::store_area::{Currency, FieldDefinition, FieldKind, normalized},
    languages::{console_texts as texts, numbers},
};

/// Words for yes and for no, besides those that the pages show.
const YES: [&str; 12] =
    ["yes", "y", "true", "1", "x", "ja", "j", "wahr", "oui", "vrai", "si", "verdadero"];
const NO: [&str; 9] = ["no", "n", "false", "0", "nein", "falsch", "non", "faux", "falso"];

/// A cell as the input for this field has it. What is no value of the kind stays, and is invalid.
pub(super) fn as_input(
    field: &FieldDefinition,
    cell: &str,
    currency: Option<&Currency>,
) -> Result<String, String> {
    let typed = normalized(cell.trim());
    Ok(match field.kind {
        FieldKind::Boolean if YES.contains(&&*typed) => "true".to_owned(),
        FieldKind::Boolean if NO.contains(&&*typed) => "false".to_owned(),
        FieldKind::Integer | FieldKind::Decimal => forms::number_of(field, cell, currency)?,
        FieldKind::Date => date(cell)?,
        FieldKind::Choice if !cell.is_empty() => {
            let choices = field.choices.as_ref();
            let choice = choices.and_then(|choices| choices.meant(cell));
            let shown = || texts().no_choice(&markup::readable(cell, markup::SHORT));
            choice.ok_or_else(shown)?.clone()
        }
        _ => cell.to_owned(),
    })
}

/// A date in the form that the store has. Other text stays as it is, and is invalid.
///
/// # Errors
///
/// `03/04/2024` has two meanings in English, which the message names.
fn date(cell: &str) -> Result<String, String> {
    match numbers().read_date(cell) {
        Ok(date) => Ok(date.map_or_else(|| cell.to_owned(), |date| date.to_string())),
        Err(both) => {
            let [one, other] = both.map(|day| numbers().date(day));
            let [first, second] = both.map(|day| day.to_string());
            Err(texts().ambiguous(cell, [&one, &other], [&first, &second]))
        }
    }
}
