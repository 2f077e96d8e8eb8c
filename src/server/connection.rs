//! One connection, from its first byte to its last.

use std::{sync::Arc, time::Duration};

use hyper::{
    Version,
    header::{self, HeaderValue},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    sync::watch,
    time::{self, MissedTickBehavior},
};
use tracing::debug;

use super::{
    Handler, Limits,
    activity::Activity,
    io::{ClientStream, Socket},
};
use crate::domain::Client;

/// The most bytes of a head that are read; the service answers what is above
/// its own, lower limit with an Error body, and hyper what is above this one
/// with a bare 431.
const HEAD_BUFFER: u32 = 64 << 10;

/// How many requests one HTTP/2 connection may have in flight.
const MAX_STREAMS: u32 = 32;

/// How many bytes an HTTP/2 client may send before they are read: of one
/// request, as much as a body may have, and of all together.
const STREAM_WINDOW: u32 = 64 << 10;
const CONNECTION_WINDOW: u32 = 256 << 10;

/// How many requests an HTTP/2 client may take back before they were begun, and
/// how many it may make us take back by breaking the rules; one more of either
/// ends the connection.
const MAX_RESETS: usize = 20;
const MAX_FORCED_RESETS: usize = 256;

/// How often an HTTP/2 connection is asked for a sign of life, and how long
/// the answer may take.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// Tells browsers to come over TLS alone, for a year from now on (RFC 6797).
const ALWAYS_ENCRYPTED: &str = "max-age=31536000";

/// After how many checks in a row at which nothing went on a connection is abort.
/// At the first it is asked to end; until the last, answers may still be read.
const MAX_STALLED_CHECKS: u32 = 4;

/// How many bytes a second a client must read to count as one that reads.
const SLOWEST_READER: u128 = 1 << 10;

/// Serves a connection until it ends. Once `stopped` closes, it ends after the
/// requests that are in flight.
pub(super) async fn serve<S: Socket>(
    stream: S,
    client: Arc<Client>,
    handler: Arc<impl Handler>,
    limits: Limits,
    mut stopped: watch::Receiver<()>,
) {
    let activity = Arc::new(Activity::default());
    let check_interval = limits.client_timeout;
    let io = TokioIo::new(ClientStream::new(stream, check_interval, Arc::clone(&activity)));
    let service = service_fn({
        let activity = Arc::clone(&activity);
        move |request| {
            let version = request.version();
            let (handler, activity) = (Arc::clone(&handler), Arc::clone(&activity));
            let client = Arc::clone(&client);
            let begun = activity.begin(version);
            async move {
                // In HTTP/1, nothing more is asked before an answer was sent.
                let is_http_2 = version == Version::HTTP_2;
                let memory = handler.response_memory();
                let stream = is_http_2.then(|| memory.reserve_stream()).flatten();
                if is_http_2 && stream.is_none() && activity.has_several() {
                    // Nothing was done, so the client may send it again (RFC 9113,
                    // section 8.7).
                    return Err(h2::Error::from(h2::Reason::REFUSED_STREAM));
                }
                let mut response = handler.handle(&client, request).await;
                drop(begun);
                if is_http_2 {
                    response = response.map(|body| activity.track_response(body, stream));
                }
                if activity.is_old() && version < Version::HTTP_2 {
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(header::CONNECTION, close);
                }
                // What a client named shall not be taken for a page or a script.
                let no_sniffing = HeaderValue::from_static("nosniff");
                response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, no_sniffing);
                if S::IS_ENCRYPTED {
                    let always = HeaderValue::from_static(ALWAYS_ENCRYPTED);
                    response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, always);
                }
                Ok(response)
            }
        }
    });
    let builder = protocol(check_interval);
    let mut connection = std::pin::pin!(builder.serve_connection(io, service));
    let fewest_bytes = SLOWEST_READER * check_interval.as_millis() / 1000;
    let fewest_bytes = u64::try_from(fewest_bytes).unwrap_or(u64::MAX);
    let old_after = limits.connection_age.as_millis() / check_interval.as_millis().max(1);
    let mut checks = 0;
    let mut stalled_checks = 0;
    let mut stopping = false;
    // The one timer for all that is measured in tens of seconds.
    let mut check = time::interval(check_interval);
    check.reset();
    // A service that was busy for long has not looked in between.
    check.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let ended = loop {
        tokio::select! {
            // What wakes it most often is looked at first.
            biased;
            ended = connection.as_mut() => break ended,
            // The sender says nothing; it goes away when the server stops.
            _ = stopped.changed(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = check.tick() => {
                checks += 1;
                if checks == old_after.max(1) {
                    // HTTP/2 can tell the client to stop asking; in HTTP/1 only
                    // an answer can, and a request may be on its way.
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

/// HTTP/1 and HTTP/2, within the limits of what hyper knows to limit.
fn protocol(client_timeout: Duration) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        // HTTP ignores the case of a name. Clients that keep header fields in a
        // plain map do not: they check for `Link`, find `link`, and miss it.
        .title_case_headers(true)
        // Without a timer hyper's timeouts never fire.
        .timer(TokioTimer::new())
        .header_read_timeout(client_timeout)
        .max_buf_size(HEAD_BUFFER as usize)
        // A client that has said all may still want the answer.
        .half_close(true);
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
