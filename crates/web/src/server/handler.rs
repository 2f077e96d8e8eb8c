//! An interface, as the server sees it.

use std::{pin::Pin, sync::Arc};

use hyper::{
    Request, Version,
    body::Incoming,
    header::{self, HeaderValue},
};
use petstore_domain::Client;
use petstore_observe::metrics::Connections;

use super::activity::{Activity, RequestInFlight};
use crate::edge::{BYTES_OF_STREAM, Edge, Interface, Reservation, Response};

/// Tells browsers to use only TLS for a year (RFC 6797).
const ALWAYS_ENCRYPTED: &str = "max-age=31536000";

/// The length of a response over HTTP/1, in bytes, up to which it fits into the buffer of the system. A longer one is in
/// progress until the client reads it.
const MAX_BUFFERED_LENGTH: usize = 64 << 10;

/// The handling of a request, in a place of its own: the task of an HTTP/2 stream lasts until its client
/// has read the response, and would keep the place of the whole handling, thousands of bytes, until then.
pub(crate) type Handling = Pin<Box<dyn Future<Output = Result<Response, h2::Error>> + Send>>;

/// The state of a connection that its requests share.
pub struct ConnectionState {
    pub(super) client: Arc<Client>,
    pub(super) activity: Arc<Activity>,
    pub(super) is_encrypted: bool,
}

/// An interface without its type. Each interface makes itself one in its own crate, in a function that is never a part of
/// another one. So the code that handles its requests is compiled there, and the code that serves connections is compiled
/// here, once for all interfaces.
pub trait Handler: Send + Sync {
    /// Returns the edge, as [`Interface::edge`] does.
    fn edge(&self) -> &Edge;

    /// Returns the metrics of connections, as [`Interface::connections`] does.
    fn connections(&self) -> &Arc<Connections>;

    /// Whether the interface is for clients, as [`Interface::IS_FOR_CLIENTS`] says.
    fn is_for_clients(&self) -> bool;

    /// Whether its clients have API keys, as [`Interface::HAS_KEYS`] says.
    fn has_keys(&self) -> bool;

    /// Responds to a request, whose stream has this memory.
    fn respond(
        self: Arc<Self>,
        connection: Arc<ConnectionState>,
        request: Request<Incoming>,
        in_flight: RequestInFlight,
        stream: Option<Reservation>,
    ) -> Handling;
}

impl<I: Interface> Handler for I {
    fn edge(&self) -> &Edge {
        Interface::edge(self)
    }

    fn connections(&self) -> &Arc<Connections> {
        Interface::connections(self)
    }

    fn is_for_clients(&self) -> bool {
        I::IS_FOR_CLIENTS
    }

    fn has_keys(&self) -> bool {
        I::HAS_KEYS
    }

    fn respond(
        self: Arc<Self>,
        connection: Arc<ConnectionState>,
        request: Request<Incoming>,
        in_flight: RequestInFlight,
        stream: Option<Reservation>,
    ) -> Handling {
        Box::pin(respond(self, connection, request, in_flight, stream))
    }
}

/// Responds to a request, and adds what depends on the connection: the header fields, and the count of the response as
/// in progress.
async fn respond<I: Interface>(
    interface: Arc<I>,
    connection: Arc<ConnectionState>,
    request: Request<Incoming>,
    in_flight: RequestInFlight,
    mut stream: Option<Reservation>,
) -> Result<Response, h2::Error> {
    let version = request.version();
    let edge = Interface::edge(&*interface);
    let mut response = edge.handle(&*interface, &connection.client, request).await;
    if let Some(stream) = &mut stream {
        stream.resize(BYTES_OF_STREAM);
    }
    let activity = &connection.activity;
    let is_long = response
        .body()
        .whole()
        .is_none_or(|body| body.len() > MAX_BUFFERED_LENGTH);
    if version == Version::HTTP_2 || is_long {
        response = response.map(|body| activity.track_response(body, in_flight, stream));
    } else {
        drop(in_flight);
    }
    let headers = response.headers_mut();
    if activity.is_old() && version < Version::HTTP_2 {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    // A browser must not treat text from a client as a page or a script.
    let no_sniffing = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, no_sniffing);
    if connection.is_encrypted {
        let always = HeaderValue::from_static(ALWAYS_ENCRYPTED);
        headers.insert(header::STRICT_TRANSPORT_SECURITY, always);
    }
    Ok(response)
}
