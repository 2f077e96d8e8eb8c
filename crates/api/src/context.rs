//! What the operations get: the settings of the API, the state that they share, and the arguments of each.

use std::time::Duration;

use hyper::{header::HeaderValue, http::request::Parts};
use petstore_app::{Caller, StoreOptions};
use petstore_domain::{Deployment, rate_limit::MeterReading};
use petstore_web::edge::{BaseUrl, ResponseMemory, UnreadBody, etag::EtagKey};

/// The settings of the API that an operator can choose.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The deployment that this API belongs to.
    pub deployment: Deployment,
    /// The URL at which clients reach the production deployment, if it is configured.
    pub base_url: Option<BaseUrl>,
    /// The URL at which clients reach the staging deployment, if it is configured.
    pub staging_base_url: Option<BaseUrl>,
    /// Whether clients reach the service over TLS.
    pub tls: bool,
    /// The fallback for facts about the store that its profile does not state.
    pub store: StoreOptions,
}

impl Settings {
    /// Returns the configured URL at which clients reach this deployment, if any.
    pub fn own_base_url(&self) -> Option<&BaseUrl> {
        match self.deployment {
            Deployment::Production => self.base_url.as_ref(),
            Deployment::Staging => self.staging_base_url.as_ref(),
        }
    }
}

/// The HTTP-related state that all operations share.
pub struct Context {
    /// The memory for the bodies of responses.
    pub memory: ResponseMemory,
    /// The key with which the ETags of bodies are computed.
    pub etag_key: EtagKey,
    /// The path of the base URL as clients see it, such as `/v1`, for links.
    pub(crate) base_path: String,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
}

/// The arguments of an operation.
pub struct Call<'r> {
    /// The request, without its body.
    pub request: &'r Parts,
    /// The `X-Request-Id` of the response.
    pub request_id: &'r HeaderValue,
    /// The id of the operation, such as `listPets`.
    pub operation: &'static str,
    /// The first path parameter, still percent-encoded. Empty if the operation has none.
    pub parameter: &'r str,
    /// The second path parameter, still percent-encoded. Empty if the operation has fewer than two.
    pub second_parameter: &'r str,
    /// The body of the request.
    pub body: UnreadBody<'r>,
    /// The caller with the API key of the request. It is `None` if the operation needs no key.
    pub caller: Option<&'r Caller>,
    /// The state of the rate limit of the key, if it has one. A batch updates it when it counts its commands.
    pub rate: &'r mut Option<MeterReading>,
}
