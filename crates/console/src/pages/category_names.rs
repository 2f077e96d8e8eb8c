//! The names of categories that a page needs. A store may have any number of categories, so no page reads all of them.
//! Only a form in which a member of the staff typed a name looks through them.

use std::collections::{BTreeSet, HashSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use petstore_domain::{
    Limit,
    store_area::{Category, PetQuery},
    text,
};
use petstore_store::StoreError;

use crate::{desk::Desk, forms};

/// The number of categories that a form proposes. The last page of categories can add some.
pub(super) const MAX_PROPOSED_CATEGORIES: usize = 500;

/// The number of reads of a page that are in progress at the same time.
pub(super) const MAX_CONCURRENT_READS: usize = 8;

/// The first categories of a store in the order of their numbers.
struct FirstCategories {
    categories: Vec<Category>,
    /// The number of the last category here, if the store has more categories.
    last_id: Option<i64>,
}

/// Returns the limit of the largest page of a list.
pub(super) fn largest_page_limit() -> Limit {
    Limit::new(Limit::MAX.into()).unwrap_or_default()
}

/// Returns the limit of a page with one row.
fn single_row_limit() -> Limit {
    Limit::new(1).unwrap_or_default()
}

impl Desk<'_> {
    /// Returns the category with this number, if it has a name.
    pub(super) async fn load_category(&self, id: i64) -> Result<Option<Category>, StoreError> {
        let after = id.checked_sub(1);
        let (page, _) = self
            .store()
            .list_categories(after, single_row_limit())
            .await?;
        Ok(page.into_iter().find(|category| category.id == id))
    }

    /// Returns the categories with these numbers. A number without a name is left out.
    pub(super) async fn load_categories(
        &self,
        ids: BTreeSet<i64>,
    ) -> Result<Vec<Category>, StoreError> {
        let categories: Vec<Option<Category>> = stream::iter(ids)
            .map(|id| self.load_category(id))
            .buffered(MAX_CONCURRENT_READS)
            .try_collect()
            .await?;
        Ok(categories.into_iter().flatten().collect())
    }

    /// Returns the categories that a form proposes, and the categories with the numbers `ids`, which it shows.
    pub(super) async fn load_category_choices(
        &self,
        mut ids: BTreeSet<i64>,
    ) -> Result<Vec<Category>, StoreError> {
        let mut choices = self.load_first_categories().await?;
        if let Some(last_id) = choices.last_id {
            ids.retain(|&id| id > last_id);
            choices.categories.extend(self.load_categories(ids).await?);
        }
        Ok(choices.categories)
    }

    /// Returns the categories that a form proposes, and all categories that `names` has by their name or their number.
    pub(super) async fn load_categories_by_names(
        &self,
        names: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Vec<Category>, StoreError> {
        let names: HashSet<_> = names
            .into_iter()
            .map(|name| text::comparison_key(name.as_ref()))
            .collect();
        let FirstCategories {
            mut categories,
            last_id: mut after,
        } = self.load_first_categories().await?;

        while after.is_some() {
            let (page, next) = self
                .store()
                .list_categories(after, largest_page_limit())
                .await?;
            for category in page {
                let mut category_names = forms::names_of(&category).into_iter();
                if category_names.any(|name| names.contains(&text::comparison_key(&name))) {
                    categories.push(category);
                }
            }
            after = next;
        }
        Ok(categories)
    }

    /// Reads pages of categories until a form has enough proposals.
    async fn load_first_categories(&self) -> Result<FirstCategories, StoreError> {
        let mut categories = Vec::new();
        let mut after = None;
        loop {
            let (page, next) = self
                .store()
                .list_categories(after, largest_page_limit())
                .await?;
            categories.extend(page);
            after = next;
            if after.is_none() || categories.len() >= MAX_PROPOSED_CATEGORIES {
                return Ok(FirstCategories {
                    categories,
                    last_id: after,
                });
            }
        }
    }

    /// Finds a number above `last_used` that no category and no animal has. Returns `None` if it finds none.
    ///
    /// The steps double until a number is free, and then halve until the number before it is used.
    pub(super) async fn find_free_category_number(
        &self,
        last_used: i64,
    ) -> Result<Option<i64>, StoreError> {
        let mut used_number = last_used;
        // Most numbers that are used have a name, and follow each other.
        for category in self.load_first_categories().await?.categories {
            if category.id == used_number + 1 {
                used_number += 1;
            }
        }

        let mut step: i64 = 1;
        let mut free_number = loop {
            let Some(number) = used_number.checked_add(step) else {
                return Ok(None);
            };
            if !self.is_category_number_used(number).await? {
                break number;
            }
            used_number = number;
            step = step.saturating_mul(2);
        };

        while free_number - used_number > 1 {
            let middle = used_number + (free_number - used_number) / 2;
            if self.is_category_number_used(middle).await? {
                used_number = middle;
            } else {
                free_number = middle;
            }
        }
        Ok(Some(free_number))
    }

    /// Whether a category or an animal has this number of a category.
    pub(super) async fn is_category_number_used(&self, number: i64) -> Result<bool, StoreError> {
        if self.load_category(number).await?.is_some() {
            return Ok(true);
        }
        for withdrawn in [false, true] {
            let query = PetQuery {
                category_id: Some(number),
                is_withdrawn: withdrawn,
                limit: single_row_limit(),
                ..PetQuery::default()
            };
            let (pets, _) = self.store().list_store_pets(&query).await?;
            if !pets.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
