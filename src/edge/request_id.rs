//! `X-Request-Id`: the id of a request in responses and in the log.

use std::sync::{Mutex, PoisonError};

use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};
use rand::{Rng, rngs::StdRng};

use crate::text;

/// The header field, in requests and responses.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The longest accepted id of a client, in characters.
const MAX_LENGTH: usize = 128;

/// Generates ids of 32 random hexadecimal digits. A counter would reveal to each client how many
/// requests others send.
pub(crate) struct RequestIds(Mutex<StdRng>);

impl RequestIds {
    pub(crate) fn new(random: StdRng) -> Self {
        Self(Mutex::new(random))
    }

    /// The id that the client sent if it is valid, or a new one.
    pub(crate) fn of(&self, headers: &HeaderMap) -> HeaderValue {
        match headers.get(HEADER) {
            Some(given) if is_valid(given.as_bytes()) => given.clone(),
            _ => self.new_id(),
        }
    }

    pub(crate) fn new_id(&self) -> HeaderValue {
        let mut bytes = [0; 16];
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(&mut bytes);
        let mut id = [0; 32];
        for (digits, byte) in id.chunks_exact_mut(2).zip(bytes) {
            digits.copy_from_slice(&text::hex(byte));
        }
        HeaderValue::from_bytes(&id).unwrap_or(HeaderValue::from_static("none"))
    }
}

/// Whether the id is short, and harmless in every log and shell.
fn is_valid(id: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
    (1..=MAX_LENGTH).contains(&id.len()) && id.iter().all(allowed)
}
