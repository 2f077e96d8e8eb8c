//! The values of unique fields, and the keys by which a store detects two animals with the same
//! value.

use sha2::{Digest, Sha256};

use super::{
    FieldSet, FieldValue, FieldValues,
    compact_key::{MAX_KEY_BYTES, compact_key},
    name_key::identity_key,
};
use crate::{PetId, text::hex_digits};

/// The key of a value of a unique field. Values with the same key are considered equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UniqueKey {
    /// The name of the field.
    pub field: String,
    /// The [key](super::FieldKind::key) of the value, or a hash of the key if it is too long for an
    /// index.
    pub text: String,
}

/// An animal in the catalogue that has a unique value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UniqueValueOwner {
    /// The key of the value.
    pub key: UniqueKey,
    /// The animal.
    pub pet: PetId,
}

impl FieldSet {
    /// Returns the keys of all values that belong to unique fields.
    pub fn unique_keys(&self, values: &FieldValues) -> Vec<UniqueKey> {
        values
            .iter()
            .filter_map(|(name, value)| self.unique_key(name, value))
            .collect()
    }

    /// Returns the key of a value; `None` if its field is not unique.
    pub fn unique_key(&self, name: &str, value: &FieldValue) -> Option<UniqueKey> {
        let field = self.find(name)?;
        if !field.is_unique {
            return None;
        }
        let key = field.kind.key(field.is_unique, value)?;
        Some(UniqueKey {
            field: name.to_owned(),
            text: shorten_key(key),
        })
    }
}

/// Returns the key under which a store saves a text of a unique field. Migrations call this
/// function to recompute keys that earlier releases stored.
pub fn unique_text_key(text: &str) -> String {
    shorten_key(compact_key(identity_key(text)))
}

/// Returns the key, or `sha256:` followed by its hash if the key is too long for an index.
fn shorten_key(key: String) -> String {
    if key.len() <= MAX_KEY_BYTES {
        return key;
    }
    format!("sha256:{}", hex_digits(&Sha256::digest(&key)))
}
