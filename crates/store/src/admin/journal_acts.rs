//! Finds all changes of one act in the log of changes.
//!
//! In this file, an act is not an act of administration. It consists of the changes that one
//! request made in one transaction: for example, the sale of an animal changes the order and the
//! animal.
//!
//! The log does not store which changes belong to one act. But these changes have the same time,
//! actor and request, and are near each other. In PostgreSQL, changes of other requests can be
//! between them.

use petstore_domain::store_area::JournalEntry;

use super::{
    Parameter, Sql,
    audit::read_change,
    log_bounds::{LogBounds, read_log_bounds},
    pages::read_all,
};

/// The number of changes that are read at once. An act is complete once a whole batch contains none
/// of its changes.
const SCAN_BATCH: i64 = 100;

/// Reads all changes of the act that includes the change `seq`. Returns nothing if the log does not
/// contain the change, or may have lost some of the changes of the act.
pub(super) async fn read_changes_of_act<S: Sql>(
    connection: &mut S,
    seq: i64,
) -> Result<Vec<JournalEntry>, S::Error> {
    let LogBounds { first, last } = read_log_bounds(connection).await?;
    if seq < first || seq > last {
        return Ok(Vec::new());
    }
    let Some(change) = read_between(connection, seq - 1, seq).await?.pop() else {
        return Ok(Vec::new());
    };

    let mut act = vec![change];
    add_older_changes(connection, &mut act, seq, first).await?;
    add_newer_changes(connection, &mut act, seq, last).await?;
    act.sort_by_key(|change| change.seq);
    // If the act includes the first change of the log, earlier changes of the act may have been
    // forgotten.
    let may_have_lost_changes = first > 1 && act.iter().any(|change| change.seq == first);
    if may_have_lost_changes {
        return Ok(Vec::new());
    }
    Ok(act)
}

/// Adds the changes below `seq` to the act. `first` is the number of the oldest change of the log.
async fn add_older_changes<S: Sql>(
    connection: &mut S,
    act: &mut Vec<JournalEntry>,
    seq: i64,
    first: i64,
) -> Result<(), S::Error> {
    let mut oldest_read = seq;
    while oldest_read > first {
        let after = (oldest_read - 1 - SCAN_BATCH).max(first - 1);
        let changes = read_between(connection, after, oldest_read - 1).await?;
        if !add_changes_of_act(act, changes) {
            break;
        }
        oldest_read = after + 1;
    }
    Ok(())
}

/// Adds the changes above `seq` to the act. `last` is the number of the newest change of the log.
async fn add_newer_changes<S: Sql>(
    connection: &mut S,
    act: &mut Vec<JournalEntry>,
    seq: i64,
    last: i64,
) -> Result<(), S::Error> {
    let mut newest_read = seq;
    while newest_read < last {
        let until = (newest_read + SCAN_BATCH).min(last);
        let changes = read_between(connection, newest_read, until).await?;
        if !add_changes_of_act(act, changes) {
            break;
        }
        newest_read = until;
    }
    Ok(())
}

/// Reads the changes above `after` and up to `last`.
async fn read_between<S: Sql>(
    connection: &mut S,
    after: i64,
    last: i64,
) -> Result<Vec<JournalEntry>, S::Error> {
    let all_types: Option<&str> = None;
    let max_rows = last - after;
    let parameters: [&dyn Parameter; 4] = [&after, &last, &all_types, &max_rows];
    read_all(connection, S::CHANGES, &parameters, |row| read_change(row)).await
}

/// Adds those of `changes` that belong to the act, which must already have a change. Returns
/// whether any of them did.
fn add_changes_of_act(act: &mut Vec<JournalEntry>, changes: Vec<JournalEntry>) -> bool {
    let count_before = act.len();
    for change in changes {
        if is_same_act(&act[0], &change) {
            act.push(change);
        }
    }
    act.len() > count_before
}

/// Whether two changes belong to the same act.
///
/// The clock makes the changes that have no request. It changes many animals at the same time, and
/// the changes of each animal count as an act of their own.
fn is_same_act(change: &JournalEntry, other: &JournalEntry) -> bool {
    change.at == other.at
        && change.actor.actor == other.actor.actor
        && change.request_id == other.request_id
        && (change.request_id.is_some() || change.pet == other.pet)
}
