//! Loads a page of the list of animals, and counts the animals of a list.
//!
//! After a search, the first page has the best matches at the top: an animal that the search text
//! identifies, such as a scanned microchip, and animals with this name.

use std::{collections::HashSet, mem};

use petstore_domain::{
    PetId,
    store_area::{NamePrefix, PetQuery, StorePet},
};

use super::{
    animal_filters::Filters,
    exact_matches::find_exact_matches,
    list_order::{SortedPage, load_sorted_page},
    parts::constant_limit,
};
use crate::prelude::*;

/// The number up to which the animals of a list are counted, because counting more would be slow.
/// The page of a longer list shows "more than" this number.
pub(super) const MAX_COUNT: usize = 10_000;

/// The maximum number of animals that [`find_name_matches`] returns.
const MAX_NAME_MATCHES: i64 = 6;

/// A page of the list of animals.
pub(super) struct ListPage {
    pub(super) pets: Vec<StorePet>,
    /// The position after which the next page begins; `None` on the last page.
    pub(super) next_position: Option<PetId>,
    /// The number of animals on all pages; `None` if counting them would be slow.
    pub(super) count: Option<usize>,
    /// The only animal of the list, if it is an exact match: the search text is its number or one
    /// of its unique values.
    pub(super) only_match: Option<PetId>,
    /// Whether the list is too long to sort. It then has the order of the store instead of the
    /// requested one.
    pub(super) is_too_long_to_sort: bool,
}

impl From<SortedPage> for ListPage {
    fn from(page: SortedPage) -> Self {
        Self {
            pets: page.pets,
            next_position: page.next_position,
            count: Some(page.count),
            only_match: None,
            is_too_long_to_sort: false,
        }
    }
}

/// Loads the page of the list that `filters` select.
///
/// The first page begins with the best matches of the search text. A list that is sorted in memory
/// keeps its order instead.
pub(super) async fn load_page(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<ListPage, StoreError> {
    let needs_sorting = filters.order.needs_sorting(filters.fields) && !filters.matches_nothing;
    if needs_sorting
        && let Some(sorted_page) =
            load_sorted_page(desk, &filters.query, filters.order, filters.fields).await?
    {
        return Ok(sorted_page.into());
    }
    let mut page = load_page_in_store_order(desk, filters).await?;
    // A list that needs sorting and comes this far is too long to sort.
    page.is_too_long_to_sort = needs_sorting;
    if filters.query.after.is_none() {
        add_best_matches(desk, filters, &mut page).await?;
    }
    Ok(page)
}

/// Loads the page of a list in an order that the store keeps: by the day of arrival or of addition,
/// newest or oldest first. A list that is too long to sort is in such an order, too.
async fn load_page_in_store_order(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<ListPage, StoreError> {
    let query = &filters.query;
    let (pets, next_position) = if filters.matches_nothing {
        (Vec::new(), None)
    } else {
        desk.store().list_store_pets(query).await?
    };
    let count = count_pets(desk, query, pets.len(), next_position.is_some()).await?;
    Ok(ListPage {
        pets,
        next_position,
        count,
        only_match: None,
        is_too_long_to_sort: false,
    })
}

/// Puts the best matches of the search text at the top of `page`, which must be the first page.
///
/// The exact matches come first, even if they do not match the other filters: a member who scans a
/// microchip wants to see that animal. The animals of [`find_name_matches`] follow. An animal that
/// the page already has moves to the top.
async fn add_best_matches(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
    page: &mut ListPage,
) -> Result<(), StoreError> {
    let mut exact_matches = find_exact_matches(desk, filters.fields, filters.search_text()).await?;
    let exact_match_count = exact_matches.len();
    // A match by a unique value, such as a microchip, comes before the match by the number of an
    // animal, which `find_exact_matches` returns first.
    exact_matches.reverse();
    let name_matches = find_name_matches(desk, filters).await?;
    let listed_pets = mem::take(&mut page.pets);
    // An animal that was found several times keeps its first place.
    let mut ids = HashSet::new();
    for pet in exact_matches
        .into_iter()
        .chain(name_matches)
        .chain(listed_pets)
    {
        let is_new = ids.insert(pet.id);
        if is_new {
            page.pets.push(pet);
        }
    }

    let has_all_pets = page.next_position.is_none();
    if has_all_pets {
        // The store counted only the animals that match all filters. An exact match may be another
        // one.
        page.count = Some(page.pets.len());
    }
    // An exact match is always on the page, so the only animal of the page is the exact match.
    if exact_match_count == 1
        && let [only_pet] = &page.pets[..]
    {
        page.only_match = Some(only_pet.id);
    }
    Ok(())
}

/// Finds the animals whose name begins with the search text, if the text has understood words:
/// everyday words that stand for a property, such as "black".
///
/// A search for "black" finds all black animals. An animal named "Black" would be somewhere among
/// them, although its name is the better match.
async fn find_name_matches(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<Vec<StorePet>, StoreError> {
    let name = NamePrefix::new(filters.search_text());
    if filters.understood_words.is_empty() || name.is_none() {
        return Ok(Vec::new());
    }
    let query = PetQuery {
        name,
        phrase: None,
        limit: constant_limit(MAX_NAME_MATCHES),
        ..filters.query.clone()
    };
    let (pets, _) = desk.store().list_store_pets(&query).await?;
    Ok(pets)
}

/// Counts the animals that a query finds on all pages, up to `MAX_COUNT + 1`. A count above
/// [`MAX_COUNT`] is shown as "more than" this number.
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
    // The store can count animals on offer, and animals that a search finds, but no withdrawn ones.
    let can_count = !query.is_withdrawn && (query.is_on_offer || query.is_search());
    if !can_count {
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
