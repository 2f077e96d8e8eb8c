//! Staff and their sessions as rows.

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::{log, store::SqliteStore};
use crate::{
    domain::{
        StaffId, WriteContext,
        staff::{StaffChange, StaffMember, StaffSession, TokenDigest},
        store_area::Act,
    },
    store::{
        Staff, StaffKey, StaffWritten, StoreError,
        staff_rows::{
            BEGIN, BY_ID, BY_LINK, BY_NAME, COUNT, END, FORGET, LIMIT, LIST, MAX_SESSIONS, SESSION,
            SESSIONS, StaffRow, UPDATE, member, session,
        },
    },
};

const NAME_TAKEN: &str = "SELECT 1 FROM staff WHERE name_key = ?1";
const INSERT: &str =
    "INSERT INTO staff (name, name_key, role, created_at, link, link_until, version)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const TOUCH: &str = "UPDATE staff_sessions SET seen_at = max(seen_at, ?2) WHERE digest = ?1";
#[async_trait]
impl Staff for SqliteStore {
    async fn list_staff(&self) -> Result<Vec<StaffMember>, StoreError> {
        self.readers.read(|connection| {
            connection.prepare_cached(LIST)?.query_map([], |row| member(row, 0))?.collect()
        })
    }

    async fn find_staff(&self, by: StaffKey) -> Result<Option<StaffMember>, StoreError> {
        self.readers.read(|connection| match &by {
            StaffKey::Id(StaffId(id)) => find(connection, BY_ID, id),
            StaffKey::Name(key) => find(connection, BY_NAME, key),
            StaffKey::Link(digest) => find(connection, BY_LINK, digest.as_bytes()),
        })
    }

    async fn write_staff(
        &self,
        change: StaffChange,
        context: WriteContext,
    ) -> Result<StaffWritten, StoreError> {
        self.writer.write(move |connection| write(connection, &change, &context)).await
    }

    async fn find_session(
        &self,
        digest: TokenDigest,
    ) -> Result<Option<(StaffSession, StaffMember)>, StoreError> {
        self.readers.read(|connection| {
            let found = |row: &Row<'_>| Ok((session(row)?, member(row, 7)?));
            let mut find = connection.prepare_cached(SESSION)?;
            find.query_row([digest.as_bytes()], found).optional()
        })
    }

    async fn list_sessions(&self) -> Result<Vec<StaffSession>, StoreError> {
        self.readers.read(|connection| {
            connection.prepare_cached(SESSIONS)?.query_map([], |row| session(row))?.collect()
        })
    }

    async fn touch_session(&self, digest: TokenDigest, at: Timestamp) -> Result<(), StoreError> {
        let touch = move |connection: &Connection| {
            connection.execute(TOUCH, params![digest.as_bytes(), at.as_millisecond()]).map(drop)
        };
        self.writer.write(touch).await
    }

    async fn forget_sessions(
        &self,
        seen: Timestamp,
        begun: Timestamp,
    ) -> Result<usize, StoreError> {
        let before = [seen.as_millisecond(), begun.as_millisecond()];
        self.writer.write(move |connection| connection.execute(FORGET, before)).await
    }

    async fn record_act(&self, act: Act, context: WriteContext) -> Result<(), StoreError> {
        let record =
            move |connection: &Connection| log::record(connection, &act, (&context).into());
        self.writer.write(record).await
    }
}

fn find(
    connection: &Connection,
    by: &str,
    key: impl ToSql,
) -> rusqlite::Result<Option<StaffMember>> {
    connection.prepare_cached(by)?.query_row([key], |row| member(row, 0)).optional()
}

fn write(
    connection: &Connection,
    change: &StaffChange,
    context: &WriteContext,
) -> rusqlite::Result<StaffWritten> {
    let StaffChange { seen, after, ends, begins, act } = change;
    let row = StaffRow::from(after);
    let id = if *seen == 0 {
        let key = after.name.key();
        if connection.prepare_cached(NAME_TAKEN)?.exists([&key])? {
            return Ok(StaffWritten::NameTaken);
        }
        if connection.query_row(COUNT, [], |row| row.get::<_, i64>(0))? >= StaffMember::MAX {
            return Ok(StaffWritten::Full);
        }
        let StaffRow { name, role, created_at, link, link_until, version, .. } = row;
        let new = params![name, key, role, created_at, link, link_until, version];
        connection.prepare_cached(INSERT)?.insert(new)?
    } else {
        let changed = connection.prepare_cached(UPDATE)?.execute(params![
            row.role,
            row.disabled_at,
            row.password,
            row.link,
            row.link_until,
            row.totp_secret,
            row.totp_last_period,
            row.recovery,
            row.version,
            row.id,
            seen
        ])?;
        if changed == 0 {
            return Ok(StaffWritten::Stale);
        }
        row.id
    };
    if let Some((kept, ended)) = ends.selected() {
        connection.prepare_cached(END)?.execute(params![id, kept, ended])?;
    }
    if let Some(session) = begins {
        let StaffSession { digest, begun_at, seen_at, confirmed_at, address, browser, .. } =
            session;
        connection.prepare_cached(BEGIN)?.execute(params![
            digest.as_bytes(),
            id,
            begun_at.as_millisecond(),
            seen_at.as_millisecond(),
            confirmed_at.map(Timestamp::as_millisecond),
            address,
            browser
        ])?;
        connection.prepare_cached(LIMIT)?.execute([id, MAX_SESSIONS])?;
    }
    if let Some(act) = act {
        let mut act = act.clone();
        act.subject.id = Some(id);
        log::record(connection, &act, context.into())?;
    }
    Ok(StaffWritten::Done(StaffId(id)))
}
