//! The sets and the words of the search that an animal is in. See `search.rs` for their meaning.

use std::iter;

use petstore_domain::{
    PetStatus,
    store_area::{
        FieldKind, FieldSet, FieldValue, FieldValues, StorePet, is_date, name_keys, value_keys,
    },
};
use sha2::{Digest, Sha256};

use super::word_blocks::{NAME_FIELD, encode_date_word, encode_word};

/// The field that stands for categories and statuses in the hash of a set. No field has an empty
/// name.
const NO_FIELD: &str = "";

/// Returns the sets that a merged animal is in.
pub(crate) fn sets_of_pet<'p>(
    fields: &'p FieldSet,
    pet: &'p StorePet,
) -> impl Iterator<Item = i64> + 'p {
    let status_set = set_of_status(pet.status, pet.withdrawal.is_some());
    let other_sets = sets_of_category_and_values(fields, pet.category_id, &pet.fields);
    iter::once(status_set).chain(other_sets)
}

/// Returns the words that a merged animal has in `word_blocks`.
pub(crate) fn words_of_pet<'p>(
    fields: &'p FieldSet,
    pet: &'p StorePet,
) -> impl Iterator<Item = Vec<u8>> + 'p {
    words_of_name_and_values(fields, Some(pet.name.as_str()), &pet.fields)
}

/// Returns the words of a name, if there is one, and of values, including dates.
pub(super) fn words_of_name_and_values<'p>(
    fields: &'p FieldSet,
    name: Option<&'p str>,
    values: &'p FieldValues,
) -> impl Iterator<Item = Vec<u8>> + 'p {
    let name_words = name
        .into_iter()
        .flat_map(name_keys)
        .map(|key| encode_word(&key, NAME_FIELD));
    let value_words = values
        .iter()
        .flat_map(|(name, value)| words_of_value(fields, name, value));
    name_words.chain(value_words)
}

/// Returns the words of a value: the words of a text, or the single word of a date. Values of other
/// kinds have none.
fn words_of_value(fields: &FieldSet, name: &str, value: &FieldValue) -> Vec<Vec<u8>> {
    let (Some(field), FieldValue::Text(text)) = (fields.find(name), value) else {
        return Vec::new();
    };
    if field.kind.has_words() {
        let keys = value_keys(text);
        return keys.iter().map(|key| encode_word(key, name)).collect();
    }
    if field.kind == FieldKind::Date && is_date(text) {
        return vec![encode_date_word(name, text)];
    }
    Vec::new()
}

/// Returns the sets for a category and for values.
pub(super) fn sets_of_category_and_values<'p>(
    fields: &'p FieldSet,
    category: i64,
    values: &'p FieldValues,
) -> impl Iterator<Item = i64> + 'p {
    let value_sets = values.iter().flat_map(|(name, value)| {
        let keys = match fields.find(name) {
            Some(field) => field.kind.search_keys(field.is_unique, value),
            None => Vec::new(),
        };
        keys.into_iter().map(|key| set_of_value(name, &key))
    });
    iter::once(set_of_category(category)).chain(value_sets)
}

/// Returns the number of the set for a value of a field: the first 8 bytes of a hash.
pub(super) fn set_of_value(field: &str, key: &str) -> i64 {
    let hash = Sha256::digest([field.as_bytes(), key.as_bytes()].join(&0));
    i64::from_le_bytes(std::array::from_fn(|index| hash[index]))
}

/// Returns the number of the set for a category.
pub(super) fn set_of_category(id: i64) -> i64 {
    set_of_value(NO_FIELD, &format!("category {id}"))
}

/// Returns the number of the set for a status, either in the catalogue or withdrawn.
pub(super) fn set_of_status(status: PetStatus, is_withdrawn: bool) -> i64 {
    set_of_value(NO_FIELD, &format!("{status} {is_withdrawn}"))
}
