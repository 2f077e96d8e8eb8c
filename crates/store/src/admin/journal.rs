//! The log of changes, the audit trail, and the confirmed time (`confirmed_time.rs`).

use std::ops::{ControlFlow, RangeInclusive};

use futures_util::FutureExt;
use jiff::Timestamp;
use petstore_domain::{
    PetId, WriteContext,
    store_area::{
        Act, AuditEntry, AuditPosition, AuditQuery, ChangePage, ChangeType, JournalEntry,
        JournalState,
    },
};

use super::{
    Database, Parameters, SlowRead, Sql,
    audit::{self, read_change},
    confirmed_time::{self, Confirmation},
    journal_acts::read_changes_of_act,
    log_bounds::read_log_bounds,
    no_result,
    pages::read_all,
    store_trait,
};
use crate::{StoreError, journal_rows::MAX_SCANNED_ROWS};

/// The number of bytes of representations at which a page of changes is full.
const MAX_PAGE_BYTES: usize = 4 << 20;

/// Expands to the subquery for the last number that is old enough to be forgotten, in the table
/// `part` with the columns `number` and `at`. The times from $2 to $3 are kept. A number is old
/// enough if its time is before $2, and no earlier number has a time from $2 to $3.
///
/// For example, with the times 1, 9, 2 and 5, `$2 = 4` and `$3 = 6`, the subquery selects the third
/// number. The time 9 is later than all kept times, so it is due to a wrong clock and does not stop
/// the deletion.
///
/// The statement around it must use $1 earlier, because SQLite numbers parameters by their first
/// appearance. This is a macro because `concat!` takes no constants.
#[macro_export]
macro_rules! last_forgotten {
    () => {
        "SELECT max(number) FROM part WHERE at < $2 AND number < coalesce(
            (SELECT min(number) FROM part WHERE at >= $2 AND at <= $3), number + 1)"
    };
}
pub use last_forgotten;

/// Deletes the acts among the oldest $1 that are old enough.
pub const FORGET_ACTS: &str = concat!(
    "WITH part AS (SELECT id AS number, at FROM acts ORDER BY id LIMIT $1)
    DELETE FROM acts WHERE id <= (",
    last_forgotten!(),
    ")"
);

store_trait! {
/// The log of changes. Every method that changes an animal, an order or a category writes its
/// changes to the log in the same transaction.
///
/// The numbers of the log have no gaps, and once a number was returned, no change ever appears at
/// or below it. The changes of one animal and of its orders are numbered in the order in which they
/// were made.
Journal {
    /// Returns the first and last number of the log. The log includes everything that was committed
    /// before the call.
    async fn journal_state(&self) -> Result<JournalState, StoreError> {
        self.log_state().await
    }

    /// Reads at most `limit` changes after the number `after`, of one type or of all types.
    ///
    /// Each call scans a limited part of the log, so a page may have fewer changes although more
    /// follow. [`ChangePage::read_to`] is the last number that was scanned. It equals `after` only
    /// if nothing follows.
    async fn changes_after(
        &self,
        after: i64,
        kind: Option<ChangeType>,
        limit: u32,
    ) -> Result<ChangePage, StoreError> {
        self.read_slowly(SlowRead::Followers, (after, kind, limit), |connection, &(after, kind, limit)| {
            read_changes_after(connection, after, kind, limit).boxed()
        })
        .await
    }

    /// Reads the changes of an animal and of its orders before the number `before`, newest first:
    /// at most `limit`. The log includes everything that was committed before the call.
    async fn history(
        &self,
        pet: PetId,
        before: i64,
        limit: u32,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        self.assign_change_numbers().await?;
        let limit = i64::from(limit);
        self.read_slowly(SlowRead::Searches, (pet, before, limit), |connection, (pet, before, limit)| {
            read_history(connection, *pet, *before, *limit).boxed()
        })
        .await
    }

    /// Reads all changes of the act that includes the change `seq`, in ascending order. Such an act
    /// consists of the changes that one request made in one transaction. Returns nothing if the log
    /// does not contain the change, or may have lost some of the changes of the act.
    async fn changes_of_act(&self, seq: i64) -> Result<Vec<JournalEntry>, StoreError> {
        self.assign_change_numbers().await?;
        self.read_slowly(SlowRead::Searches, seq, |connection, seq| {
            read_changes_of_act(connection, *seq).boxed()
        })
        .await
    }

    /// Deletes the changes and acts before the first one whose time is in `kept`, oldest first.
    /// Deletes at most `limit` changes and at most `limit` acts, and never the newest change.
    /// Returns the number of deleted changes or of deleted acts, whichever is higher. If it reaches
    /// `limit`, there may be more to delete.
    ///
    /// A time after `kept` is due to a wrong clock. A change with such a time does not stop the
    /// deletion: it is deleted together with a later change that is old enough.
    async fn forget_changes(
        &self,
        kept: RangeInclusive<Timestamp>,
        limit: u32,
    ) -> Result<usize, StoreError> {
        let kept_from = kept.start().as_millisecond();
        let kept_until = kept.end().as_millisecond();
        self.forget(kept_from, kept_until, limit.into()).await
    }

    /// Returns the confirmed time (see [`crate::confirmed_clock`]). If there is none yet, confirms
    /// the time of the newest change, or `now` if there is no change.
    async fn confirmed_time(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        let confirmed = self
            .read((), |connection, ()| confirmed_time::read_time(connection).boxed())
            .await?;
        if let Some(confirmed) = confirmed {
            return Ok(confirmed);
        }
        self.write(now, |connection, now| {
            confirmed_time::confirm_first_time(connection, *now).boxed()
        })
        .await
    }

    /// Replaces the confirmed time `seen` by `now`, and records the act if there is one. Returns
    /// `false`, without a change, if the confirmed time has changed since it was seen. Both times
    /// are stored in whole milliseconds.
    async fn confirm_time(
        &self,
        seen: Timestamp,
        now: Timestamp,
        act: Option<(Act, WriteContext)>,
    ) -> Result<bool, StoreError> {
        let confirmation = Confirmation {
            seen: seen.as_millisecond(),
            now: now.as_millisecond(),
            act,
        };
        let result = self.write_once(
            confirmation,
            |connection, confirmation| {
                confirmed_time::replace_time(connection, confirmation).boxed()
            },
            no_result,
        );
        Ok(result.await?.is_done())
    }

    /// Reads a page of the audit trail. Returns its entries, and the position to continue from if
    /// more may follow.
    ///
    /// Each call scans a limited part of the log, so a page may have fewer entries although more
    /// follow. A search up to a time can miss entries that were recorded while a clock was set back
    /// by more than a day.
    async fn list_audit(
        &self,
        query: &AuditQuery,
    ) -> Result<(Vec<AuditEntry>, Option<AuditPosition>), StoreError> {
        // Changes without a number would be missing, such as changes that the caller has just made.
        self.assign_change_numbers().await?;
        self.read_slowly(SlowRead::Searches, query.clone(), |connection, query| {
            audit::list_audit(connection, query).boxed()
        })
        .await
    }
}
}

/// Reads a page of changes. See [`Journal::changes_after`].
async fn read_changes_after<S: Sql>(
    connection: &mut S,
    after: i64,
    kind: Option<ChangeType>,
    limit: u32,
) -> Result<ChangePage, S::Error> {
    let last = read_log_bounds(connection).await?.last;
    let max_scanned_rows = match kind {
        Some(_) => MAX_SCANNED_ROWS,
        // Without a filter, every scanned change is on the page.
        None => i64::from(limit),
    };
    // `after` can be above the last change of the log. The page is then empty.
    let read_to = after.saturating_add(max_scanned_rows).min(last).max(after);
    let kind = kind.map(ChangeType::as_str);

    let mut page = ChangePage {
        changes: Vec::new(),
        read_to,
    };
    let max_changes = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut page_bytes = 0;
    let values: Parameters<'_> = &[&after, &read_to, &kind, &i64::from(limit)];
    connection
        .visit(S::CHANGES, values, &mut |row| {
            let change = read_change(row)?;
            let seq = change.seq;
            page_bytes += change.length();
            page.changes.push(change);
            if page_bytes >= MAX_PAGE_BYTES || page.changes.len() == max_changes {
                page.read_to = seq;
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
    Ok(page)
}

/// Reads the newest changes of an animal and of its orders. See [`Journal::history`].
async fn read_history<S: Sql>(
    connection: &mut S,
    pet: PetId,
    before: i64,
    limit: i64,
) -> Result<Vec<JournalEntry>, S::Error> {
    let values: Parameters<'_> = &[&pet.get(), &before, &limit];
    read_all(connection, S::HISTORY, values, |row| read_change(row)).await
}
