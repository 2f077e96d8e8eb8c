//! What nobody sees in the window.

use std::collections::BTreeSet;

use petstore_app::StoreOptions;
use petstore_domain::{
    Actor, ApiKey, Deployment, NamedActor, NewKey, PetId, Scope, StaffId,
    store_area::{
        Command, Contact, ContractText, FieldKind, FieldValue, NewOrder, Note, NoteText, OrderId,
        PetPatch, Profile, Reason, Reference, RequestedValue, WithdrawalReason,
    },
};
use petstore_testing::{
    area::{any, change, complete, give_back, place, reserve, withdraw},
    stores::act,
};
use rand::{SeedableRng, rngs::StdRng};

use super::street::{Seen, Street, settings};

/// In every private place.
const MARK: &str = "zq7";

/// Adds a mark to a private place, so that one can see which.
fn mark(place: &str) -> String {
    format!("{MARK}{place}")
}

/// A note with marks in its text and its author.
fn marked_note(pet_id: PetId) -> Command {
    Command::AddNote {
        pet_id,
        text: NoteText::new(mark("petnote")).unwrap(),
        author: NamedActor {
            actor: Actor::Staff(StaffId(1)),
            name: Some(mark("author").into()),
        },
    }
}

/// A profile with a mark in its contract.
fn marked_profile() -> Profile {
    let contract = ContractText::new(mark("contracttext"));
    assert!(contract.is_some());
    Profile {
        contract,
        ..Profile::default()
    }
}

/// A store whose private places all have a mark.
async fn marked_street() -> Street {
    let street = Street::of(StoreOptions {
        contact: None,
        ..settings().store
    })
    .await;
    street.label(1, "Cats").await;
    street
        .field("vet", &mark("label"), FieldKind::LongText, false)
        .await;
    street.field("shy", "Shy", FieldKind::Text, true).await;
    let private = [("microchip", mark("chip")), ("vet", mark("vet"))];
    let private = private
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    for step in ["", "reserve", "sell", "cancel", "withdraw"] {
        let values = [&private[..1], &[("species", "Cat"), ("vet", private[1].1)]].concat();
        let values: Vec<_> = values
            .into_iter()
            .map(|(name, value)| {
                (
                    name,
                    if name == "microchip" {
                        format!("{value}{step}")
                    } else {
                        value.to_owned()
                    },
                )
            })
            .collect();
        let values: Vec<_> = values
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let id = PetId::new(street.add(&format!("Luna{step}"), &values).await).unwrap();
        change(&street.store, marked_note(id)).await;
        if ["reserve", "sell", "cancel"].contains(&step) {
            let order = NewOrder {
                reference: Reference::new(mark("reference")),
                note: Note::new(mark("ordernote")),
                contact: Contact::new(mark("contact")),
                ..reserve(id)
            };
            let order: OrderId = place(&street.store, order).await;
            if step == "sell" {
                change(&street.store, complete(order)).await;
            } else if step == "cancel" {
                let reason = Reason::new(mark("reason"));
                change(
                    &street.store,
                    Command::CancelOrder {
                        id: order,
                        reason,
                        preconditions: any(),
                    },
                )
                .await;
            }
        }
        if step == "withdraw" {
            let note = Note::new(mark("note"));
            let reason = WithdrawalReason::Died;
            let leave = Command::WithdrawPet {
                id,
                reason,
                note,
                preconditions: any(),
            };
            change(&street.store, leave).await;
        }
    }
    add_unlisted_animals(&street).await;
    street.say(marked_profile()).await;
    let key = ApiKey::generate(Deployment::Production, &mut StdRng::seed_from_u64(7));
    let new = NewKey {
        digest: key.digest(),
        name: mark("key"),
        scope: Scope::StoreWrite,
        deployment: Deployment::Production,
        expires_at: None,
        rate_limit: None,
    };
    street.store.create_key(new, act(0)).await.unwrap();
    // A field that was public, and is no longer.
    let shy = RequestedValue::Set(FieldValue::Text(mark("shy")));
    let fields = [("shy".to_owned(), shy)].into();
    street
        .patch(
            1,
            PetPatch {
                fields,
                ..PetPatch::default()
            },
        )
        .await;
    street.field("shy", "Shy", FieldKind::Text, false).await;
    street
}

/// Adds animals that are not on the website: one on offer, one reserved, one sold, one that came back, one withdrawn, and
/// one that was on the website before. All their values have a mark, and the last field has choices of its own.
async fn add_unlisted_animals(street: &Street) {
    for step in ["offer", "reserve", "sell", "return", "withdraw", "was"] {
        let values = [
            ("species", "Cat".to_owned()),
            ("breed", mark("breed")),
            ("colour", mark("colour")),
            ("description", mark("story")),
            ("price", "777.77".to_owned()),
        ];
        let values = values.each_ref().map(|(name, value)| (*name, &**value));
        let id = street.add(&mark(step), &values).await;
        street.photo(id, Some(&mark("alt"))).await;
        if step == "was" {
            // Every cache has it.
            for path in ["/", "/animals.json", "/animals.atom", "/sitemap.xml"] {
                assert!(
                    street
                        .get(path)
                        .await
                        .text
                        .contains(&format!("/animals/{id}"))
                );
            }
        }
        street.list(id, false).await;
        let id = PetId::new(id).unwrap();
        if ["reserve", "sell", "return"].contains(&step) {
            let order = place(&street.store, reserve(id)).await;
            if step != "reserve" {
                change(&street.store, complete(order)).await;
            }
            if step == "return" {
                change(&street.store, give_back(order)).await;
            }
        }
        if step == "withdraw" {
            change(&street.store, withdraw(id)).await;
        }
    }
}

/// The paths of the window to which something leads.
fn links(seen: &Seen) -> Vec<String> {
    let text = seen
        .text
        .replace("&amp;", "&")
        .replace("https://animals.example", "");
    let parts = text.split(['"', '\'', '<', '>', ' ', '\n', ',', '\r']);
    let mut found: Vec<_> = parts
        .filter(|part| part.starts_with('/'))
        .map(str::to_owned)
        .collect();
    let link = seen.field("link").replace("https://animals.example", "");
    found.extend(
        link.split(['<', '>'])
            .filter(|part| part.starts_with('/'))
            .map(str::to_owned),
    );
    found
        .into_iter()
        .map(|path| path.split('#').next().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn no_url_of_the_window_shows_anything_private_in_a_body_or_a_header() {
    let street = marked_street().await;
    let mut waiting: Vec<String> = [
        "/",
        "/embed",
        "/animals.json",
        "/animals.csv",
        "/animals.atom",
        "/sitemap.xml",
        "/robots.txt",
        "/?field.vet=zq&name=luna",
        "/?cursor=x",
        "/?field.species=Cat",
        "/embed?limit=0",
        "/nowhere",
        "/animals.json?cursor=x",
        "/animals/99",
        "/sitemap-9007199254740991.xml",
        "/photos/x",
        "/?field.microchip=zq7chip",
        "/?field.shy=zq7shy",
        "/animals.json?field.microchip=zq7chip",
        "/?field.species=Cat&age=0",
        "/embed?q=7",
    ]
    .map(str::to_owned)
    .to_vec();
    // Also of animals to which nothing leads.
    waiting.extend((1..=12).map(|id| format!("/animals/{id}")));
    let mut seen = BTreeSet::new();
    while let Some(path) = waiting.pop() {
        if !seen.insert(path.clone()) || path.parse::<hyper::Uri>().is_err() {
            continue;
        }
        let response = street.get(&path).await;
        let fields = format!("{:?}", response.headers);
        // What was asked for is not what the store has.
        let text = response
            .text
            .replace("zq7chip\"", "")
            .replace("zq7shy\"", "");
        assert!(
            !text.contains(MARK) && !fields.contains(MARK),
            "{path}: {response:?}"
        );
        for word in [
            "died",
            "orderId",
            "withdrawn",
            "reference",
            "\"listed\"",
            "777.77",
        ] {
            assert!(
                !response.text.contains(word),
                "{path} has {word}: {response:?}"
            );
        }
        waiting.extend(links(&response));
    }
    assert!(seen.len() > 25, "{seen:?}");
}

#[tokio::test]
async fn a_filter_by_a_private_field_finds_the_same_animals_as_none() {
    let street = marked_street().await;
    let all = street.get("/animals.json").await.expect(200).json();
    for query in [
        "field.microchip=zq7chip",
        "field.microchip=x",
        "field.vet=zq7vet",
        "field.shy=zq7shy",
    ] {
        let found = street
            .get(&format!("/animals.json?{query}"))
            .await
            .expect(200)
            .json();
        assert_eq!(found, all, "{query}");
    }
}

#[tokio::test]
async fn a_search_finds_nothing_private_and_an_age_only_days_of_birth_that_are_public() {
    let street = marked_street().await;
    street.choice("mood", &["zq7mood"]).await;
    street
        .label_choices("mood", &[("zq7mood", "zq7moody")])
        .await;
    let mood = [
        ("mood", "zq7mood"),
        ("born", "2026-11-30"),
        ("breed", "Ragdoll"),
    ];
    let id = street.add("Nala", &mood).await;
    let found = async |query: &str| {
        let page = street
            .get(&format!("/animals.json?{query}"))
            .await
            .expect(200)
            .json();
        let ids = page
            .as_array()
            .unwrap()
            .iter()
            .map(|animal| animal["id"].as_i64().unwrap());
        ids.collect::<Vec<_>>()
    };
    for is_merged in [false, true] {
        if is_merged {
            while street.store.tend_search(0).await.unwrap() {}
        }
        assert_eq!(found("q=zq7mood").await, [id], "{is_merged}");
        assert_eq!(found("q=zq7moody").await, [id], "{is_merged}");
        assert_eq!(found("age=0").await, [id], "{is_merged}");
    }
    let all = found("").await;
    street.make_private(&["mood", "born"]).await;
    let contact = mark("contact");
    for query in [
        "zq7",
        "zq7mood",
        "zq7moody",
        "zq7chip",
        "zq7vet",
        "zq7shy",
        "zq7label",
        &contact,
        "zq7petnote",
    ] {
        for path in [
            "/",
            "/embed",
            "/animals.json",
            "/animals.csv",
            "/animals.atom",
        ] {
            let text = street
                .get(&format!("{path}?q={query}"))
                .await
                .expect(200)
                .text;
            assert!(!text.contains("/animals/"), "{path} {query}: {text}");
        }
    }
    // Animals that are not here any more, and long texts, which nothing finds.
    for query in [
        "Lunasell",
        "Lunawithdraw",
        "zq7reference",
        "zq7ordernote",
        "zq7note",
        "zq7petnote",
        "zq7author",
        "2026-11-30",
    ] {
        assert_eq!(found(&format!("q={query}")).await, [0; 0], "{query}");
    }
    assert_eq!(found("q=ragdoll").await, [id]);
    // As every parameter that it does not know.
    assert_eq!(found("age=0").await, all);
    assert_eq!(found("age=8").await, all);
    assert!(!street.get("/").await.text.contains("name=\"age\""));
}
