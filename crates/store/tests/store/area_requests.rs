//! Tests of the store area with repeated requests. Part of the suite.

use std::sync::Arc;

use futures_util::future::join_all;
use petstore_domain::{
    IdempotencyKey, IdempotentRequest, KeyId, PetStatus::Available, StoredResponse, WriteContext,
    store_area::Command,
};
use petstore_store::{CreationOutcome, ExecutionOutcome};
use petstore_testing::{
    area::{
        add, cancel, change, give_back, now, order_id, pet, pet_id, reserve, respond, restore,
        sell, withdraw,
    },
    stores::{AnyStore, act, new_key, new_pet},
};

use crate::retries::{named, replayed};

/// A request of this API key that may be repeated. `fingerprint` stands for its content.
fn request(api_key: KeyId, key: &str, fingerprint: u8) -> IdempotentRequest {
    IdempotentRequest {
        caller: api_key.into(),
        lineage: api_key.into(),
        operation: "placeOrder",
        key: IdempotencyKey::new(key.to_owned()).unwrap(),
        fingerprint: [fingerprint; 32],
    }
}

async fn send(store: &AnyStore, request: IdempotentRequest, command: Command) -> ExecutionOutcome {
    let context = WriteContext {
        now: now(),
        idempotency: Some(request),
        ..act(0)
    };
    store
        .execute(vec![command], context, respond)
        .await
        .unwrap()
}

#[track_caller]
fn response(executed: ExecutionOutcome) -> StoredResponse {
    match executed {
        ExecutionOutcome::Done { response, .. } => response,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn a_repeated_request_replays_its_response_whatever_changed_since(
    store: AnyStore,
) {
    let id = add(&store, new_pet("Frank", 1, Available)).await;
    let key = store.create_key(new_key(1, None), act(0)).await.unwrap().id;
    let place = Command::PlaceOrder(reserve(id));
    let first = response(send(&store, request(key, "a", 1), place.clone()).await);
    change(&store, cancel(order_id(1))).await;
    change(&store, withdraw(id)).await;
    for _ in 0..2 {
        let again = send(&store, request(key, "a", 1), place.clone()).await;
        assert_eq!(again, ExecutionOutcome::Replayed(first.clone()));
    }
    // Also with a successor of its key.
    let until = petstore_testing::stores::at(9_000);
    let successor = store
        .rotate_key(key, new_key(2, None), until, act(0))
        .await
        .unwrap()
        .unwrap();
    let by_successor = IdempotentRequest {
        caller: successor.id.into(),
        ..request(key, "a", 1)
    };
    assert_eq!(
        send(&store, by_successor, place).await,
        ExecutionOutcome::Replayed(first)
    );
    assert_eq!(pet(&store, id).await.version, 4);
    assert_eq!(store.get_order(order_id(2)).await.unwrap(), None);
}

pub(crate) async fn an_idempotency_key_of_another_request_or_operation_is_a_conflict(
    store: AnyStore,
) {
    let id = add(&store, new_pet("Frank", 1, Available)).await;
    let (key, place) = (KeyId(1), Command::PlaceOrder(reserve(id)));
    response(send(&store, request(key, "a", 1), place.clone()).await);
    let other_content = request(key, "a", 2);
    let other_operation = IdempotentRequest {
        operation: "completeOrder",
        ..request(key, "a", 1)
    };
    for other in [other_content, other_operation] {
        // Whether the command would be refused or not.
        for command in [give_back(order_id(1)), cancel(order_id(1))] {
            let conflict = send(&store, other.clone(), command).await;
            assert_eq!(conflict, ExecutionOutcome::IdempotencyConflict);
        }
    }
    let frank = new_pet("Frank", 1, Available);
    let context = named(1, "a", &frank, 0);
    let created = store
        .create_pet(frank, context, crate::retries::respond)
        .await
        .unwrap();
    assert_eq!(created, CreationOutcome::Conflict);
    // The key of another client is another key.
    let refused = send(&store, request(KeyId(2), "a", 1), place).await;
    assert!(
        matches!(refused, ExecutionOutcome::Refused { .. }),
        "{refused:?}"
    );
}

pub(crate) async fn a_refused_request_is_not_remembered(store: AnyStore) {
    let id = add(&store, new_pet("Frank", 1, Available)).await;
    let restored = send(&store, request(KeyId(1), "a", 1), restore(id)).await;
    assert!(
        matches!(restored, ExecutionOutcome::Refused { .. }),
        "{restored:?}"
    );
    change(&store, withdraw(id)).await;
    response(send(&store, request(KeyId(1), "a", 1), restore(id)).await);
}

pub(crate) async fn concurrent_repetitions_have_one_effect(store: AnyStore) {
    let id = add(&store, new_pet("Frank", 1, Available)).await;
    let sending = (0..20).map(|_| {
        let store = Arc::clone(&store);
        let place = Command::PlaceOrder(sell(id));
        tokio::spawn(async move { send(&store, request(KeyId(1), "a", 1), place).await })
    });
    let ended: Vec<_> = join_all(sending)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let bodies = ended.iter().map(|ended| match ended {
        ExecutionOutcome::Done { response, .. } | ExecutionOutcome::Replayed(response) => response,
        other => panic!("{other:?}"),
    });
    let first = bodies.clone().next().unwrap();
    assert!(bodies.clone().all(|body| body == first));
    assert_eq!(
        ended
            .iter()
            .filter(|one| matches!(one, ExecutionOutcome::Done { .. }))
            .count(),
        1
    );
    assert_eq!(pet(&store, id).await.version, 2);
}

pub(crate) async fn a_replay_of_create_pet_shows_the_animal_as_it_was_added(store: AnyStore) {
    let frank = new_pet("Frank", 1, Available);
    let create = async || {
        let context = named(1, "a", &frank, 0);
        store
            .create_pet(frank.clone(), context, crate::retries::respond)
            .await
            .unwrap()
    };
    let added = frank.clone().with_id(pet_id(1));
    assert_eq!(create().await, CreationOutcome::New(added.clone()));
    change(&store, Command::PlaceOrder(sell(added.id))).await;
    assert_eq!(create().await, replayed(&added));
    change(&store, withdraw(added.id)).await;
    assert_eq!(create().await, replayed(&added));
    assert_eq!(add(&store, frank.clone()).await, pet_id(2));
}
