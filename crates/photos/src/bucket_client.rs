//! The HTTP client of a bucket, with the TLS of the other connections that the service makes.

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

/// The path at which a client without credentials asks the machine of a cloud for some.
const CREDENTIALS_OF_MACHINE: &str = "/latest/api/token";

/// The maker of the client for a bucket.
#[derive(Debug)]
pub(super) struct Connector {
    /// The time within which a request must get the head of its response.
    pub(super) head_timeout: Duration,
}

/// The error of a client without credentials.
#[derive(Debug, thiserror::Error)]
#[error(
    "there are no credentials for the bucket; set the variables AWS_ACCESS_KEY_ID and \
     AWS_SECRET_ACCESS_KEY"
)]
struct NoCredentials;

/// The client for a bucket.
#[derive(Debug)]
struct Service {
    client: Client<HttpsConnector<TcpConnector>, HttpRequestBody>,
    /// The time within which a request must get the head of its response.
    head_timeout: Duration,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let roots = tls::system_roots().ok_or_else(|| tls_error("no trusted roots"))?;
        let tls_connector =
            tls::connector(CertificateCheck::ChainAndName(roots)).map_err(tls_error)?;
        let mut tcp = TcpConnector::new();
        // Otherwise it rejects https URLs.
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

fn tls_error(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> object_store::Error {
    object_store::Error::Generic {
        store: "TLS",
        source: cause.into(),
    }
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_about_credentials = request.uri().path() == CREDENTIALS_OF_MACHINE;
        let result = time::timeout(self.head_timeout, self.client.request(request)).await;
        if is_about_credentials && !matches!(result, Ok(Ok(_))) {
            return Err(HttpError::new(HttpErrorKind::Request, NoCredentials));
        }
        let response = match result {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(request_error(error)),
            Err(elapsed) => return Err(HttpError::new(HttpErrorKind::Timeout, elapsed)),
        };
        Ok(response.map(|body| HttpResponseBody::new(body.map_err(body_error))))
    }
}

/// Returns the error of a request without a response.
fn request_error(error: Error) -> HttpError {
    let kind = if error.is_connect() {
        HttpErrorKind::Connect
    } else {
        HttpErrorKind::Request
    };
    HttpError::new(kind, error)
}

/// Returns the error of a response whose body breaks off.
fn body_error(error: impl StdError + Send + Sync + 'static) -> HttpError {
    HttpError::new(HttpErrorKind::Interrupted, error)
}
