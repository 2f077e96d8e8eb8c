//! The second factor: codes of an authenticator app (TOTP, RFC 6238), and recovery codes.

use data_encoding::BASE32_NOPAD as BASE32;
use jiff::Timestamp;
use rand::CryptoRng;
use ring::hmac;
use sha2::{Digest, Sha256};

use super::TokenDigest;

/// How many recovery codes a member gets.
pub const RECOVERY_CODE_COUNT: usize = 10;

/// The length of a secret, in bytes, and of a recovery code before it is spelled. Multiples of five
/// need no padding in Base32.
const SECRET: usize = 20;
const RECOVERY: usize = 15;

/// How long a code is valid, in seconds, and its number of digits: what all apps support.
const PERIOD: i64 = 30;
const DIGITS: usize = 6;

/// The second factor of a member, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondFactor {
    /// The encrypted secret.
    pub sealed_secret: Vec<u8>,
    /// The period of the last code that was accepted, so that none is accepted twice.
    pub last_period: i64,
    /// The digests of the recovery codes that are left.
    pub recovery: Vec<TokenDigest>,
}

impl SecondFactor {
    /// Returns the second factor after this code or recovery code was used; `None` if it is wrong,
    /// or was used before.
    pub fn with_used_code(&self, typed: &str, secret: &TotpSecret, now: Timestamp) -> Option<Self> {
        let typed: String = typed
            .chars()
            .filter(|c| !c.is_whitespace() && *c != '-')
            .collect();
        if let Some(period) = secret.period_of(&typed, now) {
            let is_new = period > self.last_period;
            return is_new.then(|| Self {
                last_period: period,
                ..self.clone()
            });
        }
        let digest = recovery_digest(&typed.to_ascii_uppercase());
        let at = self.recovery.iter().position(|known| *known == digest)?;
        let mut after = self.clone();
        after.recovery.remove(at);
        Some(after)
    }
}

/// Returns a new recovery code, to show once, and its digest. It has 120 random bits, so a digest
/// protects it as well as a slow hash would.
pub fn generate_recovery_code(random: &mut impl CryptoRng) -> (String, TokenDigest) {
    let mut bytes = [0; RECOVERY];
    random.fill_bytes(&mut bytes);
    let code = BASE32.encode(&bytes);
    let digest = recovery_digest(&code);
    (in_fours(&code.to_ascii_lowercase(), "-"), digest)
}

fn recovery_digest(code: &str) -> TokenDigest {
    TokenDigest::from_bytes(Sha256::digest(code).into())
}

/// The secret that an app shares with the service.
#[derive(PartialEq, Eq)]
pub struct TotpSecret([u8; SECRET]);

impl TotpSecret {
    /// Returns a new secret.
    pub fn generate(random: &mut impl CryptoRng) -> Self {
        let mut bytes = [0; SECRET];
        random.fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// Returns the secret with these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the secret in Base32, as [`Self::spelled`] gives it.
    pub fn parse(text: &str) -> Option<Self> {
        let letters: Vec<u8> = text
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        Self::from_bytes(&BASE32.decode(&letters).ok()?)
    }

    /// Returns the setup key, in groups of four letters to type.
    pub fn setup_key(&self) -> String {
        in_fours(&BASE32.encode(&self.0), " ")
    }

    /// Returns the URI that an app reads from a QR code.
    pub fn uri(&self, account: &str) -> String {
        let account: String = form_urlencoded::byte_serialize(account.as_bytes()).collect();
        let account = account.replace('+', "%20");
        format!(
            "otpauth://totp/Petstore:{account}?secret={}&issuer=Petstore",
            BASE32.encode(&self.0)
        )
    }

    /// Returns the period of the code, if it is that of now, or of one period earlier or later:
    /// clocks differ.
    fn period_of(&self, code: &str, now: Timestamp) -> Option<i64> {
        let present = now.as_second().div_euclid(PERIOD);
        (present - 1..=present + 1).find(|&period| self.code(period) == code)
    }

    /// Returns the code of a period (RFC 4226, section 5.3).
    pub fn code(&self, period: i64) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.0);
        let tag = hmac::sign(&key, &period.to_be_bytes());
        let hash = tag.as_ref();
        let at = usize::from(hash[hash.len() - 1] & 15);
        let number = hash[at..at + 4]
            .iter()
            .fold(0_u32, |sum, &byte| sum << 8 | u32::from(byte));
        format!("{:0DIGITS$}", (number & 0x7fff_ffff) % 10_u32.pow(6))
    }

    /// Returns the code of this moment.
    pub fn code_at(&self, now: Timestamp) -> String {
        self.code(now.as_second().div_euclid(PERIOD))
    }
}

fn in_fours(text: &str, between: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let groups: Vec<String> = letters
        .chunks(4)
        .map(|four| four.iter().collect())
        .collect();
    groups.join(between)
}
