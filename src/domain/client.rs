//! Who is at the other end of a connection.

use std::{
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
};

use ipnet::IpNet;

/// Where a client connects from, as far as it can be told apart from others:
/// its IPv4 address, or its IPv6 network. An IPv6 client chooses freely among
/// the 2^64 addresses of its network (RFC 4291, section 2.5.1).
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

/// A connection, as far as its requests need to know about it.
#[derive(Debug)]
pub struct Client {
    address: IpAddr,
    state: AtomicU8,
}

/// No valid key has come over the connection yet.
const STRANGE: u8 = 0;
/// One has.
const TRUSTED: u8 = 1;
/// Its place was given to another connection before one came.
const REPLACED: u8 = 2;

impl Client {
    /// The address at the other end, which may be that of a proxy.
    #[must_use]
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Notes that a valid key came over the connection, which keeps its place
    /// from now on. `false` if it has lost its place already: nothing is to be
    /// done for it any more.
    #[must_use]
    pub fn trust(&self) -> bool {
        // Nearly always it is trusted, and then there is nothing to write.
        self.state.load(Relaxed) == TRUSTED
            || self.state.compare_exchange(STRANGE, TRUSTED, Relaxed, Relaxed) != Err(REPLACED)
    }

    /// Takes its place away, unless a valid key has come over the connection.
    #[must_use]
    pub fn replace(&self) -> bool {
        self.state.compare_exchange(STRANGE, REPLACED, Relaxed, Relaxed).is_ok()
    }

    /// Whether its place was taken away.
    #[must_use]
    pub fn is_replaced(&self) -> bool {
        self.state.load(Relaxed) == REPLACED
    }
}

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        Self { address: address.to_canonical(), state: AtomicU8::new(STRANGE) }
    }
}

/// The proxies that tell the truth about the addresses of their clients.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies(Arc<[IpNet]>);

impl TrustedProxies {
    /// Whether one of them has this address.
    #[must_use]
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl FromIterator<ProxyNetwork> for TrustedProxies {
    fn from_iter<I: IntoIterator<Item = ProxyNetwork>>(networks: I) -> Self {
        Self(networks.into_iter().map(|ProxyNetwork(network)| network).collect())
    }
}

/// Where trusted proxies are: a network such as `10.0.0.0/8` or `fd00::/8`, or
/// one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProxyNetwork(IpNet);

/// The text is not a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a network reads like 10.0.0.0/8, fd00::/8 or 192.0.2.1")]
pub struct NotANetwork;

impl FromStr for ProxyNetwork {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let network = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map(Self).map_err(|_| NotANetwork)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_network_is_one_address_and_a_mapped_address_is_that_of_ipv4() {
        let of = |text: &str| ClientAddress::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }

    #[test]
    fn a_connection_is_either_trusted_or_replaced() {
        let client = Client::from(IpAddr::from([192, 0, 2, 1]));
        assert!(client.trust() && client.trust() && !client.replace() && !client.is_replaced());
        let client = Client::from(IpAddr::from([192, 0, 2, 1]));
        assert!(client.replace() && !client.replace() && !client.trust() && client.is_replaced());
    }

    #[test]
    fn proxies_are_networks_and_addresses() {
        let networks = ["10.0.0.0/8", "192.0.2.1", "fd00::/8"];
        let proxies: TrustedProxies =
            networks.map(|text| text.parse().unwrap()).into_iter().collect();
        let contain = |text: &str| proxies.contain(text.parse().unwrap());
        for proxy in ["10.1.2.3", "::ffff:10.1.2.3", "192.0.2.1", "fd12::1"] {
            assert!(contain(proxy), "{proxy}");
        }
        for other in ["11.0.0.1", "192.0.2.2", "2001:db8::1"] {
            assert!(!contain(other), "{other}");
        }
        for bad in ["", "10.0.0.0/33", "10.0.0", "proxy.example"] {
            assert_eq!(bad.parse::<ProxyNetwork>(), Err(NotANetwork), "{bad}");
        }
    }
}
