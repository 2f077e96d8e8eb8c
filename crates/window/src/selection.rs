//! Finds the animals of a page: those that are available or reserved, newest first.

use std::{collections::HashSet, slice};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use petstore_domain::{
    Limit, PetId, PetStatus,
    store_area::{
        Category, Choices, FieldSet, INTAKE, NamePrefix, PetQuery, PhraseMeaning, StorePet,
    },
};
use petstore_languages::look::Animal;
use petstore_store::{StoreError, StoreReader};

use super::{
    filter::{Filter, Parameter, offered_field},
    labels::read_first_categories,
    query::Query,
};

/// The largest number of animals of the list that is counted exactly.
pub(super) const MAX_COUNT_OF_LIST: usize = 10_000;

/// The largest number of animals that is counted exactly for a kind, and for a list that is offered instead of an
/// empty one.
pub(super) const MAX_COUNT_OF_KIND: usize = 1_000;

/// The maximum number of animals that come first because of their name.
const MAX_NAMED: i64 = 6;

/// The number of the newest changes that are searched for animals that came back.
const SEARCHED_CHANGES: i64 = 1_000;

/// The maximum number of animals that came back, the newest first.
const MAX_CAME_BACK: usize = 24;

/// An animal that became available again.
pub(super) struct CameBack {
    /// The number of the change that made it available.
    pub(super) seq: i64,
    /// The time of this change.
    pub(super) changed_at: Timestamp,
    pub(super) pet: StorePet,
}

/// The largest number of animals that are sorted by the day on which they came.
const MAX_SORTED: usize = 500;

/// The name of the parameter of the species.
const SPECIES: &str = "field.species";

/// The number of species or categories whose animals are counted.
const MAX_KINDS: usize = 24;

/// Reads the animals of a page of the list, and the position after them if more animals follow.
pub(super) async fn find(
    store: &StoreReader,
    query: &Query,
    fields: &FieldSet,
) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
    let Some(mut offers) = offers(&query.filter, fields) else {
        return Ok((Vec::new(), None));
    };
    if query.longest_first
        && fields.find(INTAKE).is_some_and(|field| field.is_public)
        && let Some(pets) = find_sorted_by_arrival(store, &offers, fields).await?
    {
        return Ok(page_of(pets, query));
    }
    offers.newest_first = !query.longest_first;
    offers.limit = query.limit;
    offers.after = query.after;
    store.list_offers(&offers).await
}

/// Reads all animals of a query, and sorts them by the day on which they came. Returns `None` if there are more than
/// [`MAX_SORTED`].
async fn find_sorted_by_arrival(
    store: &StoreReader,
    offers: &PetQuery,
    fields: &FieldSet,
) -> Result<Option<Vec<StorePet>>, StoreError> {
    let mut page_query = PetQuery {
        limit: Limit::new(Limit::MAX.into()).unwrap_or_default(),
        ..offers.clone()
    };
    let counts = store
        .count_offers(vec![page_query.clone()], MAX_SORTED + 1)
        .await?;
    if counts.iter().any(|count| *count > MAX_SORTED) {
        return Ok(None);
    }

    let mut pets = Vec::new();
    loop {
        let (page, next) = store.list_offers(&page_query).await?;
        pets.extend(page);
        page_query.after = next;
        if next.is_none() || pets.len() > MAX_SORTED {
            break;
        }
    }
    pets.sort_by_cached_key(|pet| Animal::public(pet, fields).arrival(utc_day));
    Ok(Some(pets))
}

/// Returns the page of sorted animals that a query asks for, and the position after the page if more follow.
fn page_of(mut pets: Vec<StorePet>, query: &Query) -> (Vec<StorePet>, Option<PetId>) {
    let last_shown = pets.iter().position(|pet| Some(pet.id) == query.after);
    let pets = pets.split_off(last_shown.map_or(0, |index| index + 1));
    query.limit.page(pets, |pet| pet.id)
}

/// Returns the day of a time in UTC.
fn utc_day(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::UTC).date()
}

/// Reads the animals of a page of the list like [`find`]. The first page of a search by everyday words begins with the
/// animals that have the text in their name, which may be on a later page, too.
pub(super) async fn find_for_people(
    store: &StoreReader,
    query: &Query,
    fields: &FieldSet,
) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
    let (mut pets, next) = find(store, query, fields).await?;
    if query.after.is_none() {
        for pet in find_named(store, query, fields).await? {
            pets.retain(|listed_pet| listed_pet.id != pet.id);
            pets.insert(0, pet);
        }
    }
    Ok((pets, next))
}

/// Finds the animals that have the text of a search by everyday words in their name, the first one last.
async fn find_named(
    store: &StoreReader,
    query: &Query,
    fields: &FieldSet,
) -> Result<Vec<StorePet>, StoreError> {
    let filter = &query.filter;
    let name = filter
        .phrase
        .as_ref()
        .and_then(|phrase| NamePrefix::new(phrase.as_str()));
    if filter.understood_words.is_empty() || name.is_none() {
        return Ok(Vec::new());
    }
    let Some(mut offers) = offers(&filter.with_search(""), fields) else {
        return Ok(Vec::new());
    };
    offers.name = name;
    offers.newest_first = !query.longest_first;
    offers.limit = Limit::new(MAX_NAMED).unwrap_or_default();
    let (mut pets, _) = store.list_offers(&offers).await?;
    pets.reverse();
    Ok(pets)
}

/// Counts the animals that a filter finds. Stops counting at `max_count + 1`.
pub(super) async fn count(
    store: &StoreReader,
    filter: &Filter,
    fields: &FieldSet,
    max_count: usize,
) -> Result<usize, StoreError> {
    let counts = count_each(store, slice::from_ref(filter), fields, max_count).await?;
    Ok(counts.first().copied().unwrap_or_default())
}

/// Counts the animals that each filter finds, at one moment. Stops counting at `max_count + 1`.
async fn count_each(
    store: &StoreReader,
    filters: &[Filter],
    fields: &FieldSet,
    max_count: usize,
) -> Result<Vec<usize>, StoreError> {
    let queries: Vec<_> = filters
        .iter()
        .map(|filter| offers(filter, fields))
        .collect();
    let possible_queries = queries.iter().flatten().cloned().collect();
    let possible_counts = store.count_offers(possible_queries, max_count + 1).await?;

    let mut possible_counts = possible_counts.into_iter();
    let mut counts = Vec::with_capacity(filters.len());
    for query in queries {
        let count = if query.is_some() {
            possible_counts.next()
        } else {
            None
        };
        counts.push(count.unwrap_or_default());
    }
    Ok(counts)
}

/// A species or a category.
pub(super) struct CountedKind {
    /// The parameter that chooses it.
    pub(super) parameter: Parameter,
    /// The number of its animals, at most [`MAX_COUNT_OF_KIND`] and one more.
    pub(super) count: usize,
}

/// Counts the animals of each species, or of each category if they do not have two species. Returns nothing if they
/// do not have two categories, either.
pub(super) async fn count_kinds(
    store: &StoreReader,
    fields: &FieldSet,
) -> Result<Vec<CountedKind>, StoreError> {
    let species = species_parameters(fields);
    let species = kinds_with_animals(store, fields, species).await?;
    if species.len() > 1 {
        return Ok(species);
    }

    let categories = category_parameters(store).await?;
    let categories = kinds_with_animals(store, fields, categories).await?;
    if categories.len() > 1 {
        return Ok(categories);
    }
    Ok(Vec::new())
}

/// Returns the parameters of the first species that animals can have.
fn species_parameters(fields: &FieldSet) -> Vec<Parameter> {
    let field = offered_field(SPECIES, fields);
    let choices = field.and_then(|field| field.choices.as_ref());
    choices
        .map(Choices::values)
        .unwrap_or_default()
        .iter()
        .take(MAX_KINDS)
        .map(|species| Parameter::new(SPECIES, species.clone()))
        .collect()
}

/// Returns the parameters of the first categories.
async fn category_parameters(store: &StoreReader) -> Result<Vec<Parameter>, StoreError> {
    let categories = read_first_categories(store).await?;
    Ok(categories
        .iter()
        .take(MAX_KINDS)
        .map(|category| Parameter::new("categoryId", category.id.to_string()))
        .collect())
}

/// Returns the first categories that have an animal on offer. The public learns of no others.
pub(super) async fn read_public_categories(
    store: &StoreReader,
) -> Result<Vec<Category>, StoreError> {
    let mut categories = read_first_categories(store).await?;
    let queries = categories.iter().map(|category| of_category(category.id));
    let counts = store.count_offers(queries.collect(), 1).await?;
    let mut counts = counts.into_iter();
    categories.retain(|_| counts.next().is_some_and(|count| count > 0));
    Ok(categories)
}

/// Whether a category has an animal on offer.
pub(super) async fn has_animal(store: &StoreReader, category_id: i64) -> Result<bool, StoreError> {
    let counts = store
        .count_offers(vec![of_category(category_id)], 1)
        .await?;
    Ok(counts.iter().any(|count| *count > 0))
}

/// Returns the query for the animals of a category that are on offer.
fn of_category(id: i64) -> PetQuery {
    PetQuery {
        category_id: Some(id),
        is_on_offer: true,
        ..PetQuery::default()
    }
}

/// Counts the animals of the kind that each parameter chooses. Leaves out the kinds without animals.
async fn kinds_with_animals(
    store: &StoreReader,
    fields: &FieldSet,
    parameters: Vec<Parameter>,
) -> Result<Vec<CountedKind>, StoreError> {
    let filters: Vec<_> = parameters
        .iter()
        .map(|parameter| Filter::default().with_parameter(parameter))
        .collect();
    let counts = count_each(store, &filters, fields, MAX_COUNT_OF_KIND).await?;

    let mut kinds = Vec::new();
    for (parameter, count) in parameters.into_iter().zip(counts) {
        if count > 0 {
            kinds.push(CountedKind { parameter, count });
        }
    }
    Ok(kinds)
}

/// Reads the animals on the website that became available again and still are, each with the last change that did it.
pub(super) async fn read_came_back(store: &StoreReader) -> Result<Vec<CameBack>, StoreError> {
    let mut ids = HashSet::new();
    let mut newest_returns = store.returns(SEARCHED_CHANGES).await?;
    newest_returns.retain(|change| ids.insert(change.pet));
    newest_returns.truncate(MAX_CAME_BACK);

    let mut came_back = Vec::new();
    for change in newest_returns {
        let Some(pet) = store.get_listed_pet(change.pet).await? else {
            continue;
        };
        if pet.withdrawal.is_none() && pet.status != PetStatus::Sold {
            came_back.push(CameBack {
                seq: change.seq,
                changed_at: change.at,
                pet,
            });
        }
    }
    Ok(came_back)
}

/// Returns the query for the animals on offer that pass a filter. Returns `None` if no animal can have the values of
/// the filter.
fn offers(filter: &Filter, fields: &FieldSet) -> Option<PetQuery> {
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
        dates: filter.age.as_ref().map(|age| age.births.clone()),
        is_on_offer: true,
        ..PetQuery::default()
    })
}

/// A filter, ready to be compared with animals that do not come from a search.
pub(super) struct FilterMatcher {
    /// `None` if no animal can have the values of the filter.
    offers: Option<PetQuery>,
    phrase: Option<PhraseMeaning>,
}

impl FilterMatcher {
    /// Prepares a filter to be compared with animals that have these fields.
    pub(super) fn new(filter: &Filter, fields: &FieldSet) -> Self {
        let phrase = filter.phrase.as_ref().map(|phrase| phrase.meaning(fields));
        Self {
            offers: offers(filter, fields),
            phrase,
        }
    }

    /// Whether an animal is on offer and passes the filter.
    pub(super) fn matches(&self, pet: &StorePet) -> bool {
        let Some(offers) = &self.offers else {
            return false;
        };
        if !offers.matches(pet.status, pet.category_id, &pet.name, &pet.fields) {
            return false;
        }
        match &self.phrase {
            Some(phrase) => phrase.matches(pet.id, pet.category_id, &pet.name, &pet.fields),
            None => true,
        }
    }
}
