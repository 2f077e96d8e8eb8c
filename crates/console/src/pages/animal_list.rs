//! Loads a page of the list of animals, with the exact matches of a search at the top, and counts
//! the animals of a list.

use petstore_domain::{
    Limit, PetId,
    store_area::{NamePrefix, PetQuery, StorePet},
};

use super::{
    animal_filters::Filters, exact_matches::find_exact_matches, list_order::load_sorted_page,
};
use crate::prelude::*;

/// The number of animals up to which a list is counted. A longer list shows "more than" this
/// number.
pub(super) const MAX_COUNT: usize = 10_000;

/// How many animals with a matching name come first in a search by everyday words.
const MAX_NAME_MATCHES: i64 = 6;

/// A page of the list of animals.
pub(super) struct ListPage {
    pub(super) pets: Vec<StorePet>,
    /// The cursor of the next page; `None` on the last page.
    pub(super) next_position: Option<PetId>,
    /// The number of animals on all pages; `None` if counting them would be slow.
    pub(super) count: Option<usize>,
    /// The only animal of the list, if it is an exact match: the search text is its number or one
    /// of its unique values.
    pub(super) only_match: Option<PetId>,
    /// Whether the list is too long for the requested order, so that it has the order of the store
    /// instead.
    pub(super) is_too_long_to_sort: bool,
}

/// Loads the page of the list that `filters` select.
///
/// The first page begins with the results of [`find_exact_matches`], even if they do not match the
/// other filters, because a member who scans a microchip looks for that animal. If the search text
/// has everyday words, the animals whose names begin with the text follow. A page that is sorted
/// here has neither at its top.
pub(super) async fn load_page(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<ListPage, StoreError> {
    let query = &filters.query;
    let is_sorted_here = filters.order.needs_sorting(filters.fields) && !filters.matches_nothing;
    if is_sorted_here && let Some(page) = load_sorted_list_page(desk, filters).await? {
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
        is_too_long_to_sort: is_sorted_here,
    })
}

/// Loads the page in an order that the store does not support, by sorting all animals of the list
/// here.
///
/// Returns `None` if the list is too long for that.
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

/// Finds the animals whose name begins with the search text, if the text has everyday words.
///
/// Everyday words search for properties. So for the text "black", an animal named "Black" would be
/// one of many black animals, although its name is the better match. The result is in reverse
/// order, as [`move_to_front`] expects it.
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

/// Moves animals to the front of a list, one after the other, so the last of `first_pets` becomes
/// the first of the list.
fn move_to_front(pets: &mut Vec<StorePet>, first_pets: Vec<StorePet>) {
    for pet in first_pets {
        pets.retain(|listed_pet| listed_pet.id != pet.id);
        pets.insert(0, pet);
    }
}

/// Counts the animals that a query finds on all pages, up to `MAX_COUNT + 1`.
///
/// `page_length` and `has_next_page` describe the page that was already read. Returns `None` if the
/// store has no index for the count and would have to read every animal.
pub(super) async fn count_pets(
    desk: &Desk<'_>,
    query: &PetQuery,
    page_length: usize,
    has_next_page: bool,
) -> Result<Option<usize>, StoreError> {
    if query.after.is_none() && !has_next_page {
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
