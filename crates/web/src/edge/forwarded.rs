//! Determines the address of a client behind trusted proxies from `Forwarded` (RFC 7239) or
//! `X-Forwarded-For`.

use std::{
    net::{IpAddr, SocketAddr},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use hyper::{
    HeaderMap,
    header::{self, HeaderName},
};
use petstore_domain::{Client, Networks, client::ClientAddress};
use tracing::warn;

use super::{response_memory::Reader, settings::Settings};

/// The header field in which many proxies name the client. No RFC defines it.
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The header fields in which proxies name the client.
const FORWARDING_FIELDS: [HeaderName; 2] = [header::FORWARDED, X_FORWARDED_FOR];

/// The settings for identifying strangers. A stranger is a client without a valid key or session.
/// Its address identifies it, so that limits apply to each stranger.
pub struct Strangers {
    proxies: Networks,
    exempts_loopback: bool,
    /// Whether the warning about an untrusted proxy has been logged.
    has_warned: AtomicBool,
}

/// The error if the fields of a trusted proxy contradict each other or cannot be parsed.
struct InvalidForwarding;

impl Strangers {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            proxies: settings.trusted_proxies.clone(),
            exempts_loopback: settings.exempts_loopback,
            has_warned: AtomicBool::new(false),
        }
    }

    /// Finds the address whose limits apply to a request. Returns `None` if the address is exempt.
    ///
    /// If the fields of a trusted proxy are invalid or contradict each other, the request counts
    /// for the proxy, which is then not exempt. Otherwise a client could evade its limits by adding
    /// such a field.
    pub fn find_limited_address(
        &self,
        client: &Client,
        request: &HeaderMap,
    ) -> Option<ClientAddress> {
        let peer = client.address();
        match find_named_client(peer, request, &self.proxies) {
            Ok(named_address) => {
                let address = named_address.unwrap_or(peer);
                ClientAddress::subject_to_limit(address, &self.proxies, self.exempts_loopback)
            }
            Err(InvalidForwarding) => Some(peer.into()),
        }
    }

    /// Returns the memory account to which the response to a stranger's request counts.
    pub fn reader(&self, client: &Client, request: &HeaderMap) -> Reader {
        Reader::Stranger(self.find_limited_address(client, request))
    }

    /// Logs a warning, once per process, if a local proxy that is not trusted forwards a request.
    pub(crate) fn warn_about_untrusted_proxy(&self, client: &Client, request: &HeaderMap) {
        if self.has_warned.load(Relaxed) {
            return;
        }
        let peer = client.address();
        let is_untrusted_proxy = is_local(peer)
            && !self.proxies.contains(peer)
            && FORWARDING_FIELDS
                .iter()
                .any(|name| request.contains_key(name));
        if !is_untrusted_proxy {
            return;
        }
        // A concurrent request may have logged the warning in the meantime.
        if self.has_warned.swap(true, Relaxed) {
            return;
        }
        warn!(
            proxy = %peer,
            "a proxy forwards requests and is not trusted, so all its clients count as one address, \
             and the log has the address of the proxy; if it is yours, set --trusted-proxy {peer} \
             (PETSTORE_TRUSTED_PROXY={peer})"
        );
    }
}

/// Whether the address is loopback, private or link-local, so that it may be a proxy of the
/// operator.
fn is_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_loopback() || address.is_private() || address.is_link_local()
        }
        IpAddr::V6(address) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
    }
}

/// Finds the address of the client: the last untrusted address in the field of a trusted proxy.
/// If `peer` is not a trusted proxy, `peer` is the client.
///
/// Each proxy appends the address of its own client, so a client can forge only the addresses
/// further left. The result is also `peer` if a field is invalid, or if both fields exist and
/// disagree: a proxy that sets one of them may pass on the other as the client sent it.
pub fn find_client_address(peer: IpAddr, headers: &HeaderMap, proxies: &Networks) -> IpAddr {
    match find_named_client(peer, headers, proxies) {
        Ok(Some(address)) => address,
        Ok(None) | Err(InvalidForwarding) => peer,
    }
}

/// Finds the client that a trusted proxy names. Returns `None` if `peer` is not trusted or sends
/// neither field. Fails if a field has no valid address, or if the two fields name different
/// clients.
fn find_named_client(
    peer: IpAddr,
    headers: &HeaderMap,
    proxies: &Networks,
) -> Result<Option<IpAddr>, InvalidForwarding> {
    if !proxies.contains(peer) {
        return Ok(None);
    }
    let forwarded = find_last_untrusted(
        headers,
        &header::FORWARDED,
        parse_forwarded_element,
        proxies,
    )?;
    let x_forwarded_for = find_last_untrusted(headers, &X_FORWARDED_FOR, parse_node, proxies)?;
    match (forwarded, x_forwarded_for) {
        (None, None) => Ok(None),
        (Some(address), None) | (None, Some(address)) => Ok(Some(address)),
        (Some(address), Some(other_address)) if address == other_address => Ok(Some(address)),
        (Some(_), Some(_)) => Err(InvalidForwarding),
    }
}

/// Finds the last address in the field `name` that is not a trusted proxy. If all are trusted,
/// returns the first one. Returns `None` if the field is missing.
///
/// Fails if this address, or one after it, is invalid. `parse` parses the address of one list
/// element.
///
/// Example: with the trusted proxies `10.0.0.0/8`, `198.51.100.7, 192.0.2.1, 10.0.0.2` yields
/// `192.0.2.1`.
fn find_last_untrusted(
    headers: &HeaderMap,
    name: &HeaderName,
    parse: fn(&str) -> Option<IpAddr>,
    proxies: &Networks,
) -> Result<Option<IpAddr>, InvalidForwarding> {
    let lines: Vec<_> = headers.get_all(name).iter().collect();
    let mut trusted_address = None;
    // From the end, because each proxy appends the address of its own client.
    for line in lines.into_iter().rev() {
        // A line that is not ASCII becomes one empty element, which is invalid.
        for element in line.to_str().unwrap_or_default().rsplit(',') {
            let address = parse(element.trim()).ok_or(InvalidForwarding)?;
            if !proxies.contains(address) {
                return Ok(Some(address));
            }
            trusted_address = Some(address);
        }
    }
    Ok(trusted_address)
}

/// Parses the `for` address of an element of `Forwarded`. An element with two of them is invalid.
///
/// Example: `for="[2001:db8::1]:4711";proto=https` yields `2001:db8::1`.
fn parse_forwarded_element(element: &str) -> Option<IpAddr> {
    let mut node = None;
    for pair in element.split(';') {
        let Some((name, value)) = pair.trim().split_once('=') else {
            continue;
        };
        if !name.eq_ignore_ascii_case("for") {
            continue;
        }
        if node.is_some() {
            return None;
        }
        node = Some(value);
    }

    let node = node?;
    match node.strip_prefix('"') {
        Some(quoted_node) => parse_node(quoted_node.strip_suffix('"')?),
        None => parse_node(node),
    }
}

/// Parses an address, with or without a port, and drops the port. IPv6 may be in brackets.
///
/// Example: `192.0.2.1:4711` yields `192.0.2.1`.
fn parse_node(text: &str) -> Option<IpAddr> {
    let address = if let Ok(address) = text.parse() {
        address
    } else if let Ok(address_and_port) = text.parse::<SocketAddr>() {
        address_and_port.ip()
    } else {
        let bracketed_address = text.strip_prefix('[')?.strip_suffix(']')?;
        IpAddr::V6(bracketed_address.parse().ok()?)
    };
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    const PROXY: &str = "10.0.0.1";

    fn header_fields(fields: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            let name = HeaderName::from_static(name);
            headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    fn client_of(peer: &str, fields: &[(&'static str, &str)]) -> String {
        let headers = header_fields(fields);
        let proxies = ["10.0.0.0/8".parse().unwrap()].into_iter().collect();
        find_client_address(peer.parse().unwrap(), &headers, &proxies).to_string()
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
            assert_eq!(
                client_of(PROXY, &[("x-forwarded-for", value)]),
                client,
                "{value}"
            );
        }
        let lines = [
            ("x-forwarded-for", "192.0.2.1"),
            ("x-forwarded-for", "10.0.0.2"),
        ];
        assert_eq!(client_of(PROXY, &lines), "192.0.2.1");
    }

    #[test]
    fn forwarded_is_parsed_as_in_rfc_7239() {
        for (value, client) in [
            ("for=192.0.2.1", "192.0.2.1"),
            (
                "For=\"[2001:db8::1]:4711\";proto=https;by=10.0.0.1",
                "2001:db8::1",
            ),
            (
                "for=198.51.100.7, for=192.0.2.1; proto=http, for=10.0.0.2",
                "192.0.2.1",
            ),
            ("for=\"[2001:db8::1]\"", "2001:db8::1"),
        ] {
            assert_eq!(client_of(PROXY, &[("forwarded", value)]), client, "{value}");
        }
    }

    #[test]
    fn an_invalid_field_leaves_the_peer_as_the_client() {
        for value in [
            "",
            "unknown",
            "192.0.2.1, nonsense",
            "192.0.2.1,",
            "192.0.2.256",
            "\u{e9}",
        ] {
            assert_eq!(
                client_of(PROXY, &[("x-forwarded-for", value)]),
                PROXY,
                "{value}"
            );
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
        let forged = [
            ("x-forwarded-for", "192.0.2.1"),
            ("forwarded", "for=192.0.2.1"),
        ];
        assert_eq!(client_of("203.0.113.9", &forged), "203.0.113.9");
    }

    /// Returns the address to which the limits of a request through the proxy apply.
    fn limited_address(fields: &[(&'static str, &str)]) -> Option<ClientAddress> {
        let trusted_proxies = ["10.0.0.0/8".parse().unwrap()].into_iter().collect();
        let settings = Settings {
            trusted_proxies,
            ..Settings::default()
        };
        let proxy = PROXY.parse::<IpAddr>().unwrap().into();
        Strangers::new(&settings).find_limited_address(&proxy, &header_fields(fields))
    }

    #[test]
    fn requests_whose_fields_do_not_name_the_client_share_the_place_of_the_proxy() {
        let address = |text: &str| Some(text.parse::<IpAddr>().unwrap().into());
        let field = ("x-forwarded-for", "192.0.2.1");
        assert_eq!(limited_address(&[field]), address("192.0.2.1"));
        // The proxy names no client, so the request comes from the proxy itself, which is exempt.
        assert_eq!(limited_address(&[]), None);
        for forged in [
            "x",
            "",
            "for=192.0.2.9",
            "for=_hidden",
            "for=10.0.0.9",
            "proto=https",
        ] {
            assert_eq!(
                limited_address(&[field, ("forwarded", forged)]),
                address(PROXY),
                "{forged}"
            );
        }
        for forged in ["", "unknown", "192.0.2.256"] {
            assert_eq!(
                limited_address(&[("x-forwarded-for", forged)]),
                address(PROXY),
                "{forged}"
            );
        }
    }

    #[test]
    fn contradicting_fields_leave_the_peer_as_the_client() {
        let field = ("x-forwarded-for", "192.0.2.1");
        assert_eq!(
            client_of(PROXY, &[field, ("forwarded", "for=192.0.2.1")]),
            "192.0.2.1"
        );
        for forged in ["for=192.0.2.9", "nonsense"] {
            assert_eq!(
                client_of(PROXY, &[field, ("forwarded", forged)]),
                PROXY,
                "{forged}"
            );
        }
    }
}
