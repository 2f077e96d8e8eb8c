//! The server: accepts connections, enforces their limits, and shuts down gracefully.

mod activity;
mod connection;
mod connection_slots;
mod handler;
mod io;
mod limits;
mod socket;
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
    task::{AbortHandle, JoinSet},
    time::{self, MissedTickBehavior},
};
use tracing::warn;

use crate::edge::Edge;

use self::{
    activity::Activity,
    connection_slots::{ConnectionSlot, ConnectionSlots, NoFreeSlot},
    io::SEND_BUFFER_OF_STRANGER,
};
pub use self::{
    handler::Handler,
    limits::{Limits, default_limit_per_address, raise_open_files_limit},
    tls::{Tls, TlsError},
};

/// How long accepting pauses after the process or the system ran out of a resource that a new
/// connection needs, such as file descriptors. The pause ends early if a connection ends.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The backlog of a listener: how many connections may wait to be accepted, if the system allows as
/// many. Beyond it, a client's SYN is dropped, and its system retries seconds later.
const BACKLOG: u32 = 4096;

/// The minimum interval between two log messages about rejected connections.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Binds a socket to `address` without listening, so connections are refused until [`listen`].
///
/// Must be called within a Tokio runtime.
pub fn bind(address: SocketAddr) -> Result<TcpSocket, Error> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // Connections of the previous process may still linger on this address.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// Starts to listen.
///
/// Fails if another process has started to listen on the address since [`bind`], because several
/// sockets can be bound to one address.
pub fn listen(socket: TcpSocket) -> Result<TcpListener, Error> {
    socket.listen(BACKLOG)
}

/// Serves `handler` on `listener`, over TLS if `tls` is set, until `stop` completes. Then shuts
/// down gracefully: requests in flight may finish within `shutdown_timeout`.
///
/// The future is boxed and this function is not inlined, so that its code is compiled in this
/// crate.
#[inline(never)]
pub fn serve<'s>(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    handler: Arc<dyn Handler>,
    limits: &'s Limits,
    stop: BoxFuture<'s, ()>,
) -> BoxFuture<'s, ()> {
    Box::pin(async move {
        let server = Server::new(tls, handler, limits);
        server.run(listener, stop).await;
    })
}

/// A server, and its connections.
struct Server<'s> {
    tls: Option<Arc<Tls>>,
    handler: Arc<dyn Handler>,
    limits: &'s Limits,
    slots: Arc<ConnectionSlots>,
    connections: JoinSet<()>,
    rejections: Rejections,
    /// Tells connections to shut down when it is dropped. Nothing is ever sent.
    stop_sender: watch::Sender<()>,
}

impl<'s> Server<'s> {
    /// Creates a server without connections.
    fn new(tls: Option<Arc<Tls>>, handler: Arc<dyn Handler>, limits: &'s Limits) -> Self {
        Self {
            tls,
            handler,
            limits,
            slots: ConnectionSlots::new(limits),
            connections: JoinSet::new(),
            rejections: Rejections::default(),
            stop_sender: watch::Sender::new(()),
        }
    }

    /// Accepts connections until `stop` completes, and then shuts down.
    async fn run(mut self, listener: TcpListener, mut stop: BoxFuture<'_, ()>) {
        // Accepted sockets inherit this size. If the system rejects it, they have its default.
        let _ = set_socket_send_buffer_size(&listener, SEND_BUFFER_OF_STRANGER);
        let mut report = time::interval(REPORT_INTERVAL);
        report.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = &mut stop => break,
                _ = report.tick(), if self.rejections.has_any() => self.rejections.report(),
                // Removes a connection that has ended.
                Some(_) = self.connections.join_next() => {}
                result = listener.accept() => match result {
                    Ok((stream, address)) => self.start_connection(stream, address.ip()),
                    Err(error) => self.handle_accept_error(error).await,
                },
            }
        }
        if self.rejections.has_any() {
            self.rejections.report();
        }
        drop(listener);
        self.shut_down().await;
    }

    /// Counts a failed accept. If a resource is exhausted, waits until a connection may have freed
    /// it, instead of retrying in a busy loop.
    async fn handle_accept_error(&mut self, error: Error) {
        let is_exhausted = !affects_one_connection(&error);
        self.rejections.failures += 1;
        self.rejections.last_error = Some(error);
        if is_exhausted {
            tokio::select! {
                () = time::sleep(ACCEPT_PAUSE) => {}
                Some(_) = self.connections.join_next() => {}
            }
        }
    }

    /// Starts to serve a connection, or rejects it if it gets no slot.
    fn start_connection(&mut self, stream: TcpStream, address: IpAddr) {
        let client = Arc::new(Client::from(address));
        let activity = Arc::new(Activity::default());
        let slot = match self.slots.take(&client, &activity) {
            Ok(slot) => slot,
            Err(no_slot) => {
                if self.tls.is_none() {
                    reject(&stream, no_slot, self.handler.edge());
                }
                self.handler.connections().turned_away.count();
                self.rejections.rejected += 1;
                self.rejections.last_address = Some(address);
                return;
            }
        };
        if slot.replaces_another {
            self.handler.connections().turned_away.count();
            self.rejections.replaced += 1;
        }

        // Disables Nagle's algorithm, with which a small response could wait for the
        // acknowledgement of the previous one. If this fails, responses are only slower.
        let _ = stream.set_nodelay(true);
        let number = slot.number;
        let task = self.spawn(stream, client, activity, slot);
        self.slots.set_task(number, task);
    }

    /// Spawns the task that serves a connection.
    fn spawn(
        &mut self,
        stream: TcpStream,
        client: Arc<Client>,
        activity: Arc<Activity>,
        slot: ConnectionSlot,
    ) -> AbortHandle {
        // Both guards last until the connection ends: the slot, and the metric of open connections.
        let guards = (slot, self.handler.connections().begin());
        let handler = Arc::clone(&self.handler);
        let limits = self.limits.clone();
        let mut stop_signal = self.stop_sender.subscribe();
        // A separate future without TLS, so that its connections need no memory for a handshake.
        let Some(tls) = &self.tls else {
            return self.connections.spawn(async move {
                connection::serve(stream, client, activity, handler, limits, stop_signal).await;
                drop(guards);
            });
        };
        let acceptor = tls.acceptor();
        self.connections.spawn(async move {
            let timeout = limits.client_timeout;
            let stream = tls::perform_handshake(acceptor, stream, timeout, &mut stop_signal).await;
            if let Some(stream) = stream {
                connection::serve(stream, client, activity, handler, limits, stop_signal).await;
            }
            drop(guards);
        })
    }

    /// Tells every connection to close after its current response, and aborts connections that do
    /// not close in time.
    async fn shut_down(self) {
        let mut connections = self.connections;
        drop(self.stop_sender);
        let all_ended = async { while connections.join_next().await.is_some() {} };
        let result = time::timeout(self.limits.shutdown_timeout, all_ended).await;
        if result.is_err() {
            warn!(
                cut = connections.len(),
                "aborting connections that did not finish in time"
            );
            connections.shutdown().await;
        }
    }
}

/// Whether an accept error affects only one connection, so that the next one can be accepted at
/// once.
///
/// Linux reports pending network errors of a new connection as errors of accept(2): see "Error
/// handling" there.
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

/// Sends a 503 to a client whose connection is closed because of a limit. Not used with TLS, where
/// the response would need a handshake.
fn reject(stream: &TcpStream, no_slot: NoFreeSlot, edge: &Edge) {
    let origin = match no_slot {
        NoFreeSlot::InTotal => "",
        NoFreeSlot::ForAddress => " from this address",
    };
    let body = format!(
        r#"{{"code":"unavailable","message":"Too many connections{origin}. Retry in a moment.","status":503}}"#
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
    // Closing a socket with unread bytes resets it, and the reset could overtake the response.
    let _ = stream.try_read(&mut [0; 4 << 10]);
    // This need not wait, because the send buffer of a new socket is empty.
    let _ = stream.try_write(response.as_bytes());
}

/// What has happened to connections since the last log message: how many failed, got no slot, or
/// were closed. This is logged as a summary, so that a flood of connections does not flood the log.
#[derive(Default)]
struct Rejections {
    /// Connections that got no slot.
    rejected: u64,
    /// The address of the last connection that got no slot.
    last_address: Option<IpAddr>,
    /// Connections that were closed, so that another one got their slot.
    replaced: u64,
    /// Connections that could not be accepted.
    failures: u64,
    /// The error of the last connection that could not be accepted.
    last_error: Option<Error>,
}

impl Rejections {
    /// Whether there is anything to report.
    fn has_any(&self) -> bool {
        self.rejected > 0 || self.replaced > 0 || self.failures > 0
    }

    /// Logs one line for each kind of rejection, and resets the counters.
    fn report(&mut self) {
        if let Some(address) = self.last_address {
            // `refused` and `last` are the names of the log fields.
            warn!(refused = self.rejected, last = %address, "connections above the limit were rejected");
        }
        if self.replaced > 0 {
            warn!(
                replaced = self.replaced,
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
