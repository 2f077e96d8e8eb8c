//! The parts of HTTP that all operations need, and the settings of the interface.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::time::Duration;

use hyper::{header::HeaderValue, http::request::Parts};
use petstore_app::{Caller, StoreOptions};
use petstore_domain::{Deployment, rate_limit::MeterReading};
use petstore_web::edge::{BaseUrl, ResponseMemory, UnreadBody};

use super::etag::EtagKey;

/// The settings that an operator can choose.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The deployment that the interface belongs to.
    pub deployment: Deployment,
    pub base_url: Option<BaseUrl>,
    pub staging_base_url: Option<BaseUrl>,
    /// Whether clients reach the service over TLS.
    pub tls: bool,
    /// What holds for the store if its profile does not say it.
    pub store: StoreOptions,
}

impl Settings {
    /// Returns the URL at which clients reach this deployment, if it is set.
    pub fn own_base_url(&self) -> Option<&BaseUrl> {
        match self.deployment {
            Deployment::Production => self.base_url.as_ref(),
            Deployment::Staging => self.staging_base_url.as_ref(),
        }
    }
}

/// The parts that the responses of all operations share.
pub struct Context {
    pub memory: ResponseMemory,
    pub etag_key: EtagKey,
    /// The path of the base address as clients see it, used in links.
    pub(crate) base_path: String,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
}

/// The arguments of an operation.
pub struct Call<'r> {
    pub request: &'r Parts,
    /// The `X-Request-Id` of the response.
    pub request_id: &'r HeaderValue,
    /// The name of the operation.
    pub operation: &'static str,
    /// The first parameter in the path, not decoded. Empty if the operation has none.
    pub parameter: &'r str,
    /// The second parameter in the path, not decoded. Empty if the operation has less than two.
    pub second: &'r str,
    pub body: UnreadBody<'r>,
    /// The client, if the operation needs a key.
    pub caller: Option<&'r Caller>,
    /// The rate limit of the key, if it has one.
    pub rate: &'r mut Option<MeterReading>,
}
