//! Requests that a client can repeat without repeating their effect.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::{KeyId, NewPet, StaffId};

/// The time for which a process must have seen the newest mark before it sets the next mark. See
/// `Requests::mark_idempotency_keys` of the store.
pub const MARK_INTERVAL: Duration = Duration::from_mins(10);

/// The number of marks that must follow the first mark after a request before the request is forgotten: 48
/// hours in which the service ran. Clients are promised 24 hours.
pub const MARKS_UNTIL_FORGOTTEN: i64 = 288;

/// The identifier that a client gives a request: 1 to 255 visible ASCII characters. It is unique
/// only for one [`RequestOwner`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    pub const MAX_LENGTH: usize = 255;

    /// Returns the key; `None` unless the text has 1 to 255 characters, all from `!` to `~`.
    pub fn new(text: String) -> Option<Self> {
        let is_valid = (1..=Self::MAX_LENGTH).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_valid.then_some(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The owner of a remembered request: an API key or a member of the staff. The store has one number for both, which is
/// positive for a key and negative for a member of the staff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestOwner(i64);

impl RequestOwner {
    pub fn number(self) -> i64 {
        self.0
    }
}

impl From<KeyId> for RequestOwner {
    fn from(KeyId(id): KeyId) -> Self {
        Self(id)
    }
}

impl From<StaffId> for RequestOwner {
    fn from(StaffId(id): StaffId) -> Self {
        Self(-id)
    }
}

/// A request that the client may repeat.
#[derive(Debug, Clone)]
pub struct IdempotentRequest {
    /// The API key that the request came with, or the member of the staff.
    pub caller: RequestOwner,
    /// The owner of the remembered request. For an API key, this is the first key of its lineage: the key
    /// that was rotated, perhaps several times, into this one. It is often the caller itself.
    pub lineage: RequestOwner,
    pub operation: &'static str,
    /// The client's identifier of the request.
    pub key: IdempotencyKey,
    /// The hash of the requested animal or change. See [`fingerprint`].
    pub fingerprint: [u8; 32],
}

impl IdempotentRequest {
    /// Returns the owners under which the request is remembered: the first key of its lineage, and the caller, by which
    /// earlier releases find the request.
    pub fn owners(&self) -> impl Iterator<Item = RequestOwner> {
        let caller = if self.caller == self.lineage {
            None
        } else {
            Some(self.caller)
        };
        std::iter::once(self.lineage).chain(caller)
    }
}

/// The response to a request, which each repetition of the request gets too.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredResponse {
    pub status: u16,
    /// `Location`, relative to the base address: it starts with `/`.
    pub location: Option<String>,
    /// `ETag`, with its quotes.
    pub etag: Option<String>,
    pub body: Vec<u8>,
}

/// Returns the SHA-256 of the requested animal. Two bodies with the same values have the same
/// fingerprint, even if their members are in another order.
pub fn fingerprint(pet: &NewPet) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(pet.category_id.to_be_bytes());
    hash.update(pet.status.as_str());
    // A status never contains this byte, so name and status cannot be confused.
    hash.update([0]);
    hash.update(pet.name.as_str());
    hash.finalize().into()
}
