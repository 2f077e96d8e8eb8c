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
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    const PROXY: &str = "10.0.0.1";

    fn client_of(peer: &str, fields: &[(&'static str, &str)]) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            let name = HeaderName::from_static(name);
            headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let proxies = ["10.0.0.0/8".parse().unwrap()].into_iter().collect();
        client(peer.parse().unwrap(), &headers, &proxies).to_string()
    }

    #[test]
    fn behind_trusted_proxies_the_last_untrusted_address_is_the_client() {
        for (value, client) in [
            ("192.0.2.1", "192.0.2.1"),
            ("198.51.100.7, 192.0.2.1", "192.0.2.1"),
            ("198.51.100.7, 192.0.2.1, 10.0.0.2,10.9.9.9", "192.0.2.1"),
            ("nonsense, 192.0.2.1", "192.0.2.1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("192.0.2.1:4711", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ] {
            assert_eq!(client_of(PROXY, &[("x-forwarded-for", value)]), client, "{value}");
        }
        let lines = [("x-forwarded-for", "192.0.2.1"), ("x-forwarded-for", "10.0.0.2")];
        assert_eq!(client_of(PROXY, &lines), "192.0.2.1");
    }

    #[test]
    fn forwarded_is_parsed_as_in_rfc_7239() {
        for (value, client) in [
            ("for=192.0.2.1", "192.0.2.1"),
            ("For=\"[2001:db8::1]:4711\";proto=https;by=10.0.0.1", "2001:db8::1"),
            ("for=198.51.100.7, for=192.0.2.1; proto=http, for=10.0.0.2", "192.0.2.1"),
            ("for=\"[2001:db8::1]\"", "2001:db8::1"),
        ] {
            assert_eq!(client_of(PROXY, &[("forwarded", value)]), client, "{value}");
        }
    }

    #[test]
    fn an_invalid_field_leaves_the_peer_as_the_client() {
        for value in ["", "unknown", "192.0.2.1, nonsense", "192.0.2.1,", "192.0.2.256", "\u{e9}"] {
            assert_eq!(client_of(PROXY, &[("x-forwarded-for", value)]), PROXY, "{value}");
        }
        for value in [
            "",
            "for=_hidden",
            "for=unknown",
            "proto=https",
            "for=192.0.2.1;for=192.0.2.2",
            "192.0.2.1",
        ] {
            assert_eq!(client_of(PROXY, &[("forwarded", value)]), PROXY, "{value}");
        }
        assert_eq!(client_of(PROXY, &[]), PROXY);
    }

    #[test]
    fn an_untrusted_peer_is_the_client_whatever_its_header_fields_say() {
        let forged = [("x-forwarded-for", "192.0.2.1"), ("forwarded", "for=192.0.2.1")];
        assert_eq!(client_of("203.0.113.9", &forged), "203.0.113.9");
    }

    #[test]
    fn contradicting_fields_leave_the_peer_as_the_client() {
        let field = ("x-forwarded-for", "192.0.2.1");
        assert_eq!(client_of(PROXY, &[field, ("forwarded", "for=192.0.2.1")]), "192.0.2.1");
        for forged in ["for=192.0.2.9", "nonsense"] {
            assert_eq!(client_of(PROXY, &[field, ("forwarded", forged)]), PROXY, "{forged}");
        }
    }
}
