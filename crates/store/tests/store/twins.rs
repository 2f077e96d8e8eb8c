//! Two animals with one unique value, from before such values were compared without separators.

use std::ops::ControlFlow;

use jiff::Timestamp;
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{
    PetStatus::Available,
    store_area::{Command, FieldPatch, FieldValue, PetPatch, PetQuery, Refusal, RequestedValue},
};
use petstore_store::{
    Checkup, ExecutionOutcome, OpenMode,
    bulk::{IdSource, UNIQUE_VALUES, Value},
};
use petstore_testing::{
    area::{change, execute, patch, pet, pet_id, refused, restore, withdraw},
    stores::{AnyStore, new_pet},
};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

const CHIP: &str = "276098106234567";
pub(crate) const SPELLINGS: [&str; 13] = [
    CHIP,
    "276 098 106 234 567",
    "276-098-106-234-567",
    "276.098.106.234.567",
    "276\u{a0}098\u{2009}106\u{202f}234\u{3000}567",
    "276\u{2011}098\u{2013}106\u{2014}234\u{2212}567",
    "276/098:106\u{2060}234\t567",
    "２７６－０９８－１０６－２３４－５６７",
    "'276098106234567",
    "=\"276098106234567\"",
    "276098106234567.0",
    "276,098,106,234,567",
    "276*098*106*234*567",
];

/// What the former version has of animals 1 (with the chip), 2 (the same with spaces), 3 (withdrawn, with dashes),
/// 4 (only separators) and 5 (another chip). `unique_values` must be as it was.
pub(crate) const BEFORE: &str = r#"
    UPDATE pets SET fields = '{"microchip":"276 098 106 234 567"}' WHERE id = 2;
    UPDATE withdrawn_pets SET fields = '{"microchip":"276-098-106-234-567"}' WHERE id = 3;
    UPDATE pets SET fields = '{"microchip":"- -"}' WHERE id = 4;
    UPDATE pets SET fields = '{"microchip":"X-7"}' WHERE id = 5;
    INSERT INTO unique_values (field, key, pet_id) VALUES ('microchip', '276098106234567', 1),
        ('microchip', '276 098 106 234 567', 2), ('microchip', '- -', 4), ('microchip', 'x-7', 5);
    DELETE FROM value_changes; DELETE FROM value_blocks; DELETE FROM word_blocks;
    UPDATE search_state SET merged = 0, last = 9223372036854775807"#;

/// What the former version has of the same animals, if a spreadsheet has changed their chip.
pub(crate) const BEFORE_OF_SPREADSHEET: &str = r#"
    UPDATE pets SET fields = '{"microchip":"''276098106234567"}' WHERE id = 2;
    UPDATE withdrawn_pets SET fields = '{"microchip":"=\"276098106234567\""}' WHERE id = 3;
    UPDATE pets SET fields = '{"microchip":"276098106234567.0"}' WHERE id = 4;
    UPDATE pets SET fields = '{"microchip":"276098106234560"}' WHERE id = 5;
    UPDATE pets SET fields = '{"microchip":"276098106234567\u00a0．0\u00a0="}' WHERE id = 6;
    DELETE FROM unique_values;
    INSERT INTO unique_values (field, key, pet_id) VALUES ('microchip', '276098106234567', 1),
        ('microchip', '''276098106234567', 2), ('microchip', '2760981062345670', 4),
        ('microchip', '276098106234560', 5), ('microchip', '2760981062345670=', 6)"#;

/// After the migration: each keeps its value, all but the last are one animal, and the search finds them.
pub(crate) async fn expect_one_chip(store: &AnyStore, url: &str) {
    let chips = [1, 2, 4, 6].map(|id| (CHIP.to_owned(), id));
    assert_eq!(shared(store).await, chips);
    for _ in 0..2 {
        for text in SPELLINGS {
            assert_eq!(found(store, text, false).await, [1, 2, 4, 6], "{text:?}");
            assert_eq!(found(store, text, true).await, [3], "{text:?}");
            assert_eq!(other_of(store, add(text)).await, 1, "{text:?}");
        }
        assert_eq!(found(store, "276098106234560", false).await, [5]);
        while store.tend_search(0).await.unwrap() {}
    }
    assert_eq!(check(url).await.problems, Vec::<String>::new());
}

fn chip(text: &str) -> FieldPatch {
    [(
        "microchip".to_owned(),
        RequestedValue::Set(FieldValue::Text(text.to_owned())),
    )]
    .into()
}

fn add(text: &str) -> Command {
    Command::AddPet(new_pet("Max", 1, Available), chip(text), Vec::new())
}

fn give(id: i64, text: &str) -> Command {
    patch(
        pet_id(id),
        PetPatch {
            fields: chip(text),
            ..PetPatch::default()
        },
    )
}

/// Animals whose values [`BEFORE`] changes.
pub(crate) async fn fill(store: &AnyStore) {
    for text in [CHIP, "a", "b", "c", "d"] {
        change(store, add(text)).await;
    }
    change(store, withdraw(pet_id(3))).await;
    while store.tend_search(0).await.unwrap() {}
}

/// Animals whose values [`BEFORE_OF_SPREADSHEET`] changes.
pub(crate) async fn fill_from_spreadsheet(store: &AnyStore) {
    fill(store).await;
    change(store, add("e")).await;
    while store.tend_search(0).await.unwrap() {}
}

async fn found(store: &AnyStore, text: &str, withdrawn: bool) -> Vec<i64> {
    let values = vec![
        store
            .fields()
            .await
            .unwrap()
            .parse_filter("microchip", text)
            .unwrap(),
    ];
    let query = PetQuery {
        values,
        is_withdrawn: withdrawn,
        ..PetQuery::default()
    };
    let (found, _) = store.list_store_pets(&query).await.unwrap();
    found.iter().map(|pet| pet.id.get()).collect()
}

async fn other_of(store: &AnyStore, command: Command) -> i64 {
    match refused(store, command).await {
        Refusal::DuplicateValue { other, .. } => other.get(),
        refusal => panic!("{refusal:?}"),
    }
}

async fn shared(store: &AnyStore) -> Vec<(String, i64)> {
    let shared = store.shared_values().await.unwrap();
    shared
        .into_iter()
        .map(|owner| (owner.key.text, owner.pet.get()))
        .collect()
}

async fn check(url: &str) -> Checkup {
    let url: DatabaseUrl = url.parse().unwrap();
    spawn_blocking(move || databases::check(&url).unwrap())
        .await
        .unwrap()
}

/// Copies the animals and their unique values, as `petstore copy` does.
fn copy_animals(from: &DatabaseUrl, to: &DatabaseUrl) {
    let mut from = databases::open_snapshot(from).unwrap();
    let mut to = databases::open_load(to, OpenMode::Create).unwrap();
    to.begin(IdSource::Given, Timestamp::UNIX_EPOCH).unwrap();
    to.set_fields(&[]).unwrap();
    let mut add = |resource| {
        to.add_resource(&resource).unwrap();
        ControlFlow::Continue(())
    };
    from.visit_resources(&mut add).unwrap();
    to.set_fields(from.fields().unwrap().all()).unwrap();
    let mut add_row = |row: &[Value<'_>]| {
        to.add_row(&UNIQUE_VALUES, row).unwrap();
        ControlFlow::Continue(())
    };
    from.visit_rows(&UNIQUE_VALUES, &mut add_row).unwrap();
    to.continue_after(from.last_ids().unwrap()).unwrap();
    to.continue_log().unwrap();
    to.commit().unwrap();
}

async fn expect_note(url: &str) {
    let found = check(url).await;
    assert_eq!(found.problems, Vec::<String>::new());
    let note =
        "animals 1 and 2 have the same microchip, which is unique; change the value of all but one";
    assert_eq!(found.notes, [note]);
}

/// After the migration: both keep their values, and nobody else gets it while one of them has it.
pub(crate) async fn expect_both(store: &AnyStore, url: &str) {
    assert_eq!(
        shared(store).await,
        [(CHIP.to_owned(), 1), (CHIP.to_owned(), 2)]
    );
    for _ in 0..2 {
        for text in SPELLINGS {
            assert_eq!(found(store, text, false).await, [1, 2], "{text:?}");
            assert_eq!(found(store, text, true).await, [3], "{text:?}");
        }
        assert_eq!(found(store, "- -", false).await, [4]);
        assert_eq!(found(store, "x7", false).await, [5]);
        while store.tend_search(0).await.unwrap() {}
    }
    expect_note(url).await;
    let folder = TempDir::new().unwrap();
    let copy = format!("sqlite:{}", folder.path().join("copy.db").display());
    let databases = (url.parse().unwrap(), copy.parse().unwrap());
    spawn_blocking(move || copy_animals(&databases.0, &databases.1))
        .await
        .unwrap();
    expect_note(&copy).await;

    for text in SPELLINGS {
        assert_eq!(other_of(store, add(text)).await, 1, "{text:?}");
    }
    assert_eq!(other_of(store, give(5, CHIP)).await, 1);
    // It may be written again as it is, or in another spelling.
    change(store, give(2, "276098106234567")).await;
    change(store, give(1, "276-098-106234567")).await;
    assert_eq!(shared(store).await.len(), 2);
    // Each is free only when nobody has it, also within a batch.
    let batch = |id| vec![withdraw(pet_id(id)), add(CHIP)];
    let done = execute(store, batch(1)).await;
    assert!(
        matches!(done, ExecutionOutcome::Refused { index: 1, .. }),
        "{done:?}"
    );
    change(store, withdraw(pet_id(1))).await;
    assert_eq!(shared(store).await, []);
    assert_eq!(other_of(store, add(CHIP)).await, 2);
    assert_eq!(other_of(store, restore(pet_id(1))).await, 2);
    assert_eq!(other_of(store, restore(pet_id(3))).await, 2);
    change(store, give(2, "another")).await;
    change(store, restore(pet_id(1))).await;
    assert_eq!(other_of(store, give(2, CHIP)).await, 1);
    // A batch that moves the value to an animal with a lower number.
    change(store, withdraw(pet_id(1))).await;
    change(store, give(5, CHIP)).await;
    let clear = FieldPatch::from([("microchip".to_owned(), RequestedValue::Clear)]);
    let clear = patch(
        pet_id(5),
        PetPatch {
            fields: clear,
            ..PetPatch::default()
        },
    );
    execute(store, vec![clear, restore(pet_id(1))]).await;
    assert_eq!(pet(store, pet_id(1)).await.withdrawal, None);
    assert_eq!(check(url).await.problems, Vec::<String>::new());
}
