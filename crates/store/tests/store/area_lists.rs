//! Tests of the lists of the store area. Part of the suite.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use petstore_domain::{
    Limit, PetId, PetName,
    PetStatus::{self, Available, Pending, Sold},
    store_area::{
        Category, Command, FieldSet, Inventory, NamePrefix, NewOrder, Order, OrderId, OrderQuery,
        OrderStatus, OrderTerms, PetPatch, PetQuery, Preconditions, Reference, Reservations,
        StorePet,
    },
};
use petstore_store::ExecutionOutcome;
use petstore_testing::{
    area::{
        add, cancel, change, complete, execute, kept, label, order, order_id, patch, pet, pet_id,
        place, reserve, restore, sell, to_status, withdraw,
    },
    stores::{AnyStore, new_pet},
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

/// Names that a search must compare without regard to case, accents, and characters other than
/// letters and digits.
const NAMES: [&str; 21] = [
    "Max",
    "max",
    "MÁX",
    "Maxine",
    "Ma",
    "",
    "Zoë",
    "zoe",
    "Straße",
    "STRASSE 7",
    "\u{10FFFF}m",
    "🐈",
    "*Max",
    "Old Max II",
    "Old Max Maxine",
    "max-maxine",
    "O'Maxine",
    "Ma Max",
    "m m m",
    "*",
    "* 7 Zoë",
];
const PREFIXES: [&str; 16] = [
    "max",
    "MA",
    "m",
    "zoë",
    "strass",
    "\u{10FFFF}",
    "🐈",
    "q",
    "maxine",
    "*",
    "old-max",
    "max ii",
    "mm",
    "7",
    "i",
    "*max",
];

pub(crate) fn limit(limit: i64) -> Limit {
    Limit::new(limit).unwrap()
}

/// Every animal, withdrawn or not.
async fn all(store: &AnyStore) -> Vec<StorePet> {
    let mut all = Vec::new();
    for id in 1.. {
        match store.get_store_pet(pet_id(id)).await.unwrap() {
            Some(pet) => all.push(pet),
            None => break,
        }
    }
    all
}

/// What a query must find among these animals, on one page.
fn expected(
    all: &[StorePet],
    query: &PetQuery,
    fields: &FieldSet,
) -> (Vec<StorePet>, Option<PetId>) {
    let place = |id: PetId| id.get() * if query.newest_first { -1 } else { 1 };
    let sought = query.phrase.as_ref().map(|phrase| phrase.interpret(fields));
    let matching = |pet: &&StorePet| {
        pet.withdrawal.is_some() == query.is_withdrawn
            && query.matches_values(pet.status, pet.category_id, &pet.name, &pet.fields)
            && query
                .name
                .as_ref()
                .is_none_or(|name| name.finds(pet.name.as_str()))
            && sought.as_ref().is_none_or(|sought| {
                sought.matches(pet.id, pet.category_id, &pet.name, &pet.fields)
            })
            && query.after.is_none_or(|after| place(pet.id) > place(after))
    };
    let mut found: Vec<_> = all.iter().filter(matching).cloned().collect();
    found.sort_by_key(|pet| place(pet.id));
    let limit = usize::from(query.limit.get());
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| has_more).map(|pet| pet.id);
    (found, next)
}

fn random_query(random: &mut StdRng) -> PetQuery {
    let prefix = |random: &mut StdRng| NamePrefix::new(PREFIXES.choose(random).unwrap()).unwrap();
    let status = random
        .random_bool(0.5)
        .then(|| *PetStatus::ALL.choose(random).unwrap());
    let withdrawn = random.random_bool(0.2);
    PetQuery {
        status,
        category_id: random.random_bool(0.5).then(|| random.random_range(0..3)),
        name: random.random_bool(0.5).then(|| prefix(random)),
        is_on_offer: status.is_none() && !withdrawn && random.random_bool(0.3),
        newest_first: random.random_bool(0.5),
        is_withdrawn: withdrawn,
        limit: limit(random.random_range(1..6)),
        ..PetQuery::default()
    }
}

/// Walks along all pages of a query, and compares each.
pub(crate) async fn expect_walk(store: &AnyStore, mut query: PetQuery) {
    let (all, fields) = (all(store).await, store.fields().await.unwrap());
    loop {
        let found = store.list_store_pets(&query).await.unwrap();
        assert_eq!(found, expected(&all, &query, &fields), "{query:?}");
        let next = found.1;
        query.after = next;
        if query.after.is_none() {
            break;
        }
    }
}

async fn add_random(store: &AnyStore, random: &mut StdRng) -> PetId {
    let status = *PetStatus::ALL.choose(random).unwrap();
    let name = NAMES.choose(random).unwrap();
    add(store, new_pet(name, random.random_range(0..3), status)).await
}

async fn merge_all(store: &AnyStore) {
    while store.tend_search(0).await.unwrap() {}
}

pub(crate) async fn a_page_of_animals_is_what_the_filters_select(store: AnyStore) {
    let mut random = StdRng::seed_from_u64(1);
    for _ in 0..60 {
        let id = add_random(&store, &mut random).await;
        if random.random_bool(0.3) {
            change(&store, withdraw(id)).await;
        }
    }
    merge_all(&store).await;
    for _ in 0..100 {
        expect_walk(&store, random_query(&mut random)).await;
    }
    // The open order is shown in a list, too.
    let id = add(&store, new_pet("Reserved", 1, Available)).await;
    place(&store, reserve(id)).await;
    for name in [None, NamePrefix::new("reserved")] {
        let query = PetQuery {
            status: Some(Pending),
            limit: limit(100),
            name,
            ..PetQuery::default()
        };
        let (found, _) = store.list_store_pets(&query).await.unwrap();
        assert_eq!(found.last(), Some(&pet(&store, id).await));
    }
}

pub(crate) async fn a_search_is_exact_while_animals_change_and_are_merged(store: AnyStore) {
    let mut random = StdRng::seed_from_u64(2);
    for round in 0..150 {
        add_random(&store, &mut random).await;
        for _ in 0..random.random_range(0..4) {
            let id = pet_id(random.random_range(1..=round + 1));
            let name = PetName::new((*NAMES.choose(&mut random).unwrap()).to_owned());
            let category_id = Some(random.random_range(0..3));
            // Some are refused, because the animal is withdrawn, or is not.
            let command = match random.random_range(0..5) {
                0 => patch(
                    id,
                    PetPatch {
                        name,
                        ..PetPatch::default()
                    },
                ),
                1 => patch(
                    id,
                    PetPatch {
                        category_id,
                        ..PetPatch::default()
                    },
                ),
                2 => to_status(id, *PetStatus::ALL.choose(&mut random).unwrap()),
                3 => withdraw(id),
                _ => restore(id),
            };
            let done = execute(&store, vec![command]).await;
            assert!(
                matches!(
                    done,
                    ExecutionOutcome::Done { .. } | ExecutionOutcome::Refused { .. }
                ),
                "{done:?}"
            );
        }
        if random.random_bool(0.3) {
            store.tend_search(0).await.unwrap();
        }
        if round % 5 == 0 {
            for _ in 0..4 {
                expect_walk(&store, random_query(&mut random)).await;
            }
        }
    }
}

pub(crate) async fn a_walk_gives_each_animal_once_while_others_change(store: AnyStore) {
    for _ in 0..50 {
        add(&store, new_pet("Max", 1, Available)).await;
    }
    for name in [None, NamePrefix::new("max")] {
        let mut query = PetQuery {
            category_id: Some(1),
            name,
            limit: limit(7),
            ..PetQuery::default()
        };
        let mut seen = BTreeSet::new();
        loop {
            let (found, next) = store.list_store_pets(&query).await.unwrap();
            for pet in &found {
                assert!(seen.insert(pet.id) || pet.id > pet_id(40));
            }
            query.after = next;
            if query.after.is_none() {
                break;
            }
            // Those above 40 change on the way; a walk promises nothing about them.
            for id in 41..=50 {
                let category_id = Some(1 + i64::try_from(seen.len() % 2).unwrap());
                change(
                    &store,
                    patch(
                        pet_id(id),
                        PetPatch {
                            category_id,
                            ..PetPatch::default()
                        },
                    ),
                )
                .await;
            }
            store.tend_search(0).await.unwrap();
        }
        assert!((1..=40).all(|id| seen.contains(&pet_id(id))));
    }
}

pub(crate) async fn a_page_of_very_long_names_is_complete(store: AnyStore) {
    let name = "n".repeat(PetName::MAX_LENGTH);
    for _ in 0..5 {
        add(&store, new_pet(&name, 1, Sold)).await;
    }
    merge_all(&store).await;
    for name in [None, NamePrefix::new(&name[..64])] {
        let query = PetQuery {
            name,
            ..PetQuery::default()
        };
        let (found, next) = store.list_store_pets(&query).await.unwrap();
        assert_eq!((found.len(), next), (5, None));
    }
}

pub(crate) async fn a_search_compares_the_first_256_characters_of_a_name(store: AnyStore) {
    let marked = |marks| format!("e{}b", "\u{301}".repeat(marks));
    let names = [
        marked(254),
        marked(255),
        marked(32_000),
        "e".to_owned(),
        marked(32_000),
    ];
    for (id, name) in (1..).zip(&names) {
        assert_eq!(add(&store, new_pet(name, 1, Available)).await, pet_id(id));
    }
    change(&store, withdraw(pet_id(5))).await;
    let found = async |name: &str, withdrawn| {
        let query = PetQuery {
            name: NamePrefix::new(name),
            is_withdrawn: withdrawn,
            ..PetQuery::default()
        };
        let (found, _) = store.list_store_pets(&query).await.unwrap();
        found.iter().map(|pet| pet.id.get()).collect::<Vec<_>>()
    };
    for _ in 0..2 {
        assert_eq!(found("é", false).await, [1, 2, 3, 4]);
        assert_eq!(found("eb", false).await, [1]);
        assert_eq!(found(&names[2], false).await, [1, 2, 3, 4]);
        assert_eq!(
            (found("e", true).await, found("eb", true).await),
            (vec![5], vec![])
        );
        merge_all(&store).await;
    }
}

pub(crate) async fn a_page_of_orders_is_what_the_filters_select(store: AnyStore) {
    let references = ["invoice 1", "invoice 2"].map(|text| Reference::new(text.to_owned()));
    let mut random = StdRng::seed_from_u64(3);
    let mut orders: Vec<Order> = Vec::new();
    for _ in 0..6 {
        add(&store, new_pet("", 1, Available)).await;
    }
    for number in 1..=60 {
        let pet = pet_id(random.random_range(1..=6));
        let reference = references.choose(&mut random).unwrap().clone();
        let reference = reference.filter(|_| random.random_bool(0.7));
        let id = place(
            &store,
            NewOrder {
                reference,
                ..reserve(pet)
            },
        )
        .await;
        assert_eq!(id, order_id(number));
        let end = if random.random_bool(0.5) {
            cancel(id)
        } else {
            complete(id)
        };
        change(&store, end).await;
        change(&store, to_status(pet, Pending)).await;
        change(&store, to_status(pet, Available)).await;
        orders.push(order(&store, id).await);
    }
    place(&store, sell(pet_id(6))).await;
    orders.push(order(&store, order_id(61)).await);
    for _ in 0..200 {
        let mut query = OrderQuery {
            status: random
                .random_bool(0.5)
                .then(|| *OrderStatus::ALL.choose(&mut random).unwrap()),
            pet_id: random
                .random_bool(0.3)
                .then(|| pet_id(random.random_range(1..=7))),
            reference: random
                .random_bool(0.5)
                .then(|| references[0].clone().unwrap()),
            limit: limit(random.random_range(1..20)),
            newest_first: random.random_bool(0.5),
            after: None,
        };
        let matching = |order: &&Order| {
            query.status.is_none_or(|status| status == order.status)
                && query.pet_id.is_none_or(|id| id == order.pet_id)
                && (query.reference.is_none() || query.reference == order.reference)
        };
        let mut expected: Vec<Order> = orders.iter().filter(matching).cloned().collect();
        if query.newest_first {
            expected.reverse();
        }
        let mut found = Vec::new();
        loop {
            let (page, next) = store.list_orders(&query).await.unwrap();
            assert!(page.len() <= usize::from(query.limit.get()));
            assert_eq!(next.is_some(), found.len() + page.len() < expected.len());
            assert!(next.is_none() || next == page.last().map(|order| order.id));
            found.extend(page);
            query.after = next;
            if query.after.is_none() {
                break;
            }
        }
        assert_eq!(found, expected, "{query:?}");
    }
    let beyond = OrderQuery {
        after: OrderId::new(OrderId::MAX),
        ..OrderQuery::default()
    };
    assert_eq!(store.list_orders(&beyond).await.unwrap(), (vec![], None));
}

pub(crate) async fn orders_are_due_from_their_end_the_oldest_first(store: AnyStore) {
    let end = |minutes| kept() + SignedDuration::from_mins(minutes);
    for minutes in [30, 10, 20, 40] {
        let pet = add(&store, new_pet("", 1, Available)).await;
        place(
            &store,
            NewOrder {
                terms: OrderTerms::ReservedUntil(end(minutes)),
                ..reserve(pet)
            },
        )
        .await;
    }
    change(&store, complete(order_id(3))).await;
    let due = async |minutes, limit| store.due_orders(None, end(minutes), limit).await.unwrap();
    assert_eq!(due(9, 100).await, []);
    assert_eq!(due(10, 100).await, [(order_id(2), end(10))]);
    assert_eq!(
        due(39, 100).await,
        [(order_id(2), end(10)), (order_id(1), end(30))]
    );
    assert_eq!(due(99, 1).await, [(order_id(2), end(10))]);
}

pub(crate) async fn the_open_reservations_are_counted_with_their_first_end(store: AnyStore) {
    assert_eq!(store.reservations().await.unwrap(), Reservations::default());
    let end = |hours| kept() + SignedDuration::from_hours(hours);
    for hours in [3, 1, 2] {
        let pet = add(&store, new_pet("", 1, Available)).await;
        place(
            &store,
            NewOrder {
                terms: OrderTerms::ReservedUntil(end(hours)),
                ..reserve(pet)
            },
        )
        .await;
    }
    change(&store, complete(order_id(2))).await;
    let open = Reservations {
        open: 2,
        first_end: Some(end(2)),
    };
    assert_eq!(store.reservations().await.unwrap(), open);
}

pub(crate) async fn a_page_of_categories_follows_the_given_number(store: AnyStore) {
    let ids = [i64::MIN, -1, 0, 7, i64::MAX];
    for id in ids {
        let preconditions = Preconditions {
            if_match: None,
            if_absent: true,
        };
        change(
            &store,
            Command::PutCategory {
                id,
                label: label(&id.to_string()),
                preconditions,
            },
        )
        .await;
    }
    let list = async |after, most| {
        let (found, next) = store.list_categories(after, limit(most)).await.unwrap();
        (
            found
                .into_iter()
                .map(|Category { id, .. }| id)
                .collect::<Vec<_>>(),
            next,
        )
    };
    assert_eq!(list(None, 100).await, (ids.to_vec(), None));
    assert_eq!(list(None, 2).await, (vec![i64::MIN, -1], Some(-1)));
    assert_eq!(list(Some(-1), 3).await, (vec![0, 7, i64::MAX], None));
    assert_eq!(list(Some(i64::MIN), 1).await, (vec![-1], Some(-1)));
    assert_eq!(list(Some(i64::MAX), 1).await, (vec![], None));
}

pub(crate) async fn the_inventory_counts_every_animal(store: AnyStore) {
    for (status, number) in [(Available, 3), (Pending, 2), (Sold, 4)] {
        for _ in 0..number {
            add(&store, new_pet("", 1, status)).await;
        }
    }
    change(&store, withdraw(pet_id(1))).await;
    change(&store, withdraw(pet_id(9))).await;
    let counted = store.count_inventory(kept()).await.unwrap();
    let expected = Inventory {
        available: 2,
        pending: 2,
        sold: 3,
        withdrawn: 2,
        counted_at: kept(),
    };
    assert_eq!(counted, expected);
}

pub(crate) async fn the_animals_of_a_category_are_counted_withdrawn_or_not(store: AnyStore) {
    for category in [1, 7, 7, -7, 7, i64::MAX] {
        add(&store, new_pet("", category, Available)).await;
    }
    change(&store, withdraw(pet_id(2))).await;
    for (category, count) in [(1, 1), (7, 3), (-7, 1), (i64::MAX, 1), (8, 0)] {
        assert_eq!(
            store.count_of_category(category).await.unwrap(),
            count,
            "{category}"
        );
    }
}
