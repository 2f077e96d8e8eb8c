//! Which addresses a message may be sent to.

use ipnet::IpNet;
use petstore_domain::Networks;
use petstore_system::addresses::{FORBIDDEN_RANGES, forbidden_reason};

fn networks(text: &str) -> Networks {
    text.split_whitespace()
        .map(|network| network.parse().unwrap())
        .collect()
}

fn why(address: &str, allowed: &str) -> Option<&'static str> {
    forbidden_reason(address.parse().unwrap(), &networks(allowed))
}

/// An address of each range, in the order of the registries.
const INSIDE: &str = "0.0.0.0 0.1.2.3 10.9.8.7 100.100.1.1 127.0.0.53 169.254.169.254 \
    172.31.255.254 192.0.0.5 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.171 192.0.0.200 192.0.2.77 \
    192.31.196.1 192.52.193.1 192.88.99.1 192.168.178.1 192.175.48.6 198.19.255.1 198.51.100.9 \
    203.0.113.5 239.255.255.250 255.255.255.255 250.1.1.1 :: ::1 ::ffff:8.8.8.8 64:ff9b::808:808 \
    64:ff9b:1::1 100::1 100:0:0:1::1 ::7f00:1 2001:0:1::1 2001:2::1 2001:3::1 2001:4:112::1 \
    2001:1f::1 2001:2f::1 2001:30::1 2001:1::3 2001:db8::1 2002:a00:1:: 2620:4f:8000::1 3fff:1::1 \
    fd00::1 fe80::1 ff02::1 fec0::1 5f00::1 4000::1 e000::1";

#[test]
fn no_address_of_a_special_purpose_range_is_permitted() {
    let inside: Vec<&str> = INSIDE.split_whitespace().collect();
    assert_eq!(inside.len(), FORBIDDEN_RANGES.len());
    for ((range, what), inside) in FORBIDDEN_RANGES.into_iter().zip(inside) {
        assert_eq!(why(inside, ""), Some(what), "{inside} in {range}");
        // A mapped address is permitted as that of IPv4.
        let permitted = if range == "::ffff:0:0/96" {
            "8.0.0.0/8"
        } else {
            range
        };
        assert_eq!(why(inside, permitted), None, "{inside} in {range}");
        let range: IpNet = range.parse().unwrap();
        for end in [range.network(), range.broadcast()] {
            assert!(
                forbidden_reason(end, &Networks::default()).is_some(),
                "{end}"
            );
        }
    }
}

#[test]
fn an_address_next_to_each_range_is_judged_by_itself() {
    for address in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.31.195.255",
        "192.31.197.0",
        "192.52.192.255",
        "192.52.194.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "192.175.47.255",
        "192.175.49.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "2001:200::",
        "2001:db7:ffff::",
        "2001:db9::",
        "2003::",
        "2001:ffff::",
        "2620:4f:7fff::",
        "2620:4f:8001::",
        "3ffe::",
        "2606:4700::1111",
    ] {
        assert_eq!(why(address, ""), None, "{address}");
    }
}

#[test]
fn the_forms_that_hide_an_ipv4_address_are_forbidden() {
    for (address, what) in [
        ("::ffff:127.0.0.1", "IPv4-mapped"),
        ("::ffff:93.184.215.14", "IPv4-mapped"),
        ("::127.0.0.1", "not allocated"),
        ("64:ff9b::10.0.0.1", "NAT64"),
        ("64:ff9b:1::10.0.0.1", "NAT64"),
        ("2002:7f00:1::", "6to4"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"),
        ("fe80::1", "link-local"),
        ("100.64.0.1", "shared by a carrier's NAT"),
        ("169.254.169.254", "link-local"),
    ] {
        assert_eq!(why(address, ""), Some(what), "{address}");
    }
}

#[test]
fn an_operator_can_permit_a_network() {
    let allowed = "10.1.0.0/16 ::1 127.0.0.1";
    for address in ["10.1.2.3", "::1", "127.0.0.1", "::ffff:10.1.2.3", "8.8.8.8"] {
        assert_eq!(why(address, allowed), None, "{address}");
    }
    for address in [
        "10.2.0.1",
        "127.0.0.2",
        "::ffff:10.2.0.1",
        "64:ff9b::10.1.2.3",
    ] {
        assert!(why(address, allowed).is_some(), "{address}");
    }
}
