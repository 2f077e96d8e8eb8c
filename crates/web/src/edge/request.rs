//! Requests: the facts that become known about a request, its id, its host, and its time limit.

use std::{future::poll_fn, pin::Pin, task::Poll, time::Duration};

use hyper::{
    HeaderMap,
    header::{self, HeaderName, HeaderValue},
    http::request::Parts,
};
use parking_lot::Mutex;
use petstore_domain::{Actor, Problem, rate_limit::MeterReading, text};
use rand::{Rng, rngs::StdRng};

use super::route::Label;

/// The header field with the id of a request, in requests and responses.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of a request id that a client may choose, in characters.
const MAX_ID: usize = 128;

/// What becomes known about a request while it is processed, for the log, the metrics, the trace
/// and the header fields. The facts are available even if the request fails.
#[derive(Default)]
pub struct Facts {
    /// How much longer than usual the request may take; see [`super::Interface::extra_time`].
    pub(super) extra_time: Duration,
    /// The authenticated sender of the request, if there is one.
    pub principal: Option<Actor>,
    /// The state of the key's rate limit, if the key has one.
    pub rate: Option<MeterReading>,
    /// The labels of the operation, once the request has been authenticated and its path is known.
    pub route: Option<Label>,
    /// Why the request failed, if it did.
    pub(super) problem: Option<Problem>,
}

/// A generator of request ids of 32 random hexadecimal digits. They are not sequential, because a
/// counter would reveal to each client how many requests others send.
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

/// Returns the host and port of a request: from its target (in HTTP/2, `:authority`), or else from
/// `Host`.
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
    let address = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    address.unwrap_or(name)
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
