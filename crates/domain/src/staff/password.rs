//! Passwords of staff: which are allowed, and how they are hashed.

use argon2::{Algorithm, Argon2, Block, Params, Version};
use parking_lot::Mutex;
use rand::CryptoRng;
use unicode_normalization::UnicodeNormalization;

use super::StaffName;

/// The most common passwords that are long enough, one on each line.
const COMMON: &str = include_str!("common-passwords.txt");

/// A password as it was typed. `Debug` is missing, so that it gets into no log.
pub struct Password(String);

/// Why a password is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    /// It is too short.
    #[error("The password must have at least {} characters.", Password::MIN_LENGTH)]
    Short,
    /// It is too long.
    #[error("The password must have at most {} characters.", Password::MAX_LENGTH)]
    Long,
    /// Many people use it, or it is little more than the name or the word petstore.
    #[error("This password is easy to guess. Choose another one, such as four random words.")]
    Common,
}

impl Password {
    /// The minimum number of characters.
    pub const MIN_LENGTH: usize = 12;
    /// The maximum number of characters.
    pub const MAX_LENGTH: usize = 256;

    /// Returns a typed text, in the one form that Unicode has for it: keyboards differ. `None` if
    /// it is too long for any password.
    pub fn from_input(text: &str) -> Option<Self> {
        let fits = text.chars().count() <= Self::MAX_LENGTH;
        fits.then(|| Self(text.nfc().collect()))
    }

    /// Returns a password that this member may choose.
    pub fn new(text: &str, name: &StaffName) -> Result<Self, WeakPassword> {
        let password = Self::from_input(text).ok_or(WeakPassword::Long)?;
        if password.0.chars().count() < Self::MIN_LENGTH {
            return Err(WeakPassword::Short);
        }
        let lower = password.0.to_lowercase();
        let mut characters = lower.chars();
        let first = characters.next();
        let is_repeated = characters.all(|next| Some(next) == first);
        // What is left without the words that everybody tries first.
        let rest = lower
            .replace(&name.as_str().to_lowercase(), "")
            .replace("petstore", "");
        if is_repeated || rest.chars().count() < 6 || COMMON.lines().any(|known| known == lower) {
            return Err(WeakPassword::Common);
        }
        Ok(password)
    }

    /// Hashes it, which takes some 20 ms and 19 MiB.
    pub fn hash(&self, random: &mut impl CryptoRng) -> PasswordHash {
        let mut salt = [0; SALT];
        random.fill_bytes(&mut salt);
        PasswordHash::from_password_and_salt(self, salt)
    }
}

const SALT: usize = 16;

/// The memory of earlier hashes, as much as hashes were computed at once. The allocator of the system
/// would keep what is freed for each thread, and hashes are computed on many threads.
static MEMORY: Mutex<Vec<Vec<Block>>> = Mutex::new(Vec::new());

/// Argon2id of a password, with 19 MiB of memory, two passes and one lane, with its salt: 48 bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash([u8; Self::LENGTH]);

impl PasswordHash {
    const LENGTH: usize = SALT + 32;

    fn from_password_and_salt(password: &Password, salt: [u8; SALT]) -> Self {
        let mut hash = [0; Self::LENGTH];
        let (front, rest) = hash.split_at_mut(SALT);
        front.copy_from_slice(&salt);
        let params = Params::new(19 << 10, 2, 1, Some(32)).unwrap_or(Params::DEFAULT);
        let blocks = params.block_count();
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let memory = || MEMORY.lock();
        let reused = memory().pop();
        let mut used = reused.unwrap_or_else(|| vec![Block::default(); blocks]);
        // These lengths are valid.
        let bytes = password.0.as_bytes();
        let _ = argon2.hash_password_into_with_memory(bytes, &salt, rest, &mut used);
        memory().push(used);
        Self(hash)
    }

    /// Returns a hash that no password has, for which the comparison takes as long.
    pub fn unmatchable() -> Self {
        Self([0; Self::LENGTH])
    }

    /// Whether it is that of this password. Takes as long as hashing.
    pub fn matches(&self, password: &Password) -> bool {
        let (salt, _) = self.0.split_first_chunk().unwrap_or((&[0; SALT], &[]));
        // Nobody can choose the beginning of a hash, so the time of this comparison reveals nothing.
        Self::from_password_and_salt(password, *salt) == *self
    }

    /// As it is stored.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordHash")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_argon2id_with_the_parameters_that_are_promised() {
        // By the reference implementation: argon2 somesalt12345678 -id -t 2 -k 19456 -p 1 -l 32 -r
        let hash = PasswordHash::from_password_and_salt(
            &Password("password".to_owned()),
            *b"somesalt12345678",
        );
        let first = [
            0x0c, 0x4c, 0x0b, 0x6d, 0xb2, 0x19, 0x19, 0x4b, 0x60, 0x06, 0xe0, 0x78,
        ];
        assert_eq!(hash.0[SALT..][..first.len()], first);
        assert!(COMMON.lines().count() > 200 && COMMON.lines().all(|known| known.len() >= 12));
    }

    #[test]
    fn hashes_on_many_threads_share_the_memory_of_those_that_are_computed_at_once() {
        let password = Password::from_input("correct horse battery").unwrap();
        for _ in 0..40 {
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(!PasswordHash::unmatchable().matches(&password)));
            });
        }
        // Other tests compute hashes meanwhile.
        assert!(MEMORY.lock().len() < 40);
    }
}
