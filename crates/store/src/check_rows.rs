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
    whole::{Failed, Shown, Whole},
};

/// Reports each row that a statement finds, by its first column.
pub fn report<W: Whole, T>(
    on: &W,
    problem: &str,
    find: &str,
    values: Parameters<'_>,
    found: &mut Checkup,
) -> Result<(), Failed<W>>
where
    T: Display + FromSqlite + for<'r> FromPostgres<'r>,
{
    let mut problems = OneKind::of(&mut found.problems);
    each(on, find, values, |row| {
        problems.add(problem.replace("{}", &row.value::<T>(0)?.to_string()));
        Ok(())
    })
}

/// Reads each row of a result.
fn each<W: Whole>(
    on: &W,
    sql: &str,
    values: Parameters<'_>,
    mut read: impl FnMut(&Shown<'_, W>) -> Result<(), Failed<W>>,
) -> Result<(), Failed<W>> {
    on.each(sql, values, |row| read(row).map(ControlFlow::Continue))
}

/// Reads each row of a result. What its content makes invalid is a problem of the row, which `what`
/// names.
fn read_each<W: Whole>(
    on: &W,
    sql: &str,
    mut problems: OneKind<'_>,
    what: impl Fn(&Shown<'_, W>) -> Result<Option<String>, Failed<W>>,
    mut read: impl FnMut(&Shown<'_, W>, &mut OneKind<'_>) -> Result<(), Failed<W>>,
) -> Result<(), Failed<W>> {
    each(on, sql, &[], |row| match read(row, &mut problems) {
        Err(error) if W::is_of_content(&error) => {
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
pub fn values<W: Whole>(on: &mut W, found: &mut Checkup) -> Result<u64, Failed<W>> {
    let mut values = ValueCheck::with(on.run(&(), |on, ()| fields::list(on).boxed())?);
    let mut animals = 0;
    each(on, UNMERGED, &[], |row| {
        values.add_unmerged(row.value(0)?, row.value(1)?);
        Ok(())
    })?;
    for table in Table::ALL {
        let name = |row: &Shown<'_, W>| {
            let is_reported = W::is_checked(table, row)?;
            let id: i64 = row.value(0)?;
            Ok((!is_reported).then(|| format!("{} {id}", table.row())))
        };
        let problems = OneKind::of(&mut found.problems);
        read_each(
            on,
            &W::everything(table),
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
    each(on, UNIQUE_VALUES, &[], |row| {
        values.add_owner(&(row.value(0)?, row.value(1)?), row.value(2)?);
        Ok(())
    })?;
    let mut owners = Vec::new();
    each(on, fields::SHARED, &[&i64::MAX], |row| {
        owners.push(owner(row)?);
        Ok(())
    })?;
    found.notes.extend(notes_of(&owners));
    each(on, PHOTOS, &[], |row| {
        values.add_photo(row.value(0)?, row.value(1)?);
        Ok(())
    })?;
    let problems = OneKind::of(&mut found.problems);
    let sets = |_: &Shown<'_, W>| Ok(Some("value_blocks".to_owned()));
    read_each(on, SETS, problems, sets, |row, _| values.add_set(row))?;
    let problems = OneKind::of(&mut found.problems);
    let words = |_: &Shown<'_, W>| Ok(Some("word_blocks".to_owned()));
    read_each(on, WORDS, problems, words, |row, _| values.add_words(row))?;
    found.problems.extend(values.disagreements());
    Ok(animals)
}

/// Reads the API keys.
pub fn api_keys<W: Whole>(on: &W, found: &mut Checkup) -> Result<(), Failed<W>> {
    each(on, keys::LIST, &[], |row| {
        found.keys += 1;
        match keys::key_of(row) {
            Err(error) if W::is_of_content(&error) => {
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
