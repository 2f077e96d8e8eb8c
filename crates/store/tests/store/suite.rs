//! Tests of the contract of [`Store`], method by method. A backend runs all of them with one line:
//! `suite!(expression_that_opens_a_fresh_store)`.

use std::sync::Arc;

use petstore_domain::{
    KeyId, KeyUse, Limit, NewKey, PageRequest, Pet, PetId, PetRef,
    PetStatus::{self, Available, Pending, Sold},
    Scope,
};
use petstore_testing::stores::{AnyStore, act, at, create, new_key, new_pet, respond};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Makes a test of every function. `$open` returns a fresh, empty store, and a value that is
/// dropped at the end of the test.
macro_rules! suite {
    ($open:expr) => {
        $crate::suite::suite!(
            $open,
            created_animals_get_ascending_ids_and_are_read_unchanged,
            a_missing_animal_is_none,
            a_page_holds_the_lowest_ids_after_the_given_one,
            a_page_says_whether_more_follow,
            the_version_changes_with_every_write_or_there_is_none,
            concurrent_creates_get_one_id_each,
            a_create_whose_future_is_dropped_is_done_completely_or_not_at_all,
            a_repeated_request_replays_its_animal_and_adds_none,
            the_same_key_with_another_animal_is_a_conflict,
            the_same_key_for_another_operation_is_a_conflict,
            an_idempotency_key_belongs_to_one_api_key,
            a_request_repeated_with_a_successor_of_its_key_replays_its_animal,
            requests_that_the_previous_release_remembered_for_a_successor_are_found,
            a_request_is_remembered_whatever_the_clock_says,
            a_mark_is_added_once_by_processes_that_have_seen_the_newest_one,
            concurrent_repetitions_add_one_animal,
            a_request_whose_future_is_dropped_can_be_repeated,
            old_requests_are_forgotten_in_steps,
            a_created_key_is_found_by_its_digest_and_its_number,
            keys_are_listed_in_order_of_their_number,
            a_revoked_key_keeps_its_first_date,
            a_rotation_adds_the_successor_and_lets_the_key_expire,
            a_rotation_never_prolongs_a_key,
            a_rotation_of_a_missing_key_adds_nothing,
            a_key_is_rotated_once,
            a_failed_rotation_changes_nothing,
            the_last_use_of_a_key_only_moves_forward,
            the_last_deprecated_call_of_a_key_only_moves_forward
        );
    };
    ($open:expr, $($test:ident),*) => {
        $(#[tokio::test]
        async fn $test() {
            let (store, _guard) = $open;
            $crate::suite::$test(store).await;
        })*
    };
}
pub(crate) use crate::retries::*;
pub(crate) use suite;

async fn fill(store: &AnyStore, statuses: &[PetStatus]) {
    for &status in statuses {
        create(store, new_pet("", 1, status)).await;
    }
}

fn request(limit: i64, status: Option<PetStatus>, after: Option<i64>) -> PageRequest {
    let after = after.map(|id| PetId::new(id).unwrap());
    PageRequest {
        limit: Limit::new(limit).unwrap(),
        status,
        after,
    }
}

/// A complete page.
struct Page {
    pets: Vec<Pet>,
    has_more: bool,
}

async fn list(store: &AnyStore, request: &PageRequest) -> Page {
    let mut pets = Vec::new();
    let mut visit = |pet: PetRef<'_>| {
        let PetRef {
            id,
            name,
            category_id,
            status,
        } = pet;
        pets.push(new_pet(name, category_id, status).with_id(id));
    };
    let last = store.list_pets(request, &mut visit).await.unwrap();
    if last.is_some() {
        assert_eq!(last, pets.last().map(|pet| pet.id));
    }
    Page {
        pets,
        has_more: last.is_some(),
    }
}

/// How many animals there are, up to a hundred.
pub(crate) async fn count(store: &AnyStore) -> usize {
    list(store, &request(100, None, None)).await.pets.len()
}

fn ids(pets: &[Pet]) -> Vec<i64> {
    pets.iter().map(|pet| pet.id.get()).collect()
}

pub(crate) async fn created_animals_get_ascending_ids_and_are_read_unchanged(store: AnyStore) {
    let mut random = StdRng::seed_from_u64(1);
    let incompressible: String = (0..20_000)
        .map(|_| random.random_range('0'..='퟿'))
        .collect();
    let animals = [
        new_pet("", i64::MIN, Available),
        new_pet("O'Malley \"the\" cat", -1, Pending),
        new_pet("Zoe\u{308} 🐈 \u{1}\u{FFFF}", i64::MAX, Sold),
        new_pet(&"n".repeat(65_000), 0, Sold),
        new_pet(&incompressible, 0, Sold),
    ];
    for (id, new) in (1..).zip(animals) {
        let id = PetId::new(id).unwrap();
        let created = create(&store, new.clone()).await;
        assert_eq!(created, new.with_id(id));
        assert_eq!(store.get_pet(id).await.unwrap().as_ref(), Some(&created));
        let listed = list(&store, &PageRequest::default()).await.pets;
        assert_eq!(listed.last(), Some(&created));
    }
}

pub(crate) async fn a_missing_animal_is_none(store: AnyStore) {
    fill(&store, &[Sold]).await;
    for id in [2, PetId::MAX] {
        assert_eq!(store.get_pet(PetId::new(id).unwrap()).await.unwrap(), None);
    }
}

pub(crate) async fn a_page_holds_the_lowest_ids_after_the_given_one(store: AnyStore) {
    fill(&store, &[Sold, Available, Sold, Pending, Sold, Available]).await;
    for (limit, status, after, expected) in [
        (100, None, None, vec![1, 2, 3, 4, 5, 6]),
        (2, None, None, vec![1, 2]),
        (2, None, Some(2), vec![3, 4]),
        (100, Some(Sold), None, vec![1, 3, 5]),
        (1, Some(Sold), Some(1), vec![3]),
        (5, Some(Available), Some(2), vec![6]),
        (5, Some(Pending), Some(4), vec![]),
        (5, None, Some(PetId::MAX), vec![]),
    ] {
        let page = list(&store, &request(limit, status, after)).await;
        assert_eq!(ids(&page.pets), expected, "{limit} {status:?} {after:?}");
    }
}

pub(crate) async fn a_page_says_whether_more_follow(store: AnyStore) {
    assert!(!list(&store, &request(1, None, None)).await.has_more);
    fill(&store, &[Sold, Available, Sold]).await;
    for (limit, status, after, more) in [
        (2, None, None, true),
        (3, None, None, false),
        (2, None, Some(1), false),
        (1, Some(Sold), None, true),
        (2, Some(Sold), None, false),
        (1, Some(Available), None, false),
    ] {
        let page = list(&store, &request(limit, status, after)).await;
        assert_eq!(page.has_more, more, "{limit} {status:?} {after:?}");
    }
}

pub(crate) async fn the_version_changes_with_every_write_or_there_is_none(store: AnyStore) {
    for _ in 0..20 {
        let before = store.version().await.unwrap();
        if let Some(before) = before {
            assert_eq!(store.version().await.unwrap(), Some(before));
        }
        fill(&store, &[Sold]).await;
        let after = store.version().await.unwrap();
        assert!(after != before || after.is_none());
    }
}

pub(crate) async fn concurrent_creates_get_one_id_each(store: AnyStore) {
    let creating: Vec<_> = (0..200)
        .map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { create(&store, new_pet("", number, Sold)).await })
        })
        .collect();
    let mut created = Vec::new();
    for task in creating {
        created.push(task.await.unwrap());
    }
    created.sort_by_key(|pet| pet.id);
    assert_eq!(ids(&created), (1..=200).collect::<Vec<_>>());
    for pet in created {
        assert_eq!(store.get_pet(pet.id).await.unwrap(), Some(pet));
    }
}

pub(crate) async fn a_create_whose_future_is_dropped_is_done_completely_or_not_at_all(
    store: AnyStore,
) {
    for _ in 0..50 {
        let mut create = store.create_pet(new_pet("whole", 7, Pending), act(0), respond);
        let _ = futures_util::poll!(create.as_mut());
        drop(create);
    }
    let last = create(&store, new_pet("last", 7, Pending)).await;
    let page = list(&store, &request(100, None, None)).await;
    assert_eq!(page.pets.last(), Some(&last));
    for pet in &page.pets[..page.pets.len() - 1] {
        assert_eq!(
            (pet.name.as_str(), pet.category_id, pet.status),
            ("whole", 7, Pending)
        );
    }
}

pub(crate) async fn a_created_key_is_found_by_its_digest_and_its_number(store: AnyStore) {
    let new = new_key(1, Some(9_000));
    assert_eq!(store.find_key(&new.digest).await.unwrap(), None);
    let record = store.create_key(new.clone(), act(1_000)).await.unwrap();
    assert_eq!(record.name, new.name);
    assert_eq!(
        (record.scope, record.deployment),
        (new.scope, new.deployment)
    );
    assert_eq!(
        (record.created_at, record.expires_at),
        (at(1_000), new.expires_at)
    );
    assert_eq!(record.rate_limit, new.rate_limit);
    assert_eq!((record.last_used_at, record.revoked_at), (None, None));
    assert_eq!(
        store.find_key(&new.digest).await.unwrap().as_ref(),
        Some(&record)
    );
    assert_eq!(
        store.get_key(record.id).await.unwrap().as_ref(),
        Some(&record)
    );
    assert_eq!(
        store.find_key(&new_key(2, None).digest).await.unwrap(),
        None
    );
    assert_eq!(store.get_key(KeyId(99)).await.unwrap(), None);
    for (seed, scope) in (10..).zip(Scope::ALL) {
        let key = NewKey {
            scope,
            ..new_key(seed, None)
        };
        let record = store.create_key(key.clone(), act(1_000)).await.unwrap();
        assert_eq!(record.scope, scope);
        assert_eq!(store.find_key(&key.digest).await.unwrap(), Some(record));
    }
    let unlimited = NewKey {
        rate_limit: None,
        ..new_key(3, None)
    };
    assert_eq!(
        store
            .create_key(unlimited, act(1_000))
            .await
            .unwrap()
            .rate_limit,
        None
    );
}

pub(crate) async fn keys_are_listed_in_order_of_their_number(store: AnyStore) {
    assert_eq!(store.list_keys().await.unwrap(), []);
    let mut records = Vec::new();
    for seed in 1..=3 {
        records.push(
            store
                .create_key(new_key(seed, None), act(1_000))
                .await
                .unwrap(),
        );
    }
    assert_eq!(store.list_keys().await.unwrap(), records);
    let digests = store.key_digests().await.unwrap();
    assert_eq!(digests.len(), 3);
    assert!((1..=3).all(|seed| digests.contains(&new_key(seed, None).digest)));
}

pub(crate) async fn a_revoked_key_keeps_its_first_date(store: AnyStore) {
    let new = new_key(1, None);
    let id = store.create_key(new.clone(), act(1_000)).await.unwrap().id;
    for second in [2_000, 3_000] {
        let revoked = store.revoke_key(id, act(second)).await.unwrap().unwrap();
        assert_eq!(revoked.revoked_at, Some(at(2_000)));
    }
    let found = store.find_key(&new.digest).await.unwrap().unwrap();
    assert_eq!(found.revoked_at, Some(at(2_000)));
    assert_eq!(store.revoke_key(KeyId(99), act(2_000)).await.unwrap(), None);
}

pub(crate) async fn a_rotation_adds_the_successor_and_lets_the_key_expire(store: AnyStore) {
    let id = store
        .create_key(new_key(1, None), act(1_000))
        .await
        .unwrap()
        .id;
    let successor = store
        .rotate_key(id, new_key(2, None), at(5_000), act(2_000))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(successor.created_at, at(2_000));
    assert_eq!(
        store.find_key(&new_key(2, None).digest).await.unwrap(),
        Some(successor)
    );
    let old = store.get_key(id).await.unwrap().unwrap();
    assert_eq!((old.expires_at, old.revoked_at), (Some(at(5_000)), None));
}

pub(crate) async fn a_rotation_never_prolongs_a_key(store: AnyStore) {
    let id = store
        .create_key(new_key(1, Some(4_000)), act(1_000))
        .await
        .unwrap()
        .id;
    store
        .rotate_key(id, new_key(2, None), at(5_000), act(1_000))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        store.get_key(id).await.unwrap().unwrap().expires_at,
        Some(at(4_000))
    );
}

pub(crate) async fn a_rotation_of_a_missing_key_adds_nothing(store: AnyStore) {
    let rotated = store
        .rotate_key(KeyId(99), new_key(2, None), at(5_000), act(1_000))
        .await
        .unwrap();
    assert_eq!(rotated, None);
    assert_eq!(store.list_keys().await.unwrap(), []);
}

pub(crate) async fn a_key_is_rotated_once(store: AnyStore) {
    let id = store
        .create_key(new_key(1, None), act(1_000))
        .await
        .unwrap()
        .id;
    let successor = store
        .rotate_key(id, new_key(2, None), at(5_000), act(1_000))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        store.get_key(id).await.unwrap().unwrap().successor,
        Some(successor.id)
    );
    assert_eq!(
        store
            .rotate_key(id, new_key(3, None), at(4_000), act(1_000))
            .await
            .unwrap(),
        None
    );
    assert_eq!(store.list_keys().await.unwrap().len(), 2);
}

pub(crate) async fn a_failed_rotation_changes_nothing(store: AnyStore) {
    let record = store
        .create_key(new_key(1, None), act(1_000))
        .await
        .unwrap();
    // The successor is an existing key.
    assert!(
        store
            .rotate_key(record.id, new_key(1, None), at(5_000), act(1_000))
            .await
            .is_err()
    );
    assert_eq!(store.list_keys().await.unwrap(), [record]);
}

pub(crate) async fn the_last_use_of_a_key_only_moves_forward(store: AnyStore) {
    let id = store
        .create_key(new_key(1, None), act(1_000))
        .await
        .unwrap()
        .id;
    let last_use = async || store.get_key(id).await.unwrap().unwrap().last_used_at;
    for (second, expected) in [(3_000, 3_000), (2_000, 3_000), (4_000, 4_000)] {
        let used = |id| KeyUse {
            id,
            used_at: at(second),
            deprecated_call_at: None,
        };
        store
            .record_key_uses(vec![used(id), used(KeyId(99))])
            .await
            .unwrap();
        assert_eq!(last_use().await, Some(at(expected)));
    }

    // The deprecated call is news, so the row is written, but the key was used later than that.
    let late_report = KeyUse {
        id,
        used_at: at(2_000),
        deprecated_call_at: Some(at(2_000)),
    };
    store.record_key_uses(vec![late_report]).await.unwrap();
    assert_eq!(last_use().await, Some(at(4_000)));
}

pub(crate) async fn the_last_deprecated_call_of_a_key_only_moves_forward(store: AnyStore) {
    let id = store
        .create_key(new_key(1, None), act(1_000))
        .await
        .unwrap()
        .id;
    let other = store
        .create_key(new_key(2, None), act(1_000))
        .await
        .unwrap();
    for (second, called, expected) in [
        (1_000, None, None),
        (3_000, Some(2_000), Some(2_000)),
        (4_000, None, Some(2_000)),
        (4_000, Some(1_000), Some(2_000)),
        (4_000, Some(4_000), Some(4_000)),
    ] {
        let deprecated_call_at = called.map(at);
        let used = KeyUse {
            id,
            used_at: at(second),
            deprecated_call_at,
        };
        store.record_key_uses(vec![used]).await.unwrap();
        let record = store.get_key(id).await.unwrap().unwrap();
        assert_eq!(record.last_used_at, Some(at(second)));
        assert_eq!(record.last_deprecated_call_at, expected.map(at));
    }
    assert_eq!(store.get_key(other.id).await.unwrap(), Some(other));
}
