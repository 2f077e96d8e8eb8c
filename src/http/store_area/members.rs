//! The members of a request's body.

use std::borrow::Cow;

use super::preconditions;
pub(super) use crate::json::members::*;
use crate::{
    domain::store_area::IfMatch,
    edge::{ApiError, Problem},
    json,
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

/// What a command requires of the version of its animal or order.
pub(super) const IF_MATCH: Kind<IfMatch> = Kind {
    read: |value| {
        if let Some(tags) = json::string(value) {
            return preconditions::parse(tags.as_bytes());
        }
        let version = json::integer(value).filter(|&version| version > 0)?;
        Some(IfMatch::Versions(vec![version]))
    },
    is: "the version as an integer from 1 on, or as a string the ETag",
};

pub(super) const COMMAND: Kind<String> =
    Kind { read: json::string, is: "the name of a command, such as patchPet" };

/// 400 for a member.
pub(super) fn invalid(message: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(Problem::InvalidBody, message)
}
