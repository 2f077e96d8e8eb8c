//! Addresses for the listeners of `petstore serve`. They are reserved before the service opens its
//! database, and listened on afterwards.

use std::{io, net::SocketAddr};

use anyhow::anyhow;
use petstore_web::server;
use tokio::net::{TcpListener, TcpSocket};

use super::args::BadSetting;

/// An address that this process has bound but does not listen on yet, so no client can connect.
pub(super) struct ReservedAddress {
    socket: TcpSocket,
    address: SocketAddr,
    /// The option that sets the address.
    option: &'static str,
    /// Whether to use a free port instead if another process takes this one first.
    can_use_free_port: bool,
}

/// A function that reserves an address: [`ReservedAddress::new`] or
/// [`ReservedAddress::new_or_free`]. The second argument is the option that sets the address.
pub(super) type Reserve = fn(SocketAddr, &'static str) -> anyhow::Result<ReservedAddress>;

impl ReservedAddress {
    /// Reserves an address. Errors name the `option` that sets it.
    pub(super) fn new(address: SocketAddr, option: &'static str) -> anyhow::Result<Self> {
        let socket = server::bind(address).map_err(|error| listen_error(error, address, option))?;
        Ok(Self {
            socket,
            address,
            option,
            can_use_free_port: false,
        })
    }

    /// Reserves an address, or a free port on the same host if the port is in use. If the host
    /// itself cannot be used, reserving a free port fails with the same error.
    pub(super) fn new_or_free(address: SocketAddr, option: &'static str) -> anyhow::Result<Self> {
        let mut reserved_address =
            Self::new(address, option).or_else(|_| Self::new_on_free_port(address, option))?;
        reserved_address.can_use_free_port = true;
        Ok(reserved_address)
    }

    /// Reserves a free port on the host of this address.
    fn new_on_free_port(address: SocketAddr, option: &'static str) -> anyhow::Result<Self> {
        Self::new(SocketAddr::new(address.ip(), 0), option)
    }

    /// Begins to accept connections. If another process has taken the address first, uses a free
    /// port where [`Self::new_or_free`] allows it.
    pub(super) fn listen(self) -> anyhow::Result<TcpListener> {
        let Self {
            socket,
            address,
            option,
            can_use_free_port,
        } = self;
        match server::listen(socket) {
            Ok(listener) => Ok(listener),
            // Another process that had also bound the address has listened on it first.
            Err(_) if can_use_free_port => Self::new_on_free_port(address, option)?.listen(),
            Err(error) => Err(listen_error(error, address, option)),
        }
    }
}

/// Returns the error for an address that cannot be used, with advice for the operator.
fn listen_error(error: io::Error, address: SocketAddr, option: &str) -> anyhow::Error {
    let message = format!("cannot listen on {address}: {error}");
    match error.kind() {
        io::ErrorKind::AddrInUse => anyhow!(
            "{message}; another program, perhaps another petstore, uses this port: stop it, or \
                 set another port with {option}"
        ),
        io::ErrorKind::AddrNotAvailable => anyhow!(
            "{message}; this machine does not have the address: set another address with {option}"
        ),
        io::ErrorKind::PermissionDenied => anyhow!(BadSetting(format!(
            "{message}; ports below 1024 need the capability CAP_NET_BIND_SERVICE: set \
                 another port with {option}"
        ))),
        _ => anyhow!(error).context(format!("cannot listen on {address}")),
    }
}
