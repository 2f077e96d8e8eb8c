//! API keys: their format, their records in a store, and their scopes.
//!
//! A key consists of `pets_live_` (production) or `pets_test_` (staging), 30 random base62
//! characters, and 6 base62 characters with the CRC-32 of everything before. Secret scanners
//! recognise the format, and the service detects a mistyped key without a lookup. Only the SHA-256
//! of a key is stored: 178 random bits need no slow hash.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use rand::{CryptoRng, RngExt};
use sha2::{Digest, Sha256};

use super::{RateLimit, words::words};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The number of random characters in a key.
const RANDOM_LENGTH: usize = 30;

/// The number of characters of the checksum in a key.
const CHECKSUM_LENGTH: usize = 6;

words! {
    /// The deployment that a service or a key belongs to.
    #[derive(Default)]
    pub enum Deployment {
        /// The catalogue with the real animals.
        #[default]
        Production = "production",
        /// A catalogue for trials.
        Staging = "staging",
    }
}

impl Deployment {
    pub fn key_prefix(self) -> &'static str {
        match self {
            Self::Production => "pets_live_",
            Self::Staging => "pets_test_",
        }
    }
}

words! {
    /// The operations that a key allows.
    #[derive(Default)]
    pub enum Scope {
        /// Read animals.
        Read = "read",
        /// Read and add animals.
        #[default]
        Write = "write",
        /// Read everything in the store area, and animals.
        StoreRead = "store:read",
        /// Change everything in the store area, and add animals.
        StoreWrite = "store:write",
        /// Administer the store, and everything that the other scopes allow.
        StoreAdmin = "store:admin",
    }
}

impl Scope {
    /// Whether a key of this scope may run an operation that needs `required_scope`.
    pub fn allows(self, required_scope: Self) -> bool {
        match self {
            Self::Read => required_scope == Self::Read,
            Self::Write => matches!(required_scope, Self::Read | Self::Write),
            Self::StoreRead => matches!(required_scope, Self::Read | Self::StoreRead),
            Self::StoreWrite => matches!(
                required_scope,
                Self::Read | Self::Write | Self::StoreRead | Self::StoreWrite
            ),
            Self::StoreAdmin => true,
        }
    }

    /// Returns the scope with the same rights in the contract, which knows only `read` and `write`.
    pub fn contract_scope(self) -> Self {
        match self {
            Self::Read | Self::StoreRead => Self::Read,
            Self::Write | Self::StoreWrite | Self::StoreAdmin => Self::Write,
        }
    }

    /// Returns the name of a scope of the store area; `None` for a scope of the contract.
    pub fn store_area_name(self) -> Option<&'static str> {
        if self.contract_scope() == self {
            None
        } else {
            Some(self.as_str())
        }
    }
}

/// A secret API key, which exists in memory from its creation until it is shown once. `Debug` hides it; only
/// [`ApiKey::reveal`] returns it.
pub struct ApiKey(String);

impl ApiKey {
    /// Returns a new key, such as `pets_live_` with 36 characters after it.
    pub fn generate(deployment: Deployment, random: &mut impl CryptoRng) -> Self {
        let mut text = String::from(deployment.key_prefix());
        for _ in 0..RANDOM_LENGTH {
            text.push(char::from(BASE62[random.random_range(0..BASE62.len())]));
        }
        let check_digits = checksum(text.as_bytes());
        text.extend(check_digits.map(char::from));
        Self(text)
    }

    /// Returns the secret, to show it to its owner once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn digest(&self) -> KeyDigest {
        KeyDigest(Sha256::digest(&self.0).into())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(hidden)")
    }
}

/// The SHA-256 of a key, which identifies it in the store.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyDigest([u8; 32]);

impl KeyDigest {
    /// Returns the digest of the text that a client sent as a key; `None` if the text does not have
    /// the format of a key of `deployment`.
    pub fn from_presented(text: impl AsRef<[u8]>, deployment: Deployment) -> Option<Self> {
        let text = text.as_ref();
        let characters = text.strip_prefix(deployment.key_prefix().as_bytes())?;
        let is_well_formed = characters.len() == RANDOM_LENGTH + CHECKSUM_LENGTH
            && characters.iter().all(u8::is_ascii_alphanumeric);
        if !is_well_formed {
            return None;
        }
        let (content, text_checksum) = text.split_at(text.len() - CHECKSUM_LENGTH);
        if checksum(content) != text_checksum {
            return None;
        }
        Some(Self(Sha256::digest(text).into()))
    }

    /// Returns a digest that was read from the store.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyDigest(hidden)")
    }
}

/// Returns the CRC-32 (the one of gzip and PNG) in base62, highest digit first.
fn checksum(text: &[u8]) -> [u8; CHECKSUM_LENGTH] {
    let mut quotient = crc32fast::hash(text) as usize;
    let mut digits = [0; CHECKSUM_LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[quotient % BASE62.len()];
        quotient /= BASE62.len();
    }
    digits
}

/// The number of a key, which is not secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub i64);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for KeyId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            Ok(number) if number > 0 => Ok(Self(number)),
            _ => Err("a key is named by its number, as `petstore keys list` shows it"),
        }
    }
}

/// A key that is about to be stored.
#[derive(Debug, Clone)]
pub struct NewKey {
    pub digest: KeyDigest,
    pub name: String,
    pub scope: Scope,
    pub deployment: Deployment,
    /// The time from which the key is not accepted any more; `None` means that it never expires.
    pub expires_at: Option<Timestamp>,
    /// The rate limit of the key; `None` means the default limit.
    pub rate_limit: Option<RateLimit>,
}

/// A stored key, without its secret. Times are stored to the second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    pub id: KeyId,
    pub name: String,
    pub scope: Scope,
    pub deployment: Deployment,
    pub created_at: Timestamp,
    /// The time from which the key is not accepted any more; `None` means that it never expires.
    pub expires_at: Option<Timestamp>,
    /// The time when the key was last accepted, recorded a few seconds late; `None` means never.
    pub last_used_at: Option<Timestamp>,
    /// The time of its last call of the deprecated operation, recorded a few seconds late; `None` means
    /// never.
    pub last_deprecated_call_at: Option<Timestamp>,
    /// The time when the key was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// The rate limit of the key; `None` means the default limit.
    pub rate_limit: Option<RateLimit>,
    /// The key that replaces this one, if it was rotated.
    pub successor: Option<KeyId>,
}

impl KeyRecord {
    /// Whether the key is accepted at `now`: neither revoked nor expired.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }

    /// Returns a successor with this digest, and with the same name, scope, limit and lifetime; `None` if it would expire
    /// too far in the future. The successor of a key that was valid for 90 days expires 90 days after `now`.
    pub fn successor_at(&self, digest: KeyDigest, now: Timestamp) -> Option<NewKey> {
        let expires_at = match self.expires_at {
            Some(end) => Some(now.checked_add(end.duration_since(self.created_at)).ok()?),
            None => None,
        };
        Some(NewKey {
            digest,
            name: self.name.clone(),
            scope: self.scope,
            deployment: self.deployment,
            expires_at,
            rate_limit: self.rate_limit,
        })
    }
}

/// The latest use of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUse {
    pub id: KeyId,
    pub used_at: Timestamp,
    /// The time of the latest call of the deprecated operation, if there was one.
    pub deprecated_call_at: Option<Timestamp>,
}
