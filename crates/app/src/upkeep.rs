//! The work that comes due without a request. What a wrong clock would destroy waits until the clock is
//! confirmed.
//!
//! Every function is called periodically, outside of requests, also by several processes on one
//! database at the same time. It does one bounded step, and returns whether more may be left. After
//! an error, the next call continues.

use jiff::Timestamp;
use petstore_domain::{
    Actor, StoredResponse, WriteContext,
    staff::StaffSession,
    store_area::{Command, Decision, OrderId},
};
use petstore_store::{ExecutionOutcome, StoreError};
use tracing::warn;

use super::App;

/// The number of orders that change in one run, so that no run is long.
const ORDERS_PER_RUN: u32 = 100;

/// The number of changes that are forgotten in one run.
const FORGOTTEN_CHANGES_PER_RUN: u32 = 1_000;

impl App {
    /// Expires the reservations whose end has passed, each in a transaction of its own.
    pub async fn expire_orders(&self) -> Result<bool, StoreError> {
        let metrics = &self.commands.metrics;
        metrics.note(self.store.reservations().await?);
        let Some(now) = self.confirmed_clock.now().await? else {
            return Ok(false);
        };
        // The step begins after the orders that could not expire in the last step.
        let last_due = *self.last_due.lock();
        let due_orders = self.store.due_orders(last_due, now, ORDERS_PER_RUN).await?;
        let mut has_expired = false;
        for &(id, _) in &due_orders {
            // The transaction decides again: the order may have been completed or extended.
            has_expired |= self
                .change_order(id, Command::ExpireOrder { id }, now)
                .await?;
        }
        if has_expired {
            metrics.note(self.store.reservations().await?);
        }
        let last_order = next_start(&due_orders);
        *self.last_due.lock() = last_order;
        Ok(last_order.is_some())
    }

    /// Erases the contacts of orders that closed longer ago than the settings say, each in a transaction
    /// of its own.
    pub async fn erase_contacts(&self) -> Result<bool, StoreError> {
        let Some(now) = self.confirmed_clock.now().await? else {
            return Ok(false);
        };
        let Ok(closed_until) = now.checked_sub(self.keep_contacts) else {
            return Ok(false);
        };
        let last_contact = *self.last_contact.lock();
        let due_orders = self
            .store
            .contacts_until(closed_until, last_contact, ORDERS_PER_RUN)
            .await?;
        for &id in &due_orders {
            self.change_order(id, Command::EraseContact { id, closed_until }, now)
                .await?;
        }
        let last_order = next_start(&due_orders);
        *self.last_contact.lock() = last_order;
        Ok(last_order.is_some())
    }

    /// Carries out a command of the clock about an order. Returns whether it changed something.
    async fn change_order(
        &self,
        id: OrderId,
        command: Command,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let context = WriteContext::new(Actor::Clock, now);
        let respond = |_: &[Decision]| StoredResponse::default();
        let outcome = self.commands.execute(vec![command], context, respond).await;
        match outcome {
            Ok(ExecutionOutcome::Done { changes, .. }) => Ok(!changes.is_empty()),
            // For example, the animal was withdrawn by hand, or a row has values that cannot be
            // read. `petstore check` reports it, and the work on other orders goes on.
            Ok(_) | Err(StoreError::Internal(_)) => {
                warn!(
                    order = id.get(),
                    ?outcome,
                    "the clock cannot change an order"
                );
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Forgets some of the changes and acts that are older than the settings say.
    pub async fn forget_old_changes(&self) -> Result<bool, StoreError> {
        let Some(now) = self.confirmed_clock.now().await? else {
            return Ok(false);
        };
        let Ok(oldest) = now.checked_sub(self.keep_changes) else {
            return Ok(false);
        };
        let forgotten_count = self
            .store
            .forget_changes(oldest..=now, FORGOTTEN_CHANGES_PER_RUN)
            .await?;
        Ok(forgotten_count >= FORGOTTEN_CHANGES_PER_RUN as usize)
    }

    /// Ends the sessions of staff that are too old.
    pub async fn forget_old_sessions(&self) -> Result<bool, StoreError> {
        let Some(now) = self.confirmed_clock.now().await? else {
            return Ok(false);
        };
        let used_before = seconds_before(now, StaffSession::MAX_IDLE_SECONDS);
        let begun_before = seconds_before(now, StaffSession::MAX_AGE_SECONDS);
        self.store
            .forget_sessions(used_before, begun_before)
            .await?;
        Ok(false)
    }

    /// Deletes some of the remembered requests that are older than 48 hours, counted in marks.
    pub async fn forget_old_requests(&self) -> Result<bool, StoreError> {
        self.requests.forget(self.clock.as_ref()).await
    }
}

/// Returns the last of the due orders, after which the next run begins; `None` if this run did all of them.
fn next_start<T: Copy>(due_orders: &[T]) -> Option<T> {
    if due_orders.len() < ORDERS_PER_RUN as usize {
        return None;
    }
    due_orders.last().copied()
}

/// Returns the time that was this number of seconds ago.
fn seconds_before(now: Timestamp, seconds: i64) -> Timestamp {
    Timestamp::from_second(now.as_second() - seconds).unwrap_or(Timestamp::MIN)
}
