//! The keys of the provider of the tests, and the tokens that it signs with them.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use petstore_domain::Clock;
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
        RSA_PSS_SHA256, RsaKeyPair,
    },
};
use serde_json::{Value, json};

use super::provider::Says;

/// With which key a token is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signing {
    Rs256,
    Ps256,
    Es256,
    EdDsa,
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
            Signing::Es256 => {
                let key = ecdsa();
                let point = &key.public_key().as_ref()[1..];
                let (x, y) = (encoded(&point[..32]), encoded(&point[32..]));
                json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": id, "use": "sig"})
            }
            Signing::EdDsa => {
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
            Signing::Ps256 => "PS256",
            Signing::Es256 => "ES256",
            Signing::EdDsa => "EdDSA",
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
            Signing::Ps256 => with_rsa(&RSA_PSS_SHA256),
            Signing::Es256 => ecdsa().sign(&random, message).unwrap().as_ref().to_vec(),
            Signing::EdDsa => {
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

fn ecdsa() -> EcdsaKeyPair {
    static KEY: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        key.unwrap().as_ref().to_vec()
    });
    let random = SystemRandom::new();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &KEY, &random).unwrap()
}
