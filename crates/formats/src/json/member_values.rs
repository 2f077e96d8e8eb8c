//! The types of values that members of several objects have: what each can be, and how it is parsed.

use std::str::FromStr;

use jiff::Timestamp;
use petstore_domain::{
    PetId, PetName, PetStatus,
    pet::HIGHEST_IMPORTED,
    store_area::{
        Decimal, FieldKind, Language, OrderId, OrderStatus, PrivateText, StoreKind, Text,
        WithdrawalReason,
    },
    words::UnknownWord,
};
use serde_json::{json, value::RawValue};

use super::{
    declared::{
        Keywords, NO_NULL_CHARACTER, keywords_of_identifier, keywords_of_text, keywords_of_words,
    },
    integer,
    members::{Value, values},
    string, times,
};

/// Declares enumerations of `words!` as types of values: a value is one of the names.
///
/// `word_values!(PetStatus);` implements [`Value`] for `PetStatus`, with the rule "one of available, pending and sold".
macro_rules! word_values {
    ($($type:ty),+) => {
        values! {
            $($type: rule_of_words::<$type>(),
                |value| string(value)?.parse().ok(),
                keywords_of_words(&<$type>::ALL.map(<$type>::as_str));)+
        }
    };
}

/// Returns a rule such as "one of available, pending and sold".
fn rule_of_words<T: FromStr<Err = UnknownWord>>() -> String {
    // No value has an empty name, and the error for another name has all names.
    match T::from_str("") {
        Ok(_) => String::new(),
        Err(unknown) => unknown.expected_names(),
    }
}

word_values!(
    PetStatus,
    OrderStatus,
    WithdrawalReason,
    FieldKind,
    Language,
    StoreKind
);

values! {
    PetName: "a string of Unicode text without U+0000",
        |value| Self::new(string(value)?),
        json!({ "type": "string", "pattern": NO_NULL_CHARACTER });
    i64: "an integer from -9223372036854775808 to 9223372036854775807",
        |value| integer(value),
        json!({ "type": "integer", "format": "int64" });
    bool: "true or false",
        |value| value.get().parse().ok(),
        json!({ "type": "boolean" });
    Decimal: "a string with a number of at most 12 digits before the point and 4 after it, such as \
              \"249.00\"",
        |value| Self::new(&string(value)?),
        json!({ "type": "string" });
    Timestamp: "an RFC 3339 time, such as 2026-12-06T11:00:00+01:00",
        |value| times::parse(&string(value)?),
        json!({ "type": "string", "format": "date-time" });
    PetId: UP_TO_HIGHEST_IMPORTED,
        |value| Self::new(importable(integer(value)?)?),
        keywords_of_identifier(Self::MAX);
    OrderId: UP_TO_HIGHEST_IMPORTED,
        |value| Self::new(importable(integer(value)?)?),
        keywords_of_identifier(Self::MAX);
    Version: UP_TO_HIGHEST_IMPORTED,
        |value| importable(integer(value)?).filter(|&version| version > 0).map(Self);
}

impl<const MAX: usize, const MIN: usize> Value for Text<MAX, MIN> {
    fn rule() -> String {
        format!("a string of {}", Text::<MAX, MIN>::rule())
    }

    fn read(value: &RawValue) -> Option<Self> {
        Self::new(string(value)?)
    }

    fn keywords() -> Keywords {
        keywords_of_text(MIN, MAX)
    }
}

impl<const MAX: usize> Value for PrivateText<MAX> {
    fn rule() -> String {
        format!("a string of {}", PrivateText::<MAX>::rule())
    }

    fn read(value: &RawValue) -> Option<Self> {
        Self::new(string(value)?)
    }

    fn keywords() -> Keywords {
        keywords_of_text(1, MAX)
    }
}

/// A version in a file.
pub(super) struct Version(pub(super) i64);

/// The rule for an identifier or a version in a file: at most [`HIGHEST_IMPORTED`].
pub(crate) const UP_TO_HIGHEST_IMPORTED: &str = "an integer from 1 to 9006099743113216";

/// Returns the number of an identifier or a version in a file; `None` if it is above [`HIGHEST_IMPORTED`].
pub(crate) fn importable(number: i64) -> Option<i64> {
    (number <= HIGHEST_IMPORTED).then_some(number)
}
