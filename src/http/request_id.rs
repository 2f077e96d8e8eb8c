//! `X-Request-Id`: the name under which the log knows a request.

use std::sync::{Mutex, PoisonError};

use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};
use rand::{Rng, rngs::StdRng};

/// The header field, in requests and in answers.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The longest identifier of a client's that is kept, in characters.
const MAX_LENGTH: usize = 128;

/// Names requests that come without a name: 32 random hexadecimal digits. Not
/// a count, which would tell each client how much the others ask.
pub(super) struct RequestIds(Mutex<StdRng>);

impl RequestIds {
    pub(super) fn new(random: StdRng) -> Self {
        Self(Mutex::new(random))
    }

    /// The name that the client gave the request if it is a sane one, otherwise
    /// a new one.
    pub(super) fn of(&self, headers: &HeaderMap) -> HeaderValue {
        match headers.get(HEADER) {
            Some(given) if is_valid(given.as_bytes()) => given.clone(),
            _ => self.new_id(),
        }
    }

    /// A new name.
    pub(super) fn new_id(&self) -> HeaderValue {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut bytes = [0; 16];
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(&mut bytes);
        let mut id = [0; 32];
        for (digits, byte) in id.chunks_exact_mut(2).zip(bytes) {
            digits[0] = HEX[usize::from(byte >> 4)];
            digits[1] = HEX[usize::from(byte & 15)];
        }
        HeaderValue::from_bytes(&id).unwrap_or(HeaderValue::from_static("none"))
    }
}

/// Short, and of characters that are harmless in every log and shell.
fn is_valid(id: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
    (1..=MAX_LENGTH).contains(&id.len()) && id.iter().all(allowed)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn a_valid_id_is_used_and_an_invalid_one_is_replaced() {
        let ids = RequestIds::new(StdRng::seed_from_u64(1));
        let id_for = |given: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_bytes(given).unwrap());
            ids.of(&headers)
        };
        let longest = "a".repeat(MAX_LENGTH);
        for sane in ["a", "7f3c-11", "req_1.2:3", &longest] {
            assert_eq!(id_for(sane.as_bytes()), sane);
        }
        let too_long = "a".repeat(MAX_LENGTH + 1);
        for other in ["", "a b", "a\"b", "<script>", "\u{e9}", &too_long] {
            assert_ne!(id_for(other.as_bytes()), other);
        }
        assert_ne!(ids.of(&HeaderMap::new()), ids.of(&HeaderMap::new()));
    }
}
