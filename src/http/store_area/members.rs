//! The members of a request's body.

use std::borrow::Cow;

use super::preconditions;
pub(super) use crate::json::members::{Body, Members, bodies, values};
use crate::{
    domain::{Problem, store_area::IfMatch},
    edge::ApiError,
    json,
};

pub(super) struct CommandName(pub(super) String);

values! {
    // What a command requires of the version of its animal or order.
    IfMatch: "the version as an integer from 1 on, or as a string the ETag", |value| {
        if let Some(tags) = json::string(value) {
            return preconditions::parse(tags.as_bytes());
        }
        let version = json::integer(value).filter(|&version| version > 0)?;
        Some(Self::Versions(vec![version]))
    };
    CommandName: "the name of a command, such as patchPet", |value| json::string(value).map(Self);
}

/// 400 for a member.
pub(super) fn invalid(message: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(Problem::InvalidBody, message)
}
