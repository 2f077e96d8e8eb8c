//! The work that comes due by itself. What a wrong clock would destroy waits until the clock is
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

/// How many orders change in one run, so that no run is long.
const BATCH: u32 = 100;

/// How many changes are forgotten in one run.
const FORGOTTEN: u32 = 1_000;

impl App {
    /// Expires the reservations whose end has passed, each in a transaction of its own.
    pub async fn expire_orders(&self) -> Result<bool, StoreError> {
        let metrics = &self.commands.metrics;
        metrics.note(self.store.reservations().await?);
        let Some(now) = self.confirmed_clock.now().await? else {
            return Ok(false);
        };
        // Behind those that could not expire in the last step.
        let after = *self.last_due.lock();
        let due = self.store.due_orders(after, now, BATCH).await?;
        let mut has_expired = false;
        for &(id, _) in &due {
            // Decides again in its transaction: the order may have been completed or extended.
            has_expired |= self
                .change_order(id, Command::ExpireOrder { id }, now)
                .await?;
        }
        if has_expired {
            metrics.note(self.store.reservations().await?);
        }
        // After the last ones, the next call begins again.
        let last = due.last().copied().filter(|_| due.len() == BATCH as usize);
        *self.last_due.lock() = last;
        Ok(last.is_some())
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
        let after = *self.last_contact.lock();
        let due = self
            .store
            .contacts_until(closed_until, after, BATCH)
            .await?;
        for &id in &due {
            self.change_order(id, Command::EraseContact { id, closed_until }, now)
                .await?;
        }
        let last = due.last().copied().filter(|_| due.len() == BATCH as usize);
        *self.last_contact.lock() = last;
        Ok(last.is_some())
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
        let executed = self.commands.execute(vec![command], context, respond).await;
        match executed {
            Ok(ExecutionOutcome::Done { changes, .. }) => Ok(!changes.is_empty()),
            // Such as for an animal that was withdrawn by hand, or for a row with values that cannot be
            // read. `petstore check` reports it, and the work on other orders goes on.
            Ok(_) | Err(StoreError::Internal(_)) => {
                warn!(order = id.get(), outcome = ?executed, "the clock cannot change an order");
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
        Ok(self.store.forget_changes(oldest..=now, FORGOTTEN).await? >= FORGOTTEN as usize)
    }

    /// Ends the sessions of staff that are too old.
    pub async fn forget_old_sessions(&self) -> Result<bool, StoreError> {
        let Some(now) = self.confirmed_clock.now().await? else {
            return Ok(false);
        };
        let before = |seconds: i64| {
            Timestamp::from_second(now.as_second() - seconds).unwrap_or(Timestamp::MIN)
        };
        let idle = before(StaffSession::IDLE);
        let longest = before(StaffSession::LONGEST);
        self.store.forget_sessions(idle, longest).await?;
        Ok(false)
    }

    /// Deletes some of the remembered requests that are older than 48 hours, counted in marks.
    pub async fn forget_old_requests(&self) -> Result<bool, StoreError> {
        self.requests.forget(self.clock.as_ref()).await
    }
}
