//! Finds animals by a text that identifies them, such as their number or a scanned microchip.

use std::collections::HashSet;

use petstore_domain::{
    PetId,
    store_area::{FieldDefinition, FieldSet, PetQuery, RequestedValue, StorePet},
};

use crate::prelude::*;

/// Finds the animals whose number or whose value of a unique field is exactly `text`, including
/// withdrawn animals.
pub(super) async fn find_exact_matches(
    desk: &Desk<'_>,
    fields: &FieldSet,
    text: &str,
) -> Result<Vec<StorePet>, StoreError> {
    let mut matching_pets = Vec::new();
    // The search goes on after a match, because the same text can also identify another animal.
    if let Some(id) = forms::parse_id(text).and_then(PetId::new) {
        matching_pets.extend(desk.store().get_store_pet(id).await?);
    }
    for field in fields.all() {
        if field.is_unique {
            matching_pets.extend(find_by_unique_value(desk, fields, field, text).await?);
        }
    }
    // An animal can match in several ways, such as by its number and by a value.
    let mut ids = HashSet::new();
    matching_pets.retain(|pet| ids.insert(pet.id));
    Ok(matching_pets)
}

/// Finds the animals with this value of a unique field.
///
/// The store has an index from unique values to the animals that own them, which also finds other
/// spellings of a value. A withdrawn animal gives up its values and is not in the index, so
/// withdrawn animals are found by a query.
async fn find_by_unique_value(
    desk: &Desk<'_>,
    fields: &FieldSet,
    field: &FieldDefinition,
    text: &str,
) -> Result<Vec<StorePet>, StoreError> {
    let mut matching_pets = Vec::new();
    if let Ok(value_filter) = fields.parse_filter(field.name.as_str(), text) {
        let query = PetQuery {
            values: vec![value_filter],
            is_withdrawn: true,
            ..PetQuery::default()
        };
        let (withdrawn_pets, _) = desk.store().list_store_pets(&query).await?;
        matching_pets.extend(withdrawn_pets);
    }
    if let RequestedValue::Set(value) = field.parse_cell(text)
        && let Some(key) = fields.unique_key(field.name.as_str(), &value)
    {
        for owner_id in desk.store().owners(key).await? {
            matching_pets.extend(desk.store().get_store_pet(owner_id).await?);
        }
    }
    Ok(matching_pets)
}
