//! Tests of [`Store`](petstore_store::Store) with repeated requests. Part of the suite.

pub(crate) use petstore_testing::stores::respond;
use std::sync::Arc;

use futures_util::future::join_all;
use petstore_domain::{
    Actor, IdempotencyKey, IdempotentRequest, KeyId, NewPet, Pet, PetStatus::Sold, WriteContext,
    idempotency::fingerprint,
};
use petstore_store::CreationOutcome;
use petstore_testing::stores::{AnyStore, act, at, new_key, new_pet};

use crate::suite::count;

const DAY: i64 = 24 * 60 * 60;

/// A request for `pet`.
fn request(api_key: i64, key: &str, pet: &NewPet) -> IdempotentRequest {
    IdempotentRequest {
        caller: KeyId(api_key).into(),
        lineage: KeyId(api_key).into(),
        operation: "createPet",
        key: IdempotencyKey::new(key.to_owned()).unwrap(),
        fingerprint: fingerprint(pet),
    }
}

/// A request for `pet` that came at this time.
pub(crate) fn named(api_key: i64, key: &str, pet: &NewPet, second: i64) -> WriteContext {
    sent(request(api_key, key, pet), second)
}

fn sent(request: IdempotentRequest, second: i64) -> WriteContext {
    let actor = Actor::Key(KeyId(request.caller.number()));
    WriteContext {
        idempotency: Some(request),
        ..WriteContext::new(actor, at(second))
    }
}

/// The replay of the response to the request that added this animal.
pub(crate) fn replayed(pet: &Pet) -> CreationOutcome {
    CreationOutcome::Replayed(respond(pet))
}

async fn send(
    store: &AnyStore,
    api_key: i64,
    key: &str,
    (name, category_id): (&str, i64),
    second: i64,
) -> CreationOutcome {
    let pet = new_pet(name, category_id, Sold);
    let context = named(api_key, key, &pet, second);
    store.create_pet(pet, context, respond).await.unwrap()
}

#[track_caller]
fn new(created: CreationOutcome) -> Pet {
    match created {
        CreationOutcome::New(pet) => pet,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn a_repeated_request_replays_its_animal_and_adds_none(store: AnyStore) {
    let frank = new(send(&store, 1, "a", ("Frank", 1), 0).await);
    let other = new(send(&store, 1, "A", ("Frank", 1), 0).await);
    assert_ne!(frank.id, other.id);
    assert_eq!(
        store.get_pet(frank.id).await.unwrap().as_ref(),
        Some(&frank)
    );
    for second in [0, 1, -5, DAY] {
        let again = send(&store, 1, "a", ("Frank", 1), second).await;
        assert_eq!(again, replayed(&frank), "{second}");
    }
    assert_eq!(count(&store).await, 2);
}

pub(crate) async fn the_same_key_with_another_animal_is_a_conflict(store: AnyStore) {
    let frank = new(send(&store, 1, "a", ("Frank", 1), 0).await);
    for other in [("frank", 1), ("Frank", 2)] {
        assert_eq!(
            send(&store, 1, "a", other, 1).await,
            CreationOutcome::Conflict
        );
    }
    assert_eq!(
        send(&store, 1, "a", ("Frank", 1), 2).await,
        replayed(&frank)
    );
    assert_eq!(count(&store).await, 1);
}

pub(crate) async fn the_same_key_for_another_operation_is_a_conflict(store: AnyStore) {
    let frank = new_pet("Frank", 1, Sold);
    let request = request(1, "a", &frank);
    let other = IdempotentRequest {
        operation: "placeOrder",
        ..request.clone()
    };
    new(store
        .create_pet(frank.clone(), sent(request, 0), respond)
        .await
        .unwrap());
    let conflict = store.create_pet(frank, sent(other, 0), respond);
    assert_eq!(conflict.await.unwrap(), CreationOutcome::Conflict);
    assert_eq!(count(&store).await, 1);
}

pub(crate) async fn an_idempotency_key_belongs_to_one_api_key(store: AnyStore) {
    let of_one = new(send(&store, 1, "a", ("Frank", 1), 0).await);
    let of_two = new(send(&store, 2, "a", ("Zoe", 1), 0).await);
    assert_eq!(
        send(&store, 1, "a", ("Frank", 1), 1).await,
        replayed(&of_one)
    );
    assert_eq!(send(&store, 2, "a", ("Zoe", 1), 1).await, replayed(&of_two));
}

/// Rotates a key, and returns the number of its successor.
async fn rotate(store: &AnyStore, key: KeyId, seed: u64) -> KeyId {
    store
        .rotate_key(key, new_key(seed, None), at(5_000), act(1_000))
        .await
        .unwrap()
        .unwrap()
        .id
}

pub(crate) async fn a_request_repeated_with_a_successor_of_its_key_replays_its_animal(
    store: AnyStore,
) {
    let other = store
        .create_key(new_key(1, None), act(1_000))
        .await
        .unwrap()
        .id;
    let first = store
        .create_key(new_key(2, None), act(1_000))
        .await
        .unwrap()
        .id;
    let second = rotate(&store, first, 3).await;
    let third = rotate(&store, second, 4).await;
    for (key, lineage) in [
        (other, other),
        (first, first),
        (second, first),
        (third, first),
    ] {
        assert_eq!(store.first_of_lineage(key).await.unwrap(), lineage);
    }
    let frank = new_pet("Frank", 1, Sold);
    for (sent_with, repeated_with) in [(first, third), (second, first), (third, second)] {
        let create = async |pet: &NewPet, api_key: KeyId| {
            let request = request(api_key.0, &format!("with-{sent_with}"), pet);
            let context = sent(
                IdempotentRequest {
                    lineage: first.into(),
                    ..request
                },
                0,
            );
            store
                .create_pet(pet.clone(), context, respond)
                .await
                .unwrap()
        };
        let added = new(create(&frank, sent_with).await);
        for key in [repeated_with, sent_with] {
            assert_eq!(create(&frank, key).await, replayed(&added));
        }
        let zoe = new_pet("Zoe", 1, Sold);
        assert_eq!(create(&zoe, repeated_with).await, CreationOutcome::Conflict);
    }
    assert_eq!(count(&store).await, 3);
}

/// The previous release knew no lineages: each key was the first of its own.
pub(crate) async fn requests_that_the_previous_release_remembered_for_a_successor_are_found(
    store: AnyStore,
) {
    let frank = new_pet("Frank", 1, Sold);
    let of_before = |name| request(2, name, &frank);
    let of_now = |name| IdempotentRequest {
        lineage: KeyId(1).into(),
        ..of_before(name)
    };
    for (first, then) in [(of_before("a"), of_now("a")), (of_now("b"), of_before("b"))] {
        let create = |request| store.create_pet(frank.clone(), sent(request, 0), respond);
        let added = new(create(first).await.unwrap());
        assert_eq!(create(then).await.unwrap(), replayed(&added));
    }
    assert_eq!(count(&store).await, 2);
}

pub(crate) async fn a_request_is_remembered_whatever_the_clock_says(store: AnyStore) {
    let frank = new(send(&store, 1, "a", ("Frank", 1), 0).await);
    for second in [DAY, DAY + 1, 25 * 60 * 60, 10_000 * DAY, -10_000 * DAY, 1] {
        let again = send(&store, 1, "a", ("Frank", 1), second).await;
        assert_eq!(again, replayed(&frank), "{second}");
        assert_eq!(
            send(&store, 1, "a", ("Zoe", 2), second).await,
            CreationOutcome::Conflict
        );
    }
    assert_eq!(count(&store).await, 1);
}

pub(crate) async fn a_mark_is_added_once_by_processes_that_have_seen_the_newest_one(
    store: AnyStore,
) {
    for (seen, newest) in [
        (None, 0),
        (Some(0), 1),
        (Some(0), 1),
        (None, 1),
        (Some(1), 2),
    ] {
        assert_eq!(
            store.mark_idempotency_keys(seen).await.unwrap(),
            newest,
            "{seen:?}"
        );
    }
}

pub(crate) async fn concurrent_repetitions_add_one_animal(store: AnyStore) {
    let sending: Vec<_> = (0..50)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { send(&store, 1, "a", ("Frank", 1), 0).await })
        })
        .collect();
    let results: Vec<CreationOutcome> = join_all(sending)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let is_new = |result: &&CreationOutcome| matches!(result, CreationOutcome::New(_));
    let added = new(results.iter().find(is_new).unwrap().clone());
    let others = results
        .iter()
        .filter(|result| **result == replayed(&added))
        .count();
    assert_eq!((others, count(&store).await), (49, 1));
}

pub(crate) async fn a_request_whose_future_is_dropped_can_be_repeated(store: AnyStore) {
    for number in 0..20 {
        let key = format!("retry-{number}");
        let pet = new_pet("Frank", number, Sold);
        let mut create = store.create_pet(pet.clone(), named(1, &key, &pet, 0), respond);
        let _ = futures_util::poll!(create.as_mut());
        drop(create);
        let again = send(&store, 1, &key, ("Frank", number), 1).await;
        assert!(!matches!(again, CreationOutcome::Conflict));
    }
    assert_eq!(count(&store).await, 20);
}

pub(crate) async fn old_requests_are_forgotten_in_steps(store: AnyStore) {
    let name = |number| format!("number-{number}");
    for number in 0..3 {
        new(send(&store, 1, &name(number), ("Frank", 1), 0).await);
    }
    // Without a mark, no request counts as old.
    assert_eq!(store.forget_idempotency_keys(0, 2).await.unwrap(), 0);
    assert_eq!(store.mark_idempotency_keys(Some(0)).await.unwrap(), 1);
    for number in 3..5 {
        // Their dates are the oldest.
        new(send(&store, 1, &name(number), ("Frank", 1), -DAY).await);
    }
    assert_eq!(store.mark_idempotency_keys(Some(1)).await.unwrap(), 2);
    assert_eq!(store.forget_idempotency_keys(2, 2).await.unwrap(), 0);
    for forgotten in [2, 1, 0] {
        assert_eq!(
            store.forget_idempotency_keys(1, 2).await.unwrap(),
            forgotten
        );
    }
    new(send(&store, 1, &name(2), ("Frank", 1), 5).await);
    let remembered = send(&store, 1, &name(3), ("Frank", 1), 5).await;
    assert!(matches!(remembered, CreationOutcome::Replayed(_)));
    assert_eq!(count(&store).await, 6);
}
