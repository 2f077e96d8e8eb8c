//! Loads the categories that a page needs, and finds free numbers for new ones.
//!
//! A category is a number that animals share, and can have a name. A store can have any number of
//! categories, so a page loads only the categories that it shows. The only exception is the lookup
//! of a typed name, which reads all categories.

use std::collections::{BTreeSet, HashSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use petstore_domain::{
    Limit,
    store_area::{Category, PetQuery},
    text,
};
use petstore_store::StoreError;

use super::parts::constant_limit;
use crate::{desk::Desk, forms};

/// The number of categories that a form suggests. More would make the page long, and a member can
/// type the name of any category.
pub(super) const MAX_SUGGESTED_CATEGORIES: usize = 500;

/// The maximum number of concurrent reads for one page of the console.
pub(super) const MAX_CONCURRENT_READS: usize = 8;

/// The value of `last_used` when the search for a free category number begins with the lowest one.
pub(super) const NO_LAST_USED: i64 = 0;

/// The categories with the lowest numbers, which forms suggest.
struct FirstCategories {
    categories: Vec<Category>,
    /// The number of the last one of `categories`; `None` if the store has no further ones.
    last_id: Option<i64>,
}

/// Returns the limit for reading a list in the largest possible pages.
pub(super) fn largest_page_limit() -> Limit {
    let row_count = i64::from(Limit::MAX);
    constant_limit(row_count)
}

/// Returns the limit for reading one row.
fn single_row_limit() -> Limit {
    constant_limit(1)
}

impl Desk<'_> {
    /// Loads the category with this number. Returns `None` if the number has no name.
    pub(super) async fn load_category(&self, id: i64) -> Result<Option<Category>, StoreError> {
        // The store can only list the categories after a number, so this reads the first category
        // after `id - 1`. Nothing is below the lowest possible `id`: `after` is then `None`, with
        // which the list begins at its start.
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

    /// Loads the categories for a form: the categories that it suggests, and the categories with
    /// the numbers in `ids`, whose names it shows.
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

    /// Loads the categories that a form suggests, and all further categories whose name or number
    /// is in `names`. Reads all categories of the store.
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
            last_id,
        } = self.load_first_categories().await?;

        let mut after = last_id;
        while after.is_some() {
            let (page, next) = self
                .store()
                .list_categories(after, largest_page_limit())
                .await?;
            for category in page {
                let mut category_names = forms::names_of(&category).into_iter();
                let is_wanted =
                    category_names.any(|name| wanted_keys.contains(&text::comparison_key(&name)));
                if is_wanted {
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
            if next.is_none() || categories.len() >= MAX_SUGGESTED_CATEGORIES {
                return Ok(FirstCategories {
                    categories,
                    last_id: next,
                });
            }
            after = next;
        }
    }

    /// Finds a category number above `last_used` that is free: no category and no animal has it.
    ///
    /// The number directly follows a used number or `last_used`, but is not always the lowest free
    /// one: checking a number takes several reads, so not every number is checked. The step from
    /// one checked number to the next doubles until a free number is met. A bisection then finds a
    /// free number directly above a used one.
    ///
    /// Returns `None` if the numbers overflow before a free one is found.
    pub(super) async fn find_free_category_number(
        &self,
        last_used: i64,
    ) -> Result<Option<i64>, StoreError> {
        let mut used_number = self.end_of_named_sequence(last_used).await?;
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

        // Invariant: `free_number` is free, and `used_number` is used or still `last_used`.
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

    /// Returns the last number of the sequence of named numbers that follows `number` without a
    /// gap. Returns `number` itself if the next number has no name.
    ///
    /// Looks only at the first categories. In most stores, these are all, and their numbers are
    /// consecutive.
    async fn end_of_named_sequence(&self, number: i64) -> Result<i64, StoreError> {
        let mut last_number = number;
        // The list is in ascending order.
        for category in self.load_first_categories().await?.categories {
            if category.id == last_number + 1 {
                last_number += 1;
            }
        }
        Ok(last_number)
    }

    /// Whether this category number is in use: it has a name, or an animal has it, even a withdrawn
    /// one.
    pub(super) async fn is_category_number_used(&self, number: i64) -> Result<bool, StoreError> {
        if self.load_category(number).await?.is_some() {
            return Ok(true);
        }
        // A query finds either withdrawn animals or all others.
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
