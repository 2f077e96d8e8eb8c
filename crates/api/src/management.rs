//! The management listener: liveness, readiness and metrics. It is only for operators, and requires no API
//! key.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper::{
    Method, StatusCode,
    header::{self, HeaderName, HeaderValue},
    http::request::Parts,
};
use petstore_domain::{Client, Problem};
use petstore_formats::json;
use petstore_observe::{
    log::chain,
    metrics::{Connections, Exposition},
};
use petstore_store::StoreError;
use petstore_web::edge::{
    ApiError, Edge, Facts, Interface, Response, UnreadBody, request, response,
};
use serde_json::json;
use tokio::time;

use super::api::Api;

/// How long the readiness check waits for the store.
const READINESS_TIMEOUT: Duration = Duration::from_secs(2);

/// The management interface of an [`Api`].
pub struct Management {
    api: Arc<Api>,
    is_shutting_down: AtomicBool,
    /// Counted separately from the connections of clients.
    connections: Arc<Connections>,
}

impl Management {
    /// Returns the management interface of `api`.
    pub fn new(api: Arc<Api>) -> Self {
        Self {
            api,
            is_shutting_down: AtomicBool::new(false),
            connections: Arc::default(),
        }
    }

    /// Makes the service report from now on that it is not ready, so that load balancers stop sending
    /// requests.
    pub fn begin_shutdown(&self) {
        self.is_shutting_down.store(true, Ordering::Relaxed);
    }

    /// Returns the parts of the service that are not ready, each with the reason.
    async fn unready_parts(&self) -> Vec<(&'static str, String)> {
        let mut parts = Vec::new();
        if self.is_shutting_down.load(Ordering::Relaxed) {
            parts.push(("server", "shutting down".to_owned()));
        }
        match time::timeout(READINESS_TIMEOUT, self.api.app().store.check_ready()).await {
            // An overloaded store is reachable, so the service stays ready.
            Ok(Ok(()) | Err(StoreError::Overloaded)) => {}
            Ok(Err(error)) => parts.push(("store", chain(&error))),
            Err(_) => parts.push(("store", "no response in time".to_owned())),
        }
        parts
    }
}

impl Interface for Management {
    const IS_FOR_CLIENTS: bool = false;
    const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("no-store");
    type RouteMatch = ();

    fn edge(&self) -> &Edge {
        self.api.edge()
    }

    fn connections(&self) -> &Arc<Connections> {
        &self.connections
    }

    fn find(&self, _: &Parts) {}

    async fn process(
        &self,
        _: &Client,
        request: &Parts,
        _: &HeaderValue,
        _: UnreadBody<'_>,
        (): (),
        _: &mut Facts,
    ) -> Result<Response, ApiError> {
        check_host(request)?;
        let path = request.uri.path();
        if !["/livez", "/readyz", "/metrics"].contains(&path) {
            return Err(ApiError::no_such_path());
        }
        if ![Method::GET, Method::HEAD].contains(&request.method) {
            return Err(ApiError::method_not_allowed("GET, HEAD"));
        }
        Ok(match path {
            "/livez" => health_response(&[]),
            "/readyz" => health_response(&self.unready_parts().await),
            _ => metrics_response(self.api.metrics()),
        })
    }
}

/// Header fields by which a browser is recognized: it sends them with every request, and a page cannot
/// suppress them.
const BROWSER_FIELDS: [HeaderName; 3] = [
    header::ACCEPT_LANGUAGE,
    header::ORIGIN,
    HeaderName::from_static("sec-fetch-site"),
];

/// Rejects a request from a browser that addresses this listener by a host name. Otherwise an attacker
/// could point the name of a page at this address and read the responses (DNS rebinding). Only `localhost`
/// is certain to be safe. Other programs do not run pages, so they may use any name.
fn check_host(request: &Parts) -> Result<(), ApiError> {
    let name = request::without_port(request::host(request).unwrap_or_default());
    let is_address = name.parse::<IpAddr>().is_ok();
    let is_browser = BROWSER_FIELDS
        .iter()
        .any(|field| request.headers.contains_key(field));
    if !is_browser || is_address || name.eq_ignore_ascii_case("localhost") {
        return Ok(());
    }
    let message = "A browser must use an IP address or localhost. Other host names are \
                   rejected, because an attacker could control them.";
    Err(ApiError::new(Problem::InvalidRequest, message))
}

/// Returns 200 if there are no failures, or else 503 with a list of the failed parts and their reasons.
fn health_response(failures: &[(&'static str, String)]) -> Response {
    if failures.is_empty() {
        return response::json(StatusCode::OK, json::render(&json!({ "status": "ok" })));
    }
    let parts: Vec<_> = failures
        .iter()
        .map(|(part, reason)| json!({ "part": part, "reason": reason }))
        .collect();
    let body = json!({ "status": "not ready", "notReady": parts });
    response::json(StatusCode::SERVICE_UNAVAILABLE, json::render(&body))
}

fn metrics_response(page: String) -> Response {
    let mut response = response::json(StatusCode::OK, page);
    let content_type = HeaderValue::from_static(Exposition::CONTENT_TYPE);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}
