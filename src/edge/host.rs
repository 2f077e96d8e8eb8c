//! The host that a request names.

use hyper::{
    header,
    http::{request::Parts, uri::Authority},
};

/// The host and port: in the target, which is the authority in HTTP/2, or otherwise in `Host`.
pub(crate) fn of(request: &Parts) -> Option<&str> {
    let in_target = request.uri.authority().map(Authority::as_str);
    in_target.or_else(|| request.headers.get(header::HOST)?.to_str().ok())
}

/// The name or the address, without the port and the brackets.
pub(crate) fn without_port(host: &str) -> &str {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => name,
        _ => host,
    };
    name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name)
}

#[cfg(test)]
mod tests {
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
}
