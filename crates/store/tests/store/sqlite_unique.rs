//! The migrations of unique values and of the search in SQLite.

use petstore_domain::store_area;
use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
};

use crate::{spellings, sqlite::fresh, twins};

#[tokio::test]
async fn two_animals_with_one_unique_value_keep_it_after_the_migration() {
    let (store, directory) = fresh();
    twins::fill(&store).await;
    let path = directory.path().join("petstore.db");
    let hand = Connection::open(&path).unwrap();
    let compact_key = |row: &Context<'_>| row.get(0).map(store_area::compact_key);
    let flags = FunctionFlags::SQLITE_UTF8;
    hand.create_scalar_function("unseparated", 1, flags, compact_key)
        .unwrap();
    let steps = [
        "DROP VIEW shared_values; DROP TABLE unique_values; CREATE TABLE unique_values (field TEXT NOT NULL,
            key TEXT NOT NULL, pet_id INTEGER NOT NULL, PRIMARY KEY (field, key)) STRICT, WITHOUT ROWID",
        twins::BEFORE,
        include_str!("../../../store-sqlite/migrations/0027_unique_texts.sql"),
    ];
    hand.execute_batch(&steps.join(";")).unwrap();
    twins::expect_both(&store, &format!("sqlite:{}", path.display())).await;
}

#[tokio::test]
async fn what_a_spreadsheet_made_of_a_chip_is_the_chip_after_the_migration() {
    let (store, directory) = fresh();
    twins::fill_from_spreadsheet(&store).await;
    let path = directory.path().join("petstore.db");
    let hand = Connection::open(&path).unwrap();
    let key = |row: &Context<'_>| Ok(store_area::unique_text_key(&row.get::<String>(0)?));
    hand.create_scalar_function("unique_text_key", 1, FunctionFlags::SQLITE_UTF8, key)
        .unwrap();
    let step = include_str!("../../../store-sqlite/migrations/0037_spreadsheet_numbers.sql");
    hand.execute_batch(&[twins::BEFORE_OF_SPREADSHEET, step].join(";"))
        .unwrap();
    twins::expect_one_chip(&store, &format!("sqlite:{}", path.display())).await;
}

#[tokio::test]
async fn names_are_found_in_all_spellings_after_the_migration_and_after_a_step_back() {
    let (store, directory) = fresh();
    let path = directory.path().join("petstore.db");
    let url = format!("sqlite:{}", path.display());
    spellings::fill(&store).await;
    let hand = Connection::open(&path).unwrap();
    let step = include_str!("../../../store-sqlite/migrations/0039_spellings.sql");
    hand.execute_batch(&[spellings::BEFORE, step].join(";"))
        .unwrap();
    spellings::expect_all(&store, &url).await;
    hand.execute_batch(spellings::MERGED_BEFORE).unwrap();
    spellings::expect_all(&store, &url).await;
}

#[tokio::test]
async fn a_check_names_what_an_earlier_release_made_equal_in_any_case() {
    let (store, directory) = fresh();
    let path = directory.path().join("petstore.db");
    let hand = Connection::open(&path).unwrap();
    hand.execute_batch(spellings::TWINS).unwrap();
    spellings::expect_named_twins(&store, &format!("sqlite:{}", path.display())).await;
}
