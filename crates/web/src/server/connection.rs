//! A connection, from its first byte to its last.

use std::{future, sync::Arc, time::Duration};

use hyper::{HeaderMap, Request, Version, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use petstore_domain::Client;
use tokio::{
    sync::watch,
    time::{self, MissedTickBehavior},
};
use tracing::debug;

use super::{
    activity::{Activity, RequestInFlight},
    handler::{ConnectionState, Handler, Handling},
    io::ClientStream,
    limits::Limits,
    socket::Socket,
};
use crate::edge::{BYTES_OF_REQUEST, Reader, Reservation, body::MAX_BODY};

/// How many bytes of a head are read. A head above the service's own, lower limit gets an Error
/// body; one above this limit gets hyper's 431 without a body.
const HEAD_BUFFER: u32 = 64 << 10;

/// How many concurrent requests an HTTP/2 connection may have.
const MAX_STREAMS: u32 = 32;

/// How many bytes an HTTP/2 client may send before they are read, for one request: as many as a body may have.
#[expect(clippy::cast_possible_truncation, reason = "it is 64 KiB")]
const STREAM_WINDOW: u32 = MAX_BODY as u32;

/// How many bytes an HTTP/2 client may send before they are read, for all requests together.
const CONNECTION_WINDOW: u32 = 256 << 10;

/// How many requests an HTTP/2 client may reset before they are handled. One more ends the connection.
const MAX_RESETS: usize = 20;

/// How many resets an HTTP/2 client may cause by protocol errors. One more ends the connection.
const MAX_FORCED_RESETS: usize = 256;

/// How often an HTTP/2 connection is pinged.
const PING_INTERVAL: Duration = Duration::from_secs(30);

/// How long an HTTP/2 client may take to respond to a ping.
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that is stalled at this many checks in a row is aborted. At the first one it is
/// asked to shut down; until the last one, the client may still read responses.
const MAX_STALLED_CHECKS: u32 = 4;

/// How many bytes per second a client must read, so that it is not stalled.
const MIN_BYTES_PER_SECOND: u128 = 1 << 10;

/// The parts that the requests of a connection share.
struct Requests {
    handler: Arc<dyn Handler>,
    connection: Arc<ConnectionState>,
}

impl Requests {
    /// Begins to handle a request. Over HTTP/2, it needs memory, or must be the only one of its
    /// connection; otherwise, it is rejected and keeps nothing.
    fn handle(&self, request: Request<Incoming>) -> Handling {
        let ConnectionState {
            client, activity, ..
        } = &*self.connection;
        if self.handler.is_for_clients() && !activity.has_begun() {
            let strangers = &self.handler.edge().strangers;
            strangers.warn_of_unnamed_proxy(client, request.headers());
        }
        let in_flight = activity.begin(request.version());
        // In HTTP/1, there is no further request before the response is sent.
        if request.version() < Version::HTTP_2 {
            return self.respond(request, in_flight, None);
        }

        let stream = self.reserve_stream(request.headers());
        if stream.is_none() && activity.has_several() {
            // The request had no effect, so the client may retry it (RFC 9113, section 8.7).
            return Box::pin(future::ready(Err(h2::Reason::REFUSED_STREAM.into())));
        }
        self.respond(request, in_flight, stream)
    }

    /// Passes a request to the handler. `stream` is the memory of its HTTP/2 stream.
    fn respond(
        &self,
        request: Request<Incoming>,
        in_flight: RequestInFlight,
        stream: Option<Reservation>,
    ) -> Handling {
        let connection = Arc::clone(&self.connection);
        Arc::clone(&self.handler).respond(connection, request, in_flight, stream)
    }

    /// Reserves memory for an HTTP/2 stream with this request, if there is enough.
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
            .reserve_for(reader, BYTES_OF_REQUEST)
            .ok()
    }
}

/// Serves a connection until it ends. When `stop_signal` closes, the connection ends after the requests
/// in flight.
pub(super) async fn serve<S: Socket>(
    stream: S,
    client: Arc<Client>,
    activity: Arc<Activity>,
    handler: Arc<dyn Handler>,
    limits: Limits,
    mut stop_signal: watch::Receiver<()>,
) {
    let check_interval = limits.client_timeout;
    let stream = ClientStream::new(stream, check_interval, Arc::clone(&activity));
    let io = TokioIo::new(stream.with_client(Arc::clone(&client)));
    let is_for_browsers = handler.is_for_clients() && !handler.has_keys();
    let connection = ConnectionState {
        client,
        activity: Arc::clone(&activity),
        is_encrypted: S::IS_ENCRYPTED,
    };
    let requests = Requests {
        handler,
        connection: Arc::new(connection),
    };
    let service = service_fn(move |request| requests.handle(request));
    let builder = protocol(check_interval, is_for_browsers);
    let mut connection = std::pin::pin!(builder.serve_connection(io, service));
    let mut checks = Checks::new(&limits);
    let mut is_stopping = false;
    // One timer for everything that takes tens of seconds.
    let mut check = time::interval(check_interval);
    check.reset();
    // After a delay, missed checks are skipped.
    check.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let result = loop {
        tokio::select! {
            // The most frequent event comes first.
            biased;
            result = connection.as_mut() => break result,
            // The sender sends nothing; it is dropped when the server stops.
            _ = stop_signal.changed(), if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = check.tick() => match checks.run(&activity) {
                Verdict::Continue => {}
                Verdict::ShutDown => connection.as_mut().graceful_shutdown(),
                Verdict::Abort => {
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

/// The periodic checks of a connection.
struct Checks {
    /// The number of checks so far.
    count: u128,
    /// The check at which the connection is old.
    old_at: u128,
    /// The number of checks in a row at which the connection was stalled.
    stalled_count: u32,
    /// The bytes that a client must read between two checks.
    min_bytes: u64,
}

/// The result of a check.
enum Verdict {
    Continue,
    /// The connection ends after the requests in flight.
    ShutDown,
    Abort,
}

impl Checks {
    /// Returns the checks of a connection that has just begun.
    fn new(limits: &Limits) -> Self {
        let interval = limits.client_timeout.as_millis();
        let min_bytes = MIN_BYTES_PER_SECOND * interval / 1000;
        Self {
            count: 0,
            old_at: (limits.connection_age.as_millis() / interval.max(1)).max(1),
            stalled_count: 0,
            min_bytes: u64::try_from(min_bytes).unwrap_or(u64::MAX),
        }
    }

    /// Checks a connection once more.
    fn run(&mut self, activity: &Activity) -> Verdict {
        self.count += 1;
        let becomes_old = self.count == self.old_at;
        if becomes_old {
            activity.mark_old();
        }

        if activity.is_stalled(self.min_bytes) {
            self.stalled_count += 1;
        } else {
            self.stalled_count = 0;
        }
        if self.stalled_count == MAX_STALLED_CHECKS {
            return Verdict::Abort;
        }
        // HTTP/2 can tell the client to send no more requests. In HTTP/1, only a response can,
        // because a request may already be on its way.
        if self.stalled_count == 1 || becomes_old && activity.is_http_2() {
            return Verdict::ShutDown;
        }
        Verdict::Continue
    }
}

/// Returns HTTP/1 and HTTP/2, with the limits that hyper offers. A browser that closes its side has left, so its requests end and
/// keep no turn from others. A program that sends no more may still want the response.
fn protocol(client_timeout: Duration, is_for_browsers: bool) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        // Names are case-insensitive in HTTP. Clients that keep header fields in a plain map look
        // for `Link`, and would miss `link`.
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
