//! A request: the rules of HTTP for its head that hyper does not enforce, its host, its id, its time limit, and
//! what becomes known about it.

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

/// Rejects a head that is larger than any client needs, or that a proxy could understand
/// differently. Fails with 431 above the limits, and with 400 if an HTTP/1.1 request does not have exactly
/// one `Host` (RFC 9112, section 3.2), or has a transfer coding other than `chunked` (section 6.1).
pub fn check(request: &Parts) -> Result<(), ApiError> {
    let headers = &request.headers;
    let uri = &request.uri;
    let authority = uri.authority().map(Authority::as_str);
    // HTTP/2 states the host twice. In HTTP/1.1, an absolute target overrides `Host` (RFC 9112,
    // section 3.2.2).
    let expected_host = if request.version >= Version::HTTP_2 {
        authority
    } else {
        None
    };

    let mut length = request_line_length(request);
    let mut hosts = 0;
    let mut codings = 0;
    let mut is_valid = true;
    for (name, value) in headers {
        length += name.as_str().len() + value.len() + ": \r\n".len();
        if name == header::HOST {
            hosts += 1;
            is_valid &= is_host(value);
            is_valid &= expected_host.is_none_or(|host| is_same(uri, host, value));
        } else if name == header::TRANSFER_ENCODING {
            codings += 1;
            is_valid &= value.as_bytes().eq_ignore_ascii_case(b"chunked");
        }
    }
    if headers.len() > MAX_FIELDS || length > MAX_HEAD {
        return Err(head_too_large());
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

/// Returns the length of the request line as HTTP/1.1 writes it (RFC 9112, section 3), in bytes.
fn request_line_length(request: &Parts) -> usize {
    let authority = request.uri.authority();
    let target = request.uri.path_and_query();
    request.method.as_str().len()
        + "  HTTP/1.1\r\n".len()
        + authority.map_or(0, |authority| authority.as_str().len())
        + target.map_or(0, |target| target.as_str().len())
}

/// Returns the error for a head above the limits.
fn head_too_large() -> ApiError {
    let message = format!(
        "The request line and header fields exceed {MAX_HEAD} bytes or {MAX_FIELDS} fields."
    );
    ApiError::new(Problem::HeadTooLarge, message)
}

/// Whether both name the same host and port (RFC 9113, section 8.3.1).
fn is_same(uri: &Uri, authority: &str, host: &HeaderValue) -> bool {
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

/// Whether the value is empty or consists of characters of a host and port (RFC 9110, section 7.2).
/// It is never used in a URL, so no more is checked.
fn is_host(value: &HeaderValue) -> bool {
    value
        .as_bytes()
        .iter()
        .all(|&byte| byte.is_ascii_alphanumeric() || is_mark_of_host(byte))
}

/// Whether a host and port can have this character, which is no letter or digit.
fn is_mark_of_host(byte: u8) -> bool {
    matches!(
        byte,
        b'-' | b'.' | b'_' | b'~' | b'%' | b'!' | b'$' | b'&'..=b','
    ) || matches!(byte, b';' | b'=' | b':' | b'[' | b']')
}

/// The id of a request, in requests, responses and the log.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest accepted id of a client, in characters.
const MAX_ID: usize = 128;

/// Generates ids of 32 random hexadecimal digits. A counter would reveal to each client how many
/// requests others send.
pub(crate) struct RequestIds(Mutex<StdRng>);

impl RequestIds {
    /// Returns a generator that takes its digits from `random`.
    pub(crate) fn new(random: StdRng) -> Self {
        Self(Mutex::new(random))
    }

    /// Returns the id that the client sent if it is valid, or else a new one.
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
        HeaderValue::from_bytes(&id).unwrap_or(HeaderValue::from_static("none"))
    }
}

/// Whether the id is short, and harmless in every log and shell.
fn is_valid_id(id: &[u8]) -> bool {
    let is_harmless = id
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte));
    (1..=MAX_ID).contains(&id.len()) && is_harmless
}

/// Returns the host and port: of the target, which is the authority in HTTP/2, or otherwise of `Host`.
pub fn host(request: &Parts) -> Option<&str> {
    match request.uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => request.headers.get(header::HOST)?.to_str().ok(),
    }
}

/// Returns the name or the address of a host, without the port and the brackets.
///
/// Example: `[::1]:8081` is `::1`.
pub fn without_port(host: &str) -> &str {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or(name)
}

/// The facts about a request for the log, the metrics, the trace and the header fields.
#[derive(Default)]
pub struct Facts {
    /// How long the operation may wait before it responds.
    pub(super) may_wait: Duration,
    /// The sender of the request, as far as the service knows it.
    pub principal: Option<Actor>,
    /// The rate limit of the key, if it has one.
    pub rate: Option<MeterReading>,
    /// The operation, if the client may know it.
    pub route: Option<Label>,
    pub(super) problem: Option<Problem>,
}

/// Returns the output of `work`, or `None` after `limit`. Most requests complete at once, without a timer.
pub(super) async fn within<F: Future>(
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
