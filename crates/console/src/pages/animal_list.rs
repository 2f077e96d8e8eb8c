//! Loads a page of the list of animals, with the best matches of a search at the top, and counts the
//! animals of a list.

use petstore_domain::{
    Limit, PetId,
    store_area::{NamePrefix, PetQuery, StorePet},
};

use super::{
    animal_filters::Filters, exact_matches::find_exact_matches, list_order::load_sorted_page,
};
use crate::prelude::*;

/// The number up to which the animals of a list are counted. The page of a longer list shows "more
/// than" this number.
pub(super) const MAX_COUNT: usize = 10_000;

/// The maximum number of animals that come first because their name matches a search by everyday
/// words.
const MAX_NAME_MATCHES: i64 = 6;

/// A page of the list of animals.
pub(super) struct ListPage {
    pub(super) pets: Vec<StorePet>,
    /// The cursor of the next page; `None` on the last page.
    pub(super) next_position: Option<PetId>,
    /// The number of animals on all pages; `None` if counting them would be slow.
    pub(super) count: Option<usize>,
    /// The only animal of the list, if the search text is its number or one of its unique values.
    pub(super) only_match: Option<PetId>,
    /// Whether the list is too long to sort. It then has the order of the store instead of the
    /// requested one.
    pub(super) is_too_long_to_sort: bool,
}

/// Loads the page of the list that `filters` select.
///
/// The first page begins with the exact matches of the search text, even if they do not match the
/// other filters: a member who scans a microchip wants to see that animal. The animals of
/// [`find_name_matches`] follow. A list that is sorted in memory has neither.
pub(super) async fn load_page(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<ListPage, StoreError> {
    let query = &filters.query;
    let needs_sorting = filters.order.needs_sorting(filters.fields) && !filters.matches_nothing;
    if needs_sorting && let Some(page) = load_sorted_list_page(desk, filters).await? {
        return Ok(page);
    }
    let (mut pets, next_position) = if filters.matches_nothing {
        (Vec::new(), None)
    } else {
        desk.store().list_store_pets(query).await?
    };
    let mut count = count_pets(desk, query, pets.len(), next_position.is_some()).await?;

    let mut only_match = None;
    if query.after.is_none() {
        move_to_front(&mut pets, find_name_matches(desk, filters).await?);
        let exact_matches = find_exact_matches(desk, filters.fields, filters.get("q")).await?;
        move_to_front(&mut pets, exact_matches.clone());
        // All animals are on this page. The store's count misses exact matches that a filter excludes.
        if next_position.is_none() {
            count = Some(pets.len());
        }
        if exact_matches.len() == 1 && pets.len() == 1 {
            only_match = Some(pets[0].id);
        }
    }
    Ok(ListPage {
        pets,
        next_position,
        count,
        only_match,
        // A list that needs sorting was returned above, unless it was too long.
        is_too_long_to_sort: needs_sorting,
    })
}

/// Loads the page of a list in an order that the store does not support. All animals of the list are
/// loaded and sorted in memory.
///
/// Returns `None` if the list is too long to sort.
async fn load_sorted_list_page(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<Option<ListPage>, StoreError> {
    let page = load_sorted_page(desk, &filters.query, filters.order, filters.fields).await?;
    Ok(page.map(|page| ListPage {
        pets: page.pets,
        next_position: page.next_position,
        count: Some(page.count),
        only_match: None,
        is_too_long_to_sort: false,
    }))
}

/// Finds the animals whose name begins with the search text, if the text has everyday words, such as
/// "black".
///
/// Such a search finds all black animals. An animal named "Black" would be somewhere among them,
/// although its name is the better match. The result is in reverse order, for [`move_to_front`].
async fn find_name_matches(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<Vec<StorePet>, StoreError> {
    let name = NamePrefix::new(filters.get("q"));
    if filters.understood_words.is_empty() || name.is_none() {
        return Ok(Vec::new());
    }
    let query = PetQuery {
        name,
        phrase: None,
        limit: Limit::new(MAX_NAME_MATCHES).unwrap_or_default(),
        ..filters.query.clone()
    };
    let (mut pets, _) = desk.store().list_store_pets(&query).await?;
    pets.reverse();
    Ok(pets)
}

/// Moves animals to the front of a list, or adds them there, one after the other. So the last of
/// `first_pets` becomes the first of the list.
fn move_to_front(pets: &mut Vec<StorePet>, first_pets: Vec<StorePet>) {
    for pet in first_pets {
        pets.retain(|listed_pet| listed_pet.id != pet.id);
        pets.insert(0, pet);
    }
}

/// Counts the animals that a query finds on all pages, up to `MAX_COUNT + 1`. The page shows such
/// a count as "more than" [`MAX_COUNT`].
///
/// `page_length` and `has_next_page` describe the page that was already read. Returns `None` if the
/// store has no index for the count and would have to read every animal.
pub(super) async fn count_pets(
    desk: &Desk<'_>,
    query: &PetQuery,
    page_length: usize,
    has_next_page: bool,
) -> Result<Option<usize>, StoreError> {
    let is_whole_list = query.after.is_none() && !has_next_page;
    if is_whole_list {
        return Ok(Some(page_length));
    }
    if query.is_withdrawn || !(query.is_on_offer || query.is_search()) {
        return Ok(None);
    }
    let count_query = PetQuery {
        after: None,
        ..query.clone()
    };
    let count = desk
        .store()
        .count_on_offer(&count_query, MAX_COUNT + 1)
        .await?;
    Ok(Some(count))
}
