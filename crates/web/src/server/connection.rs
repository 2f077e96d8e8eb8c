//! Serves a single connection from its first byte to its last.

use std::{future, sync::Arc, time::Duration};

use hyper::{HeaderMap, Request, Version, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use petstore_domain::Client;
use tokio::{
    sync::watch,
    time::{self, Interval, MissedTickBehavior},
};
use tracing::debug;

use super::{
    activity::{Activity, RequestInFlight},
    handler::{ConnectionState, Handler, Handling},
    io::ClientStream,
    limits::Limits,
    socket::Socket,
};
use crate::edge::{HTTP2_REQUEST_BYTES, Reader, Reservation, body::MAX_BODY};

/// How many bytes of a head hyper reads. The service has a lower limit of its own, above which it
/// responds with an error body; a head above this limit gets hyper's 431 without a body.
const HEAD_BUFFER: u32 = 64 << 10;

/// How many concurrent requests an HTTP/2 connection may have.
const MAX_STREAMS: u32 = 32;

/// The flow-control window of an HTTP/2 stream, in bytes: how much a client may send of one body
/// before it is read. As large as the largest body.
#[expect(clippy::cast_possible_truncation, reason = "it is 64 KiB")]
const STREAM_WINDOW: u32 = MAX_BODY as u32;

/// The flow-control window of an HTTP/2 connection, in bytes: how much a client may send of all
/// bodies together before they are read.
const CONNECTION_WINDOW: u32 = 256 << 10;

/// How many requests an HTTP/2 client may reset before they are handled. One more ends the
/// connection, as a protection against floods of resets.
const MAX_RESETS: usize = 20;

/// How many resets by the server an HTTP/2 client may cause with protocol errors. One more ends the
/// connection.
const MAX_FORCED_RESETS: usize = 256;

/// How often an HTTP/2 connection is pinged.
const PING_INTERVAL: Duration = Duration::from_secs(30);

/// How long an HTTP/2 client may take to respond to a ping.
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// How many consecutive checks must find a connection stalled before it is aborted. The first of
/// them starts a graceful shutdown; until the last one, the client may still read responses.
const MAX_STALLED_CHECKS: u32 = 4;

/// How many bytes per second a client must read in order not to count as stalled.
const MIN_BYTES_PER_SECOND: u128 = 1 << 10;

/// The dispatcher of the requests of one connection to its handler.
struct RequestDispatcher {
    handler: Arc<dyn Handler>,
    connection: Arc<ConnectionState>,
}

/// The state of the periodic checks of a connection.
struct Checks {
    /// The number of checks so far.
    count: u128,
    /// The number of the check at which the connection becomes old.
    old_at: u128,
    /// How many consecutive checks have found the connection stalled.
    stalled_count: u32,
    /// How many bytes a client must read between two checks in order not to count as stalled.
    min_bytes: u64,
}

/// What to do with a connection after a check.
enum Verdict {
    /// Keep the connection open.
    Continue,
    /// End the connection after the requests in flight.
    ShutDown,
    /// End the connection at once.
    Abort,
}

impl RequestDispatcher {
    /// Starts to handle a request.
    ///
    /// An HTTP/2 request needs memory for its stream, unless it is the only request of its
    /// connection. Without this memory, the request is rejected with `REFUSED_STREAM`.
    fn handle(&self, request: Request<Incoming>) -> Handling {
        let ConnectionState {
            client, activity, ..
        } = &*self.connection;
        // All requests of a connection have the same sender, so only the first one is checked.
        if self.handler.is_for_clients() && !activity.has_had_request() {
            let strangers = &self.handler.edge().strangers;
            strangers.warn_about_untrusted_proxy(client, request.headers());
        }
        let in_flight = activity.begin_request(request.version());
        // HTTP/1 has no concurrent requests on a connection, so they need no reservation.
        if request.version() < Version::HTTP_2 {
            return self.respond(request, in_flight, None);
        }

        let stream_reservation = self.reserve_stream(request.headers());
        if stream_reservation.is_none() && activity.has_several_requests() {
            // The request had no effect, so the client may retry it (RFC 9113, section 8.7).
            return Box::pin(future::ready(Err(h2::Reason::REFUSED_STREAM.into())));
        }
        self.respond(request, in_flight, stream_reservation)
    }

    /// Passes a request to the handler, with the reservation for its HTTP/2 stream.
    fn respond(
        &self,
        request: Request<Incoming>,
        in_flight: RequestInFlight,
        stream_reservation: Option<Reservation>,
    ) -> Handling {
        let connection = Arc::clone(&self.connection);
        let handler = Arc::clone(&self.handler);
        handler.respond(connection, request, in_flight, stream_reservation)
    }

    /// Reserves memory for the HTTP/2 stream of a request, if there is enough. Until a client has
    /// presented a valid key on this connection, the memory comes from the account of strangers.
    fn reserve_stream(&self, request: &HeaderMap) -> Option<Reservation> {
        let edge = self.handler.edge();
        let client = &self.connection.client;
        let is_known = !self.handler.is_for_clients() || client.is_trusted();
        let reader = if is_known {
            Reader::Known
        } else {
            edge.strangers.reader(client, request)
        };
        edge.response_memory
            .reserve_for(reader, HTTP2_REQUEST_BYTES)
            .ok()
    }
}

/// Serves a connection until it ends.
///
/// When the sender of `stop_signal` is dropped, the connection ends after the requests in flight.
pub(super) async fn serve<S: Socket>(
    stream: S,
    client: Arc<Client>,
    activity: Arc<Activity>,
    handler: Arc<dyn Handler>,
    limits: Limits,
    mut stop_signal: watch::Receiver<()>,
) {
    let stream = ClientStream::new(stream, limits.client_timeout, Arc::clone(&activity));
    let io = TokioIo::new(stream.with_client(Arc::clone(&client)));
    // Clients without keys are browsers, which show the pages of the console and the window.
    let is_for_browsers = handler.is_for_clients() && !handler.has_keys();
    let builder = http_builder(limits.client_timeout, is_for_browsers);
    let dispatcher = RequestDispatcher {
        handler,
        connection: Arc::new(ConnectionState {
            client,
            activity: Arc::clone(&activity),
            is_encrypted: S::IS_ENCRYPTED,
        }),
    };
    let service = service_fn(move |request| dispatcher.handle(request));
    let mut connection = std::pin::pin!(builder.serve_connection(io, service));

    let mut checks = Checks::new(&limits);
    let mut check_timer = new_check_timer(limits.client_timeout);
    let mut is_stopping = false;
    let result = loop {
        tokio::select! {
            // Polls the connection first, because it is the most frequent event.
            biased;
            result = connection.as_mut() => break result,
            // Nothing is ever sent; dropping the sender is the signal.
            _ = stop_signal.changed(), if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = check_timer.tick() => match checks.run(&activity) {
                Verdict::Continue => {}
                Verdict::ShutDown => connection.as_mut().graceful_shutdown(),
                Verdict::Abort => {
                    // The connection is dropped without waiting for what is not sent yet.
                    activity.abort();
                    return;
                }
            }
        }
    };
    if let Err(error) = result {
        debug!(%error, "a connection ended early");
    }
}

/// Returns the timer of the checks of a connection.
///
/// A single coarse timer covers stalled and old connections, so that requests need no timers of
/// their own.
fn new_check_timer(interval: Duration) -> Interval {
    let mut check_timer = time::interval(interval);
    // The first check is due after one interval, not immediately.
    check_timer.reset();
    // If a check is late, the following ones are delayed, too, instead of running in a burst.
    check_timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    check_timer
}

impl Checks {
    /// Creates the state for a new connection.
    fn new(limits: &Limits) -> Self {
        let interval = limits.client_timeout.as_millis();
        let min_bytes = MIN_BYTES_PER_SECOND * interval / 1000;
        Self {
            count: 0,
            // At least 1, because the first check has the number 1.
            old_at: (limits.connection_age.as_millis() / interval.max(1)).max(1),
            stalled_count: 0,
            min_bytes: u64::try_from(min_bytes).unwrap_or(u64::MAX),
        }
    }

    /// Runs the next check. Marks the connection as old when it has reached its maximum age.
    fn run(&mut self, activity: &Activity) -> Verdict {
        self.count += 1;
        let becomes_old = self.count == self.old_at;
        if becomes_old {
            activity.mark_old();
        }

        if activity.check_for_stall(self.min_bytes) {
            self.stalled_count += 1;
        } else {
            self.stalled_count = 0;
        }
        if self.stalled_count == MAX_STALLED_CHECKS {
            return Verdict::Abort;
        }
        // Over HTTP/2, a GOAWAY frame tells the client to send no more requests. Over HTTP/1,
        // closing an old connection now could lose a request that is already on its way, so the
        // next response carries `Connection: close` instead.
        if self.stalled_count == 1 || (becomes_old && activity.is_http_2()) {
            return Verdict::ShutDown;
        }
        Verdict::Continue
    }
}

/// Returns the HTTP/1 and HTTP/2 implementation of hyper, with its limits configured.
///
/// If a browser closes its sending side, it has gone away, so its requests are cancelled and free
/// their place in queues. A program that does the same (half-close) may still want the response.
fn http_builder(client_timeout: Duration, is_for_browsers: bool) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        // Header names are case-insensitive, but clients that keep them in a plain map look for
        // `Link`, and would miss `link`.
        .title_case_headers(true)
        // hyper's timeouts need a timer.
        .timer(TokioTimer::new())
        .header_read_timeout(client_timeout)
        .max_buf_size(HEAD_BUFFER as usize)
        .half_close(!is_for_browsers);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEAD_BUFFER)
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_pending_accept_reset_streams(MAX_RESETS)
        .max_local_error_reset_streams(MAX_FORCED_RESETS)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}
