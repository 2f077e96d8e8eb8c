//! The search by the values of fields. Part of the suite.

use petstore_domain::{
    PetStatus::{self, Available},
    StoredResponse,
    store_area::{
        Command, FieldChange, FieldDefinition, FieldKind, FieldName, FieldPatch, FieldValue,
        NamePrefix, PetPatch, PetQuery, RequestedValue, StorePet, UniqueKey, ValueFilter,
    },
};
use petstore_store::{ExecutionOutcome, WriteOutcome};
use petstore_testing::{
    area::{change, execute, patch, pet_id, restore, to_status, withdraw},
    stores::{AnyStore, act, new_pet},
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use crate::area_lists::{expect_walk, limit};

/// Values of fields, and how they are searched for. Some are compared as equal, and the long text is
/// not compared.
const VALUES: [(&str, &str); 12] = [
    ("sex", "Male"),
    ("sex", "Female"),
    ("species", "Cat"),
    ("species", "Dog"),
    ("colour", "Black"),
    ("colour", "BLÁCK"),
    ("colour", "black and white"),
    ("price", "10"),
    ("price", "10.00"),
    ("price", "11"),
    ("born", "1970-01-03"),
    ("description", "black"),
];

fn given(values: &[(&str, &str)]) -> FieldPatch {
    let given = |text: &str| RequestedValue::Set(FieldValue::Text(text.to_owned()));
    values
        .iter()
        .map(|&(name, text)| (name.to_owned(), given(text)))
        .collect()
}

async fn filter(store: &AnyStore, (name, text): (&str, &str)) -> ValueFilter {
    store
        .fields()
        .await
        .unwrap()
        .parse_filter(name, text)
        .unwrap()
}

async fn found(store: &AnyStore, values: &[(&str, &str)]) -> Vec<i64> {
    let mut query = PetQuery {
        limit: limit(100),
        ..PetQuery::default()
    };
    for value in values {
        query.values.push(filter(store, *value).await);
    }
    let (found, next) = store.list_store_pets(&query).await.unwrap();
    assert_eq!(next, None);
    found.iter().map(|pet| pet.id.get()).collect()
}

async fn merge(store: &AnyStore) {
    while store.tend_search(0).await.unwrap() {}
}

pub(crate) async fn a_search_by_values_is_exact_while_animals_change_and_are_merged(
    store: AnyStore,
) {
    let mut random = StdRng::seed_from_u64(5);
    let prefix = |random: &mut StdRng| {
        NamePrefix::new(["max", "maxi", "l", "x"].choose(random).unwrap()).unwrap()
    };
    let searched: Vec<_> = VALUES
        .into_iter()
        .filter(|(name, _)| *name != "description")
        .collect();
    for round in 0..120 {
        let values: Vec<_> = VALUES
            .into_iter()
            .filter(|_| random.random_bool(0.4))
            .collect();
        let name = ["Max", "Maxine", "Luna"].choose(&mut random).unwrap();
        let status = *PetStatus::ALL.choose(&mut random).unwrap();
        let new = new_pet(name, random.random_range(0..3), status);
        change(&store, Command::AddPet(new, given(&values), Vec::new())).await;
        for _ in 0..random.random_range(0..4) {
            let id = pet_id(random.random_range(1..=round + 1));
            let category_id = Some(random.random_range(0..3));
            let (field, text) = *VALUES.choose(&mut random).unwrap();
            let mut fields = given(&[(field, text)]);
            if random.random_bool(0.3) {
                fields.insert(field.to_owned(), RequestedValue::Clear);
            }
            // Some are refused, because the animal is withdrawn, or is not.
            let command = match random.random_range(0..5) {
                0 => patch(
                    id,
                    PetPatch {
                        fields,
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
            store.tend_search(random.random_range(0..20)).await.unwrap();
        }
        for _ in 0..random.random_range(0..3) {
            let mut values = Vec::new();
            for _ in 0..random.random_range(1..=3) {
                let value = filter(&store, *searched.choose(&mut random).unwrap()).await;
                if values
                    .iter()
                    .all(|other: &ValueFilter| other.field != value.field)
                {
                    values.push(value);
                }
            }
            let query = PetQuery {
                status: random
                    .random_bool(0.3)
                    .then(|| *PetStatus::ALL.choose(&mut random).unwrap()),
                category_id: random.random_bool(0.3).then(|| random.random_range(0..3)),
                is_withdrawn: random.random_bool(0.3),
                name: random.random_bool(0.3).then(|| prefix(&mut random)),
                is_on_offer: random.random_bool(0.3),
                newest_first: random.random_bool(0.5),
                limit: limit(random.random_range(1..6)),
                values,
                ..PetQuery::default()
            };
            expect_walk(&store, query).await;
        }
    }
}

pub(crate) async fn texts_are_found_without_regard_to_case_and_accents_and_numbers_by_their_value(
    store: AnyStore,
) {
    for values in [
        [("colour", "BLÁCK"), ("price", "10")],
        [("colour", "grey"), ("price", "9.99")],
    ] {
        change(
            &store,
            Command::AddPet(new_pet("Rex", 1, Available), given(&values), Vec::new()),
        )
        .await;
    }
    for _ in 0..2 {
        assert_eq!(found(&store, &[("colour", "black")]).await, [1]);
        assert_eq!(found(&store, &[("price", "10.0000")]).await, [1]);
        assert_eq!(
            found(&store, &[("price", "9.99"), ("colour", "Grey")]).await,
            [2]
        );
        assert_eq!(
            found(&store, &[("price", "9.99"), ("colour", "black")]).await,
            [0_i64; 0]
        );
        merge(&store).await;
    }
}

pub(crate) async fn values_of_a_field_that_gets_another_kind_are_not_mixed_up(store: AnyStore) {
    let clear = || FieldPatch::from([("price".to_owned(), RequestedValue::Clear)]);
    change(
        &store,
        Command::AddPet(
            new_pet("Rex", 1, Available),
            given(&[("price", "1.0")]),
            Vec::new(),
        ),
    )
    .await;
    merge(&store).await;
    change(
        &store,
        patch(
            pet_id(1),
            PetPatch {
                fields: clear(),
                ..PetPatch::default()
            },
        ),
    )
    .await;
    let fields = store.fields().await.unwrap();
    let field = fields.find("price").unwrap();
    let after = FieldDefinition {
        kind: FieldKind::Text,
        ..field.clone()
    };
    let name = FieldName::new("price").unwrap();
    let change_kind = FieldChange {
        seen_version: fields.version,
        name,
        after: Some(after),
        must_be_unused: false,
    };
    let written = store.write_fields(
        vec![change_kind],
        Vec::new(),
        StoredResponse::default(),
        act(0),
    );
    assert_eq!(written.await.unwrap(), WriteOutcome::Done);
    merge(&store).await;
    let again = PetPatch {
        fields: given(&[("price", "1")]),
        ..PetPatch::default()
    };
    change(&store, patch(pet_id(1), again)).await;
    for _ in 0..2 {
        assert_eq!(found(&store, &[("price", "1")]).await, [1]);
        assert_eq!(found(&store, &[("price", "1.0")]).await, [0_i64; 0]);
        merge(&store).await;
    }
}

pub(crate) async fn a_search_among_many_that_are_not_merged_fills_its_pages(store: AnyStore) {
    let query = |newest_first, values| PetQuery {
        newest_first,
        values,
        ..PetQuery::default()
    };
    let male = vec![filter(&store, ("sex", "male")).await];
    for number in 0..9 {
        let add = |at: usize| {
            let name = if at == 7 { "Luna" } else { "Rex" };
            Command::AddPet(
                new_pet(name, 1, Available),
                given(&[("sex", "Male")]),
                Vec::new(),
            )
        };
        let commands = (0..1_000).map(add).collect();
        assert!(matches!(
            execute(&store, commands).await,
            ExecutionOutcome::Done { .. }
        ));
        if number == 5 {
            merge(&store).await;
        }
    }
    let ids = |page: Vec<StorePet>| page.iter().map(|pet| pet.id.get()).collect::<Vec<_>>();
    for _ in 0..2 {
        let (page, next) = store
            .list_store_pets(&query(false, male.clone()))
            .await
            .unwrap();
        assert_eq!((ids(page), next), ((1..=20).collect(), Some(pet_id(20))));
        let (page, next) = store
            .list_store_pets(&query(true, male.clone()))
            .await
            .unwrap();
        assert_eq!(
            (ids(page), next),
            ((8_981..=9_000).rev().collect(), Some(pet_id(8_981)))
        );
        let last = PetQuery {
            after: Some(pet_id(8_990)),
            ..query(false, male.clone())
        };
        assert_eq!(
            ids(store.list_store_pets(&last).await.unwrap().0),
            (8_991..=9_000).collect::<Vec<_>>()
        );
        let rare = PetQuery {
            name: NamePrefix::new("lun"),
            ..query(true, male.clone())
        };
        let lunas: Vec<_> = (0..9).rev().map(|number| number * 1_000 + 8).collect();
        assert_eq!(ids(store.list_store_pets(&rare).await.unwrap().0), lunas);
        assert_eq!(store.count_on_offer(&rare, 100).await.unwrap(), 9);
        merge(&store).await;
    }
}

pub(crate) async fn values_of_many_bytes_are_merged_in_small_steps_and_found_before_that(
    store: AnyStore,
) {
    let long = "🐈".repeat(6_500);
    let values = [("description", long.as_str()), ("sex", "Male")];
    for _ in 0..17 {
        let add = || Command::AddPet(new_pet("Rex", 1, Available), given(&values), Vec::new());
        let done = execute(&store, (0..10).map(|_| add()).collect()).await;
        assert!(matches!(done, ExecutionOutcome::Done { .. }));
    }
    let query = PetQuery {
        values: vec![filter(&store, ("sex", "male")).await],
        ..Default::default()
    };
    assert_eq!(store.list_store_pets(&query).await.unwrap().0.len(), 20);
    let has_more = store.tend_search(1_024).await.unwrap();
    assert!(
        has_more,
        "no step began although they are long, or one step merged all of them"
    );
    merge(&store).await;
    assert_eq!(store.list_store_pets(&query).await.unwrap().0.len(), 20);
}

pub(crate) async fn the_animal_with_a_unique_value_is_found_without_the_search(store: AnyStore) {
    let chip = [("microchip", "Ä 1")];
    change(
        &store,
        Command::AddPet(new_pet("Rex", 1, Available), given(&chip), Vec::new()),
    )
    .await;
    let key = |text: &str| UniqueKey {
        field: "microchip".to_owned(),
        text: text.to_owned(),
    };
    assert_eq!(store.owners(key("a1")).await.unwrap(), [pet_id(1)]);
    assert_eq!(store.owners(key("Ä 1")).await.unwrap(), []);
    change(&store, withdraw(pet_id(1))).await;
    assert_eq!(store.owners(key("a1")).await.unwrap(), []);
}
