//! Selects the animals on offer with a filter: reads the pages of the list, counts the animals, and
//! matches single animals. "On offer" means available or reserved, and listed on the website.

use std::collections::HashSet;

use petstore_domain::store_area::{
    FieldSet, INTAKE, NamePrefix, PetQuery, PhraseMeaning, StorePet,
};
use petstore_store::{StoreError, StoreReader};

use super::{
    arrival_order::{find_sorted_by_arrival, page_after_cursor},
    filter::Filter,
    offers::{PetPage, constant_limit, count_pets, read_pet_page},
    query::{Query, SortOrder},
};

/// The highest number of results of a list that is counted exactly.
pub(super) const MAX_COUNT_OF_LIST: usize = 10_000;

/// The maximum number of name matches that are moved to the top of the first page.
const MAX_NAME_MATCHES: i64 = 6;

/// Reads one page of the list.
pub(super) async fn find_page(
    store: &StoreReader,
    query: &Query,
    fields: &FieldSet,
) -> Result<PetPage, StoreError> {
    let Some(mut pet_query) = build_offers_query(&query.filter, fields) else {
        return Ok(PetPage::default());
    };
    // Without public dates of arrival, the order of the ids stands for the order of arrival: it is
    // the order in which the animals were added.
    let has_arrival_dates = fields.find(INTAKE).is_some_and(|field| field.is_public);
    if query.order == SortOrder::LongestWaitingFirst && has_arrival_dates {
        let sorted_pets = find_sorted_by_arrival(store, &pet_query, fields).await?;
        if let Some(pets) = sorted_pets {
            return page_after_cursor(store, pets, query, fields).await;
        }
    }

    pet_query.newest_first = query.order == SortOrder::NewestFirst;
    pet_query.limit = query.limit;
    pet_query.after = query.after;
    read_pet_page(store, &pet_query).await
}

/// Reads one page of the list like [`find_page`], with name matches at the top of the first page.
///
/// A name match is an animal whose name begins with a search text that was recognized as everyday
/// words. For example, a visitor who searches for `kitten` may mean young cats, or an animal with the
/// name Kitten. A name match can appear again on a later page.
pub(super) async fn find_page_with_name_matches(
    store: &StoreReader,
    query: &Query,
    fields: &FieldSet,
) -> Result<PetPage, StoreError> {
    let mut page = find_page(store, query, fields).await?;
    if query.after.is_none() {
        let name_matches = find_name_matches(store, query, fields).await?;
        let matched_ids: HashSet<_> = name_matches.iter().map(|pet| pet.id).collect();
        page.pets.retain(|pet| !matched_ids.contains(&pet.id));
        // Insert them before all other animals.
        page.pets.splice(0..0, name_matches);
    }
    Ok(page)
}

/// Finds the first animals whose name begins with the search text, in the sort order of the query.
/// Returns no animals unless the text was recognized as everyday words.
async fn find_name_matches(
    store: &StoreReader,
    query: &Query,
    fields: &FieldSet,
) -> Result<Vec<StorePet>, StoreError> {
    let filter = &query.filter;
    if filter.understood_words.is_empty() {
        return Ok(Vec::new());
    }
    let Some(phrase) = &filter.phrase else {
        return Ok(Vec::new());
    };
    let Some(name_prefix) = NamePrefix::new(phrase.as_str()) else {
        return Ok(Vec::new());
    };
    let Some(mut pet_query) = build_offers_query(&filter.with_search(""), fields) else {
        return Ok(Vec::new());
    };

    pet_query.name = Some(name_prefix);
    pet_query.newest_first = query.order == SortOrder::NewestFirst;
    pet_query.limit = constant_limit(MAX_NAME_MATCHES);
    let page = read_pet_page(store, &pet_query).await?;
    Ok(page.pets)
}

/// Counts the animals on offer that match a filter. Stops counting at `max_count + 1`.
pub(super) async fn count_matches(
    store: &StoreReader,
    filter: &Filter,
    fields: &FieldSet,
    max_count: usize,
) -> Result<usize, StoreError> {
    match build_offers_query(filter, fields) {
        Some(pet_query) => count_pets(store, pet_query, max_count).await,
        None => Ok(0),
    }
}

/// Converts a filter into a store query for the animals on offer. Returns `None` if no animal can
/// match, because a value is not valid for its field.
pub(super) fn build_offers_query(filter: &Filter, fields: &FieldSet) -> Option<PetQuery> {
    let values = filter
        .fields
        .iter()
        .map(|(name, value)| fields.parse_filter(name, value).ok())
        .collect::<Option<_>>()?;
    Some(PetQuery {
        category_id: filter.category_id,
        name: filter.name.as_ref().map(|name| name.prefix.clone()),
        phrase: filter.phrase.clone(),
        values,
        dates: filter.age.as_ref().map(|age| age.birth_range.clone()),
        is_on_offer: true,
        ..PetQuery::default()
    })
}

/// A filter that is evaluated in memory, for animals that were read without it.
pub(super) struct FilterMatcher {
    /// The criteria without the search text. `None` if no animal can match.
    pet_query: Option<PetQuery>,
    /// The interpreted search text, if the filter has one.
    phrase: Option<PhraseMeaning>,
}

impl FilterMatcher {
    /// Prepares a filter for animals with these fields.
    pub(super) fn new(filter: &Filter, fields: &FieldSet) -> Self {
        let phrase = filter
            .phrase
            .as_ref()
            .map(|phrase| phrase.interpret(fields));
        Self {
            pet_query: build_offers_query(filter, fields),
            phrase,
        }
    }

    /// Whether an animal is on offer and matches the filter.
    pub(super) fn matches(&self, pet: &StorePet) -> bool {
        let Some(pet_query) = &self.pet_query else {
            return false;
        };
        if !pet_query.matches_values(pet.status, pet.category_id, &pet.name, &pet.fields) {
            return false;
        }
        match &self.phrase {
            Some(phrase) => phrase.matches(pet.id, pet.category_id, &pet.name, &pet.fields),
            None => true,
        }
    }
}
