//! The members of a JSON object: all of them known, each with a valid value.

use serde_json::value::RawValue;

use super::{Invalid, integer, string, times};
use crate::domain::{
    PetId, PetName, PetStatus,
    pet::HIGHEST_IMPORTED,
    store_area::{
        Contact, Decimal, Field, Label, Note, OrderId, Reason, Reference, WithdrawalReason,
    },
};

pub(crate) struct Members<'a> {
    what: &'static str,
    members: Vec<(String, &'a RawValue)>,
}

/// What the value of a member can be.
pub(crate) struct Kind<T> {
    pub(crate) read: fn(&RawValue) -> Option<T>,
    /// Completes the sentence "The member must be …".
    pub(crate) is: &'static str,
}

fn text<T>(value: &RawValue, new: impl FnOnce(String) -> Option<T>) -> Option<T> {
    string(value).and_then(new)
}

pub(crate) const NAME: Kind<PetName> =
    Kind { read: |value| text(value, PetName::new), is: "a string of Unicode text without U+0000" };

pub(crate) const INTEGER: Kind<i64> =
    Kind { read: integer, is: "an integer from -9223372036854775808 to 9223372036854775807" };

pub(crate) const PET_STATUS: Kind<PetStatus> = Kind {
    read: |value| text(value, |text| text.parse().ok()),
    is: "one of available, pending and sold",
};

pub(crate) const WITHDRAWAL_REASON: Kind<WithdrawalReason> = Kind {
    read: |value| text(value, |text| text.parse().ok()),
    is: "one of died, transferred, reclaimed, mistake and other",
};

pub(crate) const REFERENCE: Kind<Reference> = Kind {
    read: |value| text(value, Reference::new),
    is: "a string of at most 255 characters without U+0000",
};

pub(crate) const NOTE: Kind<Note> = Kind {
    read: |value| text(value, Note::new),
    is: "a string of at most 2000 characters without U+0000",
};

pub(crate) const CONTACT: Kind<Contact> = Kind {
    read: |value| text(value, Contact::new),
    is: "a string of 1 to 500 characters without U+0000",
};

pub(crate) const REASON: Kind<Reason> = Kind {
    read: |value| text(value, Reason::new),
    is: "a string of at most 255 characters without U+0000",
};

pub(crate) const LABEL: Kind<Label> = Kind {
    read: |value| text(value, Label::new),
    is: "a string of 1 to 255 characters without U+0000",
};

pub(super) const BOOLEAN: Kind<bool> =
    Kind { read: |value| value.get().parse().ok(), is: "true or false" };

pub(crate) const DECIMAL: Kind<Decimal> = Kind {
    read: |value| text(value, |text| Decimal::new(&text)),
    is: "a string with a number of at most 12 digits before the point and 4 after it, such as \
         \"249.00\"",
};

pub(crate) const TIME: Kind<jiff::Timestamp> = Kind {
    read: |value| text(value, |text| times::parse(&text)),
    is: "an RFC 3339 time, such as 2026-12-06T11:00:00+01:00",
};

/// What an identifier or a version in a file must be: at most [`HIGHEST_IMPORTED`].
pub(crate) const UP_TO_HIGHEST_IMPORTED: &str = "an integer from 1 to 9006099743113216";

pub(crate) fn imported(number: i64) -> Option<i64> {
    (number <= HIGHEST_IMPORTED).then_some(number)
}

pub(super) const PET_ID: Kind<PetId> = Kind {
    read: |value| integer(value).and_then(imported).and_then(PetId::new),
    is: UP_TO_HIGHEST_IMPORTED,
};

pub(super) const ORDER_ID: Kind<OrderId> = Kind {
    read: |value| integer(value).and_then(imported).and_then(OrderId::new),
    is: UP_TO_HIGHEST_IMPORTED,
};

pub(super) const VERSION: Kind<i64> = Kind {
    read: |value| integer(value).and_then(imported).filter(|&version| version > 0),
    is: UP_TO_HIGHEST_IMPORTED,
};

impl<'a> Members<'a> {
    /// The members of an object, which has only members with these names. `what` names the object
    /// in a message, such as "The body".
    pub(crate) fn of(
        object: &'a [u8],
        what: &'static str,
        names: &[&str],
    ) -> Result<Self, Invalid> {
        let members = Self::any(object, what)?;
        members.check(names)?;
        Ok(members)
    }

    /// The members of an object with any names. See [`Self::check`].
    pub(crate) fn any(object: &'a [u8], what: &'static str) -> Result<Self, Invalid> {
        Ok(Self { what, members: super::members(object, what)? })
    }

    /// Rejects a member with another name than these.
    pub(crate) fn check(&self, names: &[&str]) -> Result<(), Invalid> {
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
        let message =
            format!("{} has the unknown member {shown:?}. Allowed members: {allowed}.", self.what);
        Err(Invalid::UnknownMember(message))
    }

    /// The value of a member that can be absent, but not null.
    pub(crate) fn optional<T>(&self, name: &str, kind: &Kind<T>) -> Result<Option<T>, Invalid> {
        let Some(value) = self.find(name) else {
            return Ok(None);
        };
        match (kind.read)(value) {
            Some(value) => Ok(Some(value)),
            None => Err(Invalid::Value(format!("{name} must be {}.", kind.is))),
        }
    }

    /// The value of a member that cannot be absent.
    pub(crate) fn required<T>(&self, name: &str, kind: &Kind<T>) -> Result<T, Invalid> {
        self.optional(name, kind)?
            .ok_or_else(|| Invalid::Value(format!("{name} is missing; it must be {}.", kind.is)))
    }

    /// The value of a member that cannot be absent, but null.
    pub(crate) fn nullable<T>(&self, name: &str, kind: &Kind<T>) -> Result<Option<T>, Invalid> {
        if self.find(name).is_some_and(|value| value.get() == "null") {
            return Ok(None);
        }
        self.required(name, kind).map(Some)
    }

    /// The value of a member that can be absent or null.
    pub(crate) fn optional_or_null<T>(
        &self,
        name: &str,
        kind: &Kind<T>,
    ) -> Result<Option<T>, Invalid> {
        Ok(match self.patch(name, kind)? {
            Field::Set(value) => Some(value),
            Field::Keep | Field::Clear => None,
        })
    }

    /// The change of a member by a merge patch: null removes it.
    pub(crate) fn patch<T>(&self, name: &str, kind: &Kind<T>) -> Result<Field<T>, Invalid> {
        if self.find(name).is_some_and(|value| value.get() == "null") {
            return Ok(Field::Clear);
        }
        Ok(self.optional(name, kind)?.map_or(Field::Keep, Field::Set))
    }

    fn find(&self, name: &str) -> Option<&'a RawValue> {
        self.members.iter().find(|(given, _)| given == name).map(|&(_, value)| value)
    }
}
