//! Secrets of 256 random bits, of sessions and of the links with which staff choose a password.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::CryptoRng;
use sha2::{Digest, Sha256};

/// A secret that only a browser or a link has. `Debug` hides it; only [`Token::reveal`] returns it.
pub struct Token([u8; 32]);

impl Token {
    /// Returns a new secret.
    pub fn generate(random: &mut impl CryptoRng) -> Self {
        let mut bytes = [0; 32];
        random.fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// Returns the secret in the form in which a browser or a link presents it: 43 characters of Base64 for URLs.
    pub fn reveal(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Returns the digest that is stored. A random secret needs no slow hash.
    pub fn digest(&self) -> TokenDigest {
        TokenDigest(Sha256::digest(self.0).into())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// The SHA-256 of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// Returns the digest of a secret in the form of [`Token::reveal`]; `None` for another text.
    pub fn from_presented(text: &str) -> Option<Self> {
        let bytes: [u8; 32] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        Some(Token(bytes).digest())
    }

    /// Returns a name for lists. It does not reveal the digest.
    pub fn name(&self) -> String {
        URL_SAFE_NO_PAD.encode(&Sha256::digest(self.0)[..12])
    }

    /// Returns a digest that was read from the store.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}
