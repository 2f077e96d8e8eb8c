//! What a store promises for the log of changes and the audit trail, and how it does it.

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
    Database, SlowRead, Sql,
    audit::{self, change},
    lists::read_all,
    nothing, promise,
};
use crate::{StoreError, columns::Columns, journal_rows::SCAN};

/// With so many bytes of texts, a page of changes is full.
const FULL: usize = 4 << 20;

/// The last number in `part` that is older than $2, and that none from $2 to $3 precedes. SQLite
/// numbers its parameters as they first appear.
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
    /// What the log contains. Everything that was committed before the call is in it.
    async fn journal_state(&self) -> JournalState {
        self.log_state().await
    }

    /// The changes with a higher number than `after`, of one type or of all: at most `limit`.
    /// Reads a bounded part of the log, so a page may have fewer although more follow; `read_to`
    /// tells how far it came. It is `after` only if nothing follows.
    async fn changes_after(&self, after: i64, kind: Option<ChangeType>, limit: u32) -> ChangePage {
        let what = (after, kind, limit);
        self.read_slowly(SlowRead::Followers, what, |connection, what| read_after(connection, *what).boxed()).await
    }

    /// The changes of an animal and of its orders with a lower number than `before`, the newest
    /// first and at most `limit`. Everything that was committed before the call is in it.
    async fn history(&self, pet: PetId, before: i64, limit: u32) -> Vec<JournalEntry> {
        self.number_changes().await?;
        let what = [pet.get(), before, limit.into()];
        self.read_slowly(SlowRead::Searches, what, |connection, what| history(connection, *what).boxed()).await
    }

    /// Deletes the changes and acts before the first one whose time is kept: at most `limit` of each,
    /// the oldest first, and never the newest change. A later time among them is that of a wrong clock.
    /// Returns how many it deleted.
    async fn forget_changes(&self, kept: RangeInclusive<Timestamp>, limit: u32) -> usize {
        self.forget([kept.start(), kept.end()].map(|time| time.as_millisecond()), limit.into()).await
    }

    /// The latest time that was confirmed. If there is none yet, the time of the newest change
    /// becomes it, or `now` if there is no change.
    async fn confirmed_time(&self, now: Timestamp) -> Timestamp {
        match self.read((), |connection, ()| audit::confirmed(connection).boxed()).await? {
            Some(at) => Ok(at),
            None => self.write(now, |connection, now| audit::confirm_first(connection, *now).boxed()).await,
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
        let confirmed = self.once(
            ([seen, now].map(Timestamp::as_millisecond), act),
            |connection, (times, act)| audit::confirm(connection, *times, act.as_ref()).boxed(),
            nothing,
        );
        Ok(confirmed.await?.is_ok())
    }

    /// A part of the audit trail, and the position after which it continues, if it does. Reads a
    /// bounded part of the log, so a page may have fewer entries although more follow. With the newest
    /// first, a search up to a time can miss what was recorded when a clock had been set back by more
    /// than a day.
    async fn list_audit(
        &self,
        query: &AuditQuery,
    ) -> (Vec<AuditEntry>, Option<AuditPosition>) {
        // Its own changes are also in the trail.
        self.number_changes().await?;
        let query = query.clone();
        self.read_slowly(SlowRead::Searches, query, |connection, query| audit::list(connection, query).boxed()).await
    }
}
}

async fn read_after<S: Sql>(
    connection: &mut S,
    (after, kind, limit): (i64, Option<ChangeType>, u32),
) -> Result<ChangePage, S::Error> {
    let bounds = connection
        .row(S::LOG_BOUNDS, &[])
        .await?
        .ok_or_else(S::no_row)?;
    let last: i64 = bounds.value(1)?;
    // Without a filter, a page reads no more changes than it has.
    let most = kind.map_or(i64::from(limit), |_| SCAN);
    let read_to = after.saturating_add(most).min(last).max(after);
    let kind = kind.map(ChangeType::as_str);
    let (mut page, mut bytes) = (
        ChangePage {
            changes: Vec::new(),
            read_to,
        },
        0,
    );
    connection
        .visit(
            S::CHANGES,
            &[&after, &read_to, &kind, &i64::from(limit)],
            &mut |row| Ok(add(&mut page, &mut bytes, change(row)?, limit)),
        )
        .await?;
    Ok(page)
}

/// Adds the next change to a page of at most `limit`, of whose texts there are so many `bytes`. Breaks if
/// the page is then full.
fn add(
    page: &mut ChangePage,
    bytes: &mut usize,
    change: JournalEntry,
    limit: u32,
) -> ControlFlow<()> {
    let seq = change.seq;
    *bytes += change.length();
    page.changes.push(change);
    if *bytes >= FULL || page.changes.len() == limit as usize {
        page.read_to = seq;
        return ControlFlow::Break(());
    }
    ControlFlow::Continue(())
}

async fn history<S: Sql>(
    connection: &mut S,
    [pet, before, limit]: [i64; 3],
) -> Result<Vec<JournalEntry>, S::Error> {
    read_all(connection, S::HISTORY, &[&pet, &before, &limit], |row| {
        change(row)
    })
    .await
}
