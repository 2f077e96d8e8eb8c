//! Tests of `src/store/sqlite/page.rs`.

use futures_util::FutureExt;

use super::*;
use crate::{
    domain::Limit,
    store::{OpenMode, sqlite::connection},
};

/// A connection that writes, and one that reads.
fn connections() -> (tempfile::TempDir, Connection, Connection) {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let (writing, _) = connection::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
    let reading = connection::open_for_reading(&path).unwrap();
    (directory, writing, reading)
}

#[test]
fn a_page_has_the_same_animals_with_the_function_and_without_it() {
    let (_directory, writing, reading) = connections();
    let statuses = PetStatus::ALL.into_iter().cycle();
    let names = ["", "Frank", "Zoë", "a\0b", "\u{10FFFF}"].into_iter().cycle();
    for (number, (name, status)) in names.zip(statuses).take(130).enumerate() {
        let sql = "INSERT INTO pets (id, name, category_id, status) VALUES (?1, ?2, ?3, ?4)";
        let number = i64::try_from(number).unwrap();
        let (id, category_id) = (1 + 3 * number, i64::MAX - number);
        writing.execute(sql, (id, name, category_id, status.as_str())).unwrap();
    }
    let statuses = PetStatus::ALL.map(Some).into_iter().chain([None]);
    for status in statuses {
        for after in [None, Some(1), Some(100), Some(384), Some(PetId::MAX)] {
            for limit in [1, 2, 20, 43, 100] {
                let limit = Limit::new(limit).unwrap();
                let request = PageRequest { limit, status, after: after.and_then(PetId::new) };
                let page = read(&reading, &request, usize::MAX).unwrap();
                let by_row = read_by_row(&reading, &request).unwrap();
                assert_eq!(page, Some(by_row), "{request:?}");
            }
        }
    }
}

#[test]
fn a_page_with_a_name_that_is_not_utf_8_is_an_error_with_the_function_and_without_it() {
    // The second one is the two halves of an é.
    for names in [&["ff"][..], &["c3", "a9"]] {
        let (_directory, writing, reading) = connections();
        for name in names {
            let insert = "INSERT INTO pets (name, category_id, status)";
            let insert = format!("{insert} VALUES (CAST(x'{name}' AS TEXT), 1, 'sold')");
            writing.execute_batch(&insert).unwrap();
        }
        let request = PageRequest::default();
        let visited = read(&reading, &request, usize::MAX)
            .map(|page| page.unwrap().visit(&mut |_| ()).now_or_never().unwrap());
        assert!(matches!(visited, Err(_) | Ok(Err(_))), "{names:?}");
        assert!(read_by_row(&reading, &request).is_err(), "{names:?}");
    }
}

#[test]
fn a_page_is_one_search_of_one_index_whatever_the_statistics_are() {
    let (_directory, writing, reading) = connections();
    writing
        .execute_batch(
            "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 2010)
             INSERT INTO pets (name, category_id, status)
             SELECT 'Frank', 1, iif(n < 2000, 'available', 'sold') FROM n;
             ANALYZE;",
        )
        .unwrap();
    let plan = |sql: &str| {
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let mut statement = reading.prepare(&sql).unwrap();
        let parameters = rusqlite::params_from_iter(vec![1; statement.parameter_count()]);
        let steps = statement.query_map(parameters, |row| row.get::<_, String>("detail")).unwrap();
        steps.map(Result::unwrap).collect::<Vec<_>>()
    };
    for sql in [beyond(None), rows(None)] {
        assert_eq!(plan(sql), ["SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)"]);
    }
    for status in PetStatus::ALL {
        let expected = format!("SEARCH pets USING COVERING INDEX pets_{status} (id>?)");
        for sql in [beyond(Some(status)), rows(Some(status))] {
            assert_eq!(plan(sql), [expected.as_str()]);
        }
    }
}
