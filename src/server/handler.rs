//! What a server serves.

use std::sync::Arc;

use hyper::{Request, body::Incoming};

use crate::{
    domain::Client,
    http::{App, Management, Response, ResponseMemory},
    metrics::Connections,
};

/// Requests in, answers out.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request of `client`, whatever happens.
    fn handle(
        &self,
        client: &Client,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response> + Send;

    /// A new `X-Request-Id`, for what is answered before there is a request.
    fn new_request_id(&self) -> String;

    /// Where its connections are counted.
    fn connections(&self) -> &Arc<Connections>;

    /// Where what waits for clients is counted.
    fn response_memory(&self) -> &ResponseMemory;
}

impl Handler for App {
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

impl Handler for Management {
    async fn handle(&self, _: &Client, request: Request<Incoming>) -> Response {
        self.handle(request).await
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
