//! Decides to which addresses the service must not send messages.
//!
//! This prevents server-side request forgery: a person who may add a webhook must not be able to
//! reach the machines behind the service's firewall with it.

use std::{net::IpAddr, sync::LazyLock};

use ipnet::IpNet;
use petstore_domain::Networks;

/// The ranges of addresses that do not belong to hosts on the public internet, each with its
/// reason. If several ranges contain an address, the first one determines the reason.
///
/// They are the IPv4 and IPv6 Special-Purpose Address Registries of IANA, multicast, and
/// unallocated IPv6.
pub const FORBIDDEN_RANGES: [(&str, &str); 52] = [
    ("0.0.0.0/32", "unspecified"),
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared by a carrier's NAT"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/29", "DS-Lite"),
    ("192.0.0.8/32", "dummy address"),
    ("192.0.0.9/32", "Port Control Protocol"),
    ("192.0.0.10/32", "TURN"),
    ("192.0.0.170/31", "NAT64 discovery"),
    ("192.0.0.0/24", "protocol assignments"),
    ("192.0.2.0/24", "documentation"),
    ("192.31.196.0/24", "AS112"),
    ("192.52.193.0/24", "automatic multicast tunneling"),
    ("192.88.99.0/24", "6to4 relay"),
    ("192.168.0.0/16", "private"),
    ("192.175.48.0/24", "AS112"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("255.255.255.255/32", "broadcast"),
    ("240.0.0.0/4", "reserved"),
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("::ffff:0:0/96", "IPv4-mapped"),
    ("64:ff9b::/96", "NAT64"),
    ("64:ff9b:1::/48", "NAT64"),
    ("100::/64", "discard-only"),
    ("100:0:0:1::/64", "dummy prefix"),
    ("::/3", "not allocated"),
    ("2001::/32", "Teredo"),
    ("2001:2::/48", "benchmarking"),
    ("2001:3::/32", "automatic multicast tunneling"),
    ("2001:4:112::/48", "AS112"),
    ("2001:10::/28", "ORCHID"),
    ("2001:20::/28", "ORCHID"),
    ("2001:30::/28", "remote identification of drones"),
    ("2001::/23", "protocol assignments"),
    ("2001:db8::/32", "documentation"),
    ("2002::/16", "6to4"),
    ("2620:4f:8000::/48", "AS112"),
    ("3fff::/20", "documentation"),
    ("fc00::/7", "unique local"),
    ("fe80::/10", "link-local"),
    ("ff00::/8", "multicast"),
    ("fec0::/10", "site-local"),
    ("5f00::/16", "segment routing"),
    ("4000::/2", "not allocated"),
    ("8000::/1", "not allocated"),
];

/// A range of addresses to which no messages may be sent.
struct ForbiddenRange {
    addresses: IpNet,
    reason: &'static str,
}

/// The parsed [`FORBIDDEN_RANGES`].
static PARSED_RANGES: LazyLock<Vec<ForbiddenRange>> = LazyLock::new(|| {
    let mut ranges = Vec::new();
    for (range, reason) in FORBIDDEN_RANGES {
        // A test ensures that all of them can be parsed.
        if let Ok(addresses) = range.parse() {
            ranges.push(ForbiddenRange { addresses, reason });
        }
    }
    ranges
});

/// Returns the reason why messages must not be sent to this address, such as `private` for
/// `10.0.0.1`. Returns `None` if they may be sent.
///
/// `allowed` are the networks that the operator permits. They take precedence over
/// [`FORBIDDEN_RANGES`].
pub fn forbidden_reason(address: IpAddr, allowed: &Networks) -> Option<&'static str> {
    if allowed.contains(address) {
        return None;
    }
    PARSED_RANGES
        .iter()
        .find(|range| range.addresses.contains(&address))
        .map(|range| range.reason)
}
