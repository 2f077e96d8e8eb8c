//! Loads a page of the list of animals, and counts the animals of a list.

use petstore_domain::{
    Limit, PetId,
    store_area::{NamePrefix, PetQuery, StorePet},
};

use super::{
    animal_filters::Filters, exact_matches::find_exact_matches, list_order::load_sorted_page,
};
use crate::prelude::*;

/// The largest number of animals that the list counts.
pub(super) const MAX_COUNT: usize = 10_000;

/// The maximum number of animals that come first because of their name.
const MAX_NAMED: i64 = 6;

/// A page of the list of animals.
pub(super) struct ListPage {
    pub(super) pets: Vec<StorePet>,
    /// The position of the next page, if there is one.
    pub(super) next_position: Option<PetId>,
    /// The number of all animals of the list; `None` if counting them would be slow.
    pub(super) count: Option<usize>,
    /// The only animal of the list, if the text of the search is its number or its value of a unique field.
    pub(super) only_match: Option<PetId>,
    /// Whether the list has too many animals for the order that was asked for, so that the newest are first.
    pub(super) is_too_long_to_sort: bool,
}

/// Loads the page of the list that the filters ask for.
///
/// The first page begins with the animals that [`find_exact_matches`] finds, even if no filter matches them. If the text is
/// of everyday words, the animals that have it as their name follow.
pub(super) async fn load_page(
    desk: &Desk<'_>,
    filters: &Filters<'_>,
) -> Result<ListPage, StoreError> {
    let query = &filters.query;
    let is_sorted_here = filters.order.is_sorted_here(filters.fields) && !filters.is_impossible;
    if is_sorted_here && let Some(page) = sorted_page(desk, filters).await? {
        return Ok(page);
    }
    let (mut pets, next_position) = if filters.is_impossible {
        (Vec::new(), None)
    } else {
        desk.store().list_store_pets(query).await?
    };
    let mut count = count_pets(desk, query, pets.len(), next_position.is_some()).await?;

    let mut only_match = None;
    if query.after.is_none() {
        move_to_front(&mut pets, find_named(desk, filters).await?);
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

/// Loads the page in an order in which the store does not read animals. Returns `None` if the list is too long for it.
async fn sorted_page(
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

/// Finds the animals that have the text of a search by everyday words in their name, the first one last.
async fn find_named(desk: &Desk<'_>, filters: &Filters<'_>) -> Result<Vec<StorePet>, StoreError> {
    let name = NamePrefix::new(filters.get("q"));
    if filters.understood_words.is_empty() || name.is_none() {
        return Ok(Vec::new());
    }
    let query = PetQuery {
        name,
        phrase: None,
        limit: Limit::new(MAX_NAMED).unwrap_or_default(),
        ..filters.query.clone()
    };
    let (mut pets, _) = desk.store().list_store_pets(&query).await?;
    pets.reverse();
    Ok(pets)
}

/// Puts animals before the others of a list, the last one first.
fn move_to_front(pets: &mut Vec<StorePet>, first_pets: Vec<StorePet>) {
    for pet in first_pets {
        pets.retain(|listed_pet| listed_pet.id != pet.id);
        pets.insert(0, pet);
    }
}

/// Counts the animals that a query finds, up to one more than [`MAX_COUNT`]. Returns `None` if the store has no index
/// for the count and would read every animal.
///
/// `page_length` is the number of animals on the page that was read, and `has_next_page` says whether another follows.
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
    let query_of_all_pages = PetQuery {
        after: None,
        ..query.clone()
    };
    let count = desk
        .store()
        .count_on_offer(&query_of_all_pages, MAX_COUNT + 1)
        .await?;
    Ok(Some(count))
}
