//! What a server serves.

use std::sync::Arc;

use hyper::{Request, body::Incoming};

use crate::{
    domain::Client,
    edge::{Interface, Response, ResponseMemory},
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

    /// The memory for responses that clients have not read yet.
    fn response_memory(&self) -> &ResponseMemory;
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

    fn response_memory(&self) -> &ResponseMemory {
        &self.edge().response_memory
    }
}
