//! Loads the categories that a page needs, and finds free numbers for new ones.
//!
//! A store can have any number of categories, so a page loads only the ones that it shows. The only
//! exception is the lookup of a typed name, which reads all categories.

use std::collections::{BTreeSet, HashSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use petstore_domain::{
    Limit,
    store_area::{Category, PetQuery},
    text,
};
use petstore_store::StoreError;

use crate::{desk::Desk, forms};

/// The number of categories that a form suggests, rounded up to whole pages of the store's list.
pub(super) const MAX_SUGGESTED_CATEGORIES: usize = 500;

/// The maximum number of concurrent reads for one page of the console.
pub(super) const MAX_CONCURRENT_READS: usize = 8;

/// The categories with the lowest numbers, which forms suggest.
struct FirstCategories {
    categories: Vec<Category>,
    /// The number of the last of the given categories; `None` if the store has no further ones.
    last_id: Option<i64>,
}

/// Returns the limit for reading a list in the largest possible pages.
pub(super) fn largest_page_limit() -> Limit {
    Limit::new(Limit::MAX.into()).unwrap_or_default()
}

/// Returns the limit for reading one row.
fn single_row_limit() -> Limit {
    Limit::new(1).unwrap_or_default()
}

impl Desk<'_> {
    /// Loads the category with this number; `None` if the number has no name.
    pub(super) async fn load_category(&self, id: i64) -> Result<Option<Category>, StoreError> {
        // The store can only list the categories after a number, so this reads the first one after
        // `id - 1`. For the lowest `id`, `after` is `None`, and the list begins at its start.
        let after = id.checked_sub(1);
        let (page, _) = self
            .store()
            .list_categories(after, single_row_limit())
            .await?;
        Ok(page.into_iter().find(|category| category.id == id))
    }

    /// Loads the categories with these numbers. Numbers without a name are left out.
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

    /// Loads the categories for a form: the ones that it suggests, and the ones in `ids`, whose names
    /// it shows.
    pub(super) async fn load_category_choices(
        &self,
        mut ids: BTreeSet<i64>,
    ) -> Result<Vec<Category>, StoreError> {
        let mut choices = self.load_first_categories().await?;
        // Without a `last_id`, the choices are all categories of the store.
        if let Some(last_id) = choices.last_id {
            ids.retain(|&id| id > last_id);
            choices.categories.extend(self.load_categories(ids).await?);
        }
        Ok(choices.categories)
    }

    /// Loads the categories that a form suggests, and all further ones whose name or number is in
    /// `names`. Reads all categories of the store.
    pub(super) async fn load_categories_by_names(
        &self,
        names: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Vec<Category>, StoreError> {
        let wanted_keys: HashSet<_> = names
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
                if category_names.any(|name| wanted_keys.contains(&text::comparison_key(&name))) {
                    categories.push(category);
                }
            }
            after = next;
        }
        Ok(categories)
    }

    /// Loads pages of categories until there are enough for the suggestions of a form.
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
            if after.is_none() || categories.len() >= MAX_SUGGESTED_CATEGORIES {
                return Ok(FirstCategories {
                    categories,
                    last_id: after,
                });
            }
        }
    }

    /// Finds a category number above `last_used` that is free: no category and no animal has it.
    /// Returns `None` if the numbers overflow before a free one is found.
    ///
    /// Checking a number takes several reads, so this does not check every number. It doubles the
    /// step until it meets a free number, and then bisects between this number and the last used
    /// one. The result directly follows a used number or `last_used`, but a lower number can be free
    /// as well.
    pub(super) async fn find_free_category_number(
        &self,
        last_used: i64,
    ) -> Result<Option<i64>, StoreError> {
        let mut used_number = last_used;
        // Shortcut: a number with a name is used, so it needs no check. In most stores, the used
        // numbers have names and are consecutive. The list is in ascending order.
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

        // Invariant: `used_number` is used, and `free_number` is free.
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

    /// Whether a named category or an animal has this category number. Withdrawn animals count, too.
    pub(super) async fn is_category_number_used(&self, number: i64) -> Result<bool, StoreError> {
        if self.load_category(number).await?.is_some() {
            return Ok(true);
        }
        // One query finds either withdrawn animals or the others.
        for is_withdrawn in [false, true] {
            let query = PetQuery {
                category_id: Some(number),
                is_withdrawn,
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
