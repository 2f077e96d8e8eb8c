//! Reports the state of the service to systemd (`Type=notify`, `sd_notify(3)`), in one
//! datagram to the socket that `NOTIFY_SOCKET` names. The standard library has all that
//! this needs.

use std::{
    env,
    ffi::OsString,
    io,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            ffi::OsStrExt,
            net::{SocketAddr, UnixDatagram},
        },
    },
};

use tracing::warn;

/// Sends the `state` of the service, such as `READY=1`, to systemd. Does nothing without
/// `NOTIFY_SOCKET`.
pub(super) async fn notify(state: &str) {
    let Some(socket) = env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    if let Err(error) = send(&socket, state).await {
        warn!(cause = %error, "cannot send {state} to NOTIFY_SOCKET");
    }
}

async fn send(socket: &OsString, state: &str) -> io::Result<()> {
    let address = match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    socket.set_nonblocking(true)?;
    tokio::net::UnixDatagram::from_std(socket)?.send(state.as_bytes()).await?;
    Ok(())
}
