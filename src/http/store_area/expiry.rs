//! The clock's part of the store area: reservations expire, and old changes are forgotten.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use jiff::{SignedDuration, Timestamp};
use tracing::warn;

use super::changes;
use crate::{
    domain::{Actor, Clock, StoredResponse, WriteContext, store_area::Command},
    http::App,
    json::times,
    store::{Executed, StoreError},
};

/// How many reservations expire in one run, so that no run is long.
const BATCH: u32 = 100;

/// How many changes are forgotten in one run.
const FORGOTTEN: u32 = 1_000;

/// How far the wall clock may jump between two runs. Reservations last days, so a wrong clock costs
/// customers their animals, and a late run costs nobody anything.
const JUMP: SignedDuration = SignedDuration::from_mins(1);

/// When the last run was, by both clocks.
#[derive(Debug, Default)]
pub(crate) struct LastRun(Mutex<Option<(Instant, Timestamp)>>);

impl LastRun {
    /// The present time, unless the wall clock has jumped since the last run.
    fn agreed_time(&self, clock: &dyn Clock) -> Option<Timestamp> {
        let present = (clock.instant(), clock.now());
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(present);
        let Some((instant, now)) = last else {
            return Some(present.1);
        };
        let passed = SignedDuration::try_from(present.0.saturating_duration_since(instant));
        let jump = present.1.duration_since(now) - passed.unwrap_or(SignedDuration::MAX);
        (jump.abs() <= JUMP).then_some(present.1)
    }
}

impl App {
    /// Expires the reservations whose end has passed, each in a transaction of its own, and returns
    /// whether more may be left. Called periodically, outside of requests, also by several
    /// processes on one database at the same time. After an error, the next call continues.
    pub async fn expire_orders(&self) -> Result<bool, StoreError> {
        let area = &self.store_area;
        area.metrics.note(self.store.reservations().await?);
        let Some(now) = area.last_expiry.agreed_time(self.clock.as_ref()) else {
            warn!("the clock of the machine has jumped; no reservation expires in this minute");
            return Ok(false);
        };
        let now = times::to_milliseconds(now);
        let due = self.store.due_orders(now, BATCH).await?;
        let mut has_expired = false;
        for &(id, _) in &due {
            let context = WriteContext::new(Actor::Clock, now);
            // Decides again in its transaction: the order may have been completed or extended.
            let command = vec![Command::ExpireOrder { id }];
            let executed = self.store.execute(command, context, |_| Ok(StoredResponse::default()));
            match executed.await? {
                Executed::Done { changes, .. } => {
                    has_expired |= !changes.is_empty();
                    changes::record(&area.metrics, &changes, Actor::Clock, None);
                }
                // Such as for an animal that was withdrawn by hand. `petstore check` reports it.
                other => warn!(order = id.get(), outcome = ?other, "a reservation cannot expire"),
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
        let now = area.last_forgetting.agreed_time(self.clock.as_ref());
        let Some(before) = now.and_then(|now| now.checked_sub(area.keep_changes).ok()) else {
            return Ok(false);
        };
        Ok(self.store.forget_changes(before, FORGOTTEN).await? >= FORGOTTEN as usize)
    }
}
