//! Tests of `src/store/sqlite/plans.rs`.

use rusqlite::Connection;

use super::*;
use crate::store::{OpenMode, sqlite::connection};

/// How SQLite runs a statement.
fn plan(connection: &Connection, sql: &str) -> String {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    // Parameters without values are null.
    let steps = statement.raw_query().mapped(|row| row.get::<_, String>("detail"));
    steps.map(Result::unwrap).collect::<Vec<_>>().join("; ")
}

#[test]
fn each_range_of_a_list_is_one_search_of_an_index_without_a_sort() {
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let (writing, _) = connection::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
    for (list, search) in PLANS.on_offer.iter().zip(["(id<?)", "(id>?)"]) {
        let plan = plan(&writing, list);
        for status in ["available", "pending"] {
            let search = format!("SEARCH pets USING INDEX pets_{status} {search}");
            assert!(plan.contains(&search), "{plan}");
        }
        assert!(plan.contains("MERGE") && !plan.contains("TEMP B-TREE"), "{plan}");
    }
    let indexes = [
        "INTEGER PRIMARY KEY (rowid",
        "INDEX orders_by_status (status=? AND id",
        "INDEX orders_by_pet (pet_id=? AND id",
        "INDEX orders_by_reference (reference=? AND id",
    ];
    for (lists, index) in PLANS.orders.iter().zip(indexes) {
        for (list, behind) in lists.iter().zip([">", "<"]) {
            let plan = plan(&writing, list);
            let search = format!("SEARCH orders USING {index}{behind}?)");
            assert!(plan.contains(&search) && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
    let due = plan(&writing, &PLANS.due);
    assert!(due.contains("SEARCH orders USING COVERING INDEX orders_by_end (expires"), "{due}");
    assert!(!due.contains("TEMP B-TREE"), "{due}");
    let contacts = plan(&writing, &PLANS.contacts_until);
    assert!(contacts.starts_with("SEARCH order_contacts USING"), "{contacts}");
    assert!(contacts.contains("SEARCH orders USING INTEGER PRIMARY KEY"), "{contacts}");
    assert!(!contacts.contains("TEMP B-TREE"), "{contacts}");
}
