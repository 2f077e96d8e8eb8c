//! Why the API key of a request is rejected.

use jiff::Timestamp;
use petstore_domain::{KeyId, KeyRecord};
use petstore_store::StoreError;

/// A reason to reject the key of a request.
#[derive(Debug)]
pub enum KeyError {
    /// The key is unknown or malformed, or belongs to the other deployment.
    Invalid,
    /// The key was valid once, but has expired or was revoked.
    Ended(EndedKey),
    /// The connection of the request was closed to make room for another one.
    ConnectionReplaced,
    /// The store failed, so the key could not be looked up.
    Store(StoreError),
}

/// A key that is no longer valid. Its message is for the log of the operator; clients do not see
/// it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndedKey {
    /// The key was revoked.
    #[error("the key {id} ({name:?}) was revoked at {at}")]
    Revoked {
        /// The id of the key.
        id: i64,
        /// The name of the key.
        name: String,
        /// When the key was revoked.
        at: Timestamp,
    },
    /// The key has expired.
    #[error("the key {id} ({name:?}) expired at {at}")]
    Expired {
        /// The id of the key.
        id: i64,
        /// The name of the key.
        name: String,
        /// When the key expired.
        at: Timestamp,
    },
}

impl EndedKey {
    /// Returns how the key ended before `now`. Returns `None` if the key is valid.
    pub(super) fn from_record(record: &KeyRecord, now: Timestamp) -> Option<Self> {
        if record.is_valid_at(now) {
            return None;
        }
        let KeyId(id) = record.id;
        let name = record.name.clone();
        if let Some(revoked_at) = record.revoked_at {
            return Some(Self::Revoked {
                id,
                name,
                at: revoked_at,
            });
        }
        // A key that is neither valid nor revoked has expired, so `expires_at` is set.
        let expired_at = record.expires_at.unwrap_or(now);
        Some(Self::Expired {
            id,
            name,
            at: expired_at,
        })
    }
}

impl From<StoreError> for KeyError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
