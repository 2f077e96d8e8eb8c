//! The labels of categories. A store may have any number of categories, so only the first ones and those that
//! a page needs are read.

use std::collections::HashMap;

use petstore_domain::{
    Limit,
    store_area::Category,
    text::readable::{SHORT_LENGTH, readable},
};
use petstore_store::{StoreError, StoreReader};

/// The number of labels of later categories above which all of them are forgotten.
const MAX_LATER_LABELS: usize = 10_000;

/// Labels that were read.
#[derive(Default)]
pub(super) struct Labels {
    /// The first categories, from which a visitor can choose.
    pub(super) first_categories: Vec<Category>,
    /// The last id of which `first_categories` has the category, if there is one.
    last_first_id: Option<i64>,
    /// The labels of later categories, by their ids. `None` for a category that does not exist.
    by_later_id: HashMap<i64, Option<String>>,
}

impl Labels {
    /// Reads the first categories.
    pub(super) async fn with_first_categories(store: &StoreReader) -> Result<Self, StoreError> {
        let limit = Limit::new(Limit::MAX.into()).unwrap_or_default();
        let (first_categories, next) = store.list_categories(None, limit).await?;
        Ok(Self {
            first_categories,
            last_first_id: Some(next.unwrap_or(i64::MAX)),
            by_later_id: HashMap::new(),
        })
    }

    /// Reads the labels of the categories in `ids` that were not read yet.
    pub(super) async fn load(
        &mut self,
        store: &StoreReader,
        ids: impl IntoIterator<Item = i64>,
    ) -> Result<(), StoreError> {
        if self.by_later_id.len() > MAX_LATER_LABELS {
            self.by_later_id.clear();
        }
        for id in ids {
            let is_first = self.last_first_id.is_some_and(|last| id <= last);
            if !is_first && !self.by_later_id.contains_key(&id) {
                let label = read_label(store, id).await?;
                self.by_later_id.insert(id, label);
            }
        }
        Ok(())
    }

    /// Returns the label of a category, if it has one and was read.
    pub(super) fn label(&self, id: i64) -> Option<&str> {
        let first_category = self
            .first_categories
            .iter()
            .find(|category| category.id == id);
        match first_category {
            Some(category) => Some(category.label.as_str()),
            None => self.by_later_id.get(&id)?.as_deref(),
        }
    }

    /// Returns the label of a category in a form that people can read.
    pub(super) fn readable_label(&self, id: i64) -> Option<String> {
        self.label(id).map(|label| readable(label, SHORT_LENGTH))
    }
}

/// Reads the label of a category, if it exists.
async fn read_label(store: &StoreReader, id: i64) -> Result<Option<String>, StoreError> {
    let limit = Limit::new(1).unwrap_or_default();
    // The list begins after an id.
    let (categories, _) = store.list_categories(id.checked_sub(1), limit).await?;
    let category = categories.into_iter().find(|category| category.id == id);
    Ok(category.map(|category| category.label.as_str().to_owned()))
}
