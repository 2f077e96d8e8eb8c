//! The members of a JSON object: all of them known, each with a valid value.

#![expect(missing_docs, reason = "a comment says what a name does not")]

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

/// The members of an object.
pub struct Members<'a> {
    what: &'static str,
    members: Vec<(String, &'a RawValue)>,
}

/// The kinds of value of a member.
pub trait Value: Sized {
    /// Completes the sentence "The member must be …".
    fn is() -> String;

    /// `None` if the value is another one.
    fn read(value: &RawValue) -> Option<Self>;

    /// Returns what the document says of the value. What is missing here, the document has by hand.
    fn keywords() -> Keywords {
        json!({})
    }
}

/// What an object has under a name: a value; with `Option`, one that can be absent; with `Patch`, one
/// that can be absent or null.
pub trait Member: Sized {
    /// Whether the object is invalid without the member.
    const IS_REQUIRED: bool;

    /// Whether the value can be null.
    const IS_NULLABLE: bool;

    /// See [`Value::keywords`].
    fn keywords() -> Keywords;

    fn of(members: &Members<'_>, name: &str) -> Result<Self, Invalid>;

    /// Returns the same in a file: with `Option`, one that cannot be absent, but null.
    fn in_file(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        Self::of(members, name)
    }
}

impl<T: Value> Member for T {
    const IS_REQUIRED: bool = true;
    const IS_NULLABLE: bool = false;

    fn keywords() -> Keywords {
        <T as Value>::keywords()
    }

    fn of(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        members.required(name)
    }
}

impl<T: Value> Member for Option<T> {
    const IS_REQUIRED: bool = false;
    const IS_NULLABLE: bool = false;

    fn keywords() -> Keywords {
        T::keywords()
    }

    fn of(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        members.optional(name)
    }

    fn in_file(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        members.nullable(name)
    }
}

impl<T: Value> Member for Patch<T> {
    const IS_REQUIRED: bool = false;
    const IS_NULLABLE: bool = true;

    fn keywords() -> Keywords {
        T::keywords()
    }

    fn of(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        members.patch(name)
    }
}

/// An object whose members are declared.
pub trait Body: Sized {
    /// Those that it can have.
    const NAMES: &'static [&'static str];

    /// Reads them in this order, up to the first problem.
    fn read(members: &Members<'_>) -> Result<Self, Invalid>;

    /// Returns what the document says of them.
    fn declared() -> DeclaredObject;
}

/// Returns what the document says of the member with this name, whose type is that of the field.
pub fn declared_member<B, M: Member>(name: &'static str, _: fn(&B) -> &M) -> DeclaredMember {
    DeclaredMember {
        name,
        is_required: M::IS_REQUIRED,
        is_nullable: M::IS_NULLABLE,
        keywords: M::keywords(),
    }
}

/// The name of a member in JSON: that in Rust, if no other is declared.
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

/// Declares the members of bodies. Their types say what each can be.
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
                    $($member: $crate::json::members::Member::of(
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

/// Declares what values are, how they are read, and which keywords they have in the document.
///
/// `bool: "true or false", |value| value.get().parse().ok(), json!({ "type": "boolean" });` implements [`Value`] for `bool`.
#[macro_export]
macro_rules! values {
    ($($type:ty: $is:expr, |$value:ident| $read:expr $(, $keywords:expr)?;)+) => {
        $(impl $crate::json::members::Value for $type {
            fn is() -> String {
                $is.into()
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

/// Declares enumerations whose values are texts.
macro_rules! words {
    ($($type:ty),+) => {
        values! {
            $($type: <$type>::from_str("").err().map(UnknownWord::expected_names).unwrap_or_default(), |value| string(value)?.parse().ok(),
                keywords_of_words(&<$type>::ALL.map(<$type>::as_str));)+
        }
    };
}

words!(
    PetStatus,
    OrderStatus,
    WithdrawalReason,
    FieldKind,
    Language,
    StoreKind
);

values! {
    PetName: "a string of Unicode text without U+0000", |value| Self::new(string(value)?),
        json!({ "type": "string", "pattern": NO_NULL_CHARACTER });
    i64: "an integer from -9223372036854775808 to 9223372036854775807", |value| integer(value),
        json!({ "type": "integer", "format": "int64" });
    bool: "true or false", |value| value.get().parse().ok(), json!({ "type": "boolean" });
    Contact: format!("a string of {}", Self::is()), |value| Self::new(string(value)?),
        keywords_of_text(1, Self::MAX_LENGTH);
    Decimal: "a string with a number of at most 12 digits before the point and 4 after it, such as \
              \"249.00\"", |value| Self::new(&string(value)?), json!({ "type": "string" });
    Timestamp: "an RFC 3339 time, such as 2026-12-06T11:00:00+01:00",
        |value| times::parse(&string(value)?), json!({ "type": "string", "format": "date-time" });
    PetId: UP_TO_HIGHEST_IMPORTED, |value| Self::new(imported(integer(value)?)?),
        keywords_of_identifier(Self::MAX);
    OrderId: UP_TO_HIGHEST_IMPORTED, |value| Self::new(imported(integer(value)?)?),
        keywords_of_identifier(Self::MAX);
    Version: UP_TO_HIGHEST_IMPORTED,
        |value| imported(integer(value)?).filter(|&version| version > 0).map(Self);
}

impl<const MAX: usize, const MIN: usize> Value for Text<MAX, MIN> {
    fn is() -> String {
        format!("a string of {}", Self::is())
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

pub fn imported(number: i64) -> Option<i64> {
    (number <= HIGHEST_IMPORTED).then_some(number)
}

impl<'a> Members<'a> {
    /// Returns the members of an object, which has only members with these names. `what` names the
    /// object in a message, such as "The body".
    pub fn of(object: &'a [u8], what: &'static str, names: &[&str]) -> Result<Self, Invalid> {
        let members = Self::any(object, what)?;
        members.check(names)?;
        Ok(members)
    }

    /// Returns the members of an object with any names. See [`Self::check`].
    pub fn any(object: &'a [u8], what: &'static str) -> Result<Self, Invalid> {
        Ok(Self {
            what,
            members: super::members(object, what)?,
        })
    }

    /// Rejects a member with another name than these.
    pub fn check(&self, names: &[&str]) -> Result<(), Invalid> {
        let known = |name: &String| names.contains(&name.as_str());
        let Some((unknown, _)) = self.members.iter().find(|(name, _)| !known(name)) else {
            return Ok(());
        };
        // Long enough to recognize it.
        let shown: String = unknown.chars().take(40).collect();
        let allowed = match names {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        let message = format!(
            "{} has the unknown member {shown:?}. Allowed members: {allowed}.",
            self.what
        );
        Err(Invalid::UnknownMember(message))
    }

    /// Returns the members that such a body has.
    pub fn read<T: Body>(&self) -> Result<T, Invalid> {
        T::read(self)
    }

    /// Returns the value of a member that can be absent, but not null.
    pub fn optional<T: Value>(&self, name: &str) -> Result<Option<T>, Invalid> {
        let Some(value) = self.find(name) else {
            return Ok(None);
        };
        match T::read(value) {
            Some(value) => Ok(Some(value)),
            None => Err(Invalid::Value(format!("{name} must be {}.", T::is()))),
        }
    }

    /// Returns the value of a member that cannot be absent.
    pub fn required<T: Value>(&self, name: &str) -> Result<T, Invalid> {
        self.optional(name)?
            .ok_or_else(|| Invalid::Value(format!("{name} is missing; it must be {}.", T::is())))
    }

    /// Returns the value of a member that cannot be absent, but null.
    pub(crate) fn nullable<T: Value>(&self, name: &str) -> Result<Option<T>, Invalid> {
        if self.is_null(name) {
            Ok(None)
        } else {
            self.required(name).map(Some)
        }
    }

    /// Returns the change of a member by a merge patch: null removes it.
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
            .find(|(given, _)| given == name)
            .map(|&(_, value)| value)
    }
}
