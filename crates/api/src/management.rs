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
    log::error_chain,
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

/// The headers by which a browser is recognized. Browsers send at least one of them with every request, and a
/// page cannot suppress it.
const BROWSER_HEADERS: [HeaderName; 3] = [
    header::ACCEPT_LANGUAGE,
    header::ORIGIN,
    HeaderName::from_static("sec-fetch-site"),
];

/// The management interface of an [`Api`].
pub struct Management {
    api: Arc<Api>,
    is_shutting_down: AtomicBool,
    /// The connections to this listener, which are counted separately from those to the API.
    connections: Arc<Connections>,
}

/// A part of the service that is not ready, as `/readyz` reports it.
struct UnreadyPart {
    name: &'static str,
    reason: String,
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

    /// Makes `/readyz` report from now on that the service is not ready, so that load balancers stop sending
    /// requests to it.
    pub fn begin_shutdown(&self) {
        self.is_shutting_down.store(true, Ordering::Relaxed);
    }

    /// Returns the parts of the service that are not ready.
    async fn unready_parts(&self) -> Vec<UnreadyPart> {
        let mut unready_parts = Vec::new();
        if self.is_shutting_down.load(Ordering::Relaxed) {
            unready_parts.push(UnreadyPart {
                name: "server",
                reason: "shutting down".to_owned(),
            });
        }
        if let Some(reason) = self.why_store_is_unready().await {
            unready_parts.push(UnreadyPart {
                name: "store",
                reason,
            });
        }
        unready_parts
    }

    /// Returns the reason that the store is not ready, or `None` if it is ready.
    async fn why_store_is_unready(&self) -> Option<String> {
        match time::timeout(READINESS_TIMEOUT, self.api.app().store.check_ready()).await {
            // An overloaded store is reachable, so the service stays ready.
            Ok(Ok(()) | Err(StoreError::Overloaded)) => None,
            Ok(Err(error)) => Some(error_chain(&error)),
            Err(_) => Some("no response in time".to_owned()),
        }
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

    /// Responds to `/livez`, `/readyz` and `/metrics`.
    async fn process(
        &self,
        _: &Client,
        request: &Parts,
        _: &HeaderValue,
        _: UnreadBody<'_>,
        _route_match: (),
        _: &mut Facts,
    ) -> Result<Response, ApiError> {
        reject_foreign_host(request)?;
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

/// Rejects a request from a browser that addresses this listener by a host name other than `localhost`.
///
/// An attacker could make the host name of a page resolve to this address, and the page could then read the
/// responses (DNS rebinding). Other programs do not run pages, so they may use any name.
fn reject_foreign_host(request: &Parts) -> Result<(), ApiError> {
    // A request without a host has an empty name, which is neither an address nor `localhost`.
    let name = request::without_port(request::host(request).unwrap_or_default());
    let is_address = name.parse::<IpAddr>().is_ok();
    let is_browser = BROWSER_HEADERS
        .iter()
        .any(|header| request.headers.contains_key(header));
    if !is_browser || is_address || name.eq_ignore_ascii_case("localhost") {
        return Ok(());
    }
    let message = "A browser must use an IP address or localhost. Other host names are \
                   rejected, because an attacker could control them.";
    Err(ApiError::new(Problem::InvalidRequest, message))
}

/// Returns 200 if all parts of the service are ready, or else 503 with the unready parts.
fn health_response(unready_parts: &[UnreadyPart]) -> Response {
    if unready_parts.is_empty() {
        return response::json(StatusCode::OK, json::render(&json!({ "status": "ok" })));
    }
    let parts: Vec<_> = unready_parts
        .iter()
        .map(|part| json!({ "part": part.name, "reason": part.reason }))
        .collect();
    let body = json!({ "status": "not ready", "notReady": parts });
    response::json(StatusCode::SERVICE_UNAVAILABLE, json::render(&body))
}

/// Returns the response with a page of metrics for Prometheus.
fn metrics_response(page: String) -> Response {
    let mut response = response::json(StatusCode::OK, page);
    let content_type = HeaderValue::from_static(Exposition::CONTENT_TYPE);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}
