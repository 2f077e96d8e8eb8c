//! Numbers the committed changes of the log, without gaps.
//!
//! A change gets its id when it is inserted, and its number only after its commit, because the ids of
//! transactions that are rolled back leave gaps. A run is a row of `change_numbers`: it numbers changes
//! with consecutive ids by consecutive numbers. Ids that have no number yet are kept as open ranges in
//! `change_log`. `crates/store-postgres/migrations/0014_log_in_place.sql` describes the tables.

use petstore_domain::store_area::{Epoch, JournalState};
use petstore_store::drivers::postgres::Failure;
use tokio_postgres::{Row, SimpleQueryMessage};

use super::connection::Connection;

/// Expands to a subquery for the changes with a number above `$after` and up to `$to`. The lateral
/// join reads each run separately, so that no plan scans the table of changes first.
///
/// It is a macro because only literals can be joined into a constant. For example,
/// `concat!("SELECT count(*) FROM ", numbered!("$1", "$2"))` becomes
/// `SELECT count(*) FROM (SELECT … WHERE run.seq <= $2 …) AS changes`.
macro_rules! numbered {
    ($after:literal, $to:literal) => {
        concat!(
            "(SELECT run.seq + row.id - run.id AS seq, row.at, type, subject_id, version, pet_id,
                actor, actor_id, actor_name, request_id, before, after
            FROM change_numbers AS run CROSS JOIN LATERAL (
                SELECT * FROM changes
                WHERE id >= run.id + least(greatest(",
            $after,
            " - run.seq + 1, 0), run.length)
                    AND id < run.id + least(",
            $to,
            " - run.seq + 1, run.length)
                ORDER BY id LIMIT 10000
            ) AS row
            WHERE run.seq <= ",
            $to,
            " AND run.seq >= coalesce((SELECT max(seq) FROM change_numbers WHERE seq <= ",
            $after,
            "), 0)) AS changes"
        )
    };
}

/// Expands to a subquery for the changes that have no number yet. It reads each open range of ids
/// separately, and limits the rows of each by the clause `$limit`.
///
/// It is a macro because only literals can be joined into a constant. For example,
/// `unnumbered!("LIMIT 1")` becomes `(SELECT row.* … ORDER BY id LIMIT 1) AS row) AS changes`.
macro_rules! unnumbered {
    ($limit:literal) => {
        concat!(
            "(SELECT row.* FROM change_log
            CROSS JOIN unnest(open_from, open_to) AS open (low, high)
            CROSS JOIN LATERAL (SELECT * FROM changes WHERE id BETWEEN low AND high
                ORDER BY id ",
            $limit,
            ") AS row) AS changes"
        )
    };
}

/// Expands to a subquery that groups the rows of `$changes` into runs. All changes of a run are of one
/// day, so that runs can be searched by time.
///
/// It is a macro because only literals can be joined into a constant. For example, `runs!("changes")`
/// becomes `(SELECT min(id) AS id, … FROM changes) AS changes GROUP BY …)`.
macro_rules! runs {
    ($changes:expr) => {
        concat!(
            "(SELECT min(id) AS id, count(*) AS length, max(at) AS at FROM (
                SELECT id, at, at / 86400000 AS day, id - row_number() OVER (
                    PARTITION BY at / 86400000, id / 10000 ORDER BY id) AS run FROM ",
            $changes,
            ") AS changes GROUP BY day, id / 10000, run)"
        )
    };
}

pub(super) use numbered;

/// The query for the state of the log: its epoch, the highest number, the lowest number, and whether there
/// are changes without a number.
pub(super) const STATE: &str = concat!(
    "SELECT epoch, last, coalesce((SELECT min(seq) FROM change_numbers), last + 1),
    EXISTS (SELECT FROM ",
    unnumbered!("LIMIT 1"),
    ") FROM change_log"
);
// The columns of `STATE`.
const EPOCH_COLUMN: usize = 0;
const LAST_COLUMN: usize = 1;
pub(super) const FIRST_COLUMN: usize = 2;
const HAS_UNNUMBERED_COLUMN: usize = 3;

/// The query for the values from which [`petstore_store::Offers::public_version`] is computed.
///
/// A change counts even if it has no number yet. The start time of the server is included because of
/// failovers: the new primary can have as many changes as the former primary, but different ones.
pub(super) const PUBLIC_STATE: &str = concat!(
    "SELECT epoch, last + (SELECT count(*) FROM ",
    unnumbered!(""),
    "), (SELECT version FROM field_state), (SELECT version FROM profile),
    (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint FROM change_log"
);
/// The query for the lowest and the highest number.
pub(super) const BOUNDS: &str =
    "SELECT coalesce((SELECT min(seq) FROM change_numbers), last + 1), last FROM change_log";
/// The statements that number up to 10,000 committed changes, in one transaction.
///
/// They are sent as one message. So the server completes the transaction, and releases the lock, even if
/// this process dies. The second statement takes its snapshot once the lock is held, so it sees the
/// newest number, and every change that was committed before.
///
/// The transaction gets its identifier, which becomes `settling`, only after the snapshot, because taking
/// an advisory lock does not assign an identifier. So the identifier is higher than the identifiers of
/// all transactions that had drawn an id for a change when the snapshot was taken.
///
/// The parts of the second statement:
///
/// - `committed` are the changes to number. `runs` groups them, and `numbered` stores the runs.
/// - `moment` tells whether all changes have numbers now (`is_complete`), and whether all
///   transactions before `settling` have ended (`is_settled`).
/// - `bounds` and `still_open` cut the ids of the runs out of the open ranges. They drop the ranges up to
///   `settled_id` when no change can appear there any more.
/// - `noted` updates the row of `change_log`.
const NUMBER: &str = concat!(
    "SELECT pg_advisory_xact_lock(8099991);
    WITH committed AS MATERIALIZED (
        SELECT id, at FROM ",
    unnumbered!("LIMIT 10000"),
    " ORDER BY id LIMIT 10000
    ), runs AS MATERIALIZED (SELECT * FROM ",
    runs!("committed"),
    " AS runs), numbered AS (
        INSERT INTO change_numbers (seq, id, length, latest_at)
        SELECT last + 1 + sum(length) OVER (ORDER BY id) - length, id, length,
            greatest(max(at) OVER (ORDER BY id),
                (SELECT latest_at FROM change_numbers ORDER BY seq DESC LIMIT 1))
        FROM runs CROSS JOIN change_log
    ), moment AS MATERIALIZED (
        SELECT count(*) < 10000 AS is_complete, settling < pg_snapshot_xmin(pg_current_snapshot())
                OR settling > pg_current_xact_id() AS is_settled
        FROM committed CROSS JOIN change_log GROUP BY settling
    ), bounds AS (
        SELECT array_agg(low ORDER BY low) AS lows, array_agg(high ORDER BY high) AS highs
        FROM (SELECT open.* FROM change_log
                CROSS JOIN unnest(open_from, open_to) AS open (low, high)
            UNION ALL SELECT id + length, id - 1 FROM runs) AS bounds
    ), still_open AS (
        SELECT array_agg(low ORDER BY low) AS lows, array_agg(high ORDER BY low) AS highs,
            max(low) - 1 AS highest
        FROM bounds CROSS JOIN unnest(lows, highs) AS open (low, high)
            CROSS JOIN moment CROSS JOIN change_log
        WHERE low <= high
            AND (high > settled_id OR NOT is_complete
                OR settling >= pg_snapshot_xmin(pg_current_snapshot()))
    ), noted AS (
        UPDATE change_log SET last = last + (SELECT sum(length) FROM runs), open_from = lows,
            open_to = highs,
            settled_id = CASE WHEN is_complete AND is_settled THEN highest ELSE settled_id END,
            settling = CASE WHEN is_complete AND is_settled THEN pg_current_xact_id() ELSE settling END
        FROM still_open CROSS JOIN moment
    )
    SELECT count(*) < 10000 FROM committed"
);
/// A subquery for all changes. A change without a number appears with the number that it would get now.
/// `latest_at` is the latest time among a change and all changes before it.
pub(super) const ALL_CHANGES: &str = concat!(
    "(SELECT *, max(at) OVER (ORDER BY seq) AS latest_at FROM (
        SELECT * FROM ",
    numbered!("0", "9223372036854775807"),
    " UNION ALL SELECT (SELECT last FROM change_log) + row_number() OVER (ORDER BY id), at, type,
        subject_id, version, pet_id, actor, actor_id, actor_name, request_id, before, after FROM ",
    unnumbered!("OFFSET 0"),
    ") AS changes) AS changes"
);
/// The statements that let the log continue, with a new epoch, after the changes that were copied into it.
/// A copied change has its number as its id.
pub(super) const CONTINUE_LOG: &str = concat!(
    "INSERT INTO change_numbers (seq, id, length, latest_at)
        SELECT id, id, length, max(at) OVER (ORDER BY id) FROM ",
    runs!("changes"),
    " AS runs WHERE NOT EXISTS (SELECT FROM change_numbers)
            AND EXISTS (SELECT FROM changes WHERE latest_at IS NOT NULL);
    UPDATE change_log SET epoch = uuid_send(gen_random_uuid());
    UPDATE change_log SET last = copied.last, open_from = ARRAY[copied.last + 1]
        FROM (SELECT max(id) AS last FROM changes WHERE latest_at IS NOT NULL) AS copied
        WHERE change_log.last < copied.last;
    SELECT setval('change_ids', last) FROM change_log WHERE last > (SELECT last_value FROM change_ids)"
);

/// Numbers all changes that were committed before the call, and returns the state of the log
/// afterwards. If all changes already have numbers, this only reads, and takes no lock.
pub(super) async fn number_changes(connection: &mut Connection) -> Result<JournalState, Failure> {
    // Whether the last `NUMBER` has numbered all changes that it saw. The loop then ends, even if
    // others have committed changes in the meantime, because they could keep the loop going
    // forever.
    let mut is_complete = false;
    loop {
        let statement = connection.prepare_once(STATE).await?;
        let row = connection.query_one(&statement, &[]).await?;
        let has_unnumbered: bool = row.try_get(HAS_UNNUMBERED_COLUMN)?;
        if is_complete || !has_unnumbered {
            return read_state(&row);
        }
        let messages = connection.simple_query(NUMBER).await?;
        is_complete = messages.iter().any(reports_complete);
    }
}

/// Reads a row of [`STATE`].
fn read_state(row: &Row) -> Result<JournalState, Failure> {
    let epoch: Vec<u8> = row.try_get(EPOCH_COLUMN)?;
    let epoch_bytes = epoch.try_into().map_err(|_| Failure::Row("epoch"))?;
    Ok(JournalState {
        epoch: Epoch(epoch_bytes),
        first: row.try_get(FIRST_COLUMN)?,
        last: row.try_get(LAST_COLUMN)?,
    })
}

/// Whether this message from [`NUMBER`] reports that all changes have numbers now. Only the last
/// statement of [`NUMBER`] returns such a message: a row whose only column is true.
fn reports_complete(message: &SimpleQueryMessage) -> bool {
    match message {
        SimpleQueryMessage::Row(row) => row.columns().len() == 1 && row.get(0) == Some("t"),
        _ => false,
    }
}
