//! The search for animals by their names and values together.

use super::App;
use crate::{
    domain::{
        Limit,
        store_area::{PetPosition, PetQuery, StorePet},
    },
    store::StoreError,
};

/// How many pages of names a search reads before it shows what it has found.
const PAGES: usize = 20;

impl App {
    /// A page of animals. With a name and values that many animals have, it may have fewer animals than
    /// the limit although more follow, because a search ends after 2,000 names.
    pub(crate) async fn search_pets(
        &self,
        query: &PetQuery,
    ) -> Result<(Vec<StorePet>, Option<PetPosition>), StoreError> {
        let Some(prefix) = query.name.as_ref().filter(|_| !query.values.is_empty()) else {
            return self.store.list_store_pets(query).await;
        };
        let limit = Limit::new(Limit::MAX.into()).unwrap_or_default();
        let position = |pet: &StorePet| {
            let key = prefix.find(pet.name.as_str());
            key.map(|key| PetPosition { key: Some(key), id: pet.id })
        };
        let by_values = PetQuery { name: None, after: None, limit, ..query.clone() };
        let (pets, more) = self.store.list_store_pets(&by_values).await?;
        let (mut found, mut unread) = (Vec::new(), None);
        if more.is_none() {
            let behind = |at: &PetPosition| query.after.as_ref().is_none_or(|after| at > after);
            let of_name = |pet| position(&pet).filter(behind).map(|at| (at, pet));
            found.extend(pets.into_iter().filter_map(of_name));
            found.sort_by(|(at, _), (other, _)| at.cmp(other));
        } else {
            let mut by_name = PetQuery { values: Vec::new(), limit, ..query.clone() };
            for _ in 0..PAGES {
                let (pets, next) = self.store.list_store_pets(&by_name).await?;
                let has_values = pets
                    .into_iter()
                    .filter(|pet| query.has(pet.status, pet.category_id, &pet.fields));
                found.extend(has_values.filter_map(|pet| position(&pet).map(|at| (at, pet))));
                unread.clone_from(&next);
                by_name.after = next;
                if by_name.after.is_none() || found.len() > usize::from(query.limit.get()) {
                    break;
                }
            }
        }
        let (found, next) = query.limit.page(found, |(at, _)| at.clone());
        Ok((found.into_iter().map(|(_, pet)| pet).collect(), next.or(unread)))
    }
}
