//! Finds the animals of a page: those that are available or reserved, newest first.

use tokio::task;

use super::query::{Filter, Query};
use crate::{
    domain::{
        Limit, PetId,
        store_area::{FieldValue, StorePet, whole_key},
    },
    store::{Store, StoreError},
};

/// How many animals are looked at for a page with a filter. What follows is on the next page, so a page
/// can have fewer animals than its limit.
const LOOKED_AT: usize = 2_000;

/// The animals of a page, and the position after them if more may follow.
pub(super) async fn find(
    store: &dyn Store,
    query: &Query,
) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
    if query.filter.is_empty() {
        return store.list_on_offer(query.before, query.limit).await;
    }
    let (limit, mut before) = (usize::from(query.limit.get()), query.before);
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let most = Limit::new(Limit::MAX.into()).unwrap_or_default();
    loop {
        let (pets, next) = store.list_on_offer(before, most).await?;
        for pet in pets {
            (before, looked_at) = (Some(pet.id), looked_at + 1);
            if query.filter.passes(&pet) {
                if found.len() == limit {
                    let last = found.last().map(|pet: &StorePet| pet.id);
                    return Ok((found, last));
                }
                found.push(pet);
            }
        }
        if next.is_none() {
            return Ok((found, None));
        }
        if looked_at >= LOOKED_AT {
            return Ok((found, before));
        }
        // Other requests get a turn.
        task::yield_now().await;
    }
}

impl Filter {
    /// Whether an animal is one of those that are wanted. Values are compared without regard to case
    /// and accents.
    fn passes(&self, pet: &StorePet) -> bool {
        let has = |(name, wanted): (&String, &String)| match pet.fields.get(name) {
            Some(FieldValue::Text(text)) => text == wanted || whole_key(text) == whole_key(wanted),
            _ => false,
        };
        self.category_id.is_none_or(|wanted| wanted == pet.category_id)
            && self.fields.iter().all(has)
            && self.name.as_ref().is_none_or(|(_, prefix)| prefix.find(pet.name.as_str()).is_some())
    }
}
