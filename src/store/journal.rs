//! What a store promises for the log of changes and the audit trail.

use std::ops::RangeInclusive;

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreError;
use crate::domain::{
    PetId, WriteContext,
    store_area::{
        Act, AuditEntry, AuditPosition, AuditQuery, ChangePage, ChangeType, JournalEntry,
        JournalState,
    },
};

/// The log of changes. Every method that changes an animal, an order or a category writes its
/// changes to the log, in the same transaction.
///
/// The numbers of the log have no gaps, and nothing appears at or below a number that was returned.
/// The changes of one animal and of its orders have their numbers in the order in which they were
/// made.
#[async_trait]
pub trait Journal: Send + Sync {
    /// What the log contains. Everything that was committed before the call is in it.
    async fn journal_state(&self) -> Result<JournalState, StoreError>;

    /// The changes with a higher number than `after`, of one type or of all: at most `limit`.
    /// Reads a bounded part of the log, so a page may have fewer although more follow; `read_to`
    /// tells how far it came. It is `after` only if nothing follows.
    async fn changes_after(
        &self,
        after: i64,
        kind: Option<ChangeType>,
        limit: u32,
    ) -> Result<ChangePage, StoreError>;

    /// The changes of an animal and of its orders with a lower number than `before`, the newest
    /// first and at most `limit`. Everything that was committed before the call is in it.
    async fn history(
        &self,
        pet: PetId,
        before: i64,
        limit: u32,
    ) -> Result<Vec<JournalEntry>, StoreError>;

    /// Deletes the changes and acts before the first one whose time is kept: at most `limit` of each,
    /// the oldest first, and never the newest change. A later time among them is that of a wrong clock.
    /// Returns how many it deleted.
    async fn forget_changes(
        &self,
        kept: RangeInclusive<Timestamp>,
        limit: u32,
    ) -> Result<usize, StoreError>;

    /// The latest time that was confirmed. If there is none yet, the time of the newest change
    /// becomes it, or `now` if there is no change.
    async fn confirmed_time(&self, now: Timestamp) -> Result<Timestamp, StoreError>;

    /// Confirms a time and records the act, unless the confirmed time is no longer the one that was
    /// seen. Returns whether it did. A store keeps whole milliseconds of both times.
    async fn confirm_time(
        &self,
        seen: Timestamp,
        now: Timestamp,
        act: Option<(Act, WriteContext)>,
    ) -> Result<bool, StoreError>;

    /// A part of the audit trail, and the position after which it continues, if it does. Reads a
    /// bounded part of the log, so a page may have fewer entries although more follow. With the newest
    /// first, a search up to a time can miss what was recorded when a clock had been set back by more
    /// than a day.
    async fn list_audit(
        &self,
        query: &AuditQuery,
    ) -> Result<(Vec<AuditEntry>, Option<AuditPosition>), StoreError>;
}
