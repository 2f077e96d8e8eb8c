//! Staff and their sessions as rows.

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params, types::Type};

use super::{log, store::SqliteStore};
use crate::{
    domain::{
        StaffId, WriteContext,
        staff::{StaffChange, StaffMember, StaffSession, TokenDigest},
        store_area::Act,
    },
    store::{
        Staff, StaffKey, StaffWritten, StoreError,
        staff_rows::{self, MAX_SESSIONS, StaffRow},
    },
};

/// The columns in the order that [`member`] expects.
macro_rules! columns {
    () => {
        "id, name, role, created_at, disabled_at, password, link, link_until, totp_secret,
        totp_last_period, recovery, version"
    };
}
/// The columns in the order that [`session`] expects.
macro_rules! session_columns {
    () => {
        "digest, staff_id, begun_at, seen_at, confirmed_at, address, browser"
    };
}

const LIST: &str = concat!("SELECT ", columns!(), " FROM staff ORDER BY id");
const BY_ID: &str = concat!("SELECT ", columns!(), " FROM staff WHERE id = ?1");
const BY_NAME: &str = concat!("SELECT ", columns!(), " FROM staff WHERE name_key = ?1");
const BY_LINK: &str = concat!("SELECT ", columns!(), " FROM staff WHERE link = ?1");
const COUNT: &str = "SELECT count(*) FROM staff";
const NAME_TAKEN: &str = "SELECT 1 FROM staff WHERE name_key = ?1";
const INSERT: &str =
    "INSERT INTO staff (name, name_key, role, created_at, link, link_until, version)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const UPDATE: &str = "UPDATE staff SET role = ?3, disabled_at = ?4, password = ?5, link = ?6,
    link_until = ?7, totp_secret = ?8, totp_last_period = ?9, recovery = ?10, version = ?11
    WHERE id = ?1 AND version = ?2";
const END: &str = "DELETE FROM staff_sessions
    WHERE staff_id = ?1 AND digest IS NOT ?2 AND digest = coalesce(?3, digest)";
const BEGIN: &str = concat!(
    "INSERT INTO staff_sessions (",
    session_columns!(),
    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
);
const LIMIT: &str = "DELETE FROM staff_sessions WHERE staff_id = ?1 AND digest NOT IN
    (SELECT digest FROM staff_sessions WHERE staff_id = ?1 ORDER BY begun_at DESC LIMIT ?2)";
const SESSION: &str =
    concat!("SELECT ", session_columns!(), " FROM staff_sessions WHERE digest = ?1");
const SESSIONS: &str =
    concat!("SELECT ", session_columns!(), " FROM staff_sessions ORDER BY begun_at, digest");
const TOUCH: &str = "UPDATE staff_sessions SET seen_at = max(seen_at, ?2) WHERE digest = ?1";
const FORGET: &str = "DELETE FROM staff_sessions WHERE seen_at <= ?1 OR begun_at <= ?2";

#[async_trait]
impl Staff for SqliteStore {
    async fn list_staff(&self) -> Result<Vec<StaffMember>, StoreError> {
        self.readers
            .read(|connection| connection.prepare_cached(LIST)?.query_map([], member)?.collect())
    }

    async fn find_staff(&self, by: StaffKey) -> Result<Option<StaffMember>, StoreError> {
        self.readers.read(|connection| match &by {
            StaffKey::Id(StaffId(id)) => {
                connection.prepare_cached(BY_ID)?.query_row([id], member).optional()
            }
            StaffKey::Name(key) => {
                connection.prepare_cached(BY_NAME)?.query_row([key], member).optional()
            }
            StaffKey::Link(digest) => connection
                .prepare_cached(BY_LINK)?
                .query_row([digest.as_bytes()], member)
                .optional(),
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
            let mut find = connection.prepare_cached(SESSION)?;
            let Some(found) = find.query_row([digest.as_bytes()], session).optional()? else {
                return Ok(None);
            };
            let of = connection.prepare_cached(BY_ID)?.query_row([found.staff.0], member)?;
            Ok(Some((found, of)))
        })
    }

    async fn list_sessions(&self) -> Result<Vec<StaffSession>, StoreError> {
        self.readers.read(|connection| {
            connection.prepare_cached(SESSIONS)?.query_map([], session)?.collect()
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
            row.id,
            seen,
            row.role,
            row.disabled_at,
            row.password,
            row.link,
            row.link_until,
            row.totp_secret,
            row.totp_last_period,
            row.recovery,
            row.version
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

fn member(row: &Row<'_>) -> rusqlite::Result<StaffMember> {
    let columns = StaffRow {
        id: row.get(0)?,
        name: row.get(1)?,
        role: row.get(2)?,
        created_at: row.get(3)?,
        disabled_at: row.get(4)?,
        password: row.get(5)?,
        link: row.get(6)?,
        link_until: row.get(7)?,
        totp_secret: row.get(8)?,
        totp_last_period: row.get(9)?,
        recovery: row.get(10)?,
        version: row.get(11)?,
    };
    columns.member().ok_or_else(|| invalid("staff"))
}

fn session(row: &Row<'_>) -> rusqlite::Result<StaffSession> {
    staff_rows::session(row.try_into()?).ok_or_else(|| invalid("staff_sessions"))
}

fn invalid(table: &str) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(0, table.to_owned(), Type::Blob)
}
