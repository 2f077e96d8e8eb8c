//! The labels of categories. A store may have any number of categories, so only the first ones and those that
//! a page needs are read.

use std::{collections::HashMap, sync::Arc};

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
    /// The first categories, or those from which a visitor can choose.
    pub(super) first_categories: Arc<Vec<Category>>,
    /// The labels of other categories, by their ids. `None` for a category that does not exist.
    by_later_id: HashMap<i64, Option<String>>,
}

impl Labels {
    /// Returns the labels of these categories.
    pub(super) fn new(first_categories: Arc<Vec<Category>>) -> Self {
        Self {
            first_categories,
            by_later_id: HashMap::new(),
        }
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
            if self.first_category(id).is_none() && !self.by_later_id.contains_key(&id) {
                let label = read_label(store, id).await?;
                self.by_later_id.insert(id, label);
            }
        }
        Ok(())
    }

    /// Returns the label of a category, if it has one and was read.
    pub(super) fn label(&self, id: i64) -> Option<&str> {
        match self.first_category(id) {
            Some(category) => Some(category.label.as_str()),
            None => self.by_later_id.get(&id)?.as_deref(),
        }
    }

    /// Returns the category, if it is one of the first.
    fn first_category(&self, id: i64) -> Option<&Category> {
        self.first_categories
            .iter()
            .find(|category| category.id == id)
    }

    /// Returns the label of a category in a form that people can read.
    pub(super) fn readable_label(&self, id: i64) -> Option<String> {
        self.label(id).map(|label| readable(label, SHORT_LENGTH))
    }
}

/// Reads the first categories.
pub(super) async fn read_first_categories(
    store: &StoreReader,
) -> Result<Vec<Category>, StoreError> {
    let limit = Limit::new(Limit::MAX.into()).unwrap_or_default();
    let (categories, _) = store.list_categories(None, limit).await?;
    Ok(categories)
}

/// Reads the label of a category, if it exists.
async fn read_label(store: &StoreReader, id: i64) -> Result<Option<String>, StoreError> {
    let limit = Limit::new(1).unwrap_or_default();
    // The list begins after an id.
    let (categories, _) = store.list_categories(id.checked_sub(1), limit).await?;
    let category = categories.into_iter().find(|category| category.id == id);
    Ok(category.map(|category| category.label.as_str().to_owned()))
}
