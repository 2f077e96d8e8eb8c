//! Whether the rows of the store area agree with each other.

use jiff::Timestamp;
use rusqlite::{Connection, types::ValueRef};

use super::{
    super::{errors::is_damage, sql},
    fields, lists,
    rows::SELECT,
};
use crate::{
    domain::pet::HIGHEST_EXPECTED,
    store::{
        admin,
        check::{
            self, Checkup, DISAGREEMENTS, NAMES, OneKind, PHOTOS, SETS, UNIQUE_VALUES, UNMERGED,
            ValueCheck,
        },
        tables::{Table, pet_with_order},
    },
};

const INVALID_TIMES: &str = "SELECT id FROM pets
    WHERE created_at NOT BETWEEN ?1 AND ?2 OR updated_at NOT BETWEEN ?1 AND ?2";
/// An identifier below the highest one would be given twice.
const SEQUENCES: &str = "WITH highest (name, id) AS (
        SELECT 'pets', max(id) FROM withdrawn_pets UNION ALL SELECT 'orders', max(id) FROM orders)
    SELECT name FROM highest
    WHERE id > coalesce((SELECT seq FROM sqlite_sequence WHERE name = highest.name), 0)";
const EXHAUSTED: &str = "SELECT name FROM sqlite_sequence WHERE seq > ?1";
/// Compares all rows of one state of the database.
pub(in super::super) fn agreement(
    connection: &Connection,
    found: &mut Checkup,
) -> rusqlite::Result<()> {
    let moment = connection.unchecked_transaction()?;
    for (problem, statement) in DISAGREEMENTS {
        report(&moment, problem, statement, [], found)?;
    }
    let times = [Timestamp::MIN, Timestamp::MAX].map(Timestamp::as_millisecond);
    report(&moment, "animal {} has an invalid time", INVALID_TIMES, times, found)?;
    // Those in the catalogue were checked before.
    for table in Table::ALL.into_iter().filter(|&table| table != Table::Pets) {
        report_unreadable(&moment, table, found)?;
    }
    for table in moment.prepare(SEQUENCES)?.query_map([], |row| row.get::<_, String>(0))? {
        let table = table?;
        found.problems.push(format!("sqlite_sequence does not contain the last id of {table}"));
    }
    values(&moment, found)
}

/// Compares the values of animals with the fields.
fn values(connection: &Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let mut values = ValueCheck::with(fields::read(connection)?);
    let mut statement = connection.prepare(UNMERGED)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        values.add_unmerged(row.get(0)?, row.get(1)?);
    }
    for table in [Table::Pets, Table::WithdrawnPets] {
        let mut statement = connection.prepare(&SELECT[table as usize])?;
        let mut rows = statement.query([])?;
        let mut found = OneKind::of(&mut found.problems);
        while let Some(row) = rows.next()? {
            match pet_with_order(row) {
                Ok(pet) => values.add_pet(&pet).into_iter().for_each(|problem| found.add(problem)),
                Err(error) if is_damage(&error) => {
                    let is_null = |column| row.get_ref(column).map(|value| value == ValueRef::Null);
                    // Of other animals, that was reported before.
                    if table == Table::Pets && !(is_null("fields")? && is_null("photos")?) {
                        found.add(format!("animal {} is invalid: {error}", row.get::<_, i64>(0)?));
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
    let mut statement = connection.prepare(UNIQUE_VALUES)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        values.add_owner(&(row.get(0)?, row.get(1)?), row.get(2)?);
    }
    let shared = sql::rows(connection, admin::fields::SHARED, &[&i64::MAX])?;
    let owners: Vec<_> = shared.iter().map(admin::fields::owner).collect::<Result<_, _>>()?;
    found.notes.extend(check::notes_of(&owners));
    let mut statement = connection.prepare(PHOTOS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        values.add_photo(row.get(0)?, row.get(1)?);
    }
    for (table, statement) in [("value_blocks", SETS), ("name_blocks", NAMES)] {
        let mut statement = connection.prepare(statement)?;
        let mut rows = statement.query([])?;
        let mut problems = OneKind::of(&mut found.problems);
        while let Some(row) = rows.next()? {
            let added =
                if table == "value_blocks" { values.add_set(row) } else { values.add_names(row) };
            match added {
                Err(error) if is_damage(&error) => {
                    problems.add(format!("{table} is invalid: {error}"));
                }
                other => other?,
            }
        }
    }
    found.problems.extend(values.disagreements());
    Ok(())
}

/// Finds the rows with values that no release writes.
pub(in super::super) fn impossible_values(
    connection: &Connection,
    found: &mut Checkup,
) -> rusqlite::Result<()> {
    let moment = connection.unchecked_transaction()?;
    for (problem, statement) in check::impossible_values("seq") {
        report(&moment, &problem, &statement, [], found)?;
    }
    for table in moment.prepare(EXHAUSTED)?.query_map([HIGHEST_EXPECTED], |row| row.get(0))? {
        let table: String = table?;
        found.problems.push(check::exhausted(&table));
    }
    Ok(())
}

/// Reports each row that a statement finds.
fn report(
    connection: &Connection,
    problem: &str,
    statement: &str,
    values: impl rusqlite::Params,
    found: &mut Checkup,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(statement)?;
    let mut found = OneKind::of(&mut found.problems);
    for id in statement.query_map(values, |row| row.get::<_, i64>(0))? {
        found.add(problem.replace("{}", &id?.to_string()));
    }
    Ok(())
}

/// Reports each row that the service could not show.
fn report_unreadable(
    connection: &Connection,
    table: Table,
    found: &mut Checkup,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&lists::everything(table))?;
    let mut rows = statement.query([])?;
    let mut found = OneKind::of(&mut found.problems);
    while let Some(row) = rows.next()? {
        match table.read(row) {
            Err(error) if is_damage(&error) => {
                let what = table.row();
                found.add(format!("{what} {} is invalid: {error}", row.get::<_, i64>(0)?));
            }
            other => drop(other?),
        }
    }
    Ok(())
}
