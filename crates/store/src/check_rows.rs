//! Reads the rows of a database for [`super::check`], in the same way in every store.

use std::{fmt::Display, ops::ControlFlow};

use futures_util::FutureExt;
use petstore_domain::store_area::Resource;
use rusqlite::types::FromSql as FromSqlite;
use tokio_postgres::types::FromSql as FromPostgres;

use super::{
    admin::{
        Parameters,
        fields::{self, owner},
        keys,
    },
    check::{Checkup, OneKind, PHOTOS, SETS, UNIQUE_VALUES, UNMERGED, ValueCheck, WORDS, notes_of},
    columns::Columns,
    tables::Table,
    whole::{BorrowedRow, CatalogueConnection, ConnectionError},
};

/// Reports each row that a statement finds, by its first column.
pub fn report<W: CatalogueConnection, T>(
    connection: &W,
    problem: &str,
    find: &str,
    values: Parameters<'_>,
    found: &mut Checkup,
) -> Result<(), ConnectionError<W>>
where
    T: Display + FromSqlite + for<'r> FromPostgres<'r>,
{
    let mut problems = OneKind::of(&mut found.problems);
    each(connection, find, values, |row| {
        problems.add(problem.replace("{}", &row.value::<T>(0)?.to_string()));
        Ok(())
    })
}

/// Reads each row of a result.
fn each<W: CatalogueConnection>(
    connection: &W,
    sql: &str,
    values: Parameters<'_>,
    mut read: impl FnMut(&BorrowedRow<'_, W>) -> Result<(), ConnectionError<W>>,
) -> Result<(), ConnectionError<W>> {
    connection.each(sql, values, |row| read(row).map(ControlFlow::Continue))
}

/// Reads each row of a result. What its content makes invalid is a problem of the row, which `what`
/// names.
fn read_each<W: CatalogueConnection>(
    connection: &W,
    sql: &str,
    mut problems: OneKind<'_>,
    what: impl Fn(&BorrowedRow<'_, W>) -> Result<Option<String>, ConnectionError<W>>,
    mut read: impl FnMut(&BorrowedRow<'_, W>, &mut OneKind<'_>) -> Result<(), ConnectionError<W>>,
) -> Result<(), ConnectionError<W>> {
    each(connection, sql, &[], |row| match read(row, &mut problems) {
        Err(error) if W::is_content_error(&error) => {
            if let Some(what) = what(row)? {
                problems.add(format!("{what} is invalid: {error}"));
            }
            Ok(())
        }
        done => done,
    })
}

/// Reads everything, and compares the values of animals with the fields. Returns how many animals are
/// in the catalogue.
pub fn values<W: CatalogueConnection>(
    connection: &mut W,
    found: &mut Checkup,
) -> Result<u64, ConnectionError<W>> {
    let mut values =
        ValueCheck::with(connection.run(&(), |connection, ()| fields::list(connection).boxed())?);
    let mut animals = 0;
    each(connection, UNMERGED, &[], |row| {
        values.add_unmerged(row.value(0)?, row.value(1)?);
        Ok(())
    })?;
    for table in Table::ALL {
        let name = |row: &BorrowedRow<'_, W>| {
            let is_reported = W::is_checked(table, row)?;
            let id: i64 = row.value(0)?;
            Ok((!is_reported).then(|| format!("{} {id}", table.row())))
        };
        let problems = OneKind::of(&mut found.problems);
        read_each(
            connection,
            &W::select_all(table),
            problems,
            name,
            |row, problems| {
                if let Resource::Pet(pet) = table.read(row)? {
                    animals += u64::from(pet.withdrawn.is_none());
                    values
                        .add_pet(&pet)
                        .into_iter()
                        .for_each(|problem| problems.add(problem));
                }
                Ok(())
            },
        )?;
    }
    each(connection, UNIQUE_VALUES, &[], |row| {
        values.add_owner(&(row.value(0)?, row.value(1)?), row.value(2)?);
        Ok(())
    })?;
    let mut owners = Vec::new();
    each(connection, fields::SHARED, &[&i64::MAX], |row| {
        owners.push(owner(row)?);
        Ok(())
    })?;
    found.notes.extend(notes_of(&owners));
    each(connection, PHOTOS, &[], |row| {
        values.add_photo(row.value(0)?, row.value(1)?);
        Ok(())
    })?;
    let problems = OneKind::of(&mut found.problems);
    let sets = |_: &BorrowedRow<'_, W>| Ok(Some("value_blocks".to_owned()));
    read_each(connection, SETS, problems, sets, |row, _| {
        values.add_set(row)
    })?;
    let problems = OneKind::of(&mut found.problems);
    let words = |_: &BorrowedRow<'_, W>| Ok(Some("word_blocks".to_owned()));
    read_each(connection, WORDS, problems, words, |row, _| {
        values.add_words(row)
    })?;
    found.problems.extend(values.disagreements());
    Ok(animals)
}

/// Reads the API keys.
pub fn api_keys<W: CatalogueConnection>(
    connection: &W,
    found: &mut Checkup,
) -> Result<(), ConnectionError<W>> {
    each(connection, keys::LIST, &[], |row| {
        found.keys += 1;
        match keys::key_of(row) {
            Err(error) if W::is_content_error(&error) => {
                let id: i64 = row.value(0)?;
                found
                    .problems
                    .push(format!("API key {id} is invalid: {error}"));
            }
            other => drop(other?),
        }
        Ok(())
    })
}
