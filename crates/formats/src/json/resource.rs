//! Resources whose members are declared: how clients, the log of changes and files have them.

use super::Invalid;

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

    /// Reads one in a file. `what` is its name in a message, such as "The order".
    fn read_file(object: &[u8], what: &'static str) -> Result<Self, Invalid>;
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

            fn read_file(object: &[u8], what: &'static str) -> Result<Self, $crate::json::Invalid> {
                use $crate::json::members::{Member, Members, name};

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
                        $($file: members.required(stringify!($file))?,)?
                    )?
                })
            }
        }
    };
}
pub(super) use resource;

/// A member that an older representation may not have.
macro_rules! added {
    ($name:ident) => {
        [concat!("\"", stringify!($name), "\":"), concat!(",\"", stringify!($name), "\":null")]
    };
}
pub(super) use added;
