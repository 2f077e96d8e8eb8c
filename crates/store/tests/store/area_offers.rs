//! Tests of the list of the animals that are on offer. Part of the suite.

use petstore_domain::{
    KeyId, KeyUse, Limit, PetName,
    PetStatus::{Available, Pending, Sold},
    StoredResponse,
    store_area::{
        Command, FieldChange, FieldDefinition, FirstStep, PetPatch, PetQuery, Preconditions,
        Profile, StoreName,
    },
};
use petstore_testing::{
    area::{add, cancel, change, complete, label, patch, place, reserve, restore, withdraw},
    profile,
    stores::{AnyStore, act, at, new_key, new_pet},
};

/// The identifiers on a walk through the animals on offer.
async fn walk(store: &AnyStore, limit: i64, oldest_first: bool) -> Vec<i64> {
    let (mut found, mut before) = (Vec::new(), None);
    let limit = Limit::new(limit).unwrap();
    loop {
        let (pets, next) = store
            .list_on_offer(before, limit, oldest_first)
            .await
            .unwrap();
        let query = PetQuery {
            limit,
            after: before,
            ..PetQuery::default()
        };
        let newest_first = !oldest_first;
        let offers = store
            .list_offers(&PetQuery {
                newest_first,
                ..query
            })
            .await
            .unwrap();
        assert_eq!(offers, (pets.clone(), next));
        assert!(
            pets.iter()
                .all(|pet| pet.status != Sold && pet.withdrawal.is_none())
        );
        assert!(
            next.is_none_or(|next| pets.last().unwrap().id == next),
            "{pets:?}"
        );
        found.extend(pets.iter().map(|pet| pet.id.get()));
        match next {
            Some(_) => before = next,
            None => return found,
        }
    }
}

/// The same in both orders, and by their number.
async fn on_offer(store: &AnyStore, limit: i64) -> Vec<i64> {
    let (found, mut oldest) = (
        walk(store, limit, false).await,
        walk(store, limit, true).await,
    );
    oldest.reverse();
    assert_eq!(found, oldest);
    for most in [1, 5, 100] {
        let count = store
            .count_on_offer(&PetQuery::default(), most)
            .await
            .unwrap();
        assert_eq!(count, found.len().min(most));
        let of_category = PetQuery {
            category_id: Some(1),
            is_on_offer: true,
            ..PetQuery::default()
        };
        let of_another = PetQuery {
            category_id: Some(2),
            ..of_category.clone()
        };
        let queries = vec![PetQuery::default(), of_another, of_category];
        let counts = store.count_offers(queries, most).await.unwrap();
        assert_eq!(counts, [count, 0, count]);
    }
    found
}

pub(crate) async fn animals_on_offer_are_listed_newest_first(store: AnyStore) {
    assert!(on_offer(&store, 1).await.is_empty());
    let mut expected = Vec::new();
    for (number, status) in [Available, Pending, Sold, Pending]
        .into_iter()
        .cycle()
        .take(30)
        .enumerate()
    {
        let id = add(&store, new_pet("Max", 1, status)).await;
        if number % 7 == 0 {
            change(&store, withdraw(id)).await;
        } else if status != Sold {
            expected.push(id.get());
        }
    }
    expected.reverse();
    for limit in [1, 2, 7, 22, 23, 100] {
        assert_eq!(on_offer(&store, limit).await, expected, "{limit}");
    }
    let first = add(&store, new_pet("Mia", 1, Available)).await;
    expected.insert(0, first.get());
    let reserved = place(&store, reserve(first)).await;
    assert_eq!(on_offer(&store, 5).await, expected);
    change(&store, complete(reserved)).await;
    assert_eq!(on_offer(&store, 5).await, expected[1..]);
}

pub(crate) async fn the_public_version_changes_with_what_the_public_sees_and_with_no_other_write(
    store: AnyStore,
) {
    let version = async || store.public_version().await.unwrap();
    let mut last = version().await;
    // What the public does not see.
    store.create_key(new_key(1, None), act(0)).await.unwrap();
    store.note_step(FirstStep::Import).await.unwrap();
    let used = KeyUse {
        id: KeyId(1),
        used_at: at(9),
        deprecated_call_at: None,
    };
    store.record_key_uses(vec![used]).await.unwrap();
    assert!(version().await == last);
    let id = add(&store, new_pet("Max", 1, Available)).await;
    for step in 0..6 {
        match step {
            0 => {}
            1 => drop(place(&store, reserve(id)).await),
            2 => {
                let label = label("Dogs");
                let preconditions = Preconditions {
                    if_absent: true,
                    ..Preconditions::default()
                };
                change(
                    &store,
                    Command::PutCategory {
                        id: 1,
                        label,
                        preconditions,
                    },
                )
                .await;
            }
            3 => {
                let fields = store.fields().await.unwrap();
                let breed = fields.find("breed").unwrap().clone();
                let after = FieldDefinition {
                    is_public: false,
                    ..breed
                };
                let name = after.name.clone();
                let seen = fields.version;
                let after = Some(after);
                let change = FieldChange {
                    seen_version: seen,
                    name,
                    after,
                    must_be_unused: false,
                };
                let response = StoredResponse::default();
                store
                    .write_fields(vec![change], Vec::new(), response, act(0))
                    .await
                    .unwrap();
            }
            4 => {
                let name = StoreName::new("Paws".to_owned());
                profile::set(
                    &*store,
                    act(0),
                    Profile {
                        name,
                        ..Profile::default()
                    },
                )
                .await;
            }
            _ => {
                let name = PetName::new("Mia".to_owned());
                change(
                    &store,
                    patch(
                        id,
                        PetPatch {
                            name,
                            ..PetPatch::default()
                        },
                    ),
                )
                .await;
            }
        }
        let now = version().await;
        assert!(now != last, "{step}");
        // Also while the changes get their numbers, and their places in the search.
        store.journal_state().await.unwrap();
        while store.tend_search(0).await.unwrap() {}
        assert!(version().await == now, "{step}");
        last = now;
    }
}

pub(crate) async fn animals_that_became_available_again_are_returns_the_newest_first(
    store: AnyStore,
) {
    let first = add(&store, new_pet("Max", 1, Available)).await;
    let second = add(&store, new_pet("Mia", 1, Available)).await;
    assert_eq!(store.list_returns(100).await.unwrap(), []);
    let order = place(&store, reserve(first)).await;
    change(&store, cancel(order)).await;
    change(&store, withdraw(second)).await;
    change(&store, restore(second)).await;
    let returns = store.list_returns(100).await.unwrap();
    let pets: Vec<_> = returns.iter().map(|change| change.pet).collect();
    assert_eq!(pets, [second, first]);
    assert!(returns[0].seq > returns[1].seq);
    // Among the last change only.
    assert_eq!(store.list_returns(1).await.unwrap(), returns[..1]);
}
