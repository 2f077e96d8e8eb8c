//! Tests of `src/store/sqlite/connection.rs`.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::*;

fn pragma(connection: &Connection, name: &str) -> i64 {
    connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
}

#[test]
fn a_commit_waits_for_the_disk_and_a_reader_cannot_write() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let (writing, _) = open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
    assert_eq!(pragma(&writing, "synchronous"), 2, "FULL");
    let reading = open_for_reading(&path).unwrap();
    assert_eq!(pragma(&reading, "query_only"), 1);
    assert!(reading.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG).unwrap());
}
/// Continues to hold the lock for some milliseconds, and takes it again at once.
const LONG_WRITE: &str = "UPDATE change_log SET epoch = randomblob(16) WHERE 4000 =
        (WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers LIMIT 4000)
        SELECT count(*) FROM numbers);
    COMMIT; BEGIN IMMEDIATE";

#[test]
fn a_write_gets_its_turn_while_another_process_takes_the_lock_again_at_once() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let open = || open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap().0;
    let (busy, mut waiting) = (open(), open());
    // On a machine with much other work, the time that a service waits is not enough.
    wait_for_locks(&mut waiting, 20 * BUSY_TIMEOUT, || {}).unwrap();
    let stop = AtomicBool::new(false);
    let turns: rusqlite::Result<Vec<()>> = thread::scope(|scope| {
        let stop = &stop;
        busy.execute_batch("BEGIN IMMEDIATE").unwrap();
        scope.spawn(move || {
            while !stop.load(Relaxed) {
                busy.execute_batch(LONG_WRITE).unwrap();
            }
        });
        let turns = (0..5).map(|_| waiting.execute_batch("BEGIN IMMEDIATE; COMMIT"));
        let turns = turns.collect();
        stop.store(true, Relaxed);
        turns
    });
    turns.unwrap();
}
