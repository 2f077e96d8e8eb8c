//! What a server serves.

use std::sync::Arc;

use hyper::{HeaderMap, Request, body::Incoming};

use crate::{
    domain::Client,
    edge::{Interface, Reader, Reservation, Response, STREAM},
    observe::metrics::Connections,
};

/// Requests in, responses out.
pub trait Handler: Send + Sync + 'static {
    /// Handles one request of `client`, and always returns a response.
    fn handle(
        &self,
        client: &Client,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response> + Send;

    /// A new `X-Request-Id`, for a response that is sent without a parsed request.
    fn new_request_id(&self) -> String;

    /// The metrics of its connections.
    fn connections(&self) -> &Arc<Connections>;

    /// Memory for an HTTP/2 stream of `client` with this request, if there is enough.
    fn reserve_stream(&self, client: &Client, request: &HeaderMap) -> Option<Reservation>;
}

/// Each interface is served in the same way.
impl<I: Interface> Handler for I {
    fn handle(
        &self,
        client: &Client,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response> + Send {
        self.edge().handle(self, client, request)
    }

    fn new_request_id(&self) -> String {
        self.edge().new_request_id()
    }

    fn connections(&self) -> &Arc<Connections> {
        Interface::connections(self)
    }

    fn reserve_stream(&self, client: &Client, request: &HeaderMap) -> Option<Reservation> {
        let is_known = !I::IS_FOR_CLIENTS || client.is_trusted();
        let reader =
            if is_known { Reader::Known } else { self.edge().strangers.reader(client, request) };
        self.edge().response_memory.reserve_for(reader, STREAM).ok()
    }
}
