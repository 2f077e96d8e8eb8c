//! An age that somebody types for a new animal in place of its day of birth.

use jiff::{ToSpan, civil::Date};
use petstore_domain::store_area::{FieldDefinition, FieldSet, search_key};

use super::{parts, values};
use crate::prelude::*;

/// The name of the input for the age.
pub(super) const AGE_INPUT: &str = "about";

/// The largest number of years, months or weeks in an age.
const MAX_AGE_NUMBER: i16 = 500;

/// Returns the form of this request with a day of birth in place of an age.
///
/// An age that is not valid becomes an error of its input, and so does an age next to a day of birth.
pub(super) fn form_with_birth(desk: &Desk<'_>, fields: &FieldSet, errors: &mut Errors) -> Form {
    let form = &desk.visit.form;
    let age = form.get(AGE_INPUT);
    let birth_field = fields.all().iter().find(|field| field.is_birth());
    let Some(birth_field) = birth_field else {
        return form.clone();
    };
    if age.is_empty() {
        return form.clone();
    }

    let birth_input = values::input_of(birth_field);
    let result = read_birth_date(form, birth_field, parts::today(desk));
    let birth_date = errors.take(AGE_INPUT, result).unwrap_or_default();

    let mut inputs: Vec<(String, String)> = form.fields().to_vec();
    inputs.retain(|(name, _)| *name != birth_input);
    inputs.push((birth_input, birth_date));
    inputs.into_iter().collect()
}

/// Reads the age in a form as a day of birth. Returns the message for people if the form has no valid age.
fn read_birth_date(
    form: &Form,
    birth_field: &FieldDefinition,
    today: Date,
) -> Result<String, &'static str> {
    if !form.get(&values::input_of(birth_field)).is_empty() {
        return Err(texts().born_or_age);
    }
    match birth_date(form.get(AGE_INPUT), today) {
        Some(date) => Ok(date.to_string()),
        None => Err(texts().age_invalid),
    }
}

/// Returns the day that lies as far before `today` as an age says.
///
/// An age is a number of years, or a number with a unit in the language of the member. On 28 November 2026, `2` is
/// 28 November 2024, and `8 months` is 28 March 2026.
fn birth_date(age: &str, today: Date) -> Option<Date> {
    let unit_start = age
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(age.len());
    let (number, unit) = age.split_at(unit_start);
    let number: i16 = number.parse().ok()?;
    if number > MAX_AGE_NUMBER {
        return None;
    }

    let [year_words, month_words, week_words] = texts().ages_typed;
    let unit = search_key(unit.trim());
    let span = if unit.is_empty() || has_word(year_words, &unit) {
        number.years()
    } else if has_word(month_words, &unit) {
        number.months()
    } else if has_word(week_words, &unit) {
        number.weeks()
    } else {
        return None;
    };
    today.checked_sub(span).ok()
}

/// Whether a list of words, separated by spaces, has this word.
fn has_word(words: &str, normalized_word: &str) -> bool {
    words
        .split(' ')
        .any(|word| search_key(word) == normalized_word)
}
