//! Tests of `src/store/sqlite/distrust.rs`.

use std::fs;

use super::*;
use crate::store::{
    OpenMode,
    sqlite::{connection::open_for_writing, file_identity::companion},
};

#[test]
fn a_wal_without_a_name_is_written_into_the_database_only_if_that_is_still_there() {
    for is_there in [true, false] {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let (connection, wal_index) = open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        let mut files = Files::open(&path, wal_index).unwrap();
        fs::remove_file(companion(&path, "-wal")).unwrap();
        assert_eq!(files.check().unwrap_err().kind, ChangeKind::WalGone);
        if !is_there {
            fs::remove_file(&path).unwrap();
        }
        let mut distrust = Distrust::default();
        distrust.handle_change(&connection, &files);
        assert!(distrust.ended().borrow().is_some());
        let untouched = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        assert_eq!(connection.db_config(untouched).unwrap(), !is_there);
    }
}
