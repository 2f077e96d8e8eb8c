//! Staff and their sessions as rows.

use std::mem;

use async_trait::async_trait;
use futures_util::FutureExt;
use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::{
    PostgresStore,
    errors::Failure,
    log,
    pool::{Access, Connection},
};
use crate::{
    domain::{
        StaffId, WriteContext,
        staff::{StaffChange, StaffMember, StaffSession, TokenDigest},
        store_area::Act,
    },
    store::{
        Changes, Staff, StaffKey, StaffWritten, StoreError,
        staff_rows::{
            BEGIN, BY_ID, BY_LINK, BY_NAME, COUNT, END, FORGET, LIMIT, LIST, MAX_SESSIONS, SESSION,
            SESSIONS, StaffRow, UPDATE, member, session,
        },
    },
};

const INSERT: &str =
    "INSERT INTO staff (name, name_key, role, created_at, link, link_until, version)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name_key) DO NOTHING RETURNING id";
const TOUCH: &str = "UPDATE staff_sessions SET seen_at = greatest(seen_at, $2) WHERE digest = $1";
#[async_trait]
impl Staff for PostgresStore {
    async fn list_staff(&self) -> Result<Vec<StaffMember>, StoreError> {
        self.run(Access::Read, (), |on, ()| list(on).boxed()).await
    }

    async fn find_staff(&self, by: StaffKey) -> Result<Option<StaffMember>, StoreError> {
        self.run(Access::Read, by, |on, by| find(on, by).boxed()).await
    }

    async fn write_staff(
        &self,
        change: StaffChange,
        context: WriteContext,
    ) -> Result<StaffWritten, StoreError> {
        // The act is in the audit trail behind the changes that have a number.
        self.log_state().await?;
        let job = Job { change, context, is_retry: false };
        self.run(Access::Write, job, |on, job| job.attempt(on).boxed()).await
    }

    async fn find_session(
        &self,
        digest: TokenDigest,
    ) -> Result<Option<(StaffSession, StaffMember)>, StoreError> {
        self.run(Access::Read, digest, |on, digest| find_session(on, digest).boxed()).await
    }

    async fn list_sessions(&self) -> Result<Vec<StaffSession>, StoreError> {
        self.run(Access::Read, (), |on, ()| list_sessions(on).boxed()).await
    }

    async fn touch_session(&self, digest: TokenDigest, at: Timestamp) -> Result<(), StoreError> {
        self.run(Access::Write, digest, |on, digest| touch(on, digest, at).boxed()).await
    }

    async fn forget_sessions(
        &self,
        seen: Timestamp,
        begun: Timestamp,
    ) -> Result<usize, StoreError> {
        let before = (seen.as_millisecond(), begun.as_millisecond());
        self.run(Access::Write, before, |on, before| forget(on, *before).boxed()).await
    }

    async fn record_act(&self, act: Act, context: WriteContext) -> Result<(), StoreError> {
        self.log_state().await?;
        self.run(Access::Write, (act, context), |on, (act, context)| {
            record_act(on, act, context).boxed()
        })
        .await
    }
}

/// A change that is made once, however many attempts this takes.
struct Job {
    change: StaffChange,
    context: WriteContext,
    is_retry: bool,
}

impl Job {
    async fn attempt(&mut self, connection: &mut Connection) -> Result<StaffWritten, Failure> {
        if mem::replace(&mut self.is_retry, true)
            && let Some(id) = self.made_before(connection).await?
        {
            connection.confirm().await?;
            return Ok(StaffWritten::Done(id));
        }
        let StaffChange { seen, after, ends, begins, act } = &self.change;
        let row = StaffRow::from(after);
        let transaction = connection.transaction().await?;
        let id = if *seen == 0 {
            let count: i64 = transaction.query_one(COUNT, &[]).await?.try_get(0)?;
            if count >= StaffMember::MAX {
                return Ok(StaffWritten::Full);
            }
            let StaffRow { name, role, created_at, link, link_until, version, .. } = &row;
            let new: [&(dyn ToSql + Sync); 7] =
                [name, &after.name.key(), role, created_at, link, link_until, version];
            match transaction.query_opt(INSERT, &new).await? {
                Some(row) => row.try_get(0)?,
                None => return Ok(StaffWritten::NameTaken),
            }
        } else {
            let values: [&(dyn ToSql + Sync); 11] = [
                &row.role,
                &row.disabled_at,
                &row.password,
                &row.link,
                &row.link_until,
                &row.totp_secret,
                &row.totp_last_period,
                &row.recovery,
                &row.version,
                &row.id,
                seen,
            ];
            if transaction.execute(UPDATE, &values).await? == 0 {
                return Ok(StaffWritten::Stale);
            }
            row.id
        };
        if let Some((kept, ended)) = ends.selected() {
            transaction.execute(END, &[&id, &kept, &ended]).await?;
        }
        if let Some(session) = begins {
            let begun: [&(dyn ToSql + Sync); 7] = [
                &&session.digest.as_bytes()[..],
                &id,
                &session.begun_at.as_millisecond(),
                &session.seen_at.as_millisecond(),
                &session.confirmed_at.map(Timestamp::as_millisecond),
                &session.address,
                &session.browser,
            ];
            transaction.execute(BEGIN, &begun).await?;
            transaction.execute(LIMIT, &[&id, &MAX_SESSIONS]).await?;
        }
        if let Some(act) = act {
            let mut act = act.clone();
            act.subject.id = Some(id);
            log::record(&transaction, &act, (&self.context).into()).await?;
        }
        transaction.commit().await?;
        Ok(StaffWritten::Done(StaffId(id)))
    }

    /// The member, if an earlier attempt made the change, although its connection broke.
    async fn made_before(&self, connection: &mut Connection) -> Result<Option<StaffId>, Failure> {
        let StaffChange { seen, after, begins, .. } = &self.change;
        if let Some(session) = begins {
            let found = find_session(connection, &session.digest).await?;
            return Ok(found.map(|(_, member)| member.id));
        }
        let key =
            if *seen == 0 { StaffKey::Name(after.name.key()) } else { StaffKey::Id(after.id) };
        let found = find(connection, &key).await?;
        let is_made = |found: &StaffMember| {
            found.version == after.version && found.link == after.link && after.version != *seen
        };
        Ok(found.filter(is_made).map(|member| member.id))
    }
}

async fn list(connection: &mut Connection) -> Result<Vec<StaffMember>, Failure> {
    connection.query(LIST, &[]).await?.iter().map(|row| member(row, 0)).collect()
}

async fn find(connection: &mut Connection, by: &StaffKey) -> Result<Option<StaffMember>, Failure> {
    let row = match by {
        StaffKey::Id(StaffId(id)) => connection.query_opt(BY_ID, &[id]).await?,
        StaffKey::Name(key) => connection.query_opt(BY_NAME, &[key]).await?,
        StaffKey::Link(digest) => connection.query_opt(BY_LINK, &[&&digest.as_bytes()[..]]).await?,
    };
    row.map(|row| member(&row, 0)).transpose()
}

async fn find_session(
    connection: &mut Connection,
    digest: &TokenDigest,
) -> Result<Option<(StaffSession, StaffMember)>, Failure> {
    let find = connection.prepared(SESSION).await?;
    let row = connection.query_opt(&find, &[&&digest.as_bytes()[..]]).await?;
    row.map(|row| Ok((session(&row)?, member(&row, 7)?))).transpose()
}

async fn list_sessions(connection: &mut Connection) -> Result<Vec<StaffSession>, Failure> {
    connection.query(SESSIONS, &[]).await?.iter().map(session).collect()
}

async fn touch(
    connection: &mut Connection,
    digest: &TokenDigest,
    at: Timestamp,
) -> Result<(), Failure> {
    connection.execute(TOUCH, &[&&digest.as_bytes()[..], &at.as_millisecond()]).await?;
    Ok(())
}

async fn forget(connection: &mut Connection, before: (i64, i64)) -> Result<usize, Failure> {
    let forgotten = connection.execute(FORGET, &[&before.0, &before.1]).await?;
    Ok(usize::try_from(forgotten).unwrap_or(usize::MAX))
}

async fn record_act(
    connection: &mut Connection,
    act: &Act,
    context: &WriteContext,
) -> Result<(), Failure> {
    Ok(log::record(&**connection, act, context.into()).await?)
}
