//! Requests to the provider: each with a time limit, a largest response and no redirect, and
//! only to addresses to which the operator's choice of the issuer leads.

use std::{net::SocketAddr, time::Duration};

use hyper::{Method, Request, StatusCode, header};
use petstore_domain::Networks;
use petstore_observe::log::chain;
use petstore_system::{
    addresses::{Lookups, Resolve, judge},
    http_client::{BodyError, Connection, RequestError},
    tls::{self, Verify},
};
use serde::de::DeserializeOwned;
use tokio::time;
use tokio_rustls::{
    TlsConnector,
    rustls::{self, RootCertStore},
};
use url::Url;

use super::settings::{Failure, Issuer};

/// The largest response, in bytes.
const MAX_RESPONSE: usize = 256 << 10;

pub(super) struct Fetcher {
    issuer: Issuer,
    lookups: Lookups,
    tls: Option<TlsConnector>,
    limit: Duration,
}

/// A form, and the value of `Authorization` with which it is sent.
pub(super) type Form = (String, Option<String>);

impl Fetcher {
    pub(super) fn new(
        issuer: Issuer,
        resolver: Box<dyn Resolve>,
        roots: Option<RootCertStore>,
        limit: Duration,
    ) -> Result<Self, rustls::Error> {
        let tls = roots
            .map(Verify::ChainAndName)
            .map(tls::connector)
            .transpose()?;
        Ok(Self {
            issuer,
            lookups: Lookups::new(resolver),
            tls,
            limit,
        })
    }

    /// Gets a document, or sends a form, and reads the JSON of the response.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        url: &Url,
        form: Option<Form>,
    ) -> Result<T, Failure> {
        let body = time::timeout(self.limit, self.exchange(url, form)).await;
        let late = || {
            Err(Failure::Unreachable(format!(
                "{url} does not respond in time"
            )))
        };
        serde_json::from_slice(&body.unwrap_or_else(|_| late())?)
            .map_err(|error| Failure::Invalid(format!("the response of {url}: {error}")))
    }

    async fn exchange(&self, url: &Url, form: Option<Form>) -> Result<Vec<u8>, Failure> {
        let addresses = self.addresses(url).await?;
        let tls = self.tls.as_ref().filter(|_| url.scheme() == "https");
        if tls.is_none() && url.scheme() == "https" {
            return Err(Failure::Unreachable(
                "the system has no trusted certificates".to_owned(),
            ));
        }
        let mut request = Request::builder()
            .header(header::ACCEPT, "application/json")
            .header(header::CONNECTION, "close")
            .header(
                header::USER_AGENT,
                concat!("petstore/", env!("CARGO_PKG_VERSION")),
            );
        let mut sent = String::new();
        if let Some((body, authorization)) = form {
            request = request
                .method(Method::POST)
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
            if let Some(authorization) = authorization {
                request = request.header(header::AUTHORIZATION, authorization);
            }
            sent = body;
        }
        let failed =
            |error: RequestError| Failure::Unreachable(format!("{url}: {}", chain(&error)));
        let mut connection = Connection::open(url, tls, &addresses[..])
            .await
            .map_err(failed)?;
        let limits = (MAX_RESPONSE, self.limit);
        let fetched = connection
            .fetch(url, request, sent.into(), limits)
            .await
            .map_err(failed)?;
        match (fetched.head.status, fetched.body) {
            (StatusCode::OK, Ok(body)) => Ok(body.into()),
            (StatusCode::OK, Err(BodyError::TooLong)) => Err(Failure::Invalid(format!(
                "{url} responds with more than {MAX_RESPONSE} bytes"
            ))),
            (StatusCode::OK, Err(error @ (BodyError::TooSlow | BodyError::Broken))) => {
                Err(Failure::Unreachable(format!("{url}: {error}")))
            }
            (status, _) if status.is_server_error() => Err(Failure::Unreachable(format!(
                "{url} responds with {status}"
            ))),
            (status, _) => Err(Failure::Invalid(format!("{url} responds with {status}"))),
        }
    }

    /// The addresses of a URL that the provider names. The host of the issuer is where the operator wants
    /// it to be, also on a private network. The addresses of another host are public, or of the same kind
    /// as one of the issuer's.
    async fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, Failure> {
        let resolve = async |url: &Url| {
            let found = self.lookups.addresses(url).await;
            found.map_err(|error| Failure::Unreachable(format!("{url}: {}", chain(&error))))
        };
        let addresses = resolve(url).await?;
        if url.host() == self.issuer.url.host() {
            return Ok(addresses);
        }
        let kind = |address: &SocketAddr| judge(address.ip(), &Networks::default());
        let own: Vec<_> = resolve(&self.issuer.url)
            .await?
            .iter()
            .filter_map(kind)
            .collect();
        match addresses
            .iter()
            .filter_map(kind)
            .find(|kind| !own.contains(kind))
        {
            Some(kind) => Err(Failure::Invalid(format!("{url} leads to a {kind} address"))),
            None => Ok(addresses),
        }
    }
}
