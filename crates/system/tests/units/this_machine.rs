//! Which URLs name this machine.

use petstore_system::addresses::is_this_machine;
use url::Url;

#[test]
fn only_localhost_and_loopback_addresses_are_this_machine() {
    for (text, expected) in [
        ("http://localhost:8082", true),
        ("http://LOCALHOST", true),
        ("http://127.0.0.1:8082", true),
        ("http://127.4.5.6", true),
        ("http://[::1]:8082", true),
        ("http://127.example.com", false),
        ("http://localhost.example", false),
        ("http://shop.example/?from=://localhost", false),
        ("http://128.0.0.1", false),
        ("http://[::2]", false),
    ] {
        let url = Url::parse(text).unwrap();
        assert_eq!(is_this_machine(&url), expected, "{text}");
    }
}
