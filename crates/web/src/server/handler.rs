//! The object-safe view of an interface through which the server passes requests to it.

use std::{pin::Pin, sync::Arc};

use hyper::{
    HeaderMap, Request, Version,
    body::Incoming,
    header::{self, HeaderValue},
};
use petstore_domain::Client;
use petstore_observe::metrics::Connections;

use super::activity::{Activity, RequestInFlight};
use crate::edge::{Edge, HTTP2_STREAM_BYTES, Interface, Reservation, Response};

/// The `Strict-Transport-Security` that tells browsers to use only TLS for a year (RFC 6797).
const ALWAYS_ENCRYPTED: &str = "max-age=31536000";

/// The maximum length of an HTTP/1 response that is assumed to fit into the socket's send buffer,
/// in bytes. A longer one counts as in progress until it is sent.
const MAX_BUFFERED_LENGTH: usize = 64 << 10;

/// The future that handles a request.
///
/// The future is boxed, so that its thousands of bytes are freed as soon as it completes. The task
/// of an HTTP/2 stream lives longer: until the client has read the response.
pub(crate) type Handling = Pin<Box<dyn Future<Output = Result<Response, h2::Error>> + Send>>;

/// The state of a connection that its requests share.
pub struct ConnectionState {
    pub(super) client: Arc<Client>,
    pub(super) activity: Arc<Activity>,
    pub(super) is_encrypted: bool,
}

/// A type-erased [`Interface`].
///
/// Each interface is converted into a trait object in its own crate, in a function that is never
/// inlined. So the code that handles its requests is compiled in that crate, and the code that
/// serves connections is compiled once, in this crate, for all interfaces.
pub trait Handler: Send + Sync {
    /// Returns the edge, as [`Interface::edge`] does.
    fn edge(&self) -> &Edge;

    /// Returns the metrics of connections, as [`Interface::connections`] does.
    fn connections(&self) -> &Arc<Connections>;

    /// Whether the interface is for clients, as [`Interface::IS_FOR_CLIENTS`] says.
    fn is_for_clients(&self) -> bool;

    /// Whether its clients have API keys, as [`Interface::HAS_KEYS`] says.
    fn has_keys(&self) -> bool;

    /// Handles a request. `stream_reservation` is the memory for its HTTP/2 stream, if it has one.
    fn respond(
        self: Arc<Self>,
        connection: Arc<ConnectionState>,
        request: Request<Incoming>,
        in_flight: RequestInFlight,
        stream_reservation: Option<Reservation>,
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
        stream_reservation: Option<Reservation>,
    ) -> Handling {
        Box::pin(handle_and_track(
            self,
            connection,
            request,
            in_flight,
            stream_reservation,
        ))
    }
}

/// Handles a request, and tracks its response as in progress until it is sent. Adds the header
/// fields that depend on the connection.
async fn handle_and_track<I: Interface>(
    interface: Arc<I>,
    connection: Arc<ConnectionState>,
    request: Request<Incoming>,
    in_flight: RequestInFlight,
    mut stream_reservation: Option<Reservation>,
) -> Result<Response, h2::Error> {
    let version = request.version();
    let edge = Interface::edge(&*interface);
    let mut response = edge.handle(&*interface, &connection.client, request).await;
    // The request has been handled, so its stream needs less memory until the response is sent.
    if let Some(reservation) = &mut stream_reservation {
        reservation.resize(HTTP2_STREAM_BYTES);
    }
    let activity = &connection.activity;
    let is_long = match response.body().whole() {
        Some(body) => body.len() > MAX_BUFFERED_LENGTH,
        // A streamed body counts as long, because its length is unknown.
        None => true,
    };
    if version == Version::HTTP_2 || is_long {
        response =
            response.map(|body| activity.track_response(body, in_flight, stream_reservation));
    } else {
        // The response counts as sent, because it fits into the socket's send buffer.
        drop(in_flight);
    }
    add_connection_headers(&connection, version, response.headers_mut());
    Ok(response)
}

/// Adds the header fields that depend on the connection, and the one that every response has.
fn add_connection_headers(connection: &ConnectionState, version: Version, headers: &mut HeaderMap) {
    if connection.activity.is_old() && version < Version::HTTP_2 {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    // Without this, a browser might interpret text from a client as a page or a script.
    let no_sniffing = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, no_sniffing);
    if connection.is_encrypted {
        let always_encrypted = HeaderValue::from_static(ALWAYS_ENCRYPTED);
        headers.insert(header::STRICT_TRANSPORT_SECURITY, always_encrypted);
    }
}
