//! Kinds of fields: the values of each, the rule for them, and their keys.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::fmt;

use jiff::civil::Date;

use super::{Decimal, name_key::identity_key, whole_key};
use crate::{
    text::{parse_integer, readable::is_ignored_by_fonts},
    words::words,
};

/// The maximum length of the key of a unique value, in bytes. A longer key is replaced by its hash, because an index of
/// PostgreSQL has no room for it.
pub(super) const MAX_KEY_BYTES: usize = 512;

words! {
    /// The kind of the values of a field.
    pub enum FieldKind {
        /// 1 to 255 characters.
        Text = "text",
        /// 1 to 8,000 characters.
        LongText = "longText",
        /// An integer from -(2^53 - 1) to 2^53 - 1, which every JSON reader reads exactly.
        Integer = "integer",
        /// A number as text, which stays as it was written.
        Decimal = "decimal",
        /// A date of the form YYYY-MM-DD.
        Date = "date",
        Boolean = "boolean",
        /// One of the choices of the field.
        Choice = "choice",
    }
}

/// A value of a field. Which texts and numbers are valid depends on the kind of its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    Text(String),
    Integer(i64),
    Boolean(bool),
}

impl fmt::Display for FieldValue {
    /// Writes the value as in JSON, without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Boolean(value) => write!(f, "{value}"),
        }
    }
}

impl FieldKind {
    /// Whether a value in a store is valid. It may have been one of the choices before.
    pub(super) fn allows(self, value: &FieldValue) -> bool {
        match (self, value) {
            (Self::Text, FieldValue::Text(text)) => is_text(text, 255),
            (Self::LongText, FieldValue::Text(text)) => is_text(text, 8_000),
            (Self::Integer, FieldValue::Integer(number)) => number.unsigned_abs() < 1 << 53,
            (Self::Decimal, FieldValue::Text(text)) => Decimal::new(text).is_some(),
            (Self::Date, FieldValue::Text(text)) => is_date(text),
            (Self::Boolean, FieldValue::Boolean(_)) => true,
            (Self::Choice, FieldValue::Text(text)) => is_text(text, 64),
            _ => false,
        }
    }

    /// Returns the rule for a value, as the rest of a sentence: "must be …".
    pub(super) const fn rule(self) -> &'static str {
        match self {
            Self::Text => "a string of 1 to 255 characters, one of them visible, without U+0000",
            Self::LongText => {
                "a string of 1 to 8000 characters, one of them visible, without U+0000"
            }
            Self::Integer => "an integer from -9007199254740991 to 9007199254740991",
            Self::Decimal => {
                "a string such as \"249.00\", with at most 12 digits before the point and 4 after it"
            }
            Self::Date => "a date as a string of the form YYYY-MM-DD",
            Self::Boolean => "true or false",
            Self::Choice => "one of the choices",
        }
    }

    /// Parses a text that is a value of JSON without quotes: `3` of an integer, `true` of a boolean. `None` if the text
    /// is not an integer or not a boolean. See [`FieldKind::allows`] for the other rules.
    pub(super) fn parse(self, text: &str) -> Option<FieldValue> {
        match self {
            Self::Integer => parse_integer(text).map(FieldValue::Integer),
            Self::Boolean => text.parse().ok().map(FieldValue::Boolean),
            _ => Some(FieldValue::Text(text.to_owned())),
        }
    }

    /// Whether a field of this kind can be unique: no two animals then have the same value.
    pub(super) const fn may_be_unique(self) -> bool {
        matches!(self, Self::Text | Self::Integer)
    }

    /// Whether a search finds values of this kind by their words.
    pub const fn has_words(self) -> bool {
        matches!(self, Self::Text | Self::Choice)
    }

    /// Returns the common key of values that a search does not tell apart: texts by [`whole_key`], unique texts without
    /// regard to case and accents and by [`compact_key`], and numbers by their amount. `None` for values that no search
    /// looks for.
    ///
    /// `Luna` and `LÚNA` have the key `luna`, and the decimals `2.5` and `2.50` have the key `25000`.
    pub fn key(self, is_unique: bool, value: &FieldValue) -> Option<String> {
        match (self, value) {
            (Self::LongText, _) => None,
            (Self::Decimal, FieldValue::Text(text)) => {
                Decimal::new(text).map(|number| number.ten_thousandths().to_string())
            }
            (_, FieldValue::Text(text)) if is_unique => Some(compact_key(identity_key(text))),
            (_, FieldValue::Text(text)) => Some(whole_key(text)),
            (_, value) => Some(value.to_string()),
        }
    }
}

impl FieldKind {
    /// Returns the keys under which a search keeps a value: its [key](Self::key), and the key by which the previous release
    /// looks for it. Remove the latter in the next release.
    pub fn search_keys(self, is_unique: bool, value: &FieldValue) -> Vec<String> {
        let mut keys: Vec<String> = self.key(is_unique, value).into_iter().collect();
        if let (Self::Text | Self::Choice, FieldValue::Text(text)) = (self, value)
            && !is_unique
            && !text.is_ascii()
        {
            let former_key = identity_key(text);
            if !keys.contains(&former_key) {
                keys.push(former_key);
            }
        }
        keys
    }
}

/// The numbers of digits that a microchip can have: 15 by ISO 11784, and 9 or 10 of older ones.
const CHIP_LENGTHS: [usize; 3] = [9, 10, 15];

/// The decimals that a program adds to a whole number.
const ADDED_DECIMALS: [&str; 4] = [".0", ".00", ",0", ",00"];

/// The characters in which a spreadsheet wraps a number so that it stays a text, such as `'981` and `="981"`.
const WRAPPERS: [char; 4] = ['\'', '"', '=', ' '];

/// Returns a key without white space, invisible characters, dashes, `.`, `,`, `/`, `:` and `*`, and without the
/// characters that a spreadsheet adds to a number. Returns the key as it is if nothing would be left, or if it is too long for an index.
///
/// So each spelling of a microchip has one key:
///
/// ```
/// use petstore_domain::store_area::compact_key;
///
/// for spelling in ["981 000-000", "'981000000", "=\"981000000\"", "981000000.0"] {
///     assert_eq!(compact_key(spelling.to_owned()), "981000000");
/// }
/// ```
pub fn compact_key(key: String) -> String {
    if key.len() > MAX_KEY_BYTES {
        return key;
    }
    if let Some(chip) = chip_with_decimals(&key) {
        return chip;
    }
    let compact = strip_separators(&key);
    if compact.is_empty() { key } else { compact }
}

/// Returns the digits of a microchip to which a program has added decimals: `981000000` for `981000000.0`. `None` for
/// another text.
fn chip_with_decimals(key: &str) -> Option<String> {
    let number = key.trim_matches(WRAPPERS);
    let whole = ADDED_DECIMALS
        .iter()
        .find_map(|decimals| number.strip_suffix(decimals))?;
    let digits = strip_separators(whole);
    let is_chip = CHIP_LENGTHS.contains(&digits.len()) && is_digits(&digits);
    is_chip.then_some(digits)
}

fn strip_separators(key: &str) -> String {
    key.chars()
        .filter(|&character| !is_separator(character))
        .collect()
}

/// Whether a character only separates the letters and digits of a key, or nobody sees it.
fn is_separator(character: char) -> bool {
    let is_spreadsheet_sign = matches!(character, '\'' | '"' | '=' | ',' | '*');
    let is_dash = matches!(
        character,
        '-' | '.' | '/' | ':' | '\u{58A}' | '\u{5BE}' | '\u{1400}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2212}'
                | '\u{2E17}'
                | '\u{2E1A}'
                | '\u{2E3A}'
                | '\u{2E3B}'
                | '\u{2E40}'
                | '\u{2E5D}'
                | '\u{301C}'
                | '\u{3030}'
                | '\u{30A0}'
                | '\u{10D6E}'
                | '\u{10EAD}'
    );
    !is_visible(character) || is_spreadsheet_sign || is_dash
}

/// Whether a text is a number that a spreadsheet has shortened, so that its last digits are lost: `9.81E+14` or
/// `2,76098E+14`.
pub fn is_shortened_number(text: &str) -> bool {
    let number = text.trim_matches(WRAPPERS);
    let Some((digits, exponent)) = number.split_once(['E', 'e']) else {
        return false;
    };
    let is_mantissa = match digits.split_once(['.', ',']) {
        Some((whole, decimals)) => whole.len() == 1 && is_digits(whole) && is_digits(decimals),
        None => digits.len() == 1 && is_digits(digits),
    };
    is_mantissa && exponent.strip_prefix('+').is_some_and(is_digits)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the text is a date in its only valid form, such as `2024-02-29`.
pub fn is_date(text: &str) -> bool {
    // Years before 0 have more digits.
    text.len() == 10
        && text
            .parse::<Date>()
            .is_ok_and(|date| date.to_string() == text)
}

/// Whether a text has at most `max` characters, one of them visible, and no U+0000.
pub(super) fn is_text(text: &str, max: usize) -> bool {
    text.chars().nth(max).is_none() && !text.contains('\0') && text.chars().any(is_visible)
}

/// Whether a text has at most `max` characters, one of them visible, and no control characters except line breaks.
pub(super) fn is_paragraph(text: &str, max: usize) -> bool {
    let has_control_character = text
        .chars()
        .any(|character| character.is_control() && !matches!(character, '\n' | '\r'));
    text.chars().nth(max).is_none() && text.chars().any(is_visible) && !has_control_character
}

/// Whether a reader can see the character, and not only its effect on other characters.
pub(super) fn is_visible(character: char) -> bool {
    !is_ignored_by_fonts(character) && !character.is_whitespace() && !character.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_makes_of_a_microchip_is_the_same_microchip() {
        for spelling in [
            "981000000000001",
            "'981000000000001",
            "=\"981000000000001\"",
            "\"981000000000001\"",
            "981000000000001.0",
            "'981000000000001.00",
            "981000000000001,00",
            "981,000,000,000,001",
            "981,000,000,000,001.0",
            "981*000*000*000*001",
        ] {
            assert_eq!(
                compact_key(spelling.to_owned()),
                "981000000000001",
                "{spelling}"
            );
        }
    }

    #[test]
    fn other_texts_keep_their_zeros_and_letters() {
        for (text, key) in [
            ("276.098.10", "27609810"),
            ("12.0", "120"),
            ("avid*023*456*789", "avid023456789"),
            ("981e14", "981e14"),
            ("'\"", "'\""),
        ] {
            assert_eq!(compact_key(text.to_owned()), key);
        }
    }

    #[test]
    fn a_number_that_a_spreadsheet_has_shortened_is_known_and_a_chip_with_letters_is_none() {
        for text in [
            "9.81E+14",
            "2,76098E+14",
            "9E+14",
            "9.81e+14",
            "'9.81E+14",
            "=\"9.81E+14\"",
        ] {
            assert!(is_shortened_number(text), "{text}");
        }
        for text in [
            "981000000000001",
            "9E14",
            "0A12E34F",
            "98.1E+14",
            "E+14",
            "9.E+14",
            "9.81E+",
        ] {
            assert!(!is_shortened_number(text), "{text}");
        }
    }
}
