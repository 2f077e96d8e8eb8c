//! Finds the animals of a page: those that are available or reserved, newest first.

use tokio::task;

use super::query::{Filter, Query};
use crate::{
    domain::{
        Limit, PetId,
        store_area::{FieldSet, FieldValue, PetPosition, PetQuery, StorePet, whole_key},
    },
    store::{Store, StoreError},
};

/// How many animals are looked at for a page with a filter. What follows is on the next page, so a page
/// can have fewer animals than its limit.
const LOOKED_AT: usize = 2_000;

/// How many animals are counted.
pub(super) const COUNTED: usize = 10_000;

/// The animals of a page, and the position after them if more may follow.
pub(super) async fn find(
    store: &dyn Store,
    query: &Query,
    fields: &FieldSet,
) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
    if query.filter.is_empty() {
        return store.list_on_offer(query.after, query.limit, query.longest_first).await;
    }
    let mut by_values = by_values(query, fields);
    by_values.limit = if query.filter.is_indexed() { query.limit } else { most() };
    let (limit, mut after) = (usize::from(query.limit.get()), query.after);
    let (mut found, mut looked_at) = (Vec::new(), 0);
    loop {
        by_values.after = after.map(|id| PetPosition { key: None, id });
        let (pets, next) = some(store, &mut by_values).await?;
        looked_at += pets.len();
        for pet in pets {
            if query.filter.passes(&pet) {
                if found.len() == limit {
                    let last = found.last().map(|pet: &StorePet| pet.id);
                    return Ok((found, last));
                }
                found.push(pet);
            }
        }
        after = next;
        if after.is_none() || looked_at >= LOOKED_AT || found.len() == limit {
            return Ok((found, after));
        }
        // Other requests get a turn.
        task::yield_now().await;
    }
}

fn by_values(query: &Query, fields: &FieldSet) -> PetQuery {
    let values = query.filter.fields.iter();
    let values = values.filter_map(|(name, value)| fields.searched(name, value).ok());
    PetQuery {
        category_id: query.filter.category_id,
        values: values.take(PetQuery::MOST_VALUES).collect(),
        on_offer: true,
        oldest_first: query.longest_first,
        ..PetQuery::default()
    }
}

/// How many animals the filter of a query finds, at most [`COUNTED`] and one more. `None` if it has no index for that.
pub(super) async fn count(
    store: &dyn Store,
    query: &Query,
    fields: &FieldSet,
) -> Result<Option<usize>, StoreError> {
    if !query.filter.is_empty() && !query.filter.is_indexed() {
        return Ok(None);
    }
    let by_values = by_values(query, fields);
    if by_values.values.len() < query.filter.fields.len() {
        return Ok(None);
    }
    match store.count_on_offer(&by_values, COUNTED + 1).await {
        Ok(count) => Ok(Some(count)),
        Err(StoreError::Overloaded) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The next animals that may be wanted, and the position after them if more follow. While the search by values is not
/// ready, and without values, they are all animals.
async fn some(
    store: &dyn Store,
    query: &mut PetQuery,
) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
    if !query.values.is_empty() {
        match store.list_store_pets(query).await {
            Err(StoreError::Overloaded) => query.values.clear(),
            found => return found.map(|(pets, next)| (pets, next.map(|next| next.id))),
        }
    }
    let after = query.after.as_ref().map(|after| after.id);
    store.list_on_offer(after, most(), query.oldest_first).await
}

fn most() -> Limit {
    Limit::new(Limit::MAX.into()).unwrap_or_default()
}

impl Filter {
    /// Whether the search by values finds only animals that pass.
    fn is_indexed(&self) -> bool {
        self.name.is_none() && (1..=PetQuery::MOST_VALUES).contains(&self.fields.len())
    }

    /// Whether an animal is one of those that are wanted. Values are compared without regard to case
    /// and accents.
    pub(super) fn passes(&self, pet: &StorePet) -> bool {
        let has = |(name, wanted): (&String, &String)| match pet.fields.get(name) {
            Some(FieldValue::Text(text)) => text == wanted || whole_key(text) == whole_key(wanted),
            _ => false,
        };
        self.category_id.is_none_or(|wanted| wanted == pet.category_id)
            && self.fields.iter().all(has)
            && self.name.as_ref().is_none_or(|(_, prefix)| prefix.find(pet.name.as_str()).is_some())
    }
}
