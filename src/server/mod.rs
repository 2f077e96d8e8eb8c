//! Sockets: accepting connections, holding them to their limits, and letting
//! them end well.

mod connection;
mod io;

use std::{sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
    time,
};
use tracing::{info, warn};

use crate::http::App;

/// What the server allows.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many connections may be open at once.
    pub max_connections: usize,
    /// How long a client may take to send the head of a request, and may stay
    /// idle between two requests. After four times as long without a request,
    /// what it has not read of its answers is not sent any more.
    pub client_timeout: Duration,
    /// How long requests in flight may still take once the server is told to end.
    pub shutdown_timeout: Duration,
}

/// How long to wait after a connection could not be accepted, which means that
/// the process has too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What a connection above the limit is told before it is closed.
const TOO_MANY_CONNECTIONS: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: application/json\r\n\
    content-length: 92\r\n\
    retry-after: 1\r\n\
    connection: close\r\n\r\n\
    {\"code\":\"unavailable\",\"message\":\"Too many connections. Try again in a moment.\",\"status\":503}";

/// Serves `app` on `listener` until `stop` completes, then lets what is in
/// flight finish within the limit.
pub async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    limits: &Limits,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(limits.max_connections));
    let (stopping, stopped) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let (stream, place) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &places) => accepted,
            Some(_) = connections.join_next() => continue,
        };
        let connection =
            connection::serve(stream, Arc::clone(&app), limits.client_timeout, stopped.clone());
        connections.spawn(async move {
            connection.await;
            drop(place);
        });
    }
    drop(listener);
    drop(stopped);
    // Every connection waits for this, and closes once its request is answered.
    drop(stopping);
    let open = connections.len();
    info!(open, "shutting down");
    let all_ended = async { while connections.join_next().await.is_some() {} };
    if time::timeout(limits.shutdown_timeout, all_ended).await.is_err() {
        let cut = connections.len();
        warn!(cut, "closing connections that did not end in time");
        connections.shutdown().await;
    }
}

/// The next connection that there is a place for.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => match Arc::clone(places).try_acquire_owned() {
                Ok(place) => return (stream, place),
                Err(_) => {
                    // A fresh socket takes this much without waiting.
                    let _ = stream.try_write(TOO_MANY_CONNECTIONS);
                }
            },
            Err(error) => {
                warn!(%error, "cannot accept a connection");
                time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_one_connection_too_many_has_the_length_that_it_claims() {
        let answer = std::str::from_utf8(TOO_MANY_CONNECTIONS).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())));
    }
}
