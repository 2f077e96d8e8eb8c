//! Who is at the other end of a connection.

use std::net::{IpAddr, Ipv6Addr};

/// Where a client connects from, as far as it can be told apart from others:
/// its IPv4 address, or its IPv6 network. An IPv6 client chooses freely among
/// the 2^64 addresses of its network (RFC 4291, section 2.5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientAddress(IpAddr);

impl ClientAddress {
    /// The address as 16 bytes, in which no two of them are alike.
    #[must_use]
    pub fn octets(self) -> [u8; 16] {
        match self.0 {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            IpAddr::V6(network) => network.octets(),
        }
    }
}

impl From<IpAddr> for ClientAddress {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            address @ IpAddr::V4(_) => address,
        })
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
        assert_eq!(of("::ffff:192.0.2.1").octets(), of("192.0.2.1").octets());
        assert_ne!(of("::").octets(), of("0.0.0.0").octets());
    }
}
