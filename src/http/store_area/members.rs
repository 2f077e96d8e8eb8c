//! The members of a request's body: all of them known, each with a valid value.

use serde_json::value::RawValue;

use super::{preconditions, times};
use crate::{
    domain::{
        PetName, PetStatus,
        store_area::{Field, IfMatch, Label, Note, Reason, Reference, WithdrawalReason},
    },
    http::error::{ApiError, Problem},
    json,
};

/// The members of a JSON object.
pub(super) struct Members<'a>(Vec<(String, &'a RawValue)>);

/// What the value of a member can be.
pub(super) struct Kind<T> {
    read: fn(&RawValue) -> Option<T>,
    /// Completes the sentence "The member must be …".
    is: &'static str,
}

fn text<T>(value: &RawValue, new: impl FnOnce(String) -> Option<T>) -> Option<T> {
    json::string(value).and_then(new)
}

pub(super) const NAME: Kind<PetName> =
    Kind { read: |value| text(value, PetName::new), is: "a string of Unicode text without U+0000" };

pub(super) const INTEGER: Kind<i64> =
    Kind { read: json::integer, is: "an integer from -9223372036854775808 to 9223372036854775807" };

pub(super) const PET_STATUS: Kind<PetStatus> = Kind {
    read: |value| text(value, |text| text.parse().ok()),
    is: "one of available, pending and sold",
};

/// Whether an order is completed at once.
pub(super) const IS_COMPLETED: Kind<bool> = Kind {
    read: |value| match &*json::string(value)? {
        "reserved" => Some(false),
        "completed" => Some(true),
        _ => None,
    },
    is: "reserved or completed",
};

pub(super) const WITHDRAWAL_REASON: Kind<WithdrawalReason> = Kind {
    read: |value| text(value, |text| text.parse().ok()),
    is: "one of died, transferred, reclaimed, mistake and other",
};

pub(super) const REFERENCE: Kind<Reference> = Kind {
    read: |value| text(value, Reference::new),
    is: "a string of at most 255 characters without U+0000",
};

pub(super) const NOTE: Kind<Note> = Kind {
    read: |value| text(value, Note::new),
    is: "a string of at most 2000 characters without U+0000",
};

pub(super) const REASON: Kind<Reason> = Kind {
    read: |value| text(value, Reason::new),
    is: "a string of at most 255 characters without U+0000",
};

pub(super) const LABEL: Kind<Label> = Kind {
    read: |value| text(value, Label::new),
    is: "a string of 1 to 255 characters without U+0000",
};

pub(super) const TIME: Kind<jiff::Timestamp> = Kind {
    read: |value| text(value, |text| times::parse(&text)),
    is: "a time of RFC 3339, such as 2026-12-06T11:00:00+01:00",
};

/// What a command requires of the version of its animal.
pub(super) const IF_MATCH: Kind<IfMatch> = Kind {
    read: |value| {
        if let Some(tags) = json::string(value) {
            return preconditions::parse(tags.as_bytes());
        }
        let version = json::integer(value).filter(|&version| version > 0)?;
        Some(IfMatch::Versions(vec![version]))
    },
    is: "the version of the animal as an integer from 1 on, or as a string its ETag",
};

pub(super) const COMMAND: Kind<String> =
    Kind { read: json::string, is: "the name of a command, such as patchPet" };

impl<'a> Members<'a> {
    /// The members of an object, which has only members with these names. `what` names the object
    /// in a message, such as "The body".
    ///
    /// # Errors
    ///
    /// 400 if it is not an object, or has another member, or one twice.
    pub(super) fn of(
        object: &'a [u8],
        what: &'static str,
        names: &[&str],
    ) -> Result<Self, ApiError> {
        let members = Self::any(object, what)?;
        members.check(names)?;
        Ok(members)
    }

    /// The members of an object with any names. See [`Self::check`].
    pub(super) fn any(object: &'a [u8], what: &'static str) -> Result<Self, ApiError> {
        Ok(Self(json::members(object, what)?))
    }

    /// Rejects a member with another name than these.
    pub(super) fn check(&self, names: &[&str]) -> Result<(), ApiError> {
        let known = |name: &String| names.contains(&name.as_str());
        let Some((unknown, _)) = self.0.iter().find(|(name, _)| !known(name)) else {
            return Ok(());
        };
        // Long enough to recognize it.
        let shown: String = unknown.chars().take(40).collect();
        let allowed = match names {
            [] => "no members".to_owned(),
            names => format!("only {}", names.join(", ")),
        };
        let message = format!("Unknown member {shown:?}. This operation has {allowed}.");
        Err(ApiError::new(Problem::UnknownMember, message))
    }

    /// The value of a member that can be absent, but not null.
    pub(super) fn optional<T>(&self, name: &str, kind: &Kind<T>) -> Result<Option<T>, ApiError> {
        let Some(value) = self.find(name) else {
            return Ok(None);
        };
        match (kind.read)(value) {
            Some(value) => Ok(Some(value)),
            None => Err(invalid(format!("{name} must be {}.", kind.is))),
        }
    }

    /// The value of a member that cannot be absent.
    pub(super) fn required<T>(&self, name: &str, kind: &Kind<T>) -> Result<T, ApiError> {
        self.optional(name, kind)?
            .ok_or_else(|| invalid(format!("{name} is missing; it must be {}.", kind.is)))
    }

    /// The change of a member by a merge patch: null removes it.
    pub(super) fn patch<T>(&self, name: &str, kind: &Kind<T>) -> Result<Field<T>, ApiError> {
        if self.find(name).is_some_and(|value| value.get() == "null") {
            return Ok(Field::Clear);
        }
        Ok(self.optional(name, kind)?.map_or(Field::Keep, Field::Set))
    }

    fn find(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(given, _)| given == name).map(|&(_, value)| value)
    }
}

/// 400 for a member.
pub(super) fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> ApiError {
    ApiError::new(Problem::InvalidBody, message)
}
