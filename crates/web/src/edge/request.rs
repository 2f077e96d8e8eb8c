//! Requests: checks of the head that hyper does not make, the host, request ids, the time limit, and the
//! facts that become known about a request.

use std::{future::poll_fn, pin::Pin, task::Poll, time::Duration};

use hyper::{
    HeaderMap, Uri, Version,
    header::{self, HeaderName, HeaderValue},
    http::{
        request::Parts,
        uri::{Authority, Scheme},
    },
};
use parking_lot::Mutex;
use petstore_domain::{Actor, Problem, rate_limit::MeterReading, text};
use rand::{Rng, rngs::StdRng};

use super::{error::ApiError, route::Label};

/// The largest accepted size of the request line and header fields together, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// The largest accepted number of header fields.
const MAX_FIELDS: usize = 64;

/// Rejects a head that is larger than any client needs, or that a proxy could interpret differently, which
/// would allow request smuggling.
///
/// Fails with 431 above the limits, and with 400 if
/// - an HTTP/1.1 request does not have exactly one `Host` (RFC 9112, section 3.2),
/// - the host is invalid,
/// - an HTTP/2 request has a `Host` that differs from `:authority`,
/// - there is a transfer coding other than `chunked` (section 6.1).
pub fn check_head(request: &Parts) -> Result<(), ApiError> {
    let fields = summarize_fields(request);
    let length = request_line_length(request) + fields.length;
    if request.headers.len() > MAX_FIELDS || length > MAX_HEAD {
        return Err(head_too_large());
    }

    let has_host = fields.host_count == 1 || request.version != Version::HTTP_11;
    let is_unambiguous = fields.host_count <= 1 && fields.coding_count <= 1;
    // User information before the host only serves to deceive (RFC 9110, section 4.2.4).
    let authority = request.uri.authority();
    let has_user = authority.is_some_and(|authority| authority.as_str().contains('@'));
    if has_host && is_unambiguous && fields.are_valid && !has_user {
        return Ok(());
    }
    Err(ApiError::new(
        Problem::InvalidRequest,
        "A request must have exactly one Host, equal to the host of its target, and no \
         Transfer-Encoding other than chunked.",
    ))
}

/// What [`check_head`] must know about the header fields of a request.
struct FieldSummary {
    /// The length of all fields in bytes, as HTTP/1.1 would write them.
    length: usize,
    host_count: u32,
    /// The number of `Transfer-Encoding` fields.
    coding_count: u32,
    /// Whether every `Host` and `Transfer-Encoding` is valid.
    are_valid: bool,
}

/// Summarizes the header fields of a request.
fn summarize_fields(request: &Parts) -> FieldSummary {
    let uri = &request.uri;
    // An HTTP/2 request can have both `:authority` and `Host`, which must then agree. In HTTP/1.1, an
    // absolute target overrides `Host` (RFC 9112, section 3.2.2).
    let expected_host = if request.version >= Version::HTTP_2 {
        uri.authority().map(Authority::as_str)
    } else {
        None
    };
    let mut fields = FieldSummary {
        length: 0,
        host_count: 0,
        coding_count: 0,
        are_valid: true,
    };
    for (name, value) in &request.headers {
        fields.length += name.as_str().len() + value.len() + ": \r\n".len();
        if name == header::HOST {
            fields.host_count += 1;
            fields.are_valid &= is_valid_host(value);
            fields.are_valid &= expected_host.is_none_or(|host| is_same_host(uri, host, value));
        } else if name == header::TRANSFER_ENCODING {
            fields.coding_count += 1;
            fields.are_valid &= value.as_bytes().eq_ignore_ascii_case(b"chunked");
        }
    }
    fields
}

/// Returns the length of the request line in bytes, as HTTP/1.1 would write it (RFC 9112, section 3): the
/// method, the target and the version, with two spaces between them.
fn request_line_length(request: &Parts) -> usize {
    let authority = request.uri.authority();
    let target = request.uri.path_and_query();
    request.method.as_str().len()
        + "  HTTP/1.1\r\n".len()
        + authority.map_or(0, |authority| authority.as_str().len())
        + target.map_or(0, |target| target.as_str().len())
}

/// Returns the 431 for a head above the limits.
fn head_too_large() -> ApiError {
    let message = format!(
        "The request line and header fields exceed {MAX_HEAD} bytes or {MAX_FIELDS} fields."
    );
    ApiError::new(Problem::HeadTooLarge, message)
}

/// Whether `authority` and `host` name the same host and port (RFC 9113, section 8.3.1). The default port
/// of the scheme may be present in either or absent.
fn is_same_host(uri: &Uri, authority: &str, host: &HeaderValue) -> bool {
    let usual_port: &[u8] = if uri.scheme() == Some(&Scheme::HTTPS) {
        b":443"
    } else {
        b":80"
    };
    let host = host.as_bytes();
    let authority = authority.as_bytes();
    let bare_host = host.strip_suffix(usual_port).unwrap_or(host);
    let bare_authority = authority.strip_suffix(usual_port).unwrap_or(authority);
    bare_authority.eq_ignore_ascii_case(bare_host)
}

/// Whether the value is empty or has only characters that are allowed in a host and port (RFC 9110,
/// section 7.2). More is not checked, because the value is never used in a URL.
fn is_valid_host(value: &HeaderValue) -> bool {
    value
        .as_bytes()
        .iter()
        .all(|&byte| byte.is_ascii_alphanumeric() || is_host_punctuation(byte))
}

/// Whether the character is punctuation that is allowed in a host and port.
fn is_host_punctuation(byte: u8) -> bool {
    matches!(
        byte,
        b'-' | b'.' | b'_' | b'~' | b'%' | b'!' | b'$' | b'&'..=b','
    ) || matches!(byte, b';' | b'=' | b':' | b'[' | b']')
}

/// The header field with the id of a request, in requests and responses.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of a request id that a client may choose, in characters.
const MAX_ID: usize = 128;

/// A generator of request ids of 32 random hexadecimal digits. They are not sequential, because a counter
/// would reveal to each client how many requests others send.
pub(crate) struct RequestIds(Mutex<StdRng>);

impl RequestIds {
    /// Creates a generator that draws from `random`.
    pub(crate) fn new(random: StdRng) -> Self {
        Self(Mutex::new(random))
    }

    /// Returns the id that the client sent, if it is valid, or else a new one.
    pub(crate) fn id_for(&self, headers: &HeaderMap) -> HeaderValue {
        match headers.get(REQUEST_ID) {
            Some(id) if is_valid_id(id.as_bytes()) => id.clone(),
            _ => self.new_id(),
        }
    }

    /// Returns a new id.
    pub(crate) fn new_id(&self) -> HeaderValue {
        let mut bytes = [0; 16];
        self.0.lock().fill_bytes(&mut bytes);
        let mut id = [0; 32];
        for (digits, byte) in id.chunks_exact_mut(2).zip(bytes) {
            digits.copy_from_slice(&text::hex(byte));
        }
        // Hexadecimal digits are valid, so the default is never used.
        HeaderValue::from_bytes(&id).unwrap_or(HeaderValue::from_static("none"))
    }
}

/// Whether a client's id is short, and free of characters that are special in logs or shells.
fn is_valid_id(id: &[u8]) -> bool {
    let is_harmless = id
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte));
    (1..=MAX_ID).contains(&id.len()) && is_harmless
}

/// Returns the host and port of a request: from its target (in HTTP/2, `:authority`), or else from `Host`.
pub fn host(request: &Parts) -> Option<&str> {
    match request.uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => request.headers.get(header::HOST)?.to_str().ok(),
    }
}

/// Strips the port from a host, and the brackets from an IPv6 address.
///
/// Example: `[::1]:8081` becomes `::1`.
pub fn without_port(host: &str) -> &str {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or(name)
}

/// What becomes known about a request while it is processed, for the log, the metrics, the trace and the
/// header fields. Available even if the request fails.
#[derive(Default)]
pub struct Facts {
    /// How much longer than usual the request may take; see [`super::Interface::extra_time`].
    pub(super) extra_time: Duration,
    /// The authenticated sender of the request, if there is one.
    pub principal: Option<Actor>,
    /// The state of the key's rate limit, if the key has one.
    pub rate: Option<MeterReading>,
    /// The labels of the operation. `None` until the request has been authenticated and its path is known.
    pub route: Option<Label>,
    pub(super) problem: Option<Problem>,
}

/// Returns the output of `work`, or `None` if it does not complete within `limit`.
///
/// Polls `work` once before it creates a timer, because most requests complete immediately.
pub(super) async fn with_timeout<F: Future>(
    limit: impl Fn() -> Duration,
    mut work: Pin<&mut F>,
) -> Option<F::Output> {
    match poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
        Poll::Ready(output) => Some(output),
        Poll::Pending => tokio::time::timeout(limit(), work).await.ok(),
    }
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
