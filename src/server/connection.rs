//! One connection, from its first byte to its last.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{net::TcpStream, sync::watch, time};
use tracing::debug;

use super::io::ClientStream;
use crate::http::App;

/// The most bytes of a head that are read; the service answers what is above
/// its own, lower limit with an Error body, and hyper what is above this one
/// with a bare 431.
const HEAD_BUFFER: u32 = 64 << 10;

/// How many requests one HTTP/2 connection may have in flight.
const MAX_STREAMS: u32 = 32;

/// How often an HTTP/2 connection is asked for a sign of life, and how long
/// the answer may take.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// After how many looks in a row at which nothing went on a connection is cut.
/// At the first it is asked to end; until the last, answers may still be read.
const QUIET_LOOKS: u32 = 4;

/// Serves a connection until it ends. Once `stopped` closes, it ends after the
/// requests that are in flight.
pub(super) async fn serve(
    stream: TcpStream,
    app: Arc<App>,
    client_timeout: Duration,
    mut stopped: watch::Receiver<()>,
) {
    // A small answer must not wait for the acknowledgement of the one before.
    let _ = stream.set_nodelay(true);
    let io = TokioIo::new(ClientStream::new(stream, client_timeout));
    let activity = Arc::new(Activity::default());
    let service = service_fn({
        let activity = Arc::clone(&activity);
        move |request| {
            let (app, begun) = (Arc::clone(&app), activity.begin());
            async move {
                let response = app.handle(request).await;
                drop(begun);
                Ok::<_, Infallible>(response)
            }
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
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
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    let mut connection = std::pin::pin!(builder.serve_connection(io, service));
    let mut stopping = false;
    let mut quiet_looks = 0;
    let mut look = time::interval(client_timeout);
    look.reset();
    let ended = loop {
        tokio::select! {
            ended = connection.as_mut() => break ended,
            // The sender says nothing; it goes away when the server stops.
            _ = stopped.changed(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = look.tick() => {
                quiet_looks = if activity.was_quiet() { quiet_looks + 1 } else { 0 };
                if quiet_looks == 1 {
                    connection.as_mut().graceful_shutdown();
                } else if quiet_looks == QUIET_LOOKS {
                    return;
                }
            }
        }
    };
    if let Err(error) = ended {
        debug!(%error, "a connection ended early");
    }
}

/// What goes on in a connection. A client could otherwise hold one for ever by
/// reading nothing of its answers, or, over HTTP/2, by asking for nothing and
/// answering pings.
#[derive(Default)]
struct Activity {
    requests: AtomicUsize,
    in_flight: AtomicUsize,
    requests_at_last_look: AtomicUsize,
}

impl Activity {
    /// Counts a request, which is in flight until the result is dropped.
    fn begin(self: &Arc<Self>) -> impl Drop + use<> {
        struct Begun(Arc<Activity>);
        impl Drop for Begun {
            fn drop(&mut self) {
                self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        Begun(Arc::clone(self))
    }

    /// Whether nothing was asked since the last look, and nothing is in flight.
    fn was_quiet(&self) -> bool {
        let requests = self.requests.load(Ordering::Relaxed);
        requests == self.requests_at_last_look.swap(requests, Ordering::Relaxed)
            && self.in_flight.load(Ordering::Relaxed) == 0
    }
}
