//! Passkeys (Web Authentication Level 3): the data of an authenticator, and the keys with which it signs. Without
//! attestation, nothing here reads certificates.

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

/// A new passkey in the data of its authenticator.
struct AttestedPasskey<'d> {
    id: &'d [u8],
    /// The public key, and what follows it.
    key: &'d [u8],
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

    /// Returns the passkey that was made (section 6.5.1): after 16 bytes about the authenticator, two bytes have the
    /// length of its identifier.
    fn new_passkey(&self) -> Option<AttestedPasskey<'d>> {
        if !self.has_flag(HAS_ATTESTED_DATA) {
            return None;
        }
        let (length, remainder) = self.attested_data.get(16..)?.split_first_chunk()?;
        let (id, key) = remainder.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        Some(AttestedPasskey { id, key })
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
    /// Without a key of the browser, the key is in the data of the authenticator.
    pub fn new(
        assertion: Assertion,
        public_key: Option<PublicKey<'_>>,
        host: &str,
        name: String,
        now: Timestamp,
    ) -> Result<Self, &'static str> {
        let Assertion { id, user, data, .. } = assertion;
        let data = AuthenticatorData::verify(&data, host)?;
        let attested_passkey = data
            .new_passkey()
            .filter(|passkey| passkey.id == id && (1..=1023).contains(&id.len()))
            .ok_or("the browser and the authenticator name different passkeys, or none")?;
        let key = match public_key {
            Some(public_key) => public_key.verification_key(),
            None => parse_cose_key(attested_passkey.key),
        };
        let key = key.ok_or("its algorithm is not allowed")?;
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
