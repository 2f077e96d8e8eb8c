//! The checks that read the rows of a database, which both stores share.

use std::{fmt::Display, ops::ControlFlow};

use futures_util::FutureExt;
use petstore_domain::store_area::{Resource, UniqueKey};
use rusqlite::types::FromSql as FromSqlite;
use tokio_postgres::types::FromSql as FromPostgres;

use super::{
    admin::{
        Parameters,
        fields::{self, read_owner},
        keys,
    },
    check::{
        CategoryLabels, Checkup, PHOTOS, ProblemGroup, SETS, UNIQUE_VALUES, UNMERGED, WORDS,
        notes_on_choices, notes_on_field_labels, notes_on_shared_values,
    },
    columns::Columns,
    tables::Table,
    value_check::ValueCheck,
    whole::{BorrowedRow, CatalogueConnection, ConnectionError},
};

/// Reports a problem for each row that a statement selects. The first column of the row, which has
/// the type `T`, replaces the `{}` in `problem`.
pub fn report_rows<C: CatalogueConnection, T>(
    connection: &C,
    problem: &str,
    statement: &str,
    values: Parameters<'_>,
    checkup: &mut Checkup,
) -> Result<(), ConnectionError<C>>
where
    T: Display + FromSqlite + for<'r> FromPostgres<'r>,
{
    let mut problems = ProblemGroup::new(&mut checkup.problems);
    for_each_row(connection, statement, values, |row| {
        let name: T = row.value(0)?;
        problems.add(problem.replace("{}", &name.to_string()));
        Ok(())
    })
}

/// Calls `visitor` with every row of a result.
fn for_each_row<C: CatalogueConnection>(
    connection: &C,
    sql: &str,
    values: Parameters<'_>,
    mut visitor: impl FnMut(&BorrowedRow<'_, C>) -> Result<(), ConnectionError<C>>,
) -> Result<(), ConnectionError<C>> {
    connection.for_each_row(sql, values, |row| visitor(row).map(ControlFlow::Continue))
}

/// Checks every animal, order, category and note. Also compares the animals with the tables that
/// are derived from them: unique values, photos and the search. Returns the number of animals in
/// the catalogue.
pub fn check_values<C: CatalogueConnection>(
    connection: &mut C,
    checkup: &mut Checkup,
) -> Result<u64, ConnectionError<C>> {
    let fields = connection.run(&(), |connection, ()| {
        fields::read_fields(connection).boxed()
    })?;
    checkup.notes.extend(notes_on_field_labels(&fields));
    checkup.notes.extend(notes_on_choices(&fields));
    let mut check = ValueCheck::new(fields);
    for_each_row(connection, UNMERGED, &[], |row| {
        check.add_unmerged(row.value(0)?, row.value(1)?);
        Ok(())
    })?;
    let mut pet_count = 0;
    for table in Table::ALL {
        pet_count += check_table(connection, table, &mut check, checkup)?;
    }

    check_unique_values(connection, &mut check, checkup)?;
    for_each_row(connection, PHOTOS, &[], |row| {
        check.add_photo(row.value(0)?, row.value(1)?);
        Ok(())
    })?;
    check_search(connection, &mut check, checkup)?;
    checkup.problems.extend(check.disagreements());
    Ok(pet_count)
}

/// Adds the unique values to the comparison with the animals. Adds a note for each value that
/// several animals share.
fn check_unique_values<C: CatalogueConnection>(
    connection: &C,
    check: &mut ValueCheck,
    checkup: &mut Checkup,
) -> Result<(), ConnectionError<C>> {
    for_each_row(connection, UNIQUE_VALUES, &[], |row| {
        let key = UniqueKey {
            field: row.value(0)?,
            text: row.value(1)?,
        };
        check.add_unique_value(&key, row.value(2)?);
        Ok(())
    })?;
    let mut owners = Vec::new();
    let no_limit = i64::MAX;
    for_each_row(connection, fields::SHARED, &[&no_limit], |row| {
        owners.push(read_owner(row)?);
        Ok(())
    })?;
    checkup.notes.extend(notes_on_shared_values(&owners));
    Ok(())
}

/// Checks every row of a table of animals, orders, categories or notes. Returns the number of its
/// animals in the catalogue, which is 0 for all tables but one.
fn check_table<C: CatalogueConnection>(
    connection: &C,
    table: Table,
    check: &mut ValueCheck,
    checkup: &mut Checkup,
) -> Result<u64, ConnectionError<C>> {
    let mut pet_count = 0;
    let mut labels = CategoryLabels::default();
    let mut problems = ProblemGroup::new(&mut checkup.problems);
    for_each_row(connection, &C::select_all(table), &[], |row| {
        let resource = match table.read(row) {
            Ok(resource) => resource,
            Err(error) if C::is_content_error(&error) => {
                if !C::is_checked_elsewhere(table, row)? {
                    let id: i64 = row.value(0)?;
                    problems.add(format!("{} {id} is invalid: {error}", table.row_noun()));
                }
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        match resource {
            Resource::Pet(pet) => {
                pet_count += u64::from(pet.withdrawal.is_none());
                if let Some(problem) = check.add_pet(&pet) {
                    problems.add(problem);
                }
            }
            Resource::Category(category) => checkup.notes.extend(labels.add(&category)),
            Resource::Order(_) | Resource::Note(_) => {}
        }
        Ok(())
    })?;
    Ok(pet_count)
}

/// Adds the sets and the words of the search to the comparison with the animals.
fn check_search<C: CatalogueConnection>(
    connection: &C,
    check: &mut ValueCheck,
    checkup: &mut Checkup,
) -> Result<(), ConnectionError<C>> {
    let mut set_problems = ProblemGroup::new(&mut checkup.problems);
    for_each_row(connection, SETS, &[], |row| {
        report_content_error::<C>(check.add_set(row), "value_blocks", &mut set_problems)
    })?;
    // Completes the group before the next one begins.
    drop(set_problems);

    let mut word_problems = ProblemGroup::new(&mut checkup.problems);
    for_each_row(connection, WORDS, &[], |row| {
        report_content_error::<C>(check.add_words(row), "word_blocks", &mut word_problems)
    })
}

/// Reports an error that is due to the content of a row as a problem of its table. Returns any
/// other result unchanged.
fn report_content_error<C: CatalogueConnection>(
    result: Result<(), ConnectionError<C>>,
    table: &str,
    problems: &mut ProblemGroup<'_>,
) -> Result<(), ConnectionError<C>> {
    match result {
        Err(error) if C::is_content_error(&error) => {
            problems.add(format!("{table} is invalid: {error}"));
            Ok(())
        }
        result => result,
    }
}

/// Counts the API keys, and reports the invalid ones.
pub fn check_api_keys<C: CatalogueConnection>(
    connection: &C,
    checkup: &mut Checkup,
) -> Result<(), ConnectionError<C>> {
    for_each_row(connection, keys::LIST, &[], |row| {
        checkup.keys += 1;
        match keys::read_key(row) {
            Ok(_) => Ok(()),
            Err(error) if C::is_content_error(&error) => {
                let id: i64 = row.value(0)?;
                let problem = format!("API key {id} is invalid: {error}");
                checkup.problems.push(problem);
                Ok(())
            }
            Err(error) => Err(error),
        }
    })
}
