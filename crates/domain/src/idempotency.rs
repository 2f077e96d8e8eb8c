//! Requests that a client can repeat without repeating their effect.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::{KeyId, NewPet, StaffId};

/// How long a process must have seen the newest mark before it sets the next one. See
/// `Requests::mark_idempotency_keys` of the store.
pub const MARK_INTERVAL: Duration = Duration::from_mins(10);

/// How many marks must follow the first mark after a request before the request is forgotten: 48
/// hours in which the service ran. Clients are promised 24 hours.
pub const MARKS_UNTIL_FORGOTTEN: i64 = 288;

/// The identifier that a client gives a request: 1 to 255 visible ASCII characters. It is unique
/// only for one [`RequestOwner`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    pub const MAX_LENGTH: usize = 255;

    /// `None` unless the text has 1 to 255 characters, all from `!` to `~`.
    pub fn new(text: String) -> Option<Self> {
        let valid = (1..=Self::MAX_LENGTH).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        valid.then_some(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An API key, or a member of the staff, with one number for both in the store: positive for a key,
/// negative for a member of the staff.
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
    /// The owner of the remembered request. Of an API key, the first one of its lineage: the key
    /// that was rotated, perhaps several times, into this one. Often the caller itself.
    pub lineage: RequestOwner,
    pub operation: &'static str,
    /// The client's identifier of the request.
    pub key: IdempotencyKey,
    /// Differs if the request is for something else. See [`fingerprint`].
    pub fingerprint: [u8; 32],
}

impl IdempotentRequest {
    /// Under what the request is remembered: the first key of its lineage, and its own key, which
    /// earlier releases use to find it.
    pub fn owners(&self) -> impl Iterator<Item = RequestOwner> {
        let own = (self.caller != self.lineage).then_some(self.caller);
        [Some(self.lineage), own].into_iter().flatten()
    }
}

/// The response to a request, as each repetition gets it.
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
/// fingerprint, however they are written.
pub fn fingerprint(pet: &NewPet) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(pet.category_id.to_be_bytes());
    hash.update(pet.status.as_str());
    // A status never contains this byte, so name and status cannot be confused.
    hash.update([0]);
    hash.update(pet.name.as_str());
    hash.finalize().into()
}
