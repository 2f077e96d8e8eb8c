//! The log of changes and the audit trail as rows.

use std::ops::RangeInclusive;

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::store::SqliteStore;
use crate::{
    domain::{
        Actor, NamedActor, PetId, WriteContext,
        store_area::{
            Act, ActType, AuditEntry, AuditPosition, AuditQuery, ChangePage, ChangeType, Epoch,
            LogState, LogSubject, LoggedChange, StorePet, SubjectKind,
        },
        words::Word,
    },
    store::{
        Changes, StoreError,
        columns::Columns,
        forgotten::{FORGET_ACTS, last_forgotten},
        log::{self, Entry, Origin, Part, SCAN, Selection, audited_changes},
    },
};

/// The columns in the order that [`change`] expects.
macro_rules! columns {
    () => {
        "seq, at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id, \
         before, after"
    };
}

/// The beginning of a row, up to the type. Short, because each use looks for the prepared statement
/// by its text. `latest_at` is that of the newest row, or this time if it is later.
macro_rules! append {
    ($values:literal) => {
        concat!(
            "INSERT INTO changes (latest_at, at, type, subject_id, version, pet_id, actor, actor_id, \
             actor_name, request_id, before, after) VALUES (max(?1, coalesce(\
             (SELECT latest_at FROM changes ORDER BY seq DESC LIMIT 1), ?1)), ?1, ",
            $values,
            ")"
        )
    };
}
const APPEND: &str = append!("?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11");
const APPEND_ADDED: &str = append!("'pet.added', ?2, 1, ?2, ?3, ?4, ?5, ?6, NULL, ?7");
const STATE: &str = "SELECT epoch, coalesce((SELECT min(seq) FROM changes), 1),
    coalesce((SELECT max(seq) FROM changes), 0) FROM change_log";
const AFTER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM changes WHERE seq > ?1 AND seq <= ?2 AND (?3 IS NULL OR type = ?3)
    ORDER BY seq LIMIT ?4"
);
const HISTORY: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM changes INDEXED BY changes_by_pet WHERE pet_id = ?1 AND seq < ?2
    ORDER BY seq DESC LIMIT ?3"
);
/// The last change above $1 and below $2 before which all are older than $3, with itself; $1 if
/// there is none.
const LAST_OLDER: &str = "WITH RECURSIVE search (low, high) AS (
        SELECT CAST($1 AS bigint), CAST($2 AS bigint)
        UNION ALL
        SELECT
            CASE WHEN (SELECT latest_at FROM changes WHERE seq = (low + high) / 2)
                    < CAST($3 AS bigint)
                THEN (low + high) / 2 ELSE low END,
            CASE WHEN (SELECT latest_at FROM changes WHERE seq = (low + high) / 2) < $3
                THEN high ELSE (low + high) / 2 END
        FROM search WHERE high - low > 1)
    SELECT max(low) FROM search";
/// Whether a change above $1 and up to $2 is older than $3.
const HAS_OLDER: &str =
    "SELECT EXISTS (SELECT 1 FROM changes WHERE seq > $1 AND seq <= $2 AND at < $3)";
const AUDITED: [&str; 2] = [
    audited_changes!("changes WHERE seq > $1 AND seq <= $2", ""),
    audited_changes!("changes WHERE seq > $1 AND seq <= $2", "DESC"),
];
/// Records an act of administration.
pub(super) const RECORD: &str = "INSERT INTO acts
    (seq, at, type, subject_id, actor, actor_id, actor_name, request_id, details)
    VALUES (coalesce((SELECT max(seq) FROM changes), 0), $1, $2, $3, $4, $5, $6, $7, $8)";
const FORGET: &str = concat!(
    "WITH part AS (SELECT seq AS number, at FROM changes ORDER BY seq LIMIT $1)
    DELETE FROM changes WHERE seq <= (",
    last_forgotten!(),
    " AND number < coalesce(",
    log::undelivered!(),
    ", (SELECT max(seq) FROM changes)))"
);
const CONFIRMED: &str = "SELECT at FROM confirmed_time WHERE at IS NOT NULL";
const CONFIRM_FIRST: &str = "UPDATE confirmed_time
    SET at = coalesce((SELECT at FROM changes ORDER BY seq DESC LIMIT 1), ?1) WHERE at IS NULL";
const CONFIRM: &str = "UPDATE confirmed_time SET at = ?2 WHERE at = ?1";

#[async_trait]
impl Changes for SqliteStore {
    async fn log_state(&self) -> Result<LogState, StoreError> {
        self.readers.read(state)
    }

    async fn changes_after(
        &self,
        after: i64,
        kind: Option<ChangeType>,
        limit: u32,
    ) -> Result<ChangePage, StoreError> {
        self.followers.read(move |connection| read_after(connection, after, kind, limit)).await
    }

    async fn history(
        &self,
        pet: PetId,
        before: i64,
        limit: u32,
    ) -> Result<Vec<LoggedChange>, StoreError> {
        let read = move |connection: &Connection| {
            let mut statement = connection.prepare_cached(HISTORY)?;
            statement.query_map((pet.get(), before, limit), change)?.collect()
        };
        self.searches.read(read).await
    }

    async fn forget_changes(
        &self,
        kept: RangeInclusive<Timestamp>,
        limit: u32,
    ) -> Result<usize, StoreError> {
        let forget = move |connection: &Connection| {
            let [from, to] = [kept.start(), kept.end()].map(|time| time.as_millisecond());
            let parameters = params![limit, from, to];
            let changes = connection.prepare_cached(FORGET)?.execute(parameters)?;
            let acts = connection.prepare_cached(FORGET_ACTS)?.execute(parameters)?;
            Ok(changes.max(acts))
        };
        self.writer.write(forget).await
    }

    async fn confirmed_time(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        let read = |connection: &Connection| {
            connection.prepare_cached(CONFIRMED)?.query_row([], |row| row.time(0)).optional()
        };
        if let Some(at) = self.readers.read(read)? {
            return Ok(at);
        }
        let begin = move |connection: &Connection| {
            connection.execute(CONFIRM_FIRST, [now.as_millisecond()])?;
            connection.query_row(CONFIRMED, [], |row| row.time(0))
        };
        self.writer.write(begin).await
    }

    async fn confirm_time(
        &self,
        seen: Timestamp,
        now: Timestamp,
        act: Option<(Act, WriteContext)>,
    ) -> Result<bool, StoreError> {
        let confirm = move |connection: &Connection| {
            let times = [seen.as_millisecond(), now.as_millisecond()];
            let is_done = connection.execute(CONFIRM, times)? > 0;
            if let Some((act, context)) = act.as_ref().filter(|_| is_done) {
                record(connection, act, context.into())?;
            }
            Ok(is_done)
        };
        self.writer.write(confirm).await
    }

    async fn list_audit(
        &self,
        query: &AuditQuery,
    ) -> Result<(Vec<AuditEntry>, Option<AuditPosition>), StoreError> {
        let query = query.clone();
        self.searches.read(move |connection| audit(connection, &query)).await
    }
}

/// Appends a change to the log.
pub(super) fn append(
    connection: &Connection,
    entry: &Entry,
    Origin { at, actor, request_id }: Origin<'_>,
) -> rusqlite::Result<()> {
    connection.prepare_cached(APPEND)?.execute(params![
        at,
        entry.kind.as_str(),
        entry.subject,
        entry.version,
        entry.pet,
        actor.actor.kind(),
        actor.actor.id(),
        actor.name,
        request_id,
        entry.before,
        entry.after
    ])?;
    Ok(())
}

/// Appends a new animal, at less cost.
pub(super) fn append_added(
    connection: &Connection,
    pet: &StorePet,
    Origin { at, actor, request_id }: Origin<'_>,
) -> rusqlite::Result<()> {
    connection.prepare_cached(APPEND_ADDED)?.execute(params![
        at,
        pet.id.get(),
        actor.actor.kind(),
        actor.actor.id(),
        actor.name,
        request_id,
        Entry::added(pet).after
    ])?;
    Ok(())
}

/// Records an act of administration.
pub(super) fn record(
    connection: &Connection,
    act: &Act,
    Origin { at, actor, request_id }: Origin<'_>,
) -> rusqlite::Result<()> {
    connection.prepare_cached(RECORD)?.execute(params![
        at,
        act.kind.as_str(),
        act.subject.id,
        actor.actor.kind(),
        actor.actor.id(),
        actor.name,
        request_id,
        log::written(act)
    ])?;
    Ok(())
}

/// Makes the cursors of the log, the sessions of staff and their links invalid, because the database
/// was restored: some may have ended after the backup.
pub(super) fn begin_epoch(connection: &Connection, context: &WriteContext) -> rusqlite::Result<()> {
    renew_epoch(connection)?;
    connection.execute("DELETE FROM staff_sessions", [])?;
    connection.execute("UPDATE staff SET link = NULL, link_until = NULL", [])?;
    let subject = LogSubject { kind: SubjectKind::Database.into(), id: None };
    let act = Act { kind: ActType::DatabaseRestored.into(), subject, details: Vec::new() };
    record(connection, &act, context.into())
}

/// Makes the cursors of the log invalid.
pub(super) fn renew_epoch(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("UPDATE change_log SET epoch = randomblob(16)", []).map(drop)
}

fn state(connection: &Connection) -> rusqlite::Result<LogState> {
    connection.prepare_cached(STATE)?.query_row([], |row| {
        Ok(LogState { epoch: Epoch(row.get(0)?), first: row.get(1)?, last: row.get(2)? })
    })
}

fn read_after(
    connection: &Connection,
    after: i64,
    kind: Option<ChangeType>,
    limit: u32,
) -> rusqlite::Result<ChangePage> {
    let read_to = after.saturating_add(SCAN).min(state(connection)?.last).max(after);
    let kind = kind.map(ChangeType::as_str);
    let mut statement = connection.prepare_cached(AFTER)?;
    log::page(statement.query_map(params![after, read_to, kind, limit], change)?, limit, read_to)
}

/// See [`Changes::list_audit`]. Reads one state of the database.
fn audit(
    connection: &Connection,
    query: &AuditQuery,
) -> rusqlite::Result<(Vec<AuditEntry>, Option<AuditPosition>)> {
    let Selection { kind, subject_kind, subject, actor, actor_id, since, until, limit } =
        query.into();
    let LogState { first, last, .. } = state(connection)?;
    let last_older = |from: i64, time: i64| -> rusqlite::Result<i64> {
        let bounds = params![from, last + 1, time];
        connection.prepare_cached(LAST_OLDER)?.query_row(bounds, |row| row.get(0))
    };
    let mut from = first - 1;
    if let Some(after) = query.after.filter(|_| !query.newest_first) {
        from = from.max(after.seq);
    }
    if let Some(since) = since {
        from = last_older(from, since)?;
    }
    let mut part = if query.newest_first {
        let newest = until.map(|until| last_older(from, log::with_clock_set_back(until)));
        Part::newest(query, from, newest.transpose()?.unwrap_or(last))
    } else {
        Part::oldest(query, from, last)
    };
    if let Some(until) = until.filter(|_| !query.newest_first) {
        let bounds = params![part.changes[0], part.changes[1], until];
        let mut has_older = connection.prepare_cached(HAS_OLDER)?;
        if !has_older.query_row(bounds, |row| row.get::<_, bool>(0))? {
            part = part.ended();
        }
    }
    let [of_changes, of_acts] = part.statements(AUDITED);
    let changes: rusqlite::Result<Vec<_>> = connection
        .prepare_cached(of_changes)?
        .query_map(
            params![
                part.changes[0],
                part.changes[1],
                kind,
                subject_kind,
                subject,
                actor,
                actor_id,
                since,
                until,
                limit
            ],
            change,
        )?
        .collect();
    let acts: rusqlite::Result<Vec<_>> = connection
        .prepare_cached(of_acts)?
        .query_map(
            params![
                part.acts[0],
                part.acts[1],
                kind,
                subject_kind,
                subject,
                actor,
                actor_id,
                since,
                until,
                part.act,
                limit
            ],
            act,
        )?
        .collect();
    Ok(log::merged(&part, changes?, acts?, query.limit))
}

fn act(row: &Row<'_>) -> rusqlite::Result<(AuditPosition, AuditEntry)> {
    let (subject, details) = (row.get(3)?, row.get_ref(5)?.as_str()?);
    let position = AuditPosition { seq: row.get(0)?, act: row.get(4)? };
    let entry = AuditEntry::Act {
        id: position.act,
        at: row.time(1)?,
        act: row.parsed(2, |kind| log::read(kind, subject, details))?,
        actor: self::actor(row, 6)?,
        request_id: row.get(9)?,
    };
    Ok((position, entry))
}

fn change(row: &Row<'_>) -> rusqlite::Result<LoggedChange> {
    let id = row.get(3)?;
    Ok(LoggedChange {
        seq: row.get(0)?,
        at: row.time(1)?,
        kind: row.parsed(2, |kind| Some(Word::of(kind)))?,
        subject: row.parsed(2, |kind| LogSubject::of_type(kind, id))?,
        version: row.get(4)?,
        pet: row.get(5)?,
        actor: actor(row, 6)?,
        request_id: row.get(9)?,
        before: row.get(10)?,
        after: row.get(11)?,
    })
}

/// The actor in three columns.
fn actor(row: &Row<'_>, at: usize) -> rusqlite::Result<NamedActor> {
    let id = row.get(at + 1)?;
    let actor = row.parsed(at, |kind| Actor::of(kind, id))?;
    Ok(NamedActor { actor, name: row.get(at + 2)? })
}
