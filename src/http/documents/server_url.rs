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
