//! The names of categories that a page needs. A store may have any number of categories, so no page
//! reads all of them; only a form in which a name was typed looks through them.

use std::collections::{BTreeSet, HashSet};

use futures_util::{StreamExt, TryStreamExt, stream};
use petstore_domain::{
    Limit,
    store_area::{Category, PetQuery},
    text,
};
use petstore_store::StoreError;

use crate::{desk::Desk, forms};

/// How many categories a form proposes.
pub(super) const MAX_PROPOSED_CATEGORIES: usize = 500;

/// How many reads of a page are in progress at once.
pub(super) const MAX_CONCURRENT_READS: usize = 8;

/// The largest page of categories.
pub(super) fn largest_page_limit() -> Limit {
    Limit::new(Limit::MAX.into()).unwrap_or_default()
}

impl Desk<'_> {
    /// The category with this number, if it has a name.
    pub(super) async fn load_category(&self, id: i64) -> Result<Option<Category>, StoreError> {
        let (after, one) = (id.checked_sub(1), Limit::new(1).unwrap_or_default());
        let (found, _) = self.store().list_categories(after, one).await?;
        Ok(found.into_iter().find(|category| category.id == id))
    }

    /// Those of these categories that have a name.
    pub(super) async fn load_categories(
        &self,
        ids: BTreeSet<i64>,
    ) -> Result<Vec<Category>, StoreError> {
        let read = stream::iter(ids)
            .map(|id| self.load_category(id))
            .buffered(MAX_CONCURRENT_READS);
        let found: Vec<Option<Category>> = read.try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The first categories, which a form proposes, and the others of these.
    pub(super) async fn load_category_choices(
        &self,
        ids: BTreeSet<i64>,
    ) -> Result<Vec<Category>, StoreError> {
        let (mut categories, last) = self.first_categories().await?;
        if let Some(last) = last {
            categories.extend(
                self.load_categories(ids.into_iter().filter(|&id| id > last).collect())
                    .await?,
            );
        }
        Ok(categories)
    }

    /// The first categories, and the others that somebody may mean who typed this.
    pub(super) async fn load_categories_by_names(
        &self,
        typed: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Vec<Category>, StoreError> {
        let (mut categories, mut after) = self.first_categories().await?;
        let typed: HashSet<_> = typed
            .into_iter()
            .map(|typed| text::compared(typed.as_ref()))
            .collect();
        while after.is_some() {
            let (page, next) = self
                .store()
                .list_categories(after, largest_page_limit())
                .await?;
            let is_typed = |category: &Category| {
                forms::names_of(category)
                    .iter()
                    .any(|name| typed.contains(&text::compared(name)))
            };
            categories.extend(page.into_iter().filter(is_typed));
            after = next;
        }
        Ok(categories)
    }

    /// The first categories, and the number of the last of them if more follow.
    async fn first_categories(&self) -> Result<(Vec<Category>, Option<i64>), StoreError> {
        let (mut categories, mut after) = (Vec::new(), None);
        loop {
            let (page, next) = self
                .store()
                .list_categories(after, largest_page_limit())
                .await?;
            categories.extend(page);
            after = next;
            if after.is_none() || categories.len() >= MAX_PROPOSED_CATEGORIES {
                return Ok((categories, after));
            }
        }
    }

    /// A number above this one that no category and no animal has; `None` if none is found. The steps double
    /// until a number is free, and halve until the number before it is used.
    pub(super) async fn find_free_category_number(
        &self,
        above: i64,
    ) -> Result<Option<i64>, StoreError> {
        let (mut used, mut step) = (above, 1_i64);
        // Most numbers that are used have a name, and follow each other.
        for category in self.first_categories().await?.0 {
            used += i64::from(category.id == used + 1);
        }
        let mut free = loop {
            let Some(number) = used.checked_add(step) else {
                return Ok(None);
            };
            if !self.is_category_number_used(number).await? {
                break number;
            }
            (used, step) = (number, step.saturating_mul(2));
        };
        while free - used > 1 {
            let middle = used + (free - used) / 2;
            *(if self.is_category_number_used(middle).await? {
                &mut used
            } else {
                &mut free
            }) = middle;
        }
        Ok(Some(free))
    }

    /// Whether a category or an animal has this number.
    pub(super) async fn is_category_number_used(&self, number: i64) -> Result<bool, StoreError> {
        let mut is_used = self.load_category(number).await?.is_some();
        for withdrawn in [false, true] {
            let (category_id, limit) = (Some(number), Limit::new(1).unwrap_or_default());
            let query = PetQuery {
                category_id,
                withdrawn,
                limit,
                ..PetQuery::default()
            };
            is_used = is_used || !self.store().list_store_pets(&query).await?.0.is_empty();
        }
        Ok(is_used)
    }
}
