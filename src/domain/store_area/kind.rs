//! Kinds of fields: the values of each, the rule for them, and their keys.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::fmt;

use jiff::civil::Date;

use super::{Decimal, whole_key};
use crate::domain::words::words;

/// Longer keys of unique values are replaced by their hash: an index of PostgreSQL has no room for them.
pub(super) const LONGEST_KEY: usize = 512;

words! {
    /// The kind of the values of a field.
    pub enum FieldKind {
        /// 1 to 255 characters.
        Text = "text",
        /// 1 to 8,000 characters.
        LongText = "longText",
        /// Exact for every JSON reader: at most 2^53 - 1 from zero.
        Integer = "integer",
        /// Digits as text, kept as written.
        Decimal = "decimal",
        /// YYYY-MM-DD.
        Date = "date",
        Boolean = "boolean",
        /// One of the choices of the field.
        Choice = "choice",
    }
}

/// A value. Which texts and numbers are valid depends on the kind of its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    Text(String),
    Integer(i64),
    Boolean(bool),
}

/// As in JSON, without quotes.
impl fmt::Display for FieldValue {
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

    /// The rule for a value, as the rest of a sentence: "must be …".
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

    /// The value that a text writes as in JSON, without quotes. `None` if it is a number or a boolean in no kind.
    pub(super) fn read(self, text: &str) -> Option<FieldValue> {
        match self {
            Self::Integer => text.parse().ok().map(FieldValue::Integer),
            Self::Boolean => text.parse().ok().map(FieldValue::Boolean),
            _ => Some(FieldValue::Text(text.to_owned())),
        }
    }

    /// Whether no two animals have the same value, if the store wants it.
    pub(super) const fn may_be_unique(self) -> bool {
        matches!(self, Self::Text | Self::Integer)
    }

    /// Whether a search finds its values by their words.
    pub const fn has_words(self) -> bool {
        matches!(self, Self::Text | Self::Choice)
    }

    /// The common key of values that a search does not tell apart: texts without regard to case
    /// and accents, those that are unique as [`unseparated`], numbers by what they are. `None` for what no
    /// search looks for.
    pub fn key(self, is_unique: bool, value: &FieldValue) -> Option<String> {
        match (self, value) {
            (Self::LongText, _) => None,
            (Self::Decimal, FieldValue::Text(text)) => {
                Decimal::new(text).map(|number| number.ten_thousandths().to_string())
            }
            (_, FieldValue::Text(text)) if is_unique => Some(unseparated(whole_key(text))),
            (_, FieldValue::Text(text)) => Some(whole_key(text)),
            (_, value) => Some(value.to_string()),
        }
    }
}

/// A key without white space, invisible characters, dashes, `.`, `/` and `:`, so that a microchip is the same
/// in each spelling. As it is if nothing would be left, or if it is too long for an index.
pub fn unseparated(key: String) -> String {
    let separates = |character: char| {
        !is_visible(character)
            || matches!(
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
            )
    };
    let kept: String = key.chars().filter(|&character| !separates(character)).collect();
    if kept.is_empty() || key.len() > LONGEST_KEY { key } else { kept }
}

/// Whether the text is a date, in the only form in which a date is written.
pub fn is_date(text: &str) -> bool {
    // Years before 0 have more digits.
    text.len() == 10 && text.parse::<Date>().is_ok_and(|date| date.to_string() == text)
}

/// Whether it is a text of at most `max` characters, one of them visible.
pub(super) fn is_text(text: &str, max: usize) -> bool {
    text.chars().nth(max).is_none() && !text.contains('\0') && text.chars().any(is_visible)
}

/// Whether a reader can see the character, and not only its effect on others.
pub(super) fn is_visible(character: char) -> bool {
    let is_ignorable = matches!(character, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}'
        | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E0FFF}');
    !is_ignorable && !character.is_whitespace() && !character.is_control()
}
