//! Validates the head of a request: its size, and the rules of HTTP that hyper does not enforce.

use hyper::{
    Uri, Version,
    header::{self, HeaderValue},
    http::{
        request::Parts,
        uri::{Authority, Scheme},
    },
};

use super::error::{ApiError, Problem};

/// The largest accepted size of the request line and header fields together, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// The largest accepted number of header fields.
const MAX_FIELDS: usize = 64;

/// Rejects a head that is larger than any client needs, or that a proxy could understand
/// differently. Fails with 431 above the limits, and with 400 if an HTTP/1.1 request does not have exactly
/// one `Host` (RFC 9112, section 3.2), or has a transfer coding other than `chunked` (section 6.1).
pub(crate) fn check(request: &Parts) -> Result<(), ApiError> {
    let headers = &request.headers;
    let uri = &request.uri;
    let mut length = request.method.as_str().len()
        + uri.authority().map_or(0, |authority| authority.as_str().len())
        + uri.path_and_query().map_or(0, |target| target.as_str().len());
    let authority = uri.authority().map(Authority::as_str);
    // HTTP/2 states the host twice. In HTTP/1.1, an absolute target overrides `Host` (RFC 9112,
    // section 3.2.2).
    let stated = authority.filter(|_| request.version >= Version::HTTP_2);
    let mut hosts = 0;
    let mut codings = 0;
    let mut is_valid = true;
    for (name, value) in headers {
        length += name.as_str().len() + value.len() + ": \r\n".len();
        if name == header::HOST {
            hosts += 1;
            is_valid &= is_host(value) && stated.is_none_or(|stated| is_same(uri, stated, value));
        } else if name == header::TRANSFER_ENCODING {
            codings += 1;
            is_valid &= value.as_bytes().eq_ignore_ascii_case(b"chunked");
        }
    }
    if headers.len() > MAX_FIELDS || length > MAX_HEAD {
        let message = format!(
            "The request line and header fields exceed {MAX_HEAD} bytes or {MAX_FIELDS} fields."
        );
        return Err(ApiError::new(Problem::HeadTooLarge, message));
    }
    let has_host = hosts == 1 || request.version != Version::HTTP_11;
    // A user before the host is only used to deceive (RFC 9110, section 4.2.4).
    is_valid &= authority.is_none_or(|authority| !authority.contains('@'));
    if is_valid && has_host && hosts <= 1 && codings <= 1 {
        return Ok(());
    }
    Err(ApiError::new(
        Problem::InvalidRequest,
        "A request must have exactly one Host, equal to the host of its target, and no \
         Transfer-Encoding other than chunked.",
    ))
}

/// Whether both name the same host and port (RFC 9113, section 8.3.1).
fn is_same(uri: &Uri, authority: &str, host: &HeaderValue) -> bool {
    let usual_port = if uri.scheme() == Some(&Scheme::HTTPS) { ":443" } else { ":80" };
    let bare = |text| <[u8]>::strip_suffix(text, usual_port.as_bytes()).unwrap_or(text);
    bare(authority.as_bytes()).eq_ignore_ascii_case(bare(host.as_bytes()))
}

/// Whether the value is empty or consists of characters of a host and port (RFC 9110, section 7.2).
/// It is never used in a URL, so no more is checked.
fn is_host(value: &HeaderValue) -> bool {
    let is_mark = |byte| {
        matches!(byte, b'-' | b'.' | b'_' | b'~' | b'%' | b'!' | b'$' | b'&'..=b',')
            || matches!(byte, b';' | b'=' | b':' | b'[' | b']')
    };
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || is_mark(*byte);
    value.as_bytes().iter().all(allowed)
}
