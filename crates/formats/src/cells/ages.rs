//! Ages, as tables have them in place of a day of birth.

use jiff::{ToSpan, civil::Date};
use petstore_domain::store_area::whole_key;

use super::words::{AgeUnit, TableWords};

/// The largest number of years, months or weeks in an age.
const MAX_AGE_NUMBER: i16 = 500;

/// Returns the day of birth for an age on the day `today`. An age is a number with a unit, or several of them.
///
/// On 28 November 2026, `ca. 3 Jahre` is 28 November 2023, and `1 year 8 months` is 28 March 2025.
pub(super) fn parse_age(text: &str, today: Date, words: &TableWords) -> Option<Date> {
    let key = whole_key(text);
    let mut birth = today;
    let mut number = None;
    let mut has_unit = false;
    for part in age_parts(without_estimate(&key, words)) {
        if let Ok(digits) = part.parse::<i16>() {
            if number.is_some() || digits > MAX_AGE_NUMBER {
                return None;
            }
            number = Some(digits);
            continue;
        }
        if let Some(count) = number {
            birth = subtract(birth, count, find_unit(part, words)?)?;
            number = None;
            has_unit = true;
        } else if !words.age_fillers.iter().any(|filler| filler == part) {
            return None;
        }
    }
    let is_complete = has_unit && number.is_none();
    is_complete.then_some(birth)
}

/// Returns the text after the words that say that it is an estimate: `3 jahre` of `ca. 3 jahre`.
pub(super) fn without_estimate<'t>(key: &'t str, words: &TableWords) -> &'t str {
    let mut estimate = key.trim();
    while let Some(after_word) = words
        .estimates
        .iter()
        .find_map(|word| after_estimate_word(estimate, word))
    {
        estimate = after_word;
    }
    estimate
}

/// Returns the text after a word for an estimate, with which it begins: `3 jahre` of `ca. 3 jahre`.
fn after_estimate_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let after_word = text.strip_prefix(word)?;
    if after_word.starts_with(char::is_alphabetic) {
        return None;
    }
    Some(after_word.trim_start_matches(['.', ' ', '\u{a0}']))
}

/// Returns the numbers and words of an age: `2`, `y`, `3` and `mo` of `2y 3mo`.
fn age_parts(age: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for word in age.split(|character: char| !character.is_alphanumeric()) {
        let unit_start = word
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(word.len());
        let (digits, unit) = word.split_at(unit_start);
        for part in [digits, unit] {
            if !part.is_empty() {
                parts.push(part);
            }
        }
    }
    parts
}

fn find_unit(word: &str, words: &TableWords) -> Option<AgeUnit> {
    let (_, unit) = words.age_units.iter().find(|(name, _)| name == word)?;
    Some(*unit)
}

fn subtract(day: Date, number: i16, unit: AgeUnit) -> Option<Date> {
    let span = match unit {
        AgeUnit::Year => number.years(),
        AgeUnit::Month => number.months(),
        AgeUnit::Week => number.weeks(),
    };
    day.checked_sub(span).ok()
}
