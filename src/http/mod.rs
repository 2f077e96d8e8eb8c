//! The contract: HTTP requests in, domain calls, HTTP responses out.

mod access;
mod body;
mod contract;
pub mod documents;
mod edge;
mod error;
mod etag;
mod idempotency;
mod management;
mod query;
mod response;
pub mod routes;

use std::{
    future::poll_fn,
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

pub(crate) use self::{body::MAX_BODY, contract::write_pet};

use bytes::Bytes;
use futures_util::FutureExt;
use http_body_util::Full;
use hyper::{
    Method, Request, StatusCode,
    body::Body,
    header::{self, HeaderValue},
    http::request::Parts,
};
use rand::{Rng, SeedableRng, rngs::StdRng};

pub(crate) use self::edge::response_memory::{Reservation, ResponseMemory};
use self::{
    access::{
        auth::{self, Caller, KeyRing},
        rate_limit,
    },
    body::{TrackedBody, UnreadBody},
    contract::FirstPages,
    documents::{
        api_catalog,
        docs::{self, Docs},
        document::Document,
        openapi::{self, DocumentError, Served},
    },
    edge::{
        compression,
        cors::Cors,
        log::InvalidKeyLines,
        metrics::Metrics,
        request_head,
        request_id::{self, RequestIds},
    },
    error::{ApiError, Problem},
    etag::Tags,
    idempotency::{InFlight, LastMark, Lineages},
    routes::{Access, Call, Found, Operation, Route},
};
pub use self::{body::RequestBody, management::Management};
use crate::{
    config::{BaseUrl, Origin},
    domain::{Client, Clock, Deployment, KeyId, RateLimit, TrustedProxies, rate_limit::Reading},
    observe::{
        metrics::{Connections, TaskMetrics},
        traces::Spans,
    },
    store::{Store, StoreError},
};

/// A response with its whole body, so a client that reads slowly holds only memory.
pub type Response = hyper::Response<Full<Bytes>>;

/// The settings of the interface that an operator can choose.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The deployment whose keys are accepted.
    pub deployment: Deployment,
    /// The base URL of production.
    pub base_url: Option<BaseUrl>,
    /// The base URL of staging.
    pub staging_base_url: Option<BaseUrl>,
    /// Whether clients reach the service over TLS.
    pub tls: bool,
    /// The origins whose pages may use the service from a browser.
    pub cors_origins: Vec<Origin>,
    /// The rate limit of keys without their own limit.
    pub rate_limit: Option<RateLimit>,
    /// The proxies whose header fields name the address of the client.
    pub trusted_proxies: TrustedProxies,
    /// Whether every request is logged, or only requests that fail or are slow.
    pub access_log: bool,
    /// A request that takes at least this long is slow.
    pub slow_request: Duration,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// How long a request may take, from its head to its response.
    pub request_timeout: Duration,
    /// How many bytes of memory all responses together may use until clients have read them.
    pub response_memory: usize,
}

impl Default for Settings {
    /// The settings of `petstore serve` without options.
    fn default() -> Self {
        Self {
            deployment: Deployment::Production,
            base_url: None,
            staging_base_url: None,
            tls: false,
            cors_origins: Vec::new(),
            rate_limit: None,
            trusted_proxies: TrustedProxies::default(),
            access_log: false,
            slow_request: Duration::from_secs(1),
            body_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(45),
            response_memory: 256 << 20,
        }
    }
}

/// The interface: handles requests.
pub struct App {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    keys: KeyRing,
    in_flight: InFlight,
    lineages: Lineages,
    last_mark: LastMark,
    request_ids: RequestIds,
    documents: Served,
    /// The content of `/.well-known/api-catalog`.
    catalog: Document,
    docs: Docs,
    cors: Cors,
    first_pages: FirstPages,
    tags: Tags,
    /// The path of the base address as clients see it, used in links.
    base_path: String,
    /// The path of the list below it.
    pets_path: String,
    /// The `Link` value that names the replacement of `getPet`.
    successor: HeaderValue,
    access_log: bool,
    invalid_keys: InvalidKeyLines,
    trusted_proxies: TrustedProxies,
    slow_request: Duration,
    body_timeout: Duration,
    request_timeout: Duration,
    response_memory: ResponseMemory,
    metrics: Metrics,
    tasks: Arc<TaskMetrics>,
    /// Receives a span for each request, if traces are enabled.
    spans: Option<Spans>,
}

impl App {
    /// Builds the interface over `store`.
    ///
    /// # Errors
    ///
    /// Only if the build is broken.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        random: &mut impl Rng,
        settings: &Settings,
    ) -> Result<Self, DocumentError> {
        let production = settings.base_url.as_ref();
        let staging = settings.staging_base_url.as_ref();
        let own = match settings.deployment {
            Deployment::Production => production,
            Deployment::Staging => staging,
        };
        let base_path = own.map_or("/v1", BaseUrl::path).to_owned();
        let pets_path = format!("{base_path}/pets");
        let successor = format!(r#"<{pets_path}>; rel="successor-version""#);
        Ok(Self {
            keys: KeyRing::new(Arc::<dyn Store>::clone(&store), Arc::clone(&clock), settings),
            in_flight: InFlight::default(),
            lineages: Lineages::default(),
            last_mark: LastMark::default(),
            invalid_keys: InvalidKeyLines::new(clock.instant()),
            trusted_proxies: settings.trusted_proxies.clone(),
            tags: Tags::new(store.etag_key()),
            store,
            clock,
            request_ids: RequestIds::new(StdRng::from_rng(random)),
            documents: Served::new(settings)?,
            catalog: api_catalog::catalog(own),
            docs: Docs::default(),
            cors: Cors::new(&settings.cors_origins),
            first_pages: FirstPages::default(),
            successor: HeaderValue::try_from(successor)
                .map_err(|error| DocumentError(error.to_string()))?,
            base_path,
            pets_path,
            access_log: settings.access_log,
            slow_request: settings.slow_request,
            body_timeout: settings.body_timeout,
            request_timeout: settings.request_timeout,
            response_memory: ResponseMemory::new(settings.response_memory),
            metrics: Metrics::default(),
            tasks: Arc::default(),
            spans: None,
        })
    }

    /// Saves the last use of each key, if the store does not have it yet. Called periodically,
    /// outside of requests.
    ///
    /// # Errors
    ///
    /// Those of the store. The next call then saves these uses.
    pub async fn save_key_uses(&self) -> Result<(), StoreError> {
        self.keys.save_uses().await
    }

    /// Deletes some of the remembered requests that are older than 48 hours, counted in marks, and
    /// returns whether more may be left. Called periodically, outside of requests.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn forget_old_requests(&self) -> Result<bool, StoreError> {
        self.last_mark.forget(self.store.as_ref(), self.clock.as_ref()).await
    }

    /// The metrics of the connections that carry its requests.
    #[must_use]
    pub fn connections(&self) -> &Arc<Connections> {
        &self.metrics.connections
    }

    /// The metrics of the background tasks of the service.
    #[must_use]
    pub fn tasks(&self) -> &Arc<TaskMetrics> {
        &self.tasks
    }

    /// The memory for responses that clients have not read yet.
    pub(crate) fn response_memory(&self) -> &ResponseMemory {
        &self.response_memory
    }

    /// A new `X-Request-Id`, for a response that is sent without a parsed request.
    #[must_use]
    pub fn new_request_id(&self) -> String {
        self.request_ids.new_id().to_str().unwrap_or_default().to_owned()
    }

    /// Handles one request of `client` and always returns a response: sets a request id, announces
    /// the deprecation, turns a panic into a 500, and logs.
    pub fn handle<B: RequestBody>(
        &self,
        client: &Client,
        request: Request<B>,
    ) -> impl Future<Output = Response> {
        // Split here, because otherwise the future would hold both the whole and the parts.
        let (request, body) = request.into_parts();
        let mut body = TrackedBody::new(body);
        async move {
            let started = self.clock.instant();
            let _active = self.metrics.active.enter();
            let id = self.request_ids.of(&request.headers);
            let found = routes::find(&request.method, request.uri.path());
            let mut facts = Facts::default();
            let result = {
                let processing = self.process(client, &request, &id, &mut body, found, &mut facts);
                let processing = AssertUnwindSafe(processing).catch_unwind();
                within(self.request_timeout, pin!(processing)).await
            };
            let result = match result {
                Some(Ok(result)) => result,
                Some(Err(_)) => Err(ApiError::internal(Arc::new(Panicked))),
                None => Err(ApiError::timed_out()),
            };
            let (mut response, cause) = match result {
                Ok(response) => (response, None),
                Err(error) => {
                    facts.problem = Some(error.problem());
                    self.metrics.count_rejection(error.problem());
                    error.into_response()
                }
            };

            let status = response.status();
            let headers = response.headers_mut();
            if let Some(rate) = facts.rate
                && (status.as_u16() < 400 || status == StatusCode::TOO_MANY_REQUESTS)
            {
                rate_limit::announce(headers, rate);
            }
            if let Some(sunset) = found.sunset() {
                sunset.announce(headers, &self.successor);
            }
            if !body.is_read() && request.version < hyper::Version::HTTP_2 {
                // The unread part of the body precedes the next request, so the connection must
                // close (RFC 9112, section 9.6).
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            headers.insert(request_id::HEADER, id);
            headers.entry(header::CACHE_CONTROL).or_insert(etag::REVALIDATE);
            compression::apply(&self.response_memory, &request.headers, &mut response);
            self.cors.announce(&request.headers, response.headers_mut());
            if request.method == Method::HEAD {
                without_body(&mut response);
            }
            let took = self.clock.instant().saturating_duration_since(started);
            self.metrics.count(facts.route, status, took);
            self.trace(&request, &response, &facts, took);
            self.log(client.address(), &request, &response, &facts, cause.as_ref(), took);
            response
        }
    }

    /// Validates the head, checks the key, and runs the operation that was found.
    async fn process(
        &self,
        client: &Client,
        request: &Parts,
        request_id: &HeaderValue,
        body: UnreadBody<'_>,
        found: Found<'_>,
        facts: &mut Facts,
    ) -> Result<Response, ApiError> {
        request_head::check(request)?;
        if let Some(allowed) = self.cors.preflight(request) {
            return Ok(allowed);
        }
        let caller = if found.needs_key(request.uri.path()) {
            Some(self.keys.authenticate(&request.headers, client).await?)
        } else {
            None
        };
        let caller = caller.as_ref();
        facts.key_id = caller.map(Caller::key_id);
        facts.rate = caller.and_then(|caller| caller.rate);
        rate_limit::check(facts.rate)?;
        let (route, parameter) = found.route()?;
        facts.route = Some(route);
        if let Access::Key(needed) = route.access {
            auth::allow(caller, needed)?;
        }
        let call = Call { request, request_id, parameter, body, caller };
        // Called here, because a pointer to an `async` function would cost an allocation, and one
        // more layer 250 instructions.
        match route.operation {
            Operation::listPets => contract::list(self, call).await,
            Operation::createPet => contract::create(self, call).await,
            Operation::getPet => contract::get(self, call).await,
            Operation::openapiYaml => openapi::yaml(self, call).await,
            Operation::openapiJson => openapi::json(self, call).await,
            Operation::apiCatalog => api_catalog::get(self, call).await,
            Operation::root => api_catalog::root(self, call).await,
            Operation::docsRedirect => Ok(docs::redirect()),
            Operation::docsFile => docs::file(self, call).await,
        }
    }
}

/// What the log, the metrics and the trace need to know about a request.
#[derive(Default)]
struct Facts {
    key_id: Option<KeyId>,
    /// The rate limit of the key, if it has one.
    rate: Option<Reading>,
    route: Option<&'static Route>,
    /// Why the request was rejected.
    problem: Option<Problem>,
}

/// Turns the response to a `GET` into one to a `HEAD`: keeps its `Content-Length` and drops the
/// body. A 304 gets no `Content-Length`.
fn without_body(response: &mut Response) {
    if response.status() == StatusCode::NOT_MODIFIED {
        return;
    }
    let length = response.body().size_hint().exact().unwrap_or_default();
    response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    *response.body_mut() = Full::default();
}

/// The output of `work`, or `None` after `limit`. Most requests complete at once, without a timer.
async fn within<F: Future>(limit: Duration, mut work: Pin<&mut F>) -> Option<F::Output> {
    match poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
        Poll::Ready(done) => Some(done),
        Poll::Pending => tokio::time::timeout(limit, work).await.ok(),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a handler panicked")]
struct Panicked;
