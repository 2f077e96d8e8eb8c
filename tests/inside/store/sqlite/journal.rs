//! Tests of `src/store/sqlite/journal.rs`.

use rusqlite::StatementStatus;

use super::*;
use crate::store::{OpenMode, sqlite::connection};

#[test]
fn to_forget_old_acts_reads_no_more_than_the_oldest() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let (writing, _) = connection::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
    let record = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 999)
        INSERT INTO acts (seq, at, type, actor, details)
        SELECT i, 100 * i, 'key.created', 'operator', '{}' FROM n";
    assert_eq!(writing.execute(record, []).unwrap(), 999);
    let mut forget = writing.prepare(FORGET_ACTS).unwrap();
    for forgotten in [4, 0] {
        forget.reset_status(StatementStatus::VmStep);
        assert_eq!(forget.execute([10, 500, 100_000]).unwrap(), forgotten);
        let steps = forget.get_status(StatementStatus::VmStep);
        assert!(steps < 1_000, "{steps}");
    }
}
