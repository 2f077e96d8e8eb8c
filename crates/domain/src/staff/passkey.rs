//! Passkeys (Web Authentication Level 3): the data of an authenticator, and the keys with which it signs. Without
//! attestation, the browser gives each part of them separately, so nothing here reads CBOR or certificates.

use jiff::Timestamp;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
    VerificationAlgorithm,
};
use sha2::{Digest, Sha256};

use super::{StaffId, StaffMember};

/// The beginning of a P-256 key (RFC 5280, `SubjectPublicKeyInfo`).
const P256_PREFIX: &[u8] = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\0";
/// The beginning of an Ed25519 key.
const ED25519_PREFIX: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\0";
/// The beginning of an RSA key, which has a length before and after it.
const RSA_PREFIX: &[u8] = b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\0\x03\x82";

/// The algorithms that are allowed (IANA COSE Algorithms). The script of the page allows the same ones.
const ES256: i32 = -7;
const EDDSA: i32 = -8;
const RS256: i32 = -257;

/// A passkey of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    pub id: Vec<u8>,
    /// The user handle: see [`Passkey::user_handle`].
    pub user: Vec<u8>,
    pub algorithm: i32,
    /// The public key, in the form that `ring` reads.
    pub key: Vec<u8>,
    /// The highest number of signatures that the authenticator has named; 0 if it does not count them.
    pub count: u32,
    /// Whether the passkey can be copied to other devices, which never changes. `None` for a passkey that was added before
    /// 0.4.0, until it is used.
    pub is_backup_eligible: Option<bool>,
    pub name: String,
    pub created_at: Timestamp,
    pub used_at: Option<Timestamp>,
}

/// A proof by a passkey: the data of the browser about the site, the data of the authenticator, and the signature of both.
pub struct Assertion {
    pub id: Vec<u8>,
    pub user: Vec<u8>,
    pub client: Vec<u8>,
    pub data: Vec<u8>,
    pub signature: Vec<u8>,
}

/// The data of an authenticator about itself and about what it has checked (section 6.1).
struct AuthenticatorData<'d> {
    /// The SHA-256 of the host.
    host_hash: &'d [u8; 32],
    flags: u8,
    /// The number of signatures.
    count: u32,
    /// The data of a new passkey, if there is one.
    attested_data: &'d [u8],
}

/// The bits of the flags of [`AuthenticatorData`].
const USER_PRESENT: u8 = 1 << 0;
const USER_VERIFIED: u8 = 1 << 2;
const BACKUP_ELIGIBLE: u8 = 1 << 3;
const BACKED_UP: u8 = 1 << 4;
const HAS_ATTESTED_DATA: u8 = 1 << 6;

impl<'d> AuthenticatorData<'d> {
    /// Returns the data: 32 bytes with the hash of the host, one with the flags, four with the number of signatures, and
    /// the data of a new passkey. `None` if `data` is shorter.
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

    /// Parses the data. Rejects them unless they are for this host, and somebody was there and proved who they are by a
    /// finger, a face or a PIN.
    fn verify(data: &'d [u8], host: &str) -> Result<Self, &'static str> {
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

    /// Whether the passkey can be copied to other devices (BE).
    fn is_backup_eligible(&self) -> bool {
        self.has_flag(BACKUP_ELIGIBLE)
    }

    /// Returns the identifier of the passkey that was made (section 6.5.1): after 16 bytes about the authenticator, two
    /// bytes have its length.
    fn new_passkey_id(&self) -> Option<&'d [u8]> {
        if !self.has_flag(HAS_ATTESTED_DATA) {
            return None;
        }
        let (length, remainder) = self.attested_data.get(16..)?.split_first_chunk()?;
        remainder.get(..usize::from(u16::from_be_bytes(*length)))
    }
}

/// A public key, as the browser gives it (RFC 5280, `SubjectPublicKeyInfo`), and its algorithm.
#[derive(Clone, Copy)]
pub struct PublicKey<'k> {
    pub algorithm: i32,
    pub bytes: &'k [u8],
}

impl<'k> PublicKey<'k> {
    /// Returns the part of the key that `ring` reads. `None` if the key is for another algorithm, or for one
    /// that is not allowed.
    fn part_for_ring(self) -> Option<&'k [u8]> {
        match self.algorithm {
            ES256 => {
                let point = self.bytes.strip_prefix(P256_PREFIX)?;
                (point.len() == 65).then_some(point)
            }
            EDDSA => {
                let point = self.bytes.strip_prefix(ED25519_PREFIX)?;
                (point.len() == 32).then_some(point)
            }
            RS256 => {
                // Lengths have two bytes from 2,048 bits on.
                let after_length = self.bytes.strip_prefix(b"\x30\x82")?.get(2..)?;
                let after_prefix = after_length.strip_prefix(RSA_PREFIX)?.get(2..)?;
                let key = after_prefix.strip_prefix(b"\0")?;
                (key.len() <= 1100).then_some(key)
            }
            _ => None,
        }
    }
}

impl Passkey {
    /// The maximum number of passkeys of a member.
    pub const MAX: usize = 10;

    /// Returns the user handle of a member. Two stores on one host make different handles because of
    /// their `tag`, so an authenticator keeps the passkeys of both. Nobody can guess a handle to find
    /// out which members have passkeys.
    pub fn user_handle(member: StaffId, tag: &str) -> Vec<u8> {
        let StaffId(number) = member;
        [&number.to_be_bytes(), tag.as_bytes()].concat()
    }

    /// Returns the member of a user handle. The member 0, who does not exist, stands for an invalid handle.
    pub fn member_from_handle(handle: &[u8]) -> StaffId {
        let number = handle
            .first_chunk()
            .map_or(0, |bytes| i64::from_be_bytes(*bytes));
        StaffId(number)
    }

    /// Returns the passkey that an authenticator has made for this host (section 7.1), or the reason why it is rejected.
    pub fn new(
        assertion: Assertion,
        public_key: PublicKey<'_>,
        host: &str,
        name: String,
        now: Timestamp,
    ) -> Result<Self, &'static str> {
        let Assertion { id, user, data, .. } = assertion;
        let data = AuthenticatorData::verify(&data, host)?;
        if data.new_passkey_id() != Some(&id) || !(1..=1023).contains(&id.len()) {
            return Err("the browser and the authenticator name different passkeys, or none");
        }
        let key = public_key
            .part_for_ring()
            .ok_or("its algorithm is not allowed")?;
        Ok(Self {
            id,
            user,
            algorithm: public_key.algorithm,
            key: key.to_vec(),
            count: data.count,
            is_backup_eligible: Some(data.is_backup_eligible()),
            name,
            created_at: now,
            used_at: None,
        })
    }

    /// Whether the signature of an assertion was made with the key of this passkey.
    fn has_signed(&self, assertion: &Assertion) -> bool {
        let algorithm: &dyn VerificationAlgorithm = match self.algorithm {
            ES256 => &ECDSA_P256_SHA256_ASN1,
            EDDSA => &ED25519,
            _ => &RSA_PKCS1_2048_8192_SHA256,
        };
        let signed_bytes = [&assertion.data[..], &Sha256::digest(&assertion.client)].concat();
        UnparsedPublicKey::new(algorithm, &self.key)
            .verify(&signed_bytes, &assertion.signature)
            .is_ok()
    }
}

impl StaffMember {
    /// Uses a passkey to sign in (section 7.2). The version stays, so of two sign-ins at once both count. Returns the
    /// details for the audit trail: the name of the passkey, and whether its count of signatures has not grown. Then
    /// somebody may have copied it, or two sign-ins came in another order.
    pub fn use_passkey(
        &mut self,
        assertion: &Assertion,
        host: &str,
        now: Timestamp,
    ) -> Result<Vec<(&'static str, String)>, &'static str> {
        let data = AuthenticatorData::verify(&assertion.data, host)?;
        let passkey = self
            .passkeys
            .iter_mut()
            .find(|passkey| passkey.id == assertion.id)
            .ok_or("the member does not have it")?;
        if !passkey.has_signed(assertion) {
            return Err("the signature is not that of its key");
        }
        let is_eligible = data.is_backup_eligible();
        let was_eligible = passkey.is_backup_eligible.unwrap_or(is_eligible);
        if was_eligible != is_eligible {
            return Err("it can be copied now and could not before, or the other way round (BE)");
        }

        let mut details = vec![("passkey", passkey.name.clone())];
        let counts_signatures = data.count != 0 || passkey.count != 0;
        if counts_signatures && data.count <= passkey.count {
            details.push(("count", format!("{} → {}", passkey.count, data.count)));
        }
        // A copy with a lower counter must be noted each time.
        passkey.count = passkey.count.max(data.count);
        passkey.is_backup_eligible = Some(is_eligible);
        passkey.used_at = Some(now);
        Ok(details)
    }
}
