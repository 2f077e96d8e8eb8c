//! Whether the rows of a database agree with each other. PostgreSQL itself checks each row when it is
//! written, and `pg_amcheck` checks pages and indexes.

use petstore_domain::pet::HIGHEST_EXPECTED;
use petstore_store::{
    OpenError,
    check::{self, Checkup, DISAGREEMENTS},
    check_rows::{check_api_keys, check_values, report_rows},
    drivers::postgres::Failure,
};

use super::{
    PostgresUrl,
    bulk::{Blocking, snapshot},
    cannot_read,
};

/// Without one of these, the service rejects writes that it should not, or accepts others.
const INDEXES: &str =
    "SELECT name FROM unnest(ARRAY['pets_token', 'pets_by_status', 'orders_one_holds', 'orders_by_pet', 'orders_by_status',
        'orders_by_reference', 'orders_by_end', 'requests_pkey']) AS name
    WHERE NOT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(name) AND indisvalid)";
/// An identifier below the highest one would be given twice.
const SEQUENCES: &str = "SELECT name FROM (VALUES
        ('pets', (SELECT max(id) FROM (SELECT id FROM pets UNION ALL SELECT id FROM withdrawn_pets)
            AS pets), (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM pets_ids)),
        ('orders', (SELECT max(id) FROM orders),
            (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM orders_ids)))
    AS of (name, highest, last) WHERE highest > last";
const EXHAUSTED: &str = "SELECT sequencename::text FROM pg_sequences
    WHERE schemaname = current_schema() AND last_value > $1";

/// See [`petstore_store::check`].
pub fn check(url: &PostgresUrl) -> Result<Checkup, OpenError> {
    read(&mut snapshot(url)?).map_err(|error| cannot_read(url, error.into()))
}

fn read(on: &mut Blocking) -> Result<Checkup, Failure> {
    let mut found = Checkup::default();
    let disagreements = DISAGREEMENTS.map(|(problem, find)| (problem.to_owned(), find.to_owned()));
    for (problem, find) in disagreements
        .into_iter()
        .chain(check::impossible_values("id"))
    {
        report_rows::<_, i64>(on, &problem, &find, &[], &mut found)?;
    }
    found.animals = check_values(on, &mut found)?;
    for (find, problem) in [
        (INDEXES, "the index {} is missing or incomplete"),
        (
            SEQUENCES,
            "the sequence of ids does not contain the last id of {}",
        ),
    ] {
        report_rows::<_, String>(on, problem, find, &[], &mut found)?;
    }
    report_rows::<_, String>(
        on,
        &check::exhausted_ids_problem(),
        EXHAUSTED,
        &[&HIGHEST_EXPECTED],
        &mut found,
    )?;
    check_api_keys(on, &mut found)?;
    Ok(found)
}
