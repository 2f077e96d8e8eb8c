//! Passkeys (Web Authentication Level 3): what an authenticator says, and the keys with which it signs. Without
//! attestation, the browser gives each part by itself, so nothing here reads CBOR or certificates.

use jiff::Timestamp;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
    VerificationAlgorithm,
};
use sha2::{Digest, Sha256};

use super::{StaffId, StaffMember};

/// What a key (RFC 5280, `SubjectPublicKeyInfo`) begins with. That of RSA has its length before and after it.
const OF_P256: &[u8] = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\0";
const OF_ED25519: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\0";
const OF_RSA: &[u8] = b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\0\x03\x82";

/// The algorithms that are allowed (IANA COSE Algorithms). The script of the page has the same.
const ES256: i32 = -7;
const EDDSA: i32 = -8;
const RS256: i32 = -257;

/// A passkey of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    pub id: Vec<u8>,
    pub user: Vec<u8>,
    pub algorithm: i32,
    pub key: Vec<u8>,
    /// The highest number of signatures that it has named; 0 if it does not count.
    pub count: u32,
    /// Whether it can be copied to other devices, which never changes. Not known of one that was added before 0.4.0, until
    /// it is used.
    pub is_backup_eligible: Option<bool>,
    pub name: String,
    pub created_at: Timestamp,
    pub used_at: Option<Timestamp>,
}

/// What a passkey has signed: what the browser says about the site, and the data of the authenticator.
pub struct Assertion {
    pub id: Vec<u8>,
    pub user: Vec<u8>,
    pub client: Vec<u8>,
    pub data: Vec<u8>,
    pub signature: Vec<u8>,
}

/// What an authenticator says about itself and about what it has checked (section 6.1).
struct Said<'d> {
    flags: u8,
    count: u32,
    rest: &'d [u8],
}

impl<'d> Said<'d> {
    /// Fails unless it is for this host, and somebody was there and proved who they are by a finger, a face or a PIN.
    fn checked(data: &'d [u8], host: &str) -> Result<Self, &'static str> {
        let parts = data.split_first_chunk::<32>().and_then(|(of, rest)| {
            let (&flags, rest) = rest.split_first()?;
            let (&count, rest) = rest.split_first_chunk()?;
            Some((
                of,
                Self {
                    flags,
                    count: u32::from_be_bytes(count),
                    rest,
                },
            ))
        });
        let (of, said) = parts.ok_or("the authenticator says too little")?;
        let wrong = [
            (
                of[..] != Sha256::digest(host)[..],
                "it is for another host (rpIdHash)",
            ),
            (!said.has(0), "nobody was there (UP)"),
            (!said.has(2), "nobody proved who they are (UV)"),
            (
                said.has(4) && !said.is_backup_eligible(),
                "it has a copy and can have none (BS, BE)",
            ),
        ];
        wrong
            .into_iter()
            .find(|(is, _)| *is)
            .map_or(Ok(said), |(_, why)| Err(why))
    }

    fn has(&self, bit: u8) -> bool {
        self.flags >> bit & 1 == 1
    }

    /// Whether the passkey can be copied to other devices (BE).
    fn is_backup_eligible(&self) -> bool {
        self.has(3)
    }

    /// Returns the identifier of the passkey that was made (section 6.5.1).
    fn made(&self) -> Option<&'d [u8]> {
        let (length, rest) = self.rest.get(16..)?.split_first_chunk()?;
        rest.get(..usize::from(u16::from_be_bytes(*length)))
            .filter(|_| self.has(6))
    }
}

/// Returns the part of a key that `ring` reads. `None` if it is for another algorithm, or for one
/// that is not allowed.
fn part_for_ring(key: &[u8], algorithm: i32) -> Option<&[u8]> {
    match algorithm {
        ES256 => key.strip_prefix(OF_P256).filter(|point| point.len() == 65),
        EDDSA => key
            .strip_prefix(OF_ED25519)
            .filter(|point| point.len() == 32),
        // Lengths have two bytes from 2,048 bits on.
        RS256 => {
            let rest = key
                .strip_prefix(b"\x30\x82")?
                .get(2..)?
                .strip_prefix(OF_RSA)?;
            rest.get(2..)?
                .strip_prefix(b"\0")
                .filter(|key| key.len() <= 1100)
        }
        _ => None,
    }
}

impl Passkey {
    /// The maximum number of passkeys of a member.
    pub const MAX: usize = 10;

    /// Returns the user handle of a member. Two stores on one host make different ones because of
    /// their `tag`, so an authenticator keeps the passkeys of both. Nobody can guess one to find
    /// out which members have passkeys.
    pub fn user_handle(member: StaffId, tag: &str) -> Vec<u8> {
        [&member.0.to_be_bytes(), tag.as_bytes()].concat()
    }

    /// Returns the member of a user handle; that of nobody is 0.
    pub fn member_from_handle(user: &[u8]) -> StaffId {
        StaffId(user.first_chunk().map_or(0, |id| i64::from_be_bytes(*id)))
    }

    /// Returns the passkey that an authenticator has made for this host (section 7.1), with an
    /// algorithm and a key.
    pub fn new(
        of: Assertion,
        (algorithm, key): (i32, &[u8]),
        host: &str,
        name: String,
        now: Timestamp,
    ) -> Result<Self, &'static str> {
        let Assertion { id, user, data, .. } = of;
        let said = Said::checked(&data, host)?;
        if said.made() != Some(&id) || !(1..=1023).contains(&id.len()) {
            return Err("the browser and the authenticator name different passkeys, or none");
        }
        let key = part_for_ring(key, algorithm)
            .ok_or("its algorithm is not allowed")?
            .to_vec();
        Ok(Self {
            id,
            user,
            algorithm,
            key,
            count: said.count,
            is_backup_eligible: Some(said.is_backup_eligible()),
            name,
            created_at: now,
            used_at: None,
        })
    }

    fn has_signed(&self, of: &Assertion) -> bool {
        let algorithm: &dyn VerificationAlgorithm = match self.algorithm {
            ES256 => &ECDSA_P256_SHA256_ASN1,
            EDDSA => &ED25519,
            _ => &RSA_PKCS1_2048_8192_SHA256,
        };
        let signed = [&of.data[..], &Sha256::digest(&of.client)].concat();
        UnparsedPublicKey::new(algorithm, &self.key)
            .verify(&signed, &of.signature)
            .is_ok()
    }
}

impl StaffMember {
    /// Uses a passkey to sign in (section 7.2). The version stays, so of two sign-ins at once both count. Returns what
    /// the audit trail says: which passkey it was, and that it does not count more than before. Somebody may have
    /// copied it, or two sign-ins came in another order.
    pub fn use_passkey(
        &mut self,
        of: &Assertion,
        host: &str,
        now: Timestamp,
    ) -> Result<Vec<(&'static str, String)>, &'static str> {
        let said = Said::checked(&of.data, host)?;
        let mut all = self.passkeys.iter_mut();
        let known = all.find(|known| known.id == of.id);
        let known = known.ok_or("the member does not have it")?;
        if !known.has_signed(of) {
            return Err("the signature is not that of its key");
        }
        let is_eligible = said.is_backup_eligible();
        if known
            .is_backup_eligible
            .is_some_and(|known| known != is_eligible)
        {
            return Err("it can be copied now and could not before, or the other way round (BE)");
        }

        let mut details = vec![("passkey", known.name.clone())];
        let is_counted = said.count != 0 || known.count != 0;
        if is_counted && said.count <= known.count {
            details.push(("count", format!("{} → {}", known.count, said.count)));
        }
        // A copy with a lower counter must be noted each time.
        known.count = known.count.max(said.count);
        known.is_backup_eligible = Some(is_eligible);
        known.used_at = Some(now);
        Ok(details)
    }
}
