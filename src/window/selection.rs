//! Finds the animals of a page: those that are available or reserved, newest first.

use super::{
    labels::Labels,
    query::{Filter, Parameter, Query, offered},
};
use crate::{
    domain::{
        PetId,
        store_area::{Choices, FieldSet, PetQuery, Sought, StorePet},
    },
    store::{Store, StoreError},
};

/// How many animals of the list are counted.
pub(super) const COUNTED: usize = 10_000;

/// How many animals are counted of each kind, and of each list that is offered instead of an empty one.
pub(super) const FEW: usize = 1_000;

/// The parameter of the species.
const SPECIES: &str = "field.species";

/// Of how many species or categories animals are counted.
const KINDS: usize = 24;

/// The animals of a page, and the position after them if more follow.
pub(super) async fn find(
    store: &dyn Store,
    query: &Query,
    fields: &FieldSet,
) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
    if query.filter.is_empty() {
        return store.list_on_offer(query.after, query.limit, query.longest_first).await;
    }
    let Some(wanted) = wanted(&query.filter, fields) else { return Ok((Vec::new(), None)) };
    let newest_first = !query.longest_first;
    let page = PetQuery { newest_first, limit: query.limit, after: query.after, ..wanted };
    store.list_store_pets(&page).await
}

/// How many animals a filter finds, at most `most` and one more.
pub(super) async fn count(
    store: &dyn Store,
    filter: &Filter,
    fields: &FieldSet,
    most: usize,
) -> Result<usize, StoreError> {
    match wanted(filter, fields) {
        Some(wanted) => store.count_on_offer(&wanted, most + 1).await,
        None => Ok(0),
    }
}

/// A species or a category, as the parameter that chooses it, and how many animals it has, at most
/// [`FEW`] and one more.
pub(super) type Kind = (Parameter, usize);

/// The species of the animals, or their categories if they have not two species. None if they have not
/// two categories, either.
pub(super) async fn kinds(store: &dyn Store, fields: &FieldSet) -> Result<Vec<Kind>, StoreError> {
    let choices = offered(SPECIES, fields).and_then(|field| field.choices.as_ref());
    let choices = choices.map(Choices::all).unwrap_or_default().iter();
    let species = choices.map(|choice| (SPECIES.to_owned(), choice.clone())).take(KINDS).collect();
    let labels = Labels::first(store).await?;
    let ids = labels.first.iter().map(|category| category.id);
    let categories = ids.map(|id| ("categoryId".to_owned(), id.to_string())).take(KINDS).collect();
    for all in [species, categories] as [Vec<Parameter>; 2] {
        let mut kinds: Vec<Kind> = Vec::new();
        for one in all {
            let count = count(store, &Filter::default().with(&one), fields, FEW).await?;
            kinds.extend((count > 0).then_some((one, count)));
        }
        if kinds.len() > 1 {
            return Ok(kinds);
        }
    }
    Ok(Vec::new())
}

/// The animals that a filter wants. `None` if none can have its values.
fn wanted(filter: &Filter, fields: &FieldSet) -> Option<PetQuery> {
    let Filter { category_id, fields: values, age, name, phrase } = filter;
    let values = values.iter().map(|(name, value)| fields.searched(name, value).ok());
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
        Self { wanted: wanted(filter, fields), sought }
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
