//! The promises of [`Store`](petstore::store::Store) to those who send a
//! request again. Part of the suite.

use std::sync::Arc;

use petstore::{
    domain::{
        IdempotencyKey, IdempotentRequest, KeyId, NewPet, Pet, PetStatus::Sold,
        idempotency::fingerprint,
    },
    store::Created,
};

use crate::suite::{AnyStore, at, count, new_pet};

const DAY: i64 = 24 * 60 * 60;

/// A request for `pet` that came at this second.
pub(crate) fn named(api_key: i64, key: &str, pet: &NewPet, second: i64) -> IdempotentRequest {
    IdempotentRequest {
        api_key: KeyId(api_key),
        key: IdempotencyKey::new(key.to_owned()).unwrap(),
        fingerprint: fingerprint(pet),
        now: at(second),
    }
}

async fn send(
    store: &AnyStore,
    api_key: i64,
    key: &str,
    (name, category_id): (&str, i64),
    second: i64,
) -> Created {
    let pet = new_pet(name, category_id, Sold);
    let request = named(api_key, key, &pet, second);
    store.create_pet(pet, Some(request)).await.unwrap()
}

#[track_caller]
fn new(created: Created) -> Pet {
    match created {
        Created::New(pet) => pet,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn a_repeated_request_replays_its_animal_and_adds_none(store: AnyStore) {
    let frank = new(send(&store, 1, "a", ("Frank", 1), 0).await);
    let other = new(send(&store, 1, "A", ("Frank", 1), 0).await);
    assert_ne!(frank.id, other.id);
    assert_eq!(store.get_pet(frank.id).await.unwrap().as_ref(), Some(&frank));
    for second in [0, 1, -5, DAY] {
        let again = send(&store, 1, "a", ("Frank", 1), second).await;
        assert_eq!(again, Created::Replayed(frank.clone()), "{second}");
    }
    assert_eq!(count(&store).await, 2);
}

pub(crate) async fn the_same_key_with_another_animal_is_a_conflict(store: AnyStore) {
    let frank = new(send(&store, 1, "a", ("Frank", 1), 0).await);
    for other in [("frank", 1), ("Frank", 2)] {
        assert_eq!(send(&store, 1, "a", other, 1).await, Created::Conflict);
    }
    assert_eq!(send(&store, 1, "a", ("Frank", 1), 2).await, Created::Replayed(frank));
    assert_eq!(count(&store).await, 1);
}

pub(crate) async fn an_idempotency_key_belongs_to_one_api_key(store: AnyStore) {
    let of_one = new(send(&store, 1, "a", ("Frank", 1), 0).await);
    let of_two = new(send(&store, 2, "a", ("Zoe", 1), 0).await);
    assert_eq!(send(&store, 1, "a", ("Frank", 1), 1).await, Created::Replayed(of_one));
    assert_eq!(send(&store, 2, "a", ("Zoe", 1), 1).await, Created::Replayed(of_two));
}

pub(crate) async fn a_request_is_remembered_for_24_hours_and_then_counts_as_new(store: AnyStore) {
    let first = new(send(&store, 1, "a", ("Frank", 1), 0).await);
    assert_eq!(send(&store, 1, "a", ("Frank", 1), DAY).await, Created::Replayed(first));
    // Another animal, too: nothing is left that it could conflict with.
    let second = new(send(&store, 1, "a", ("Zoe", 2), DAY + 1).await);
    let again = send(&store, 1, "a", ("Zoe", 2), 2 * DAY + 1).await;
    assert_eq!(again, Created::Replayed(second));
}

pub(crate) async fn repetitions_at_once_add_one_animal(store: AnyStore) {
    let sending: Vec<_> = (0..50)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { send(&store, 1, "a", ("Frank", 1), 0).await })
        })
        .collect();
    let mut added = 0;
    for task in sending {
        match task.await.unwrap() {
            Created::New(_) => added += 1,
            Created::Replayed(pet) => assert_eq!(pet.name.as_str(), "Frank"),
            Created::Conflict => panic!("it was the same animal"),
        }
    }
    assert_eq!((added, count(&store).await), (1, 1));
}

pub(crate) async fn a_request_whose_future_is_dropped_can_be_repeated(store: AnyStore) {
    for number in 0..20 {
        let key = format!("retry-{number}");
        let pet = new_pet("Frank", number, Sold);
        let mut create = store.create_pet(pet.clone(), Some(named(1, &key, &pet, 0)));
        let _ = futures_util::poll!(create.as_mut());
        drop(create);
        let again = send(&store, 1, &key, ("Frank", number), 1).await;
        assert!(!matches!(again, Created::Conflict));
    }
    assert_eq!(count(&store).await, 20);
}

pub(crate) async fn old_requests_are_forgotten_in_steps(store: AnyStore) {
    for second in 0..5 {
        new(send(&store, 1, &format!("at-{second}"), ("Frank", 1), second).await);
    }
    for forgotten in [2, 1, 0] {
        assert_eq!(store.forget_idempotency_keys(at(3), 2).await.unwrap(), forgotten);
    }
    // They are gone though they were not a day old.
    new(send(&store, 1, "at-2", ("Frank", 1), 5).await);
    let kept = send(&store, 1, "at-3", ("Frank", 1), 5).await;
    assert!(matches!(kept, Created::Replayed(_)));
    assert_eq!(count(&store).await, 6);
}
