//! Sockets: accepts connections, enforces their limits, and shuts down in an orderly way.

mod activity;
mod connection;
mod connection_slots;
mod handler;
mod io;
mod limits;
mod strict_heads;
mod tls;

use std::{
    io::Error,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use futures_util::future::BoxFuture;
use petstore_domain::Client;

use rustix::{io::Errno, net::sockopt::set_socket_send_buffer_size};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{self, MissedTickBehavior},
};
use tracing::warn;

use crate::edge::Edge;

pub use self::handler::Handler;
pub use self::limits::{Limits, per_address_of, raise_open_files_limit};
pub use self::tls::{Tls, TlsError};
use self::{
    activity::Activity,
    connection_slots::{ConnectionSlots, NoFreeSlot},
    io::SEND_BUFFER_OF_STRANGER,
};

/// How long to wait after the process or the system ran out of a resource that a new connection
/// needs, unless an open connection ends first.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How many connections may wait to be accepted, if the system allows it. Clients above this limit
/// retry seconds later.
const BACKLOG: u32 = 4096;

/// The shortest time between two log messages about rejected connections.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// Reserves `address`, where connections are refused until [`listen`]. Needs a runtime.
pub fn bind(address: SocketAddr) -> Result<TcpSocket, Error> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // Connections of the previous process may still exist.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// Accepts connections from now on. Fails if another process was faster.
pub fn listen(socket: TcpSocket) -> Result<TcpListener, Error> {
    socket.listen(BACKLOG)
}

/// Serves `handler` on `listener`, over TLS if there is a certificate, until `stop` completes. Then
/// requests in flight may finish within the limit.
///
/// What it returns is boxed, and this function is never a part of another one, so that it is compiled in this crate.
#[inline(never)]
pub fn serve<'s>(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    handler: Arc<dyn Handler>,
    limits: &'s Limits,
    stop: BoxFuture<'s, ()>,
) -> BoxFuture<'s, ()> {
    Box::pin(accept_until(listener, tls, handler, limits, stop))
}

async fn accept_until(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    handler: Arc<dyn Handler>,
    limits: &Limits,
    mut stop: BoxFuture<'_, ()>,
) {
    // Inherited by connections. If the system rejects it, they get another size.
    let _ = set_socket_send_buffer_size(&listener, SEND_BUFFER_OF_STRANGER);
    let slots = ConnectionSlots::new(limits);
    let (stopping, stopped) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut rejections = Rejections::default();
    let mut report = time::interval(REPORT_EVERY);
    report.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            _ = report.tick(), if rejections.has_any() => {
                rejections.report();
                continue;
            }
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let (stream, address) = match accepted {
            Ok((stream, address)) => (stream, address.ip()),
            Err(error) => {
                let is_exhausted = !affects_one_connection(&error);
                rejections.failures += 1;
                rejections.last_error = Some(error);
                if is_exhausted {
                    // A connection that ends may free the resource.
                    tokio::select! {
                        () = time::sleep(ACCEPT_PAUSE) => {}
                        Some(_) = connections.join_next() => {}
                    }
                }
                continue;
            }
        };
        let client = Arc::new(Client::from(address));
        let activity = Arc::new(Activity::default());
        let slot = match slots.take(&client, &activity) {
            Ok(slot) => slot,
            Err(no_slot) => {
                if tls.is_none() {
                    reject(&stream, no_slot, handler.edge());
                }
                handler.connections().turned_away.count();
                rejections.refused += 1;
                rejections.last_address = Some(address);
                continue;
            }
        };
        if slot.replaces_another {
            handler.connections().turned_away.count();
            rejections.replaced += 1;
        }
        // A small response must not wait for the acknowledgement of the previous one.
        let _ = stream.set_nodelay(true);
        let number = slot.number;
        let slot = (slot, handler.connections().begin());
        let handler = Arc::clone(&handler);
        let limits = limits.clone();
        let mut stopped = stopped.clone();
        // Two tasks, so a connection without TLS takes no memory for TLS.
        let task = if let Some(tls) = &tls {
            let acceptor = tls.acceptor();
            connections.spawn(async move {
                let within = limits.client_timeout;
                let stream = tls::handshake(acceptor, stream, within, &mut stopped).await;
                if let Some(stream) = stream {
                    connection::serve(stream, client, activity, handler, limits, stopped).await;
                }
                drop(slot);
            })
        } else {
            connections.spawn(async move {
                connection::serve(stream, client, activity, handler, limits, stopped).await;
                drop(slot);
            })
        };
        slots.note_task(number, task);
    }
    if rejections.has_any() {
        rejections.report();
    }
    drop(listener);
    drop(stopped);
    // Every connection waits for this, and closes after its current response.
    drop(stopping);
    let all_ended = async { while connections.join_next().await.is_some() {} };
    if time::timeout(limits.shutdown_timeout, all_ended)
        .await
        .is_err()
    {
        let cut = connections.len();
        warn!(cut, "aborting connections that did not finish in time");
        connections.shutdown().await;
    }
}

/// Whether the error affects only the connection that was to be accepted. Linux reports its network
/// errors here (accept(2), "Error handling"), and the next connection can be accepted at once.
fn affects_one_connection(error: &Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(
        errno,
        Some(
            Errno::CONNABORTED
                | Errno::CONNRESET
                | Errno::HOSTDOWN
                | Errno::HOSTUNREACH
                | Errno::INTR
                | Errno::NETDOWN
                | Errno::NETUNREACH
                | Errno::NONET
                | Errno::NOPROTOOPT
                | Errno::OPNOTSUPP
                | Errno::PERM
                | Errno::PROTO
                | Errno::TIMEDOUT
        )
    )
}

/// Tells a client why its connection is closed. Not over TLS, where the response would need a
/// handshake.
fn reject(stream: &TcpStream, no_slot: NoFreeSlot, edge: &Edge) {
    let whose = match no_slot {
        NoFreeSlot::InTotal => "",
        NoFreeSlot::ForAddress => " from this address",
    };
    let body = format!(
        r#"{{"code":"unavailable","message":"Too many connections{whose}. Retry in a moment.","status":503}}"#
    );
    let response = format!(
        "HTTP/1.1 503 Service Unavailable\r\n\
         Content-Type: application/json\r\n\
         Content-Length: {}\r\n\
         Retry-After: 1\r\n\
         X-Request-Id: {}\r\n\
         X-Content-Type-Options: nosniff\r\n\
         Cache-Control: no-store\r\n\
         Connection: close\r\n\r\n{body}",
        body.len(),
        edge.new_request_id()
    );
    // Without this read, closing would reset the socket, and the reset could overtake the response.
    let _ = stream.try_read(&mut [0; 4 << 10]);
    // The buffer of a new socket has enough space.
    let _ = stream.try_write(response.as_bytes());
}

/// Failed and rejected connections since the last log message, so a flood of connections does not
/// flood the log.
#[derive(Default)]
struct Rejections {
    refused: u64,
    replaced: u64,
    last_address: Option<IpAddr>,
    failures: u64,
    last_error: Option<Error>,
}

impl Rejections {
    fn has_any(&self) -> bool {
        self.refused > 0 || self.replaced > 0 || self.failures > 0
    }

    fn report(&mut self) {
        if let Some(address) = self.last_address {
            let refused = self.refused;
            warn!(refused, last = %address, "connections above the limit were rejected");
        }
        if self.replaced > 0 {
            let replaced = self.replaced;
            warn!(
                replaced,
                "connections without a valid API key were closed to make room"
            );
        }
        if let Some(error) = &self.last_error {
            warn!(failures = self.failures, %error, "connections could not be accepted");
        }
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exhausted_resources_pause_the_accept_loop() {
        for errno in [
            Errno::CONNABORTED,
            Errno::CONNRESET,
            Errno::NETDOWN,
            Errno::PROTO,
            Errno::PERM,
            Errno::TIMEDOUT,
        ] {
            assert!(affects_one_connection(&errno.into()), "{errno}");
        }
        // Unexpected errors also pause the loop, which could spin otherwise.
        for errno in [
            Errno::MFILE,
            Errno::NFILE,
            Errno::NOBUFS,
            Errno::NOMEM,
            Errno::INVAL,
        ] {
            assert!(!affects_one_connection(&errno.into()), "{errno}");
        }
    }
}
