//! API keys: their format, scopes and stored records.
//!
//! A key consists of `pets_live_` (production) or `pets_test_` (staging), 30 random base62
//! characters, and a checksum: the CRC-32 of everything before it, as 6 base62 characters. Secret
//! scanners recognise the format, and the service rejects a mistyped key without a lookup. Only the
//! SHA-256 of a key is stored: with 178 random bits, a slow hash would add no protection.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use rand::{CryptoRng, RngExt};
use sha2::{Digest, Sha256};

use super::{RateLimit, named_enum::named_enum};

/// The digits of base62, in ascending order.
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The number of random characters in a key.
const RANDOM_LENGTH: usize = 30;

/// The number of checksum characters at the end of a key: 62^6 is more than 2^32, so a CRC-32 fits.
const CHECKSUM_LENGTH: usize = 6;

named_enum! {
    /// The deployment that a service or a key belongs to.
    #[derive(Default)]
    pub enum Deployment {
        /// The live catalogue, with real animals.
        #[default]
        Production = "production",
        /// A catalogue for testing.
        Staging = "staging",
    }
}

impl Deployment {
    /// Returns the text with which each key of the deployment begins.
    pub fn key_prefix(self) -> &'static str {
        match self {
            Self::Production => "pets_live_",
            Self::Staging => "pets_test_",
        }
    }
}

named_enum! {
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
    /// Whether a key with this scope may call an operation that requires `required_scope`.
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

    /// Returns the equivalent scope in the contract, which knows only `read` and `write`.
    pub fn contract_scope(self) -> Self {
        match self {
            Self::Read | Self::StoreRead => Self::Read,
            Self::Write | Self::StoreWrite | Self::StoreAdmin => Self::Write,
        }
    }

    /// Returns the name if this is a scope of the store area, such as `store:read`; `None` for
    /// `read` and `write`, which the contract defines.
    pub fn store_area_name(self) -> Option<&'static str> {
        let is_contract_scope = self.contract_scope() == self;
        if is_contract_scope {
            None
        } else {
            Some(self.as_str())
        }
    }
}

/// A newly created API key in plain text. It exists only in memory, until it has been shown once.
/// `Debug` hides the secret; only [`ApiKey::reveal`] returns it.
pub struct ApiKey(String);

impl ApiKey {
    /// Generates a new key: the prefix of the deployment, such as `pets_live_`, followed by 36
    /// characters.
    pub fn generate(deployment: Deployment, random: &mut impl CryptoRng) -> Self {
        let mut text = String::from(deployment.key_prefix());
        for _ in 0..RANDOM_LENGTH {
            text.push(char::from(BASE62[random.random_range(0..BASE62.len())]));
        }
        let checksum_digits = checksum(text.as_bytes());
        text.extend(checksum_digits.map(char::from));
        Self(text)
    }

    /// Returns the secret, to be shown once to the owner of the key.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn digest(&self) -> KeyDigest {
        KeyDigest(Sha256::digest(&self.0).into())
    }
}

impl fmt::Debug for ApiKey {
    /// Hides the secret, so that it cannot end up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(hidden)")
    }
}

/// The SHA-256 of a key, by which the store looks it up.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyDigest([u8; 32]);

impl KeyDigest {
    /// Returns the digest of a key that a client presented; `None` if the text is not a key of this
    /// deployment with the right checksum.
    pub fn from_presented(text: impl AsRef<[u8]>, deployment: Deployment) -> Option<Self> {
        let text = text.as_ref();
        let after_prefix = text.strip_prefix(deployment.key_prefix().as_bytes())?;
        let is_well_formed = after_prefix.len() == RANDOM_LENGTH + CHECKSUM_LENGTH
            && after_prefix.iter().all(u8::is_ascii_alphanumeric);
        if !is_well_formed {
            return None;
        }
        // The checksum covers the prefix, too.
        let (content, text_checksum) = text.split_at(text.len() - CHECKSUM_LENGTH);
        if checksum(content) != text_checksum {
            return None;
        }
        Some(Self(Sha256::digest(text).into()))
    }

    /// Wraps a digest that was read from the store.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for KeyDigest {
    /// Hides the digest, so that it cannot end up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyDigest(hidden)")
    }
}

/// Returns the checksum of a key: the CRC-32 (the variant of gzip and PNG) of its text in base62,
/// most significant digit first.
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

/// The error for a text that is not the number of a key. Its `Display` text is the message for the
/// operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is named by its number, as `petstore keys list` shows it")]
pub struct InvalidKeyId;

impl FromStr for KeyId {
    type Err = InvalidKeyId;

    /// Parses the number of a key, from 1.
    fn from_str(text: &str) -> Result<Self, InvalidKeyId> {
        match text.parse() {
            Ok(number) if number > 0 => Ok(Self(number)),
            _ => Err(InvalidKeyId),
        }
    }
}

/// A key to be inserted into the store.
#[derive(Debug, Clone)]
pub struct NewKey {
    pub digest: KeyDigest,
    pub name: String,
    pub scope: Scope,
    pub deployment: Deployment,
    /// When the key expires; `None` means never. At this time, it is already rejected.
    pub expires_at: Option<Timestamp>,
    /// The rate limit of the key; `None` for the default limit.
    pub rate_limit: Option<RateLimit>,
}

/// A stored key, without its secret. Times have a resolution of one second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    pub id: KeyId,
    pub name: String,
    pub scope: Scope,
    pub deployment: Deployment,
    pub created_at: Timestamp,
    /// When the key expires; `None` means never. At this time, it is already rejected.
    pub expires_at: Option<Timestamp>,
    /// When the key was last accepted; `None` means never. Saved with a delay of a few seconds.
    pub last_used_at: Option<Timestamp>,
    /// When the key last called the deprecated operation; `None` means never. Saved with a delay of
    /// a few seconds.
    pub last_deprecated_call_at: Option<Timestamp>,
    /// When the key was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// The rate limit of the key; `None` for the default limit.
    pub rate_limit: Option<RateLimit>,
    /// The key that replaces this one, if it was rotated.
    pub successor: Option<KeyId>,
}

impl KeyRecord {
    /// Whether the key is neither revoked nor expired at `now`.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expires_at| now < expires_at)
    }

    /// Returns the key that replaces this one in a rotation at `now`; `None` if its expiry would be
    /// out of range.
    ///
    /// Only the digest is new. The name, scope, deployment and rate limit stay the same, and so
    /// does the lifetime: the successor of a key that was valid for 90 days expires 90 days after
    /// `now`.
    pub fn successor_at(&self, digest: KeyDigest, now: Timestamp) -> Option<NewKey> {
        let expires_at = match self.expires_at {
            Some(former_expiry) => {
                let lifetime = former_expiry.duration_since(self.created_at);
                Some(now.checked_add(lifetime).ok()?)
            }
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

/// The latest use of a key, to be saved in its [`KeyRecord`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUse {
    pub id: KeyId,
    pub used_at: Timestamp,
    /// When the key last called the deprecated operation, if it did.
    pub deprecated_call_at: Option<Timestamp>,
}
