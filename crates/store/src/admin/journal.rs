//! The promise of a store for the log of changes and the audit trail, and its implementation.

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
    journal_acts::read_act,
    no_result,
    pages::read_all,
    promise,
};
use crate::{StoreError, columns::Columns, journal_rows::MAX_SCANNED_ROWS};

/// The number of bytes of texts with which a page of changes is full.
const MAX_PAGE_BYTES: usize = 4 << 20;

/// Becomes the subquery for the last number in the table `part` whose time is before $2, and before which no number
/// has a time from $2 to $3. The table has the columns `number` and `at`.
///
/// For example, with the times 1, 9, 2 and 5, `$2 = 4` and `$3 = 6`, it selects the third number: 9 is the time of a
/// wrong clock. It is a macro because `concat!` takes no constants. SQLite numbers its parameters as they first
/// appear.
#[macro_export]
macro_rules! last_forgotten {
    () => {
        "SELECT max(number) FROM part WHERE at < $2 AND number < coalesce(
            (SELECT min(number) FROM part WHERE at >= $2 AND at <= $3), number + 1)"
    };
}
pub use last_forgotten;

/// Deletes some of the first $1 acts.
pub const FORGET_ACTS: &str = concat!(
    "WITH part AS (SELECT id AS number, at FROM acts ORDER BY id LIMIT $1)
    DELETE FROM acts WHERE id <= (",
    last_forgotten!(),
    ")"
);

promise! {
/// The log of changes. Every method that changes an animal, an order or a category writes its
/// changes to the log, in the same transaction.
///
/// The numbers of the log have no gaps, and nothing appears at or below a number that was returned.
/// The changes of one animal and of its orders have their numbers in the order in which they were
/// made.
Journal {
    /// Returns the bounds of the log. Everything that was committed before the call is in the log.
    async fn journal_state(&self) -> JournalState {
        self.log_state().await
    }

    /// Reads the changes with a higher number than `after`, of one type or of all: at most `limit`.
    ///
    /// Reads a bounded part of the log, so a page may have fewer changes although more follow; `read_to`
    /// is the last number that was read. It is `after` only if nothing follows.
    async fn changes_after(&self, after: i64, kind: Option<ChangeType>, limit: u32) -> ChangePage {
        self.read_slowly(SlowRead::Followers, (after, kind, limit), |connection, &(after, kind, limit)| {
            read_changes_after(connection, after, kind, limit).boxed()
        })
        .await
    }

    /// Reads the changes of an animal and of its orders with a lower number than `before`, the newest
    /// first and at most `limit`. Everything that was committed before the call is in the log.
    async fn history(&self, pet: PetId, before: i64, limit: u32) -> Vec<JournalEntry> {
        self.assign_change_numbers().await?;
        let limit = i64::from(limit);
        self.read_slowly(SlowRead::Searches, (pet, before, limit), |connection, (pet, before, limit)| {
            read_history(connection, *pet, *before, *limit).boxed()
        })
        .await
    }

    /// The changes that one request made in one transaction, the change with this number among them, in the order of
    /// their numbers. Empty if the log does not have the change, or perhaps not all of them any more.
    async fn act(&self, seq: i64) -> Vec<JournalEntry> {
        self.assign_change_numbers().await?;
        self.read_slowly(SlowRead::Searches, seq, |connection, seq| {
            read_act(connection, *seq).boxed()
        })
        .await
    }

    /// Deletes the changes and acts before the first one whose time is in `kept`: at most `limit` of each,
    /// the oldest first, and never the newest change. A later time among the deleted ones is due to a wrong clock.
    /// Returns the number of deleted rows.
    async fn forget_changes(&self, kept: RangeInclusive<Timestamp>, limit: u32) -> usize {
        self.forget([kept.start(), kept.end()].map(|time| time.as_millisecond()), limit.into()).await
    }

    /// Returns the latest time that was confirmed. If there is none yet, the time of the newest change
    /// becomes the confirmed time, or `now` if there is no change.
    async fn confirmed_time(&self, now: Timestamp) -> Timestamp {
        let confirmed_time =
            self.read((), |connection, ()| audit::confirmed_time(connection).boxed()).await?;
        match confirmed_time {
            Some(confirmed_time) => Ok(confirmed_time),
            None => {
                self.write(now, |connection, now| audit::confirm_first_time(connection, *now).boxed())
                    .await
            }
        }
    }

    /// Confirms a time and records the act, unless the confirmed time is no longer the one that was
    /// seen. Returns whether it did. A store keeps whole milliseconds of both times.
    async fn confirm_time(
        &self,
        seen: Timestamp,
        now: Timestamp,
        act: Option<(Act, WriteContext)>,
    ) -> bool {
        let result = self.write_once(
            (seen.as_millisecond(), now.as_millisecond(), act),
            |connection, (seen, now, act)| {
                audit::confirm_time(connection, *seen, *now, act.as_ref()).boxed()
            },
            no_result,
        );
        Ok(result.await?.is_done())
    }

    /// Reads a part of the audit trail. Returns its entries, and the position after which it continues, if it does.
    ///
    /// Reads a bounded part of the log, so a page may have fewer entries although more follow. With the newest
    /// first, a search up to a time can miss what was recorded when a clock had been set back by more
    /// than a day.
    async fn list_audit(
        &self,
        query: &AuditQuery,
    ) -> (Vec<AuditEntry>, Option<AuditPosition>) {
        // The changes of the caller are also in the trail.
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
    let bounds = connection.only_row(S::LOG_BOUNDS, &[]).await?;
    let last: i64 = bounds.value(1)?;
    // Without a filter, a page reads no more changes than it has.
    let max_rows = match kind {
        Some(_) => MAX_SCANNED_ROWS,
        None => i64::from(limit),
    };
    let read_to = after.saturating_add(max_rows).min(last).max(after);
    let kind = kind.map(ChangeType::as_str);

    let mut page = ChangePage {
        changes: Vec::new(),
        read_to,
    };
    let max_changes = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut page_bytes = 0;
    connection
        .visit(
            S::CHANGES,
            &[&after, &read_to, &kind, &i64::from(limit)],
            &mut |row| {
                let change = read_change(row)?;
                let seq = change.seq;
                page_bytes += change.length();
                page.changes.push(change);
                if page_bytes >= MAX_PAGE_BYTES || page.changes.len() == max_changes {
                    page.read_to = seq;
                    return Ok(ControlFlow::Break(()));
                }
                Ok(ControlFlow::Continue(()))
            },
        )
        .await?;
    Ok(page)
}

async fn read_history<S: Sql>(
    connection: &mut S,
    pet: PetId,
    before: i64,
    limit: i64,
) -> Result<Vec<JournalEntry>, S::Error> {
    let values: Parameters<'_> = &[&pet.get(), &before, &limit];
    read_all(connection, S::HISTORY, values, |row| read_change(row)).await
}
