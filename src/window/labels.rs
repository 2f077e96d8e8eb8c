//! The labels of categories. A store may have any number of them, so only those that a page needs are
//! read.

use std::collections::{HashMap, hash_map::Entry};

use crate::{
    domain::{Limit, store_area::Category},
    store::{Store, StoreError},
    text::readable::{SHORT, readable},
};

/// How many labels are kept.
const MOST_KEPT: usize = 10_000;

/// Labels that were read.
#[derive(Default)]
pub(super) struct Labels(HashMap<i64, Option<String>>);

impl Labels {
    /// Reads the labels of these categories that are not known yet.
    pub(super) async fn learn(
        &mut self,
        store: &dyn Store,
        ids: impl IntoIterator<Item = i64>,
    ) -> Result<(), StoreError> {
        if self.0.len() > MOST_KEPT {
            self.0.clear();
        }
        let one = Limit::new(1).unwrap_or_default();
        for id in ids {
            if let Entry::Vacant(entry) = self.0.entry(id) {
                let (found, _) = store.list_categories(id.checked_sub(1), one).await?;
                let category = found.into_iter().find(|category| category.id == id);
                entry.insert(category.map(|category| category.label.as_str().to_owned()));
            }
        }
        Ok(())
    }

    /// The label of a category, if it has one.
    pub(super) fn get(&self, id: i64) -> Option<&str> {
        self.0.get(&id)?.as_deref()
    }

    /// The same as people can read it.
    pub(super) fn shown(&self, id: i64) -> Option<String> {
        self.get(id).map(|label| readable(label, SHORT))
    }
}

/// The first categories, from which a visitor can choose.
pub(super) async fn first(store: &dyn Store) -> Result<Vec<Category>, StoreError> {
    let most = Limit::new(Limit::MAX.into()).unwrap_or_default();
    Ok(store.list_categories(None, most).await?.0)
}
