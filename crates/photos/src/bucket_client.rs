//! The HTTP client for a bucket, with the same TLS settings as the other outgoing connections of
//! the service.

use std::{error::Error as StdError, time::Duration};

use async_trait::async_trait;
use http_body_util::BodyExt;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, Error, connect::HttpConnector as TcpConnector},
    rt::TokioExecutor,
};
use object_store::{
    ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
        HttpResponse, HttpResponseBody, HttpService,
    },
};
use petstore_system::tls::{self, CertificateCheck};
use tokio::time;

/// The path at the instance metadata service of a cloud from which the client requests credentials
/// if none are configured.
const INSTANCE_METADATA_PATH: &str = "/latest/api/token";

/// The factory of the HTTP clients for a bucket.
#[derive(Debug)]
pub(super) struct Connector {
    /// The time limit for the head of a response to arrive.
    pub(super) head_timeout: Duration,
}

/// The error if there are no credentials, neither from the operator nor from the cloud.
#[derive(Debug, thiserror::Error)]
#[error(
    "there are no credentials for the bucket; set the variables AWS_ACCESS_KEY_ID and \
     AWS_SECRET_ACCESS_KEY"
)]
struct NoCredentials;

/// The HTTP client for a bucket.
#[derive(Debug)]
struct Service {
    client: Client<HttpsConnector<TcpConnector>, HttpRequestBody>,
    /// The time limit for the head of a response to arrive.
    head_timeout: Duration,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let roots = tls::system_roots().ok_or_else(|| tls_error("no trusted roots"))?;
        let tls_connector =
            tls::connector(CertificateCheck::ChainAndName(roots)).map_err(tls_error)?;
        let mut tcp = TcpConnector::new();
        // By default, the TCP connector rejects https URLs.
        tcp.enforce_http(false);
        tcp.set_nodelay(true);

        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls_connector.config().as_ref().clone())
            // The URL of the endpoint decides between HTTP and HTTPS.
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(HttpClient::new(Service {
            client,
            head_timeout: self.head_timeout,
        }))
    }
}

/// Returns the error of a client that cannot be set up for TLS.
fn tls_error(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> object_store::Error {
    object_store::Error::Generic {
        store: "TLS",
        source: cause.into(),
    }
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let asks_for_credentials = request.uri().path() == INSTANCE_METADATA_PATH;
        let error = match time::timeout(self.head_timeout, self.client.request(request)).await {
            Ok(Ok(response)) => {
                return Ok(response.map(|body| HttpResponseBody::new(body.map_err(body_error))));
            }
            Ok(Err(error)) => request_error(error),
            Err(elapsed) => HttpError::new(HttpErrorKind::Timeout, elapsed),
        };
        // Outside of a cloud, there is no instance metadata service. The operator needs to know
        // what to configure.
        if asks_for_credentials {
            return Err(HttpError::new(HttpErrorKind::Request, NoCredentials));
        }
        Err(error)
    }
}

/// Converts the error of a request that got no response.
fn request_error(error: Error) -> HttpError {
    let kind = if error.is_connect() {
        HttpErrorKind::Connect
    } else {
        HttpErrorKind::Request
    };
    HttpError::new(kind, error)
}

/// Converts the error of a response whose body was cut off.
fn body_error(error: impl StdError + Send + Sync + 'static) -> HttpError {
    HttpError::new(HttpErrorKind::Interrupted, error)
}
