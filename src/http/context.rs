//! The parts of HTTP that all operations need, and the settings of the interface.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::time::Duration;

use hyper::{header::HeaderValue, http::request::Parts};

use super::etag::Tags;
use crate::{
    app::Caller,
    domain::{Deployment, rate_limit::Reading},
    edge::{BaseUrl, ResponseMemory, UnreadBody},
};

/// The settings that an operator can choose.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The deployment that the interface belongs to.
    pub deployment: Deployment,
    pub base_url: Option<BaseUrl>,
    pub staging_base_url: Option<BaseUrl>,
    /// Whether clients reach the service over TLS.
    pub tls: bool,
}

impl Settings {
    /// The URL at which clients reach this deployment, if it is set.
    pub fn own_base_url(&self) -> Option<&BaseUrl> {
        match self.deployment {
            Deployment::Production => self.base_url.as_ref(),
            Deployment::Staging => self.staging_base_url.as_ref(),
        }
    }
}

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
