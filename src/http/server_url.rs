//! The address of the service, as a request names it: for the OpenAPI document,
//! where the operator gives none.

use hyper::{header, http::request::Parts};

use crate::config::BaseUrl;

/// Header fields by which a proxy says that it forwarded a request.
const FORWARDED: [&str; 5] =
    ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"];

/// The base URL of the service that received the request, over TLS or not. None if
/// the host is not valid, and in two cases in which a relative address is right and
/// this one may be wrong: a proxy may speak TLS to the client, and a page of the
/// service itself (which the browser confirms by `Sec-Fetch-Site`) has an address.
pub(super) fn of(request: &Parts, tls: bool) -> Option<BaseUrl> {
    let headers = &request.headers;
    let same_origin = headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin");
    if same_origin || FORWARDED.iter().any(|name| headers.contains_key(*name)) {
        return None;
    }
    let host = host(request)?;
    // What is left has a meaning neither in JSON and YAML nor elsewhere in a URL.
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if !host.bytes().all(allowed) {
        return None;
    }
    format!("{}://{host}/v1", if tls { "https" } else { "http" }).parse().ok()
}

/// The host and port: in HTTP/2 the authority of the target, in HTTP/1 `Host`.
fn host(request: &Parts) -> Option<&str> {
    match request.uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => request.headers.get(header::HOST)?.to_str().ok(),
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn of_host(host: &str) -> Option<String> {
        let request = Request::builder().uri("/openapi.json").header("host", host);
        let url = of(&request.body(()).unwrap().into_parts().0, false);
        url.map(|url| url.as_str().to_owned())
    }

    #[test]
    fn only_a_host_that_is_valid_in_a_url_becomes_the_server_url() {
        for (host, url) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
            ("[::1]:8080", "http://[::1]:8080/v1"),
            ("Pets.Example", "http://pets.example/v1"),
            ("a_b-c.example:1", "http://a_b-c.example:1/v1"),
        ] {
            assert_eq!(of_host(host).as_deref(), Some(url));
        }
        for host in
            ["", ":80", "x:99999", "x:y", "[::1", "[x]", "me@x", "a/b", "a?b", "a#b", "x: y"]
        {
            assert_eq!(of_host(host), None, "{host}");
        }
        // Each is allowed in a host of an HTTP request, or in a URL, and not in an address.
        for character in ['"', '\'', ',', '%', '&', '{', '\\', '<', '\u{fc}'] {
            assert_eq!(of_host(&format!("x{character}")), None, "{character}");
        }
    }
}
