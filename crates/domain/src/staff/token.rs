//! Random tokens of 256 bits, for sessions and for the links with which staff choose a password.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::CryptoRng;
use sha2::{Digest, Sha256};

/// A secret token, which only a browser or a link contains. The store has only its digest. `Debug`
/// hides the token; only [`Token::reveal`] returns it.
pub struct Token([u8; 32]);

impl Token {
    /// Generates a new token.
    pub fn generate(random: &mut impl CryptoRng) -> Self {
        let mut bytes = [0; 32];
        random.fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// Returns the token for a cookie or a link: 43 characters of URL-safe Base64.
    pub fn reveal(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Returns the digest to be stored. It is a fast hash, because nobody can guess a random token.
    pub fn digest(&self) -> TokenDigest {
        TokenDigest(Sha256::digest(self.0).into())
    }
}

impl fmt::Debug for Token {
    /// Hides the token, so that it cannot end up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// The SHA-256 of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// Returns the digest of a token that a client presented in the form of [`Token::reveal`];
    /// `None` for any other text.
    pub fn from_presented(text: &str) -> Option<Self> {
        let bytes: [u8; 32] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        Some(Token(bytes).digest())
    }

    /// Returns an identifier of the token that may be shown, for example in a list of sessions. It
    /// is the beginning of another hash, which does not reveal the digest.
    pub fn public_id(&self) -> String {
        /// The length of the identifier before encoding, in bytes. It is long enough to be unique.
        const ID_LENGTH: usize = 12;

        URL_SAFE_NO_PAD.encode(&Sha256::digest(self.0)[..ID_LENGTH])
    }

    /// Wraps a digest that was read from the store.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}
