//! The list of the animals on offer in the order in which they arrived: the ones that have waited longest
//! for a home come first.

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use petstore_domain::{
    Limit, PetId,
    store_area::{FieldSet, PetQuery, StorePet},
};
use petstore_languages::look::Animal;
use petstore_store::{StoreError, StoreReader};

use super::query::Query;

/// The maximum length of a list that is sorted (in memory) by the date on which the animals arrived.
/// Longer lists are sorted by id, which is the order in which the animals were added.
const MAX_SORTED_BY_ARRIVAL: usize = 500;

/// Reads all animals that match a query, and sorts them by the date of their arrival, earliest
/// first. Returns `None` if there are more than [`MAX_SORTED_BY_ARRIVAL`].
pub(super) async fn find_sorted_by_arrival(
    store: &StoreReader,
    pet_query: &PetQuery,
    fields: &FieldSet,
) -> Result<Option<Vec<StorePet>>, StoreError> {
    let mut page_query = PetQuery {
        limit: Limit::new(Limit::MAX.into()).unwrap_or_default(),
        ..pet_query.clone()
    };
    let counts = store
        .count_offers(vec![page_query.clone()], MAX_SORTED_BY_ARRIVAL + 1)
        .await?;
    if counts.iter().any(|count| *count > MAX_SORTED_BY_ARRIVAL) {
        return Ok(None);
    }

    let mut pets = Vec::new();
    loop {
        let (page, next) = store.list_offers(&page_query).await?;
        pets.extend(page);
        page_query.after = next;
        if next.is_none() || pets.len() > MAX_SORTED_BY_ARRIVAL {
            break;
        }
    }
    // Without a date of arrival, the day on which an animal was added counts.
    pets.sort_by_cached_key(|pet| Animal::public(pet, fields).arrival(utc_day));
    Ok(Some(pets))
}

/// Cuts the page that a query selects out of the sorted list of all animals. Also returns the cursor
/// of the next page, if more animals follow.
///
/// An animal that was sold since the previous page keeps its place in the order, so the page still
/// begins after it. If the animal of the cursor has left the website, returns the first page.
pub(super) async fn page_after_cursor(
    store: &StoreReader,
    mut pets: Vec<StorePet>,
    query: &Query,
    fields: &FieldSet,
) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
    if let Some(after) = query.after
        && let Some(cursor_pet) = store.get_listed_pet(after).await?
        && cursor_pet.withdrawal.is_none()
    {
        let place = |pet: &StorePet| (Animal::public(pet, fields).arrival(utc_day), pet.id);
        let cursor_place = place(&cursor_pet);
        pets.retain(|pet| place(pet) > cursor_place);
    }
    Ok(query.limit.page(pets, |pet| pet.id))
}

/// Returns the UTC date of a time.
fn utc_day(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::UTC).date()
}
