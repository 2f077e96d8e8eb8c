//! The trait that each interface behind the edge implements: the one for programs, those for
//! people, and the one for operators.

use std::{sync::Arc, time::Duration};

use hyper::{header::HeaderValue, http::request::Parts};
use petstore_domain::Client;
use petstore_observe::metrics::Connections;
use petstore_store::Cause;

use super::{ApiError, Edge, Facts, Response, UnreadBody};

/// An interface of the service. [`Edge::handle`] processes the requests of all interfaces in the
/// same way; this trait has everything in which they differ.
pub trait Interface: Send + Sync + 'static {
    /// Whether the interface is for clients. Their requests are counted and traced, and logged as
    /// configured. On an interface for operators, only failures are logged.
    const IS_FOR_CLIENTS: bool;

    /// Whether clients authenticate with API keys. Rejected keys are counted, and CORS applies.
    const HAS_KEYS: bool = Self::IS_FOR_CLIENTS;

    /// The `Cache-Control` of a response that does not set one.
    const CACHE_CONTROL: HeaderValue;

    /// The result of routing a request. It is `()` for an interface without a route table.
    ///
    /// Routing comes before all checks, so that the response to a rejected request can depend on
    /// the route, too.
    type RouteMatch: Copy + Send + Sync;

    /// Returns the state that the interfaces share.
    fn edge(&self) -> &Edge;

    /// Returns the metrics of the connections that carry its requests.
    fn connections(&self) -> &Arc<Connections> {
        &self.edge().metrics.connections
    }

    /// Routes a request.
    fn find(&self, request: &Parts) -> Self::RouteMatch;

    /// Returns how much longer than usual a request may take. Its operation may wait for a change
    /// (long polling), or receive a large upload.
    ///
    /// The result is added to the request timeout, and to the time from which a request is logged
    /// as slow.
    fn extra_time(_: Self::RouteMatch) -> Duration {
        Duration::ZERO
    }

    /// Wraps the whole handling of a request, for example to set task-local values such as its
    /// language.
    fn with_request_scope<T: Send>(
        handling: impl Future<Output = T> + Send,
    ) -> impl Future<Output = T> + Send {
        handling
    }

    /// Processes a request whose head is valid, and records in `facts` what becomes known about it.
    fn process(
        &self,
        client: &Client,
        request: &Parts,
        request_id: &HeaderValue,
        body: UnreadBody<'_>,
        route_match: Self::RouteMatch,
        facts: &mut Facts,
    ) -> impl Future<Output = Result<Response, ApiError>> + Send;

    /// Converts an error into a response, and the cause for the log.
    fn error_response(
        &self,
        error: ApiError,
        _request: &Parts,
        _request_id: &HeaderValue,
    ) -> (Response, Option<Cause>) {
        error.into_response()
    }

    /// Adds the header fields that depend on the operation and the facts, even to an error
    /// response.
    fn add_headers(
        &self,
        _route_match: Self::RouteMatch,
        _facts: &Facts,
        _response: &mut Response,
    ) {
    }
}
