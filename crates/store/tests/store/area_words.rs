//! The search by words of names and values, and by ranges of dates. Part of the suite.

use jiff::civil::date;
use petstore_domain::{
    PetStatus::{self, Available, Sold},
    StoredResponse,
    store_area::{
        Age, Choices, Command, DateRange, EverydayWord, FieldChange, FieldName, FieldPatch,
        FieldSet, FieldValue, NamePrefix, PetPatch, PetQuery, Phrase, Property, RequestedValue,
        ValueFilter,
    },
};
use petstore_store::{ExecutionOutcome, WriteOutcome};
use petstore_testing::{
    area::{change, execute, patch, pet_id, restore, to_status, withdraw},
    stores::{AnyStore, act, new_pet},
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use crate::area_lists::{expect_walk, limit};

const NAMES: [&str; 10] = [
    "Max",
    "",
    "Old Max II",
    "*Luna",
    "max 7",
    "Maine Coon",
    "O'Black",
    "Müller",
    "Bjoern Øst",
    "大黄狗",
];
const VALUES: [(&str, &str); 19] = [
    ("sex", "Male"),
    ("sex", "Female"),
    ("size", "Small"),
    ("size", "Large"),
    ("colour", "Black"),
    ("colour", "BLÁCK and white"),
    ("colour", "brown-black"),
    ("colour", "*"),
    ("breed", "Maine Coon"),
    ("breed", "Max"),
    ("breed", "Łajka"),
    ("breed", "柴犬"),
    ("born", "1960-02-29"),
    ("born", "1963-03-01"),
    ("born", "1964-02-28"),
    ("description", "black and calm"),
    ("microchip", "276-098"),
    ("microchip", "Max"),
    ("microchip", "7"),
];
const WORDS: [&str; 29] = [
    "max",
    "MA",
    "m",
    "black",
    "bl\u{e1}",
    "whit",
    "coon",
    "maine-coon",
    "queen",
    "bitch",
    "tiny",
    "calm",
    "7",
    "#7",
    "12",
    "276.098",
    "27",
    "*",
    "q",
    "small",
    "ii",
    "andwhite",
    "mueller",
    "muller",
    "bjö",
    "oest",
    "狗",
    "犬",
    "laj",
];

fn given(values: &[(&str, &str)]) -> FieldPatch {
    let given = |text: &str| RequestedValue::Set(FieldValue::Text(text.to_owned()));
    values
        .iter()
        .map(|&(name, text)| (name.to_owned(), given(text)))
        .collect()
}

/// Gives the values of a choice labels, and says whether everybody may see them.
async fn set_field(store: &AnyStore, name: &str, is_public: bool, labels: &[(&str, &str)]) {
    let fields = store.fields().await.unwrap();
    let mut after = fields.find(name).unwrap().clone();
    let labels = labels
        .iter()
        .map(|&(value, label)| (value.to_owned(), label.to_owned()));
    let labels = labels.collect();
    let choices = after
        .choices
        .take()
        .map(|choices| Choices::with_labels(choices, labels).unwrap());
    (after.choices, after.is_public) = (choices, is_public);
    let name = FieldName::new(name).unwrap();
    let change = FieldChange {
        seen_version: fields.version,
        name,
        after: Some(after),
        must_be_unused: false,
    };
    let written = store
        .write_fields(vec![change], Vec::new(), StoredResponse::default(), act(0))
        .await;
    assert_eq!(written.unwrap(), WriteOutcome::Done);
}

async fn merge(store: &AnyStore) {
    while store.tend_search(0).await.unwrap() {}
}

/// A meaning of the first words of a phrase: a sex, together with a category or days of birth, or a stem.
fn random_everyday_word(fields: &FieldSet, random: &mut StdRng) -> EverydayWord {
    let sex = Property {
        values: vec![fields.parse_filter("sex", "female").unwrap()],
        ..Property::default()
    };
    let born = fields
        .parse_date_range("born", Some("1963-03-01"), None)
        .unwrap();
    let other = Property {
        categories: vec![random.random_range(0..3)],
        dates: Some(born).filter(|_| random.random_bool(0.5)),
        ..Property::default()
    };
    let has_properties = random.random_bool(0.6);
    EverydayWord {
        first_word: 0,
        word_count: random.random_range(1..=2),
        properties: if has_properties {
            vec![sex, other]
        } else {
            Vec::new()
        },
        stem: NamePrefix::new("bla").filter(|_| !has_properties),
    }
}

async fn random_query(store: &AnyStore, random: &mut StdRng) -> PetQuery {
    let fields = store.fields().await.unwrap();
    let words = random.random_range(1..=3);
    let words: Vec<_> = (0..words).map(|_| *WORDS.choose(random).unwrap()).collect();
    let phrase = Phrase::new(&words.join(" ")).unwrap();
    let phrase = if random.random_bool(0.5) {
        phrase
    } else {
        phrase.public()
    };
    let phrase = if random.random_bool(0.4) {
        let everyday_word = random_everyday_word(&fields, random);
        phrase.with_everyday_words(vec![everyday_word])
    } else {
        phrase
    };
    let days = ["1960-02-29", "1963-03-01", "1964-02-28", "1960-03-01"];
    let mut end = || {
        random
            .random_bool(0.5)
            .then(|| *days.choose(random).unwrap())
    };
    let dates = fields.parse_date_range("born", end(), end()).unwrap();
    let filter = fields.parse_filter("sex", "male").unwrap();
    let status = random
        .random_bool(0.3)
        .then(|| *PetStatus::ALL.choose(random).unwrap());
    // A query for animals on offer has no status, and finds none that are withdrawn.
    let is_on_offer = status.is_none() && random.random_bool(0.2);
    PetQuery {
        status,
        category_id: random.random_bool(0.2).then(|| random.random_range(0..3)),
        name: random
            .random_bool(0.2)
            .then(|| NamePrefix::new("max").unwrap()),
        phrase: Some(phrase).filter(|_| random.random_bool(0.8)),
        dates: Some(dates).filter(|_| random.random_bool(0.3)),
        values: Vec::from_iter(Some(filter).filter(|_| random.random_bool(0.2))),
        is_on_offer,
        is_withdrawn: !is_on_offer && random.random_bool(0.2),
        newest_first: random.random_bool(0.5),
        limit: limit(random.random_range(1..6)),
        ..PetQuery::default()
    }
}

pub(crate) async fn a_search_by_words_and_dates_is_exact_while_animals_change_and_are_merged(
    store: AnyStore,
) {
    let mut random = StdRng::seed_from_u64(6);
    set_field(&store, "sex", true, &[("Female", "Queen or bitch")]).await;
    set_field(&store, "size", false, &[("Small", "Tiny")]).await;
    set_field(&store, "breed", false, &[]).await;
    set_field(&store, "microchip", false, &[]).await;
    for round in 0..100 {
        let mut values: Vec<_> = VALUES
            .into_iter()
            .filter(|_| random.random_bool(0.3))
            .collect();
        let status = *PetStatus::ALL.choose(&mut random).unwrap();
        let new = new_pet(
            NAMES.choose(&mut random).unwrap(),
            random.random_range(0..3),
            status,
        );
        // A refused animal would leave a gap between the identifiers.
        let fields = store.fields().await.unwrap();
        for (name, text) in std::mem::take(&mut values) {
            let key = fields.unique_key(name, &FieldValue::Text(text.to_owned()));
            let is_taken = match key {
                Some(key) => !store.owners(key).await.unwrap().is_empty(),
                None => false,
            };
            values.extend(Some((name, text)).filter(|_| !is_taken));
        }
        change(&store, Command::AddPet(new, given(&values), Vec::new())).await;
        for _ in 0..random.random_range(0..4) {
            let id = pet_id(random.random_range(1..=round + 1));
            let (field, text) = *VALUES.choose(&mut random).unwrap();
            let mut fields = given(&[(field, text)]);
            if random.random_bool(0.3) {
                fields.insert(field.to_owned(), RequestedValue::Clear);
            }
            // Some are refused, because the animal is withdrawn, or is not.
            let command = match random.random_range(0..5) {
                0 | 1 => patch(
                    id,
                    PetPatch {
                        fields,
                        ..PetPatch::default()
                    },
                ),
                2 => to_status(id, *PetStatus::ALL.choose(&mut random).unwrap()),
                3 => withdraw(id),
                _ => restore(id),
            };
            execute(&store, vec![command]).await;
        }
        if random.random_bool(0.3) {
            store.tend_search(random.random_range(0..20)).await.unwrap();
        }
        for _ in 0..3 {
            let query = random_query(&store, &mut random).await;
            expect_walk(&store, query).await;
        }
    }
    merge(&store).await;
    for _ in 0..200 {
        let query = random_query(&store, &mut random).await;
        expect_walk(&store, query).await;
    }
}

async fn found(store: &AnyStore, query: PetQuery) -> Vec<i64> {
    let (found, _) = store.list_store_pets(&query).await.unwrap();
    let counted = PetQuery {
        is_on_offer: true,
        ..query
    };
    assert_eq!(
        store.count_on_offer(&counted, 100).await.unwrap(),
        found.len()
    );
    found.iter().map(|pet| pet.id.get()).collect()
}

pub(crate) async fn a_phrase_finds_no_private_value_for_everybody_and_each_label_at_once(
    store: AnyStore,
) {
    let public = ["species", "sex"];
    for name in ["species", "sex", "size", "colour", "microchip"] {
        set_field(&store, name, public.contains(&name), &[]).await;
    }
    let luna = [
        ("size", "Small"),
        ("colour", "Grey"),
        ("microchip", "276-1"),
        ("sex", "Female"),
    ];
    change(
        &store,
        Command::AddPet(new_pet("Luna", 1, Available), given(&luna), Vec::new()),
    )
    .await;
    let rex = [("size", "Large"), ("sex", "Male")];
    change(
        &store,
        Command::AddPet(new_pet("Rex", 1, Available), given(&rex), Vec::new()),
    )
    .await;
    let of = |phrase: Phrase| {
        found(
            &store,
            PetQuery {
                phrase: Some(phrase),
                ..PetQuery::default()
            },
        )
    };
    for labels in [["Wee", "Girl"], ["Toy", "Lady"]] {
        set_field(&store, "size", false, &[("Small", labels[0])]).await;
        set_field(&store, "sex", true, &[("Female", labels[1])]).await;
        for private in [
            "small",
            labels[0],
            "grey",
            "276-1",
            "2761 rex",
            "nothing 276.1",
            "276",
        ] {
            let phrase = Phrase::new(private).unwrap();
            assert_eq!(of(phrase.clone().public()).await, [0_i64; 0], "{private}");
            let expected = if private == "nothing" {
                vec![]
            } else {
                vec![1]
            };
            assert_eq!(of(phrase).await, expected, "{private}");
        }
        for public in ["luna", labels[1], "female", "1", "#1 lun"] {
            assert_eq!(
                of(Phrase::new(public).unwrap().public()).await,
                [1],
                "{public}"
            );
        }
        merge(&store).await;
    }
    for old in ["wee", "girl"] {
        assert_eq!(of(Phrase::new(old).unwrap()).await, [0_i64; 0], "{old}");
    }
    // Without a change of any animal.
    set_field(&store, "colour", true, &[]).await;
    assert_eq!(of(Phrase::new("grey").unwrap().public()).await, [1]);
    set_field(&store, "sex", false, &[]).await;
    assert_eq!(
        of(Phrase::new("female").unwrap().public()).await,
        [0_i64; 0]
    );
}

pub(crate) async fn many_animals_with_the_same_words_are_found_by_all_of_them(store: AnyStore) {
    let values = |at: i64| {
        let colour = if at % 3 == 0 {
            "black"
        } else {
            "black and white"
        };
        let born = if at % 7 == 0 {
            "1960-02-29"
        } else {
            "1955-01-01"
        };
        given(&[("colour", colour), ("born", born), ("sex", "Male")])
    };
    let add = |at| Command::AddPet(new_pet("Rex", 1, Available), values(at), Vec::new());
    for block in 0..6 {
        let commands = (1..=1_000).map(|at| add(block * 1_000 + at)).collect();
        let done = execute(&store, commands).await;
        assert!(matches!(done, ExecutionOutcome::Done { .. }), "{done:?}");
        merge(&store).await;
    }
    let field = FieldName::new("born").unwrap();
    let phrase = |text: &str| Phrase::new(text);
    let count = async |phrase, dates| {
        let query = PetQuery {
            phrase,
            dates,
            is_on_offer: true,
            ..PetQuery::default()
        };
        store.count_on_offer(&query, 10_000).await.unwrap()
    };
    let old = Age::ThreeToEight.birth_range(&field, date(1967, 3, 1));
    assert_eq!(count(phrase("black rex mal"), None).await, 6_000);
    assert_eq!(count(phrase("white"), None).await, 4_000);
    assert_eq!(count(None, Some(old.clone())).await, 857);
    assert_eq!(count(phrase("whi"), Some(old)).await, 572);
    assert_eq!(count(phrase("white 3000"), None).await, 0);
    assert_eq!(count(phrase("black 3000"), None).await, 1);
    // In the middle of rows that have only this word.
    for id in [100, 101, 2_500, 5_999] {
        let fields = given(&[("colour", "grey")]);
        change(
            &store,
            patch(
                pet_id(id),
                PetPatch {
                    fields,
                    ..PetPatch::default()
                },
            ),
        )
        .await;
        change(&store, to_status(pet_id(id - 50), Sold)).await;
    }
    merge(&store).await;
    let none: Option<DateRange> = None;
    assert_eq!(count(phrase("black"), none.clone()).await, 5_992);
    assert_eq!(count(phrase("grey"), none).await, 4);
    let values: Vec<ValueFilter> = vec![
        store
            .fields()
            .await
            .unwrap()
            .parse_filter("colour", "grey")
            .unwrap(),
    ];
    let query = PetQuery {
        phrase: phrase("#2500 rex"),
        values,
        ..PetQuery::default()
    };
    assert_eq!(found(&store, query).await, [2_500]);
}
