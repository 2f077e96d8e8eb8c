//! The edge: the layer around every interface that does the work that all requests need, such as
//! head checks, time limits, error responses, header fields, compression, metrics and logs.

pub mod assets;
pub mod body;
pub mod cache;
pub mod compression;
mod cors;
mod error;
pub mod etag;
pub mod forwarded;
mod head;
mod http_1_0;
mod interface;
mod log;
mod memory_account;
mod metrics;
pub mod multipart;
pub mod photos;
pub mod request;
pub mod response;
mod response_memory;
mod route;
mod settings;
mod trace;

use std::{
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use hyper::{
    Method, Request, Version,
    header::{self, HeaderValue},
    http::request::Parts,
};
use petstore_domain::{Client, Clock};
use petstore_observe::{metrics::Exposition, traces::Spans};
use petstore_store::{Cause, cause};
use rand::{Rng, SeedableRng, rngs::StdRng};

use self::{
    body::TrackedBody,
    cors::Cors,
    forwarded::Strangers,
    log::{LogLimiter, RequestLog},
    metrics::Metrics,
    request::{REQUEST_ID, RequestIds, with_timeout},
};

pub use self::{
    body::{RequestBody, UnreadBody},
    error::{ApiError, ErrorDetails, http_status},
    interface::Interface,
    memory_account::{MemoryAccount, Reservation},
    request::Facts,
    response::{Body, Response},
    response_memory::{Reader, ResponseMemory},
    route::{Label, Route, RouteMatch, Table, find, routes, with_indexes},
    settings::{BaseUrl, Origin, Settings},
};
pub(crate) use self::{
    memory_account::attach_reservation,
    response_memory::{HTTP2_REQUEST_BYTES, HTTP2_STREAM_BYTES},
};

/// The state that the interfaces of the service share, and the entry point for their requests.
pub struct Edge {
    clock: Arc<dyn Clock>,
    request_ids: RequestIds,
    cors: Cors,
    log: RequestLog,
    /// Limits log lines about forms that another site seems to have sent.
    pub foreign_form_log_limiter: LogLimiter,
    /// Limits log lines about requests for a host at which the console is not served.
    pub foreign_host_log_limiter: LogLimiter,
    /// Limits log lines about failed sign-ins.
    pub sign_in_log_limiter: LogLimiter,
    /// Limits log lines about rejected logout tokens.
    pub logout_log_limiter: LogLimiter,
    /// Limits log lines about failed sign-ins that could not be recorded in the audit trail.
    pub unrecorded_sign_in_log_limiter: LogLimiter,
    /// How clients without a valid key or session are identified.
    pub strangers: Strangers,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    request_timeout: Duration,
    /// The memory for responses that clients have not read yet.
    pub response_memory: ResponseMemory,
    metrics: Metrics,
    /// Where the span of each request is recorded, if tracing is enabled.
    spans: Option<Arc<Spans>>,
}

/// A request, and what is known about it.
struct Exchange<'r, M> {
    client: &'r Client,
    request: &'r Parts,
    route_match: M,
    facts: Facts,
    started_at: Instant,
    /// Whether the operation has read the body to its end. False until the operation has completed.
    is_body_read: bool,
}

impl Edge {
    /// Creates an edge with these settings, without routes and without tracing.
    pub fn new(clock: Arc<dyn Clock>, random: &mut impl Rng, settings: &Settings) -> Self {
        Self {
            request_ids: RequestIds::new(StdRng::from_rng(random)),
            cors: Cors::new(&settings.cors_origins),
            log: RequestLog::new(settings, clock.instant()),
            foreign_form_log_limiter: LogLimiter::new(clock.instant()),
            foreign_host_log_limiter: LogLimiter::new(clock.instant()),
            sign_in_log_limiter: LogLimiter::new(clock.instant()),
            logout_log_limiter: LogLimiter::new(clock.instant()),
            unrecorded_sign_in_log_limiter: LogLimiter::new(clock.instant()),
            strangers: Strangers::new(settings),
            body_timeout: settings.body_timeout,
            request_timeout: settings.request_timeout,
            response_memory: ResponseMemory::new(settings.response_memory),
            metrics: Metrics::default(),
            spans: None,
            clock,
        }
    }

    /// Registers the routes of a table, so that their requests are counted separately.
    pub fn with_routes(mut self, table: &[Route<impl Sized>]) -> Self {
        self.metrics
            .add_routes(table.iter().map(|route| route.label));
        self
    }

    /// Sets where the span of each request is recorded, if tracing is enabled.
    pub fn with_spans(mut self, spans: Option<Arc<Spans>>) -> Self {
        self.spans = spans;
        self
    }

    /// Writes the metrics of requests, connections and spans.
    pub fn expose(&self, exposition: &mut Exposition) {
        self.metrics.expose(exposition);
        if let Some(spans) = &self.spans {
            spans.expose(exposition);
        }
    }

    /// Handles a request of `client`, and returns a response even if the request fails.
    ///
    /// Checks the head, lets `interface` process the request within the time limit, turns a panic
    /// into a 500 and a timeout into a 503, completes the header fields, compresses the body, and
    /// records the request in the metrics, the trace and the log.
    pub fn handle<I: Interface, B: RequestBody>(
        &self,
        interface: &I,
        client: &Client,
        request: Request<B>,
    ) -> impl Future<Output = Response> {
        // Split outside of the future, which would otherwise hold both the request and its parts.
        let (request, body) = request.into_parts();
        let mut body = TrackedBody::new(body);
        I::with_request_scope(async move {
            let started_at = self.clock.instant();
            let _active = I::IS_FOR_CLIENTS.then(|| self.metrics.active.enter());
            let request_id = self.request_ids.id_for(&request.headers);
            let route_match = interface.find(&request);
            let mut exchange = Exchange {
                client,
                request: &request,
                route_match,
                facts: Facts {
                    extra_time: I::extra_time(route_match),
                    ..Facts::default()
                },
                started_at,
                is_body_read: false,
            };
            let result = self
                .process(interface, &mut exchange, &request_id, &mut body)
                .await;
            exchange.is_body_read = body.is_read();
            self.complete(interface, exchange, request_id, result)
        })
    }

    /// Lets `interface` process a request within the time limit. Fails if the head is invalid.
    ///
    /// Responds to a CORS preflight itself, and buffers a file for a client of HTTP/1.0.
    async fn process<I: Interface>(
        &self,
        interface: &I,
        exchange: &mut Exchange<'_, I::RouteMatch>,
        request_id: &HeaderValue,
        body: UnreadBody<'_>,
    ) -> Result<Response, ApiError> {
        let client = exchange.client;
        let request = exchange.request;
        let route_match = exchange.route_match;
        head::check_head(request)?;
        if let Some(response) = self.preflight::<I>(request) {
            return Ok(response);
        }
        let processing = pin!(interface.process(
            client,
            request,
            request_id,
            body,
            route_match,
            &mut exchange.facts,
        ));
        let limit = || self.request_timeout + I::extra_time(route_match);
        let response = run_within(limit, processing).await?;
        if http_1_0::hides_truncation(request, &response) {
            let reader = self.strangers.reader(client, &request.headers);
            let memory = &self.response_memory;
            // Boxed, so that this rare case does not enlarge the future of every request.
            return Box::pin(http_1_0::buffer_file(memory, reader, response)).await;
        }
        Ok(response)
    }

    /// Turns the result of an operation into the final response, and records the request.
    fn complete<I: Interface>(
        &self,
        interface: &I,
        mut exchange: Exchange<'_, I::RouteMatch>,
        request_id: HeaderValue,
        result: Result<Response, ApiError>,
    ) -> Response {
        let (mut response, cause) = match result {
            Ok(response) => (response, None),
            Err(error) => {
                exchange.facts.problem = Some(error.problem());
                if I::HAS_KEYS {
                    self.metrics.count_rejection(error.problem());
                }
                interface.error_response(error, exchange.request, &request_id)
            }
        };
        interface.add_headers(exchange.route_match, &exchange.facts, &mut response);
        self.complete_headers::<I>(&exchange, request_id, &mut response);
        self.record::<I>(&exchange, &response, cause.as_ref());
        response
    }

    /// Adds the header fields that every response has, compresses the body, and drops it for
    /// `HEAD`.
    fn complete_headers<I: Interface>(
        &self,
        exchange: &Exchange<'_, I::RouteMatch>,
        request_id: HeaderValue,
        response: &mut Response,
    ) {
        let request = exchange.request;
        let headers = response.headers_mut();
        if !exchange.is_body_read && request.version < Version::HTTP_2 {
            // The unread remainder of the body would precede the next request, so the connection
            // must close (RFC 9112, section 9.6).
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        headers.insert(REQUEST_ID, request_id);
        headers
            .entry(header::CACHE_CONTROL)
            .or_insert(I::CACHE_CONTROL);

        let reader = || {
            if I::IS_FOR_CLIENTS && exchange.facts.principal.is_none() {
                self.strangers.reader(exchange.client, &request.headers)
            } else {
                Reader::Known
            }
        };
        compression::compress_response(&self.response_memory, reader, &request.headers, response);
        if I::HAS_KEYS {
            self.cors
                .add_headers(&request.headers, response.headers_mut());
        }
        if request.method == Method::HEAD {
            response::strip_body(response);
        }
    }

    /// Records a completed request in the metrics, the trace and the log.
    fn record<I: Interface>(
        &self,
        exchange: &Exchange<'_, I::RouteMatch>,
        response: &Response,
        cause: Option<&Cause>,
    ) {
        let facts = &exchange.facts;
        let now = self.clock.instant();
        let duration = now.saturating_duration_since(exchange.started_at);
        if I::IS_FOR_CLIENTS {
            self.metrics
                .record_request(facts.route, response.status(), duration);
            if let Some(spans) = &self.spans {
                let ended_at = self.clock.now();
                trace::record(spans, ended_at, exchange.request, response, facts, duration);
            }
        }

        let line = log::Line {
            is_for_clients: I::IS_FOR_CLIENTS,
            peer: exchange.client.address(),
            request: exchange.request,
            response,
            facts,
            cause,
            duration,
        };
        self.log.write(&line, || self.clock.instant());
    }

    /// Returns a new `X-Request-Id`, for a response to a connection that is rejected before a
    /// request is read.
    pub(crate) fn new_request_id(&self) -> String {
        // An id is ASCII, so the default is never used.
        self.request_ids
            .new_id()
            .to_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Returns the response to a CORS preflight from an allowed origin, on an interface with API
    /// keys.
    fn preflight<I: Interface>(&self, request: &Parts) -> Option<Response> {
        if I::HAS_KEYS {
            self.cors.preflight(request)
        } else {
            None
        }
    }
}

/// Returns the result of `processing`. Turns a panic into a 500, and a timeout after `limit` into a
/// 503.
async fn run_within(
    limit: impl Fn() -> Duration,
    processing: Pin<&mut impl Future<Output = Result<Response, ApiError>>>,
) -> Result<Response, ApiError> {
    let guarded_processing = pin!(AssertUnwindSafe(processing).catch_unwind());
    match with_timeout(limit, guarded_processing).await {
        Some(Ok(result)) => result,
        Some(Err(_panic)) => Err(ApiError::internal(cause("a handler panicked"))),
        None => Err(ApiError::timed_out()),
    }
}

#[cfg(test)]
#[path = "edge_tests.rs"]
mod tests;
