//! Which URLs an endpoint may have.

use petstore_app::delivery::EndpointUrl;

fn parse(text: &str, allowed: &str) -> Result<String, String> {
    let allowed = allowed
        .split_whitespace()
        .map(|text| text.parse().unwrap())
        .collect();
    EndpointUrl::parse(text, &allowed).map(|url| url.get().to_string())
}

#[test]
fn a_url_is_https_without_user_fragment_or_forbidden_address() {
    for url in [
        "https://shop.example/hooks?tenant=7",
        "https://shop.example:8443/",
        "https://93.184.215.14/",
        "https://[2606:4700::1111]/hook",
        // Judged when the name is resolved.
        "https://localhost/",
    ] {
        assert_eq!(parse(url, "").as_deref(), Ok(url));
    }
    for (url, reason) in [
        (
            "http://shop.example/",
            "HTTP into a network with --webhook-allow",
        ),
        (
            "http://127.0.0.1/",
            "HTTP into a network with --webhook-allow",
        ),
        ("ftp://shop.example/", "begin with https"),
        ("file:///etc/passwd", "begin with https"),
        ("gopher://127.0.0.1:25/", "begin with https"),
        ("javascript:alert(1)", "begin with https"),
        ("shop.example", "begin with https"),
        ("https:shop.example", "begin with https"),
        ("https:/shop.example", "begin with https"),
        ("", "begin with https"),
        ("https://", "invalid host or port"),
        ("https://shop.example:70000/", "invalid host or port"),
        ("https:///hooks", "must have a host"),
        ("https://\\shop.example/", "must have a host"),
        ("https://me@shop.example/", "user name"),
        ("https://me:secret@shop.example/", "user name"),
        ("https://@shop.example/", "user name"),
        ("https://:@shop.example/", "user name"),
        ("https://shop.example/#part", "fragment"),
        ("https://shop.example/#", "fragment"),
        ("https://shop.example/\r\nX: y", "control"),
        ("https://sh\top.example/", "control"),
        (" https://shop.example/", "control"),
        ("https://127.0.0.1/", "loopback"),
        ("https://2130706433/", "loopback"),
        ("https://0x7f.1/", "loopback"),
        ("https://017700000001/", "loopback"),
        ("https://[::1]/", "loopback"),
        ("https://[::ffff:10.0.0.1]/", "IPv4-mapped"),
        ("https://[64:ff9b::a00:1]/", "NAT64"),
        ("https://169.254.169.254/latest/meta-data", "link-local"),
        ("https://0/", "unspecified"),
        ("https://shop.example:0/", "between 1 and 65535"),
    ] {
        let refused = parse(url, "").unwrap_err();
        assert!(refused.contains(reason), "{url}: {refused}");
    }
    let long = format!("https://shop.example/{}", "x".repeat(2000));
    assert!(parse(&long, "").unwrap_err().contains("at most 2000"));
    assert!(parse(&long[..2000], "").is_ok());
}

#[test]
fn a_permitted_network_permits_its_addresses_and_plain_http_to_them() {
    for url in [
        "https://10.1.2.3/",
        "http://10.1.2.3:9000/",
        "http://shelf.example/",
    ] {
        assert!(parse(url, "10.1.0.0/16").is_ok(), "{url}");
    }
    for url in [
        "http://93.184.215.14/",
        "http://10.2.0.1/",
        "ftp://10.1.2.3/",
    ] {
        assert!(parse(url, "10.1.0.0/16").is_err(), "{url}");
    }
}
