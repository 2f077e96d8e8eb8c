//! The rows of the log of changes, as far as they are the same in every store.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::borrow::Cow;

use jiff::Timestamp;
use petstore_domain::{
    Actor, KeyId, NamedActor, NewKey, PetId, WriteContext,
    store_area::{
        Act, ActType, AuditEntry, AuditPosition, AuditQuery, AuditType, Change, ChangeType,
        JournalEntry, JournalSubject, Resource, StorePet, SubjectKind,
    },
    words::Word,
};
use petstore_formats::json;

/// The maximum number of rows that are read for one page.
pub(super) const SCAN: i64 = 10_000;

/// What the audit trail selects of changes and acts, in SQLite and PostgreSQL. SQLite numbers its
/// parameters as they first appear.
#[macro_export]
macro_rules! selected {
    () => {
        "type = coalesce($3, type) AND type LIKE coalesce($4, '%') \
         AND coalesce(subject_id = $5, $5 IS NULL) AND actor = coalesce($6, actor) \
         AND coalesce(actor_id = $7, $7 IS NULL) AND at >= coalesce($8, at) \
         AND at < coalesce($9, at + 1)"
    };
}
/// The changes above $1 and up to $2, which `$from` reads.
#[macro_export]
macro_rules! audited_changes {
    ($from:expr, $order:literal) => {
        concat!(
            "SELECT ",
            $crate::journal_rows::change_columns!(),
            " FROM ",
            $from,
            " AND ",
            $crate::journal_rows::selected!(),
            " ORDER BY seq ",
            $order,
            " LIMIT $10"
        )
    };
}
/// The columns of a change, in the order in which they are read.
#[macro_export]
macro_rules! change_columns {
    () => {
        "seq, at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id, \
         before, after"
    };
}
/// Some of the changes above $1 and up to $2, which `$from` reads.
#[macro_export]
macro_rules! changes_between {
    ($from:expr) => {
        concat!(
            "SELECT ",
            $crate::journal_rows::change_columns!(),
            " FROM ",
            $from,
            " AND (CAST($3 AS text) IS NULL OR type = $3) ORDER BY seq LIMIT $4"
        )
    };
}
pub use {audited_changes, change_columns, changes_between, selected};
macro_rules! audited_acts {
    ($rest:literal) => {
        concat!(
            "SELECT seq, at, type, subject_id, id, details, actor, actor_id, actor_name, request_id \
             FROM acts WHERE seq >= $1 AND seq <= $2 AND ",
            selected!(),
            $rest,
            " LIMIT $11"
        )
    };
}
/// The acts from $1 on and up to $2; and after the act $10 at $1, or before it at $2.
const OLDEST_ACTS: &str = audited_acts!(" AND (seq > $1 OR id > $10) ORDER BY seq, id");
const NEWEST_ACTS: &str = audited_acts!(" AND (seq < $2 OR id < $10) ORDER BY seq DESC, id DESC");

/// The first change that a webhook which is enabled still has to deliver, or to read.
#[macro_export]
macro_rules! undelivered {
    () => {
        "(SELECT min(coalesce((SELECT min(seq) FROM webhook_waiting WHERE webhook_id = webhooks.id), \
         cursor + 1)) FROM webhooks WHERE disabled_reason IS NULL)"
    };
}
pub use undelivered;

/// The approximate length of a representation without its texts, in bytes.
const USUAL_LENGTH: usize = 256;

/// A change that is about to be logged.
#[derive(Debug)]
pub struct Entry {
    pub kind: ChangeType,
    pub subject: Option<i64>,
    pub version: Option<i64>,
    /// The animal that it concerns, even if the subject is an order.
    pub pet: Option<i64>,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Entry {
    /// A new animal.
    pub fn added(pet: &StorePet) -> Self {
        let id = Some(pet.id.get());
        let after = Some(text(
            |out| json::write_store_pet(out, pet),
            pet.name.as_str().len(),
        ));
        let (kind, version) = (ChangeType::PetAdded, Some(pet.version));
        Self {
            kind,
            subject: id,
            version,
            pet: id,
            before: None,
            after,
        }
    }

    /// Many new animals, or only orders and categories.
    pub fn imported(
        ImportSummary {
            first, last, count, ..
        }: ImportSummary,
    ) -> Self {
        let after = text(
            |out| {
                let mut object = json::Object::begin(out);
                let id = |id: i64| Some(id).filter(|_| count > 0);
                object.or_null("firstId", id(first), |object, id| {
                    object.integer("firstId", id)
                });
                object.or_null("lastId", id(last), |object, id| {
                    object.integer("lastId", id)
                });
                object.integer("count", count);
                object.end();
            },
            0,
        );
        let kind = ChangeType::PetsImported;
        Self {
            kind,
            subject: None,
            version: None,
            pet: None,
            before: None,
            after: Some(after),
        }
    }

    /// A change of the store area.
    pub(super) fn of(change: &Change) -> Self {
        let latest = change.after.as_ref().or(change.before.as_ref());
        Self {
            kind: change.kind,
            subject: latest.map(Resource::id),
            version: latest.map(Resource::version),
            pet: latest.and_then(Resource::pet_id).map(PetId::get),
            before: change.before.as_ref().map(shown),
            after: change.after.as_ref().map(shown),
        }
    }

    /// The length of its representations, in bytes.
    pub fn length(&self) -> usize {
        [&self.before, &self.after]
            .into_iter()
            .flatten()
            .map(String::len)
            .sum()
    }
}

/// The representation of an animal, an order or a category.
pub(super) fn shown(resource: &Resource) -> String {
    text(|out| json::write_resource(out, resource), 0)
}

fn text(write: impl FnOnce(&mut Vec<u8>), length: usize) -> String {
    let mut out = Vec::with_capacity(USUAL_LENGTH + length);
    write(&mut out);
    // JSON is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// The animals of an import, and whether it has anything else.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportSummary {
    pub first: i64,
    pub last: i64,
    pub count: u64,
    has_others: bool,
}

impl ImportSummary {
    pub fn is_empty(&self) -> bool {
        self.count == 0 && !self.has_others
    }

    /// Counts it if it is an animal.
    pub fn add_resource(&mut self, resource: &Resource) {
        match resource {
            Resource::Pet(pet) => self.add(pet.id.get()),
            Resource::Order(_) | Resource::Category(_) => self.has_others = true,
        }
    }

    /// Counts an animal with this identifier.
    pub fn add(&mut self, id: i64) {
        self.first = if self.count == 0 {
            id
        } else {
            self.first.min(id)
        };
        self.last = self.last.max(id);
        self.count += 1;
    }
}

/// Who makes a change or acts, when, and by which request.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'c> {
    /// In milliseconds.
    pub at: i64,
    pub actor: &'c NamedActor,
    pub request_id: Option<&'c str>,
}

impl<'c> From<&'c WriteContext> for Origin<'c> {
    fn from(context: &'c WriteContext) -> Self {
        Self {
            at: context.now.as_millisecond(),
            actor: &context.actor,
            request_id: context.request_id.as_deref(),
        }
    }
}

/// The values of the columns by which the audit trail is searched.
pub(super) struct Selection {
    pub(super) kind: Option<&'static str>,
    pub(super) subject_kind: Option<String>,
    pub(super) subject: Option<i64>,
    pub(super) actor: Option<&'static str>,
    pub(super) actor_id: Option<i64>,
    pub(super) since: Option<i64>,
    pub(super) until: Option<i64>,
    /// One more than wanted shows whether more follow.
    pub(super) limit: i64,
}

impl From<&AuditQuery> for Selection {
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

/// The position after its end.
const END: AuditPosition = AuditPosition {
    seq: i64::MAX,
    act: i64::MAX,
};

/// By how much a clock can be set back without hiding anything from a search up to a time.
const SET_BACK: i64 = 24 * 60 * 60 * 1000;

/// The part of the log that is read for a page of the audit trail.
#[derive(Debug)]
pub(super) struct Part {
    newest_first: bool,
    /// The changes above the first number and up to the second one.
    pub(super) changes: [i64; 2],
    /// The acts from the first number on and up to the second one, as far as they follow `act`.
    pub(super) acts: [i64; 2],
    pub(super) act: i64,
    /// Where the next part begins.
    pub(super) rest: Option<AuditPosition>,
}

impl Part {
    /// The part that begins at the beginning of a query. `from` is the last change that is too old for
    /// it, and `last` that of the log.
    pub(super) fn oldest(query: &AuditQuery, from: i64, last: i64) -> Self {
        let after = query.after.unwrap_or(BEGINNING);
        let to = from.saturating_add(SCAN).min(last);
        let rest = (to < last).then_some(AuditPosition {
            seq: to,
            act: i64::MAX,
        });
        let acts = [after.seq, rest.map_or(i64::MAX, |rest| rest.seq)];
        Self {
            newest_first: false,
            changes: [from, to],
            acts,
            act: after.act,
            rest,
        }
    }

    /// The same with the newest first. `oldest` is the last change that is too old for the query, and
    /// `newest` the last one that is not too new.
    pub(super) fn newest(query: &AuditQuery, oldest: i64, newest: i64) -> Self {
        let AuditPosition { seq, act } = query.after.unwrap_or(END).min(AuditPosition {
            seq: newest,
            act: i64::MAX,
        });
        // The acts at a change are newer than the change.
        let to = if act > 0 { seq } else { seq - 1 };
        let from = to.saturating_sub(SCAN).max(oldest).min(to);
        let rest = (from > oldest).then_some(AuditPosition {
            seq: from,
            act: i64::MAX,
        });
        let acts = [rest.map_or(BEGINNING.seq, |rest| rest.seq + 1), seq];
        Self {
            newest_first: true,
            changes: [from, to],
            acts,
            act,
            rest,
        }
    }

    /// Nothing follows in the other order.
    pub(super) fn ended(self) -> Self {
        Self {
            rest: None,
            acts: [self.acts[0], i64::MAX],
            ..self
        }
    }

    /// The statements that read the changes and the acts. Of the changes, there is one with the oldest
    /// first and one with the newest.
    pub(super) fn statements(&self, of_changes: [&'static str; 2]) -> [&'static str; 2] {
        let [oldest, newest] = of_changes;
        if self.newest_first {
            [newest, NEWEST_ACTS]
        } else {
            [oldest, OLDEST_ACTS]
        }
    }
}

/// The time up to which a change can be older than `until`, although it is in the log later.
pub(super) fn with_clock_set_back(until: i64) -> i64 {
    until.saturating_add(SET_BACK)
}

/// The entries of the audit trail for the changes and acts of a part, each in its order.
pub(super) fn merged(
    part: &Part,
    changes: Vec<JournalEntry>,
    acts: Vec<(AuditPosition, AuditEntry)>,
    limit: u32,
) -> (Vec<AuditEntry>, Option<AuditPosition>) {
    let changes = changes.into_iter().map(|change| {
        (
            AuditPosition {
                seq: change.seq,
                act: 0,
            },
            AuditEntry::Change(change),
        )
    });
    let mut all: Vec<_> = changes.chain(acts).collect();
    all.sort_by_key(|&(position, _)| position);
    if part.newest_first {
        all.reverse();
    }
    let limit = limit as usize;
    let next = if all.len() > limit {
        all.truncate(limit);
        all.last().map(|&(position, _)| position)
    } else {
        part.rest
    };
    (all.into_iter().map(|(_, entry)| entry).collect(), next)
}

/// The details of an act as they are stored.
pub(super) fn written(act: &Act) -> String {
    text(
        |out| {
            let mut object = json::Object::begin(out);
            for (name, value) in &act.details {
                object.text(name, value);
            }
            object.end();
        },
        0,
    )
}

/// The act in a row; `None` if a value is invalid.
pub(super) fn read(kind: &str, subject: Option<i64>, details: &str) -> Option<Act> {
    let details: serde_json::Map<String, serde_json::Value> = serde_json::from_str(details).ok()?;
    let text = |(name, value): (_, serde_json::Value)| {
        Some((Cow::Owned(name), value.as_str()?.to_owned()))
    };
    Some(Act {
        kind: Word::of(kind),
        subject: JournalSubject::of_type(kind, subject)?,
        details: details.into_iter().map(text).collect::<Option<_>>()?,
    })
}

/// The names and texts of an act.
type Details = Vec<(Cow<'static, str>, String)>;

/// An act on an API key.
pub(super) fn act_on_key(kind: ActType, id: KeyId, details: Details) -> Act {
    let subject = JournalSubject {
        kind: SubjectKind::Key.into(),
        id: Some(id.0),
    };
    Act {
        kind: kind.into(),
        subject,
        details,
    }
}

/// The details of a new key in the audit trail.
pub(super) fn details_of(key: &NewKey) -> Details {
    vec![
        ("name".into(), key.name.clone()),
        ("scope".into(), key.scope.as_str().to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_with_the_newest_first_have_no_gap_and_do_not_overlap() {
        let (oldest, newest) = (5, 3 * SCAN);
        let mut query = AuditQuery {
            newest_first: true,
            ..AuditQuery::default()
        };
        let mut next = [newest, newest];
        loop {
            let part = Part::newest(&query, oldest, newest);
            assert_eq!([part.changes[1], part.acts[1]], next);
            assert!(part.changes[1] - part.changes[0] <= SCAN);
            next = [part.changes[0], part.acts[0] - 1];
            let Some(rest) = part.rest else { break };
            query.after = Some(rest);
        }
        assert_eq!(next, [oldest, BEGINNING.seq - 1]);
    }
}
