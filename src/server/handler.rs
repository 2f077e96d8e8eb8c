//! What a server serves.

use std::sync::Arc;

use hyper::{Request, body::Incoming};

use crate::{
    console::Console,
    domain::Client,
    http::{App, Management, Response, ResponseMemory},
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

/// Serves these interfaces, which have methods of the same names.
macro_rules! serve {
    ($($interface:ty),*) => {$(
        impl Handler for $interface {
            fn handle(
                &self,
                client: &Client,
                request: Request<Incoming>,
            ) -> impl Future<Output = Response> + Send {
                self.handle(client, request)
            }

            fn new_request_id(&self) -> String {
                self.new_request_id()
            }

            fn connections(&self) -> &Arc<Connections> {
                self.connections()
            }

            fn response_memory(&self) -> &ResponseMemory {
                self.response_memory()
            }
        }
    )*};
}

serve!(App, Management, Console);
