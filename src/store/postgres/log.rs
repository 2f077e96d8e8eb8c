//! The log of changes and the audit trail as rows.

use std::ops::RangeInclusive;

use async_trait::async_trait;
use futures_util::FutureExt;
use jiff::Timestamp;
use tokio_postgres::{GenericClient, Row, types::ToSql};

use super::{
    PostgresStore,
    errors::Failure,
    numbering::{STATE, number, numbered},
    pool::{Access, Connection},
    writes::{Value, Write, values},
};
use crate::{
    domain::{
        Actor, NamedActor, PetId, WriteContext,
        store_area::{
            Act, AuditEntry, AuditPosition, AuditQuery, ChangePage, ChangeType, LogState,
            LogSubject, LoggedChange,
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

/// Adds changes in this order, in the transaction that makes them and after its other statements. So
/// the ids are drawn while the transaction holds the locks of all rows that it changes: a later change
/// of the same animal waits for this commit, gets a higher id, and is never visible without these.
const APPEND: &str = "INSERT INTO changes
    (at, actor, actor_id, actor_name, request_id, type, subject_id, version, pet_id, before, after)
    SELECT $1, $2, $3, $4, $5, change.* FROM unnest($6::text[], $7::bigint[], $8::bigint[],
        $9::bigint[], $10::text[], $11::text[]) AS change";
const AFTER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM ",
    numbered!("$1", "$2"),
    " WHERE $3::text IS NULL OR type = $3 ORDER BY seq LIMIT $4"
);
/// The changes of an animal have their ids in the order of their numbers.
const HISTORY: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM (
        SELECT run.seq + row.id - run.id AS seq, row.* FROM changes AS row CROSS JOIN LATERAL (
            SELECT * FROM change_numbers WHERE id <= row.id ORDER BY id DESC LIMIT 1
        ) AS run
        WHERE row.pet_id = $1 AND row.id < run.id + run.length
    ) AS changes
    WHERE seq < $2 ORDER BY id DESC LIMIT $3"
);
/// The last change above $1 and below $2 before whose run, and in it, all are older than $3; $1 if
/// there is none.
const LAST_OLDER: &str = "SELECT coalesce((
        SELECT greatest($1::bigint, least($2::bigint - 1, seq + length - 1))
        FROM change_numbers WHERE latest_at < $3 ORDER BY latest_at DESC, seq DESC LIMIT 1), $1)";
/// The last change of the run that has the change after $1; $1 if there is none.
const RUN_AFTER: &str = "SELECT greatest($1::bigint, (
        SELECT seq + length - 1 FROM change_numbers WHERE seq <= $1 + 1 ORDER BY seq DESC LIMIT 1))";
/// Whether a change above $1 and up to $2 is older than $3.
const HAS_OLDER: &str =
    concat!("SELECT EXISTS (SELECT FROM ", numbered!("$1", "$2"), " WHERE at < $3)");
const AUDITED: [&str; 2] = [
    audited_changes!(concat!(numbered!("$1", "$2"), " WHERE TRUE"), ""),
    audited_changes!(concat!(numbered!("$1", "$2"), " WHERE TRUE"), "DESC"),
];
/// Records an act of administration.
pub(super) const RECORD: &str = "INSERT INTO acts
    (seq, at, type, subject_id, actor, actor_id, actor_name, request_id, details)
    SELECT last, $1, $2, $3, $4, $5, $6, $7, $8 FROM change_log";
/// The last of the changes above $1 and up to $4 that is to be forgotten, not the newest one, and not
/// needed any more.
const LAST_FORGOTTEN: &str = concat!(
    "WITH part AS (SELECT seq AS number, at FROM ",
    numbered!("$1", "$4"),
    ") ",
    last_forgotten!(),
    " AND number < coalesce(",
    log::undelivered!(),
    ", (SELECT last FROM change_log))"
);
/// Deletes the changes up to $1.
const FORGET: &str = "WITH runs AS (
        SELECT id, least(length, $1 - seq + 1) AS length FROM change_numbers WHERE seq <= $1
    ), gone AS (
        DELETE FROM change_numbers WHERE seq <= $1 AND seq + length - 1 <= $1
    ), cut AS (
        UPDATE change_numbers SET seq = $1 + 1, id = id + $1 + 1 - seq, length = length - ($1 + 1 - seq)
        WHERE seq <= $1 AND seq + length - 1 > $1
    )
    DELETE FROM changes WHERE id IN (
        SELECT row.id FROM runs CROSS JOIN LATERAL (
            SELECT id FROM changes WHERE id >= runs.id AND id < runs.id + runs.length LIMIT 10000
        ) AS row)";
const CONFIRMED: &str = "SELECT at FROM confirmed_time WHERE at IS NOT NULL";
const CONFIRM_FIRST: &str = "UPDATE confirmed_time
    SET at = coalesce((SELECT at FROM changes ORDER BY id DESC LIMIT 1), $1) WHERE at IS NULL";
const CONFIRM: &str = "UPDATE confirmed_time SET at = $2 WHERE at = $1";

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

    async fn forget_changes(
        &self,
        kept: RangeInclusive<Timestamp>,
        limit: u32,
    ) -> Result<usize, StoreError> {
        let kept = [kept.start(), kept.end()].map(|time| time.as_millisecond());
        self.run(Access::Write, (), |on, ()| forget(on, kept, limit).boxed()).await
    }

    async fn confirmed_time(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        let now = now.as_millisecond();
        self.run(Access::Write, (), |on, ()| confirmed(on, now).boxed()).await
    }

    async fn confirm_time(
        &self,
        seen: Timestamp,
        now: Timestamp,
        act: Option<(Act, WriteContext)>,
    ) -> Result<bool, StoreError> {
        let times = [seen, now].map(Timestamp::as_millisecond);
        self.run(Access::Write, act, |on, act| confirm(on, times, act.as_ref()).boxed()).await
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

async fn read_after(
    connection: &mut Connection,
    after: i64,
    kind: Option<ChangeType>,
    limit: u32,
) -> Result<ChangePage, Failure> {
    let statement = connection.prepared(STATE).await?;
    let last: i64 = connection.query_one(&statement, &[]).await?.try_get(1)?;
    // Without a filter, a page reads no more changes than it has.
    let most = kind.map_or(i64::from(limit), |_| SCAN);
    let read_to = after.saturating_add(most).min(last).max(after);
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

async fn forget(
    connection: &mut Connection,
    [from, to]: [i64; 2],
    limit: u32,
) -> Result<usize, Failure> {
    let limit = i64::from(limit);
    let state = connection.query_one(STATE, &[]).await?;
    let first = state.try_get::<_, i64>(2)? - 1;
    let parameters: [&(dyn ToSql + Sync); 4] = [&first, &from, &to, &(first + limit)];
    let oldest = connection.query_one(LAST_FORGOTTEN, &parameters).await?;
    let mut forgotten = connection.execute(FORGET_ACTS, &[&limit, &from, &to]).await?;
    if let Some(last) = oldest.try_get::<_, Option<i64>>(0)? {
        forgotten = connection.execute(FORGET, &[&last]).await?.max(forgotten);
    }
    Ok(usize::try_from(forgotten).unwrap_or(usize::MAX))
}

async fn confirmed(connection: &mut Connection, now: i64) -> Result<Timestamp, Failure> {
    if connection.query_opt(CONFIRMED, &[]).await?.is_none() {
        connection.execute(CONFIRM_FIRST, &[&now]).await?;
    }
    connection.query_one(CONFIRMED, &[]).await?.time(0)
}

async fn confirm(
    connection: &mut Connection,
    [seen, now]: [i64; 2],
    act: Option<&(Act, WriteContext)>,
) -> Result<bool, Failure> {
    let transaction = connection.transaction().await?;
    let is_done = transaction.execute(CONFIRM, &[&seen, &now]).await? > 0;
    if let Some((act, context)) = act.filter(|_| is_done) {
        record(&transaction, act, context.into()).await?;
    }
    transaction.commit().await?;
    Ok(is_done)
}

/// Adds these changes. See [`APPEND`].
pub(super) fn append(entries: &[Entry], Origin { at, actor, request_id }: Origin<'_>) -> Write {
    fn all<T>(entries: &[Entry], of: impl Fn(&Entry) -> T) -> Vec<T> {
        entries.iter().map(of).collect()
    }
    let values = values![
        at,
        actor.actor.kind(),
        actor.actor.id(),
        actor.name.as_deref().map(str::to_owned),
        request_id.map(str::to_owned),
        all(entries, |entry| entry.kind.as_str()),
        all(entries, |entry| entry.subject),
        all(entries, |entry| entry.version),
        all(entries, |entry| entry.pet),
        all(entries, |entry| entry.before.clone()),
        all(entries, |entry| entry.after.clone()),
    ];
    Write { sql: APPEND, values }
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
        act.kind.as_str().to_owned(),
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
        let older = connection.query_one(LAST_OLDER, &[&from, &(last + 1), &since]).await?;
        from = older.try_get(0)?;
    }
    let part = match until {
        Some(until) if query.newest_first => {
            let until = log::with_clock_set_back(until);
            let bounds: [&(dyn ToSql + Sync); 3] = [&from, &(last + 1), &until];
            let older: i64 = connection.query_one(LAST_OLDER, &bounds).await?.try_get(0)?;
            let newest = connection.query_one(RUN_AFTER, &[&older]).await?.try_get(0)?;
            Part::newest(query, from, newest)
        }
        None if query.newest_first => Part::newest(query, from, last),
        None => Part::oldest(query, from, last),
        Some(until) => {
            let part = Part::oldest(query, from, last);
            let bounds: [&(dyn ToSql + Sync); 3] = [&part.changes[0], &part.changes[1], &until];
            let has_older = connection.query_one(HAS_OLDER, &bounds).await?.try_get(0)?;
            if has_older { part } else { part.ended() }
        }
    };
    let [of_changes, of_acts] = part.statements(AUDITED);
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
        at: row.time(1)?,
        act: act.ok_or(Failure::Row("details"))?,
        actor: actor(row, 6)?,
        request_id: text(row, 9)?,
    };
    Ok((position, entry))
}

fn change(row: &Row) -> Result<LoggedChange, Failure> {
    let kind: &str = row.try_get(2)?;
    let subject = LogSubject::of_type(kind, row.try_get(3)?);
    Ok(LoggedChange {
        seq: row.try_get(0)?,
        at: row.time(1)?,
        kind: Word::of(kind),
        subject: subject.ok_or(Failure::Row("type"))?,
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
