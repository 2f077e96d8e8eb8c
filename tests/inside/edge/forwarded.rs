//! Tests of `src/edge/forwarded.rs`.

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
