//! Networks that an operator names.

use petstore_domain::{Network, Networks, network::InvalidNetwork};

#[test]
fn networks_contain_their_addresses() {
    let networks = ["10.0.0.0/8", "192.0.2.1", "fd00::/8"];
    let proxies: Networks = networks
        .map(|text| text.parse().unwrap())
        .into_iter()
        .collect();
    let contain = |text: &str| proxies.contains(text.parse().unwrap());
    for proxy in ["10.1.2.3", "::ffff:10.1.2.3", "192.0.2.1", "fd12::1"] {
        assert!(contain(proxy), "{proxy}");
    }
    for other in ["11.0.0.1", "192.0.2.2", "2001:db8::1"] {
        assert!(!contain(other), "{other}");
    }
    for bad in ["", "10.0.0.0/33", "10.0.0", "proxy.example"] {
        assert_eq!(bad.parse::<Network>(), Err(InvalidNetwork), "{bad}");
    }
}
