//! The labels of categories. A store may have any number of them, so only the first ones and those that
//! a page needs are read.

use std::collections::{HashMap, hash_map::Entry};

use petstore_domain::{
    Limit,
    store_area::Category,
    text::readable::{SHORT, readable},
};
use petstore_store::{StoreError, StoreReader};

/// How many labels are kept.
const MOST_KEPT: usize = 10_000;

/// Labels that were read.
#[derive(Default)]
pub(super) struct Labels {
    /// The first categories, from which a visitor can choose.
    pub(super) first: Vec<Category>,
    /// Those of all categories up to this one are in `first`.
    last_of_first: Option<i64>,
    others: HashMap<i64, Option<String>>,
}

impl Labels {
    /// Reads the first ones.
    pub(super) async fn first(store: &StoreReader) -> Result<Self, StoreError> {
        let most = Limit::new(Limit::MAX.into()).unwrap_or_default();
        let (first, next) = store.list_categories(None, most).await?;
        Ok(Self {
            first,
            last_of_first: Some(next.unwrap_or(i64::MAX)),
            ..Self::default()
        })
    }

    /// Reads the labels of these categories that are not known yet.
    pub(super) async fn learn(
        &mut self,
        store: &StoreReader,
        ids: impl IntoIterator<Item = i64>,
    ) -> Result<(), StoreError> {
        if self.others.len() > MOST_KEPT {
            self.others.clear();
        }
        let one = Limit::new(1).unwrap_or_default();
        for id in ids {
            if self.last_of_first.is_none_or(|last| last < id)
                && let Entry::Vacant(entry) = self.others.entry(id)
            {
                let (found, _) = store.list_categories(id.checked_sub(1), one).await?;
                let category = found.into_iter().find(|category| category.id == id);
                entry.insert(category.map(|category| category.label.as_str().to_owned()));
            }
        }
        Ok(())
    }

    /// The label of a category, if it has one.
    pub(super) fn get(&self, id: i64) -> Option<&str> {
        let first = self.first.iter().find(|category| category.id == id);
        let others = || self.others.get(&id)?.as_deref();
        first
            .map(|category| category.label.as_str())
            .or_else(others)
    }

    /// The same as people can read it.
    pub(super) fn shown(&self, id: i64) -> Option<String> {
        self.get(id).map(|label| readable(label, SHORT))
    }
}
