//! `petstore check`, and damaged databases at start.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::FileExt,
    path::Path,
};

use rusqlite::Connection;

use super::program::{Service, command, directory, finish, new_key, run};

/// A database of some hundred pages, without a WAL.
fn database(directory: &Path) -> Connection {
    new_key(directory);
    let database = Connection::open(directory.join("petstore.db")).unwrap();
    let animals = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO pets (name, category_id, status) SELECT 'animal ' || i, i, 'sold' FROM n";
    database.execute(animals, []).unwrap();
    database
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    database
}

/// The problems that a failed check reports.
fn problems(directory: &Path) -> Vec<String> {
    let done = run(directory, &["check"]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let restore = "; to replace it with a backup, use `petstore restore`\n";
    assert!(
        done.stderr.contains("/petstore.db is damaged (found "),
        "{done:?}"
    );
    assert!(done.stderr.ends_with(restore), "{done:?}");
    assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
    done.stdout.lines().map(str::to_owned).collect()
}

fn overwrite(directory: &Path, at: u64, with: &[u8]) {
    let file = OpenOptions::new()
        .write(true)
        .open(directory.join("petstore.db"))
        .unwrap();
    file.write_all_at(with, at).unwrap();
}

#[test]
fn a_valid_database_is_reported_as_valid_and_stays_unchanged() {
    let here = directory();
    drop(database(here.path()));
    let before = fs::read(here.path().join("petstore.db")).unwrap();
    let said = run(here.path(), &["check"]).expect_success().stdout;
    let database = here.path().join("petstore.db");
    assert_eq!(
        said,
        format!(
            "sqlite:{} is valid: 5000 animals, 1 key\n",
            database.display()
        )
    );
    assert!(fs::read(here.path().join("petstore.db")).unwrap() == before);
}

#[test]
fn check_works_while_the_service_runs() {
    let here = directory();
    drop(database(here.path()));
    let _service = Service::start(here.path(), &[]);
    run(here.path(), &["check"]).expect_success();
}

#[test]
fn an_absent_database_and_one_of_another_program_are_one_line() {
    let here = directory();
    let line = run(here.path(), &["check"]).expect_one_line();
    assert!(
        line.contains("/petstore.db; name the right one with --database"),
        "{line}"
    );
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
    Connection::open(here.path().join("petstore.db"))
        .unwrap()
        .execute("CREATE TABLE t (x)", [])
        .unwrap();
    let line = run(here.path(), &["check"]).expect_one_line();
    assert!(line.contains("of another program"), "{line}");
}

#[test]
fn impossible_animals_are_named() {
    let here = directory();
    let database = database(here.path());
    database
        .execute_batch(
            "PRAGMA ignore_check_constraints = ON;
             UPDATE pets SET id = -5 WHERE id = 5;
             UPDATE pets SET status = 'eaten' WHERE id = 6;
             UPDATE pets SET name = 'a' || char(0) || 'b' WHERE id = 7;
             UPDATE pets SET name = CAST(x'ff' AS TEXT) WHERE id = 8;",
        )
        .unwrap();
    let found = problems(here.path());
    for problem in [
        "animal -5 has an invalid id",
        "animal 6 has an invalid status",
        "animal 7 has a name with U+0000",
        "animal 8 has a name that is not Unicode text",
        "CHECK constraint failed in pets",
    ] {
        assert!(
            found.iter().any(|line| line == problem),
            "{problem}: {found:?}"
        );
    }
}

#[test]
fn many_impossible_animals_are_counted() {
    let here = directory();
    database(here.path())
        .execute("UPDATE pets SET name = char(0)", [])
        .unwrap();
    let found = problems(here.path());
    assert_eq!(found.len(), 21);
    assert_eq!(found[20], "more invalid animals: 4980");
}

#[test]
fn an_id_that_would_be_reused_is_found() {
    let here = directory();
    database(here.path())
        .execute("UPDATE sqlite_sequence SET seq = 7 WHERE name = 'pets'", [])
        .unwrap();
    assert_eq!(
        problems(here.path()),
        ["sqlite_sequence does not contain the last id of pets"]
    );
}

#[test]
fn a_key_with_a_missing_successor_is_found() {
    let here = directory();
    let database = database(here.path());
    database
        .execute_batch("PRAGMA foreign_keys = OFF; UPDATE api_keys SET successor_id = 99")
        .unwrap();
    let expected = "row 1 of api_keys refers to a row of api_keys that is not there";
    assert_eq!(problems(here.path()), [expected]);
}

#[test]
fn a_table_without_its_index_is_found_by_check_and_at_start() {
    let here = directory();
    database(here.path())
        .execute("DROP INDEX pets_sold", [])
        .unwrap();
    assert_eq!(problems(here.path())[0], "pets_sold is missing");
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["keys", "list"]] {
        let line = run(here.path(), command).expect_one_line();
        let expected = "error: the database petstore.db is damaged (pets_sold is missing); \
                        for details, run `petstore check`\n";
        assert_eq!(line, expected);
    }
}

/// Both ways: SQLite opens it and finds the damage, or does not open it.
#[test]
fn a_damaged_database_is_told_by_its_problems_only_and_by_what_to_do() {
    let here = directory();
    drop(database(here.path()));
    let whole = fs::read(here.path().join("petstore.db")).unwrap();
    let mut not_opened = 0;
    for at in [4096, 100] {
        fs::write(here.path().join("petstore.db"), &whole).unwrap();
        overwrite(here.path(), at, &[0xAB; 1000]);
        let found = problems(here.path());
        assert!(!found.is_empty());
        for problem in &found {
            assert!(
                !problem.contains("***") && !problem.contains("petstore check"),
                "{found:?}"
            );
        }
        not_opened += usize::from(found == ["database disk image is malformed"]);
    }
    assert_eq!(not_opened, 1);
}

/// The service does not read everything at start, so it does not find every damage.
#[test]
fn each_page_that_is_overwritten_is_found_by_check() {
    let here = directory();
    drop(database(here.path()));
    let whole = fs::read(here.path().join("petstore.db")).unwrap();
    let pages = whole.len() / 4096;
    assert!(pages > 50);
    let mut at_start = 0;
    for page in 0..pages {
        fs::write(here.path().join("petstore.db"), &whole).unwrap();
        overwrite(here.path(), page as u64 * 4096, &[0xAB; 4096]);
        let done = run(here.path(), &["check"]);
        // Without its beginning, it could be the file of another program.
        let expected = if page == 0 { 2 } else { 1 };
        assert_eq!(done.status.code(), Some(expected), "page {page}: {done:?}");
        at_start += usize::from(!run(here.path(), &["keys", "list"]).status.success());
    }
    eprintln!("{at_start} of {pages} pages are seen to be damaged at start");
    assert!(at_start >= 9, "{at_start}");
}

#[test]
fn a_truncated_file_is_one_line_at_start() {
    let here = directory();
    drop(database(here.path()));
    let file = OpenOptions::new()
        .write(true)
        .open(here.path().join("petstore.db"))
        .unwrap();
    let length = file.metadata().unwrap().len();
    for left in [length - 4096, length / 2, 4096] {
        file.set_len(left).unwrap();
        let mut serve = command(here.path(), &["serve", "--listen", "127.0.0.1:0"]);
        let line = finish(&mut serve).expect_one_line();
        assert!(
            line.starts_with("error: the database petstore.db is damaged ("),
            "{line}"
        );
        assert_eq!(run(here.path(), &["check"]).status.code(), Some(1));
    }
}
