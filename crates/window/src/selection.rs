//! Finds the animals of a page: those that are available or reserved, newest first.

use std::{collections::HashSet, slice};

use jiff::Timestamp;
use petstore_domain::{
    PetId, PetStatus,
    store_area::{Choices, FieldSet, PetQuery, Sought, StorePet},
};
use petstore_store::{StoreError, StoreReader};

use super::{
    labels::Labels,
    query::{Filter, Parameter, Query, offered},
};

/// How many animals of the list are counted.
pub(super) const COUNTED: usize = 10_000;

/// How many animals are counted of each kind, and of each list that is offered instead of an empty one.
pub(super) const FEW: usize = 1_000;

/// The number of the newest changes among which animals that came back are looked for.
const CHANGES: i64 = 1_000;

/// The maximum number of animals that came back, the newest first.
const MAX_CAME_BACK: usize = 24;

/// An animal that became available again.
pub(super) struct CameBack {
    /// The number of the change.
    pub(super) seq: i64,
    pub(super) at: Timestamp,
    pub(super) pet: StorePet,
}

/// The parameter of the species.
const SPECIES: &str = "field.species";

/// Of how many species or categories animals are counted.
const KINDS: usize = 24;

/// The animals of a page, and the position after them if more follow.
pub(super) async fn find(
    store: &StoreReader,
    query: &Query,
    fields: &FieldSet,
) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
    let Some(offers) = offers(&query.filter, fields) else {
        return Ok((Vec::new(), None));
    };
    let newest_first = !query.longest_first;
    let page = PetQuery {
        newest_first,
        limit: query.limit,
        after: query.after,
        ..offers
    };
    store.list_offers(&page).await
}

/// How many animals a filter finds, at most `most` and one more.
pub(super) async fn count(
    store: &StoreReader,
    filter: &Filter,
    fields: &FieldSet,
    most: usize,
) -> Result<usize, StoreError> {
    let counts = count_each(store, slice::from_ref(filter), fields, most).await?;
    Ok(counts.first().copied().unwrap_or_default())
}

/// How many animals each filter finds, at most `most` and one more. All counts are of one moment.
async fn count_each(
    store: &StoreReader,
    filters: &[Filter],
    fields: &FieldSet,
    most: usize,
) -> Result<Vec<usize>, StoreError> {
    let queries: Vec<_> = filters
        .iter()
        .map(|filter| offers(filter, fields))
        .collect();
    let possible = queries.iter().flatten().cloned().collect();
    let mut counts = store.count_offers(possible, most + 1).await?.into_iter();
    let mut all = Vec::with_capacity(filters.len());
    for query in queries {
        let count = if query.is_some() { counts.next() } else { None };
        all.push(count.unwrap_or_default());
    }
    Ok(all)
}

/// A species or a category, as the parameter that chooses it, and how many animals it has, at most
/// [`FEW`] and one more.
pub(super) type Kind = (Parameter, usize);

/// The species of the animals, or their categories if they have not two species. None if they have not
/// two categories, either.
pub(super) async fn kinds(store: &StoreReader, fields: &FieldSet) -> Result<Vec<Kind>, StoreError> {
    let choices = offered(SPECIES, fields).and_then(|field| field.choices.as_ref());
    let choices = choices.map(Choices::all).unwrap_or_default().iter();
    let species = choices
        .map(|choice| (SPECIES.to_owned(), choice.clone()))
        .take(KINDS)
        .collect();
    let labels = Labels::first(store).await?;
    let ids = labels.first.iter().map(|category| category.id);
    let categories = ids
        .map(|id| ("categoryId".to_owned(), id.to_string()))
        .take(KINDS)
        .collect();
    for parameters in [species, categories] as [Vec<Parameter>; 2] {
        let filters: Vec<_> = parameters
            .iter()
            .map(|parameter| Filter::default().with(parameter))
            .collect();
        let counts = count_each(store, &filters, fields, FEW).await?;
        let mut kinds: Vec<Kind> = parameters.into_iter().zip(counts).collect();
        kinds.retain(|(_, count)| *count > 0);
        if kinds.len() > 1 {
            return Ok(kinds);
        }
    }
    Ok(Vec::new())
}

/// Reads the animals that became available again and still are, each with the last change that did it.
pub(super) async fn read_came_back(store: &StoreReader) -> Result<Vec<CameBack>, StoreError> {
    let mut seen = HashSet::new();
    let mut returns = store.returns(CHANGES).await?;
    returns.retain(|newest| seen.insert(newest.pet));
    returns.truncate(MAX_CAME_BACK);
    let mut came_back = Vec::new();
    for change in returns {
        let Some(pet) = store.get_store_pet(change.pet).await? else {
            continue;
        };
        if pet.withdrawn.is_none() && pet.status != PetStatus::Sold {
            came_back.push(CameBack {
                seq: change.seq,
                at: change.at,
                pet,
            });
        }
    }
    Ok(came_back)
}

/// The animals on offer that pass a filter. `None` if none can have its values.
fn offers(filter: &Filter, fields: &FieldSet) -> Option<PetQuery> {
    let Filter {
        category_id,
        fields: values,
        age,
        name,
        phrase,
    } = filter;
    let values = values
        .iter()
        .map(|(name, value)| fields.searched(name, value).ok());
    Some(PetQuery {
        category_id: *category_id,
        name: name.as_ref().map(|(_, prefix)| prefix.clone()),
        phrase: phrase.clone(),
        values: values.collect::<Option<_>>()?,
        dates: age.as_ref().map(|(_, dates)| dates.clone()),
        on_offer: true,
        ..PetQuery::default()
    })
}

/// What animals are compared with that do not come from a search.
pub(super) struct Passing {
    wanted: Option<PetQuery>,
    sought: Option<Sought>,
}

impl Passing {
    pub(super) fn of(filter: &Filter, fields: &FieldSet) -> Self {
        let sought = filter.phrase.as_ref().map(|phrase| phrase.among(fields));
        Self {
            wanted: offers(filter, fields),
            sought,
        }
    }

    /// Whether an animal is one of those that are wanted.
    pub(super) fn has(&self, pet: &StorePet) -> bool {
        let Self { wanted, sought } = self;
        let has =
            |wanted: &PetQuery| wanted.has(pet.status, pet.category_id, &pet.name, &pet.fields);
        let is_sought = |sought: &Sought| sought.has(pet.id, &pet.name, &pet.fields);
        wanted.as_ref().is_some_and(has) && sought.as_ref().is_none_or(is_sought)
    }
}
