//! Periodic maintenance: expires reservations, and deletes old data.
//!
//! Work that would lose data with a wrong clock is done only while the clock is confirmed.
//!
//! Background tasks call each function periodically, and several processes on one database may do
//! so at the same time. A call does one bounded step, and returns whether more work may be left.
//! After an error, the next call continues.

use jiff::Timestamp;
use petstore_domain::{
    Actor, StoredResponse, WriteContext,
    staff::StaffSession,
    store_area::{Command, Decision, OrderId},
};
use petstore_store::{ExecutionOutcome, StoreError};
use tracing::warn;

use super::App;

/// The maximum number of orders that one run changes, so that no run takes long.
const ORDERS_PER_RUN: u32 = 100;

/// The maximum number of changes that one run deletes.
const FORGOTTEN_CHANGES_PER_RUN: u32 = 1_000;

impl App {
    /// Expires the reservations whose end has passed, each in its own transaction. Updates the
    /// metrics of reservations. Returns whether more reservations may have to expire.
    pub async fn expire_orders(&self) -> Result<bool, StoreError> {
        let metrics = &self.commands.metrics;
        metrics.record_reservations(self.store.reservations().await?);
        let Some(now) = self.confirmed_clock.now().await? else {
            return Ok(false);
        };
        // Continue after the orders of the last run. Orders that cannot expire would otherwise
        // block the others.
        let continue_after = *self.last_due_order.lock();
        let due_orders = self
            .store
            .due_orders(continue_after, now, ORDERS_PER_RUN)
            .await?;
        let mut has_any_expired = false;
        for &(id, _) in &due_orders {
            // The order may have been completed or extended since it was listed, so the command
            // checks it again.
            let has_expired = self
                .change_order(id, Command::ExpireOrder { id }, now)
                .await?;
            has_any_expired |= has_expired;
        }
        if has_any_expired {
            metrics.record_reservations(self.store.reservations().await?);
        }
        let last_order = order_to_continue_after(&due_orders);
        *self.last_due_order.lock() = last_order;
        let may_have_more = last_order.is_some();
        Ok(may_have_more)
    }

    /// Erases the contacts of orders that closed longer ago than
    /// [`Settings::keep_contacts`](crate::Settings), each in its own transaction. Returns whether
    /// more contacts may have to be erased.
    pub async fn erase_contacts(&self) -> Result<bool, StoreError> {
        let Some(now) = self.confirmed_clock.now().await? else {
            return Ok(false);
        };
        // An error means that the time is out of range, so no order can be that old.
        let Ok(closed_until) = now.checked_sub(self.keep_contacts) else {
            return Ok(false);
        };
        let continue_after = *self.last_contact_order.lock();
        let due_orders = self
            .store
            .orders_with_contact(closed_until, continue_after, ORDERS_PER_RUN)
            .await?;
        for &id in &due_orders {
            self.change_order(id, Command::EraseContact { id, closed_until }, now)
                .await?;
        }
        let last_order = order_to_continue_after(&due_orders);
        *self.last_contact_order.lock() = last_order;
        let may_have_more = last_order.is_some();
        Ok(may_have_more)
    }

    /// Executes a command on an order on behalf of the clock. Returns whether it changed something.
    /// Logs and skips an order that cannot be changed.
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
            // For example, a row has unreadable values because somebody edited the database by
            // hand. `petstore check` reports such rows. Skip the order, so that it does not block
            // the others.
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

    /// Deletes some of the changes and acts that are older than
    /// [`Settings::keep_changes`](crate::Settings). Returns whether more of them may be left.
    pub async fn forget_old_changes(&self) -> Result<bool, StoreError> {
        let Some(now) = self.confirmed_clock.now().await? else {
            return Ok(false);
        };
        // An error means that the time is out of range, so no change can be that old.
        let Ok(oldest) = now.checked_sub(self.keep_changes) else {
            return Ok(false);
        };
        let forgotten_count = self
            .store
            .forget_changes(oldest..=now, FORGOTTEN_CHANGES_PER_RUN)
            .await?;
        Ok(forgotten_count >= FORGOTTEN_CHANGES_PER_RUN as usize)
    }

    /// Deletes the sessions of staff that have been idle for too long, or are too old. One call
    /// deletes all such sessions, so it always returns `false`.
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

    /// Deletes some of the remembered requests that are older than 48 hours. Returns whether more
    /// of them may be left. Measures their age without the wall clock: see
    /// [`Requests::forget`](crate::Requests).
    pub async fn forget_old_requests(&self) -> Result<bool, StoreError> {
        self.requests.forget(self.clock.as_ref()).await
    }
}

/// Returns the last order of a run, after which the next run continues. Returns `None` if the run
/// has reached the last due order. The next run then starts from the beginning.
fn order_to_continue_after<T: Copy>(due_orders: &[T]) -> Option<T> {
    if due_orders.len() < ORDERS_PER_RUN as usize {
        return None;
    }
    due_orders.last().copied()
}

/// Returns the time this number of seconds before `now`, or the earliest possible time.
fn seconds_before(now: Timestamp, seconds: i64) -> Timestamp {
    Timestamp::from_second(now.as_second() - seconds).unwrap_or(Timestamp::MIN)
}
