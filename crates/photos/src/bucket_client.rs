//! The HTTP client of a bucket, with the TLS of the other connections that the service makes.

use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, Error, connect::HttpConnector as Tcp},
    rt::TokioExecutor,
};
use object_store::{
    ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
        HttpResponse, HttpResponseBody, HttpService,
    },
};
use petstore_system::tls::{self, Verify};
use tokio::time;

/// Makes the client. Its requests get the head of a response within this time.
#[derive(Debug)]
pub(super) struct Connector(pub(super) Duration);

/// The path at which a client without credentials asks the machine of a cloud for some.
const CREDENTIALS_OF_MACHINE: &str = "/latest/api/token";

/// There are no credentials for a bucket.
#[derive(Debug, thiserror::Error)]
#[error(
    "there are no credentials for the bucket; set the variables AWS_ACCESS_KEY_ID and \
     AWS_SECRET_ACCESS_KEY"
)]
struct NoCredentials;

#[derive(Debug)]
struct Service {
    client: Client<HttpsConnector<Tcp>, HttpRequestBody>,
    limit: Duration,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let of_tls =
            |source: Box<dyn std::error::Error + Send + Sync>| object_store::Error::Generic {
                store: "TLS",
                source,
            };
        let roots = tls::system_roots().ok_or_else(|| of_tls("no trusted roots".into()))?;
        let tls =
            tls::connector(Verify::ChainAndName(roots)).map_err(|error| of_tls(error.into()))?;
        let mut tcp = Tcp::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls.config().as_ref().clone())
            // The operator chooses it with the URL of the endpoint.
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(HttpClient::new(Service {
            client,
            limit: self.0,
        }))
    }
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_about_credentials = request.uri().path() == CREDENTIALS_OF_MACHINE;
        let failed = |error: Error| {
            if is_about_credentials {
                return HttpError::new(HttpErrorKind::Request, NoCredentials);
            }
            let is_connect = error.is_connect();
            let kind = if is_connect {
                HttpErrorKind::Connect
            } else {
                HttpErrorKind::Request
            };
            HttpError::new(kind, error)
        };
        let response = time::timeout(self.limit, self.client.request(request)).await;
        let response = response.map_err(|slow| {
            if is_about_credentials {
                return HttpError::new(HttpErrorKind::Request, NoCredentials);
            }
            HttpError::new(HttpErrorKind::Timeout, slow)
        })?;
        let broken = |error| HttpError::new(HttpErrorKind::Interrupted, error);
        Ok(response
            .map_err(failed)?
            .map(|body| HttpResponseBody::new(body.map_err(broken))))
    }
}
