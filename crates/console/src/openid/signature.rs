//! Verifies signed tokens (RFC 7515) with the provider's public keys (RFC 7517).
//!
//! The key determines the possible algorithms, and the token only chooses among them. No public
//! key supports `none` or HS256, so tokens with these algorithms are never accepted.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::failure::Failure;

/// The maximum number of keys that a provider may have. It bounds the work for each token; real
/// providers have a few keys.
const MAX_KEYS: usize = 64;

/// The maximum length of a token, in bytes.
const MAX_TOKEN_BYTES: usize = 64 << 10;

/// The first byte of an uncompressed point (SEC 1, section 2.3.3).
const UNCOMPRESSED_POINT: u8 = 4;

/// A JSON Web Key Set, the document with the provider's keys.
#[derive(Deserialize)]
pub(super) struct KeySet {
    keys: Vec<Map<String, Value>>,
}

/// A public key that can verify tokens.
pub(super) struct Key {
    id: Option<String>,
    /// The only algorithm with which the key may be used; `None` if the key states none.
    algorithm: Option<String>,
    kind: KeyKind,
}

/// A public key by its type, in the form that `ring` expects.
enum KeyKind {
    /// The modulus `n` and the exponent `e`.
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// An uncompressed point on the curve P-256. See [`point_on_curve`].
    P256(Vec<u8>),
    /// An uncompressed point on the curve P-384. See [`point_on_curve`].
    P384(Vec<u8>),
    /// The point on the curve Ed25519, in the encoding of RFC 8032.
    Ed25519(Vec<u8>),
}

/// The header of a token, by the names in RFC 7515.
#[derive(Deserialize)]
struct TokenHeader {
    alg: String,
    /// The id of the key that signed the token.
    kid: Option<String>,
    /// The extensions that the recipient must understand.
    crit: Option<Value>,
}

/// A token in its compact form, split into its parts. Its signature is not verified yet.
struct SignedToken<'t> {
    header: TokenHeader,
    /// The payload in base64url.
    encoded_payload: &'t str,
    /// What the signature covers: the encoded header and payload, with the dot between them.
    signed_text: &'t str,
    signature: Vec<u8>,
}

/// The outcome of [`verify`] for a well-formed token.
pub(super) enum Verification {
    /// The signature is valid. The token has this payload.
    Valid(Vec<u8>),
    /// The right key may be missing, because the provider may have rotated its keys. This is not a
    /// failure yet: the caller can fetch the keys again.
    KeyMayBeMissing,
}

/// Returns the keys in a key set that can verify tokens. Skips keys of other types and keys for
/// other uses. Fails if there are more than [`MAX_KEYS`].
pub(super) fn parse_keys(set: &KeySet) -> Result<Vec<Key>, Failure> {
    let count = set.keys.len();
    if count > MAX_KEYS {
        return Err(Failure::Invalid(format!(
            "there are {count} keys; {MAX_KEYS} are allowed"
        )));
    }
    Ok(set.keys.iter().filter_map(Key::from_jwk).collect())
}

impl<'t> SignedToken<'t> {
    /// Parses `HEADER.PAYLOAD.SIGNATURE`. Fails if the token is malformed or too long, or needs an
    /// extension.
    fn parse(token: &'t str) -> Result<Self, Failure> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(invalid_token("is too long"));
        }
        let mut parts = token.split('.');
        let (Some(encoded_header), Some(encoded_payload), Some(encoded_signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(invalid_token("does not have three parts"));
        };
        let header: TokenHeader = serde_json::from_slice(&decode(encoded_header)?)
            .map_err(|error| invalid_token(&format!("has an invalid header: {error}")))?;
        if header.crit.is_some() {
            return Err(invalid_token("has an unknown extension (crit)"));
        }
        let signed_length = encoded_header.len() + ".".len() + encoded_payload.len();
        Ok(Self {
            header,
            encoded_payload,
            signed_text: &token[..signed_length],
            signature: decode(encoded_signature)?,
        })
    }

    /// Returns the payload. The caller must have verified the signature.
    fn decode_payload(&self) -> Result<Vec<u8>, Failure> {
        decode(self.encoded_payload)
    }
}

/// Verifies the signature of a token with these keys. Fails if the token is malformed, or if it
/// names a key that did not sign it.
///
/// If no key has the token's key id, tries the [`only_possible_key`]. If this key has not signed
/// the token either, the right key may be missing.
pub(super) fn verify(token: &str, keys: &[Key]) -> Result<Verification, Failure> {
    let token = SignedToken::parse(token)?;
    let named_keys = keys_with_id_of(&token.header, keys);
    if named_keys.is_empty() {
        return match only_possible_key(&token.header, keys) {
            Some(key) if key.has_signed(&token) => Ok(Verification::Valid(token.decode_payload()?)),
            _ => Ok(Verification::KeyMayBeMissing),
        };
    }
    if named_keys.iter().any(|key| key.has_signed(&token)) {
        return Ok(Verification::Valid(token.decode_payload()?));
    }
    Err(invalid_token(
        "has no valid signature of the key that it names (kid), or its algorithm does not fit the key",
    ))
}

/// Returns the failure for an invalid token. The reason completes a sentence that begins with "the
/// token".
fn invalid_token(reason: &str) -> Failure {
    Failure::Invalid(format!("the token {reason}"))
}

/// Decodes a base64url part of a token.
fn decode(part: &str) -> Result<Vec<u8>, Failure> {
    URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| invalid_token("is not base64url"))
}

/// Returns the keys with the key id of a token; empty if the token has no key id.
fn keys_with_id_of<'k>(header: &TokenHeader, keys: &'k [Key]) -> Vec<&'k Key> {
    if header.kid.is_none() {
        return Vec::new();
    }
    keys.iter().filter(|key| key.id == header.kid).collect()
}

/// Returns the key to try for a token that has no key id, or whose key id no key has. A key is
/// possible if it supports the token's algorithm, and if the key or the token has no key id.
///
/// Returns `None` unless exactly one key is possible, because a choice among several would be a
/// guess.
fn only_possible_key<'k>(header: &TokenHeader, keys: &'k [Key]) -> Option<&'k Key> {
    let mut possible_keys = Vec::new();
    for key in keys {
        let is_id_compatible = header.kid.is_none() || key.id.is_none();
        if is_id_compatible && key.supports(&header.alg) {
            possible_keys.push(key);
        }
    }
    match possible_keys[..] {
        [key] => Some(key),
        _ => None,
    }
}

impl Key {
    /// Parses a JSON Web Key. Returns `None` for a key that cannot verify tokens.
    fn from_jwk(jwk: &Map<String, Value>) -> Option<Self> {
        if text_member(jwk, "use").is_some_and(|usage| usage != "sig") {
            return None;
        }
        let kind = match (text_member(jwk, "kty")?, text_member(jwk, "crv")) {
            ("RSA", _) => KeyKind::Rsa {
                n: number_member(jwk, "n")?,
                e: number_member(jwk, "e")?,
            },
            ("EC", Some("P-256")) => KeyKind::P256(point_on_curve(jwk)?),
            ("EC", Some("P-384")) => KeyKind::P384(point_on_curve(jwk)?),
            ("OKP", Some("Ed25519")) => KeyKind::Ed25519(bytes_member(jwk, "x")?),
            _ => return None,
        };
        Some(Self {
            id: text_member(jwk, "kid").map(str::to_owned),
            algorithm: text_member(jwk, "alg").map(str::to_owned),
            kind,
        })
    }

    /// Whether the key can verify signatures of this algorithm.
    fn supports(&self, algorithm: &str) -> bool {
        if let Some(only_algorithm) = &self.algorithm
            && only_algorithm != algorithm
        {
            return false;
        }
        match self.kind {
            KeyKind::Rsa { .. } => rsa_parameters(algorithm).is_some(),
            KeyKind::P256(_) => algorithm == "ES256",
            KeyKind::P384(_) => algorithm == "ES384",
            // RFC 9864 names the algorithm after its curve.
            KeyKind::Ed25519(_) => ["EdDSA", "Ed25519"].contains(&algorithm),
        }
    }

    /// Whether the token has a valid signature with this key and the token's algorithm.
    fn has_signed(&self, token: &SignedToken<'_>) -> bool {
        let algorithm = &token.header.alg;
        if !self.supports(algorithm) {
            return false;
        }
        let signed_text = token.signed_text.as_bytes();
        let signature = &token.signature;
        let result = match &self.kind {
            KeyKind::Rsa { n, e } => {
                // There are parameters, because the key supports the algorithm.
                let Some(parameters) = rsa_parameters(algorithm) else {
                    return false;
                };
                RsaPublicKeyComponents { n, e }.verify(parameters, signed_text, signature)
            }
            KeyKind::P256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                .verify(signed_text, signature),
            KeyKind::P384(point) => UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point)
                .verify(signed_text, signature),
            KeyKind::Ed25519(point) => {
                UnparsedPublicKey::new(&ED25519, point).verify(signed_text, signature)
            }
        };
        result.is_ok()
    }
}

/// Returns the parameters of an RSA signature algorithm (RFC 7518, sections 3.3 and 3.5); `None`
/// for any other algorithm.
fn rsa_parameters(algorithm: &str) -> Option<&'static RsaParameters> {
    match algorithm {
        "RS256" => Some(&RSA_PKCS1_2048_8192_SHA256),
        "RS384" => Some(&RSA_PKCS1_2048_8192_SHA384),
        "RS512" => Some(&RSA_PKCS1_2048_8192_SHA512),
        "PS256" => Some(&RSA_PSS_2048_8192_SHA256),
        "PS384" => Some(&RSA_PSS_2048_8192_SHA384),
        "PS512" => Some(&RSA_PSS_2048_8192_SHA512),
        _ => None,
    }
}

/// Returns the uncompressed point of an elliptic-curve key: [`UNCOMPRESSED_POINT`], `x` and `y`.
fn point_on_curve(jwk: &Map<String, Value>) -> Option<Vec<u8>> {
    let mut point = vec![UNCOMPRESSED_POINT];
    point.extend(bytes_member(jwk, "x")?);
    point.extend(bytes_member(jwk, "y")?);
    Some(point)
}

/// Returns a string member of a key; `None` if there is no such member.
fn text_member<'j>(jwk: &'j Map<String, Value>, name: &str) -> Option<&'j str> {
    jwk.get(name).and_then(Value::as_str)
}

/// Decodes a base64url member of a key. Accepts padding (`=`), which some providers add although
/// the standard does not allow it.
fn bytes_member(jwk: &Map<String, Value>, name: &str) -> Option<Vec<u8>> {
    let text = text_member(jwk, name)?.trim_end_matches('=');
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Decodes a base64url member of a key that is a big-endian number. Removes leading zeros, which
/// `ring` rejects.
fn number_member(jwk: &Map<String, Value>, name: &str) -> Option<Vec<u8>> {
    let bytes = bytes_member(jwk, name)?;
    Some(bytes.into_iter().skip_while(|byte| *byte == 0).collect())
}
