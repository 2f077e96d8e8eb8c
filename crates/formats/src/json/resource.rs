//! Resources with declared members, and their representations for clients, the log of changes, and
//! files.

use super::{
    Invalid,
    declared::{DeclaredMember, DeclaredObject},
    members::{Member, declared_member},
};

/// For whom a representation is written. Each audience gets the members that the audiences before
/// it get, and possibly more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Audience {
    /// All clients, and the log of changes.
    All,
    /// Clients with permission to see personal data.
    Staff,
    /// Export files, which contain everything.
    File,
}

impl Audience {
    /// Whether the audience gets the members with personal data.
    pub(super) fn sees_personal_data(self) -> bool {
        self >= Self::Staff
    }

    /// Whether the audience gets the members that are only in files.
    pub(super) fn is_file(self) -> bool {
        self == Self::File
    }
}

/// A member that older representations of a resource may lack, because a later release added it.
/// Its value is null in them.
#[derive(Debug, Clone, Copy)]
pub struct AddedMember {
    /// The beginning of the member, by which it is found in JSON: `"price":`.
    pub start: &'static str,
    /// The text to append to a representation that lacks the member: `,"price":null`.
    pub null_member: &'static str,
}

/// A resource with declared members: see [`resource!`].
pub(super) trait DeclaredResource: Sized {
    /// The members that older representations may lack.
    const ADDED_MEMBERS: &'static [AddedMember];

    /// Writes the representation for an audience.
    fn write(&self, out: &mut Vec<u8>, audience: Audience);

    /// Reads a representation that was written for this audience, from a file or from the log of
    /// changes. A member that the audience does not get has its default.
    ///
    /// `subject` is the name of the resource in messages, such as "The order".
    fn read_representation(
        object: &[u8],
        subject: &'static str,
        audience: Audience,
    ) -> Result<Self, Invalid>;

    /// Describes the members that clients get, for the OpenAPI document.
    fn declared() -> DeclaredObject;
}

/// Describes a member of a resource. Clients always get the member, which is null if there is no
/// value.
pub(super) fn declared_in_resource<R, M: Member>(
    name: &'static str,
    field: fn(&R) -> &M,
) -> DeclaredMember {
    let in_body = declared_member(name, field);
    DeclaredMember {
        is_required: true,
        is_nullable: !in_body.is_required,
        ..in_body
    }
}

/// Declares the members of a resource in the order of its JSON, and after them its version.
///
/// `resource!(Category: id, label; version);` implements [`DeclaredResource`] for `Category`, which
/// is written as `{"id":7,"label":"Dogs","version":1}`.
///
/// Three keywords declare special members after the version. In
/// `resource!(Order: id, status; version, since price, private contact, file holds);`
///
/// * `since price` says that older representations may lack the price,
/// * `private contact` says that the contact is personal data, so it is null for audiences that
///   must not see it,
/// * `file holds` says that only files have the member `holds`.
macro_rules! resource {
    (
        $resource:ident: $($member:ident $(as $name:ident)?),+
        $(; $version:ident $(, since $added:ident)* $(, private $private:ident)? $(, file $file:ident)?)?
    ) => {
        impl $crate::json::resource::DeclaredResource for $resource {
            const ADDED_MEMBERS: &'static [$crate::json::resource::AddedMember] = &[$(
                $($crate::json::resource::added_member!($added),)*
                $($crate::json::resource::added_member!($private),)?
            )?];

            fn write(&self, out: &mut Vec<u8>, audience: $crate::json::resource::Audience) {
                // Only `private` and `file` depend on the audience, and a resource may have
                // neither.
                let _ = audience;
                let mut object = $crate::json::Object::begin(out);
                $(object.put($crate::json::members::name!($member $($name)?), &self.$member);)+
                $(
                    object.put(stringify!($version), &self.$version);
                    $(object.put(stringify!($added), &self.$added);)*
                    $(if audience.sees_personal_data() {
                        object.put(stringify!($private), &self.$private);
                    } else {
                        object.null(stringify!($private));
                    })?
                    $(if audience.is_file() {
                        object.put(stringify!($file), &self.$file);
                    })?
                )?
                object.end();
            }

            fn read_representation(
                object: &[u8],
                subject: &'static str,
                audience: $crate::json::resource::Audience,
            ) -> Result<Self, $crate::json::Invalid> {
                use $crate::json::members::{Member, Members, name};

                // Only `private` and `file` depend on the audience, and a resource may have
                // neither.
                let _ = audience;

                let members = Members::parse(object, subject, &[
                    $(name!($member $($name)?),)+
                    $(
                        stringify!($version),
                        $(stringify!($added),)*
                        $(stringify!($private),)?
                        $(stringify!($file),)?
                    )?
                ])?;
                Ok(Self {
                    $($member: Member::from_file(&members, name!($member $($name)?))?,)+
                    $(
                        $version: members.required::<$crate::json::member_values::Version>(stringify!($version))?.0,
                        $($added: members.patch(stringify!($added))?.into_value(),)*
                        $($private: members.patch(stringify!($private))?.into_value(),)?
                        $($file: if audience.is_file() {
                            members.required(stringify!($file))?
                        } else {
                            Default::default()
                        },)?
                    )?
                })
            }

            fn declared() -> $crate::json::declared::DeclaredObject {
                use $crate::json::{members::name, resource::declared_in_resource};

                $crate::json::declared::DeclaredObject {
                    name: stringify!($resource),
                    members: vec![
                        $(declared_in_resource(
                            name!($member $($name)?),
                            |resource: &Self| &resource.$member,
                        ),)+
                        $(
                            declared_in_resource(stringify!($version), |resource: &Self| &resource.$version),
                            $(declared_in_resource(stringify!($added), |resource: &Self| &resource.$added),)*
                            $(declared_in_resource(stringify!($private), |resource: &Self| &resource.$private),)?
                        )?
                    ],
                }
            }
        }
    };
}
pub(super) use resource;

/// Expands to the [`AddedMember`] with this name: `added_member!(price)`.
macro_rules! added_member {
    ($name:ident) => {
        $crate::json::resource::AddedMember {
            start: concat!("\"", stringify!($name), "\":"),
            null_member: concat!(",\"", stringify!($name), "\":null"),
        }
    };
}
pub(super) use added_member;
