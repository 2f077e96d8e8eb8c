//! What happens to every request, whichever interface and operation it asks for.

pub(super) mod compression;
mod cors;
pub(crate) mod forwarded;
pub(crate) mod host;
mod log;
mod metrics;
mod request_head;
mod request_id;
pub(crate) mod response_memory;
mod trace;
mod trace_context;

use std::{
    future::poll_fn,
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use futures_util::FutureExt;
use hyper::{
    Method, Request, StatusCode, Version,
    body::Body as _,
    header::{self, HeaderValue},
    http::request::Parts,
};
use rand::{Rng, SeedableRng, rngs::StdRng};

use self::{
    cors::Cors, log::InvalidKeyLines, metrics::Metrics, request_id::RequestIds,
    response_memory::ResponseMemory,
};
use super::{
    Body, RequestBody, Response, Settings,
    body::{TrackedBody, UnreadBody},
    error::{ApiError, Problem},
    routes::{Found, Label},
};
use crate::{
    domain::{Actor, Client, Clock, Networks, rate_limit::Reading},
    observe::{metrics::Connections, traces::Spans},
    store::Cause,
};

/// What the interfaces of the service share.
pub(crate) struct Edge {
    clock: Arc<dyn Clock>,
    request_ids: RequestIds,
    cors: Cors,
    access_log: bool,
    invalid_keys: InvalidKeyLines,
    trusted_proxies: Networks,
    slow_request: Duration,
    request_timeout: Duration,
    /// The memory for responses that clients have not read yet.
    pub(crate) response_memory: ResponseMemory,
    pub(super) metrics: Metrics,
    /// Receives a span for each request, if traces are enabled.
    pub(super) spans: Option<Arc<Spans>>,
}

/// An interface behind the edge. What differs between interfaces is here.
pub(crate) trait Interface: Send + Sync + 'static {
    /// Whether it is for clients: their requests are counted and traced, and the log has those that
    /// the settings select. Of an interface for operators, the log has only failures.
    const IS_FOR_CLIENTS: bool;

    /// Whether its clients are programs with API keys: rejected keys are counted, and pages of the
    /// allowed origins can send requests.
    const HAS_KEYS: bool = Self::IS_FOR_CLIENTS;

    /// The `Cache-Control` of a response that states none.
    const CACHE_CONTROL: HeaderValue;

    /// What it shares with the other interfaces.
    fn edge(&self) -> &Edge;

    /// The metrics of the connections that carry its requests.
    fn connections(&self) -> &Arc<Connections> {
        &self.edge().metrics.connections
    }

    /// What is known about a request before its head is checked.
    fn facts<'r>(&self, _request: &'r Parts) -> Facts<'r> {
        Facts::default()
    }

    /// Responds to a request with a valid head, and adds what it learns about it to the facts.
    fn process<'r>(
        &self,
        client: &Client,
        request: &'r Parts,
        request_id: &HeaderValue,
        body: UnreadBody<'_>,
        facts: &mut Facts<'r>,
    ) -> impl Future<Output = Result<Response, ApiError>> + Send;

    /// The response to a request that failed, and the cause for the log.
    fn respond_to(
        &self,
        error: ApiError,
        _request: &Parts,
        _request_id: &HeaderValue,
    ) -> (Response, Option<Cause>) {
        error.into_response()
    }

    /// Adds the header fields that follow from the facts to a response, also to an error.
    fn announce(&self, _facts: &Facts<'_>, _response: &mut Response) {}
}

/// What the log, the metrics, the trace and the header fields need to know about a request.
#[derive(Default)]
pub(crate) struct Facts<'r> {
    /// What the route table contains for it.
    pub(super) found: Found<'r>,
    /// Who sent the request, as far as the service knows.
    pub(crate) principal: Option<Actor>,
    /// The rate limit of the key, if it has one.
    pub(super) rate: Option<Reading>,
    /// The operation, if the client may know it.
    pub(crate) route: Option<Label>,
    pub(super) problem: Option<Problem>,
}

impl Edge {
    pub(super) fn new(clock: Arc<dyn Clock>, random: &mut impl Rng, settings: &Settings) -> Self {
        Self {
            request_ids: RequestIds::new(StdRng::from_rng(random)),
            cors: Cors::new(&settings.cors_origins),
            access_log: settings.access_log,
            invalid_keys: InvalidKeyLines::new(clock.instant()),
            trusted_proxies: settings.trusted_proxies.clone(),
            slow_request: settings.slow_request,
            request_timeout: settings.request_timeout,
            response_memory: ResponseMemory::new(settings.response_memory),
            metrics: Metrics::default(),
            spans: None,
            clock,
        }
    }

    /// Handles one request of `client` and always returns a response: checks the head, lets
    /// `interface` process the request within the time limit, turns a panic into a 500, completes
    /// the header fields, compresses, counts and logs.
    pub(crate) fn handle<I: Interface, B: RequestBody>(
        &self,
        interface: &I,
        client: &Client,
        request: Request<B>,
    ) -> impl Future<Output = Response> {
        // Split here, because otherwise the future would hold both the whole and the parts.
        let (request, body) = request.into_parts();
        let mut body = TrackedBody::new(body);
        async move {
            let started = self.clock.instant();
            let _active = I::IS_FOR_CLIENTS.then(|| self.metrics.active.enter());
            let request_id = self.request_ids.of(&request.headers);
            let mut facts = interface.facts(&request);
            let found = facts.found;
            let result = if let Err(error) = request_head::check(&request) {
                Err(error)
            } else if let Some(allowed) = self.preflight::<I>(&request) {
                Ok(allowed)
            } else {
                let processing =
                    interface.process(client, &request, &request_id, &mut body, &mut facts);
                let processing = AssertUnwindSafe(processing).catch_unwind();
                let limit = || self.request_timeout + found.may_wait();
                match within(limit, pin!(processing)).await {
                    Some(Ok(result)) => result,
                    Some(Err(_)) => Err(ApiError::internal(Arc::new(Panicked))),
                    None => Err(ApiError::timed_out()),
                }
            };
            let (mut response, cause) = match result {
                Ok(response) => (response, None),
                Err(error) => {
                    facts.problem = Some(error.problem());
                    if I::HAS_KEYS {
                        self.metrics.count_rejection(error.problem());
                    }
                    interface.respond_to(error, &request, &request_id)
                }
            };
            interface.announce(&facts, &mut response);
            let headers = response.headers_mut();
            if !body.is_read() && request.version < Version::HTTP_2 {
                // The unread part of the body precedes the next request, so the connection must
                // close (RFC 9112, section 9.6).
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            headers.insert(request_id::HEADER, request_id);
            headers.entry(header::CACHE_CONTROL).or_insert(I::CACHE_CONTROL);
            compression::apply(&self.response_memory, &request.headers, &mut response);
            if I::HAS_KEYS {
                self.cors.announce(&request.headers, response.headers_mut());
            }
            if request.method == Method::HEAD {
                without_body(&mut response);
            }
            let took = self.clock.instant().saturating_duration_since(started);
            if I::IS_FOR_CLIENTS {
                self.metrics.count(facts.route, response.status(), took);
                self.trace(&request, &response, &facts, took);
            }
            self.log::<I>(client.address(), &request, &response, &facts, cause.as_ref(), took);
            response
        }
    }

    /// A new `X-Request-Id`, for a response that is sent without a parsed request.
    pub(crate) fn new_request_id(&self) -> String {
        self.request_ids.new_id().to_str().unwrap_or_default().to_owned()
    }

    fn preflight<I: Interface>(&self, request: &Parts) -> Option<Response> {
        if I::HAS_KEYS { self.cors.preflight(request) } else { None }
    }
}

/// Turns the response to a `GET` into one to a `HEAD`: keeps its `Content-Length` and drops the
/// body. A 304 and a stream get no `Content-Length`.
fn without_body(response: &mut Response) {
    if response.status() == StatusCode::NOT_MODIFIED {
        return;
    }
    if let Some(length) = response.body().size_hint().exact() {
        response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    }
    *response.body_mut() = Body::default();
}

/// The output of `work`, or `None` after `limit`. Most requests complete at once, without a timer.
async fn within<F: Future>(
    limit: impl Fn() -> Duration,
    mut work: Pin<&mut F>,
) -> Option<F::Output> {
    match poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
        Poll::Ready(done) => Some(done),
        Poll::Pending => tokio::time::timeout(limit(), work).await.ok(),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a handler panicked")]
struct Panicked;

#[cfg(test)]
mod tests {
    use std::{future::pending, net::IpAddr};

    use super::*;
    use crate::{domain::SystemClock, http::response, observe::metrics::Exposition};

    /// An interface whose paths are faults.
    struct Faulty<const IS_FOR_CLIENTS: bool>(Edge);

    impl<const IS_FOR_CLIENTS: bool> Interface for Faulty<IS_FOR_CLIENTS> {
        const IS_FOR_CLIENTS: bool = IS_FOR_CLIENTS;
        const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("private");

        fn edge(&self) -> &Edge {
            &self.0
        }

        async fn process<'r>(
            &self,
            _: &Client,
            request: &'r Parts,
            _: &HeaderValue,
            _: UnreadBody<'_>,
            _: &mut Facts<'r>,
        ) -> Result<Response, ApiError> {
            match request.uri.path() {
                "/panic" => unreachable!("planted"),
                "/hang" => pending().await,
                _ => Ok(response::json(StatusCode::OK, "[]")),
            }
        }
    }

    impl<const IS_FOR_CLIENTS: bool> Faulty<IS_FOR_CLIENTS> {
        fn new() -> Self {
            let settings = Settings {
                cors_origins: vec!["https://shop.example".parse().unwrap()],
                request_timeout: Duration::from_millis(1),
                ..Settings::default()
            };
            Self(Edge::new(Arc::new(SystemClock), &mut StdRng::seed_from_u64(1), &settings))
        }

        async fn get(&self, path: &str, fields: &[(&str, &str)]) -> Response {
            let mut request = Request::builder().uri(path).header(header::HOST, "x");
            for (name, value) in fields {
                request = request.header(*name, *value);
            }
            let client = Client::from(IpAddr::from([192, 0, 2, 1]));
            self.0
                .handle(
                    self,
                    &client,
                    request.body(http_body_util::Full::<bytes::Bytes>::default()).unwrap(),
                )
                .await
        }
    }

    async fn gives_what_no_interface_can_forget<const IS_FOR_CLIENTS: bool>() {
        let interface = Faulty::<IS_FOR_CLIENTS>::new();
        let long = "a".repeat(20_000);
        for (path, fields, status) in [
            ("/", &[][..], StatusCode::OK),
            ("/", &[("x", &*long)], StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE),
            ("/", &[("host", "y")], StatusCode::BAD_REQUEST),
            ("/panic", &[], StatusCode::INTERNAL_SERVER_ERROR),
            ("/hang", &[], StatusCode::SERVICE_UNAVAILABLE),
        ] {
            let fields = [fields, &[("x-request-id", "mine")]].concat();
            let response = interface.get(path, &fields).await;
            assert_eq!(response.status(), status, "{path}");
            assert_eq!(response.headers()[request_id::HEADER], "mine", "{path}");
            assert_eq!(response.headers()[header::CACHE_CONTROL], "private", "{path}");
        }
    }

    #[tokio::test]
    async fn every_interface_has_head_limits_a_time_limit_request_ids_and_survives_a_panic() {
        gives_what_no_interface_can_forget::<true>().await;
        gives_what_no_interface_can_forget::<false>().await;
    }

    async fn allows_and_counts<const IS_FOR_CLIENTS: bool>() -> (bool, bool, bool) {
        let interface = Faulty::<IS_FOR_CLIENTS>::new();
        let origin = ("origin", "https://shop.example");
        let allowed = interface.get("/", &[origin]).await;
        let mut page = Exposition::default();
        interface.0.metrics.expose(&mut page);
        let counted = page.finish().contains(r#"http_response_status_code="200"} 1"#);
        let asks = Request::options("/").header(origin.0, origin.1).header(header::HOST, "x");
        let asks = asks.header(header::ACCESS_CONTROL_REQUEST_METHOD, "GET");
        let (asks, ()) = asks.body(()).unwrap().into_parts();
        (
            allowed.headers().contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN),
            interface.0.preflight::<Faulty<IS_FOR_CLIENTS>>(&asks).is_some(),
            counted,
        )
    }

    #[tokio::test]
    async fn only_an_interface_for_clients_is_counted_and_open_to_pages_of_other_origins() {
        assert_eq!(allows_and_counts::<true>().await, (true, true, true));
        assert_eq!(allows_and_counts::<false>().await, (false, false, false));
    }
}
