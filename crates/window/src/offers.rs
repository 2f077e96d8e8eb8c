//! Reads and counts animals on offer: animals that are available or reserved, and listed on the
//! website. The store returns tuples and lists of counts. The functions here give them names.

use petstore_domain::{
    Limit, PetId,
    store_area::{PetQuery, StorePet},
};
use petstore_store::{StoreError, StoreReader};

/// One page of animals on offer.
#[derive(Default)]
pub(super) struct PetPage {
    pub(super) pets: Vec<StorePet>,
    /// The cursor of the next page: the id of the last animal on this page. It is `None` if no more
    /// animals follow.
    pub(super) next: Option<PetId>,
}

/// Returns the limit for this number of animals or categories, which must be a constant from 1 to
/// [`Limit::MAX`].
pub(super) fn constant_limit(count: i64) -> Limit {
    // Each of these numbers is valid, so the default limit is never used.
    Limit::new(count).unwrap_or_default()
}

/// Returns the limit for the longest page that the store reads at once.
pub(super) fn max_limit() -> Limit {
    constant_limit(Limit::MAX.into())
}

/// Reads the page of animals that a store query selects.
pub(super) async fn read_pet_page(
    store: &StoreReader,
    query: &PetQuery,
) -> Result<PetPage, StoreError> {
    let (pets, next) = store.list_offers(query).await?;
    Ok(PetPage { pets, next })
}

/// Counts the animals that match a store query. Stops counting at `max_count + 1`.
pub(super) async fn count_pets(
    store: &StoreReader,
    query: PetQuery,
    max_count: usize,
) -> Result<usize, StoreError> {
    // The store returns one count for each query.
    let counts = store.count_offers(vec![query], max_count + 1).await?;
    Ok(counts.first().copied().unwrap_or_default())
}
