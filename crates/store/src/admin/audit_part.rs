//! Decides which part of the log to read for a page of the audit trail, and merges its rows into
//! the page.
//!
//! The audit trail consists of changes and acts. The number of a change is its `seq`. An act has an
//! identifier of its own, and a `seq`: the number of the last change before it. A page scans at
//! most [`MAX_SCANNED_ROWS`] changes, and the acts between them.

use jiff::Timestamp;
use petstore_domain::{
    Actor,
    store_area::{AuditEntry, AuditPosition, AuditQuery, AuditType, JournalEntry},
};

use super::Parameter;
use crate::journal_rows::{MAX_SCANNED_ROWS, audit_conditions};

/// Expands to the statement that selects the acts whose `seq` is from $1 to $2.
/// `$condition_and_order` excludes the acts before the start of the page, and sorts the others.
macro_rules! audited_acts {
    ($condition_and_order:literal) => {
        concat!(
            "SELECT seq, at, type, subject_id, id, details, actor, actor_id, actor_name, request_id \
             FROM acts WHERE seq >= $1 AND seq <= $2 AND ",
            audit_conditions!(),
            $condition_and_order,
            " LIMIT $11"
        )
    };
}
/// Selects acts, oldest first. Of the acts at `seq` $1, only those after the act $10 belong to the
/// page.
const OLDEST_ACTS: &str = audited_acts!(" AND (seq > $1 OR id > $10) ORDER BY seq, id");
/// Selects acts, newest first. Of the acts at `seq` $2, only those before the act $10 belong to the
/// page.
const NEWEST_ACTS: &str = audited_acts!(" AND (seq < $2 OR id < $10) ORDER BY seq DESC, id DESC");

/// The position before the beginning of the audit trail. Acts before the first change have the
/// `seq` 0.
const BEGINNING: AuditPosition = AuditPosition { seq: -1, act: 0 };

/// The position after the end of the audit trail.
const END: AuditPosition = AuditPosition {
    seq: i64::MAX,
    act: i64::MAX,
};

/// The longest time, in milliseconds, by which a clock may have been set back without hiding
/// entries from a search up to a time.
const MAX_CLOCK_SET_BACK: i64 = 24 * 60 * 60 * 1000;

/// The filters of a query as statement parameters. `None` does not restrict the result.
pub(super) struct AuditFilters {
    /// A type of changes or acts.
    pub(super) kind: Option<&'static str>,
    /// A pattern for types, such as `pet.%`.
    pub(super) subject_kind: Option<String>,
    pub(super) subject: Option<i64>,
    pub(super) actor: Option<&'static str>,
    pub(super) actor_id: Option<i64>,
    /// The inclusive start of the time range, in milliseconds.
    pub(super) since: Option<i64>,
    /// The exclusive end of the time range, in milliseconds.
    pub(super) until: Option<i64>,
    /// The maximum number of rows: one more than the limit of the page, because the additional row
    /// shows that more follow.
    pub(super) max_rows: i64,
}

impl From<&AuditQuery> for AuditFilters {
    fn from(query: &AuditQuery) -> Self {
        let subject = query.subject.as_ref();
        Self {
            kind: query.kind.map(AuditType::as_str),
            subject_kind: subject.map(|subject| format!("{}.%", subject.kind.as_str())),
            subject: subject.and_then(|subject| subject.id),
            actor: query.actor.map(Actor::kind),
            actor_id: query.actor.and_then(Actor::id),
            since: query.since.map(Timestamp::as_millisecond),
            until: query.until.map(Timestamp::as_millisecond),
            max_rows: i64::from(query.limit) + 1,
        }
    }
}

impl AuditFilters {
    /// Returns the parameters $3 to $9, which `audit_conditions!` uses, in the order of their
    /// numbers.
    pub(super) fn parameters(&self) -> [&dyn Parameter; 7] {
        [
            &self.kind,
            &self.subject_kind,
            &self.subject,
            &self.actor,
            &self.actor_id,
            &self.since,
            &self.until,
        ]
    }
}

/// An entry of the audit trail, with its position for sorting.
pub(super) struct PositionedEntry {
    pub(super) position: AuditPosition,
    pub(super) entry: AuditEntry,
}

impl From<JournalEntry> for PositionedEntry {
    fn from(change: JournalEntry) -> Self {
        Self {
            position: AuditPosition {
                seq: change.seq,
                act: 0,
            },
            entry: AuditEntry::Change(change),
        }
    }
}

/// A range of numbers of the log. The end is included. The docs of the members of [`AuditPart`] say
/// whether the start is included.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeqRange {
    pub(super) start: i64,
    pub(super) end: i64,
}

/// The part of the log that one page of the audit trail reads.
///
/// A part ends either because no further change can match the query, or because it has
/// [`MAX_SCANNED_ROWS`] changes. In the second case, the next page continues with the next part,
/// even if this part has no entry that matches the query.
#[derive(Debug)]
pub(super) struct AuditPart {
    newest_first: bool,
    /// The changes, from the start (exclusive) to the end (inclusive).
    pub(super) changes: SeqRange,
    /// The acts, from the start to the end (both inclusive). Of the acts at the `seq` where the
    /// page begins, only those beyond `after_act` belong to it.
    pub(super) acts: SeqRange,
    /// The identifier of the act after which the page begins.
    pub(super) after_act: i64,
    /// The position at which the next part begins, or `None` if this is the last part.
    next: Option<AuditPosition>,
}

impl AuditPart {
    /// Returns the part for a page with the oldest entries first.
    ///
    /// `last_excluded` is the last change that is too old for the query, or that was on an earlier
    /// page. `last` is the last change of the log.
    pub(super) fn oldest_first(query: &AuditQuery, last_excluded: i64, last: i64) -> Self {
        let after = query.after.unwrap_or(BEGINNING);
        let last_scanned = last_excluded.saturating_add(MAX_SCANNED_ROWS).min(last);
        let next = if last_scanned < last {
            Some(AuditPosition {
                seq: last_scanned,
                // This part includes all acts at its last change.
                act: i64::MAX,
            })
        } else {
            None
        };
        Self {
            newest_first: false,
            changes: SeqRange {
                start: last_excluded,
                end: last_scanned,
            },
            acts: SeqRange {
                start: after.seq,
                end: next.map_or(i64::MAX, |position| position.seq),
            },
            after_act: after.act,
            next,
        }
    }

    /// Returns the part for a page with the newest entries first.
    ///
    /// `last_excluded` is the last change that is too old for the query. `newest` is the last
    /// change that may match the query.
    pub(super) fn newest_first(query: &AuditQuery, last_excluded: i64, newest: i64) -> Self {
        let newest_position = AuditPosition {
            seq: newest,
            act: i64::MAX,
        };
        // The page begins where the previous one ended, but skips what is too new for the query.
        let AuditPosition { seq, act } = query.after.unwrap_or(END).min(newest_position);
        // The position of the change `seq` has the act 0. If the page begins after that position,
        // the change was on the previous page. Otherwise, the page begins after an act, which is
        // newer than the change.
        let begins_after_act = act > 0;
        let end = if begins_after_act { seq } else { seq - 1 };
        // If every change up to `end` is excluded, the range of changes is empty.
        let start = end
            .saturating_sub(MAX_SCANNED_ROWS)
            .max(last_excluded)
            .min(end);
        let next = if start > last_excluded {
            Some(AuditPosition {
                seq: start,
                // The next part includes all acts at its first change.
                act: i64::MAX,
            })
        } else {
            None
        };
        Self {
            newest_first: true,
            changes: SeqRange { start, end },
            // The acts at the change `start` belong to the next part, as does that change itself.
            acts: SeqRange {
                start: next.map_or(BEGINNING.seq, |position| position.seq + 1),
                end: seq,
            },
            after_act: act,
            next,
        }
    }

    /// Makes this the last part, because every later change is too new. The part then includes all
    /// acts up to the end of the log.
    pub(super) fn into_last(self) -> Self {
        let acts = SeqRange {
            start: self.acts.start,
            end: i64::MAX,
        };
        Self {
            next: None,
            acts,
            ..self
        }
    }

    /// Returns one of `statements`, which are [`super::Sql::AUDIT_CHANGES`], by the order of the
    /// page.
    pub(super) fn choose_change_statement(&self, statements: [&'static str; 2]) -> &'static str {
        let [oldest_first, newest_first] = statements;
        if self.newest_first {
            newest_first
        } else {
            oldest_first
        }
    }

    /// Returns the statement that reads the acts, by the order of the page.
    pub(super) fn choose_act_statement(&self) -> &'static str {
        if self.newest_first {
            NEWEST_ACTS
        } else {
            OLDEST_ACTS
        }
    }

    /// Merges the changes and acts of this part into a page of at most `limit` entries. Returns the
    /// page, and the position to continue from if more may follow.
    pub(super) fn merge(
        &self,
        changes: Vec<JournalEntry>,
        acts: Vec<PositionedEntry>,
        limit: u32,
    ) -> (Vec<AuditEntry>, Option<AuditPosition>) {
        let mut entries = acts;
        entries.extend(changes.into_iter().map(PositionedEntry::from));
        entries.sort_by_key(|entry| entry.position);
        if self.newest_first {
            entries.reverse();
        }

        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let next = if entries.len() > limit {
            entries.truncate(limit);
            entries.last().map(|last| last.position)
        } else {
            self.next
        };

        let page = entries.into_iter().map(|entry| entry.entry).collect();
        (page, next)
    }
}

/// Extends the end of a search by [`MAX_CLOCK_SET_BACK`]. After a clock was set back, an entry from
/// before `until` can follow newer entries in the log. A search that goes backwards begins at the
/// extended end, and a search that goes forwards ends at it, so both find the entry.
pub(super) fn extend_for_clock_set_back(until: i64) -> i64 {
    until.saturating_add(MAX_CLOCK_SET_BACK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_with_the_newest_first_have_no_gap_and_do_not_overlap() {
        let (oldest, newest) = (5, 3 * MAX_SCANNED_ROWS);
        let mut query = AuditQuery {
            newest_first: true,
            ..AuditQuery::default()
        };
        let mut next = [newest, newest];
        loop {
            let part = AuditPart::newest_first(&query, oldest, newest);
            assert_eq!([part.changes.end, part.acts.end], next);
            assert!(part.changes.end - part.changes.start <= MAX_SCANNED_ROWS);
            next = [part.changes.start, part.acts.start - 1];
            let Some(position) = part.next else { break };
            query.after = Some(position);
        }
        assert_eq!(next, [oldest, BEGINNING.seq - 1]);
    }
}
