//! The labels of categories. A store can have any number of categories, so only the first ones are
//! loaded in advance. All others are loaded on demand.

use std::{collections::HashMap, sync::Arc};

use petstore_domain::{
    store_area::Category,
    text::readable::{SHORT_LENGTH, readable},
};
use petstore_store::{StoreError, StoreReader};

use super::offers::{constant_limit, max_limit};

/// The number of labels loaded on demand above which all of them are discarded. Otherwise, a long
/// CSV export would collect the labels of all categories in memory.
const MAX_LOADED_LABELS: usize = 10_000;

/// The labels of categories that have been loaded.
#[derive(Default)]
pub(super) struct Labels {
    /// The categories that were loaded in advance. For a list page, these are also the options of
    /// the category dropdown.
    pub(super) first_categories: Arc<Vec<Category>>,
    /// The labels that were loaded on demand, by category id. `None` for a category that does not
    /// exist.
    loaded_labels: HashMap<i64, Option<String>>,
}

impl Labels {
    /// Creates the labels of the categories that were loaded in advance. Others can be loaded later.
    pub(super) fn new(first_categories: Arc<Vec<Category>>) -> Self {
        Self {
            first_categories,
            loaded_labels: HashMap::new(),
        }
    }

    /// Loads the labels of the given categories, except the labels that are loaded already.
    pub(super) async fn load(
        &mut self,
        store: &StoreReader,
        ids: impl IntoIterator<Item = i64>,
    ) -> Result<(), StoreError> {
        if self.loaded_labels.len() > MAX_LOADED_LABELS {
            self.loaded_labels.clear();
        }
        for id in ids {
            if self.first_category(id).is_none() && !self.loaded_labels.contains_key(&id) {
                let label = read_label(store, id).await?;
                self.loaded_labels.insert(id, label);
            }
        }
        Ok(())
    }

    /// Returns the label of a category. Returns `None` if the category does not exist, or if it has
    /// not been loaded.
    pub(super) fn label(&self, id: i64) -> Option<&str> {
        match self.first_category(id) {
            Some(category) => Some(category.label.as_str()),
            None => self.loaded_labels.get(&id)?.as_deref(),
        }
    }

    /// Returns a category, if it was loaded in advance.
    fn first_category(&self, id: i64) -> Option<&Category> {
        self.first_categories
            .iter()
            .find(|category| category.id == id)
    }

    /// Returns the label of a category in a form that is safe to display: see [`readable`].
    pub(super) fn readable_label(&self, id: i64) -> Option<String> {
        self.label(id).map(|label| readable(label, SHORT_LENGTH))
    }
}

/// Reads the first page of categories, in the order of their ids.
pub(super) async fn read_first_categories(
    store: &StoreReader,
) -> Result<Vec<Category>, StoreError> {
    let (categories, _) = store.list_categories(None, max_limit()).await?;
    Ok(categories)
}

/// Reads the label of a category. Returns `None` if the category does not exist.
async fn read_label(store: &StoreReader, id: i64) -> Result<Option<String>, StoreError> {
    let one = constant_limit(1);
    // The store lists the categories after an id, so the list after `id - 1` begins with this
    // category. No category has an id for which there is no `id - 1`.
    let (categories, _) = store.list_categories(id.checked_sub(1), one).await?;
    let category = categories.into_iter().find(|category| category.id == id);
    Ok(category.map(|category| category.label.as_str().to_owned()))
}
