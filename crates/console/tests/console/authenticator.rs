//! An authenticator of the tests, with the browser around it: makes passkeys and signs, and says what it is told to say.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
        RsaKeyPair,
    },
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    browser::{Browser, Page},
    provider::Says,
};

/// Flags of the data of an authenticator.
pub(crate) const UP: u8 = 1;
pub(crate) const UV: u8 = 1 << 2;
pub(crate) const BE: u8 = 1 << 3;
pub(crate) const BS: u8 = 1 << 4;
pub(crate) const AT: u8 = 1 << 6;

/// A key of each algorithm.
pub(crate) enum Key {
    Es256(Vec<u8>),
    EdDsa,
    Rs256,
}

impl Key {
    pub(crate) fn es256() -> Self {
        let key =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new());
        Self::Es256(key.unwrap().as_ref().to_vec())
    }

    fn ecdsa(bytes: &[u8]) -> EcdsaKeyPair {
        let random = SystemRandom::new();
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, bytes, &random).unwrap()
    }

    fn ed25519() -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap()
    }

    pub(crate) fn rsa() -> RsaKeyPair {
        Says::rsa()
    }

    pub(crate) fn algorithm(&self) -> i32 {
        match self {
            Self::Es256(_) => -7,
            Self::EdDsa => -8,
            Self::Rs256 => -257,
        }
    }

    /// The public key, as browsers give it.
    pub(crate) fn public(&self) -> Vec<u8> {
        let hex = |digits: &str| data_encoding::HEXLOWER.decode(digits.as_bytes()).unwrap();
        match self {
            Self::Es256(key) => [
                &hex("3059301306072a8648ce3d020106082a8648ce3d030107034200")[..],
                Self::ecdsa(key).public_key().as_ref(),
            ]
            .concat(),
            Self::EdDsa => [
                &hex("302a300506032b6570032100")[..],
                Self::ed25519().public_key().as_ref(),
            ]
            .concat(),
            Self::Rs256 => {
                let key = Self::rsa();
                let key = key.public().as_ref();
                let length = |more: usize| u16::try_from(key.len() + more).unwrap().to_be_bytes();
                [
                    &hex("3082")[..],
                    &length(20),
                    &hex("300d06092a864886f70d01010105000382"),
                    &length(1),
                    &[0],
                    key,
                ]
                .concat()
            }
        }
    }

    /// The public key, as authenticators write it.
    fn cose(&self) -> Vec<u8> {
        match self {
            Self::Es256(key) => {
                let key = Self::ecdsa(key);
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                [
                    b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20",
                    x,
                    b"\x22\x58\x20",
                    y,
                ]
                .concat()
            }
            Self::EdDsa => [
                b"\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20",
                Self::ed25519().public_key().as_ref(),
            ]
            .concat(),
            Self::Rs256 => {
                let key = Self::rsa();
                // The modulus of 2,048 bits is behind the beginning of the key (RFC 8017).
                let modulus = &key.public().as_ref()[9..265];
                [
                    b"\xa4\x01\x03\x03\x39\x01\x00\x20\x59\x01\x00",
                    modulus,
                    b"\x21\x43\x01\x00\x01",
                ]
                .concat()
            }
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Es256(key) => Self::ecdsa(key)
                .sign(&random, message)
                .unwrap()
                .as_ref()
                .to_vec(),
            Self::EdDsa => Self::ed25519().sign(message).as_ref().to_vec(),
            Self::Rs256 => {
                let key = Self::rsa();
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .unwrap();
                signature
            }
        }
    }
}

/// Changes what is said.
type Change<T> = Box<dyn Fn(&mut T)>;

/// An authenticator with one passkey.
pub(crate) struct Authenticator {
    pub(crate) key: Key,
    pub(crate) id: Vec<u8>,
    pub(crate) user: Vec<u8>,
    /// `None` if it does not count.
    pub(crate) count: Option<u32>,
    pub(crate) flags: u8,
    pub(crate) host: &'static str,
    /// Changes what the browser says about the site.
    pub(crate) client: Change<Value>,
    /// Changes what the authenticator says, before it is signed.
    pub(crate) data: Change<Vec<u8>>,
}

/// The fields of a form.
pub(crate) type Fields = Vec<(&'static str, String)>;

pub(crate) fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn borrowed(fields: &Fields) -> Vec<(&str, &str)> {
    fields
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect()
}

impl Authenticator {
    pub(crate) fn new(id: &[u8]) -> Self {
        Self::with(id, Key::es256())
    }

    pub(crate) fn with(id: &[u8], key: Key) -> Self {
        Self {
            key,
            id: id.to_vec(),
            user: vec![],
            count: Some(0),
            flags: UP | UV,
            host: "localhost",
            client: Box::new(|_| {}),
            data: Box::new(|_| {}),
        }
    }

    fn says(&self, kind: &str, challenge: &str, origin: &str) -> Vec<u8> {
        let mut client =
            json!({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": false});
        (self.client)(&mut client);
        client.to_string().into_bytes()
    }

    fn checked(&mut self, flags: u8, more: &[u8]) -> Vec<u8> {
        self.count = self.count.map(|count| count + 1);
        let count = self.count.unwrap_or_default().to_be_bytes();
        let of = Sha256::digest(self.host);
        let mut data = [&of[..], &[self.flags | flags], &count, more].concat();
        (self.data)(&mut data);
        data
    }

    /// Makes the passkey for the member of this page.
    pub(crate) fn make(&mut self, page: &Page, challenge: &str, origin: &str) -> Fields {
        self.user = URL_SAFE_NO_PAD
            .decode(page.between("data-user=\"", "\""))
            .unwrap();
        let length = u16::try_from(self.id.len()).unwrap().to_be_bytes();
        // The number of the model, the identifier, and the key.
        let made = [&[0; 16], &length[..], &self.id, &self.key.cose()].concat();
        let (client, data) = (
            self.says("webauthn.create", challenge, origin),
            self.checked(AT, &made),
        );
        vec![
            ("id", encoded(&self.id)),
            ("client", encoded(&client)),
            ("data", encoded(&data)),
            ("key", encoded(&self.key.public())),
            ("algorithm", self.key.algorithm().to_string()),
        ]
    }

    /// Signs.
    pub(crate) fn sign(&mut self, challenge: &str, origin: &str) -> Fields {
        let (client, data) = (
            self.says("webauthn.get", challenge, origin),
            self.checked(0, &[]),
        );
        let signed = [&data[..], &Sha256::digest(&client)].concat();
        vec![
            ("id", encoded(&self.id)),
            ("user", encoded(&self.user)),
            ("client", encoded(&client)),
            ("data", encoded(&data)),
            ("signature", encoded(&self.key.sign(&signed))),
        ]
    }
}

impl Browser<'_> {
    /// What a passkey signs next.
    pub(crate) async fn challenge(&mut self) -> String {
        self.get("/sign-in/passkey").await.expect(200).text
    }

    /// Makes a passkey with this name, and returns the form that the script sends.
    pub(crate) async fn make_passkey(&mut self, of: &mut Authenticator, name: &str) -> Fields {
        let page = self.get("/account/passkeys").await.expect(200);
        let (challenge, origin) = (self.challenge().await, self.origin.clone());
        let mut form = of.make(&page, &challenge, &origin);
        form.extend([
            ("_key", page.key_before("data-passkey")),
            ("name", name.to_owned()),
        ]);
        form
    }

    pub(crate) async fn add_passkey(&mut self, of: &mut Authenticator, name: &str) -> Page {
        let form = self.make_passkey(of, name).await;
        self.post("/account/passkeys", &borrowed(&form)).await
    }

    /// Signs, and returns the fields that the script adds to a form.
    pub(crate) async fn sign(&mut self, of: &mut Authenticator) -> Fields {
        let (challenge, origin) = (self.challenge().await, self.origin.clone());
        of.sign(&challenge, &origin)
    }

    /// Signs in with a passkey, with a form that has these fields.
    pub(crate) async fn enter(&mut self, of: &mut Authenticator, form: &[(&str, &str)]) -> Page {
        let signed = self.sign(of).await;
        self.post("/sign-in/passkey", &[form, &borrowed(&signed)].concat())
            .await
    }
}
