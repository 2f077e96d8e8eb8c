//! The base URL of the service according to a request: for the OpenAPI document, if the operator
//! configured none.

use hyper::http::request::Parts;

use crate::edge::{BaseUrl, host};

/// Header fields that show that a proxy forwarded the request.
const FORWARDED: [&str; 5] =
    ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"];

/// The base URL at which the service received the request. `None` if the host is invalid, and in
/// two cases where a relative address is right and this one may be wrong: a proxy may use TLS to
/// the client, and a page of the service itself (confirmed by `Sec-Fetch-Site`) has its own
/// address.
pub(crate) fn of(request: &Parts, tls: bool) -> Option<BaseUrl> {
    let headers = &request.headers;
    let same_origin = headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin");
    if same_origin || FORWARDED.iter().any(|name| headers.contains_key(*name)) {
        return None;
    }
    let host = host::of(request)?;
    // These characters have no special meaning in JSON, in YAML or elsewhere in a URL.
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if !host.bytes().all(allowed) {
        return None;
    }
    format!("{}://{host}/v1", if tls { "https" } else { "http" }).parse().ok()
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
        // Each character is allowed in `Host` or in a URL, but not in a server address.
        for character in ['"', '\'', ',', '%', '&', '{', '\\', '<', '\u{fc}'] {
            assert_eq!(of_host(&format!("x{character}")), None, "{character}");
        }
    }
}
