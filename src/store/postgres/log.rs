//! The log of changes and the audit trail as rows.

use async_trait::async_trait;
use futures_util::FutureExt;
use jiff::Timestamp;
use tokio_postgres::{GenericClient, Row, SimpleQueryMessage, types::ToSql};

use super::{
    PostgresStore,
    errors::Failure,
    pool::{Access, Connection},
    store_area::{Value, rows, values},
};
use crate::{
    domain::{
        Actor, NamedActor, PetId,
        store_area::{
            Act, AuditEntry, AuditPosition, AuditQuery, ChangePage, ChangeType, Epoch, LogState,
            LogSubject, LoggedChange, SubjectKind,
        },
    },
    store::{
        Changes, StoreError,
        log::{self, Origin, Part, SCAN, Selection},
    },
};

/// The columns in the order that [`change`] expects.
macro_rules! columns {
    () => {
        "seq, at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id, \
         before, after"
    };
}

/// The changes of a table without numbers, as rows of the log.
macro_rules! numbered {
    ($table:literal) => {
        concat!(
            "SELECT last + row_number() OVER (ORDER BY id), greatest(max(at) OVER (ORDER BY id),
                (SELECT latest_at FROM changes ORDER BY seq DESC LIMIT 1)),
            at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id,
            before, after FROM ",
            $table,
            " CROSS JOIN change_log"
        )
    };
}

/// Adds a change, in the transaction that makes it and after its other statements. So the id is
/// drawn while the transaction holds the locks of all rows that it changes: a later change of the
/// same animal waits for this commit, gets a higher id, and is never visible without this one.
pub(super) const APPEND: &str = "INSERT INTO unnumbered_changes
    (at, type, subject_id, version, pet_id, actor, actor_id, actor_name, request_id, before, after)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
const STATE: &str = "SELECT epoch, last,
    coalesce((SELECT min(seq) FROM changes), last + 1),
    EXISTS (SELECT FROM unnumbered_changes) FROM change_log";
/// Numbers the committed changes, at most 10,000, in one transaction, which the server completes
/// without another message: a process that stops meanwhile holds up no other. The second statement
/// begins when the lock is held, so it sees the newest number, and every change that was committed
/// before that.
const NUMBER: &str = concat!(
    "SELECT FROM change_log FOR UPDATE;
    WITH taken AS (
        DELETE FROM unnumbered_changes
        WHERE id IN (SELECT id FROM unnumbered_changes ORDER BY id LIMIT 10000) RETURNING *
    ), numbered AS (
        INSERT INTO changes ",
    numbered!("taken"),
    " RETURNING seq
    ), noted AS (
        UPDATE change_log SET last = (SELECT max(seq) FROM numbered)
        WHERE EXISTS (SELECT FROM numbered)
    )
    SELECT count(*) < 10000 FROM numbered"
);
/// All changes, also those without a number, with the number that each would get now.
pub(super) const ALL: &str =
    concat!("SELECT * FROM changes UNION ALL ", numbered!("unnumbered_changes"));
/// Continues the log after its last row, with another epoch.
pub(super) const CONTINUE: &str = "UPDATE change_log SET epoch = uuid_send(gen_random_uuid()),
    last = greatest(last, (SELECT max(seq) FROM changes))";
const AFTER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM changes WHERE seq > $1 AND seq <= $2 AND ($3::text IS NULL OR type = $3)
    ORDER BY seq LIMIT $4"
);
const HISTORY: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM changes WHERE pet_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3"
);
/// Records an act of administration.
pub(super) const RECORD: &str = "INSERT INTO acts
    (seq, at, type, subject_id, actor, actor_id, actor_name, request_id, details)
    SELECT last, $1, $2, $3, $4, $5, $6, $7, $8 FROM change_log";
const FORGET_ACTS: &str = "DELETE FROM acts WHERE id IN
    (SELECT id FROM acts WHERE at < $1 ORDER BY id LIMIT $2)";
const FORGET: &str = "DELETE FROM changes WHERE seq < (SELECT last FROM change_log) AND seq <=
    (SELECT max(seq) FROM (SELECT seq, at FROM changes ORDER BY seq LIMIT $2) AS oldest
     WHERE at < $1)";

#[async_trait]
impl Changes for PostgresStore {
    async fn log_state(&self) -> Result<LogState, StoreError> {
        self.run(Access::Write, (), |on, ()| number(on).boxed()).await
    }

    async fn changes_after(
        &self,
        after: i64,
        kind: Option<ChangeType>,
        limit: u32,
    ) -> Result<ChangePage, StoreError> {
        self.run(Access::Read, (), |on, ()| read_after(on, after, kind, limit).boxed()).await
    }

    async fn history(
        &self,
        pet: PetId,
        before: i64,
        limit: u32,
    ) -> Result<Vec<LoggedChange>, StoreError> {
        // Numbers the newest changes.
        self.log_state().await?;
        self.run(Access::Read, (), |on, ()| history(on, pet, before, limit).boxed()).await
    }

    async fn forget_changes(&self, before: Timestamp, limit: u32) -> Result<usize, StoreError> {
        let before = before.as_millisecond();
        self.run(Access::Write, (), |on, ()| forget(on, before, limit).boxed()).await
    }

    async fn list_audit(
        &self,
        query: &AuditQuery,
    ) -> Result<(Vec<AuditEntry>, Option<AuditPosition>), StoreError> {
        // Its own changes are in the trail, too.
        self.log_state().await?;
        self.run(Access::Read, query, |on, query| audit(on, query).boxed()).await
    }
}

/// Numbers all changes that were committed before, and returns the state then.
async fn number(connection: &mut Connection) -> Result<LogState, Failure> {
    let mut is_complete = false;
    loop {
        let statement = connection.prepared(STATE).await?;
        let row = connection.query_one(&statement, &[]).await?;
        if is_complete || !row.try_get::<_, bool>(3)? {
            let epoch: Vec<u8> = row.try_get(0)?;
            let epoch = Epoch(epoch.try_into().map_err(|_| Failure::Row("epoch"))?);
            return Ok(LogState { epoch, first: row.try_get(2)?, last: row.try_get(1)? });
        }
        let messages = connection.simple_query(NUMBER).await?;
        is_complete = messages.iter().any(|message| match message {
            SimpleQueryMessage::Row(row) => row.columns().len() == 1 && row.get(0) == Some("t"),
            _ => false,
        });
    }
}

async fn read_after(
    connection: &mut Connection,
    after: i64,
    kind: Option<ChangeType>,
    limit: u32,
) -> Result<ChangePage, Failure> {
    let statement = connection.prepared(STATE).await?;
    let last: i64 = connection.query_one(&statement, &[]).await?.try_get(1)?;
    let read_to = after.saturating_add(SCAN).min(last).max(after);
    let parameters: [&(dyn ToSql + Sync); 4] =
        [&after, &read_to, &kind.map(ChangeType::as_str), &i64::from(limit)];
    let statement = connection.prepared(AFTER).await?;
    let rows = connection.query(&statement, &parameters).await?;
    log::page(rows.iter().map(change), limit, read_to)
}

async fn history(
    connection: &mut Connection,
    pet: PetId,
    before: i64,
    limit: u32,
) -> Result<Vec<LoggedChange>, Failure> {
    let statement = connection.prepared(HISTORY).await?;
    let parameters: [&(dyn ToSql + Sync); 3] = [&pet.get(), &before, &i64::from(limit)];
    connection.query(&statement, &parameters).await?.iter().map(change).collect()
}

async fn forget(connection: &mut Connection, before: i64, limit: u32) -> Result<usize, Failure> {
    let parameters: [&(dyn ToSql + Sync); 2] = [&before, &i64::from(limit)];
    let changes = connection.execute(FORGET, &parameters).await?;
    let forgotten = connection.execute(FORGET_ACTS, &parameters).await?.max(changes);
    Ok(usize::try_from(forgotten).unwrap_or(usize::MAX))
}

/// Records an act of administration, in this transaction.
pub(super) async fn record(
    client: &impl GenericClient,
    act: &Act,
    origin: Origin<'_>,
) -> Result<(), tokio_postgres::Error> {
    let values = values_of(act, origin);
    let values: Vec<_> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
    client.execute(RECORD, &values).await.map(drop)
}

/// The values of [`RECORD`].
pub(super) fn values_of(act: &Act, Origin { at, actor, request_id }: Origin<'_>) -> Vec<Value> {
    values![
        at,
        act.kind.as_str(),
        act.subject.id,
        actor.actor.kind(),
        actor.actor.id(),
        actor.name.as_deref().map(str::to_owned),
        request_id.map(str::to_owned),
        log::written(act),
    ]
}

async fn audit(
    connection: &mut Connection,
    query: &AuditQuery,
) -> Result<(Vec<AuditEntry>, Option<AuditPosition>), Failure> {
    let Selection { kind, subject_kind, subject, actor, actor_id, since, until, limit } =
        query.into();
    let state = connection.query_one(STATE, &[]).await?;
    let (last, first): (i64, i64) = (state.try_get(1)?, state.try_get(2)?);
    let mut from = first - 1;
    if let Some(after) = query.after.filter(|_| !query.newest_first) {
        from = from.max(after.seq);
    }
    if let Some(since) = since {
        let older = connection.query_one(log::LAST_OLDER, &[&from, &(last + 1), &since]).await?;
        from = older.try_get(0)?;
    }
    let part = match until {
        Some(until) if query.newest_first => {
            let until = log::with_clock_set_back(until);
            let bounds: [&(dyn ToSql + Sync); 3] = [&from, &(last + 1), &until];
            let newest = connection.query_one(log::LAST_OLDER, &bounds).await?.try_get(0)?;
            Part::newest(query, from, newest)
        }
        None if query.newest_first => Part::newest(query, from, last),
        None => Part::oldest(query, from, last),
        Some(until) => {
            let part = Part::oldest(query, from, last);
            let bounds: [&(dyn ToSql + Sync); 3] = [&part.changes[0], &part.changes[1], &until];
            let has_older = connection.query_one(log::HAS_OLDER, &bounds).await?.try_get(0)?;
            if has_older { part } else { part.ended() }
        }
    };
    let [of_changes, of_acts] = part.statements();
    let selected: [&(dyn ToSql + Sync); 7] =
        [&kind, &subject_kind, &subject, &actor, &actor_id, &since, &until];
    let bounds: [&(dyn ToSql + Sync); 2] = [&part.changes[0], &part.changes[1]];
    let parameters = [&bounds[..], &selected, &[&limit]].concat();
    let rows = connection.query(of_changes, &parameters).await?;
    let changes = rows.iter().map(change).collect::<Result<_, _>>()?;
    let bounds: [&(dyn ToSql + Sync); 2] = [&part.acts[0], &part.acts[1]];
    let parameters = [&bounds[..], &selected, &[&part.act, &limit]].concat();
    let rows = connection.query(of_acts, &parameters).await?;
    let acts = rows.iter().map(act).collect::<Result<_, _>>()?;
    Ok(log::merged(&part, changes, acts, query.limit))
}

fn act(row: &Row) -> Result<(AuditPosition, AuditEntry), Failure> {
    let position = AuditPosition { seq: row.try_get(0)?, act: row.try_get(4)? };
    let act = log::read(row.try_get(2)?, row.try_get(3)?, row.try_get(5)?);
    let entry = AuditEntry::Act {
        id: position.act,
        at: rows::time(row.try_get(1)?)?,
        act: act.ok_or(Failure::Row("details"))?,
        actor: actor(row, 6)?,
        request_id: text(row, 9)?,
    };
    Ok((position, entry))
}

fn change(row: &Row) -> Result<LoggedChange, Failure> {
    let kind: &str = row.try_get(2)?;
    let subject = SubjectKind::of_type(kind).ok_or(Failure::Row("type"))?;
    Ok(LoggedChange {
        seq: row.try_get(0)?,
        at: rows::time(row.try_get(1)?)?,
        kind: kind.parse().map_err(|_| Failure::Row("type"))?,
        subject: LogSubject { kind: subject, id: row.try_get(3)? },
        version: row.try_get(4)?,
        pet: row.try_get(5)?,
        actor: actor(row, 6)?,
        request_id: text(row, 9)?,
        before: text(row, 10)?,
        after: text(row, 11)?,
    })
}

/// The actor in three columns.
fn actor(row: &Row, at: usize) -> Result<NamedActor, Failure> {
    let actor = Actor::of(row.try_get(at)?, row.try_get(at + 1)?);
    let name: Option<&str> = row.try_get(at + 2)?;
    Ok(NamedActor { actor: actor.ok_or(Failure::Row("actor"))?, name: name.map(Into::into) })
}

fn text(row: &Row, at: usize) -> Result<Option<Box<str>>, Failure> {
    Ok(row.try_get::<_, Option<&str>>(at)?.map(Into::into))
}
