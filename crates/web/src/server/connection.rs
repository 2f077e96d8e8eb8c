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
    io::{ClientStream, Socket},
    limits::Limits,
};
use crate::edge::{MAX_BODY, REQUEST, Reader, Reservation};

/// How many bytes of a head are read. A head above the service's own, lower limit gets an Error
/// body; one above this limit gets hyper's 431 without a body.
const HEAD_BUFFER: u32 = 64 << 10;

/// How many concurrent requests an HTTP/2 connection may have.
const MAX_STREAMS: u32 = 32;

/// How many bytes an HTTP/2 client may send before they are read: for one request as many as a body
/// may have, and for all together.
#[expect(clippy::cast_possible_truncation, reason = "it is 64 KiB")]
const STREAM_WINDOW: u32 = MAX_BODY as u32;
const CONNECTION_WINDOW: u32 = 256 << 10;

/// How many requests an HTTP/2 client may reset before they are handled, and how many resets it may
/// cause by protocol errors. One more of either ends the connection.
const MAX_RESETS: usize = 20;
const MAX_FORCED_RESETS: usize = 256;

/// How often an HTTP/2 connection is pinged, and how long the client may take to respond.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that is stalled at this many checks in a row is aborted. At the first one it is
/// asked to shut down; until the last one, the client may still read responses.
const MAX_STALLED_CHECKS: u32 = 4;

/// How many bytes per second a client must read, so that it is not stalled.
const SLOWEST_READER: u128 = 1 << 10;

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
        edge.response_memory.reserve_for(reader, REQUEST).ok()
    }
}

/// Serves a connection until it ends. When `stopped` closes, the connection ends after the requests
/// in flight.
pub(super) async fn serve<S: Socket>(
    stream: S,
    client: Arc<Client>,
    activity: Arc<Activity>,
    handler: Arc<dyn Handler>,
    limits: Limits,
    mut stopped: watch::Receiver<()>,
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
    let fewest_bytes = SLOWEST_READER * check_interval.as_millis() / 1000;
    let fewest_bytes = u64::try_from(fewest_bytes).unwrap_or(u64::MAX);
    let old_after = limits.connection_age.as_millis() / check_interval.as_millis().max(1);
    let mut checks = 0;
    let mut stalled_checks = 0;
    let mut stopping = false;
    // One timer for everything that takes tens of seconds.
    let mut check = time::interval(check_interval);
    check.reset();
    // After a delay, missed checks are skipped.
    check.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let ended = loop {
        tokio::select! {
            // The most frequent event comes first.
            biased;
            ended = connection.as_mut() => break ended,
            // The sender sends nothing; it is dropped when the server stops.
            _ = stopped.changed(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = check.tick() => {
                checks += 1;
                if checks == old_after.max(1) {
                    // HTTP/2 can tell the client to send no more requests. In HTTP/1, only a
                    // response can, because a request may already be on its way.
                    activity.mark_old();
                    if activity.is_http_2() {
                        connection.as_mut().graceful_shutdown();
                    }
                }
                stalled_checks = if activity.is_stalled(fewest_bytes) { stalled_checks + 1 } else { 0 };
                if stalled_checks == 1 {
                    connection.as_mut().graceful_shutdown();
                } else if stalled_checks == MAX_STALLED_CHECKS {
                    activity.abort();
                    return;
                }
            }
        }
    };
    if let Err(error) = ended {
        debug!(%error, "a connection ended early");
    }
}

/// HTTP/1 and HTTP/2, with the limits that hyper offers. A browser that closes its side has left, so its requests end and
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
