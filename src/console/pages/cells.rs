//! The cells of a spreadsheet: values of fields as people type them.

use jiff::civil::Date;

use crate::{
    console::{forms, markup},
    domain::store_area::{Currency, FieldDefinition, FieldKind, normalized},
    languages::{console_texts as texts, window_texts},
    text,
};

/// Words for yes and for no, besides those that the pages show.
const YES: [&str; 12] =
    ["yes", "y", "true", "1", "x", "ja", "j", "wahr", "oui", "vrai", "si", "verdadero"];
const NO: [&str; 9] = ["no", "n", "false", "0", "nein", "falsch", "non", "faux", "falso"];

const MONTHS: &str =
    "january february march april may june july august september october november december";

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
        FieldKind::Integer => cell.split_whitespace().collect(),
        FieldKind::Decimal => forms::amount(without_currency(cell, currency))?,
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

/// An amount without the currency of the store. Another one stays, and is invalid.
fn without_currency<'c>(cell: &'c str, currency: Option<&Currency>) -> &'c str {
    let code = currency.map(Currency::as_str);
    let is_sign = |sign: char| match sign {
        '€' => code.is_none_or(|code| code == "EUR"),
        '£' => code.is_none_or(|code| code == "GBP"),
        '$' => code.is_none_or(|code| code.ends_with('D')),
        '¥' => code.is_none_or(|code| matches!(code, "JPY" | "CNY")),
        _ => false,
    };
    let amount = cell.trim_matches(is_sign).trim();
    let code = code.unwrap_or_default();
    let amount = amount.strip_prefix(code).unwrap_or(amount);
    let amount = amount.strip_suffix(code).unwrap_or(amount).trim();
    if amount.is_empty() { cell } else { amount }
}

/// A date in the form that the store has. Points are between day, month and year. What is no date
/// stays, and is invalid.
///
/// # Errors
///
/// `03/04/2024` has two meanings, which the message names.
fn date(cell: &str) -> Result<String, String> {
    let lower = text::compared(cell);
    let parts = lower.split(|between: char| between.is_whitespace() || ".,/-".contains(between));
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let [first, second, third] = *parts else { return Ok(cell.to_owned()) };
    let named = |part: &str| {
        let is_it = |name: &&str| *name == part || name[..3] == *part;
        (1_i8..).zip(MONTHS.split(' ')).find(|(_, name)| is_it(name)).map(|(month, _)| month)
    };
    let day = |year: &str, month: &str, day: &str| {
        let month = named(month).or_else(|| month.parse().ok())?;
        let year = (year.len() == 4).then(|| year.parse().ok())??;
        Date::new(year, month, day.parse().ok()?).ok()
    };
    let (day_first, month_first) = (day(third, second, first), day(third, first, second));
    match (day(first, second, third).or(day_first), month_first) {
        (Some(one), Some(other)) if one != other && !lower.contains('.') => {
            let spellings = [one, other].map(|day| day.to_string());
            let meanings = [one, other].map(|day| window_texts().date(day));
            Err(texts().ambiguous(
                cell,
                meanings.each_ref().map(|of| &**of),
                spellings.each_ref().map(|of| &**of),
            ))
        }
        (Some(date), _) => Ok(date.to_string()),
        (None, Some(date)) if !lower.contains('.') || named(first).is_some() => {
            Ok(date.to_string())
        }
        _ => Ok(cell.to_owned()),
    }
}
