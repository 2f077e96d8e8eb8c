//! The parts of HTTP that all operations need.

use std::time::Duration;

use hyper::{header::HeaderValue, http::request::Parts};

use super::etag::Tags;
use crate::{
    app::Caller,
    domain::rate_limit::Reading,
    edge::{ResponseMemory, UnreadBody},
};

/// The parts that the responses of all operations share.
pub(crate) struct Context {
    pub(crate) memory: ResponseMemory,
    pub(crate) tags: Tags,
    /// The path of the base address as clients see it, used in links.
    pub(crate) base_path: String,
    /// How long a client may take to send a body.
    pub(crate) body_timeout: Duration,
}

/// The arguments of an operation.
pub(crate) struct Call<'r> {
    pub(crate) request: &'r Parts,
    /// The `X-Request-Id` of the response.
    pub(crate) request_id: &'r HeaderValue,
    /// The name of the operation.
    pub(crate) operation: &'static str,
    /// The first parameter in the path, not decoded. Empty if the operation has none.
    pub(crate) parameter: &'r str,
    /// The same of the second one.
    pub(crate) second: &'r str,
    pub(crate) body: UnreadBody<'r>,
    /// The client, if the operation needs a key.
    pub(crate) caller: Option<&'r Caller>,
    /// The rate limit of the key, if it has one.
    pub(crate) rate: &'r mut Option<Reading>,
}
