//! Checks whether the rows of a database are consistent with each other.
//!
//! Single rows need no check, because PostgreSQL enforces constraints on every write. Pages and indexes
//! are checked by `pg_amcheck`, a tool of PostgreSQL.

use std::sync::Arc;

use petstore_domain::pet::HIGHEST_EXPECTED;
use petstore_store::{
    OpenError, StoreError,
    check::{self, Checkup, DISAGREEMENTS, RowCheck},
    check_rows::{check_api_keys, check_values, report_rows},
    drivers::postgres::Failure,
};

use super::{
    PostgresUrl,
    bulk::{BlockingConnection, snapshot},
    open_error,
};

/// The query for indexes that are missing or invalid. In either case, the service is slow, or
/// accepts a write that it must reject, or rejects a write that it must accept.
const MISSING_INDEXES: &str =
    "SELECT name FROM unnest(ARRAY['pets_token', 'pets_by_status', 'orders_one_holds', 'orders_by_pet', 'orders_by_status',
        'orders_by_reference', 'orders_by_end', 'requests_pkey']) AS name
    WHERE NOT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(name) AND indisvalid)";
/// The query for sequences that are below the highest identifier of their table. Such a sequence would
/// give some identifiers twice.
const SEQUENCES_BEHIND: &str = "SELECT name FROM (VALUES
        ('pets', (SELECT max(id) FROM (SELECT id FROM pets UNION ALL SELECT id FROM withdrawn_pets)
            AS pets), (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM pets_ids)),
        ('orders', (SELECT max(id) FROM orders),
            (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM orders_ids)))
    AS sequence (name, highest, last) WHERE highest > last";
/// The query for sequences that have passed the identifier $1.
const EXHAUSTED_SEQUENCES: &str = "SELECT sequencename::text FROM pg_sequences
    WHERE schemaname = current_schema() AND last_value > $1";

/// Checks the database at `url`, like [`petstore_store::check`].
pub fn check(url: &PostgresUrl) -> Result<Checkup, OpenError> {
    let mut connection = snapshot(url)?;
    match find_problems(&mut connection) {
        Ok(checkup) => Ok(checkup),
        Err(failure) => Err(open_error(url, Arc::new(StoreError::from(failure)))),
    }
}

/// Runs all queries that find problems. Returns the problems and the number of animals.
fn find_problems(connection: &mut BlockingConnection) -> Result<Checkup, Failure> {
    let mut checkup = Checkup::default();
    for RowCheck { problem, statement } in DISAGREEMENTS {
        report_rows::<_, i64>(connection, problem, statement, &[], &mut checkup)?;
    }
    for RowCheck { problem, statement } in check::impossible_values("id") {
        report_rows::<_, i64>(connection, &problem, &statement, &[], &mut checkup)?;
    }
    checkup.animals = check_values(connection, &mut checkup)?;

    report_rows::<_, String>(
        connection,
        "the index {} is missing or incomplete",
        MISSING_INDEXES,
        &[],
        &mut checkup,
    )?;
    report_rows::<_, String>(
        connection,
        "the sequence of ids does not contain the last id of {}",
        SEQUENCES_BEHIND,
        &[],
        &mut checkup,
    )?;
    report_rows::<_, String>(
        connection,
        &check::exhausted_ids_problem(),
        EXHAUSTED_SEQUENCES,
        &[&HIGHEST_EXPECTED],
        &mut checkup,
    )?;
    check_api_keys(connection, &mut checkup)?;
    Ok(checkup)
}
