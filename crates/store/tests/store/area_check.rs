//! What `petstore check` must find in the store area of each store. Part of the suite.

use std::num::NonZeroU32;

use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{
    PetStatus::{Available, Pending, Sold},
    clock::LATEST,
    store_area::{
        AuditEntry, AuditQuery, Command, FieldPatch, FieldValue, OrderQuery, PetPatch, PetQuery,
        Preconditions, RequestedValue,
    },
};
use petstore_store::OpenMode;
use petstore_testing::{
    area::{add, cancel, change, label, patch, pet, pet_id, place, reserve, sell, withdraw},
    stores::{AnyStore, act, new_key, new_pet, respond},
};
use rand::{SeedableRng, rngs::StdRng};

use crate::retries::named;

/// Changes by hand, and how the problem that each makes begins.
pub(crate) const DISAGREEMENTS: [(&str, &str); 28] = [
    (
        "DELETE FROM word_blocks",
        "word_blocks does not agree with the animals",
    ),
    (
        "DELETE FROM value_blocks",
        "value_blocks does not agree with the animals",
    ),
    (
        "DELETE FROM value_changes",
        "value_blocks does not agree with the animals",
    ),
    (
        "UPDATE pets SET status = 'sold' WHERE id = 1",
        "order 1 is reserved, but its animal is not pending in the catalogue",
    ),
    (
        "UPDATE pets SET status = 'available' WHERE id = 2",
        "order 2 is completed and holds its animal, but the animal is not sold",
    ),
    (
        "UPDATE withdrawn_pets SET status = 'available' WHERE id = 3",
        "order 3 is completed and holds its animal, but the animal is not sold",
    ),
    (
        "UPDATE orders SET holds = FALSE, status = 'returned', pet_id = 99 WHERE id = 2",
        "order 2 is for an animal that is not there",
    ),
    (
        "INSERT INTO pets (id, name, category_id, status) VALUES (3, 'Max', 7, 'sold')",
        "animal 3 is withdrawn, and also in the catalogue",
    ),
    (
        "UPDATE pets SET fields = '{\"colr\":\"red\"}' WHERE id = 5",
        "animal 5 has an invalid value: No field has the name \"colr\".",
    ),
    (
        "UPDATE withdrawn_pets SET fields = '{\"born\":\"2024\"}' WHERE id = 3",
        "animal 3 has an invalid value: fields.born is of the kind date",
    ),
    (
        "UPDATE pets SET fields = '{\"microchip\":\"2\"}' WHERE id = 5",
        "unique_values does not agree with the animals",
    ),
    (
        "UPDATE unique_values SET pet_id = 7",
        "unique_values does not agree with the animals",
    ),
    (
        "UPDATE pets SET fields = '{' WHERE id = 5",
        "animal 5 is invalid: ",
    ),
    (
        "UPDATE pets SET version = 0 WHERE id = 5",
        "animal 5 has an invalid version",
    ),
    (
        "UPDATE withdrawn_pets SET version = 0 WHERE id = 3",
        "withdrawn animal 3 has an invalid version",
    ),
    (
        "UPDATE orders SET version = 0 WHERE id = 1",
        "order 1 has an invalid version",
    ),
    (
        "UPDATE categories SET version = 0",
        "category 7 has an invalid version",
    ),
    (
        "UPDATE pets SET created_at = 1000000000000000000 WHERE id = 5",
        "animal 5 ",
    ),
    (
        "UPDATE withdrawn_pets SET reason = 'eaten' WHERE id = 3",
        "withdrawn animal 3 is invalid",
    ),
    (
        "UPDATE orders SET closed_at = 1000000000000000000 WHERE id = 2",
        "order 2 is invalid",
    ),
    ("UPDATE categories SET label = ''", "category 7 is invalid"),
    ("UPDATE pets SET id = 0 WHERE id = 5", "animal 0 "),
    (
        "UPDATE changes SET at = 253402207201000",
        "change 1 has an invalid time",
    ),
    (
        "UPDATE requests SET created_at = 253402207201",
        "a remembered request of API key 1 has an",
    ),
    (
        "UPDATE api_keys SET created_at = 253402207201",
        "API key 1 is invalid: ",
    ),
    (
        "UPDATE pets SET version = 9223372036854775807 WHERE id = 5",
        "animal 5 has a version above 9006649498927104",
    ),
    (
        "UPDATE orders SET version = 9007199254740992 WHERE id = 2",
        "order 2 has a version above 9006649498927104",
    ),
    (
        "UPDATE categories SET version = 9007199254740992",
        "category 7 has a version above 9006649498927104",
    ),
];

/// Times that a database can have, although no [`Timestamp`](jiff::Timestamp) has their milliseconds.
pub(crate) const POISON: &str =
    "UPDATE pets SET created_at = 253402207200999, updated_at = 253402207200001;
    UPDATE withdrawn_pets SET updated_at = 253402207200999, withdrawn_at = 253402207200999;
    UPDATE orders SET created_at = 253402207200999;
    UPDATE orders SET expires_at = 253402207200999 WHERE expires_at IS NOT NULL;
    UPDATE orders SET closed_at = 253402207200999 WHERE closed_at IS NOT NULL;
    UPDATE changes SET at = 253402207200999";

/// Reads and changes a database that has the result of [`fill`] and [`POISON`].
pub(crate) async fn use_poisoned(url: &DatabaseUrl) {
    let (mode, mut random) = (OpenMode::AsIs, StdRng::seed_from_u64(1));
    let store = databases::open(url, mode, NonZeroU32::MIN, &mut random)
        .await
        .unwrap();
    assert_eq!(pet(&store, pet_id(5)).await.created_at, Some(LATEST));
    change(&store, withdraw(pet_id(5))).await;
    let (pets, _) = store.list_store_pets(&PetQuery::default()).await.unwrap();
    assert_eq!(pets.len(), 8);
    let (orders, _) = store.list_orders(&OrderQuery::default()).await.unwrap();
    assert!(
        orders.iter().all(|order| order.created_at == LATEST),
        "{orders:?}"
    );
    change(&store, cancel(orders[0].id)).await;
    let (changes, _) = store
        .list_audit(&AuditQuery {
            limit: 1,
            ..AuditQuery::default()
        })
        .await
        .unwrap();
    assert!(matches!(&changes[0], AuditEntry::Change(change) if change.at == LATEST));
}

/// Animals 1 (reserved by order 1), 2 (sold by order 2), 3 (sold by order 3 and withdrawn), 4
/// (withdrawn), 5 to 11, and category 7, merged for the search except for animals 4 and 9 to 11; and an
/// API key with a remembered request.
pub(crate) async fn fill(store: &AnyStore) {
    let mut pets = Vec::new();
    for _ in 1..=8 {
        pets.push(add(store, new_pet("Max", 7, Available)).await);
    }
    place(store, reserve(pets[0])).await;
    place(store, sell(pets[1])).await;
    place(store, sell(pets[2])).await;
    change(store, withdraw(pets[2])).await;
    let preconditions = Preconditions {
        if_match: None,
        if_absent: true,
    };
    change(
        store,
        Command::PutCategory {
            id: 7,
            label: label("cats"),
            preconditions,
        },
    )
    .await;
    let chip = RequestedValue::Set(FieldValue::Text("1".to_owned()));
    let fields = FieldPatch::from([("microchip".to_owned(), chip)]);
    change(
        store,
        patch(
            pets[5],
            PetPatch {
                fields,
                ..PetPatch::default()
            },
        ),
    )
    .await;
    while store.tend_search(0).await.unwrap() {}
    change(store, withdraw(pets[3])).await;
    add(store, new_pet("Max", 7, Pending)).await;
    add(store, new_pet("Max", 7, Sold)).await;
    let key = store.create_key(new_key(1, None), act(0)).await.unwrap().id;
    let new = new_pet("Max", 7, Available);
    let request = named(key.0, "k", &new, 0);
    store.create_pet(new, request, respond).await.unwrap();
}
