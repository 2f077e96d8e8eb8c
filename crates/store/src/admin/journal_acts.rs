//! The acts in the log of changes.
//!
//! The log has changes, not acts. The changes of one act have the same time, actor and request, and are next to each
//! other. Over PostgreSQL, changes of other requests can be between them.

use petstore_domain::store_area::JournalEntry;

use super::{Parameter, Sql, audit::read_change, pages::read_all};
use crate::columns::Columns;

/// The number of changes that are read at once. An act is complete when as many changes in a row belong to other acts.
const CHANGES_AT_ONCE: i64 = 100;

/// Reads the changes of the act of the change with this number. Empty if the log does not have the change, or perhaps
/// not all changes of the act any more.
pub(super) async fn read_act<S: Sql>(
    session: &mut S,
    seq: i64,
) -> Result<Vec<JournalEntry>, S::Error> {
    let bounds = session
        .row(S::LOG_BOUNDS, &[])
        .await?
        .ok_or_else(S::no_row)?;
    let first: i64 = bounds.value(0)?;
    let last: i64 = bounds.value(1)?;
    if seq < first || seq > last {
        return Ok(Vec::new());
    }
    let Some(change) = read_between(session, seq - 1, seq).await?.pop() else {
        return Ok(Vec::new());
    };

    let mut act = vec![change];
    add_older_changes(session, &mut act, seq, first).await?;
    add_newer_changes(session, &mut act, seq, last).await?;
    act.sort_by_key(|entry| entry.seq);
    let may_have_lost_changes = first > 1 && act.iter().any(|entry| entry.seq == first);
    if may_have_lost_changes {
        return Ok(Vec::new());
    }
    Ok(act)
}

/// Adds the changes of the act below `seq`. The oldest change of the log has the number `first`.
async fn add_older_changes<S: Sql>(
    session: &mut S,
    act: &mut Vec<JournalEntry>,
    seq: i64,
    first: i64,
) -> Result<(), S::Error> {
    let mut oldest_read = seq;
    while oldest_read > first {
        let after = (oldest_read - 1 - CHANGES_AT_ONCE).max(first - 1);
        let entries = read_between(session, after, oldest_read - 1).await?;
        if !add_changes_of_act(act, entries) {
            break;
        }
        oldest_read = after + 1;
    }
    Ok(())
}

/// Adds the changes of the act above `seq`. The newest change of the log has the number `last`.
async fn add_newer_changes<S: Sql>(
    session: &mut S,
    act: &mut Vec<JournalEntry>,
    seq: i64,
    last: i64,
) -> Result<(), S::Error> {
    let mut newest_read = seq;
    while newest_read < last {
        let until = (newest_read + CHANGES_AT_ONCE).min(last);
        let entries = read_between(session, newest_read, until).await?;
        if !add_changes_of_act(act, entries) {
            break;
        }
        newest_read = until;
    }
    Ok(())
}

/// Reads the changes with a higher number than `after`, up to `last`.
async fn read_between<S: Sql>(
    session: &mut S,
    after: i64,
    last: i64,
) -> Result<Vec<JournalEntry>, S::Error> {
    let all_types: Option<&str> = None;
    let parameters: [&dyn Parameter; 4] = [&after, &last, &all_types, &(last - after)];
    read_all(session, S::CHANGES, &parameters, |row| read_change(row)).await
}

/// Adds the changes that belong to the act. Returns whether there was one.
fn add_changes_of_act(act: &mut Vec<JournalEntry>, entries: Vec<JournalEntry>) -> bool {
    let known_count = act.len();
    for entry in entries {
        if is_same_act(&act[0], &entry) {
            act.push(entry);
        }
    }
    act.len() > known_count
}

/// Whether two changes belong to one act. The clock, which has no request, acts on many animals at the same time, and on
/// each in an act of its own.
fn is_same_act(one: &JournalEntry, other: &JournalEntry) -> bool {
    one.at == other.at
        && one.actor.actor == other.actor.actor
        && one.request_id == other.request_id
        && (one.request_id.is_some() || one.pet == other.pet)
}
