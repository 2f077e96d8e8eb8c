//! Tests of `src/store/sqlite/readers.rs`.

use super::*;
use crate::store::OpenMode;

// Nothing is awaited, so no transaction ends by its time.
#[tokio::test]
async fn a_checkpoint_that_waits_for_readers_gets_a_moment_without_them_while_the_writer_waits() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let (mut writing, wal_index) =
        connection::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
    let readers = Readers::open(&path, Some(wal_index)).unwrap();
    let (begins, ends) = (readers.waiting_writer(), readers.waiting_writer());
    let limit = connection::BUSY_TIMEOUT;
    connection::wait_for_locks(&mut writing, limit, move || begins.begin()).unwrap();
    let read = || readers.read(|on| on.query_row(LAST_PET, [], |_| Ok(()))).unwrap();
    let is_open = || readers.0.readers.iter().any(|reader| lock(reader).open_version.is_some());
    read();
    assert!(is_open());
    writing.execute("UPDATE change_log SET epoch = randomblob(16)", []).unwrap();
    let checkpoint = thread::spawn(move || {
        let other = Connection::open(path).unwrap();
        let full = "PRAGMA wal_checkpoint(FULL)";
        other.query_row(full, [], |row| row.get::<_, bool>(0)).unwrap()
    });
    while !checkpoint.is_finished() {
        writing.execute_batch("BEGIN IMMEDIATE; COMMIT").unwrap();
    }
    assert!(!checkpoint.join().unwrap(), "it was incomplete");
    read();
    assert!(!is_open());
    ends.end();
    read();
    assert!(is_open());
}

#[test]
fn every_reader_has_its_share_of_the_page_cache() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let (_writing, wal_index) =
        connection::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
    let readers = Readers::open(&path, Some(wal_index)).unwrap();
    let count = readers.0.readers.len() as u64;
    for reader in &readers.0.readers {
        let kibibytes: i64 = lock(reader)
            .connection
            .pragma_query_value(None, "cache_size", |row| row.get(0))
            .unwrap();
        assert!(kibibytes < 0, "they would be pages");
        assert_eq!(kibibytes.unsigned_abs(), page_cache(0, count) >> 10);
    }
}

#[tokio::test]
async fn commits_are_noticed_with_the_wal_index_and_without_it() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let (writing, wal_index) =
        connection::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
    let other = Connection::open(&path).unwrap();
    let both = [Some(wal_index), None].map(|index| Readers::open(&path, index).unwrap());
    let insert = "INSERT INTO pets (name, category_id, status) VALUES ('Frank', 1, 'sold')";
    let insert_and_roll_back = format!("BEGIN; {insert}; ROLLBACK");
    let mut animals: i64 = 0;
    for (connection, sql, added) in [
        (&writing, insert, 1),
        (&other, insert, 1),
        (&writing, &insert_and_roll_back, 0),
        (&other, "DELETE FROM pets", -2),
        (&writing, insert, 1),
        (&writing, "SELECT 1", 0),
    ] {
        let versions = || both.each_ref().map(|readers| readers.version().unwrap());
        let before = versions();
        connection.execute_batch(sql).unwrap();
        animals += added;
        let changed = before.iter().zip(versions()).map(|(before, now)| *before != now);
        assert_eq!(changed.collect::<Vec<_>>(), [added != 0; 2], "{sql}");
        for readers in &both {
            let now = readers.version().unwrap();
            let count = "SELECT count(*) FROM pets";
            let counted: Result<i64, _> =
                readers.read(|reading| reading.query_row(count, [], |row| row.get(0)));
            assert_eq!(counted.unwrap(), animals, "{sql}");
            assert_eq!(readers.version().unwrap(), now);
        }
    }
}

#[test]
fn the_animals_are_cached_if_all_of_them_stay_within_the_memory_limit() {
    let million = 1_000_000;
    assert_eq!(page_cache(0, 1), MAX_CACHES);
    assert_eq!(page_cache(million, 1), MAX_CACHES);
    assert_eq!(page_cache(million / 2, 2), MAX_CACHES / 2);
    assert_eq!(page_cache(million, 2), DEFAULT_CACHE);
    assert_eq!(page_cache(1000, 64), DEFAULT_CACHE);
    assert_eq!(page_cache(u64::MAX, 1), DEFAULT_CACHE);
}
