//! Clients and their addresses.

use std::net::IpAddr;

use petstore_domain::client::{Client, ClientAddress};

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
