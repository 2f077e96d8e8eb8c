//! Tests of the contract of [`bulk`] over every store.

use std::{ops::ControlFlow, path::Path};

use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{
    ApiKey, Deployment, KeyId, KeyUse, NewKey, NewPet, Pet, PetId,
    PetStatus::{self, Available, Pending, Sold},
    Scope,
    store_area::{Command, FieldValues, Note, OrderPatch, Patch, Preconditions, Resource},
};
use petstore_store::{
    CreationOutcome, OpenMode,
    bulk::{self, CommitError, IdSource, LastIds, Load, Snapshot},
};
use petstore_testing::{
    area,
    stores::{AnyStore, act, at, create, new_pet, respond},
};
use rand::{SeedableRng, rngs::StdRng};
use tempfile::TempDir;

use crate::{
    area_fields, area_notes, area_photos, postgres_cluster::fresh_url, retries, suite::count,
};

/// Makes a test of every function over the databases of `$fresh`.
macro_rules! over {
    ($backend:ident, $fresh:expr) => {
        mod $backend {
            use super::*;
            over!(
                $fresh,
                a_snapshot_has_the_content_of_its_beginning,
                a_snapshot_can_be_filtered_by_status_and_stopped,
                loaded_animals_are_there_after_the_commit_and_not_before,
                a_load_that_is_dropped_leaves_nothing,
                given_ids_are_kept_and_the_next_one_is_higher,
                an_id_that_is_taken_is_not_given_again,
                keys_and_requests_are_copied_and_remain_valid,
                orders_withdrawn_animals_categories_and_notes_are_copied_as_they_are,
                an_id_that_was_given_once_is_not_given_again_after_a_move,
                a_database_is_empty_without_animals_keys_and_requests
            );
        }
    };
    ($fresh:expr, $($test:ident),*) => {
        $(#[tokio::test]
        async fn $test() {
            let (url, _guard) = $fresh;
            super::$test(url).await;
        })*
    };
}

over!(sqlite, {
    let directory = TempDir::new().unwrap();
    (sqlite_url(directory.path()), directory)
});
over!(postgres, (fresh_url().await.parse().unwrap(), ()));

fn sqlite_url(directory: &Path) -> DatabaseUrl {
    DatabaseUrl::Sqlite(directory.join("petstore.db"))
}

async fn open(url: &DatabaseUrl) -> AnyStore {
    let connections = std::num::NonZeroU32::MIN;
    let mut random = StdRng::seed_from_u64(1);
    databases::open(url, OpenMode::CreateAndMigrate, connections, &mut random)
        .await
        .unwrap()
}

/// Runs blocking work outside the runtime threads.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

fn snapshot(url: &DatabaseUrl) -> Box<dyn Snapshot> {
    databases::open_snapshot(url).unwrap()
}

fn load(url: &DatabaseUrl, ids: IdSource) -> Box<dyn Load> {
    let mut load = databases::open_load(url, OpenMode::Create).unwrap();
    load.begin(ids, at(500)).unwrap();
    load
}

fn id(id: i64) -> PetId {
    PetId::new(id).unwrap()
}

fn pets(snapshot: &mut dyn Snapshot, status: Option<PetStatus>) -> Vec<Pet> {
    let mut pets = Vec::new();
    let mut show = |pet: petstore_domain::PetRef<'_>| {
        pets.push(new_pet(pet.name, pet.category_id, pet.status).with_id(pet.id));
        ControlFlow::Continue(())
    };
    snapshot.visit_pets(status, &mut show).unwrap();
    pets
}

fn resources(snapshot: &mut dyn Snapshot) -> Vec<Resource> {
    let mut resources = Vec::new();
    let mut show = |resource| {
        resources.push(resource);
        ControlFlow::Continue(())
    };
    snapshot.visit_resources(&mut show).unwrap();
    resources
}

fn animals() -> [NewPet; 3] {
    [
        new_pet("", i64::MIN, Available),
        new_pet("Zo\u{308}e \"the\", cat\n\\N", i64::MAX, Sold),
        new_pet(&"n".repeat(60_000), 0, Pending),
    ]
}

async fn a_snapshot_has_the_content_of_its_beginning(url: DatabaseUrl) {
    let store = open(&url).await;
    let first = create(&store, new_pet("before", 1, Sold)).await;
    let runtime = tokio::runtime::Handle::current();
    blocking(move || {
        let mut snapshot = snapshot(&url);
        runtime.block_on(create(&store, new_pet("after", 1, Sold)));
        assert_eq!(snapshot.count_pets(None).unwrap(), 1);
        assert_eq!(pets(&mut *snapshot, None), [first]);
    })
    .await;
}

async fn a_snapshot_can_be_filtered_by_status_and_stopped(url: DatabaseUrl) {
    let store = open(&url).await;
    for status in [Sold, Available, Sold, Pending] {
        create(&store, new_pet("", 1, status)).await;
    }
    blocking(move || {
        let mut snapshot = snapshot(&url);
        for (status, expected) in [
            (None, vec![1, 2, 3, 4]),
            (Some(Sold), vec![1, 3]),
            (Some(Available), vec![2]),
        ] {
            assert_eq!(snapshot.count_pets(status).unwrap(), expected.len() as u64);
            let ids: Vec<i64> = pets(&mut *snapshot, status)
                .iter()
                .map(|pet| pet.id.get())
                .collect();
            assert_eq!(ids, expected);
        }
        let mut shown = 0;
        let mut show = |_: petstore_domain::PetRef<'_>| {
            shown += 1;
            ControlFlow::Break(())
        };
        snapshot.visit_pets(None, &mut show).unwrap();
        assert_eq!(shown, 1);
    })
    .await;
}

async fn loaded_animals_are_there_after_the_commit_and_not_before(url: DatabaseUrl) {
    let store = open(&url).await;
    create(&store, new_pet("first", 1, Sold)).await;
    let after = blocking(move || {
        let mut load = load(&url, IdSource::Next);
        for pet in &animals() {
            load.add_pet(None, pet, &FieldValues::NONE).unwrap();
        }
        load.continue_after(LastIds::default()).unwrap();
        assert_eq!(snapshot(&url).count_pets(None).unwrap(), 1);
        load.commit().unwrap();
        pets(&mut *snapshot(&url), None)
    })
    .await;
    for (number, new) in (2..).zip(animals()) {
        let pet = new.with_id(id(number));
        assert!(after.contains(&pet));
        assert_eq!(store.get_pet(pet.id).await.unwrap(), Some(pet));
    }
    assert_eq!(create(&store, new_pet("next", 1, Sold)).await.id, id(5));
}

async fn a_load_that_is_dropped_leaves_nothing(url: DatabaseUrl) {
    let store = open(&url).await;
    blocking(move || {
        for ids in [IdSource::Next, IdSource::Given] {
            let mut load = load(&url, ids);
            for (number, pet) in (1..).zip(&animals()) {
                let id = (ids == IdSource::Given).then(|| id(number));
                load.add_pet(id, pet, &FieldValues::NONE).unwrap();
            }
            drop(load);
            assert_eq!(pets(&mut *snapshot(&url), None), []);
        }
    })
    .await;
    create(&store, new_pet("next", 1, Sold)).await;
}

async fn given_ids_are_kept_and_the_next_one_is_higher(url: DatabaseUrl) {
    let store = open(&url).await;
    create(&store, new_pet("first", 1, Sold)).await;
    blocking(move || {
        let mut load = load(&url, IdSource::Given);
        for (number, pet) in [900, 7, 40].into_iter().zip(&animals()) {
            load.add_pet(Some(id(number)), pet, &FieldValues::NONE)
                .unwrap();
        }
        load.continue_after(LastIds {
            pet: 900,
            ..LastIds::default()
        })
        .unwrap();
        load.commit().unwrap();
    })
    .await;
    assert_eq!(
        store.get_pet(id(7)).await.unwrap(),
        Some(animals()[1].clone().with_id(id(7)))
    );
    assert_eq!(create(&store, new_pet("next", 1, Sold)).await.id, id(901));
}

async fn an_id_that_is_taken_is_not_given_again(url: DatabaseUrl) {
    let store = open(&url).await;
    let taken = create(&store, new_pet("first", 1, Sold)).await;
    blocking(move || {
        let mut load = load(&url, IdSource::Given);
        let [one, other, _] = animals();
        let added = load
            .add_pet(Some(id(2)), &one, &FieldValues::NONE)
            .and_then(|()| load.add_pet(Some(taken.id), &other, &FieldValues::NONE))
            .and_then(|()| {
                load.continue_after(LastIds {
                    pet: 2,
                    ..LastIds::default()
                })
            })
            .map_err(CommitError::from)
            .and_then(|()| load.commit());
        assert!(matches!(added, Err(CommitError::NotDone(_))), "{added:?}");
        drop(load);
        assert_eq!(pets(&mut *snapshot(&url), None), [taken]);
    })
    .await;
}

fn new_key(seed: u64) -> NewKey {
    let key = ApiKey::generate(Deployment::Staging, &mut StdRng::seed_from_u64(seed));
    NewKey {
        digest: key.digest(),
        name: format!("key \"{seed}\""),
        scope: Scope::Read,
        deployment: Deployment::Staging,
        expires_at: Some(at(9_000)),
        rate_limit: Some("60/min".parse().unwrap()),
    }
}

/// Copies everything to a fresh database of the other kind and back to another one, and returns the
/// store there.
async fn there_and_back(url: DatabaseUrl) -> (AnyStore, TempDir) {
    let (back, directory) = moved(url).await;
    (open(&back).await, directory)
}

/// The same, and returns the database there.
async fn moved(url: DatabaseUrl) -> (DatabaseUrl, TempDir) {
    let directory = TempDir::new().unwrap();
    let [there, back] = if matches!(url, DatabaseUrl::Sqlite(_)) {
        [
            fresh_url().await.parse().unwrap(),
            sqlite_url(directory.path()),
        ]
    } else {
        [
            sqlite_url(directory.path()),
            fresh_url().await.parse().unwrap(),
        ]
    };
    let copying = blocking({
        let back = back.clone();
        move || {
            for (from, to) in [(&url, &there), (&there, &back)] {
                let (mut from, mut to) = (snapshot(from), load(to, IdSource::Given));
                assert!(to.is_empty().unwrap());
                from.visit_rows(&bulk::KEYS, &mut |key| {
                    to.add_row(&bulk::KEYS, key).unwrap();
                    ControlFlow::Continue(())
                })
                .unwrap();
                from.visit_requests(&mut |request| {
                    to.add_request(&request).unwrap();
                    ControlFlow::Continue(())
                })
                .unwrap();
                for resource in resources(&mut *from) {
                    to.add_resource(&resource).unwrap();
                }
                to.continue_after(from.last_ids().unwrap()).unwrap();
                to.commit().unwrap();
            }
        }
    });
    copying.await;
    (back, directory)
}

async fn keys_and_requests_are_copied_and_remain_valid(url: DatabaseUrl) {
    let store = open(&url).await;
    let key = store.create_key(new_key(1), act(1_000)).await.unwrap().id;
    let plain = NewKey {
        expires_at: None,
        rate_limit: None,
        ..new_key(2)
    };
    store
        .rotate_key(key, plain, at(5_000), act(1_000))
        .await
        .unwrap()
        .unwrap();
    store.create_key(new_key(3), act(1_000)).await.unwrap();
    store.revoke_key(KeyId(3), act(4_000)).await.unwrap();
    let used = KeyUse {
        id: key,
        used_at: at(3_000),
        deprecated_call_at: Some(at(2_500)),
    };
    store.record_key_uses(vec![used]).await.unwrap();
    let [animal, other, _] = animals();
    let request = retries::named(key.0, "retry-1", &animal, 2_000);
    let created = store
        .create_pet(animal.clone(), request.clone(), respond)
        .await
        .unwrap();
    let CreationOutcome::New(pet) = created else {
        panic!("{created:?}")
    };
    let keys = store.list_keys().await.unwrap();

    let (copy, _directory) = there_and_back(url).await;
    assert_eq!(copy.list_keys().await.unwrap(), keys);
    let found = copy.find_key(&new_key(1).digest).await.unwrap();
    assert_eq!(found.as_ref(), keys.first());
    let again = copy.create_pet(animal, request, respond).await.unwrap();
    assert_eq!(again, retries::replayed(&pet));
    let conflict = copy.create_pet(
        other.clone(),
        retries::named(key.0, "retry-1", &other, 2_000),
        respond,
    );
    assert_eq!(conflict.await.unwrap(), CreationOutcome::Conflict);
    assert_eq!(
        copy.create_key(new_key(4), act(1_000)).await.unwrap().id,
        KeyId(4)
    );
}

async fn orders_withdrawn_animals_categories_and_notes_are_copied_as_they_are(url: DatabaseUrl) {
    let store = open(&url).await;
    let mut ids = Vec::new();
    for animal in animals() {
        ids.push(
            create(
                &store,
                NewPet {
                    status: Available,
                    ..animal
                },
            )
            .await
            .id,
        );
    }
    let order = area::place(&store, area::reserve(ids[0])).await;
    let note = Patch::Set(Note::new("ö".repeat(2_000)).unwrap());
    let (patch, preconditions) = (
        OrderPatch {
            note,
            ..OrderPatch::default()
        },
        area::any(),
    );
    area::change(
        &store,
        Command::PatchOrder {
            id: order,
            patch,
            preconditions,
        },
    )
    .await;
    area::place(&store, area::sell(ids[1])).await;
    let returned = area::place(&store, area::sell(ids[2])).await;
    area::change(&store, area::give_back(returned)).await;
    area::change(&store, area::withdraw(ids[2])).await;
    let preconditions = Preconditions {
        if_match: None,
        if_absent: true,
    };
    let label = area::label("Dogs");
    area::change(
        &store,
        Command::PutCategory {
            id: i64::MIN,
            label,
            preconditions,
        },
    )
    .await;
    area::change(&store, area_notes::note(ids[2], "n")).await;
    area::change(&store, area_fields::with_chip("1")).await;
    area::change(&store, area_photos::with_photo(ids[0], 1)).await;
    let all = |url: DatabaseUrl| blocking(move || resources(&mut *snapshot(&url)));
    let before = all(url.clone()).await;
    assert_eq!(before.len(), 4 + 3 + 1 + 1);
    let (copy, _directory) = moved(url).await;
    assert_eq!(all(copy.clone()).await, before);
    area_fields::expect_taken_chip(&open(&copy).await).await;
    assert_eq!(open(&copy).await.photos_in(0).await.unwrap().len(), 1);
}

async fn an_id_that_was_given_once_is_not_given_again_after_a_move(url: DatabaseUrl) {
    let store = open(&url).await;
    for _ in 0..3 {
        create(&store, new_pet("", 1, Sold)).await;
    }
    // As if the last animals and keys had been deleted by hand.
    blocking({
        let url = url.clone();
        move || {
            let mut load = load(&url, IdSource::Given);
            load.continue_after(LastIds {
                pet: 70,
                order: 80,
                note: 90,
                ..LastIds::default()
            })
            .unwrap();
            load.commit().unwrap();
        }
    })
    .await;
    let (copy, _directory) = there_and_back(url).await;
    let next = create(&copy, new_pet("", 1, Available)).await.id;
    assert_eq!(next, id(71));
    assert_eq!(area_notes::add_note(&copy, next, "n").await.id.get(), 91);
    assert_eq!(area::place(&copy, area::sell(next)).await.get(), 81);
}

async fn a_database_is_empty_without_animals_keys_and_requests(url: DatabaseUrl) {
    let is_empty = async |url: &DatabaseUrl| {
        let url = url.clone();
        blocking(move || load(&url, IdSource::Given).is_empty().unwrap()).await
    };
    assert!(is_empty(&url).await);
    let store = open(&url).await;
    store.create_key(new_key(1), act(1_000)).await.unwrap();
    assert!(!is_empty(&url).await);
    assert_eq!(count(&store).await, 0);
}

#[test]
fn a_load_that_is_dropped_removes_the_database_that_it_created() {
    let directory = TempDir::new().unwrap();
    let mut load = load(&sqlite_url(directory.path()), IdSource::Next);
    load.add_pet(None, &new_pet("Frank", 1, Available), &FieldValues::NONE)
        .unwrap();
    drop(load);
    assert_eq!(directory.path().read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn a_load_that_is_dropped_keeps_a_database_that_others_have_open_or_have_used() {
    for is_open in [true, false] {
        let directory = TempDir::new().unwrap();
        let url = sqlite_url(directory.path());
        let load = databases::open_load(&url, OpenMode::Create).unwrap();
        let mut other = Some(open(&url).await);
        if !is_open {
            create(other.as_ref().unwrap(), new_pet("Zoe", 1, Sold)).await;
            other = None;
        }
        drop(load);
        if let Some(other) = &other {
            create(other, new_pet("Zoe", 1, Sold)).await;
        }
        assert_eq!(count(&open(&url).await).await, 1);
    }
}
