//! Tests of `src/edge/request.rs`.

use super::*;

#[test]
fn a_host_has_a_name_or_an_address_and_perhaps_a_port() {
    for (host, name) in [
        ("localhost", "localhost"),
        ("localhost:8081", "localhost"),
        ("127.0.0.1:", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[::1]:8081", "::1"),
        ("evil.example:x", "evil.example:x"),
        ("", ""),
    ] {
        assert_eq!(without_port(host), name, "{host}");
    }
}
