//! The statements for the log of changes and the audit trail.
//!
//! The log numbers its changes without gaps. The audit trail has the changes and, in a table of their
//! own, the acts of administration ([`Act`]). The epoch of the log is a random value that all its cursors
//! contain, so that a new epoch invalidates them.
//!
//! [`petstore_store::admin::Sql`] describes the public constants that have no description here.

use futures_util::FutureExt;
use petstore_domain::{
    WriteContext,
    store_area::{Act, ActType, Epoch, JournalState, JournalSubject, StorePet, SubjectKind},
};
use petstore_store::{
    admin::{
        journal::{FORGET_ACTS, last_forgotten},
        offers::returns,
        record_act,
    },
    journal_rows::{self, LogEntry, Origin, audited_changes, change_columns, changes_between},
};
use rusqlite::params;

use super::{connection::Connection, newest::Newest, transaction::resolve_now};

/// Expands to a statement that appends a change. `$values` are the values after its two times.
///
/// The statement is short, because each use looks up the prepared statement by its text.
///
/// It is a macro because only literals can be joined into a constant. For example,
/// `append_statement!("?3, ?4")` becomes `INSERT INTO changes (…) VALUES (?1, ?2, ?3, ?4)`.
macro_rules! append_statement {
    ($values:literal) => {
        concat!(
            "INSERT INTO changes (latest_at, at, type, subject_id, version, pet_id, actor, actor_id, \
             actor_name, request_id, before, after) VALUES (?1, ?2, ",
            $values,
            ")"
        )
    };
}
/// The statement that appends a change of any type.
const APPEND: &str = append_statement!("?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12");
/// The statement that appends the change that adds an animal.
const APPEND_ADDED_PET: &str =
    append_statement!("'pet.added', ?3, 1, ?3, ?4, ?5, ?6, ?7, NULL, ?8");
/// The query for the numbers of the first and the last change, and the epoch.
pub(super) const STATE: &str = "SELECT coalesce((SELECT min(seq) FROM changes), 1),
    coalesce((SELECT max(seq) FROM changes), 0), epoch FROM change_log";
pub(super) const CHANGES: &str = changes_between!("changes WHERE seq > $1 AND seq <= $2");
pub(super) const HISTORY: &str = concat!(
    "SELECT ",
    change_columns!(),
    " FROM changes INDEXED BY changes_by_pet WHERE pet_id = $1 AND seq < $2
    ORDER BY seq DESC LIMIT $3"
);
/// The query for the values of [`petstore_store::Offers::public_version`]. The last number of the log is
/// also the count of all changes ever made, because the log has no gaps.
pub(super) const PUBLIC_STATE: &str = "SELECT epoch, coalesce((SELECT max(seq) FROM changes), 0),
    (SELECT version FROM field_state), (SELECT version FROM profile), 0 FROM change_log";
pub(super) const RETURNS: &str = returns!("changes WHERE seq > $1 AND seq <= $2");
/// The query for the last change above $1 and below $2 such that this change and all changes before
/// it are older than $3. If there is no such change, the result is $1. The query is a binary search
/// over `latest_at`, which never decreases.
pub(super) const LAST_OLDER: &str = "WITH RECURSIVE search (low, high) AS (
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
/// The query that tells whether a change above $1 and up to $2 is older than $3.
pub(super) const HAS_OLDER: &str =
    "SELECT EXISTS (SELECT 1 FROM changes WHERE seq > $1 AND seq <= $2 AND at < $3)";
pub(super) const AUDIT_CHANGES: [&str; 2] = [
    audited_changes!("changes WHERE seq > $1 AND seq <= $2", ""),
    audited_changes!("changes WHERE seq > $1 AND seq <= $2", "DESC"),
];
/// The statement that records an act of administration.
pub(super) const RECORD: &str = "INSERT INTO acts
    (seq, at, type, subject_id, actor, actor_id, actor_name, request_id, details)
    VALUES (coalesce((SELECT max(seq) FROM changes), 0), $1, $2, $3, $4, $5, $6, $7, $8)";
/// The statement that deletes the oldest changes that no webhook still has to deliver.
const FORGET_CHANGES: &str = concat!(
    "WITH part AS (SELECT seq AS number, at FROM changes ORDER BY seq LIMIT $1)
    DELETE FROM changes WHERE seq <= (",
    last_forgotten!(),
    " AND number < coalesce(",
    journal_rows::undelivered!(),
    ", (SELECT max(seq) FROM changes)))"
);
pub(super) const CONFIRM_FIRST: &str = "UPDATE confirmed_time
    SET at = coalesce((SELECT at FROM changes ORDER BY seq DESC LIMIT 1), $1) WHERE at IS NULL";

/// Deletes old changes and acts, like [`petstore_store::Journal::forget_changes`].
///
/// A change is old if it comes before the first change with a time from `kept_from` to
/// `kept_until`, in milliseconds. Acts follow the same rule. Deletes at most `limit` changes and at
/// most `limit` acts. Returns the number of deleted changes or of deleted acts, whichever is
/// higher. If it reaches `limit`, there may be more to delete.
pub(super) fn forget_changes(
    connection: &Connection,
    kept_from: i64,
    kept_until: i64,
    limit: i64,
) -> rusqlite::Result<usize> {
    let parameters = [limit, kept_from, kept_until];
    let deleted_changes = connection
        .prepare_cached(FORGET_CHANGES)?
        .execute(parameters)?;
    let deleted_acts = connection
        .prepare_cached(FORGET_ACTS)?
        .execute(parameters)?;
    Ok(deleted_changes.max(deleted_acts))
}

/// Appends a change to the log.
pub(super) fn append(
    connection: &Connection,
    newest: &mut Newest,
    entry: &LogEntry,
    origin: Origin<'_>,
) -> rusqlite::Result<()> {
    let named_actor = origin.actor;
    connection.prepare_cached(APPEND)?.execute(params![
        newest.advance_latest_at(connection, origin.at)?,
        origin.at,
        entry.kind.as_str(),
        entry.subject,
        entry.version,
        entry.pet,
        named_actor.actor.kind(),
        named_actor.actor.id(),
        named_actor.name,
        origin.request_id,
        entry.before,
        entry.after
    ])?;
    Ok(())
}

/// Appends the change that adds an animal. Binds fewer values than [`append`], which makes creates
/// cheaper.
pub(super) fn append_added_pet(
    connection: &Connection,
    newest: &mut Newest,
    pet: &StorePet,
    origin: Origin<'_>,
) -> rusqlite::Result<()> {
    let named_actor = origin.actor;
    connection
        .prepare_cached(APPEND_ADDED_PET)?
        .execute(params![
            newest.advance_latest_at(connection, origin.at)?,
            origin.at,
            pet.id.get(),
            named_actor.actor.kind(),
            named_actor.actor.id(),
            named_actor.name,
            origin.request_id,
            LogEntry::pet_added(pet).after
        ])?;
    Ok(())
}

/// Completes the restore of a database: begins a new epoch of the log, which invalidates all its
/// cursors, and ends all sessions and links of the staff, because some of them may have been ended after
/// the backup was made.
///
/// Records the restore as an act, but only if `has_current_schema`: the tables of an older release
/// may not fit the act.
pub(super) fn finish_restore(
    connection: &mut Connection,
    context: &WriteContext,
    has_current_schema: bool,
) -> rusqlite::Result<()> {
    // The first releases had neither a log nor staff. `None` stands for any attached database.
    if connection.table_exists(None, "change_log")? {
        renew_epoch(connection)?;
    }
    if connection.table_exists(None, "staff_sessions")? {
        connection.execute("DELETE FROM staff_sessions", [])?;
        connection.execute("UPDATE staff SET link = NULL, link_until = NULL", [])?;
    }
    if !has_current_schema {
        return Ok(());
    }
    let subject = JournalSubject {
        kind: SubjectKind::Database.into(),
        id: None,
    };
    let act = Act {
        kind: ActType::DatabaseRestored.into(),
        subject,
        details: Vec::new(),
    };
    // On SQLite, the future is ready at once.
    resolve_now(record_act(connection, &act, context).boxed())
}

/// Replaces the epoch of the log, which invalidates all its cursors.
pub(super) fn renew_epoch(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("UPDATE change_log SET epoch = randomblob(16)", [])?;
    Ok(())
}

/// Reads the numbers of the first and the last change, and the epoch.
pub(super) fn read_state(connection: &Connection) -> rusqlite::Result<JournalState> {
    connection.prepare_cached(STATE)?.query_row([], |row| {
        Ok(JournalState {
            first: row.get(0)?,
            last: row.get(1)?,
            epoch: Epoch(row.get(2)?),
        })
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::opening;
    use petstore_store::OpenMode;

    #[test]
    fn to_forget_old_acts_reads_no_more_than_the_oldest() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let writing = opening::open_for_writing(&path, OpenMode::CreateAndMigrate)
            .unwrap()
            .connection;
        let record =
            "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 999)
            INSERT INTO acts (seq, at, type, actor, details)
            SELECT i, 100 * i, 'key.created', 'operator', '{}' FROM n";
        assert_eq!(writing.execute(record, []).unwrap(), 999);
        let mut forget = writing.prepare(FORGET_ACTS).unwrap();
        for expected_count in [4, 0] {
            forget.reset_status(StatementStatus::VmStep);
            assert_eq!(forget.execute([10, 500, 100_000]).unwrap(), expected_count);
            let steps = forget.get_status(StatementStatus::VmStep);
            assert!(steps < 1_000, "{steps}");
        }
    }
}
