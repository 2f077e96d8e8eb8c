//! What `petstore check` must find in the store area of each store. Part of the suite.

use petstore::domain::{
    PetStatus::{Available, Pending, Sold},
    store_area::{Command, Preconditions},
};

use crate::{
    area::{add, change, label, place, reserve, sell, withdraw},
    suite::{AnyStore, new_pet},
};

/// Changes by hand, and how the problem that each makes begins.
pub(crate) const DISAGREEMENTS: [(&str, &str); 14] = [
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
    ("UPDATE pets SET version = 0 WHERE id = 5", "animal 5 has an invalid version"),
    (
        "UPDATE withdrawn_pets SET version = 0 WHERE id = 3",
        "withdrawn animal 3 has an invalid version",
    ),
    ("UPDATE orders SET version = 0 WHERE id = 1", "order 1 has an invalid version"),
    ("UPDATE categories SET version = 0", "category 7 has an invalid version"),
    ("UPDATE pets SET created_at = 1000000000000000000 WHERE id = 5", "animal 5 "),
    ("UPDATE withdrawn_pets SET reason = 'eaten' WHERE id = 3", "withdrawn animal 3 is invalid"),
    ("UPDATE orders SET closed_at = 1000000000000000000 WHERE id = 2", "order 2 is invalid"),
    ("UPDATE categories SET label = ''", "category 7 is invalid"),
    ("UPDATE pets SET id = 0 WHERE id = 5", "animal 0 "),
];

/// Animals 1 (reserved by order 1), 2 (sold by order 2), 3 (sold by order 3 and withdrawn), 4
/// (withdrawn), 5 to 10, and category 7, merged for the search except for animals 4, 9 and 10.
pub(crate) async fn fill(store: &AnyStore) {
    let mut pets = Vec::new();
    for _ in 1..=8 {
        pets.push(add(store, new_pet("Max", 7, Available)).await);
    }
    place(store, reserve(pets[0])).await;
    place(store, sell(pets[1])).await;
    place(store, sell(pets[2])).await;
    change(store, withdraw(pets[2])).await;
    let preconditions = Preconditions { if_match: None, if_absent: true };
    change(store, Command::PutCategory { id: 7, label: label("cats"), preconditions }).await;
    while store.tend_search(0).await.unwrap() {}
    change(store, withdraw(pets[3])).await;
    add(store, new_pet("Max", 7, Pending)).await;
    add(store, new_pet("Max", 7, Sold)).await;
}
