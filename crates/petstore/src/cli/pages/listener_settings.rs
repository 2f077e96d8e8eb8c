//! The address at which the console or the window listens, and the URL at which browsers reach it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use petstore_web::edge::Origin;
use tokio::net::TcpListener;
use tracing::warn;

use crate::cli::{
    reserved_address::{Reserve, ReservedAddress},
    values::{self, ListenOrOff},
};

/// The settings of a listener for the console or the window.
pub(super) struct ListenerSettings<'a> {
    /// The name of the pages in messages: the console or the window.
    pub(super) name: &'static str,
    /// The option that sets the address.
    pub(super) option: &'static str,
    pub(super) default_port: u16,
    /// The value of the option, if it is set.
    pub(super) value: Option<ListenOrOff>,
    /// The URL at which browsers reach the listener, if it differs from the address.
    pub(super) url: Option<&'a Origin>,
}

impl ListenerSettings<'_> {
    /// Returns the address to listen on. Without one in the settings, this is the default port on
    /// this machine, even if the listener is off.
    pub(super) fn address(&self) -> SocketAddr {
        match self.value {
            Some(ListenOrOff::At(address)) => address,
            Some(ListenOrOff::Off) | None => {
                SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), self.default_port)
            }
        }
    }

    /// Returns the URL at which browsers reach a listener at this address, without a trailing
    /// slash.
    pub(super) fn url_for(&self, address: SocketAddr, has_tls: bool) -> String {
        if let Some(url) = self.url {
            return url.as_str().to_owned();
        }
        let scheme = if has_tls { "https" } else { "http" };
        format!("{scheme}://{}", values::reachable_address(address))
    }

    /// Reserves the address with `reserve`, unless the listener is off.
    pub(super) fn reserve(&self, reserve: Reserve) -> anyhow::Result<Option<ReservedAddress>> {
        if let Some(ListenOrOff::Off) = self.value {
            return Ok(None);
        }
        self.fail_only_if_set(reserve(self.address(), self.option))
    }

    /// Begins to accept connections at a reserved address.
    pub(super) fn listen(
        &self,
        reserved_address: Option<ReservedAddress>,
    ) -> anyhow::Result<Option<TcpListener>> {
        match reserved_address {
            Some(reserved_address) => self.fail_only_if_set(reserved_address.listen()),
            None => Ok(None),
        }
    }

    /// Turns a failure into a warning if the option is not set: the operator may not need the
    /// pages, so a port in use must not keep the service from starting.
    fn fail_only_if_set<T>(&self, result: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if self.value.is_some() => Err(error),
            Err(error) => {
                let Self { name, option, .. } = self;
                warn!(
                    "there is no {name}: {error:#}; name another address with {option}, or turn it off with \
                     {option} off"
                );
                Ok(None)
            }
        }
    }
}
