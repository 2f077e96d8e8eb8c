//! SQLite: what remains of erased contacts in the file.

use std::fs;

use petstore_domain::{
    PetStatus::Available,
    store_area::{Command, Contact, NewOrder, OrderId, OrderPatch, Patch},
};
use petstore_store::ExecutionOutcome;
use petstore_testing::{
    area::{add, any, execute, order_id, sell},
    stores::{AnyStore, new_pet},
};

use crate::sqlite::fresh;

const ORDERS: i64 = 600;

/// A contact of this order, with its number and of any length.
fn contact(order: i64, version: i64) -> Contact {
    let length = usize::try_from(order * 7_919 * version % 480).unwrap();
    Contact::new(format!("<{order:03} {version}>{}", "x".repeat(length))).unwrap()
}

fn patch(id: OrderId, contact: Patch<Contact>) -> Command {
    let patch = OrderPatch {
        contact,
        ..OrderPatch::default()
    };
    Command::PatchOrder {
        id,
        patch,
        preconditions: any(),
    }
}

/// Carries out commands, many in each transaction.
async fn all(store: &AnyStore, commands: impl IntoIterator<Item = Command>) {
    let commands: Vec<_> = commands.into_iter().collect();
    for some in commands.chunks(100) {
        let done = execute(store, some.to_vec()).await;
        assert!(matches!(done, ExecutionOutcome::Done { .. }), "{done:?}");
    }
}

#[tokio::test]
async fn of_an_erased_or_changed_contact_the_file_has_no_copy() {
    let (store, directory) = fresh();
    let animal = add(&store, new_pet("Rex", 1, Available)).await;
    let sale = |order: i64| NewOrder {
        contact: Some(contact(order, 1)),
        ..sell(animal)
    };
    let give_back = |order| petstore_testing::area::give_back(order_id(order));
    // Those of every third order come later, between the others.
    let placed = (1..=ORDERS).flat_map(|order| match order % 3 {
        0 => [Command::PlaceOrder(sell(animal)), give_back(order)],
        _ => [Command::PlaceOrder(sale(order)), give_back(order)],
    });
    all(&store, placed).await;
    let thirds = (1..=ORDERS / 3).map(|third| 3 * third);
    let late = thirds.map(|order| patch(order_id(order), Patch::Set(contact(order, 1))));
    all(&store, late).await;
    // In an order that mixes old and new ones.
    let mixed = || (1..=ORDERS).map(|number| number * 7 % 601);
    let changed = mixed().filter(|order| order % 2 == 0);
    let changed = changed.map(|order| patch(order_id(order), Patch::Set(contact(order, 2))));
    all(&store, changed).await;
    let erased = mixed().filter(|order| order % 5 != 0);
    all(
        &store,
        erased.map(|order| patch(order_id(order), Patch::Clear)),
    )
    .await;
    drop(store);

    let file = fs::read(directory.path().join("petstore.db")).unwrap();
    let mut found: Vec<_> = file
        .windows(7)
        .filter(|part| part[0] == b'<' && part[6] == b'>')
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    found.sort();
    let kept = (1..=ORDERS).filter(|order| order % 5 == 0);
    let expected: Vec<_> = kept
        .map(|order| format!("<{order:03} {}>", if order % 2 == 0 { 2 } else { 1 }))
        .collect();
    assert_eq!(found, expected);
}
