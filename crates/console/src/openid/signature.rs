//! Signed tokens (RFC 7515) and the keys that verify them (RFC 7517). The key decides which algorithms
//! there are: a token only chooses among those of its key, so `none` and HS256 mean nothing here.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::settings::Failure;

/// How many keys of a provider are looked at.
const MAX_KEYS: usize = 64;

/// The largest token, in bytes.
const MAX_TOKEN: usize = 64 << 10;

/// A document with keys.
#[derive(Deserialize)]
pub(super) struct KeySet {
    keys: Vec<Map<String, Value>>,
}

/// A key that can sign tokens.
pub(super) struct Key {
    id: Option<String>,
    /// The only algorithm for which it is, if it says so.
    algorithm: Option<String>,
    kind: Kind,
}

enum Kind {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    crit: Option<Value>,
}

/// The keys of a document. Those that cannot sign tokens are left out.
pub(super) fn keys(set: &KeySet) -> Result<Vec<Key>, Failure> {
    let count = set.keys.len();
    if count > MAX_KEYS {
        return Err(Failure::Invalid(format!(
            "there are {count} keys; {MAX_KEYS} are allowed"
        )));
    }
    Ok(set.keys.iter().filter_map(Key::of).collect())
}

/// Verifies the signature of a token with these keys, and returns its content. `None` if no key has the token's key
/// id: the provider may have rotated its keys.
pub(super) fn content(token: &str, keys: &[Key]) -> Result<Option<Vec<u8>>, Failure> {
    let invalid = |why: &str| Failure::Invalid(format!("the token {why}"));
    let decoded = |part| {
        URL_SAFE_NO_PAD
            .decode(part)
            .map_err(|_| invalid("is not base64url"))
    };
    let parts: Vec<&str> = token.split('.').take(4).collect();
    let [head, content, signature] = parts[..] else {
        return Err(invalid("has no three parts"));
    };
    if token.len() > MAX_TOKEN {
        return Err(invalid("is too long"));
    }
    let header: Header = serde_json::from_slice(&decoded(head)?)
        .map_err(|error| invalid(&format!("has an invalid header: {error}")))?;
    if header.crit.is_some() {
        return Err(invalid("has an extension that is not known (crit)"));
    }
    let (signature, signed) = (
        decoded(signature)?,
        &token[..head.len() + 1 + content.len()],
    );
    // Without an id, there must be nothing to choose.
    let is_meant = |key: &&Key| {
        header
            .kid
            .as_ref()
            .map_or(keys.len() == 1, |_| key.id == header.kid)
    };
    let mut meant = keys.iter().filter(is_meant).peekable();
    if meant.peek().is_none() {
        return Ok(None);
    }
    if !meant.any(|key| key.has_signed(&header.alg, signed.as_bytes(), &signature)) {
        return Err(invalid(
            "has no signature of its key, or one of another algorithm",
        ));
    }
    Ok(Some(decoded(content)?))
}

impl Key {
    fn of(jwk: &Map<String, Value>) -> Option<Self> {
        let text = |name| jwk.get(name).and_then(Value::as_str);
        let bytes = |name| URL_SAFE_NO_PAD.decode(text(name)?).ok();
        // ring wants no zeros before a number.
        let number = |name| {
            Some(
                bytes(name)?
                    .into_iter()
                    .skip_while(|byte| *byte == 0)
                    .collect(),
            )
        };
        let kind = match (text("kty")?, text("crv")) {
            _ if text("use").is_some_and(|usage| usage != "sig") => return None,
            ("RSA", _) => Kind::Rsa {
                n: number("n")?,
                e: number("e")?,
            },
            ("EC", Some("P-256")) => Kind::P256([vec![4], bytes("x")?, bytes("y")?].concat()),
            ("OKP", Some("Ed25519")) => Kind::Ed25519(bytes("x")?),
            _ => return None,
        };
        let [id, algorithm] = ["kid", "alg"].map(|name| text(name).map(str::to_owned));
        Some(Self {
            id,
            algorithm,
            kind,
        })
    }

    fn has_signed(&self, algorithm: &str, signed: &[u8], signature: &[u8]) -> bool {
        let is_other = self
            .algorithm
            .as_ref()
            .is_some_and(|only| only != algorithm);
        let verified = match (&self.kind, algorithm) {
            _ if is_other => return false,
            (Kind::Rsa { n, e }, "RS256" | "PS256") => {
                let is_pss = algorithm == "PS256";
                let padding = if is_pss {
                    &RSA_PSS_2048_8192_SHA256
                } else {
                    &RSA_PKCS1_2048_8192_SHA256
                };
                RsaPublicKeyComponents { n, e }.verify(padding, signed, signature)
            }
            (Kind::P256(point), "ES256") => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(signed, signature)
            }
            (Kind::Ed25519(point), "EdDSA") => {
                UnparsedPublicKey::new(&ED25519, point).verify(signed, signature)
            }
            _ => return false,
        };
        verified.is_ok()
    }
}
