//! Passkeys: registration of new passkeys, and verification of the assertions with which members
//! sign in.
//!
//! Sections in this module refer to Web Authentication Level 3. Attestation is not requested, so no
//! certificates need to be parsed.

use std::borrow::Cow;

use jiff::Timestamp;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
    VerificationAlgorithm,
};
use sha2::{Digest, Sha256};

use super::{
    StaffId, StaffMember,
    public_key::{EDDSA, ES256, PublicKey, parse_cose_key},
};
use crate::store_area::{Act, ActType};

/// The reason why a passkey or an assertion is rejected. It is only for the log: the member gets
/// the same message for every reason.
pub type PasskeyProblem = &'static str;

/// A passkey of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    pub id: Vec<u8>,
    /// The user handle: see [`Passkey::user_handle`].
    pub user: Vec<u8>,
    pub algorithm: i32,
    /// The public key, in the format that `ring` expects.
    pub key: Vec<u8>,
    /// The highest signature counter that the authenticator has reported; 0 if it does not count
    /// signatures.
    pub count: u32,
    /// Whether the passkey can be copied to other devices. This never changes. `None` for a passkey
    /// that was added before 0.4.0 and has not been used since.
    pub is_backup_eligible: Option<bool>,
    pub name: String,
    pub created_at: Timestamp,
    pub used_at: Option<Timestamp>,
}

/// The response of an authenticator: the client data of the browser, the authenticator data, and
/// the signature over both. The response to the creation of a passkey has no signature.
pub struct Assertion {
    pub id: Vec<u8>,
    /// The user handle: see [`Passkey::user_handle`].
    pub user: Vec<u8>,
    pub client_data: Vec<u8>,
    pub authenticator_data: Vec<u8>,
    pub signature: Vec<u8>,
}

/// The parsed authenticator data (section 6.1): the statements of the authenticator about itself,
/// and about the checks that it has made.
struct AuthenticatorData<'d> {
    /// The SHA-256 of the host name (`rpIdHash`).
    host_hash: &'d [u8; 32],
    flags: u8,
    /// The signature counter.
    count: u32,
    /// The attested credential data, if a passkey was created.
    attested_data: &'d [u8],
}

/// A newly created passkey in the authenticator data.
struct AttestedPasskey<'d> {
    id: &'d [u8],
    /// The public key in COSE format, followed by unparsed extension data.
    key: &'d [u8],
}

/// The maximum length of the identifier of a passkey, in bytes (section 7.1).
const MAX_ID_LENGTH: usize = 1023;

/// The length of the identifier of the authenticator's model (`aaguid`), in bytes.
const MODEL_LENGTH: usize = 16;

// The bits in the flags of `AuthenticatorData`.
const USER_PRESENT: u8 = 1 << 0;
const USER_VERIFIED: u8 = 1 << 2;
const BACKUP_ELIGIBLE: u8 = 1 << 3;
const BACKED_UP: u8 = 1 << 4;
const HAS_ATTESTED_DATA: u8 = 1 << 6;

impl<'d> AuthenticatorData<'d> {
    /// Parses authenticator data; `None` if they are too short.
    ///
    /// They consist of 32 bytes of the host's hash, one byte of flags, four bytes of the signature
    /// counter, and the attested credential data.
    fn parse(data: &'d [u8]) -> Option<Self> {
        let (host_hash, remainder) = data.split_first_chunk()?;
        let (&flags, remainder) = remainder.split_first()?;
        let (&count, attested_data) = remainder.split_first_chunk()?;
        Some(Self {
            host_hash,
            flags,
            count: u32::from_be_bytes(count),
            attested_data,
        })
    }

    /// Parses authenticator data, and rejects data for another host.
    ///
    /// The user must have been present, and verified, such as by a fingerprint, a face or a PIN.
    fn parse_verified(data: &'d [u8], host: &str) -> Result<Self, PasskeyProblem> {
        let data = Self::parse(data).ok_or("the authenticator says too little")?;
        if data.host_hash[..] != Sha256::digest(host)[..] {
            return Err("it is for another host (rpIdHash)");
        }
        if !data.has_flag(USER_PRESENT) {
            return Err("nobody was there (UP)");
        }
        if !data.has_flag(USER_VERIFIED) {
            return Err("nobody proved who they are (UV)");
        }
        if data.has_flag(BACKED_UP) && !data.is_backup_eligible() {
            return Err("it has a copy and can have none (BS, BE)");
        }
        Ok(data)
    }

    fn has_flag(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether the passkey can be copied to other devices (the flag BE).
    fn is_backup_eligible(&self) -> bool {
        self.has_flag(BACKUP_ELIGIBLE)
    }

    /// Parses the passkey that was created (section 6.5.1); `None` if the data contain none.
    ///
    /// The attested data consist of 16 bytes about the model of the authenticator, two bytes with
    /// the length of the identifier, the identifier, and the public key.
    fn parse_new_passkey(&self) -> Option<AttestedPasskey<'d>> {
        if !self.has_flag(HAS_ATTESTED_DATA) {
            return None;
        }
        let after_model = self.attested_data.get(MODEL_LENGTH..)?;
        let (&length_bytes, remainder) = after_model.split_first_chunk()?;
        let id_length = usize::from(u16::from_be_bytes(length_bytes));
        let (id, key) = remainder.split_at_checked(id_length)?;
        Some(AttestedPasskey { id, key })
    }
}

impl Passkey {
    /// The maximum number of passkeys of a member.
    pub const MAX: usize = 10;

    /// Returns the user handle of a member, by which an authenticator recognizes the account: the
    /// number of the member, and `tag`.
    ///
    /// The tag distinguishes several stores on one host, so that an authenticator keeps the
    /// passkeys of each. It also makes handles unguessable, so that nobody can find out which
    /// members have passkeys.
    pub fn user_handle(member: StaffId, tag: &str) -> Vec<u8> {
        let StaffId(number) = member;
        [&number.to_be_bytes(), tag.as_bytes()].concat()
    }

    /// Returns the member to whom a user handle belongs. A handle that is too short yields the
    /// number 0, which no member has.
    pub fn member_from_handle(handle: &[u8]) -> StaffId {
        match handle.first_chunk() {
            Some(bytes) => StaffId(i64::from_be_bytes(*bytes)),
            None => StaffId(0),
        }
    }

    /// Creates the passkey that an authenticator has registered for this host (Web Authentication,
    /// section 7.1).
    ///
    /// If the browser provides no public key, it is read from the authenticator data.
    pub fn new(
        assertion: Assertion,
        public_key: Option<PublicKey<'_>>,
        host: &str,
        name: String,
        now: Timestamp,
    ) -> Result<Self, PasskeyProblem> {
        let Assertion {
            id,
            user,
            authenticator_data,
            ..
        } = assertion;
        let data = AuthenticatorData::parse_verified(&authenticator_data, host)?;
        let has_valid_length = (1..=MAX_ID_LENGTH).contains(&id.len());
        let attested_passkey = match data.parse_new_passkey() {
            Some(passkey) if passkey.id == id && has_valid_length => passkey,
            _ => return Err("the browser and the authenticator name different passkeys, or none"),
        };
        let allowed_key = match public_key {
            Some(public_key) => public_key.verification_key(),
            None => parse_cose_key(attested_passkey.key),
        };
        let key = allowed_key.ok_or("its algorithm is not allowed")?;
        Ok(Self {
            id,
            user,
            algorithm: key.algorithm,
            key: key.bytes,
            count: data.count,
            is_backup_eligible: Some(data.is_backup_eligible()),
            name,
            created_at: now,
            used_at: None,
        })
    }

    /// Whether the signature of an assertion is valid for the key of this passkey.
    fn has_signed(&self, assertion: &Assertion) -> bool {
        let algorithm: &dyn VerificationAlgorithm = match self.algorithm {
            ES256 => &ECDSA_P256_SHA256_ASN1,
            EDDSA => &ED25519,
            // The only other algorithm with which a passkey can be registered is RS256.
            _ => &RSA_PKCS1_2048_8192_SHA256,
        };
        let signed_bytes = [
            &assertion.authenticator_data[..],
            &Sha256::digest(&assertion.client_data),
        ]
        .concat();
        UnparsedPublicKey::new(algorithm, &self.key)
            .verify(&signed_bytes, &assertion.signature)
            .is_ok()
    }
}

impl StaffMember {
    /// Verifies a sign-in with a passkey (Web Authentication, section 7.2), and updates the
    /// passkey. Returns the sign-in for the audit trail.
    ///
    /// The version of the member stays the same, so that concurrent sign-ins do not conflict.
    ///
    /// The audit trail gets the name of the passkey. If the signature counter has not increased, it
    /// also gets the counter before and after: somebody may have cloned the passkey, or concurrent
    /// sign-ins arrived out of order.
    pub fn use_passkey(
        &mut self,
        assertion: &Assertion,
        host: &str,
        now: Timestamp,
    ) -> Result<Act, PasskeyProblem> {
        let data = AuthenticatorData::parse_verified(&assertion.authenticator_data, host)?;
        let passkey = self
            .passkeys
            .iter_mut()
            .find(|passkey| passkey.id == assertion.id)
            .ok_or("the member does not have it")?;
        if !passkey.has_signed(assertion) {
            return Err("the signature is not that of its key");
        }
        let is_eligible = data.is_backup_eligible();
        // A passkey from before 0.4.0 gets this flag at its first use.
        let was_eligible = passkey.is_backup_eligible.unwrap_or(is_eligible);
        if was_eligible != is_eligible {
            return Err("it can be copied now and could not before, or the other way round (BE)");
        }

        let mut details: Vec<(Cow<'static, str>, String)> =
            vec![("passkey".into(), passkey.name.clone())];
        let counts_signatures = data.count != 0 || passkey.count != 0;
        if counts_signatures && data.count <= passkey.count {
            let counters = format!("{} → {}", passkey.count, data.count);
            details.push(("count".into(), counters));
        }
        // Keeping the maximum ensures that a clone with a lower counter is recorded each time.
        passkey.count = passkey.count.max(data.count);
        passkey.is_backup_eligible = Some(is_eligible);
        passkey.used_at = Some(now);

        let mut sign_in = self.create_act(ActType::StaffSignedIn);
        sign_in.details.extend(details);
        Ok(sign_in)
    }
}
