//! Ages, which tables often have in place of a day of birth.

use jiff::{ToSpan, civil::Date};
use petstore_domain::store_area::whole_key;

use super::words::{AgeUnit, TableWords};

/// The largest accepted number of years, months or weeks. A text with a larger number is not an
/// age.
const MAX_AGE_NUMBER: i16 = 500;

/// Returns the day of birth of an animal that has this age on the day `today`. Returns `None` for a
/// text that is not an age. An age consists of one or more numbers, each with a unit.
///
/// On 28 November 2026, `ca. 3 Jahre` is 28 November 2023, and `1 year 8 months` is 28 March 2025.
pub(super) fn parse_age(text: &str, today: Date, words: &TableWords) -> Option<Date> {
    let key = whole_key(text);
    let mut birth = today;
    // The number whose unit comes next.
    let mut pending_number = None;
    let mut has_unit = false;
    for part in split_age(strip_estimate_words(&key, words)) {
        if let Ok(number) = part.parse::<i16>() {
            if pending_number.is_some() || number > MAX_AGE_NUMBER {
                return None;
            }
            pending_number = Some(number);
        } else if let Some(number) = pending_number.take() {
            birth = subtract_units(birth, number, find_unit(part, words)?)?;
            has_unit = true;
        } else if !words.age_fillers.iter().any(|filler| filler == part) {
            return None;
        }
    }
    let is_complete = has_unit && pending_number.is_none();
    if is_complete { Some(birth) } else { None }
}

/// Removes the leading words that mark an estimate: `ca. 3 jahre` becomes `3 jahre`.
pub(super) fn strip_estimate_words<'t>(key: &'t str, words: &TableWords) -> &'t str {
    let mut estimate = key.trim();
    while let Some(after_word) = words
        .estimates
        .iter()
        .find_map(|word| strip_estimate_word(estimate, word))
    {
        estimate = after_word;
    }
    estimate
}

/// Removes one leading word that marks an estimate. Returns `None` if the text does not begin with
/// this whole word.
fn strip_estimate_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let after_word = text.strip_prefix(word)?;
    if after_word.starts_with(char::is_alphabetic) {
        return None;
    }
    Some(after_word.trim_start_matches(['.', ' ', '\u{a0}']))
}

/// Splits an age into its numbers and words: `2y 3mo` becomes `2`, `y`, `3` and `mo`.
fn split_age(age: &str) -> Vec<&str> {
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

/// Returns the date that is this number of units before `day`. Returns `None` if it is before the
/// first date that the calendar can represent.
fn subtract_units(day: Date, number: i16, unit: AgeUnit) -> Option<Date> {
    let span = match unit {
        AgeUnit::Year => number.years(),
        AgeUnit::Month => number.months(),
        AgeUnit::Week => number.weeks(),
    };
    day.checked_sub(span).ok()
}
