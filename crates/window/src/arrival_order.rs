//! The list of the animals on offer in the order of their arrival: the animals that have waited
//! longest for a home come first.

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use petstore_domain::{
    PetId,
    store_area::{FieldSet, PetQuery, StorePet},
};
use petstore_languages::look::Animal;
use petstore_store::{StoreError, StoreReader};

use super::{
    offers::{PetPage, count_pets, max_limit, read_pet_page},
    query::Query,
};

/// The maximum length of a list that is sorted by the date on which the animals arrived. The limit
/// exists because the whole list is read into memory to sort it. Longer lists are sorted by id,
/// which is the order in which the animals were added.
const MAX_SORTED_BY_ARRIVAL: usize = 500;

/// The place of an animal in the order of arrival.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ArrivalPlace {
    /// The day of the arrival. Animals without one come first.
    arrived_on: Option<Date>,
    /// Decides between animals that arrived on the same day.
    id: PetId,
}

impl ArrivalPlace {
    /// Returns the place of an animal. For an animal without a date of arrival, the day on which it
    /// was added counts.
    fn new(pet: &StorePet, fields: &FieldSet) -> Self {
        Self {
            arrived_on: Animal::public(pet, fields).arrival(utc_day),
            id: pet.id,
        }
    }
}

/// Reads all animals that match a query, and sorts them by the date of their arrival, earliest
/// first. Returns `None` if a count finds more than [`MAX_SORTED_BY_ARRIVAL`] animals.
pub(super) async fn find_sorted_by_arrival(
    store: &StoreReader,
    pet_query: &PetQuery,
    fields: &FieldSet,
) -> Result<Option<Vec<StorePet>>, StoreError> {
    let mut page_query = PetQuery {
        limit: max_limit(),
        ..pet_query.clone()
    };
    let count = count_pets(store, page_query.clone(), MAX_SORTED_BY_ARRIVAL).await?;
    if count > MAX_SORTED_BY_ARRIVAL {
        return Ok(None);
    }

    let mut pets = Vec::new();
    // Animals that are added after the count can make the list longer than the maximum. Then it ends
    // with the page that exceeds the maximum.
    while pets.len() <= MAX_SORTED_BY_ARRIVAL {
        let page = read_pet_page(store, &page_query).await?;
        pets.extend(page.pets);
        if page.next.is_none() {
            break;
        }
        page_query.after = page.next;
    }
    pets.sort_by_cached_key(|pet| ArrivalPlace::new(pet, fields));
    Ok(Some(pets))
}

/// Cuts the page that a query selects out of the sorted list of all animals.
///
/// An animal that was sold since the previous page keeps its place in the order, so the page still
/// begins after it. If the animal of the cursor has left the website, returns the first page.
pub(super) async fn page_after_cursor(
    store: &StoreReader,
    mut pets: Vec<StorePet>,
    query: &Query,
    fields: &FieldSet,
) -> Result<PetPage, StoreError> {
    let cursor_pet = match query.after {
        Some(after) => store.get_listed_pet(after).await?,
        None => None,
    };
    if let Some(cursor_pet) = cursor_pet
        && cursor_pet.withdrawal.is_none()
    {
        let cursor_place = ArrivalPlace::new(&cursor_pet, fields);
        pets.retain(|pet| ArrivalPlace::new(pet, fields) > cursor_place);
    }
    let (pets, next) = query.limit.page(pets, |pet| pet.id);
    Ok(PetPage { pets, next })
}

/// Returns the UTC date of a time.
fn utc_day(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::UTC).date()
}
