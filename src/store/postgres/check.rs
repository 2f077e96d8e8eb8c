//! Whether the rows of a database agree with each other. PostgreSQL itself checks each row when it is
//! written, and `pg_amcheck` checks pages and indexes.

use std::ops::ControlFlow;

use super::{
    PostgresUrl, errors::Failure, snapshot::PostgresSnapshot, store_area::lists::everything,
};
use crate::{
    domain::{pet::HIGHEST_EXPECTED, store_area::Resource},
    store::{
        OpenError, StoreError,
        admin::{fields, keys},
        bulk::Snapshot,
        check::{
            self, Checkup, DISAGREEMENTS, NAMES, OneKind, PHOTOS, SETS, UNIQUE_VALUES, UNMERGED,
            ValueCheck,
        },
        tables::Table,
    },
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

/// See [`crate::store::check`].
pub(in crate::store) fn check(url: &PostgresUrl) -> Result<Checkup, OpenError> {
    let mut snapshot = PostgresSnapshot::open(url)?;
    read(&mut snapshot)
        .map_err(|error| OpenError::Io { path: url.to_string(), cause: std::sync::Arc::new(error) })
}

fn read(snapshot: &mut PostgresSnapshot) -> Result<Checkup, StoreError> {
    let mut found = Checkup::default();
    let disagreements = DISAGREEMENTS.map(|(problem, find)| (problem.to_owned(), find.to_owned()));
    for (problem, statement) in disagreements.into_iter().chain(check::impossible_values("id")) {
        let mut problems = OneKind::of(&mut found.problems);
        snapshot.each(&statement, &[], |row| {
            problems.add(problem.replace("{}", &row.try_get::<_, i64>(0)?.to_string()));
            Ok(ControlFlow::Continue(()))
        })?;
    }
    let mut values = ValueCheck::with(snapshot.fields()?);
    snapshot.each(UNMERGED, &[], |row| {
        values.add_unmerged(row.try_get(0)?, row.try_get(1)?);
        Ok(ControlFlow::Continue(()))
    })?;
    for table in Table::ALL {
        let mut problems = OneKind::of(&mut found.problems);
        snapshot.each(&everything(table), &[], |row| {
            match table.read(row) {
                Ok(Resource::Pet(pet)) => {
                    found.animals += u64::from(pet.withdrawn.is_none());
                    values.add_pet(&pet).into_iter().for_each(|problem| problems.add(problem));
                }
                Ok(_) => {}
                Err(error @ (Failure::Row(_) | Failure::Column(_))) => {
                    let (what, id): (_, i64) = (table.row(), row.try_get(0)?);
                    problems.add(format!("{what} {id} is invalid: {error}"));
                }
                Err(error) => return Err(error),
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    snapshot.each(UNIQUE_VALUES, &[], |row| {
        values.add_owner(&(row.try_get(0)?, row.try_get(1)?), row.try_get(2)?);
        Ok(ControlFlow::Continue(()))
    })?;
    let mut owners = Vec::new();
    snapshot.each(fields::SHARED, &[&i64::MAX], |row| {
        owners.push(fields::owner(row)?);
        Ok(ControlFlow::Continue(()))
    })?;
    found.notes.extend(check::notes_of(&owners));
    snapshot.each(PHOTOS, &[], |row| {
        values.add_photo(row.try_get(0)?, row.try_get(1)?);
        Ok(ControlFlow::Continue(()))
    })?;
    for (table, statement) in [("value_blocks", SETS), ("name_blocks", NAMES)] {
        let mut problems = OneKind::of(&mut found.problems);
        snapshot.each(statement, &[], |row| {
            let added =
                if table == "value_blocks" { values.add_set(row) } else { values.add_names(row) };
            match added {
                Err(error @ (Failure::Row(_) | Failure::Column(_))) => {
                    problems.add(format!("{table} is invalid: {error}"));
                }
                other => other?,
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    found.problems.extend(values.disagreements());
    for (statement, problem) in [
        (INDEXES, "the index {} is missing or incomplete"),
        (SEQUENCES, "the sequence of ids does not contain the last id of {}"),
    ] {
        snapshot.each(statement, &[], |row| {
            found.problems.push(problem.replace("{}", row.try_get(0)?));
            Ok(ControlFlow::Continue(()))
        })?;
    }
    snapshot.each(EXHAUSTED, &[&HIGHEST_EXPECTED], |row| {
        found.problems.push(check::exhausted(row.try_get(0)?));
        Ok(ControlFlow::Continue(()))
    })?;
    snapshot.each(keys::LIST, &[], |row| {
        found.keys += 1;
        match keys::key_of(row) {
            Err(error @ (Failure::Row(_) | Failure::Column(_))) => {
                let id: i64 = row.try_get(0)?;
                found.problems.push(format!("API key {id} is invalid: {error}"));
            }
            other => drop(other?),
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}
