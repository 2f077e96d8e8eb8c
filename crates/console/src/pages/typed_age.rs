//! Converts an age to a day of birth. If the day of birth of a new animal is unknown, a member can
//! enter the age instead.

use jiff::{ToSpan, civil::Date};
use petstore_domain::store_area::{FieldDefinition, FieldSet};
use petstore_formats::cells::CellReader;

use super::{parts, values};
use crate::prelude::*;

/// The name of the input for the age.
pub(super) const AGE_INPUT: &str = "about";

/// The maximum age of an animal, in years. Parrots reach 80 years. Tortoises in human care can
/// exceed 100, and the few that are known to have exceeded 150 live in parks.
const MAX_AGE_YEARS: i16 = 150;

/// Whether a day of birth is probably a typing error, because the animal would be older than
/// [`MAX_AGE_YEARS`].
pub(super) fn is_too_early(born: Date, today: Date) -> bool {
    today
        .checked_sub(MAX_AGE_YEARS.years())
        .is_ok_and(|earliest| born < earliest)
}

/// Returns the form of this request with its age converted to a day of birth. Without an age,
/// returns an unchanged form.
///
/// Adds an error for the input of the age if the age is invalid, or if the form also has a day of
/// birth.
pub(super) fn form_with_birth(desk: &Desk<'_>, fields: &FieldSet, errors: &mut Errors) -> Form {
    let form = &desk.visit.form;
    let Some(birth_field) = values::find_birth_field(fields) else {
        return form.clone();
    };
    if form.get(AGE_INPUT).is_empty() {
        return form.clone();
    }

    let birth_input = values::input_name_of(birth_field);
    let result = read_birth_date(desk, birth_field);
    // With an invalid age, the day of birth is empty. The error keeps the form from being saved.
    let birth_date = errors.ok_or_add(AGE_INPUT, result).unwrap_or_default();

    let mut inputs: Vec<(String, String)> = form.fields().to_vec();
    inputs.retain(|(name, _)| *name != birth_input);
    inputs.push((birth_input, birth_date));
    inputs.into_iter().collect()
}

/// Returns the form with its day of birth marked as an estimate. Returns an unchanged form if the
/// store has no field for this mark.
pub(super) fn form_with_estimate(form: &Form, fields: &FieldSet) -> Form {
    let mut inputs: Vec<(String, String)> = form.fields().to_vec();
    if let Some(estimate_field) = values::find_birth_estimate_field(fields) {
        inputs.push((values::input_name_of(estimate_field), "true".to_owned()));
    }
    inputs.into_iter().collect()
}

/// Converts the age in the form to a day of birth, or returns the error message.
fn read_birth_date(desk: &Desk<'_>, birth_field: &FieldDefinition) -> Result<String, &'static str> {
    let form = &desk.visit.form;
    if !form.get(&values::input_name_of(birth_field)).is_empty() {
        return Err(texts().born_or_age);
    }
    match parse_age(form.get(AGE_INPUT), desk.cell_reader()) {
        Some(date) if is_too_early(date, parts::today(desk)) => Err(texts().birth_too_early),
        Some(date) => Ok(date.to_string()),
        None => Err(texts().age_invalid),
    }
}

/// Parses an age, and converts it to a day of birth. Returns `None` if the text is not an age.
///
/// An age is a number with a unit, or a number of years without one. On 28 November 2026, `2` is
/// 28 November 2024, and `8 months` is 28 March 2026.
fn parse_age(age: &str, reader: CellReader<'_>) -> Option<Date> {
    if let Ok(years) = age.parse::<u16>() {
        // The first entry lists the words for years, separated by spaces. Any of them will do.
        let [year_words, ..] = texts().ages_typed;
        let year_word = year_words.split(' ').next_back()?;
        return reader.birth_for_age(&format!("{years} {year_word}"));
    }
    reader.birth_for_age(age)
}
