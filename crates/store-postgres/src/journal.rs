//! The statements for the log of changes and the audit trail.
//!
//! The module [`super::numbering`] explains how changes get their numbers, and what a run is.
//! [`petstore_store::admin::Sql`] describes the constants that have no description here.

use petstore_store::{
    admin::{
        journal::{FORGET_ACTS, last_forgotten},
        offers::returns,
    },
    drivers::postgres::Failure,
    journal_rows::{self, audited_changes, change_columns, changes_between},
};
use tokio_postgres::types::ToSql;

use super::{
    connection::Connection,
    numbering::{FIRST_COLUMN, STATE, numbered},
};

pub(super) const CHANGES: &str = changes_between!(concat!(numbered!("$1", "$2"), " WHERE TRUE"));
/// The query for a page of the changes of an animal, newest first. It sorts by id instead of number: for
/// the changes of one animal, the order is the same.
pub(super) const HISTORY: &str = concat!(
    "SELECT ",
    change_columns!(),
    " FROM (
        SELECT run.seq + row.id - run.id AS seq, row.* FROM changes AS row CROSS JOIN LATERAL (
            SELECT * FROM change_numbers WHERE id <= row.id ORDER BY id DESC LIMIT 1
        ) AS run
        WHERE row.pet_id = $1 AND row.id < run.id + run.length
    ) AS changes
    WHERE seq < $2 ORDER BY id DESC LIMIT $3"
);
pub(super) const RETURNS: &str = returns!(concat!(numbered!("$1", "$2"), " WHERE TRUE"));
/// Expands to the query for the last change above $1 and below $2 such that its run and all earlier runs
/// have only changes older than $3. If there is no such change, the result is $1.
///
/// It is a macro because only literals can be joined into a constant, such as [`NEWEST_OLDER`].
macro_rules! last_older {
    () => {
        "SELECT coalesce((
            SELECT greatest($1::bigint, least($2::bigint - 1, seq + length - 1))
            FROM change_numbers WHERE latest_at < $3 ORDER BY latest_at DESC, seq DESC LIMIT 1), $1)"
    };
}
pub(super) const LAST_OLDER: &str = last_older!();
/// The query for the last change of the run that begins after the change of [`LAST_OLDER`].
pub(super) const NEWEST_OLDER: &str = concat!(
    "SELECT greatest(last, (
        SELECT seq + length - 1 FROM change_numbers WHERE seq <= last + 1 ORDER BY seq DESC LIMIT 1))
    FROM (",
    last_older!(),
    ") AS older (last)"
);
/// The query that tells whether any change above $1 and up to $2 is older than $3.
pub(super) const HAS_OLDER: &str = concat!(
    "SELECT EXISTS (SELECT FROM ",
    numbered!("$1", "$2"),
    " WHERE at < $3)"
);
pub(super) const AUDIT_CHANGES: [&str; 2] = [
    audited_changes!(concat!(numbered!("$1", "$2"), " WHERE TRUE"), ""),
    audited_changes!(concat!(numbered!("$1", "$2"), " WHERE TRUE"), "DESC"),
];
/// The statement that records an act of administration.
pub(super) const RECORD: &str = "INSERT INTO acts
    (seq, at, type, subject_id, actor, actor_id, actor_name, request_id, details)
    SELECT last, $1, $2, $3, $4, $5, $6, $7, $8 FROM change_log";
/// The query for the last change above $1 and up to $4 that can be forgotten: it is old enough, it is not
/// the newest change, and it has been delivered to every webhook.
const LAST_FORGOTTEN: &str = concat!(
    "WITH part AS (SELECT seq AS number, at FROM ",
    numbered!("$1", "$4"),
    ") ",
    last_forgotten!(),
    " AND number < coalesce(",
    journal_rows::undelivered!(),
    ", (SELECT last FROM change_log))"
);
/// The statement that deletes the changes up to $1, and their numbers. If a run reaches beyond $1, only
/// its beginning is cut off.
const FORGET_CHANGES: &str = "WITH runs AS (
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
pub(super) const CONFIRM_FIRST: &str = "UPDATE confirmed_time
    SET at = coalesce((SELECT at FROM changes ORDER BY id DESC LIMIT 1), $1) WHERE at IS NULL";

/// Deletes old changes and acts, like [`petstore_store::Journal::forget_changes`].
///
/// A change is old if it comes before the first change with a time from `kept_from` to
/// `kept_until`, in milliseconds. Acts follow the same rule. Deletes at most `limit` changes and at
/// most `limit` acts. Returns the number of deleted changes or of deleted acts, whichever is
/// higher. If it reaches `limit`, there may be more to delete.
pub(super) async fn forget_changes(
    connection: &mut Connection,
    kept_from: i64,
    kept_until: i64,
    limit: i64,
) -> Result<usize, Failure> {
    let state_row = connection.query_one(STATE, &[]).await?;
    let before_first = state_row.try_get::<_, i64>(FIRST_COLUMN)? - 1;
    let last_examined = before_first + limit;
    let parameters: [&(dyn ToSql + Sync); 4] =
        [&before_first, &kept_from, &kept_until, &last_examined];
    let row = connection.query_one(LAST_FORGOTTEN, &parameters).await?;
    let last_to_forget: Option<i64> = row.try_get(0)?;

    let mut deleted_rows = connection
        .execute(FORGET_ACTS, &[&limit, &kept_from, &kept_until])
        .await?;
    if let Some(last) = last_to_forget {
        let deleted_changes = connection.execute(FORGET_CHANGES, &[&last]).await?;
        deleted_rows = deleted_rows.max(deleted_changes);
    }
    Ok(usize::try_from(deleted_rows).unwrap_or(usize::MAX))
}
