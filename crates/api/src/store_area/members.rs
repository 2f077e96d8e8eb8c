//! The members of request bodies, and the members that only the commands of a batch have.

use std::borrow::Cow;

use petstore_domain::{Problem, store_area::IfMatch};
use petstore_formats::json;
use petstore_web::edge::ApiError;

use super::preconditions;

pub(super) use petstore_formats::json::members::{Body, Members, bodies, values};

/// The name of a command in a batch.
pub(super) struct CommandName(pub(super) String);

/// The version that a command of a batch requires its animal or order to have.
pub(super) struct RequiredVersion(pub(super) IfMatch);

values! {
    RequiredVersion: "the version as an integer from 1 on, or as a string the ETag", |value| {
        if let Some(tags) = json::as_string(value) {
            return preconditions::parse(tags.as_bytes()).map(Self);
        }
        let version = json::as_integer(value).filter(|&version| version > 0)?;
        Some(Self(IfMatch::Versions(vec![version])))
    };
    CommandName: "the name of a command, such as patchPet", |value| json::as_string(value).map(Self);
}

/// Returns the error for an invalid member.
pub(super) fn invalid(message: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(Problem::InvalidBody, message)
}
