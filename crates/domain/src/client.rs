//! Client addresses, and the trust state of client connections.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

use super::Networks;

/// The address that identifies a client for rate limits: an IPv4 address, or an IPv6 /64 network.
///
/// An IPv6 client can choose any of the 2^64 addresses of its network (RFC 4291, section 2.5.1), so
/// a single address would identify nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientAddress(IpAddr);

impl From<IpAddr> for ClientAddress {
    /// Returns the address that identifies the client with this IP address. An IPv4-mapped IPv6
    /// address is treated as the IPv4 address.
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => ipv6_network(address, 64).into(),
            address @ IpAddr::V4(_) => address,
        })
    }
}

impl ClientAddress {
    /// Returns the IPv6 site of the client: the /56 network that a provider assigns to one customer
    /// (RFC 6177, section 2). The customer can use each of its 256 /64 networks.
    ///
    /// `2001:db8:1:2ff::` becomes `2001:db8:1:200::`. An IPv4 address is returned unchanged.
    #[must_use]
    pub fn site(self) -> Self {
        Self(match self.0 {
            IpAddr::V6(address) => ipv6_network(address, 56).into(),
            address @ IpAddr::V4(_) => address,
        })
    }

    /// Returns the address to which a limit per address applies; `None` if no such limit applies,
    /// because many clients share the address.
    ///
    /// Clients share the address of a trusted proxy. With `exempts_loopback`, the same is assumed
    /// of loopback addresses, which all programs on this machine share.
    pub fn subject_to_limit(
        address: IpAddr,
        proxies: &Networks,
        exempts_loopback: bool,
    ) -> Option<Self> {
        let is_exempt_loopback = exempts_loopback && address.is_loopback();
        let is_shared = proxies.contains(address) || is_exempt_loopback;
        if is_shared {
            None
        } else {
            Some(address.into())
        }
    }
}

/// Returns the network of an IPv6 address: the address with only its first `prefix_length` bits.
fn ipv6_network(address: Ipv6Addr, prefix_length: u32) -> Ipv6Addr {
    let cleared_bits = Ipv6Addr::BITS - prefix_length;
    Ipv6Addr::from_bits(address.to_bits() >> cleared_bits << cleared_bits)
}

/// The client of a connection, shared by all requests on it.
///
/// A connection starts untrusted, and becomes trusted with its first valid API key. When all
/// connection slots are taken, a new connection may replace an untrusted one, but never a trusted
/// one.
#[derive(Debug)]
pub struct Client {
    address: IpAddr,
    /// [`UNTRUSTED`], [`TRUSTED`] or [`REPLACED`]. Accesses are relaxed, because no other memory
    /// depends on the state.
    state: AtomicU8,
}

/// The state while no request on the connection has carried a valid key yet.
const UNTRUSTED: u8 = 0;
/// The state after a request on the connection has carried a valid key.
const TRUSTED: u8 = 1;
/// The state after the slot was given to another connection, before any request carried a valid
/// key.
const REPLACED: u8 = 2;

impl Client {
    /// Returns the IP address of the peer, which may be a proxy.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Records that the connection has carried a valid key, so that it keeps its slot from now on.
    ///
    /// Returns `false` if the slot was already given to another connection. The request must then
    /// not be served.
    #[must_use]
    pub fn trust(&self) -> bool {
        // The connection is almost always trusted already, and a load is cheaper than a
        // compare-and-swap.
        if self.is_trusted() {
            return true;
        }
        let swap = self
            .state
            .compare_exchange(UNTRUSTED, TRUSTED, Relaxed, Relaxed);
        match swap {
            Ok(_) => true,
            // A concurrent request may just have made the connection trusted.
            Err(present_state) => present_state == TRUSTED,
        }
    }

    /// Whether a request on the connection has carried a valid key.
    pub fn is_trusted(&self) -> bool {
        self.state.load(Relaxed) == TRUSTED
    }

    /// Takes the slot away from the connection, unless the connection is trusted. Returns whether
    /// the slot was taken.
    #[must_use]
    pub fn replace(&self) -> bool {
        self.state
            .compare_exchange(UNTRUSTED, REPLACED, Relaxed, Relaxed)
            .is_ok()
    }

    /// Whether the slot was given to another connection, so that this one must be closed.
    pub fn is_replaced(&self) -> bool {
        self.state.load(Relaxed) == REPLACED
    }
}

impl From<IpAddr> for Client {
    /// Creates the untrusted client of a new connection from this address.
    fn from(address: IpAddr) -> Self {
        Self {
            address: address.to_canonical(),
            state: AtomicU8::new(UNTRUSTED),
        }
    }
}
