//! The part of the log that a page of the audit trail reads.
//!
//! The audit trail has changes and acts. An act has the number of the last change before it (`seq`) and an identifier
//! of its own. A page reads at most [`MAX_SCANNED_ROWS`] changes, and the acts next to these changes.

use jiff::Timestamp;
use petstore_domain::{
    Actor,
    store_area::{AuditEntry, AuditPosition, AuditQuery, AuditType, JournalEntry},
};

use crate::journal_rows::{MAX_SCANNED_ROWS, audit_conditions};

/// Becomes the statement that selects the acts with a number from $1 to $2. `$condition_and_order` leaves out the acts
/// before the position of the page, and orders the others.
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
/// Selects the acts after the act $10, which is at the number $1.
const OLDEST_ACTS: &str = audited_acts!(" AND (seq > $1 OR id > $10) ORDER BY seq, id");
/// Selects the acts before the act $10, which is at the number $2.
const NEWEST_ACTS: &str = audited_acts!(" AND (seq < $2 OR id < $10) ORDER BY seq DESC, id DESC");

/// The values of the columns by which the audit trail is searched. `None` selects all.
pub(super) struct AuditFilters {
    pub(super) kind: Option<&'static str>,
    /// A pattern for types, such as `pet.%`.
    pub(super) subject_kind: Option<String>,
    pub(super) subject: Option<i64>,
    pub(super) actor: Option<&'static str>,
    pub(super) actor_id: Option<i64>,
    /// The first time, in milliseconds.
    pub(super) since: Option<i64>,
    /// The time after the last one, in milliseconds.
    pub(super) until: Option<i64>,
    /// The length of the page, and one more, which shows whether more entries follow.
    pub(super) limit: i64,
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
            limit: i64::from(query.limit) + 1,
        }
    }
}

/// The position before the beginning of the audit trail.
const BEGINNING: AuditPosition = AuditPosition { seq: -1, act: 0 };

/// The position after the end of the audit trail.
const END: AuditPosition = AuditPosition {
    seq: i64::MAX,
    act: i64::MAX,
};

/// The time by which a clock can be set back without hiding anything from a search up to a time, in milliseconds.
const MAX_CLOCK_SET_BACK: i64 = 24 * 60 * 60 * 1000;

/// Returns the time up to which a change can be older than `until`, although it is in the log later.
pub(super) fn with_clock_set_back(until: i64) -> i64 {
    until.saturating_add(MAX_CLOCK_SET_BACK)
}

/// Two numbers of the log. [`AuditPart`] says for each range whether its start belongs to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeqRange {
    pub(super) start: i64,
    pub(super) end: i64,
}

/// The part of the log that is read for a page of the audit trail.
#[derive(Debug)]
pub(super) struct AuditPart {
    newest_first: bool,
    /// The changes above the start and up to the end.
    pub(super) changes: SeqRange,
    /// The acts from the start to the end, as far as they follow `act`.
    pub(super) acts: SeqRange,
    /// The identifier of the act after which the part begins.
    pub(super) act: i64,
    /// The position at which the next part begins, if there is one.
    next: Option<AuditPosition>,
}

impl AuditPart {
    /// Returns the next part of a query with the oldest entries first.
    ///
    /// `from` is the last change that is too old for the query, or that was read before. `last` is the last change of
    /// the log.
    pub(super) fn oldest(query: &AuditQuery, from: i64, last: i64) -> Self {
        let after = query.after.unwrap_or(BEGINNING);
        let to = from.saturating_add(MAX_SCANNED_ROWS).min(last);
        let next = (to < last).then_some(AuditPosition {
            seq: to,
            act: i64::MAX,
        });
        Self {
            newest_first: false,
            changes: SeqRange {
                start: from,
                end: to,
            },
            acts: SeqRange {
                start: after.seq,
                end: next.map_or(i64::MAX, |position| position.seq),
            },
            act: after.act,
            next,
        }
    }

    /// Returns the next part of a query with the newest entries first.
    ///
    /// `oldest` is the last change that is too old for the query, and `newest` the last one that is not too new.
    pub(super) fn newest(query: &AuditQuery, oldest: i64, newest: i64) -> Self {
        let newest_position = AuditPosition {
            seq: newest,
            act: i64::MAX,
        };
        let AuditPosition { seq, act } = query.after.unwrap_or(END).min(newest_position);
        // The acts at a change are newer than the change.
        let to = if act > 0 { seq } else { seq - 1 };
        let from = to.saturating_sub(MAX_SCANNED_ROWS).max(oldest).min(to);
        let next = (from > oldest).then_some(AuditPosition {
            seq: from,
            act: i64::MAX,
        });
        Self {
            newest_first: true,
            changes: SeqRange {
                start: from,
                end: to,
            },
            acts: SeqRange {
                start: next.map_or(BEGINNING.seq, |position| position.seq + 1),
                end: seq,
            },
            act,
            next,
        }
    }

    /// Makes this the last part: every change after it is too new. The acts up to the end of the log are in it.
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

    /// Returns the statement that reads the changes, out of [`super::Sql::AUDIT_CHANGES`].
    pub(super) fn change_statement(&self, statements: [&'static str; 2]) -> &'static str {
        let [oldest_first, newest_first] = statements;
        if self.newest_first {
            newest_first
        } else {
            oldest_first
        }
    }

    /// Returns the statement that reads the acts.
    pub(super) fn act_statement(&self) -> &'static str {
        if self.newest_first {
            NEWEST_ACTS
        } else {
            OLDEST_ACTS
        }
    }

    /// Merges the changes and acts of this part into a page of at most `limit` entries. Returns the page, and the
    /// position after which the audit trail continues, if it does.
    pub(super) fn merge(
        &self,
        changes: Vec<JournalEntry>,
        acts: Vec<PositionedEntry>,
        limit: u32,
    ) -> (Vec<AuditEntry>, Option<AuditPosition>) {
        let changes = changes.into_iter().map(PositionedEntry::from);
        let mut entries: Vec<PositionedEntry> = changes.chain(acts).collect();
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

/// An entry of the audit trail, with its position.
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
            let part = AuditPart::newest(&query, oldest, newest);
            assert_eq!([part.changes.end, part.acts.end], next);
            assert!(part.changes.end - part.changes.start <= MAX_SCANNED_ROWS);
            next = [part.changes.start, part.acts.start - 1];
            let Some(position) = part.next else { break };
            query.after = Some(position);
        }
        assert_eq!(next, [oldest, BEGINNING.seq - 1]);
    }
}
