//! The values that only one animal may have, and the keys by which a store finds two animals with the same value.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use sha2::{Digest, Sha256};

use super::{
    FieldSet, FieldValue, FieldValues,
    compact_key::{MAX_KEY_BYTES, compact_key},
    name_key::identity_key,
};
use crate::{PetId, text::hex_digits};

/// The key of a value that only one animal may have. Two values with the same key count as the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UniqueKey {
    /// The name of the field.
    pub field: String,
    /// The value, as [`super::FieldKind::key`] compares it, or its hash if that is long.
    pub text: String,
}

/// An animal in the catalogue that has a unique value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UniqueValueOwner {
    pub key: UniqueKey,
    pub pet: PetId,
}

impl FieldSet {
    /// Returns the keys of the values that no other animal may have.
    pub fn unique_keys(&self, values: &FieldValues) -> Vec<UniqueKey> {
        values
            .iter()
            .filter_map(|(name, value)| self.unique_key(name, value))
            .collect()
    }

    /// Returns the key of a value; `None` if other animals may also have the value.
    pub fn unique_key(&self, name: &str, value: &FieldValue) -> Option<UniqueKey> {
        let field = self.find(name)?;
        if !field.is_unique {
            return None;
        }
        let key = field.kind.key(true, value)?;
        Some(UniqueKey {
            field: name.to_owned(),
            text: shorten_key(key),
        })
    }
}

/// Returns the text of the key under which a store has a unique text. Migrations compute former keys with it once more.
pub fn unique_text_key(text: &str) -> String {
    shorten_key(compact_key(identity_key(text)))
}

/// Returns the key, or `sha256:` with its hash if the key is too long for an index.
fn shorten_key(key: String) -> String {
    if key.len() <= MAX_KEY_BYTES {
        return key;
    }
    format!("sha256:{}", hex_digits(&Sha256::digest(&key)))
}
