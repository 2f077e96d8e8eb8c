//! The log of changes and the audit trail as rows.

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::{SqliteStore, store_area::rows};
use crate::{
    domain::{
        Actor, NamedActor,
        store_area::{
            ChangePage, ChangeType, Epoch, LogState, LogSubject, LoggedChange, SubjectKind,
        },
    },
    store::{
        Changes, StoreError,
        log::{Entry, Origin, SCAN},
    },
};

/// The columns in the order that [`change`] expects.
macro_rules! columns {
    () => {
        "seq, at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id, \
         before, after"
    };
}

const APPEND: &str = "INSERT INTO changes
    (latest_at, at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id,
        before, after)
    VALUES (max(?1, coalesce((SELECT latest_at FROM changes ORDER BY seq DESC LIMIT 1), ?1)),
        ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
const STATE: &str = "SELECT epoch, coalesce((SELECT min(seq) FROM changes), 1),
    coalesce((SELECT max(seq) FROM changes), 0) FROM change_log";
const AFTER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM changes WHERE seq > ?1 AND seq <= ?2 AND (?3 IS NULL OR type = ?3)
    ORDER BY seq LIMIT ?4"
);
const FORGET: &str = "DELETE FROM changes WHERE seq < (SELECT max(seq) FROM changes) AND seq <=
    (SELECT max(seq) FROM (SELECT seq, at FROM changes ORDER BY seq LIMIT ?2) WHERE at < ?1)";

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
        self.searches.read(move |connection| read_after(connection, after, kind, limit)).await
    }

    async fn forget_changes(&self, before: Timestamp, limit: u32) -> Result<usize, StoreError> {
        let forget = move |connection: &Connection| {
            connection.prepare_cached(FORGET)?.execute(params![before.as_millisecond(), limit])
        };
        self.writer.write(forget).await
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
    let changes: rusqlite::Result<Vec<_>> =
        statement.query_map(params![after, read_to, kind, limit], change)?.collect();
    let changes = changes?;
    let is_full = changes.len() == limit as usize;
    let read_to = changes.last().filter(|_| is_full).map_or(read_to, |last| last.seq);
    Ok(ChangePage { changes, read_to })
}

fn change(row: &Row<'_>) -> rusqlite::Result<LoggedChange> {
    let kind =
        rows::parsed(row, 2, |text| ChangeType::ALL.into_iter().find(|of| of.as_str() == text))?;
    let subject = rows::parsed(row, 2, SubjectKind::of_type)?;
    Ok(LoggedChange {
        seq: row.get(0)?,
        at: rows::time(row, 1)?,
        kind,
        subject: LogSubject { kind: subject, id: row.get(3)? },
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
    let actor = rows::parsed(row, at, |kind| Actor::of(kind, id))?;
    Ok(NamedActor { actor, name: row.get(at + 2)? })
}
