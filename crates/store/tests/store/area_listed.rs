//! Tests of the animals that are not on the website. Part of the suite.

use jiff::Timestamp;
use petstore_domain::{
    Limit, NewPet, PetId,
    PetStatus::{Available, Pending, Sold},
    store_area::{Command, FieldPatch, NamePrefix, PetPatch, PetQuery, PhotoId},
};
use petstore_store::{
    PhotoAudience::{Everybody, Staff},
    StoreReader,
};
use petstore_testing::{
    area::{add, any, cancel, change, patch, pet, place, reserve, restore, withdraw},
    stores::{AnyStore, new_pet},
};

use crate::area_photos::with_photo;

/// Puts an animal on the website, or takes it off.
fn to_listed(id: PetId, is_listed: bool) -> Command {
    patch(
        id,
        PetPatch {
            is_listed: Some(is_listed),
            ..PetPatch::default()
        },
    )
}

/// Takes a photo from an animal.
fn without_photo(id: PetId, photo: u128) -> Command {
    Command::DeletePhoto {
        id,
        photo: PhotoId(photo),
        preconditions: any(),
    }
}

/// The queries by which an available animal with the name "Luna" and the category 1 is found, apart from its place on the
/// website: with a search, and without one.
fn queries() -> Vec<PetQuery> {
    let all = PetQuery {
        limit: Limit::new(100).unwrap(),
        ..PetQuery::default()
    };
    let of_category = PetQuery {
        category_id: Some(1),
        ..all.clone()
    };
    let named = PetQuery {
        name: NamePrefix::new("lu"),
        newest_first: true,
        ..all.clone()
    };
    vec![all, of_category, named]
}

/// The animals that the public finds with each of [`queries`].
async fn in_window(store: &AnyStore) -> Vec<PetId> {
    let mut found: Option<Vec<PetId>> = None;
    for mut query in queries() {
        query.is_on_offer = true;
        let (pets, next) = store.list_offers(&query).await.unwrap();
        assert_eq!(next, None);
        let counts = store.count_offers(vec![query.clone()], 100).await.unwrap();
        assert_eq!(counts, [pets.len()], "{query:?}");
        let mut ids: Vec<PetId> = pets.iter().map(|pet| pet.id).collect();
        ids.sort_unstable();
        assert_eq!(*found.get_or_insert(ids.clone()), ids, "{query:?}");
    }
    found.unwrap()
}

/// The animals in the catalogue, or withdrawn ones, that the staff find with each of [`queries`].
async fn staff_finds(store: &AnyStore, is_listed: Option<bool>, is_withdrawn: bool) -> Vec<PetId> {
    let mut found: Option<Vec<PetId>> = None;
    for query in queries() {
        let query = PetQuery {
            is_listed,
            is_withdrawn,
            ..query
        };
        let (pets, _) = store.list_store_pets(&query).await.unwrap();
        let mut ids: Vec<PetId> = pets.iter().map(|pet| pet.id).collect();
        ids.sort_unstable();
        assert_eq!(*found.get_or_insert(ids.clone()), ids, "{query:?}");
    }
    found.unwrap()
}

/// Merges all animals into the search.
async fn merge(store: &AnyStore) {
    while store.tend_search(0).await.unwrap() {}
}

pub(crate) async fn an_animal_off_the_website_is_in_no_list_count_or_search_of_the_public(
    store: AnyStore,
) {
    let unlisted = NewPet {
        is_listed: false,
        ..new_pet("Luna", 1, Available)
    };
    let first = add(&store, new_pet("Luna", 1, Available)).await;
    let hidden = change(
        &store,
        Command::AddPet(unlisted, FieldPatch::default(), Vec::new()),
    )
    .await;
    let hidden = hidden[0].after.as_ref().unwrap().pet().unwrap().clone();
    assert!(!hidden.is_listed && pet(&store, first).await.is_listed);
    assert_eq!(pet(&store, hidden.id).await, hidden);
    let last = add(&store, new_pet("Luna", 1, Pending)).await;
    let all = [first, hidden.id, last];

    for is_merged in [false, true, true] {
        if is_merged {
            merge(&store).await;
        }
        assert_eq!(in_window(&store).await, [first, last], "{is_merged}");
        assert_eq!(staff_finds(&store, None, false).await, all);
        assert_eq!(staff_finds(&store, Some(true), false).await, [first, last]);
        assert_eq!(staff_finds(&store, Some(false), false).await, [hidden.id]);
        // A change that is not merged makes no difference, whatever it is of.
        let moved = PetPatch {
            status: Some(Pending),
            ..PetPatch::default()
        };
        change(&store, patch(hidden.id, moved)).await;
    }

    let reader = StoreReader::new(store.clone());
    assert!(reader.get_listed_pet(hidden.id).await.unwrap().is_none());
    assert!(reader.get_listed_pet(first).await.unwrap().is_some());
    // The counts of the staff have it.
    let on_offer = PetQuery {
        is_on_offer: true,
        ..PetQuery::default()
    };
    assert_eq!(store.count_on_offer(&on_offer, 100).await.unwrap(), 3);
    let (listed, _) = store
        .list_on_offer(None, Limit::new(9).unwrap(), true)
        .await
        .unwrap();
    assert_eq!(listed.len(), 3);
}

pub(crate) async fn the_switch_takes_an_animal_off_the_website_at_once_and_back(store: AnyStore) {
    let [first, second] = [
        add(&store, new_pet("Luna", 1, Available)).await,
        add(&store, new_pet("Luna", 1, Available)).await,
    ];
    merge(&store).await;
    let mut version = store.public_version().await.unwrap();
    for is_listed in [false, true, false] {
        let changes = change(&store, to_listed(second, is_listed)).await;
        let [change] = &changes[..] else {
            panic!("{changes:?}");
        };
        let listing = |resource: &Option<_>| match resource {
            Some(petstore_domain::store_area::Resource::Pet(pet)) => pet.is_listed,
            other => panic!("{other:?}"),
        };
        assert_eq!(listing(&change.before), !is_listed);
        assert_eq!(listing(&change.after), is_listed);
        let expected = if is_listed {
            vec![first, second]
        } else {
            vec![first]
        };
        assert_eq!(in_window(&store).await, expected);
        let now = store.public_version().await.unwrap();
        assert!(now != version);
        version = now;
    }
    // What is so already changes nothing.
    assert!(
        petstore_testing::area::change(&store, to_listed(second, false))
            .await
            .is_empty()
    );
    assert!(store.public_version().await.unwrap() == version);
}

pub(crate) async fn an_animal_stays_off_the_website_through_orders_and_a_withdrawal(
    store: AnyStore,
) {
    let id = add(&store, new_pet("Luna", 1, Available)).await;
    change(&store, to_listed(id, false)).await;
    let order = place(&store, reserve(id)).await;
    change(&store, cancel(order)).await;
    assert!(in_window(&store).await.is_empty());
    change(&store, withdraw(id)).await;
    for is_merged in [false, true] {
        if is_merged {
            merge(&store).await;
        }
        assert_eq!(staff_finds(&store, Some(false), true).await, [id]);
        assert!(staff_finds(&store, Some(true), true).await.is_empty());
        assert!(staff_finds(&store, Some(false), false).await.is_empty());
    }
    let reader = StoreReader::new(store.clone());
    assert!(reader.get_listed_pet(id).await.unwrap().is_none());
    change(&store, restore(id)).await;
    assert!(!pet(&store, id).await.is_listed);
    assert!(in_window(&store).await.is_empty());
    let sold = add(&store, new_pet("Luna", 1, Sold)).await;
    assert_eq!(staff_finds(&store, Some(true), false).await, [sold]);
}

pub(crate) async fn a_photo_is_for_the_public_unless_its_animal_is_off_the_website(
    store: AnyStore,
) {
    let id = add(&store, new_pet("Luna", 1, Available)).await;
    let other = add(&store, new_pet("Rex", 1, Available)).await;
    change(&store, with_photo(id, 1)).await;
    change(&store, with_photo(other, 2)).await;
    let audience = async |photo| store.photo_audience(PhotoId(photo)).await.unwrap();

    assert_eq!(audience(1).await, Some(Everybody));
    change(&store, to_listed(id, false)).await;
    assert_eq!(audience(1).await, Some(Staff));
    assert_eq!(audience(2).await, Some(Everybody));
    assert_eq!(audience(3).await, None);

    change(&store, withdraw(id)).await;
    assert_eq!(audience(1).await, Some(Staff));
    change(&store, restore(id)).await;
    change(&store, to_listed(id, true)).await;
    assert_eq!(audience(1).await, Some(Everybody));
}

pub(crate) async fn a_photo_that_an_animal_lost_is_as_public_as_the_animal(store: AnyStore) {
    let hidden = add(&store, new_pet("Luna", 1, Available)).await;
    let seen = add(&store, new_pet("Rex", 1, Available)).await;
    for (id, photo) in [(hidden, 1), (hidden, 2), (hidden, 3), (seen, 4)] {
        change(&store, with_photo(id, photo)).await;
    }
    let audience = async |photo| store.photo_audience(PhotoId(photo)).await.unwrap();

    // One is lost while the animal is on the website, one while it is not, and one stays.
    change(&store, without_photo(hidden, 1)).await;
    change(&store, without_photo(seen, 4)).await;
    assert_eq!(audience(1).await, Some(Everybody));
    assert_eq!(audience(4).await, Some(Everybody));
    change(&store, to_listed(hidden, false)).await;
    change(&store, without_photo(hidden, 2)).await;

    for is_withdrawn in [false, true] {
        if is_withdrawn {
            change(&store, withdraw(hidden)).await;
            change(&store, withdraw(seen)).await;
        }
        for photo in [1, 2, 3] {
            assert_eq!(audience(photo).await, Some(Staff), "{photo} {is_withdrawn}");
        }
        assert_eq!(audience(4).await, Some(Everybody), "{is_withdrawn}");
        assert_eq!(audience(5).await, None, "{is_withdrawn}");
    }

    change(&store, restore(hidden)).await;
    change(&store, to_listed(hidden, true)).await;
    for photo in [1, 2, 3] {
        assert_eq!(audience(photo).await, Some(Everybody), "{photo}");
    }
}

pub(crate) async fn a_lost_photo_is_known_until_its_files_are_gone(store: AnyStore) {
    let id = add(&store, new_pet("Luna", 1, Available)).await;
    for photo in [1, 2] {
        change(&store, with_photo(id, photo)).await;
    }
    for photo in [1, 2] {
        change(&store, without_photo(id, photo)).await;
    }
    let audience = async |photo| store.photo_audience(PhotoId(photo)).await.unwrap();

    let now = Timestamp::UNIX_EPOCH;
    let files_of_one = vec![PhotoId(1)];
    store.note_orphans(0, files_of_one, now, now).await.unwrap();
    assert_eq!(audience(1).await, Some(Everybody));
    assert_eq!(audience(2).await, None);
}

pub(crate) async fn pages_are_full_although_many_animals_are_off_the_website(store: AnyStore) {
    let mut expected = Vec::new();
    for number in 0..60 {
        let id = add(&store, new_pet("Luna", 1, Available)).await;
        if number % 3 == 0 {
            expected.push(id);
        } else {
            change(&store, to_listed(id, false)).await;
        }
    }
    for step in 0..2 {
        if step == 1 {
            merge(&store).await;
        }
        for query in queries() {
            let mut found = Vec::new();
            let mut after = None;
            loop {
                let page = PetQuery {
                    limit: Limit::new(7).unwrap(),
                    is_on_offer: true,
                    newest_first: false,
                    after,
                    ..query.clone()
                };
                let (pets, next) = store.list_offers(&page).await.unwrap();
                assert!(next.is_none() || pets.len() == 7, "{pets:?}");
                found.extend(pets.iter().map(|pet| pet.id));
                after = next;
                if next.is_none() {
                    break;
                }
            }
            assert_eq!(found, expected);
        }
    }
}
