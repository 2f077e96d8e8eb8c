//! Sends HTTP requests to the provider. Each request has a time limit and a size limit, and follows
//! no redirects.
//!
//! As a protection against SSRF, the allowed addresses depend on the issuer, which the operator
//! chose: see `Fetcher::allowed_addresses`.

use std::{net::SocketAddr, time::Duration};

use hyper::{
    Method, Request, StatusCode,
    body::Bytes,
    header,
    http::{request, response},
};
use petstore_domain::Networks;
use petstore_observe::log::error_chain;
use petstore_system::{
    addresses::{Resolve, SharedResolver, forbidden_reason},
    http_client::{BodyError, BodyLimits, Connection, FetchedResponse, RequestError},
    tls::{self, CertificateCheck},
};
use serde::de::DeserializeOwned;
use tokio::time;
use tokio_rustls::{
    TlsConnector,
    rustls::{self, RootCertStore},
};
use url::Url;

use super::{failure::Failure, settings::Issuer};

/// The maximum length of a response, in bytes. It bounds the memory; real responses have a few KiB.
const MAX_RESPONSE_BYTES: usize = 256 << 10;

/// The HTTP client for the provider.
pub(super) struct Fetcher {
    issuer: Issuer,
    resolver: SharedResolver,
    /// The TLS configuration; `None` if the system has no trusted root certificates.
    tls: Option<TlsConnector>,
    /// The time limit of a request, from resolving the host to the end of the response.
    time_limit: Duration,
}

/// The token request that redeems an authorization code.
pub(super) struct CodeForm {
    pub(super) body: String,
    /// The `Authorization` header, if the client authenticates with it.
    pub(super) authorization: Option<String>,
}

/// The body of a successful response.
pub(super) struct Content {
    /// Whether the body is a signed token (JWT) rather than plain JSON.
    pub(super) is_token: bool,
    pub(super) body: Bytes,
}

impl Content {
    /// Parses the body as JSON. The failure names the URL.
    pub(super) fn parse_json<T: DeserializeOwned>(&self, url: &Url) -> Result<T, Failure> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Failure::Invalid(format!("the response of {url}: {error}")))
    }
}

/// Whether the `Content-Type` of a response is `application/jwt` (RFC 7519, section 10.3.1).
fn has_token_type(head: &response::Parts) -> bool {
    let Some(content_type) = head.headers.get(header::CONTENT_TYPE) else {
        return false;
    };
    // Parameters follow the media type after a semicolon.
    let text = content_type.to_str().unwrap_or_default();
    let media_type = text.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/jwt")
}

/// Returns the content of a response. Fails unless the status is 200, and the body is complete and
/// not too long. `url` is only for the message of the failure.
fn content_of_response(url: &Url, response: FetchedResponse) -> Result<Content, Failure> {
    let status = response.head.status;
    if status != StatusCode::OK {
        let message = format!("{url} responds with {status}");
        // A server error is an outage of the provider, and says nothing about the request.
        return Err(if status.is_server_error() {
            Failure::Unreachable(message)
        } else {
            Failure::Invalid(message)
        });
    }
    match response.body {
        Ok(body) => Ok(Content {
            is_token: has_token_type(&response.head),
            body,
        }),
        Err(BodyError::TooLong) => Err(Failure::Invalid(format!(
            "{url} responds with more than {MAX_RESPONSE_BYTES} bytes"
        ))),
        Err(error @ (BodyError::TooSlow | BodyError::Broken)) => {
            Err(Failure::Unreachable(format!("{url}: {error}")))
        }
    }
}

impl Fetcher {
    /// Returns a client whose requests have this time limit. Fails only if the build supports no
    /// suitable TLS version.
    pub(super) fn new(
        issuer: Issuer,
        resolver: Box<dyn Resolve>,
        roots: Option<RootCertStore>,
        time_limit: Duration,
    ) -> Result<Self, rustls::Error> {
        let tls = roots
            .map(CertificateCheck::ChainAndName)
            .map(tls::connector)
            .transpose()?;
        Ok(Self {
            issuer,
            resolver: SharedResolver::new(resolver),
            tls,
            time_limit,
        })
    }

    /// Fetches a JSON document.
    pub(super) async fn get_json<T: DeserializeOwned>(&self, url: &Url) -> Result<T, Failure> {
        let content = self.fetch(url, Request::builder(), String::new()).await?;
        content.parse_json(url)
    }

    /// Fetches the claims about a person from the userinfo endpoint, as JSON or as a signed token.
    pub(super) async fn get_userinfo(
        &self,
        url: &Url,
        authorization: String,
    ) -> Result<Content, Failure> {
        let request = Request::builder().header(header::AUTHORIZATION, authorization);
        self.fetch(url, request, String::new()).await
    }

    /// Submits a form, and parses the JSON response.
    pub(super) async fn post_form<T: DeserializeOwned>(
        &self,
        url: &Url,
        form: CodeForm,
    ) -> Result<T, Failure> {
        let mut request = Request::builder()
            .method(Method::POST)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some(authorization) = form.authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        self.fetch(url, request, form.body).await?.parse_json(url)
    }

    /// Sends a request within the time limit, and returns the content of the response.
    async fn fetch(
        &self,
        url: &Url,
        request: request::Builder,
        body: String,
    ) -> Result<Content, Failure> {
        let exchange = self.exchange(url, request, body);
        match time::timeout(self.time_limit, exchange).await {
            Ok(result) => result,
            Err(_) => Err(Failure::Unreachable(format!(
                "{url} does not respond in time"
            ))),
        }
    }

    /// Sends a request over a new connection, and returns the content of the response. Fails unless
    /// the status is 200. The caller limits the time.
    async fn exchange(
        &self,
        url: &Url,
        request: request::Builder,
        request_body: String,
    ) -> Result<Content, Failure> {
        let host_addresses = self.allowed_addresses(url).await?;
        let tls = self.tls_for(url)?;
        let request = request
            .header(header::ACCEPT, "application/json, application/jwt")
            .header(header::CONNECTION, "close")
            .header(
                header::USER_AGENT,
                concat!("petstore/", env!("CARGO_PKG_VERSION")),
            );

        let unreachable =
            |error: RequestError| Failure::Unreachable(format!("{url}: {}", error_chain(&error)));
        let mut connection = Connection::open(url, tls, &host_addresses[..])
            .await
            .map_err(unreachable)?;
        let limits = BodyLimits {
            length: MAX_RESPONSE_BYTES,
            timeout: self.time_limit,
        };
        let response = connection
            .fetch(url, request, request_body.into(), limits)
            .await
            .map_err(unreachable)?;
        content_of_response(url, response)
    }

    /// Returns the TLS configuration for a URL; `None` if its scheme is not `https`. Fails if the
    /// system has no trusted root certificates.
    fn tls_for(&self, url: &Url) -> Result<Option<&TlsConnector>, Failure> {
        if url.scheme() != "https" {
            return Ok(None);
        }
        let Some(connector) = &self.tls else {
            let message = "the system has no trusted certificates";
            return Err(Failure::Unreachable(message.to_owned()));
        };
        Ok(Some(connector))
    }

    /// Resolves the host of a URL that the provider names. Fails unless connections to all of its
    /// addresses are allowed.
    ///
    /// The issuer's host may have any address, even on a private network, because the operator
    /// chose it. The addresses of any other host must be public, or of the same kind as an address
    /// of the issuer, such as private or loopback.
    async fn allowed_addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, Failure> {
        let addresses = self.look_up(url).await?;
        if url.host() == self.issuer.url.host() {
            return Ok(addresses);
        }
        let issuer_addresses = self.look_up(&self.issuer.url).await?;
        // The reason why an address is not public, such as "private"; `None` for a public address.
        let non_public_kind =
            |address: &SocketAddr| forbidden_reason(address.ip(), &Networks::default());
        let issuer_kinds: Vec<_> = issuer_addresses
            .iter()
            .filter_map(non_public_kind)
            .collect();
        for kind in addresses.iter().filter_map(non_public_kind) {
            if !issuer_kinds.contains(&kind) {
                let message = format!("{url} leads to a {kind} address");
                return Err(Failure::Invalid(message));
            }
        }
        Ok(addresses)
    }

    /// Resolves the host of a URL to its addresses.
    async fn look_up(&self, url: &Url) -> Result<Vec<SocketAddr>, Failure> {
        let result = self.resolver.resolve_url(url).await;
        result.map_err(|error| Failure::Unreachable(format!("{url}: {}", error_chain(&error))))
    }
}
