//! Selects the animals on offer with a filter: reads the pages of the list, counts the animals, and
//! matches single animals. "On offer" means available or reserved, and listed on the website.

use std::collections::HashSet;

use jiff::Timestamp;
use petstore_domain::{
    PetStatus,
    store_area::{
        Category, Choices, FieldSet, INTAKE, NamePrefix, PetQuery, PhraseMeaning, StorePet,
    },
};
use petstore_store::{StoreError, StoreReader};

use super::{
    arrival_order::{find_sorted_by_arrival, page_after_cursor},
    filter::{CATEGORY_PARAMETER, Filter, Parameter, filterable_field},
    labels::read_first_categories,
    offers::{PetPage, constant_limit, count_pets, read_pet_page},
    query::{Query, SortOrder},
};

/// The query parameter that filters by [`SPECIES_FIELD`](super::filter::SPECIES_FIELD).
const SPECIES_PARAMETER: &str = "field.species";

/// The maximum number of species or categories whose animals are counted.
const MAX_KINDS: usize = 24;

/// The highest number of results of a list that is counted exactly.
pub(super) const MAX_COUNT_OF_LIST: usize = 10_000;

/// The highest number of animals that is counted exactly for a kind of animals, and for a list that
/// is suggested in place of an empty one.
pub(super) const MAX_COUNT_OF_KIND: usize = 1_000;

/// The maximum number of name matches that are moved to the top of the first page.
const MAX_NAME_MATCHES: i64 = 6;

/// The number of the newest changes that are searched for animals that became available again. It
/// is limited because a store can have any number of changes.
const SEARCHED_CHANGES: i64 = 1_000;

/// The maximum number of animals in the feed that became available again.
const MAX_RETURNED_PETS: usize = 24;

/// An animal that became available again, for example because its order was cancelled.
pub(super) struct ReturnedPet {
    /// The number of the change that made it available, in the journal.
    pub(super) seq: i64,
    /// When that change was made.
    pub(super) changed_at: Timestamp,
    pub(super) pet: StorePet,
}

/// Reads one page of the list.
pub(super) async fn find_page(
    store: &StoreReader,
    query: &Query,
    fields: &FieldSet,
) -> Result<PetPage, StoreError> {
    let Some(mut pet_query) = offers_query(&query.filter, fields) else {
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
    let Some(mut pet_query) = offers_query(&filter.with_search(""), fields) else {
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
    match offers_query(filter, fields) {
        Some(pet_query) => count_pets(store, pet_query, max_count).await,
        None => Ok(0),
    }
}

/// Counts the animals on offer that match each filter, and returns the counts in the order of the
/// filters. All counts are of the same database snapshot. Each count stops at `max_count + 1`.
async fn count_matches_of_each(
    store: &StoreReader,
    filters: &[Filter],
    fields: &FieldSet,
    max_count: usize,
) -> Result<Vec<usize>, StoreError> {
    // A filter that no animal can match has no query, and its count is 0.
    let mut counts = vec![0; filters.len()];
    let mut queries = Vec::new();
    let mut query_positions = Vec::new();
    for (position, filter) in filters.iter().enumerate() {
        if let Some(query) = offers_query(filter, fields) {
            queries.push(query);
            query_positions.push(position);
        }
    }

    let query_counts = store.count_offers(queries, max_count + 1).await?;
    for (position, count) in query_positions.into_iter().zip(query_counts) {
        counts[position] = count;
    }
    Ok(counts)
}

/// A species or category, with the number of its animals.
pub(super) struct CountedKind {
    /// The query parameter that filters by it.
    pub(super) parameter: Parameter,
    /// The number of its animals on offer. `MAX_COUNT_OF_KIND + 1` means more than
    /// [`MAX_COUNT_OF_KIND`].
    pub(super) count: usize,
}

/// Counts the animals on offer by species or, if fewer than two species have animals, by category.
/// Returns an empty list if fewer than two categories have animals either, because then visitors
/// have nothing to choose from.
pub(super) async fn count_kinds(
    store: &StoreReader,
    fields: &FieldSet,
) -> Result<Vec<CountedKind>, StoreError> {
    let species = find_kinds_with_animals(store, fields, species_parameters(fields)).await?;
    if species.len() > 1 {
        return Ok(species);
    }

    let category_parameters = read_category_parameters(store).await?;
    let categories = find_kinds_with_animals(store, fields, category_parameters).await?;
    if categories.len() > 1 {
        return Ok(categories);
    }
    Ok(Vec::new())
}

/// Returns the query parameters for the first [`MAX_KINDS`] species that animals can have.
fn species_parameters(fields: &FieldSet) -> Vec<Parameter> {
    let field = filterable_field(SPECIES_PARAMETER, fields);
    let choices = field.and_then(|field| field.choices.as_ref());
    let species = choices.map(Choices::values).unwrap_or_default();
    species
        .iter()
        .take(MAX_KINDS)
        .map(|name| Parameter::new(SPECIES_PARAMETER, name.clone()))
        .collect()
}

/// Reads the first [`MAX_KINDS`] categories, and returns their query parameters.
async fn read_category_parameters(store: &StoreReader) -> Result<Vec<Parameter>, StoreError> {
    let categories = read_first_categories(store).await?;
    Ok(categories
        .iter()
        .take(MAX_KINDS)
        .map(|category| Parameter::new(CATEGORY_PARAMETER, category.id.to_string()))
        .collect())
}

/// Reads the first categories, and returns the ones with an animal on offer. The public must not
/// learn that the others exist.
pub(super) async fn read_public_categories(
    store: &StoreReader,
) -> Result<Vec<Category>, StoreError> {
    let categories = read_first_categories(store).await?;
    let queries: Vec<_> = categories
        .iter()
        .map(|category| category_query(category.id))
        .collect();
    // Counting stops at the first animal of each category.
    let counts = store.count_offers(queries, 1).await?;

    let mut public_categories = Vec::new();
    for (category, count) in categories.into_iter().zip(counts) {
        let has_animals = count > 0;
        if has_animals {
            public_categories.push(category);
        }
    }
    Ok(public_categories)
}

/// Whether a category has an animal on offer.
pub(super) async fn category_has_animals(
    store: &StoreReader,
    category_id: i64,
) -> Result<bool, StoreError> {
    // Counting stops at the first animal.
    let count = count_pets(store, category_query(category_id), 0).await?;
    Ok(count > 0)
}

/// Returns the store query for the animals on offer in a category.
fn category_query(id: i64) -> PetQuery {
    PetQuery {
        category_id: Some(id),
        is_on_offer: true,
        ..PetQuery::default()
    }
}

/// Counts the animals on offer that match each parameter. Leaves out parameters without matches.
async fn find_kinds_with_animals(
    store: &StoreReader,
    fields: &FieldSet,
    parameters: Vec<Parameter>,
) -> Result<Vec<CountedKind>, StoreError> {
    let filters: Vec<_> = parameters
        .iter()
        .map(|parameter| Filter::default().with_kind(parameter))
        .collect();
    let counts = count_matches_of_each(store, &filters, fields, MAX_COUNT_OF_KIND).await?;

    let mut kinds = Vec::new();
    for (parameter, count) in parameters.into_iter().zip(counts) {
        if count > 0 {
            kinds.push(CountedKind { parameter, count });
        }
    }
    Ok(kinds)
}

/// Reads the animals that recently became available again and are still on offer, the latest one
/// first. Each animal appears once, with the latest change that made it available.
pub(super) async fn read_returned_pets(
    store: &StoreReader,
) -> Result<Vec<ReturnedPet>, StoreError> {
    let mut seen_ids = HashSet::new();
    let mut newest_returns = store.list_returns(SEARCHED_CHANGES).await?;
    // `insert` returns `true` only for the first change of an animal, which is the latest one.
    newest_returns.retain(|change| seen_ids.insert(change.pet));
    newest_returns.truncate(MAX_RETURNED_PETS);

    let mut returned_pets = Vec::new();
    for change in newest_returns {
        let Some(pet) = store.get_listed_pet(change.pet).await? else {
            continue;
        };
        if pet.withdrawal.is_none() && pet.status != PetStatus::Sold {
            returned_pets.push(ReturnedPet {
                seq: change.seq,
                changed_at: change.at,
                pet,
            });
        }
    }
    Ok(returned_pets)
}

/// Converts a filter into a store query for the animals on offer. Returns `None` if no animal can
/// match, because a value is not valid for its field.
fn offers_query(filter: &Filter, fields: &FieldSet) -> Option<PetQuery> {
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
        let phrase = filter.phrase.as_ref().map(|phrase| phrase.meaning(fields));
        Self {
            pet_query: offers_query(filter, fields),
            phrase,
        }
    }

    /// Whether an animal is on offer and matches the filter.
    pub(super) fn matches(&self, pet: &StorePet) -> bool {
        let Some(pet_query) = &self.pet_query else {
            return false;
        };
        if !pet_query.matches(pet.status, pet.category_id, &pet.name, &pet.fields) {
            return false;
        }
        match &self.phrase {
            Some(phrase) => phrase.matches(pet.id, pet.category_id, &pet.name, &pet.fields),
            None => true,
        }
    }
}
