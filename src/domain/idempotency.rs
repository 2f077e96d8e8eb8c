//! Sending a request again without its work being done again.

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use super::{KeyId, NewPet};

/// How long a request is remembered.
const REMEMBERED_FOR: SignedDuration = SignedDuration::from_hours(24);

/// What a client calls a request, so that it is known again: 1 to 255 visible
/// ASCII characters. It means something beside one API key alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The longest one, in characters.
    pub const MAX_LENGTH: usize = 255;

    /// `None` unless the text has 1 to 255 characters, all from `!` to `~`.
    #[must_use]
    pub fn new(text: String) -> Option<Self> {
        let valid = (1..=Self::MAX_LENGTH).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        valid.then_some(Self(text))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A request to add an animal that its client may send again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentRequest {
    /// The API key that it came with.
    pub api_key: KeyId,
    /// What the client calls it.
    pub key: IdempotencyKey,
    /// Differs when another animal is asked for. See [`fingerprint`].
    pub fingerprint: [u8; 32],
    /// When it came.
    pub now: Timestamp,
}

/// The SHA-256 of what a request asks for. Two bodies that mean the same
/// animal, in whatever spelling, have the same one.
#[must_use]
pub fn fingerprint(pet: &NewPet) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(pet.category_id.to_be_bytes());
    hash.update(pet.status.as_str());
    // No status contains it, and so the name cannot run into the status.
    hash.update([0]);
    hash.update(pet.name.as_str());
    hash.finalize().into()
}

/// At `now`, requests that came before this count as never seen.
#[must_use]
pub fn forgotten_before(now: Timestamp) -> Timestamp {
    now.checked_sub(REMEMBERED_FOR).unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{PetName, PetStatus};

    #[test]
    fn a_key_has_1_to_255_visible_characters() {
        let longest = "k".repeat(255);
        for valid in ["k", "8e03978e-40d5-43dd-bc93-6894a57f9324", "!\"\\~", &longest] {
            assert_eq!(IdempotencyKey::new(valid.to_owned()).unwrap().as_str(), valid);
        }
        for invalid in ["", " ", "a b", "a\tb", "a\0", "\u{7f}", "é", &"k".repeat(256)] {
            assert_eq!(IdempotencyKey::new(invalid.to_owned()), None, "{invalid:?}");
        }
    }

    #[test]
    fn each_part_of_an_animal_changes_the_fingerprint() {
        let of = |name: &str, category_id, status| {
            let name = PetName::new(name.to_owned()).unwrap();
            fingerprint(&NewPet { name, category_id, status })
        };
        let animal = of("sold", 1, PetStatus::Sold);
        assert_eq!(animal, of("sold", 1, PetStatus::Sold));
        for other in [
            of("Sold", 1, PetStatus::Sold),
            of("", 1, PetStatus::Sold),
            of("sold", -1, PetStatus::Sold),
            of("sold", 1, PetStatus::Pending),
        ] {
            assert_ne!(animal, other);
        }
    }

    #[test]
    fn a_request_is_forgotten_after_24_hours() {
        let now = "2026-12-02T12:00:00Z".parse().unwrap();
        assert_eq!(forgotten_before(now).to_string(), "2026-12-01T12:00:00Z");
        assert_eq!(forgotten_before(Timestamp::MIN), Timestamp::MIN);
    }
}
