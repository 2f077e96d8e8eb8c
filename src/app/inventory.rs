//! How many animals there are, counted at most for a hundredth of the time.

use std::sync::Arc;

use super::latest::Latest;
use crate::{
    domain::{Clock, clock::to_milliseconds, store_area::Inventory},
    store::{Store, StoreError},
};

/// Counts the animals of a store.
pub(crate) struct InventoryCount {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    last: Latest<Inventory>,
}

impl InventoryCount {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, last: Latest::default() }
    }

    /// How many animals there are, at most some seconds ago.
    pub(crate) async fn read(&self) -> Result<Inventory, StoreError> {
        let (store, now) = (Arc::clone(&self.store), to_milliseconds(self.clock.now()));
        let count = async move { store.count_inventory(now).await };
        self.last.read(&self.clock, None, count).await
    }
}
