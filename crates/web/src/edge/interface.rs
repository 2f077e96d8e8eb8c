//! The interface behind the edge: what an interface for programs, for people or for operators says about itself.

use std::{sync::Arc, time::Duration};

use hyper::{header::HeaderValue, http::request::Parts};
use petstore_domain::Client;
use petstore_observe::metrics::Connections;
use petstore_store::Cause;

use super::{ApiError, Edge, Facts, Response, UnreadBody};

/// An interface of the service. [`Edge::handle`] treats the requests of all interfaces in the same way, except for what is
/// here.
pub trait Interface: Send + Sync + 'static {
    /// Whether it is for clients: their requests are counted and traced, and the log has the requests that
    /// the settings select. For an interface for operators, the log has only failures.
    const IS_FOR_CLIENTS: bool;

    /// Whether its clients are programs with API keys: rejected keys are counted, and pages of the
    /// allowed origins can send requests.
    const HAS_KEYS: bool = Self::IS_FOR_CLIENTS;

    /// The `Cache-Control` of a response that states none.
    const CACHE_CONTROL: HeaderValue;

    /// Returns the parts that it shares with the other interfaces.
    fn edge(&self) -> &Edge;

    /// Returns the metrics of the connections that carry its requests.
    fn connections(&self) -> &Arc<Connections> {
        &self.edge().metrics.connections
    }

    /// The entry of its route table for a request. It is looked up before the head is checked.
    type RouteMatch: Copy + Send + Sync;

    /// Looks for the route of a request.
    fn find(&self, request: &Parts) -> Self::RouteMatch;

    /// Returns how long the operation may wait for a change before it responds.
    fn may_wait(_: Self::RouteMatch) -> Duration {
        Duration::ZERO
    }

    /// Handles a request, with what belongs to it from its beginning to its end.
    fn around<T: Send>(handling: impl Future<Output = T> + Send) -> impl Future<Output = T> + Send {
        handling
    }

    /// Responds to a request with a valid head, and adds what it learns about it to the facts.
    fn process(
        &self,
        client: &Client,
        request: &Parts,
        request_id: &HeaderValue,
        body: UnreadBody<'_>,
        route_match: Self::RouteMatch,
        facts: &mut Facts,
    ) -> impl Future<Output = Result<Response, ApiError>> + Send;

    /// Returns the response to a request that failed, and the cause for the log.
    fn respond_to(
        &self,
        error: ApiError,
        _request: &Parts,
        _request_id: &HeaderValue,
    ) -> (Response, Option<Cause>) {
        error.into_response()
    }

    /// Adds the header fields that follow from the operation and the facts, also to an error.
    fn announce(&self, _route_match: Self::RouteMatch, _facts: &Facts, _response: &mut Response) {}
}
