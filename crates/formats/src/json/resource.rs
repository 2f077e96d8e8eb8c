//! Resources whose members are declared: how clients, the log of changes and files have them.

use super::{
    Invalid,
    declared::{DeclaredMember, DeclaredObject},
    members::{Member, declared_member},
};

/// Who gets a resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Readers {
    /// Every client, and the log of changes.
    All,
    /// Clients with permission to see personal data.
    Staff,
    /// A file with everything.
    File,
}

pub(super) trait Resource: Sized {
    /// The members that an older representation may not have, as `"name":` and `,"name":null`.
    const ADDED: &'static [[&'static str; 2]];

    fn write(&self, out: &mut Vec<u8>, readers: Readers);

    /// Reads one that was written for these readers: of a file, or of the log of changes. A member that they do not get
    /// has its default. `what` is its name in a message, such as "The order".
    fn read_representation(
        object: &[u8],
        what: &'static str,
        readers: Readers,
    ) -> Result<Self, Invalid>;

    /// Returns what the document says of the members that clients get.
    fn declared() -> DeclaredObject;
}

/// Returns what the document says of a member of a resource: clients always get it, and null in place of no value.
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

/// Declares the members of a resource, in their order in JSON. Behind `since` is one that an older file may
/// not have; behind `private`, one that is personal data, and null for most readers; behind `file`, one
/// that only files have.
macro_rules! resource {
    (
        $resource:ident: $($member:ident $(as $name:ident)?),+
        $(; $version:ident $(, since $added:ident)* $(, private $private:ident)? $(, file $file:ident)?)?
    ) => {
        impl $crate::json::resource::Resource for $resource {
            const ADDED: &'static [[&'static str; 2]] = &[$(
                $($crate::json::resource::added!($added),)*
                $($crate::json::resource::added!($private),)?
            )?];

            fn write(&self, out: &mut Vec<u8>, readers: $crate::json::resource::Readers) {
                // Not every resource has members for only some readers.
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
                what: &'static str,
                readers: $crate::json::resource::Readers,
            ) -> Result<Self, $crate::json::Invalid> {
                use $crate::json::members::{Member, Members, name};

                // Not every resource has members for only some readers.
                let _ = readers;

                let members = Members::of(object, what, &[
                    $(name!($member $($name)?),)+
                    $(
                        stringify!($version),
                        $(stringify!($added),)*
                        $(stringify!($private),)?
                        $(stringify!($file),)?
                    )?
                ])?;
                Ok(Self {
                    $($member: Member::in_file(&members, name!($member $($name)?))?,)+
                    $(
                        $version: members.required::<$crate::json::members::Version>(stringify!($version))?.0,
                        $($added: members.patch(stringify!($added))?.set(),)*
                        $($private: members.patch(stringify!($private))?.set(),)?
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

/// A member that an older representation may not have.
macro_rules! added {
    ($name:ident) => {
        [
            concat!("\"", stringify!($name), "\":"),
            concat!(",\"", stringify!($name), "\":null"),
        ]
    };
}
pub(super) use added;
