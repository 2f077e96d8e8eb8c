//! The clients of the service, and the proxies between them and the service.

use std::{
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
};

use ipnet::IpNet;

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

/// A connection, as its requests see it.
#[derive(Debug)]
pub struct Client {
    address: IpAddr,
    state: AtomicU8,
}

/// No request on the connection has carried a valid key yet.
const UNTRUSTED: u8 = 0;
/// A request on the connection has carried a valid key.
const TRUSTED: u8 = 1;
/// Its connection slot was given to another connection before it carried a valid key.
const REPLACED: u8 = 2;

impl Client {
    /// The address of the peer, which may be a proxy.
    #[must_use]
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Records that the connection has carried a valid key, so that it keeps its slot from now on.
    /// `false` if the slot was already given to another connection: then the request must not be
    /// served.
    #[must_use]
    pub fn trust(&self) -> bool {
        // Almost always it is already trusted, and a load is cheaper than a write.
        self.state.load(Relaxed) == TRUSTED
            || self.state.compare_exchange(UNTRUSTED, TRUSTED, Relaxed, Relaxed) != Err(REPLACED)
    }

    /// Takes the slot of the connection, unless the connection has carried a valid key.
    #[must_use]
    pub fn replace(&self) -> bool {
        self.state.compare_exchange(UNTRUSTED, REPLACED, Relaxed, Relaxed).is_ok()
    }

    /// Whether the slot was given to another connection.
    #[must_use]
    pub fn is_replaced(&self) -> bool {
        self.state.load(Relaxed) == REPLACED
    }
}

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        Self { address: address.to_canonical(), state: AtomicU8::new(UNTRUSTED) }
    }
}

/// The proxies whose statements about client addresses are trusted.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies(Arc<[IpNet]>);

impl TrustedProxies {
    /// Whether a trusted proxy has this address.
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

/// The address of trusted proxies: a network such as `10.0.0.0/8` or `fd00::/8`, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProxyNetwork(IpNet);

/// The text is not a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a network; use the form 10.0.0.0/8, fd00::/8 or 192.0.2.1")]
pub struct InvalidNetwork;

impl FromStr for ProxyNetwork {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let network = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map(Self).map_err(|_| InvalidNetwork)
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
            assert_eq!(bad.parse::<ProxyNetwork>(), Err(InvalidNetwork), "{bad}");
        }
    }
}
