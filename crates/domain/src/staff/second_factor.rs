//! The second factor: codes from an authenticator app (TOTP, RFC 6238), and recovery codes.
//!
//! An app computes a new code for each period of 30 seconds. Periods are numbered from 1970.

use data_encoding::BASE32_NOPAD as BASE32;
use jiff::Timestamp;
use rand::CryptoRng;
use ring::hmac;
use sha2::{Digest, Sha256};

use super::TokenDigest;

/// The number of recovery codes that a member gets.
pub const RECOVERY_CODE_COUNT: usize = 10;

/// The length of a TOTP secret, in bytes. A multiple of five needs no padding in Base32.
const SECRET_LENGTH: usize = 20;

/// The length of a recovery code before encoding, in bytes. A multiple of five needs no padding in
/// Base32.
const RECOVERY_CODE_LENGTH: usize = 15;

/// The length of a period, in seconds. This is the value that all apps support.
const PERIOD_SECONDS: i64 = 30;

/// The number of digits of a code. This is the value that all apps support.
const CODE_DIGITS: usize = 6;

/// The number of different codes with [`CODE_DIGITS`] digits.
const CODE_COUNT: u32 = 1_000_000;

/// The second factor of a member, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondFactor {
    /// The encrypted TOTP secret.
    pub sealed_secret: Vec<u8>,
    /// The period of the last accepted code, so that no code is accepted twice.
    pub last_period: i64,
    /// The digests of the unused recovery codes.
    pub recovery: Vec<TokenDigest>,
}

impl SecondFactor {
    /// Verifies a code of the app or a recovery code. Returns the second factor with the code
    /// marked as used; `None` if the code is wrong or was used before.
    ///
    /// Spaces and `-` in `input` are ignored.
    pub fn with_used_code(&self, input: &str, secret: &TotpSecret, now: Timestamp) -> Option<Self> {
        let code: String = input
            .chars()
            .filter(|character| !character.is_whitespace() && *character != '-')
            .collect();
        if let Some(period) = secret.find_period(&code, now) {
            let is_new = period > self.last_period;
            if !is_new {
                return None;
            }
            return Some(Self {
                last_period: period,
                ..self.clone()
            });
        }

        let digest = recovery_digest(&code.to_ascii_uppercase());
        let position = self
            .recovery
            .iter()
            .position(|unused_digest| *unused_digest == digest)?;
        let mut after = self.clone();
        after.recovery.remove(position);
        Some(after)
    }
}

/// Generates a recovery code, such as `mzxw-6ytb-oi4t-gmjs-gm2d-knrx`. Returns the code, to be
/// shown once, and its digest, to be stored.
///
/// A code has 120 random bits, so a slow hash would add no protection.
pub fn generate_recovery_code(random: &mut impl CryptoRng) -> (String, TokenDigest) {
    let mut bytes = [0; RECOVERY_CODE_LENGTH];
    random.fill_bytes(&mut bytes);
    let code = BASE32.encode(&bytes);
    let digest = recovery_digest(&code);
    (group_by_four(&code.to_ascii_lowercase(), "-"), digest)
}

/// Returns the digest of a recovery code in upper case, without separators.
fn recovery_digest(code: &str) -> TokenDigest {
    TokenDigest::from_bytes(Sha256::digest(code).into())
}

/// The TOTP secret that an authenticator app shares with the service.
#[derive(PartialEq, Eq)]
pub struct TotpSecret([u8; SECRET_LENGTH]);

impl TotpSecret {
    /// Generates a new secret.
    pub fn generate(random: &mut impl CryptoRng) -> Self {
        let mut bytes = [0; SECRET_LENGTH];
        random.fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// Returns the secret with these bytes; `None` if the length is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the bytes of the secret.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Parses a setup key, as [`Self::setup_key`] returns it; `None` for any other text. Spaces are
    /// ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let letters: Vec<u8> = text
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        Self::from_bytes(&BASE32.decode(&letters).ok()?)
    }

    /// Returns the setup key for manual entry: the secret in Base32, in groups of four characters.
    pub fn setup_key(&self) -> String {
        group_by_four(&BASE32.encode(&self.0), " ")
    }

    /// Returns the URI for the QR code that an app scans:
    /// `otpauth://totp/Petstore:maria?secret=…&issuer=Petstore`.
    pub fn uri(&self, account: &str) -> String {
        let form_encoded: String = form_urlencoded::byte_serialize(account.as_bytes()).collect();
        // In the path of a URI, `+` is not a space.
        let encoded_account = form_encoded.replace('+', "%20");
        format!(
            "otpauth://totp/Petstore:{encoded_account}?secret={}&issuer=Petstore",
            BASE32.encode(&self.0)
        )
    }

    /// Finds the period to which a code belongs; `None` if the code is wrong.
    ///
    /// The codes of the previous and the next period are accepted as well, because the clocks of
    /// the app and the service may differ.
    fn find_period(&self, code: &str, now: Timestamp) -> Option<i64> {
        let current_period = period_at(now);
        (current_period - 1..=current_period + 1).find(|&period| self.code(period) == code)
    }

    /// Computes the code of a period (RFC 4226, section 5.3, with the period as the counter).
    pub fn code(&self, period: i64) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.0);
        let tag = hmac::sign(&key, &period.to_be_bytes());
        let hash = tag.as_ref();
        // The last four bits of the hash select the four bytes that become the number.
        let offset = usize::from(hash[hash.len() - 1] & 15);
        let number = hash[offset..offset + 4]
            .iter()
            .fold(0_u32, |bits, &byte| (bits << 8) | u32::from(byte));
        // The sign bit is cleared, and the last six decimal digits are the code.
        let code = (number & 0x7fff_ffff) % CODE_COUNT;
        format!("{code:0CODE_DIGITS$}")
    }

    /// Returns the code that is valid at `now`.
    pub fn code_at(&self, now: Timestamp) -> String {
        self.code(period_at(now))
    }
}

/// Returns the number of the period in which a time lies.
fn period_at(time: Timestamp) -> i64 {
    time.as_second().div_euclid(PERIOD_SECONDS)
}

/// Splits a text into groups of four characters: `abcd-efgh` for `abcdefgh`.
fn group_by_four(text: &str, separator: &str) -> String {
    let mut grouped_text = String::new();
    for (index, character) in text.chars().enumerate() {
        if index > 0 && index % 4 == 0 {
            grouped_text.push_str(separator);
        }
        grouped_text.push(character);
    }
    grouped_text
}
