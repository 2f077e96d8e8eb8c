//! The members of a request's body.

use std::borrow::Cow;

use petstore_domain::{Problem, store_area::IfMatch};
use petstore_formats::json;
use petstore_web::edge::ApiError;

use super::preconditions;
pub(super) use petstore_formats::json::members::{Body, Members, bodies, values};

/// The name of a command in a batch.
pub(super) struct CommandName(pub(super) String);

/// The version of its animal or order that a command requires.
pub(super) struct RequiredVersion(pub(super) IfMatch);

values! {
    RequiredVersion: "the version as an integer from 1 on, or as a string the ETag", |value| {
        if let Some(tags) = json::string(value) {
            return preconditions::parse(tags.as_bytes()).map(Self);
        }
        let version = json::integer(value).filter(|&version| version > 0)?;
        Some(Self(IfMatch::Versions(vec![version])))
    };
    CommandName: "the name of a command, such as patchPet", |value| json::string(value).map(Self);
}

/// Returns the error for an invalid member.
pub(super) fn invalid(message: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(Problem::InvalidBody, message)
}
