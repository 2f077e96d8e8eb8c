//! The members of a JSON object: their names are checked, and their values are parsed by type. The
//! value types are in `member_values.rs`.

use petstore_domain::store_area::Patch;
use serde_json::{json, value::RawValue};

use super::{
    Invalid,
    declared::{DeclaredMember, DeclaredObject, Keywords},
};

/// The members of an object. Their values are not parsed yet.
pub struct Members<'a> {
    /// The name of the object in messages, such as "The body".
    subject: &'static str,
    members: Vec<(String, &'a RawValue)>,
}

impl<'a> Members<'a> {
    /// Parses an object that may only have members with these names. `subject` is the name of the
    /// object in messages, such as "The body".
    pub fn parse(object: &'a [u8], subject: &'static str, names: &[&str]) -> Result<Self, Invalid> {
        let members = Self::parse_with_any_names(object, subject)?;
        members.check_names(names)?;
        Ok(members)
    }

    /// Parses an object without checking the names of its members. See [`Self::check_names`].
    pub fn parse_with_any_names(object: &'a [u8], subject: &'static str) -> Result<Self, Invalid> {
        Ok(Self {
            subject,
            members: super::parse_members(object, subject)?,
        })
    }

    /// Checks that all members have one of the given names.
    pub fn check_names(&self, names: &[&str]) -> Result<(), Invalid> {
        let unknown_member = self
            .members
            .iter()
            .find(|(name, _)| !names.contains(&name.as_str()));
        let Some((unknown_name, _)) = unknown_member else {
            return Ok(());
        };
        let short_name = super::shorten_for_message(unknown_name);
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

    /// Reads the members as a body of this type.
    pub fn read<T: Body>(&self) -> Result<T, Invalid> {
        T::read(self)
    }

    /// Reads a member that may be absent, but not null.
    pub fn optional<T: Value>(&self, name: &str) -> Result<Option<T>, Invalid> {
        let Some(value) = self.find(name) else {
            return Ok(None);
        };
        match T::read(value) {
            Some(value) => Ok(Some(value)),
            None => Err(Invalid::Value(format!("{name} must be {}.", T::rule()))),
        }
    }

    /// Reads a member that must be present, and not null.
    pub fn required<T: Value>(&self, name: &str) -> Result<T, Invalid> {
        self.optional(name)?
            .ok_or_else(|| Invalid::Value(format!("{name} is missing; it must be {}.", T::rule())))
    }

    /// Reads a member that must be present, but may be null.
    pub(crate) fn nullable<T: Value>(&self, name: &str) -> Result<Option<T>, Invalid> {
        if self.is_null(name) {
            Ok(None)
        } else {
            self.required(name).map(Some)
        }
    }

    /// Reads a member of a merge patch (RFC 7396): an absent member keeps the value, and null
    /// clears it.
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

/// A type of value that a member can have.
pub trait Value: Sized {
    /// Returns the rule for a value, which completes the sentence "The member must be …".
    fn rule() -> String;

    /// Parses a value. Returns `None` if the value does not follow the rule.
    fn read(value: &RawValue) -> Option<Self>;

    /// Returns the JSON Schema keywords that follow from the type. The OpenAPI document also has
    /// keywords that are written by hand.
    fn keywords() -> Keywords {
        json!({})
    }
}

/// A type of member, which decides whether the member may be absent or null: a [`Value`] must be
/// present, an `Option` may be absent, and a `Patch` may be absent or null.
pub trait Member: Sized {
    /// Whether the object is invalid without the member.
    const IS_REQUIRED: bool;

    /// Whether the value can be null.
    const IS_NULLABLE: bool;

    /// Returns the keywords of the value: see [`Value::keywords`].
    fn keywords() -> Keywords;

    /// Reads the member with this name from the body of a request.
    fn from_body(members: &Members<'_>, name: &str) -> Result<Self, Invalid>;

    /// Reads the member with this name from a file. In a file, an `Option` must be present, but may
    /// be null.
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

/// An object with declared members: see [`bodies!`].
pub trait Body: Sized {
    /// The names of the members that the object may have.
    const NAMES: &'static [&'static str];

    /// Reads the members in the order of [`Self::NAMES`], and stops at the first problem.
    fn read(members: &Members<'_>) -> Result<Self, Invalid>;

    /// Describes the members for the OpenAPI document.
    fn declared() -> DeclaredObject;
}

/// Describes a member of the body `B`. `_field` is never called: the compiler infers the type of
/// the member from it.
pub fn declared_member<B, M: Member>(name: &'static str, _field: fn(&B) -> &M) -> DeclaredMember {
    DeclaredMember {
        name,
        is_required: M::IS_REQUIRED,
        is_nullable: M::IS_NULLABLE,
        keywords: M::keywords(),
    }
}

/// Expands to the JSON name of a member: its name in Rust, unless another name is declared.
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

/// Declares the members of bodies. The type of each struct field says what the member may be: see
/// [`Member`].
///
/// `PetPatch: name, category_id as categoryId;` implements [`Body`] for `PetPatch`, whose fields
/// `name` and `category_id` are the members `name` and `categoryId` of an object.
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

/// Declares value types: the rule for a value, how it is parsed, and its keywords in the OpenAPI
/// document.
///
/// `bool: "true or false", |value| value.get().parse().ok(), json!({ "type": "boolean" });`
/// implements [`Value`] for `bool`, with the rule, the function that parses a value, and the
/// keywords, which are optional.
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
