//! The address of a client behind proxies, by `Forwarded` (RFC 7239) or
//! `X-Forwarded-For`.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use hyper::{
    HeaderMap,
    header::{self, HeaderName},
};

use super::{response_memory::Reader, settings::Settings};
use crate::domain::{Client, Networks, client::ClientAddress};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Tells clients without a valid key or session apart by their addresses.
pub(crate) struct Strangers {
    proxies: Networks,
    exempts_loopback: bool,
}

impl Strangers {
    pub(super) fn new(settings: &Settings) -> Self {
        let Settings { trusted_proxies, exempts_loopback, .. } = settings;
        Self { proxies: trusted_proxies.clone(), exempts_loopback: *exempts_loopback }
    }

    /// For what one address may use. `None` if it has no such limit.
    pub(crate) fn address(&self, of: &Client, request: &HeaderMap) -> Option<ClientAddress> {
        let address = client(of.address(), request, &self.proxies);
        ClientAddress::with_limit(address, &self.proxies, self.exempts_loopback)
    }

    pub(crate) fn reader(&self, of: &Client, request: &HeaderMap) -> Reader {
        Reader::Stranger(self.address(of, request))
    }
}

/// The client of a request from `peer`: if that is a trusted proxy, the last untrusted address in
/// the field. Each proxy appends the address of its own client, so addresses further left can be
/// forged.
///
/// An invalid field is ignored, and so are two contradicting ones: a proxy that writes one of them
/// may forward the other as the client sent it.
pub(crate) fn client(peer: IpAddr, headers: &HeaderMap, proxies: &Networks) -> IpAddr {
    if !proxies.contain(peer) {
        return peer;
    }
    let forwarded = last_untrusted(headers, &header::FORWARDED, for_node, proxies);
    let x_forwarded_for = last_untrusted(headers, &X_FORWARDED_FOR, node, proxies);
    let found = match (forwarded, x_forwarded_for) {
        (found, None) | (None, found) => found.flatten(),
        (Some(one), Some(other)) => one.filter(|_| one == other),
    };
    found.unwrap_or(peer)
}

/// The last untrusted address in the field `name`: `None` without the field, and `Some(None)` if
/// that address is invalid.
#[expect(clippy::option_option, reason = "no field, and one that cannot be read, are different")]
fn last_untrusted(
    headers: &HeaderMap,
    name: &HeaderName,
    read: fn(&str) -> Option<IpAddr>,
    proxies: &Networks,
) -> Option<Option<IpAddr>> {
    let lines: Vec<_> = headers.get_all(name).iter().collect();
    let mut last = None;
    for line in lines.into_iter().rev() {
        for element in line.to_str().unwrap_or_default().rsplit(',') {
            let address = read(element.trim());
            last = Some(address);
            if !address.is_some_and(|address| proxies.contain(address)) {
                return last;
            }
        }
    }
    last
}

fn for_node(element: &str) -> Option<IpAddr> {
    let mut nodes = element.split(';').filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        name.eq_ignore_ascii_case("for").then_some(value)
    });
    let value = nodes.next().filter(|_| nodes.next().is_none())?;
    let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    node(unquoted.unwrap_or(value))
}

/// An address, with or without a port.
fn node(text: &str) -> Option<IpAddr> {
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok();
    let address = text.parse().ok();
    let address = address.or_else(|| text.parse().ok().map(|node: SocketAddr| node.ip()));
    address.or_else(|| bracketed().map(IpAddr::V6)).map(|address| address.to_canonical())
}

#[cfg(test)]
#[path = "../../tests/inside/edge/forwarded.rs"]
mod tests;
