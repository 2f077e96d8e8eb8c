//! The keys of the provider of the tests, and the tokens that it signs with them.

use std::sync::LazyLock;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use petstore_domain::Clock;
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
        EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384,
        RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaKeyPair,
    },
};
use serde_json::{Value, json};

use super::provider::Says;

/// With which key a token is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signing {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
    /// Like [`Self::EdDsa`], with the name of RFC 9864.
    Ed25519,
    /// No signature.
    None,
    /// With the public key as the secret.
    Hs256,
}

impl Says {
    pub(crate) fn now(&self) -> i64 {
        self.clock.now().as_second()
    }

    pub(crate) fn rsa() -> RsaKeyPair {
        RsaKeyPair::from_pkcs8(include_bytes!("../../../../tests/data/oidc-rsa-key.der")).unwrap()
    }

    /// The keys in their public form.
    pub(crate) fn jwk(&self) -> Value {
        let ((id, seed), encoded) = (self.key, |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes));
        match self.signing {
            Signing::Es256 | Signing::Es384 => {
                let (key, curve) = match self.signing {
                    Signing::Es256 => (es256(), "P-256"),
                    _ => (es384(), "P-384"),
                };
                let point = &key.public_key().as_ref()[1..];
                let (x, y) = point.split_at(point.len() / 2);
                let (x, y) = (encoded(x), encoded(y));
                json!({"kty": "EC", "crv": curve, "x": x, "y": y, "kid": id, "use": "sig"})
            }
            Signing::EdDsa | Signing::Ed25519 => {
                let key = Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap();
                let x = encoded(key.public_key().as_ref());
                json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": id})
            }
            _ => {
                let public = ring::rsa::PublicKeyComponents::<Vec<u8>>::from(Self::rsa().public());
                let (n, e) = (encoded(&public.n), encoded(&public.e));
                json!({"kty": "RSA", "n": n, "e": e, "kid": id, "use": "sig"})
            }
        }
    }

    /// Signs with the present key.
    pub(crate) fn token(&self, mut claims: Value) -> String {
        (self.claims)(&mut claims);
        let alg = match self.signing {
            Signing::Rs256 => "RS256",
            Signing::Rs384 => "RS384",
            Signing::Rs512 => "RS512",
            Signing::Ps256 => "PS256",
            Signing::Ps384 => "PS384",
            Signing::Ps512 => "PS512",
            Signing::Es256 => "ES256",
            Signing::Es384 => "ES384",
            Signing::EdDsa => "EdDSA",
            Signing::Ed25519 => "Ed25519",
            Signing::None => "none",
            Signing::Hs256 => "HS256",
        };
        let mut header = json!({"alg": alg, "kid": self.key.0, "typ": "JWT"});
        (self.header)(&mut header);
        let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encoded(&header), encoded(&claims));
        let (random, message) = (SystemRandom::new(), signed.as_bytes());
        let with_rsa = |padding| {
            let key = Self::rsa();
            let mut signature = vec![0; key.public().modulus_len()];
            key.sign(padding, &random, message, &mut signature).unwrap();
            signature
        };
        let signature = match self.signing {
            Signing::Rs256 => with_rsa(&RSA_PKCS1_SHA256),
            Signing::Rs384 => with_rsa(&RSA_PKCS1_SHA384),
            Signing::Rs512 => with_rsa(&RSA_PKCS1_SHA512),
            Signing::Ps256 => with_rsa(&RSA_PSS_SHA256),
            Signing::Ps384 => with_rsa(&RSA_PSS_SHA384),
            Signing::Ps512 => with_rsa(&RSA_PSS_SHA512),
            Signing::Es256 => es256().sign(&random, message).unwrap().as_ref().to_vec(),
            Signing::Es384 => es384().sign(&random, message).unwrap().as_ref().to_vec(),
            Signing::EdDsa | Signing::Ed25519 => {
                let key = Ed25519KeyPair::from_seed_unchecked(&[self.key.1; 32]).unwrap();
                key.sign(message).as_ref().to_vec()
            }
            Signing::None => vec![],
            Signing::Hs256 => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, Self::rsa().public().as_ref());
                hmac::sign(&key, message).as_ref().to_vec()
            }
        };
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

fn es256() -> EcdsaKeyPair {
    static KEY: LazyLock<Vec<u8>> = LazyLock::new(|| new_key(&ECDSA_P256_SHA256_FIXED_SIGNING));
    let random = SystemRandom::new();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &KEY, &random).unwrap()
}

fn es384() -> EcdsaKeyPair {
    static KEY: LazyLock<Vec<u8>> = LazyLock::new(|| new_key(&ECDSA_P384_SHA384_FIXED_SIGNING));
    let random = SystemRandom::new();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &KEY, &random).unwrap()
}

fn new_key(algorithm: &'static EcdsaSigningAlgorithm) -> Vec<u8> {
    let key = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new());
    key.unwrap().as_ref().to_vec()
}
