//! Parsing of the public keys of passkeys. Browsers use the format `SubjectPublicKeyInfo` (RFC
//! 5280), and authenticators use the format `COSE_Key` (RFC 9052).

/// The header of a P-256 key in `SubjectPublicKeyInfo`.
const P256_PREFIX: &[u8] = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\0";
/// The header of an Ed25519 key in `SubjectPublicKeyInfo`.
const ED25519_PREFIX: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\0";
/// The header of an RSA key in `SubjectPublicKeyInfo`, between the two-byte lengths before and
/// after it.
const RSA_PREFIX: &[u8] = b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\0\x03\x82";

/// The length of an uncompressed P-256 point, in bytes.
const P256_POINT_LENGTH: usize = 65;
/// The length of a coordinate of a P-256 point, in bytes.
const P256_COORDINATE_LENGTH: usize = 32;
/// The length of an Ed25519 point, in bytes.
const ED25519_POINT_LENGTH: usize = 32;
/// The maximum length of an encoded RSA key, in bytes. It leaves room for a modulus of 8,192 bits,
/// the largest that `ring` accepts.
const MAX_RSA_KEY_LENGTH: usize = 1100;
/// The length of the modulus of an RSA key of 2,048 bits, in bytes.
const RSA_2048_MODULUS_LENGTH: usize = 256;

// The allowed algorithms (IANA COSE Algorithms). The script of the page requests the same ones.
pub(super) const ES256: i32 = -7;
pub(super) const EDDSA: i32 = -8;
const RS256: i32 = -257;

/// A public key from the browser (RFC 5280, `SubjectPublicKeyInfo`), with its algorithm.
#[derive(Clone, Copy)]
pub struct PublicKey<'k> {
    pub algorithm: i32,
    pub bytes: &'k [u8],
}

impl<'k> PublicKey<'k> {
    /// Converts the key to the format of `ring`; `None` if the algorithm is not allowed, or the key
    /// does not match the algorithm.
    pub(super) fn verification_key(self) -> Option<VerificationKey> {
        Some(VerificationKey {
            algorithm: self.algorithm,
            bytes: self.ring_key_bytes()?.to_vec(),
        })
    }

    /// Returns the key without the header of `SubjectPublicKeyInfo`; `None` if the header or the
    /// length of the key does not match the algorithm.
    fn ring_key_bytes(self) -> Option<&'k [u8]> {
        match self.algorithm {
            ES256 => {
                let point = self.bytes.strip_prefix(P256_PREFIX)?;
                (point.len() == P256_POINT_LENGTH).then_some(point)
            }
            EDDSA => {
                let point = self.bytes.strip_prefix(ED25519_PREFIX)?;
                (point.len() == ED25519_POINT_LENGTH).then_some(point)
            }
            RS256 => {
                // From 2,048 bits on, DER encodes the lengths in two bytes. They are skipped,
                // because `ring` validates the key itself.
                let after_length = self.bytes.strip_prefix(b"\x30\x82")?.get(2..)?;
                let after_prefix = after_length.strip_prefix(RSA_PREFIX)?.get(2..)?;
                let key = after_prefix.strip_prefix(b"\0")?;
                (key.len() <= MAX_RSA_KEY_LENGTH).then_some(key)
            }
            _ => None,
        }
    }
}

/// A public key in the format that `ring` expects.
pub(super) struct VerificationKey {
    pub(super) algorithm: i32,
    pub(super) bytes: Vec<u8>,
}

/// The COSE encoding of a P-256 key for ES256, up to the x coordinate.
///
/// Authenticators must use the canonical CBOR encoding (Web Authentication Level 3, section 6.5.1),
/// so comparing prefixes is enough, and no CBOR parser is needed.
const COSE_P256_PREFIX: &[u8] = b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20";
/// The bytes between the x and y coordinates of a P-256 key.
const COSE_P256_SEPARATOR: &[u8] = b"\x22\x58\x20";
/// The COSE encoding of an Ed25519 key, up to the point.
const COSE_ED25519_PREFIX: &[u8] = b"\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20";
/// The COSE encoding of an RSA key of 2,048 bits for RS256, up to the modulus.
const COSE_RSA_PREFIX: &[u8] = b"\xa4\x01\x03\x03\x39\x01\x00\x20\x59\x01\x00";
/// The end of the encoded RSA key: the exponent 65537.
const COSE_RSA_SUFFIX: &[u8] = b"\x21\x43\x01\x00\x01";

/// The first byte of an uncompressed point (SEC 1, section 2.3.3).
const UNCOMPRESSED_POINT: &[u8] = b"\x04";
/// The DER encoding of an RSA key of 2,048 bits, up to the modulus (RFC 8017, `RSAPublicKey`).
const RSA_KEY_PREFIX: &[u8] = b"\x30\x82\x01\x0a\x02\x82\x01\x01\0";
/// The end of the encoded RSA key: the exponent 65537.
const RSA_KEY_SUFFIX: &[u8] = b"\x02\x03\x01\x00\x01";

/// Parses a COSE key at the beginning of `data`; `None` if the algorithm is not allowed.
///
/// Some password managers provide the public key of a new passkey only in this format.
pub(super) fn parse_cose_key(data: &[u8]) -> Option<VerificationKey> {
    if let Some(coordinates) = data.strip_prefix(COSE_P256_PREFIX) {
        let (x, remainder) = coordinates.split_at_checked(P256_COORDINATE_LENGTH)?;
        let y = remainder
            .strip_prefix(COSE_P256_SEPARATOR)?
            .get(..P256_COORDINATE_LENGTH)?;
        return Some(VerificationKey {
            algorithm: ES256,
            bytes: [UNCOMPRESSED_POINT, x, y].concat(),
        });
    }
    if let Some(remainder) = data.strip_prefix(COSE_ED25519_PREFIX) {
        let point = remainder.get(..ED25519_POINT_LENGTH)?;
        return Some(VerificationKey {
            algorithm: EDDSA,
            bytes: point.to_vec(),
        });
    }
    let (modulus, exponent) = data
        .strip_prefix(COSE_RSA_PREFIX)?
        .split_at_checked(RSA_2048_MODULUS_LENGTH)?;
    if !exponent.starts_with(COSE_RSA_SUFFIX) {
        return None;
    }
    Some(VerificationKey {
        algorithm: RS256,
        bytes: [RSA_KEY_PREFIX, modulus, RSA_KEY_SUFFIX].concat(),
    })
}
