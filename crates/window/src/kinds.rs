//! The kinds of animals: species, or categories. This module counts the animals of each kind for the
//! shortcuts above the list, and finds out which categories the public may see.

use petstore_domain::store_area::{Category, Choices, FieldSet, PetQuery};
use petstore_store::{StoreError, StoreReader};

use super::{
    filter::{CATEGORY_PARAMETER, Filter, Parameter, find_filterable_field},
    labels::read_first_categories,
    offers::count_pets,
    selection::build_offers_query,
};

/// The query parameter that filters by [`SPECIES_FIELD`](super::filter::SPECIES_FIELD).
const SPECIES_PARAMETER: &str = "field.species";

/// The maximum number of species or categories whose animals are counted.
const MAX_KINDS: usize = 24;

/// The highest number of animals that is counted exactly for a kind of animals, and for a list that
/// is suggested in place of an empty one.
pub(super) const MAX_COUNT_OF_KIND: usize = 1_000;

/// A species or category, with the number of its animals.
pub(super) struct CountedKind {
    /// The query parameter that filters by it.
    pub(super) parameter: Parameter,
    /// The number of its animals on offer. `MAX_COUNT_OF_KIND + 1` means more than
    /// [`MAX_COUNT_OF_KIND`].
    pub(super) count: usize,
}

/// Counts the animals on offer by species. If fewer than two species have animals, counts them by
/// category instead. If fewer than two categories have animals, returns an empty list, because
/// visitors have nothing to choose from.
pub(super) async fn count_kinds(
    store: &StoreReader,
    fields: &FieldSet,
) -> Result<Vec<CountedKind>, StoreError> {
    let species = find_kinds_with_animals(store, fields, list_species_parameters(fields)).await?;
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
fn list_species_parameters(fields: &FieldSet) -> Vec<Parameter> {
    let field = find_filterable_field(SPECIES_PARAMETER, fields);
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
        if let Some(query) = build_offers_query(filter, fields) {
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

/// Reads the first categories, and returns the ones with an animal on offer. The public must not
/// learn that the others exist.
pub(super) async fn read_public_categories(
    store: &StoreReader,
) -> Result<Vec<Category>, StoreError> {
    let categories = read_first_categories(store).await?;
    let queries: Vec<_> = categories
        .iter()
        .map(|category| make_category_query(category.id))
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
    // Counting stops one after the maximum, which is the first animal.
    let max_count = 0;
    let count = count_pets(store, make_category_query(category_id), max_count).await?;
    Ok(count > 0)
}

/// Returns the store query for the animals on offer in a category.
fn make_category_query(id: i64) -> PetQuery {
    PetQuery {
        category_id: Some(id),
        is_on_offer: true,
        ..PetQuery::default()
    }
}
