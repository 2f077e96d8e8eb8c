//! Converts an age to a day of birth. A member can enter an age for a new animal whose day of birth
//! is unknown.

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

/// Whether this day of birth implies an age above [`MAX_AGE_YEARS`], so that it is probably a
/// typing error.
pub(super) fn is_too_early(born: Date, today: Date) -> bool {
    today
        .checked_sub(MAX_AGE_YEARS.years())
        .is_ok_and(|earliest| born < earliest)
}

/// Returns the form of this request with its age converted to a day of birth.
///
/// Adds an error to the input of the age if the age is not valid, or if the form has a day of
/// birth, too.
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
    let result = read_birth_date(desk, birth_field);
    let birth_date = errors.take(AGE_INPUT, result).unwrap_or_default();

    let mut inputs: Vec<(String, String)> = form.fields().to_vec();
    inputs.retain(|(name, _)| *name != birth_input);
    inputs.push((birth_input, birth_date));
    inputs.into_iter().collect()
}

/// Returns the form with a mark that its day of birth is an estimate, if the store has a field for
/// this mark.
pub(super) fn form_with_estimate(form: &Form, fields: &FieldSet) -> Form {
    let mut inputs: Vec<(String, String)> = form.fields().to_vec();
    let mut all_fields = fields.all().iter();
    if let Some(mark) = all_fields.find(|field| field.is_birth_estimate()) {
        inputs.push((values::input_of(mark), "true".to_owned()));
    }
    inputs.into_iter().collect()
}

/// Converts the age in the form to a day of birth, or returns the error message.
fn read_birth_date(desk: &Desk<'_>, birth_field: &FieldDefinition) -> Result<String, &'static str> {
    let form = &desk.visit.form;
    if !form.get(&values::input_of(birth_field)).is_empty() {
        return Err(texts().born_or_age);
    }
    match birth_date(form.get(AGE_INPUT), desk.cell_reader()) {
        Some(date) if is_too_early(date, parts::today(desk)) => Err(texts().birth_too_early),
        Some(date) => Ok(date.to_string()),
        None => Err(texts().age_invalid),
    }
}

/// Converts an age, which is a number of years or a number with a unit, to a day of birth.
///
/// On 28 November 2026, `2` is 28 November 2024, and `8 months` is 28 March 2026.
fn birth_date(age: &str, reader: CellReader<'_>) -> Option<Date> {
    if let Ok(years) = age.parse::<u16>() {
        let [year_words, ..] = texts().ages_typed;
        let year_word = year_words.split(' ').next_back()?;
        return reader.birth_for_age(&format!("{years} {year_word}"));
    }
    reader.birth_for_age(age)
}
