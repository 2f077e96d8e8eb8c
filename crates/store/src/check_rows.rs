//! The checks that read the rows of a database. Both stores share them.

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
    check::{Checkup, ProblemGroup},
    check_notes::{
        CategoryLabels, notes_on_choices, notes_on_field_labels, notes_on_shared_values,
    },
    columns::Columns,
    tables::Table,
    value_check::ValueCheck,
    whole::{BorrowedRow, CatalogueConnection, ConnectionError},
};

/// Selects the animals that are not merged into the search sets. Each row is a range of
/// identifiers: above the first column, and up to the second one. If another release has merged
/// animals, no animal counts as merged, because that release may have written other words.
const UNMERGED: &str = "SELECT CASE own_merges WHEN merges THEN merged ELSE 0 END,
        CASE own_merges WHEN merges THEN last ELSE 9223372036854775807 END FROM search_state
    UNION ALL SELECT pet_id - 1, pet_id FROM value_changes";
/// Selects the unique values of the animals in the catalogue.
const UNIQUE_VALUES: &str = "SELECT field, key, pet_id FROM unique_values";
/// Selects the photos of all animals.
const PHOTOS: &str = "SELECT id, pet_id FROM photos";
/// Selects the sets of the search: the animals with each value, category and status.
const SETS: &str = "SELECT block, value, pets FROM value_blocks";
/// Selects the words of the search: the animals with each word of a name or value.
const WORDS: &str = "SELECT block, words FROM word_blocks";

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
    visit_all_rows(connection, statement, values, |row| {
        let name: T = row.value(0)?;
        problems.add(problem.replace("{}", &name.to_string()));
        Ok(())
    })
}

/// Checks every animal, order, category and note, and adds problems and notes to `checkup`. Also
/// compares the animals with the tables that are derived from them: unique values, photos and the
/// search. Returns the number of animals in the catalogue.
pub fn check_values<C: CatalogueConnection>(
    connection: &mut C,
    checkup: &mut Checkup,
) -> Result<u64, ConnectionError<C>> {
    let fields = connection.run(&(), |connection, ()| {
        fields::read_fields(connection).boxed()
    })?;
    checkup.notes.extend(notes_on_field_labels(&fields));
    checkup.notes.extend(notes_on_choices(&fields));
    let mut value_check = ValueCheck::new(fields);
    visit_all_rows(connection, UNMERGED, &[], |row| {
        value_check.add_unmerged(row.value(0)?, row.value(1)?);
        Ok(())
    })?;
    let mut pet_count = 0;
    for table in Table::ALL {
        pet_count += check_table(connection, table, &mut value_check, checkup)?;
    }

    check_unique_values(connection, &mut value_check, checkup)?;
    visit_all_rows(connection, PHOTOS, &[], |row| {
        value_check.add_photo(row.value(0)?, row.value(1)?);
        Ok(())
    })?;
    check_search(connection, &mut value_check, checkup)?;
    checkup.problems.extend(value_check.report_disagreements());
    Ok(pet_count)
}

/// Counts the API keys in `checkup`, and reports the invalid ones.
pub fn check_api_keys<C: CatalogueConnection>(
    connection: &C,
    checkup: &mut Checkup,
) -> Result<(), ConnectionError<C>> {
    visit_all_rows(connection, keys::LIST, &[], |row| {
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

/// Adds the unique values to the comparison with the animals. Adds a note for each value that
/// several animals share.
fn check_unique_values<C: CatalogueConnection>(
    connection: &C,
    value_check: &mut ValueCheck,
    checkup: &mut Checkup,
) -> Result<(), ConnectionError<C>> {
    visit_all_rows(connection, UNIQUE_VALUES, &[], |row| {
        let key = UniqueKey {
            field: row.value(0)?,
            text: row.value(1)?,
        };
        value_check.add_unique_value(&key, row.value(2)?);
        Ok(())
    })?;
    let mut owners = Vec::new();
    let no_limit = i64::MAX;
    visit_all_rows(connection, fields::SHARED, &[&no_limit], |row| {
        owners.push(read_owner(row)?);
        Ok(())
    })?;
    checkup.notes.extend(notes_on_shared_values(&owners));
    Ok(())
}

/// Checks every row of a table of animals, orders, categories or notes. Returns the number of
/// animals in the catalogue, which is 0 for every other table.
fn check_table<C: CatalogueConnection>(
    connection: &C,
    table: Table,
    value_check: &mut ValueCheck,
    checkup: &mut Checkup,
) -> Result<u64, ConnectionError<C>> {
    let mut pet_count = 0;
    let mut labels = CategoryLabels::default();
    let mut problems = ProblemGroup::new(&mut checkup.problems);
    visit_all_rows(connection, &C::select_all(table), &[], |row| {
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
                if pet.withdrawal.is_none() {
                    pet_count += 1;
                }
                if let Some(problem) = value_check.add_pet(&pet) {
                    problems.add(problem);
                }
            }
            Resource::Category(category) => {
                if let Some(note) = labels.add(&category) {
                    checkup.notes.push(note);
                }
            }
            Resource::Order(_) | Resource::Note(_) => {}
        }
        Ok(())
    })?;
    Ok(pet_count)
}

/// Adds the sets and the words of the search to the comparison with the animals.
fn check_search<C: CatalogueConnection>(
    connection: &C,
    value_check: &mut ValueCheck,
    checkup: &mut Checkup,
) -> Result<(), ConnectionError<C>> {
    let mut set_problems = ProblemGroup::new(&mut checkup.problems);
    visit_all_rows(connection, SETS, &[], |row| {
        report_content_error::<C>(value_check.add_set(row), "value_blocks", &mut set_problems)
    })?;
    // Dropping the group completes it. Do this before the next group begins.
    drop(set_problems);

    let mut word_problems = ProblemGroup::new(&mut checkup.problems);
    visit_all_rows(connection, WORDS, &[], |row| {
        report_content_error::<C>(
            value_check.add_words(row),
            "word_blocks",
            &mut word_problems,
        )
    })
}

/// Reports an error that is due to the content of a row as a problem of the table, so that the
/// check goes on. Returns any other result unchanged.
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

/// Calls `visitor` with every row of a result. Stops only at an error.
fn visit_all_rows<C: CatalogueConnection>(
    connection: &C,
    sql: &str,
    values: Parameters<'_>,
    mut visitor: impl FnMut(&BorrowedRow<'_, C>) -> Result<(), ConnectionError<C>>,
) -> Result<(), ConnectionError<C>> {
    connection.for_each_row(sql, values, |row| visitor(row).map(ControlFlow::Continue))
}
