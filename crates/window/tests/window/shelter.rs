//! The fields of a shelter in the window.

use petstore_domain::{
    PetStatus,
    store_area::{
        FieldKind, FieldPatch, FieldValue, Language, PetPatch, RequestedValue,
        missing_shelter_fields,
    },
};
use petstore_languages::field_labels;

use super::street::{Seen, Street};

/// A shelter with its fields.
async fn shelter() -> Street {
    let street = Street::open().await;
    let fields = street.store.fields().await.unwrap();
    let missing = missing_shelter_fields(&fields, field_labels(Language::English));
    for field in missing {
        let name = field.name.as_str();
        let label = field.label.as_str();
        match field.choices {
            Some(choices) => {
                let choices: Vec<_> = choices.values().iter().map(String::as_str).collect();
                street.choice(name, &choices).await;
            }
            None => street.field(name, label, field.kind, field.is_public).await,
        }
    }
    street.make_private(&["intake_kind"]).await;
    street
}

/// Says of an animal that something is so, or not so.
async fn say(street: &Street, id: i64, field: &str, value: bool) {
    let value = RequestedValue::Set(FieldValue::Boolean(value));
    let patch = PetPatch {
        fields: FieldPatch::from([(field.to_owned(), value)]),
        ..PetPatch::default()
    };
    street.patch(id, patch).await;
}

/// The numbers of the animals on all pages of a list.
async fn walk(street: &Street, path: &str) -> Vec<i64> {
    let mut found = Vec::new();
    let mut next = Some(path.to_owned());
    while let Some(path) = next {
        let page: Seen = street.get(&path).await.expect(200);
        found.extend(page.animals());
        next = page.next();
    }
    found
}

#[tokio::test]
async fn the_list_is_filtered_by_what_people_ask_of_an_animal_and_the_rest_stays_in_the_shelter() {
    let street = shelter().await;
    let hidden = [("place", "zq7 kennel"), ("intake_kind", "Surrendered")];
    let [luna, rex, bo] = [
        street.add("Luna", &hidden).await,
        street.add("Rex", &[]).await,
        street.add("Bo", &[]).await,
    ];
    let list = street.get("/").await.expect(200);
    for field in [
        "good_with_children",
        "good_with_dogs",
        "good_with_cats",
        "neutered",
        "house_trained",
    ] {
        assert!(
            list.text.contains(&format!("<select id=\"field.{field}\"")),
            "{field}: {list:?}"
        );
        say(&street, luna, field, true).await;
        say(&street, rex, field, false).await;
        assert_eq!(
            walk(&street, &format!("/?field.{field}=true")).await,
            [luna]
        );
        assert_eq!(
            walk(&street, &format!("/?field.{field}=false")).await,
            [rex]
        );
    }
    assert_eq!(walk(&street, "/").await, [bo, rex, luna]);
    let page = street.get(&format!("/animals/{luna}")).await.expect(200);
    assert!(page.text.contains("Good with children"), "{page:?}");
    for path in [
        "/",
        "/animals.json",
        "/animals.csv",
        "/?q=zq7",
        "/animals/1",
    ] {
        let text = street.get(path).await.expect(200).text;
        let text = text.replace("value=\"zq7\"", "").replace("q=zq7", "");
        for private in ["zq7 kennel", "Surrendered", "intake_kind", "field.place"] {
            assert!(!text.contains(private), "{path} has {private}: {text}");
        }
    }
}

#[tokio::test]
async fn those_that_wait_longest_are_those_with_the_first_day_of_intake() {
    let street = shelter().await;
    let mut expected = Vec::new();
    // They come in another order than they were added: 60, 59 … days ago.
    for number in 0..50 {
        let day = format!("2026-{:02}-{:02}", 10 - number / 25, 28 - number % 25);
        expected.push(street.add("Luna", &[("intake", &day)]).await);
    }
    // Without a day of intake, the day on which it was added counts, which is today.
    let today = street.add("Rex", &[]).await;
    expected.reverse();
    expected.push(today);
    assert_eq!(walk(&street, "/?sort=longest").await, expected);
    let dogs = street
        .add("Bo", &[("species", "Dog"), ("intake", "2020-01-01")])
        .await;
    assert_eq!(
        walk(&street, "/?sort=longest&field.species=Dog").await,
        [dogs]
    );
    assert_eq!(walk(&street, "/?sort=longest").await[0], dogs);
    let card = street.get("/?field.species=Dog").await.expect(200);
    assert!(card.text.contains("With us for over a year"), "{card:?}");
    // The order tells nothing of a day that nobody may see.
    street.make_private(&["intake"]).await;
    let mut by_number = expected.clone();
    by_number.push(dogs);
    by_number.sort_unstable();
    assert_eq!(walk(&street, "/?sort=longest").await, by_number);
    let card = street.get("/?field.species=Dog").await.expect(200);
    assert!(!card.text.contains("With us for over a year"), "{card:?}");
}

#[tokio::test]
async fn a_store_with_more_animals_than_are_sorted_lists_them_as_they_were_added() {
    let street = shelter().await;
    street.field("note", "Note", FieldKind::Text, true).await;
    let mut expected = Vec::new();
    for number in 0..501 {
        let day = if number == 500 {
            "2020-01-01"
        } else {
            "2026-01-01"
        };
        expected.push(street.add("Luna", &[("intake", day)]).await);
    }
    let found = street.get("/?sort=longest").await.expect(200).animals();
    assert_eq!(found[..], expected[..found.len()]);
    street.withdraw(expected[0]).await;
    let found = street.get("/?sort=longest").await.expect(200).animals();
    assert_eq!(found[0], expected[500]);
}

#[tokio::test]
async fn by_arrival_a_page_goes_on_after_an_animal_that_was_sold_meanwhile() {
    let street = shelter().await;
    let mut expected = Vec::new();
    for day in 1..=40 {
        let day = format!("2026-{:02}-{:02}", 9 + day / 25, 1 + day % 25);
        expected.push(street.add("Luna", &[("intake", &day)]).await);
    }
    let first_page: Seen = street.get("/?sort=longest").await.expect(200);
    let next = first_page.next().unwrap();
    let mut seen = first_page.animals();
    let last = *seen.last().unwrap();
    let sold = PetPatch {
        status: Some(PetStatus::Sold),
        ..PetPatch::default()
    };
    street.patch(last, sold).await;
    seen.extend(walk(&street, &next).await);
    assert_eq!(seen, expected);

    // Nothing tells when an animal that is not on the website arrived.
    let hidden = PetPatch {
        is_listed: Some(false),
        ..PetPatch::default()
    };
    street.patch(last, hidden).await;
    let page: Seen = street.get(&next).await.expect(200);
    assert_eq!(page.animals()[0], expected[0]);
}
