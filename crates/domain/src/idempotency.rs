//! Idempotent requests, which a client can repeat without repeating their effect.
//!
//! The store remembers each such request with its response, and forgets it after some time. This
//! time is measured in marks instead of by a clock, so that a request is not forgotten too early
//! when a clock is wrong or the service was down. Marks are numbers that the running processes add
//! to the database, one in each [`MARK_INTERVAL`]. A request refers to the mark that was the newest
//! when it arrived.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::{KeyId, NewPet, StaffId};

/// The time for which a process must have seen the newest mark before it adds the next one. See
/// `Requests::mark_idempotency_keys` of the store.
pub const MARK_INTERVAL: Duration = Duration::from_mins(10);

/// A request is forgotten when this many marks have followed the first mark after the request.
///
/// This takes at least 48 hours in which the service runs. Clients are promised only 24 hours.
pub const MARKS_UNTIL_FORGOTTEN: i64 = 288;

/// The `Idempotency-Key` that a client chooses for a request: 1 to 255 visible ASCII characters. It
/// identifies the request only together with its [`RequestOwner`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The maximum length, in characters.
    pub const MAX_LENGTH: usize = 255;

    /// Validates a key; `None` unless the text has 1 to 255 characters, all from `!` to `~`.
    pub fn new(text: String) -> Option<Self> {
        let is_valid = (1..=Self::MAX_LENGTH).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_valid.then_some(Self(text))
    }

    /// Returns the key as the client sent it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The owner of a remembered request: an API key or a member of the staff. The store saves it as
/// one number, which is positive for a key and negative for a member of the staff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestOwner(i64);

impl RequestOwner {
    /// Returns the number that the store saves.
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
    /// The API key of the request, or the member of the staff.
    pub caller: RequestOwner,
    /// The owner under which the request is remembered. For an API key that resulted from
    /// rotations, this is the original key, so that a client can repeat a request after a rotation.
    /// Otherwise, it is the caller.
    pub lineage: RequestOwner,
    /// The name of the operation that the client called.
    pub operation: &'static str,
    /// The `Idempotency-Key` of the request.
    pub key: IdempotencyKey,
    /// A hash of the requested animal or change, to detect that a key is reused for a different
    /// request. See [`fingerprint`].
    pub fingerprint: [u8; 32],
}

impl IdempotentRequest {
    /// Returns the owners under which the request is remembered: the lineage, and the caller if it
    /// is a different one. Earlier releases look up the request by the caller.
    pub fn owners(&self) -> impl Iterator<Item = RequestOwner> {
        let different_caller = (self.caller != self.lineage).then_some(self.caller);
        std::iter::once(self.lineage).chain(different_caller)
    }
}

/// The saved response to a request, which is sent again for each repetition of the request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredResponse {
    /// The HTTP status code.
    pub status: u16,
    /// `Location`, relative to the base address: it starts with `/`.
    pub location: Option<String>,
    /// `ETag`, with its quotes.
    pub etag: Option<String>,
    /// The body, as it was sent.
    pub body: Vec<u8>,
}

/// Returns the SHA-256 of the requested animal.
///
/// It is computed from the parsed values, so two bodies with the same values have the same
/// fingerprint, even if their JSON is formatted differently. It covers only the members of the
/// contract, and therefore not [`NewPet::is_listed`].
pub fn fingerprint(pet: &NewPet) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(pet.category_id.to_be_bytes());
    hash.update(pet.status.as_str());
    // A separator that no status contains, so that different pairs of status and name cannot have
    // the same bytes.
    hash.update([0]);
    hash.update(pet.name.as_str());
    hash.finalize().into()
}
