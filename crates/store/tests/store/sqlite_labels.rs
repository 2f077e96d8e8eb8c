//! The labels of fields in SQLite.

use petstore_store::OpenMode;
use tempfile::TempDir;

use crate::{
    labels::{LABELLED, expect},
    sqlite::{fresh, open},
};

#[tokio::test]
async fn only_a_database_that_is_created_gets_the_labels() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("petstore.db");
    expect(&open(&path, LABELLED).unwrap(), true).await;
    expect(&open(&path, OpenMode::CreateAndMigrate).unwrap(), true).await;
    let (store, folder) = fresh();
    drop(store);
    expect(
        &open(&folder.path().join("petstore.db"), LABELLED).unwrap(),
        false,
    )
    .await;
}
