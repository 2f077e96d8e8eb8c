//! Passwords of the staff: the rules for them, and their hashes.

use argon2::{Algorithm, Argon2, Block, Params, Version};
use parking_lot::Mutex;
use rand::CryptoRng;
use unicode_normalization::UnicodeNormalization;

use super::{StaffName, guessable::is_easy_to_guess};

/// A password in plain text. It does not implement `Debug`, so that it cannot end up in logs.
pub struct Password(String);

/// The reason why a new password is rejected. Its `Display` text is the message for the member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    /// It is too short.
    #[error("The password must have at least {} characters.", Password::MIN_LENGTH)]
    Short,
    /// It is too long.
    #[error("The password must have at most {} characters.", Password::MAX_LENGTH)]
    Long,
    /// It is common, or consists mostly of common words, the name of the member or the store, or
    /// the word petstore.
    #[error(
        "This password is easy to guess: it is common, repeats one character, or is little more than common words or a name. Choose another one, such as four random words."
    )]
    Common,
}

impl Password {
    /// The minimum number of characters.
    pub const MIN_LENGTH: usize = 12;
    /// The maximum number of characters.
    pub const MAX_LENGTH: usize = 256;

    /// Returns a password that somebody typed; `None` if the text is longer than any valid
    /// password.
    ///
    /// The text is normalized (NFC), because keyboards produce the same characters in different
    /// encodings.
    pub fn from_input(text: &str) -> Option<Self> {
        if text.chars().count() > Self::MAX_LENGTH {
            return None;
        }
        Some(Self(text.nfc().collect()))
    }

    /// Validates a new password for the member `name`, in the store `store_name`.
    pub fn new(
        text: &str,
        name: &StaffName,
        store_name: Option<&str>,
    ) -> Result<Self, WeakPassword> {
        let password = Self::from_input(text).ok_or(WeakPassword::Long)?;
        if password.0.chars().count() < Self::MIN_LENGTH {
            return Err(WeakPassword::Short);
        }
        // An empty name matches no part of a password.
        let names = [name.as_str(), store_name.unwrap_or_default()];
        if is_easy_to_guess(&password.0, &names) {
            return Err(WeakPassword::Common);
        }
        Ok(password)
    }

    /// Hashes the password with a random salt. Takes about 20 ms and 19 MiB of memory.
    pub fn hash(&self, random: &mut impl CryptoRng) -> PasswordHash {
        let mut salt = [0; SALT_LENGTH];
        random.fill_bytes(&mut salt);
        PasswordHash::from_password_and_salt(self, salt)
    }
}

/// The length of a salt, in bytes.
const SALT_LENGTH: usize = 16;

/// The length of a hash without its salt, in bytes.
const HASH_LENGTH: usize = 32;

// The cost of a hash: the minimum configuration that OWASP recommends for Argon2id.
const MEMORY_KIB: u32 = 19 << 10;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// A pool of work memory for hashing, with as many entries as hashes were ever computed at the same
/// time.
///
/// Without the pool, the system allocator would retain freed memory separately for each thread, and
/// hashes are computed on many threads.
static FREE_MEMORY: Mutex<Vec<Vec<Block>>> = Mutex::new(Vec::new());

/// An Argon2id hash of a password, together with its salt: 48 bytes. The parameters are 19 MiB of
/// memory, two passes and one lane.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash([u8; Self::LENGTH]);

impl PasswordHash {
    const LENGTH: usize = SALT_LENGTH + HASH_LENGTH;

    /// Computes a hash, with work memory from the pool.
    fn from_password_and_salt(password: &Password, salt: [u8; SALT_LENGTH]) -> Self {
        // These parameters are valid, so the default is never used.
        let params =
            Params::new(MEMORY_KIB, PASSES, LANES, Some(HASH_LENGTH)).unwrap_or(Params::DEFAULT);
        let block_count = params.block_count();
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);

        let mut salt_and_hash = [0; Self::LENGTH];
        let (salt_part, hash_part) = salt_and_hash.split_at_mut(SALT_LENGTH);
        salt_part.copy_from_slice(&salt);

        let free_memory = FREE_MEMORY.lock().pop();
        let mut memory = free_memory.unwrap_or_else(|| vec![Block::default(); block_count]);
        // All lengths are valid, so hashing cannot fail.
        let _ = argon2.hash_password_into_with_memory(
            password.0.as_bytes(),
            &salt,
            hash_part,
            &mut memory,
        );
        FREE_MEMORY.lock().push(memory);
        Self(salt_and_hash)
    }

    /// Returns a hash that no password matches. It is compared for unknown names, so that the
    /// response time does not reveal which names exist.
    pub fn unmatchable() -> Self {
        Self([0; Self::LENGTH])
    }

    /// Whether this is the hash of the password. Takes as long as hashing it.
    pub fn matches(&self, password: &Password) -> bool {
        // A hash always begins with a salt, so the default is never used.
        let (salt, _) = self
            .0
            .split_first_chunk()
            .unwrap_or((&[0; SALT_LENGTH], &[]));
        // A timing attack would require control over the bytes of the computed hash, so a
        // comparison in constant time is not needed.
        Self::from_password_and_salt(password, *salt) == *self
    }

    /// Returns a hash that was read from the store; `None` if the length is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for PasswordHash {
    /// Hides the hash, so that it cannot end up in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordHash")
    }
}

#[cfg(test)]
mod tests {
    use super::{super::guessable::COMMON_PASSWORDS, *};

    #[test]
    fn the_hash_is_argon2id_with_the_parameters_that_are_promised() {
        // By the reference implementation: argon2 somesalt12345678 -id -t 2 -k 19456 -p 1 -l 32 -r
        let hash = PasswordHash::from_password_and_salt(
            &Password("password".to_owned()),
            *b"somesalt12345678",
        );
        let expected_start = [
            0x0c, 0x4c, 0x0b, 0x6d, 0xb2, 0x19, 0x19, 0x4b, 0x60, 0x06, 0xe0, 0x78,
        ];
        assert_eq!(
            hash.0[SALT_LENGTH..][..expected_start.len()],
            expected_start
        );
        assert!(
            COMMON_PASSWORDS.lines().count() > 200
                && COMMON_PASSWORDS.lines().all(|common| common.len() >= 12)
        );
    }

    #[test]
    fn hashes_on_many_threads_share_the_memory_of_those_that_are_computed_at_once() {
        let password = Password::from_input("correct horse battery").unwrap();
        for _ in 0..40 {
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(!PasswordHash::unmatchable().matches(&password)));
            });
        }
        // Other tests compute hashes in the meantime.
        assert!(FREE_MEMORY.lock().len() < 40);
    }
}
