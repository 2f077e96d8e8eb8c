//! Tests of the list of the animals that are on offer. Part of the suite.

use petstore::domain::{
    Limit,
    PetStatus::{Available, Pending, Sold},
    store_area::PetQuery,
};

use crate::store::{
    area::{add, change, complete, place, reserve, withdraw},
    suite::{AnyStore, new_pet},
};

/// The identifiers on a walk through the animals on offer.
async fn walk(store: &AnyStore, limit: i64, oldest_first: bool) -> Vec<i64> {
    let (mut found, mut before) = (Vec::new(), None);
    let limit = Limit::new(limit).unwrap();
    loop {
        let (pets, next) = store.list_on_offer(before, limit, oldest_first).await.unwrap();
        assert!(pets.iter().all(|pet| pet.status != Sold && pet.withdrawn.is_none()));
        assert!(next.is_none_or(|next| pets.last().unwrap().id == next), "{pets:?}");
        found.extend(pets.iter().map(|pet| pet.id.get()));
        match next {
            Some(_) => before = next,
            None => return found,
        }
    }
}

/// The same in both orders, and by their number.
async fn on_offer(store: &AnyStore, limit: i64) -> Vec<i64> {
    let (found, mut oldest) = (walk(store, limit, false).await, walk(store, limit, true).await);
    oldest.reverse();
    assert_eq!(found, oldest);
    for most in [1, 5, 100] {
        let count = store.count_on_offer(&PetQuery::default(), most).await.unwrap();
        assert_eq!(count, found.len().min(most));
    }
    found
}

pub(crate) async fn animals_on_offer_are_listed_newest_first(store: AnyStore) {
    assert!(on_offer(&store, 1).await.is_empty());
    let mut expected = Vec::new();
    for (number, status) in
        [Available, Pending, Sold, Pending].into_iter().cycle().take(30).enumerate()
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
