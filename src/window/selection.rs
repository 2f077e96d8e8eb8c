//! Finds the animals of a page: those that are available or reserved, newest first.

use super::query::{Filter, Query};
use crate::{
    domain::{
        PetId,
        store_area::{FieldSet, FieldValue, PetQuery, StorePet, whole_key},
    },
    store::{Store, StoreError},
};

/// How many animals are counted.
pub(super) const COUNTED: usize = 10_000;

/// The animals of a page, and the position after them if more follow.
pub(super) async fn find(
    store: &dyn Store,
    query: &Query,
    fields: &FieldSet,
) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
    if query.filter.is_empty() {
        return store.list_on_offer(query.after, query.limit, query.longest_first).await;
    }
    match wanted(query, fields) {
        Some(wanted) => store.list_store_pets(&wanted).await,
        None => Ok((Vec::new(), None)),
    }
}

/// How many animals the filter of a query finds, at most [`COUNTED`] and one more.
pub(super) async fn count(
    store: &dyn Store,
    query: &Query,
    fields: &FieldSet,
) -> Result<usize, StoreError> {
    match wanted(query, fields) {
        Some(wanted) => {
            let from_first = PetQuery { after: None, ..wanted };
            store.count_on_offer(&from_first, COUNTED + 1).await
        }
        None => Ok(0),
    }
}

/// The animals that are wanted. `None` if none can have the values.
fn wanted(query: &Query, fields: &FieldSet) -> Option<PetQuery> {
    let Filter { category_id, fields: values, name } = &query.filter;
    let values = values.iter().map(|(name, value)| fields.searched(name, value).ok());
    Some(PetQuery {
        category_id: *category_id,
        name: name.as_ref().map(|(_, prefix)| prefix.clone()),
        values: values.collect::<Option<_>>()?,
        on_offer: true,
        newest_first: !query.longest_first,
        limit: query.limit,
        after: query.after,
        ..PetQuery::default()
    })
}

impl Filter {
    /// Whether an animal is one of those that are wanted. Values are compared without regard to case
    /// and accents.
    pub(super) fn passes(&self, pet: &StorePet) -> bool {
        let has = |(name, wanted): (&String, &String)| match pet.fields.get(name) {
            Some(FieldValue::Text(text)) => text == wanted || whole_key(text) == whole_key(wanted),
            _ => false,
        };
        self.category_id.is_none_or(|wanted| wanted == pet.category_id)
            && self.fields.iter().all(has)
            && self.name.as_ref().is_none_or(|(_, prefix)| prefix.finds(pet.name.as_str()))
    }
}
