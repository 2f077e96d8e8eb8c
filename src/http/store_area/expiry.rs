//! The clock's part of the store area: reservations expire, and old changes are forgotten, once the
//! clock is confirmed.

use tracing::warn;

use super::changes;
use crate::{
    domain::{Actor, StoredResponse, WriteContext, store_area::Command},
    http::App,
    store::{Executed, StoreError},
};

/// How many reservations expire in one run, so that no run is long.
const BATCH: u32 = 100;

/// How many changes are forgotten in one run.
const FORGOTTEN: u32 = 1_000;

impl App {
    /// Expires the reservations whose end has passed, each in a transaction of its own, and returns
    /// whether more may be left. Called periodically, outside of requests, also by several
    /// processes on one database at the same time. After an error, the next call continues.
    pub async fn expire_orders(&self) -> Result<bool, StoreError> {
        let area = &self.store_area;
        area.metrics.note(self.store.reservations().await?);
        let Some(now) = self.confirmed_clock.now().await? else { return Ok(false) };
        let due = self.store.due_orders(now, BATCH).await?;
        let mut has_expired = false;
        for &(id, _) in &due {
            let context = WriteContext::new(Actor::Clock, now);
            // Decides again in its transaction: the order may have been completed or extended.
            let command = vec![Command::ExpireOrder { id }];
            let executed = self.store.execute(command, context, |_| StoredResponse::default());
            let executed = executed.await;
            match executed {
                Ok(Executed::Done { ref changes, .. }) => {
                    has_expired |= !changes.is_empty();
                    changes::record(&area.metrics, changes, Actor::Clock, None);
                }
                // Such as for an animal that was withdrawn by hand, or for a row with values that
                // cannot be read. `petstore check` reports it, and other reservations expire.
                Ok(_) | Err(StoreError::Internal(_)) => {
                    warn!(order = id.get(), outcome = ?executed, "a reservation cannot expire");
                }
                Err(error) => return Err(error),
            }
        }
        if has_expired {
            area.metrics.note(self.store.reservations().await?);
        }
        // Not if nothing has expired: then the same orders would be due again at once.
        Ok(has_expired && due.len() == BATCH as usize)
    }

    /// Forgets some of the changes and acts that are older than the settings say, and returns
    /// whether more may be left. Called periodically, outside of requests, also by several
    /// processes on one database at the same time. After an error, the next call continues.
    pub async fn forget_old_changes(&self) -> Result<bool, StoreError> {
        let area = &self.store_area;
        let Some(now) = self.confirmed_clock.now().await? else { return Ok(false) };
        let Ok(oldest) = now.checked_sub(area.keep_changes) else { return Ok(false) };
        Ok(self.store.forget_changes(oldest..=now, FORGOTTEN).await? >= FORGOTTEN as usize)
    }
}
