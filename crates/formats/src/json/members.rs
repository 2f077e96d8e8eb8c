//! The members of a JSON object: each has a known name and a valid value.

use std::str::FromStr;

use jiff::Timestamp;
use petstore_domain::{
    PetId, PetName, PetStatus,
    pet::HIGHEST_IMPORTED,
    store_area::{
        Contact, Decimal, FieldKind, Language, OrderId, OrderStatus, Patch, StoreKind, Text,
        WithdrawalReason,
    },
    words::UnknownWord,
};
use serde_json::{json, value::RawValue};

use super::{
    Invalid,
    declared::{
        DeclaredMember, DeclaredObject, Keywords, NO_NULL_CHARACTER, keywords_of_identifier,
        keywords_of_text, keywords_of_words,
    },
    integer, string, times,
};

/// The members of an object, with their values not parsed yet.
pub struct Members<'a> {
    /// The name of the object in a message, such as "The body".
    subject: &'static str,
    members: Vec<(String, &'a RawValue)>,
}

/// A type of the values of members.
pub trait Value: Sized {
    /// Returns the rule for the value, which completes the sentence "The member must be …".
    fn rule() -> String;

    /// Parses a value; `None` if it does not follow the rule.
    fn read(value: &RawValue) -> Option<Self>;

    /// Returns the keywords of the value in the document. The document has further keywords, which are written by hand.
    fn keywords() -> Keywords {
        json!({})
    }
}

/// A type of members, that is of a [`Value`] under a name: a value must be there; an `Option` can be absent; a `Patch` can be
/// absent or null.
pub trait Member: Sized {
    /// Whether the object is invalid without the member.
    const IS_REQUIRED: bool;

    /// Whether the value can be null.
    const IS_NULLABLE: bool;

    /// See [`Value::keywords`].
    fn keywords() -> Keywords;

    /// Reads the member with this name in the body of a request.
    fn from_body(members: &Members<'_>, name: &str) -> Result<Self, Invalid>;

    /// Reads the member with this name in a file: there, an `Option` can be null, but not absent.
    fn from_file(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        Self::from_body(members, name)
    }
}

impl<T: Value> Member for T {
    const IS_REQUIRED: bool = true;
    const IS_NULLABLE: bool = false;

    fn keywords() -> Keywords {
        <T as Value>::keywords()
    }

    fn from_body(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        members.required(name)
    }
}

impl<T: Value> Member for Option<T> {
    const IS_REQUIRED: bool = false;
    const IS_NULLABLE: bool = false;

    fn keywords() -> Keywords {
        T::keywords()
    }

    fn from_body(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        members.optional(name)
    }

    fn from_file(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        members.nullable(name)
    }
}

impl<T: Value> Member for Patch<T> {
    const IS_REQUIRED: bool = false;
    const IS_NULLABLE: bool = true;

    fn keywords() -> Keywords {
        T::keywords()
    }

    fn from_body(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        members.patch(name)
    }
}

/// An object whose members are declared.
pub trait Body: Sized {
    /// The names of the members that it can have.
    const NAMES: &'static [&'static str];

    /// Reads the members in the order of [`Self::NAMES`], up to the first problem.
    fn read(members: &Members<'_>) -> Result<Self, Invalid>;

    /// Returns the members for the document.
    fn declared() -> DeclaredObject;
}

/// Returns a member for the document. `_field` is not called: its type says the type of the member.
pub fn declared_member<B, M: Member>(name: &'static str, _field: fn(&B) -> &M) -> DeclaredMember {
    DeclaredMember {
        name,
        is_required: M::IS_REQUIRED,
        is_nullable: M::IS_NULLABLE,
        keywords: M::keywords(),
    }
}

/// Returns the name of a member in JSON: the name in Rust, if no other name is declared.
///
/// `name!(status)` becomes `"status"`, and `name!(category_id categoryId)` becomes `"categoryId"`.
#[macro_export]
macro_rules! name {
    ($member:ident) => {
        stringify!($member)
    };
    ($member:ident $name:ident) => {
        stringify!($name)
    };
}
pub use name;

/// Declares the members of bodies. The types of the fields say what each member can be.
///
/// `PetPatch: name, category_id as categoryId;` implements [`Body`] for `PetPatch`, whose fields `name` and `category_id`
/// are the members `name` and `categoryId` of an object.
#[macro_export]
macro_rules! bodies {
    ($($body:ident: $($member:ident $(as $name:ident)?),+;)+) => {
        $(impl $crate::json::members::Body for $body {
            const NAMES: &'static [&'static str] =
                &[$($crate::json::members::name!($member $($name)?)),+];

            fn read(
                members: &$crate::json::members::Members<'_>,
            ) -> Result<Self, $crate::json::Invalid> {
                Ok(Self {
                    $($member: $crate::json::members::Member::from_body(
                        members,
                        $crate::json::members::name!($member $($name)?),
                    )?,)+
                })
            }

            fn declared() -> $crate::json::declared::DeclaredObject {
                $crate::json::declared::DeclaredObject {
                    name: stringify!($body),
                    members: vec![$($crate::json::members::declared_member(
                        $crate::json::members::name!($member $($name)?),
                        |body: &Self| &body.$member,
                    )),+],
                }
            }
        })+
    };
}
pub use bodies;

/// Declares types of values: the rule for a value, how a value is parsed, and its keywords in the document.
///
/// `bool: "true or false", |value| value.get().parse().ok(), json!({ "type": "boolean" });` implements [`Value`] for `bool`,
/// with the rule, the function that parses a value, and the keywords, which can be left out.
#[macro_export]
macro_rules! values {
    ($($type:ty: $rule:expr, |$value:ident| $read:expr $(, $keywords:expr)?;)+) => {
        $(impl $crate::json::members::Value for $type {
            fn rule() -> String {
                $rule.into()
            }

            fn read($value: &serde_json::value::RawValue) -> Option<Self> {
                $read
            }

            $(fn keywords() -> $crate::json::declared::Keywords {
                $keywords
            })?
        })+
    };
}
pub use values;

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
    Contact: format!("a string of {}", Self::rule()),
        |value| Self::new(string(value)?),
        keywords_of_text(1, Self::MAX_LENGTH);
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

/// A version in a file.
pub(super) struct Version(pub(super) i64);

/// The rule for an identifier or a version in a file: at most [`HIGHEST_IMPORTED`].
pub(crate) const UP_TO_HIGHEST_IMPORTED: &str = "an integer from 1 to 9006099743113216";

/// Returns the number of an identifier or a version in a file; `None` if it is above [`HIGHEST_IMPORTED`].
pub(crate) fn importable(number: i64) -> Option<i64> {
    (number <= HIGHEST_IMPORTED).then_some(number)
}

impl<'a> Members<'a> {
    /// Parses an object, which may only have members with these names. `subject` is the name of the
    /// object in a message, such as "The body".
    pub fn parse(object: &'a [u8], subject: &'static str, names: &[&str]) -> Result<Self, Invalid> {
        let members = Self::parse_any(object, subject)?;
        members.check_names(names)?;
        Ok(members)
    }

    /// Parses an object, which may have any members. See [`Self::check_names`].
    pub fn parse_any(object: &'a [u8], subject: &'static str) -> Result<Self, Invalid> {
        Ok(Self {
            subject,
            members: super::members(object, subject)?,
        })
    }

    /// Rejects a member with another name than these.
    pub fn check_names(&self, names: &[&str]) -> Result<(), Invalid> {
        let unknown_member = self
            .members
            .iter()
            .find(|(name, _)| !names.contains(&name.as_str()));
        let Some((unknown_name, _)) = unknown_member else {
            return Ok(());
        };
        // Long enough to recognize it.
        let short_name: String = unknown_name.chars().take(40).collect();
        let allowed = match names {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        let message = format!(
            "{} has the unknown member {short_name:?}. Allowed members: {allowed}.",
            self.subject
        );
        Err(Invalid::UnknownMember(message))
    }

    /// Reads the members of a body.
    pub fn read<T: Body>(&self) -> Result<T, Invalid> {
        T::read(self)
    }

    /// Reads a member that can be absent, but not null.
    pub fn optional<T: Value>(&self, name: &str) -> Result<Option<T>, Invalid> {
        let Some(value) = self.find(name) else {
            return Ok(None);
        };
        match T::read(value) {
            Some(value) => Ok(Some(value)),
            None => Err(Invalid::Value(format!("{name} must be {}.", T::rule()))),
        }
    }

    /// Reads a member that cannot be absent.
    pub fn required<T: Value>(&self, name: &str) -> Result<T, Invalid> {
        self.optional(name)?
            .ok_or_else(|| Invalid::Value(format!("{name} is missing; it must be {}.", T::rule())))
    }

    /// Reads a member that cannot be absent, but null.
    pub(crate) fn nullable<T: Value>(&self, name: &str) -> Result<Option<T>, Invalid> {
        if self.is_null(name) {
            Ok(None)
        } else {
            self.required(name).map(Some)
        }
    }

    /// Reads the change of a member in a merge patch: a member that is absent keeps the value, and null clears it.
    pub fn patch<T: Value>(&self, name: &str) -> Result<Patch<T>, Invalid> {
        if self.is_null(name) {
            return Ok(Patch::Clear);
        }
        Ok(self.optional(name)?.map_or(Patch::Keep, Patch::Set))
    }

    fn is_null(&self, name: &str) -> bool {
        self.find(name).is_some_and(|value| value.get() == "null")
    }

    fn find(&self, name: &str) -> Option<&'a RawValue> {
        self.members
            .iter()
            .find(|(member_name, _)| member_name == name)
            .map(|&(_, value)| value)
    }
}
