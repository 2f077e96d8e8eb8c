//! Networks of IP addresses.

use std::{net::IpAddr, str::FromStr, sync::Arc};

use ipnet::IpNet;

/// A set of networks that the operator configures, such as the networks of trusted proxies.
#[derive(Debug, Clone, Default)]
pub struct Networks(Arc<[IpNet]>);

impl Networks {
    /// Whether one of the networks contains the address. An IPv4-mapped address such as
    /// `::ffff:10.0.0.1` is treated as the IPv4 address `10.0.0.1`.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Whether the set contains no networks.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Network> for Networks {
    fn from_iter<I: IntoIterator<Item = Network>>(networks: I) -> Self {
        Self(
            networks
                .into_iter()
                .map(|Network(network)| network)
                .collect(),
        )
    }
}

/// A network such as `10.0.0.0/8` or `fd00::/8`, or a single address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network(IpNet);

/// The error for a text that is not a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a network; use the form 10.0.0.0/8, fd00::/8 or 192.0.2.1")]
pub struct InvalidNetwork;

impl FromStr for Network {
    type Err = InvalidNetwork;

    /// Parses a network in CIDR notation, or a single address.
    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        if let Ok(network) = text.parse::<IpNet>() {
            return Ok(Self(network));
        }
        match text.parse::<IpAddr>() {
            Ok(address) => Ok(Self(address.into())),
            Err(_) => Err(InvalidNetwork),
        }
    }
}
