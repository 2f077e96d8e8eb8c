//! Resources with declared members, and their representations for clients, for the log of changes and for files.

use super::{
    Invalid,
    declared::{DeclaredMember, DeclaredObject},
    members::{Member, declared_member},
};

/// The readers of a representation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Readers {
    /// Every client, and the log of changes.
    All,
    /// Clients with permission to see personal data.
    Staff,
    /// A file with everything.
    File,
}

/// A resource with declared members. See [`resource!`].
pub(super) trait Resource: Sized {
    /// The members that an older representation may not have, as `"name":` and `,"name":null`.
    const ADDED_MEMBERS: &'static [[&'static str; 2]];

    fn write(&self, out: &mut Vec<u8>, readers: Readers);

    /// Reads a resource that was written for these readers, in a file or in the log of changes. A member that they do not
    /// get has its default. `subject` is the name of the resource in a message, such as "The order".
    fn read_representation(
        object: &[u8],
        subject: &'static str,
        readers: Readers,
    ) -> Result<Self, Invalid>;

    /// Returns the members that clients get, for the document.
    fn declared() -> DeclaredObject;
}

/// Returns a member of a resource for the document: clients always get the member, with null in place of no value.
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

/// Declares the members of a resource, in the order of its JSON, and then its version.
///
/// A member after `since` can be missing in an older file. A member after `private` is personal data, and null for most
/// readers. A member after `file` is only in files.
///
/// `resource!(Category: id, label; version);` implements [`Resource`] for `Category`, which is written as
/// `{"id":7,"label":"Dogs","version":1}`.
macro_rules! resource {
    (
        $resource:ident: $($member:ident $(as $name:ident)?),+
        $(; $version:ident $(, since $added:ident)* $(, private $private:ident)? $(, file $file:ident)?)?
    ) => {
        impl $crate::json::resource::Resource for $resource {
            const ADDED_MEMBERS: &'static [[&'static str; 2]] = &[$(
                $($crate::json::resource::added!($added),)*
                $($crate::json::resource::added!($private),)?
            )?];

            fn write(&self, out: &mut Vec<u8>, readers: $crate::json::resource::Readers) {
                // A resource without members for only some readers does not use this.
                let _ = readers;
                let mut object = $crate::json::Object::begin(out);
                $(object.put($crate::json::members::name!($member $($name)?), &self.$member);)+
                $(
                    object.put(stringify!($version), &self.$version);
                    $(object.put(stringify!($added), &self.$added);)*
                    $(if readers < $crate::json::resource::Readers::Staff {
                        object.null(stringify!($private));
                    } else {
                        object.put(stringify!($private), &self.$private);
                    })?
                    $(if readers == $crate::json::resource::Readers::File {
                        object.put(stringify!($file), &self.$file);
                    })?
                )?
                object.end();
            }

            fn read_representation(
                object: &[u8],
                subject: &'static str,
                readers: $crate::json::resource::Readers,
            ) -> Result<Self, $crate::json::Invalid> {
                use $crate::json::members::{Member, Members, name};

                // A resource without members for only some readers does not use this.
                let _ = readers;

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
                        $($file: if readers == $crate::json::resource::Readers::File {
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

/// Returns the texts of a member that an older representation may not have: `added!(price)` becomes
/// `["\"price\":", ",\"price\":null"]`.
macro_rules! added {
    ($name:ident) => {
        [
            concat!("\"", stringify!($name), "\":"),
            concat!(",\"", stringify!($name), "\":null"),
        ]
    };
}
pub(super) use added;
