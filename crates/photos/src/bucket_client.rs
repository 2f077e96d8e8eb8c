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

/// A factory of clients whose requests get the head of a response within this time.
#[derive(Debug)]
pub(super) struct Connector(pub(super) Duration);

/// The path at which a client without credentials asks the machine of a cloud for some.
const CREDENTIALS_OF_MACHINE: &str = "/latest/api/token";

/// The error of a client that has no credentials for a bucket.
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
        let roots = tls::system_roots().ok_or_else(|| tls_error("no trusted roots".into()))?;
        let tls =
            tls::connector(Verify::ChainAndName(roots)).map_err(|error| tls_error(error.into()))?;
        let mut tcp = Tcp::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls.config().as_ref().clone())
            // The URL of the endpoint decides whether the connection uses TLS.
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
        let asks_for_credentials = request.uri().path() == CREDENTIALS_OF_MACHINE;
        let response = match time::timeout(self.limit, self.client.request(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(_)) | Err(_) if asks_for_credentials => {
                return Err(HttpError::new(HttpErrorKind::Request, NoCredentials));
            }
            Ok(Err(error)) => return Err(request_error(error)),
            Err(elapsed) => return Err(HttpError::new(HttpErrorKind::Timeout, elapsed)),
        };
        Ok(response.map(|body| {
            let body = body.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error));
            HttpResponseBody::new(body)
        }))
    }
}

fn tls_error(source: Box<dyn std::error::Error + Send + Sync>) -> object_store::Error {
    object_store::Error::Generic {
        store: "TLS",
        source,
    }
}

fn request_error(error: Error) -> HttpError {
    let kind = if error.is_connect() {
        HttpErrorKind::Connect
    } else {
        HttpErrorKind::Request
    };
    HttpError::new(kind, error)
}
