//! Listeners that are there without an option: those for people.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;
use tracing::warn;

use super::{
    management::Bound,
    values::{self, ListenOrOff},
};

/// A listener, and the option that sets its address.
pub(super) struct Listening {
    /// Its name for people.
    pub(super) what: &'static str,
    pub(super) option: &'static str,
    pub(super) default_port: u16,
    pub(super) given: Option<ListenOrOff>,
}

impl Listening {
    /// Its address, if it is not off.
    pub(super) fn address(&self) -> SocketAddr {
        match self.given {
            Some(ListenOrOff::At(address)) => address,
            Some(ListenOrOff::Off) | None => {
                SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), self.default_port)
            }
        }
    }

    /// Reserves the address. If the default address is in use, this is not an error, because the option
    /// was not given and the listener may not be needed.
    pub(super) fn bind(&self) -> anyhow::Result<Option<Bound>> {
        match self.given {
            Some(ListenOrOff::Off) => Ok(None),
            _ => self.required_if_set(Bound::new(self.address(), self.option)),
        }
    }

    /// Accepts connections from now on.
    pub(super) fn listen(&self, bound: Option<Bound>) -> anyhow::Result<Option<TcpListener>> {
        bound.map_or(Ok(None), |bound| self.required_if_set(bound.listen()))
    }

    fn required_if_set<T>(&self, done: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
        match done {
            Err(error) if self.given.is_none() => {
                let Self { what, option, .. } = self;
                warn!("there is no {what}: {error:#}; {option} off turns it off");
                Ok(None)
            }
            done => done.map(Some),
        }
    }
}

/// The address at which a browser on this machine reaches a listener.
pub(super) fn own_url(address: SocketAddr, tls: bool) -> String {
    format!("{}://{}", if tls { "https" } else { "http" }, values::reachable(address))
}
