//! The kinds of fields: their valid values, and the keys by which searches compare values.

use std::fmt;

use super::{
    Decimal, compact_key,
    name_key::identity_key,
    valid_text::{is_choice, is_date, is_text},
    whole_key,
};
use crate::{named_enum::named_enum, text::parse_integer};

/// The maximum length of a value of the kind `text`, in characters.
const MAX_TEXT_LENGTH: usize = 255;

/// The maximum length of a value of the kind `longText`, in characters.
const MAX_LONG_TEXT_LENGTH: usize = 8_000;

/// The highest absolute value of an integer that every JSON reader reads exactly.
const MAX_INTEGER: u64 = (1 << 53) - 1;

named_enum! {
    /// The kind of a field, which determines its valid values.
    pub enum FieldKind {
        /// 1 to 255 characters.
        Text = "text",
        /// 1 to 8,000 characters.
        LongText = "longText",
        /// An integer from -(2^53 - 1) to 2^53 - 1, which every JSON reader reads exactly.
        Integer = "integer",
        /// A decimal number, stored as text in its original spelling.
        Decimal = "decimal",
        /// A date of the form YYYY-MM-DD.
        Date = "date",
        /// True or false.
        Boolean = "boolean",
        /// One of the choices of the field.
        Choice = "choice",
    }
}

/// A value of a field. The kind of the field determines which texts and numbers are valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// A value of the kind `text`, `longText`, `decimal`, `date` or `choice`.
    Text(String),
    /// A value of the kind `integer`.
    Integer(i64),
    /// A value of the kind `boolean`.
    Boolean(bool),
}

impl fmt::Display for FieldValue {
    /// Writes the value as in JSON, but without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Boolean(value) => write!(f, "{value}"),
        }
    }
}

impl FieldKind {
    /// Whether a stored value is valid for this kind. For a choice, only the form is checked,
    /// because the value may have been one of the choices before.
    pub(super) fn allows(self, value: &FieldValue) -> bool {
        match (self, value) {
            (Self::Text, FieldValue::Text(text)) => is_text(text, MAX_TEXT_LENGTH),
            (Self::LongText, FieldValue::Text(text)) => is_text(text, MAX_LONG_TEXT_LENGTH),
            (Self::Integer, FieldValue::Integer(number)) => number.unsigned_abs() <= MAX_INTEGER,
            (Self::Decimal, FieldValue::Text(text)) => Decimal::new(text).is_some(),
            (Self::Date, FieldValue::Text(text)) => is_date(text),
            (Self::Boolean, FieldValue::Boolean(_)) => true,
            (Self::Choice, FieldValue::Text(text)) => is_choice(text),
            _ => false,
        }
    }

    /// Returns the rule for a value, phrased to follow "must be". It repeats the limits above,
    /// because a constant text cannot be formatted.
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

    /// Parses the JSON form of a value, without quotes: `3` for an integer, `true` for a boolean.
    /// Returns `None` if the value must be an integer or a boolean, and the text is not one.
    ///
    /// Only [`FieldKind::allows`] checks the other rules.
    pub(super) fn parse(self, text: &str) -> Option<FieldValue> {
        match self {
            Self::Integer => parse_integer(text).map(FieldValue::Integer),
            Self::Boolean => text.parse().ok().map(FieldValue::Boolean),
            _ => Some(FieldValue::Text(text.to_owned())),
        }
    }

    /// Whether a field of this kind can be unique.
    pub(super) const fn may_be_unique(self) -> bool {
        matches!(self, Self::Text | Self::Integer)
    }

    /// Whether a search finds values of this kind by the words in them.
    pub const fn has_words(self) -> bool {
        matches!(self, Self::Text | Self::Choice)
    }

    /// Returns the key by which values are compared; `None` for values that cannot be searched for.
    /// Two values with the same key are equal for a search.
    ///
    /// The key of a text is its [`whole_key`]. If the field is unique, the key is the
    /// [`compact_key()`] of the text without case and accents. Decimal numbers are compared by
    /// amount.
    ///
    /// For example, `Luna` and `LÚNA` have the key `luna`, and the decimals `2.5` and `2.50` have
    /// the key `25000`.
    pub fn key(self, is_unique: bool, value: &FieldValue) -> Option<String> {
        if self == Self::LongText {
            return None;
        }
        let FieldValue::Text(text) = value else {
            return Some(value.to_string());
        };
        if self == Self::Decimal {
            let number = Decimal::new(text)?;
            return Some(number.ten_thousandths().to_string());
        }
        if is_unique {
            Some(compact_key(identity_key(text)))
        } else {
            Some(whole_key(text))
        }
    }

    /// Returns the keys under which a value is stored in the search index: its [key](Self::key),
    /// and the key by which the previous release searches, if it is a different one.
    pub fn search_keys(self, is_unique: bool, value: &FieldValue) -> Vec<String> {
        let mut keys: Vec<String> = self.key(is_unique, value).into_iter().collect();
        if !self.has_words() || is_unique {
            return keys;
        }
        if let FieldValue::Text(text) = value
            && !text.is_ascii()
        {
            // The previous release may run at the same time during an upgrade. Remove its key in
            // the next release.
            let former_key = identity_key(text);
            if !keys.contains(&former_key) {
                keys.push(former_key);
            }
        }
        keys
    }
}
