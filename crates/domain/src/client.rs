//! The clients of the service.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

use super::Networks;

/// The address by which clients are distinguished: an IPv4 address, or an IPv6 network. An IPv6
/// client can choose any of the 2^64 addresses of its network (RFC 4291, section 2.5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientAddress(IpAddr);

impl From<IpAddr> for ClientAddress {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            address @ IpAddr::V4(_) => address,
        })
    }
}

impl ClientAddress {
    /// Returns an IPv4 address as it is, and for an IPv6 network the network of the site: the /56 that a provider gives to
    /// one customer (RFC 6177, section 2), who can use each of its 256 networks. `2001:db8:1:2ff::` becomes
    /// `2001:db8:1:200::`.
    #[must_use]
    pub fn site(self) -> Self {
        Self(match self.0 {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 72 << 72).into(),
            address @ IpAddr::V4(_) => address,
        })
    }

    /// Returns the address that a limit for one address counts. `None` if many clients share the address, and so have
    /// no such limit: it is a trusted proxy, or it is local and `exempts_loopback` is set.
    pub fn with_limit(address: IpAddr, proxies: &Networks, exempts_loopback: bool) -> Option<Self> {
        let is_shared = proxies.contain(address) || exempts_loopback && address.is_loopback();
        if is_shared {
            None
        } else {
            Some(address.into())
        }
    }
}

/// The client of a connection, as its requests see it. All requests of the connection share it.
#[derive(Debug)]
pub struct Client {
    address: IpAddr,
    state: AtomicU8,
}

/// The state of a connection on which no request has carried a valid key yet.
const UNTRUSTED: u8 = 0;
/// The state of a connection on which a request has carried a valid key.
const TRUSTED: u8 = 1;
/// The state of a connection whose slot was given to another connection before a request carried a valid key.
const REPLACED: u8 = 2;

impl Client {
    /// Returns the address of the peer, which may be a proxy.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Records that the connection has carried a valid key, so that it keeps its slot from now on.
    /// `false` if the slot was already given to another connection: then the request must not be
    /// served.
    #[must_use]
    pub fn trust(&self) -> bool {
        // Almost always, the connection is already trusted, and a load is cheaper than a write.
        if self.is_trusted() {
            return true;
        }
        let state_before = self
            .state
            .compare_exchange(UNTRUSTED, TRUSTED, Relaxed, Relaxed);
        state_before != Err(REPLACED)
    }

    /// Whether a request on the connection has carried a valid key.
    pub fn is_trusted(&self) -> bool {
        self.state.load(Relaxed) == TRUSTED
    }

    /// Takes the slot of the connection, unless the connection has carried a valid key.
    #[must_use]
    pub fn replace(&self) -> bool {
        self.state
            .compare_exchange(UNTRUSTED, REPLACED, Relaxed, Relaxed)
            .is_ok()
    }

    /// Whether the slot was given to another connection.
    pub fn is_replaced(&self) -> bool {
        self.state.load(Relaxed) == REPLACED
    }
}

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        Self {
            address: address.to_canonical(),
            state: AtomicU8::new(UNTRUSTED),
        }
    }
}
