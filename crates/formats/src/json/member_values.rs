//! The value types that several objects share: the rule for each, and how it is parsed.

use std::str::FromStr;

use jiff::Timestamp;
use petstore_domain::{
    PetId, PetName, PetStatus,
    named_enum::UnknownName,
    pet::HIGHEST_IMPORTED,
    store_area::{
        Decimal, FieldKind, Language, OrderId, OrderStatus, PrivateText, StoreKind, Text,
        WithdrawalReason,
    },
};
use serde_json::{json, value::RawValue};

use super::{
    as_integer, as_string,
    declared::{Keywords, NO_NULL_CHARACTER, enum_keywords, identifier_keywords, string_keywords},
    members::{Value, values},
    times,
};

/// Declares enumerations of `named_enum!` as value types. A value must be one of the names.
///
/// `named_enum_values!(PetStatus);` implements [`Value`] for `PetStatus`, with the rule "one of
/// available, pending and sold".
macro_rules! named_enum_values {
    ($($type:ty),+) => {
        values! {
            $($type: enum_rule::<$type>(),
                |value| as_string(value)?.parse().ok(),
                enum_keywords(&<$type>::ALL.map(<$type>::as_str));)+
        }
    };
}

/// Returns a rule such as "one of available, pending and sold".
fn enum_rule<T: FromStr<Err = UnknownName>>() -> String {
    // No enumeration has an empty name, so this fails, and the error lists all names.
    match T::from_str("") {
        Ok(_) => String::new(),
        Err(unknown) => unknown.expected_names(),
    }
}

named_enum_values!(
    PetStatus,
    OrderStatus,
    WithdrawalReason,
    FieldKind,
    Language,
    StoreKind
);

values! {
    PetName: "a string of Unicode text without U+0000",
        |value| Self::new(as_string(value)?),
        json!({ "type": "string", "pattern": NO_NULL_CHARACTER });
    i64: "an integer from -9223372036854775808 to 9223372036854775807",
        |value| as_integer(value),
        json!({ "type": "integer", "format": "int64" });
    bool: "true or false",
        |value| value.get().parse().ok(),
        json!({ "type": "boolean" });
    Decimal: "a string with a number of at most 12 digits before the point and 4 after it, such as \
              \"249.00\"",
        |value| Self::new(&as_string(value)?),
        json!({ "type": "string" });
    Timestamp: "an RFC 3339 time, such as 2026-12-06T11:00:00+01:00",
        |value| times::parse(&as_string(value)?),
        json!({ "type": "string", "format": "date-time" });
    PetId: IMPORTED_NUMBER_RULE,
        |value| Self::new(importable_number(as_integer(value)?)?),
        identifier_keywords(Self::MAX);
    OrderId: IMPORTED_NUMBER_RULE,
        |value| Self::new(importable_number(as_integer(value)?)?),
        identifier_keywords(Self::MAX);
    Version: IMPORTED_NUMBER_RULE,
        |value| importable_number(as_integer(value)?).filter(|&version| version > 0).map(Self);
}

impl<const MAX: usize, const MIN: usize> Value for Text<MAX, MIN> {
    fn rule() -> String {
        format!("a string of {}", Text::<MAX, MIN>::rule())
    }

    fn read(value: &RawValue) -> Option<Self> {
        Self::new(as_string(value)?)
    }

    fn keywords() -> Keywords {
        string_keywords(MIN, MAX)
    }
}

impl<const MAX: usize> Value for PrivateText<MAX> {
    fn rule() -> String {
        format!("a string of {}", PrivateText::<MAX>::rule())
    }

    fn read(value: &RawValue) -> Option<Self> {
        Self::new(as_string(value)?)
    }

    fn keywords() -> Keywords {
        string_keywords(1, MAX)
    }
}

/// The version of a resource in a file, at least 1.
pub(super) struct Version(pub(super) i64);

/// The rule for an identifier or a version in a file, which is at most [`HIGHEST_IMPORTED`].
pub(crate) const IMPORTED_NUMBER_RULE: &str = "an integer from 1 to 9006099743113216";

/// Returns an identifier or a version from a file if it can be imported. Returns `None` if it is
/// above [`HIGHEST_IMPORTED`].
pub(crate) fn importable_number(number: i64) -> Option<i64> {
    (number <= HIGHEST_IMPORTED).then_some(number)
}
