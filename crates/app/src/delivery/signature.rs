//! Signs messages as Standard Webhooks 1.0.0 defines it: HMAC-SHA-256 over the id, the time and the
//! body.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rand::CryptoRng;
use ring::hmac;

/// The prefix of the text form of a secret.
const SECRET_PREFIX: &str = "whsec_";

/// The secret that the service shares with a receiver. It does not implement `Debug`, so that no
/// log can show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
    /// Generates a random secret.
    pub fn generate(random: &mut impl CryptoRng) -> Self {
        let mut bytes = [0; 32];
        random.fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// Returns the secret with these bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the secret, to be encrypted.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the text form, such as `whsec_MfKQ9r8G...`, which is shown to the receiver only
    /// once.
    pub fn reveal(&self) -> String {
        format!("{SECRET_PREFIX}{}", STANDARD.encode(self.0))
    }
}

/// Returns the value of the `webhook-signature` header for a message with this id. `seconds` is the
/// Unix time of the attempt.
///
/// The value has one signature per secret, such as `v1,g0hM9SsE... v1,K5oZfzN9...`.
pub fn sign<'s>(
    secrets: impl IntoIterator<Item = &'s Secret>,
    id: &str,
    seconds: i64,
    body: &[u8],
) -> String {
    let mut signatures = Vec::new();
    for secret in secrets {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &secret.0);
        let mut context = hmac::Context::with_key(&key);
        context.update(format!("{id}.{seconds}.").as_bytes());
        context.update(body);
        signatures.push(format!("v1,{}", STANDARD.encode(context.sign())));
    }
    signatures.join(" ")
}
