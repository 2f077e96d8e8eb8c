//! Changing several animals at once.

use petstore_domain::{
    PetId, PetStatus, Role,
    store_area::{FieldPatch, FieldValue, OrderId, PetPatch, PetQuery, RequestedValue, StorePet},
};
use petstore_testing::area::{change as change_pet, patch as area_patch};

use super::browser::{Browser, Page, Shop};

async fn pet(shop: &Shop, id: i64) -> StorePet {
    shop.store
        .get_store_pet(PetId::new(id).unwrap())
        .await
        .unwrap()
        .unwrap()
}

/// Signs in a clerk, who adds animals with these names.
async fn clerk<'s>(shop: &'s Shop, names: &[&str]) -> Browser<'s> {
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for name in names {
        let form = [("name", *name), ("category", "1"), ("status", "available")];
        clerk.post("/add", &form).await.expect(303);
    }
    clerk
}

/// Presses a button for the ticked animals, and says yes to the question.
async fn change(clerk: &mut Browser<'_>, form: &[(&str, &str)]) -> Page {
    let page = clerk.post("/animals/selected", form).await.expect(200);
    let sure = page.hidden("sure");
    clerk
        .post("/animals/selected", &[form, &[("sure", &sure)]].concat())
        .await
}

#[tokio::test]
async fn of_many_selected_animals_all_change_or_none_and_the_one_in_the_way_is_named() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex", "Max", "Mia"]).await;
    let sell = [("do", "sell"), ("pet", "2:1")];
    assert_eq!(
        clerk.post("/animals/selected", &sell).await.next(),
        "/animals"
    );
    let all = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("pet", "1:1"),
        ("pet", "2:1"),
        ("pet", "3:1"),
        ("q", "m"),
        ("status", "all"),
    ];
    clerk
        .post(
            "/animals/3/order",
            &[("do", "reserve"), ("until", "2026-12-24")],
        )
        .await
        .expect(303);
    // All of them are named at once, and nothing is asked that cannot be done.
    let page = clerk.post("/animals/selected", &all).await.expect(200);
    for shown in [
        "Max</bdi></a>: It is already sold.",
        "Mia</bdi></a>: It is reserved by order 2.",
    ] {
        assert!(page.text.contains(shown), "{shown}: {page:?}");
    }
    let free = [("version", "1")];
    clerk.post("/orders/2/cancel", &free).await.expect(303);
    // The list and the ticks are those from before.
    assert!(page.text.contains("value=\"3:2\" checked") && !page.text.contains("value=\"1:1\""));
    assert_eq!(pet(&shop, 1).await.status, PetStatus::Available);
    let moved = [
        ("do", "move"),
        ("to", "5"),
        ("pet", "1:1"),
        ("pet", "3:3"),
        ("q", "m"),
    ];
    assert_eq!(change(&mut clerk, &moved).await.next(), "/animals?q=m");
    assert_eq!(
        (
            pet(&shop, 1).await.category_id,
            pet(&shop, 3).await.category_id
        ),
        (5, 5)
    );
    // Somebody else was faster.
    let stale = [("do", "withdraw"), ("why", "mistake"), ("pet", "1:1")];
    let page = clerk.post("/animals/selected", &stale).await.expect(200);
    assert!(
        page.text.contains("Somebody else has changed this"),
        "{page:?}"
    );
}

#[tokio::test]
async fn from_two_animals_on_a_change_is_asked_and_names_them() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex", "Max <2>"]).await;
    let form = [("label", "Dogs"), ("number", "7"), ("_key", "k-0")];
    clerk.post("/categories", &form).await.expect(303);
    let both = [
        ("pet", "1:1"),
        ("pet", "2:1"),
        ("q", "x"),
        ("to", "dogs"),
        ("why", "died"),
        ("until", "2026-12-24"),
    ];
    for (button, title) in [
        (
            "reserve",
            "Reserve 2 animals until the end of 24\u{a0}December\u{a0}2026?",
        ),
        ("sell", "Sell 2 animals?"),
        (
            "withdraw",
            "Record 2 animals as having left the store (died)?",
        ),
        ("move", "Move 2 animals to “Dogs”?"),
    ] {
        let form = [&both[..], &[("do", button)]].concat();
        let page = clerk.post("/animals/selected", &form).await.expect(200);
        for shown in [
            title,
            "<bdi>Rex</bdi>",
            "<bdi>Max &lt;2&gt;</bdi>",
            "href=\"/animals?q=x\"",
        ] {
            assert!(page.text.contains(shown), "{shown}: {page:?}");
        }
        assert_eq!(
            (pet(&shop, 1).await.version, pet(&shop, 2).await.version),
            (1, 1)
        );
        // Yes to one question is not yes to another one.
        let other = [&form[..], &[("sure", "Sell 2 animals? ")]].concat();
        clerk.post("/animals/selected", &other).await.expect(200);
    }
    let form = [&both[..], &[("do", "reserve"), ("_key", "k-1")]].concat();
    let sure = clerk
        .post("/animals/selected", &form)
        .await
        .expect(200)
        .hidden("sure");
    let form = [&form[..], &[("sure", &sure)]].concat();
    for _ in 0..2 {
        assert_eq!(
            clerk.post("/animals/selected", &form).await.next(),
            "/animals?q=x"
        );
    }
    assert_eq!(pet(&shop, 2).await.status, PetStatus::Pending);
    // One animal needs no question.
    let one = [("pet", "1:2"), ("do", "move"), ("to", "9")];
    assert_eq!(
        clerk.post("/animals/selected", &one).await.next(),
        "/animals"
    );
}

#[tokio::test]
async fn a_litter_is_reserved_for_one_customer_and_the_page_of_the_list_stays() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex", "Max"]).await;
    let list = [
        ("q", "x"),
        ("field.species", "Dog"),
        ("sort", "longest"),
        ("after", "7"),
    ];
    let pets = [("pet", "1:1"), ("pet", "2:1"), ("until", "2026-12-24")];
    let litter = [
        ("do", "reserve"),
        ("contact", "Ann, 030 1"),
        ("price", "95,50"),
    ];
    let form = [&list[..], &pets, &litter].concat();
    let back = "/animals?q=x&field.species=Dog&sort=longest&after=7";
    // What was typed, at the moment of checking it.
    let asked = clerk.post("/animals/selected", &form).await.expect(200);
    for shown in [
        "Customer</dt><dd><bdi>Ann, 030 1</bdi>",
        "Price</dt><dd><bdi>95.50",
        ">Go back</a>",
    ] {
        assert!(asked.text.contains(shown), "{shown}: {asked:?}");
    }
    assert_eq!(change(&mut clerk, &form).await.next(), back);
    // Undoing it returns to the same list.
    let form = clerk.get(back).await.expect(200).form("/animals/undo");
    let undoes = [("q", "x"), ("after", "7")];
    assert!(
        undoes.iter().all(|field| pairs(&form).contains(field)),
        "{form:?}"
    );
    for id in 1..=2 {
        let order = shop
            .store
            .get_order(OrderId::new(id).unwrap())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(order.contact.unwrap().as_str(), "Ann, 030 1");
        assert_eq!(order.price.unwrap().as_str(), "95.50");
    }
    let moved = [
        &list[..],
        &[("pet", "1:2"), ("pet", "2:2"), ("do", "move"), ("to", "9")],
    ]
    .concat();
    let asked = clerk.post("/animals/selected", &moved).await.expect(200);
    assert!(
        asked.text.contains("Ann, 030 1") && !asked.text.contains("<dt>Price"),
        "{asked:?}"
    );
    assert!(
        asked.text.contains(&back.replace('&', "&amp;")),
        "{asked:?}"
    );
}

#[tokio::test]
async fn enter_in_a_field_for_the_selected_animals_presses_the_button_of_that_field() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex"]).await;
    let page = clerk.get("/animals").await.expect(200);
    // Browsers press the first button of a form.
    let form = page.between("action=\"/animals/selected\">", "</form>");
    let (_, first) = form.split_once("<button").unwrap();
    assert!(
        first.starts_with(" class=\"hidden\" name=\"do\" value=\"\""),
        "{first}"
    );
    // The day is filled in, and means nothing.
    let enter = [("do", ""), ("pet", "1:1"), ("until", "2026-12-24")];
    let page = clerk.post("/animals/selected", &enter).await.expect(200);
    assert!(page.text.contains("Enter the category."), "{page:?}");
    assert_eq!(
        shop.store
            .list_store_pets(&PetQuery::default())
            .await
            .unwrap()
            .0[0]
            .version,
        1
    );
    for (typed, pets) in [
        (&[("to", "7")][..], "1:1"),
        (&[("of", "colour"), ("value", "Black")], "1:2"),
        (&[("contact", "Ann")], "1:3"),
    ] {
        let form = [&[enter[0], enter[2], ("pet", pets)], typed].concat();
        clerk.post("/animals/selected", &form).await.expect(303);
    }
    let rex = pet(&shop, 1).await;
    assert_eq!((rex.category_id, rex.status), (7, PetStatus::Pending));
    assert_eq!(rex.fields.as_json(), r#"{"colour":"Black"}"#);
}

#[tokio::test]
async fn several_reservations_are_cancelled_at_once_and_all_in_the_way_are_named() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex", "Max", "Mia", "Moe"]).await;
    for id in [1, 2] {
        let form = [
            ("do", "reserve"),
            ("until", "2026-12-24"),
            ("contact", "Ann"),
        ];
        clerk
            .post(&format!("/animals/{id}/order"), &form)
            .await
            .expect(303);
    }
    let cancel = |pets: &[&'static str]| -> Vec<(&str, &str)> {
        pets.iter()
            .map(|pet| ("pet", *pet))
            .chain([("do", "cancel")])
            .collect()
    };
    // Two have no reservation, and somebody has changed the second one.
    let page = clerk
        .post("/animals/selected", &cancel(&["1:2", "2:1", "3:1", "4:1"]))
        .await;
    for problem in [
        "Max</bdi></a>: Somebody else has changed this",
        "Mia</bdi></a>: It has no reservation.",
        "Moe</bdi></a>: It has no reservation.",
    ] {
        assert!(page.text.contains(problem), "{problem}: {page:?}");
    }
    assert!(!page.text.contains("Rex</bdi></a>: "), "{page:?}");
    let both = cancel(&["1:2", "2:2"]);
    let asked = clerk.post("/animals/selected", &both).await.expect(200);
    assert!(
        asked.text.contains("Cancel the reservations of 2 animals?"),
        "{asked:?}"
    );
    assert!(asked.text.contains("<bdi>Ann</bdi>"), "{asked:?}");
    change(&mut clerk, &both).await.expect(303);
    for id in [1, 2] {
        assert_eq!(pet(&shop, id).await.status, PetStatus::Available);
        let order = shop
            .store
            .get_order(OrderId::new(id).unwrap())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(order.status.as_str(), "cancelled");
    }
    let page = clerk.get("/animals").await.expect(200);
    assert!(page.text.contains("2 animals changed."), "{page:?}");
}

#[tokio::test]
async fn several_animals_get_one_value_as_people_type_it() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex", "Max"]).await;
    let give = |of, value, at: [&'static str; 2]| {
        [
            ("do", "value"),
            ("of", of),
            ("value", value),
            ("pet", at[0]),
            ("pet", at[1]),
        ]
    };
    let first = ["1:1", "2:1"];
    for (of, value, problem) in [
        ("", "Cat", "Choose the field to change."),
        // No two animals have the same one.
        ("microchip", "276", "Choose the field to change."),
        (
            "species",
            "Cta",
            "“Cta” is not one of the choices: Dog, Cat, ",
        ),
        ("price", "1.250", "1.250 can mean 1250 or 1.25."),
        ("price", "cheap", "Price: Enter an amount"),
        (
            "born",
            "03/04/2024",
            "03/04/2024 can mean 3\u{a0}April\u{a0}2024 or 4\u{a0}March\u{a0}2024.",
        ),
    ] {
        let page = clerk
            .post("/animals/selected", &give(of, value, first))
            .await
            .expect(200);
        assert!(page.text.contains(problem), "{of}: {page:?}");
        assert!(
            page.text
                .contains(&format!("name=\"value\" type=\"text\" value=\"{value}\""))
        );
    }
    let asked = clerk
        .post("/animals/selected", &give("species", "cat", first))
        .await
        .expect(200);
    assert!(
        asked.text.contains("Set “Species” to “Cat” for 2 animals?"),
        "{asked:?}"
    );
    for part in [
        "Rex</bdi> <small class=\"muted\">Number 1</small>",
        "– → <bdi>Cat</bdi>",
    ] {
        assert!(asked.text.contains(part), "{part}: {asked:?}");
    }
    let asked = clerk
        .post("/animals/selected", &give("species", "", first))
        .await
        .expect(200);
    assert!(
        asked.text.contains("Remove “Species” from 2 animals?"),
        "{asked:?}"
    );
    assert!(
        asked
            .text
            .contains("<button class=\"main\">Remove</button>"),
        "{asked:?}"
    );
    for (of, value, at) in [
        ("species", "cat", first),
        ("price", "95,50", ["1:2", "2:2"]),
        ("born", "25.03.2024", ["1:3", "2:3"]),
        ("price", "", ["1:4", "2:4"]),
    ] {
        change(&mut clerk, &give(of, value, at)).await.expect(303);
    }
    for id in [1, 2] {
        assert_eq!(
            pet(&shop, id).await.fields.as_json(),
            r#"{"born":"2024-03-25","species":"Cat"}"#
        );
    }
}

/// The form of the button in the message on the list.
async fn undo(clerk: &mut Browser<'_>) -> Vec<(String, String)> {
    let page = clerk.get("/animals").await.expect(200);
    assert!(page.text.contains(" data-undo "), "{page:?}");
    page.form("/animals/undo")
}

fn pairs(form: &[(String, String)]) -> Vec<(&str, &str)> {
    form.iter()
        .map(|(name, value)| (&**name, &**value))
        .collect()
}

#[tokio::test]
async fn a_value_of_several_animals_is_undone_where_nobody_has_changed_them_since() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex", "Max", "Mia"]).await;
    // Which German takes for a thousand.
    for (id, price) in [(1, "1.250"), (2, "95.5")] {
        let given = RequestedValue::Set(FieldValue::Text(price.to_owned()));
        let fields = FieldPatch::from([("price".to_owned(), given)]);
        let patch = PetPatch {
            fields,
            ..PetPatch::default()
        };
        change_pet(&shop.store, area_patch(PetId::new(id).unwrap(), patch)).await;
    }
    clerk
        .post("/account/language", &[("language", "de")])
        .await
        .expect(303);
    clerk.get("/animals").await.expect(200);
    let price = async |id| pet(&shop, id).await.fields.as_json().to_owned();
    let all = [("pet", "1:2"), ("pet", "2:2"), ("pet", "3:1")];
    let give = |value| {
        [
            &[("do", "value"), ("of", "price"), ("value", value)],
            &all[..],
        ]
        .concat()
    };
    change(&mut clerk, &give("80")).await.expect(303);
    assert_eq!(price(3).await, r#"{"price":"80"}"#);
    let form = undo(&mut clerk).await;
    // Two clicks are one.
    for _ in 0..2 {
        assert_eq!(
            clerk.post("/animals/undo", &pairs(&form)).await.next(),
            "/animals"
        );
    }
    // Nothing offers to make the change again.
    let page = clerk.get("/animals").await.expect(200);
    assert!(
        page.text
            .contains("Die Änderung an 3 Tieren ist rückgängig gemacht."),
        "{page:?}"
    );
    assert!(!page.text.contains(" data-undo "), "{page:?}");
    let before = [r#"{"price":"1.250"}"#, r#"{"price":"95.5"}"#, "{}"];
    for (id, expected) in (1..).zip(before) {
        assert_eq!(price(id).await, expected);
    }
    let again = [("pet", "1:4"), ("pet", "2:4"), ("pet", "3:3")];
    let again = [
        &[("do", "value"), ("of", "price"), ("value", "80")],
        &again[..],
    ]
    .concat();
    change(&mut clerk, &again).await.expect(303);
    assert_eq!(price(3).await, r#"{"price":"80"}"#);
    // Somebody gives Max another price meanwhile.
    let back = undo(&mut clerk).await;
    let other = [
        ("do", "value"),
        ("of", "price"),
        ("value", "70"),
        ("pet", "2:5"),
    ];
    shop.member("Di", Role::Clerk)
        .await
        .post("/animals/selected", &other)
        .await
        .expect(303);
    clerk
        .post("/account/language", &[("language", "en")])
        .await
        .expect(303);
    let page = clerk.post("/animals/undo", &pairs(&back)).await.expect(200);
    let said = page.between("The others have their previous value again.", "</ul>");
    assert!(
        said.contains("Max</bdi></a>: Somebody else has changed this"),
        "{page:?}"
    );
    assert!(!said.contains("Rex") && !said.contains("Mia"), "{page:?}");
    for (id, expected) in [(1, before[0]), (2, r#"{"price":"70"}"#), (3, before[2])] {
        assert_eq!(price(id).await, expected);
    }
    // If all were changed, nothing is undone.
    let mut late = pairs(&back);
    late.retain(|(name, _)| *name != "_key");
    let page = clerk.post("/animals/undo", &late).await.expect(200);
    assert!(page.text.contains("Nothing was changed."), "{page:?}");
}

#[tokio::test]
async fn long_values_and_values_with_lines_are_undone_as_well() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex", "Max"]).await;
    let long = "x".repeat(2_000);
    let description = async |id| {
        let fields = pet(&shop, id).await.fields;
        fields.get("description").map(FieldValue::to_string)
    };
    let mut version = 1;
    for value in ["Two\r\nlines", &*long, "Shy"] {
        let pets = [1, 2].map(|id| format!("{id}:{version}"));
        let before = [description(1).await, description(2).await];
        let give = [("do", "value"), ("of", "description"), ("value", value)];
        let form = [&give[..], &[("pet", &*pets[0]), ("pet", &*pets[1])]].concat();
        change(&mut clerk, &form).await.expect(303);
        assert_ne!(description(1).await, before[0]);
        let undone = undo(&mut clerk).await;
        clerk
            .post("/animals/undo", &pairs(&undone))
            .await
            .expect(303);
        assert_eq!([description(1).await, description(2).await], before);
        // So the next value has one before.
        let pets = [1, 2].map(|id| format!("{id}:{}", version + 2));
        let form = [&give[..], &[("pet", &*pets[0]), ("pet", &*pets[1])]].concat();
        change(&mut clerk, &form).await.expect(303);
        version += 3;
    }
}

#[tokio::test]
async fn several_reservations_are_undone_together_without_a_question() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, &["Rex", "Max"]).await;
    let form = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("pet", "1:1"),
        ("pet", "2:1"),
    ];
    change(&mut clerk, &form).await.expect(303);
    let form = undo(&mut clerk).await;
    clerk.post("/animals/undo", &pairs(&form)).await.expect(303);
    for id in [1, 2] {
        assert_eq!(pet(&shop, id).await.status, PetStatus::Available);
    }
    // If somebody has changed one of them, all stay reserved.
    let form = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("pet", "1:3"),
        ("pet", "2:3"),
    ];
    change(&mut clerk, &form).await.expect(303);
    let form = undo(&mut clerk).await;
    let mut other = shop.member("Di", Role::Clerk).await;
    other.post("/orders/4/cancel", &[]).await.expect(303);
    let page = clerk.post("/animals/undo", &pairs(&form)).await.expect(200);
    let said = page.between("Nothing was changed.", "</ul>");
    assert!(said.contains("Max</bdi></a>: Somebody else"), "{page:?}");
    assert!(!said.contains("Rex"), "{page:?}");
    assert_eq!(pet(&shop, 1).await.status, PetStatus::Pending);
}
