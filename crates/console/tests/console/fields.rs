//! Fields and their values on the console's pages.

use petstore_domain::{PetId, Role};

use super::browser::{Browser, Shop};

/// What a form of an animal has without values of fields.
pub(super) const ANIMAL: [(&str, &str); 3] =
    [("name", "Luna"), ("category", "1"), ("status", "available")];

pub(super) async fn values(shop: &Shop, id: i64) -> String {
    let pet = shop
        .store
        .get_store_pet(PetId::new(id).unwrap())
        .await
        .unwrap()
        .unwrap();
    pet.fields.as_json().to_owned()
}

/// Adds an animal with these values, and returns its number.
pub(super) async fn add(clerk: &mut Browser<'_>, fields: &[(&str, &str)]) -> i64 {
    let page = clerk.post("/add", &[&ANIMAL[..], fields].concat()).await;
    page.next().rsplit_once('/').unwrap().1.parse().unwrap()
}

#[tokio::test]
async fn an_animal_is_added_and_edited_with_its_values() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let form = clerk.get("/add").await.expect(200).text;
    for input in [
        "<select id=\"field.species\"",
        "<input id=\"field.born\" name=\"field.born\" type=\"date\"",
        "<textarea id=\"field.description\"",
    ] {
        assert!(form.contains(input), "{input}: {form}");
    }
    let fields = [
        ("field.species", "Cat"),
        ("field.price", " 249.00 "),
        ("field.sex", ""),
    ];
    let id = add(&mut clerk, &fields).await;
    assert_eq!(
        values(&shop, id).await,
        r#"{"price":"249.00","species":"Cat"}"#
    );
    let page = clerk.get(&format!("/animals/{id}")).await.expect(200).text;
    assert!(
        page.contains("<dt>Species</dt><dd><bdi>Cat</bdi></dd>"),
        "{page}"
    );
    let edit = format!("/animals/{id}/edit");
    let page = clerk.get(&edit).await.expect(200);
    assert!(
        page.text
            .contains("<option value=\"Cat\" selected>Cat</option>"),
        "{page:?}"
    );
    assert_eq!(page.typed("field.price"), "249.00");
    let description = "Calm.\r\nLikes children.";
    let fields = [
        ("version", "1"),
        ("field.price", ""),
        ("field.description", description),
    ];
    clerk
        .post(&edit, &[&ANIMAL[..], &fields].concat())
        .await
        .expect(303);
    // A field that the form did not have stays.
    let expected = r#"{"description":"Calm.\u000aLikes children.","species":"Cat"}"#;
    assert_eq!(values(&shop, id).await, expected);
}

#[tokio::test]
async fn each_value_that_is_wrong_is_named_and_what_was_typed_stays() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let wrong = [
        ("field.price", "cheap"),
        ("field.born", "May"),
        ("field.sex", "other"),
    ];
    let page = clerk
        .post("/add", &[&ANIMAL[..], &wrong].concat())
        .await
        .expect(422);
    for (field, label) in [("price", "Price"), ("born", "Born"), ("sex", "Sex")] {
        assert!(
            page.text
                .contains(&format!("<a href=\"#field.{field}\">{label}: ")),
            "{page:?}"
        );
    }
    assert_eq!(
        (page.typed("field.price"), page.typed("name")),
        ("cheap".into(), "Luna".into())
    );
    assert!(
        shop.store
            .get_store_pet(PetId::new(1).unwrap())
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn a_microchip_of_another_animal_is_refused_and_what_was_typed_stays() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    add(&mut clerk, &[("field.microchip", "276098106012345")]).await;
    let second = [("field.microchip", "276098106012345")];
    let page = clerk
        .post("/add", &[&ANIMAL[..], &second].concat())
        .await
        .expect(422);
    assert_eq!(page.typed("field.microchip"), "276098106012345");
    let error = page.between("id=\"field.microchip-error\"", "</p>");
    assert!(
        error.contains("Microchip: Luna (number 1) already has this value"),
        "{error}"
    );
    assert!(
        page.text
            .contains("<a href=\"/animals/1\">Show Luna (number 1)</a>"),
        "{page:?}"
    );
    let other = add(&mut clerk, &[]).await;
    let edit = format!("/animals/{other}/edit");
    let page = clerk
        .post(&edit, &[&ANIMAL[..], &[("version", "1")], &second].concat())
        .await;
    let error = page
        .expect(422)
        .between("id=\"field.microchip-error\"", "</p>")
        .to_owned();
    assert!(
        error.contains("Microchip: Luna (number 1) already has this value"),
        "{error}"
    );
}

#[tokio::test]
async fn a_value_that_only_somebody_else_changed_is_not_undone() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let all = [
        ("field.colour", "black"),
        ("field.breed", "Collie"),
        ("field.price", "80"),
    ];
    let id = add(&mut clerk, &all).await;
    let edit = format!("/animals/{id}/edit");
    let seen = clerk.get(&edit).await;
    let theirs = [("field.colour", "grey"), ("field.price", "90")];
    clerk
        .submit((&seen, &edit), &edit, &theirs)
        .await
        .expect(303);
    let mine = [("field.breed", "Poodle"), ("field.price", "70")];
    let page = clerk.submit((&seen, &edit), &edit, &mine).await.expect(409);
    let values = ["field.colour", "field.breed", "field.price"].map(|of| page.typed(of));
    assert_eq!(values, ["grey", "Poodle", "70"]);
    assert!(
        page.text
            .contains("<dt>Colour</dt><dd><bdi>grey</bdi></dd>"),
        "{page:?}"
    );
    assert_eq!(
        page.text.matches("fails\">different").count(),
        2,
        "{page:?}"
    );
    // What only one of them has changed is not asked.
    let mine = [("field.breed", "Poodle")];
    clerk.submit((&seen, &edit), &edit, &mine).await.expect(303);
    let form = clerk.get(&edit).await;
    assert_eq!(
        ["field.colour", "field.breed"].map(|of| form.typed(of)),
        ["grey", "Poodle"]
    );
}

#[tokio::test]
async fn the_history_has_the_values_of_fields_before_and_after_each_change() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let id = add(
        &mut clerk,
        &[("field.colour", "black"), ("field.price", "80")],
    )
    .await;
    let values = [
        ("version", "1"),
        ("field.colour", ""),
        ("field.price", "90"),
    ];
    let edit = format!("/animals/{id}/edit");
    clerk
        .post(&edit, &[&ANIMAL[..], &values].concat())
        .await
        .expect(303);
    let mut manager = shop.member("Mo", Role::Manager).await;
    for page in [
        clerk.get(&format!("/animals/{id}")).await,
        manager.get("/activity").await,
    ] {
        for line in [
            "Colour: <del><bdi>black</bdi></del> → <ins><bdi>–</bdi></ins>",
            "Price: <del><bdi>80</bdi></del> → <ins><bdi>90</bdi></ins>",
            "Price: <ins><bdi>80</bdi></ins>",
        ] {
            assert!(page.text.contains(line), "{line}: {page:?}");
        }
    }
}

#[tokio::test]
async fn two_people_who_edit_a_value_see_both() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let id = add(&mut clerk, &[("field.colour", "black")]).await;
    let edit = format!("/animals/{id}/edit");
    let save = |colour| [&ANIMAL[..], &[("version", "1"), ("field.colour", colour)]].concat();
    clerk.post(&edit, &save("grey")).await.expect(303);
    let page = clerk.post(&edit, &save("white")).await.expect(409);
    assert!(
        page.text
            .contains("<dt>Colour</dt><dd><bdi>grey</bdi> <span"),
        "{page:?}"
    );
    assert_eq!(page.typed("field.colour"), "white");
}

#[tokio::test]
async fn an_animal_is_found_by_its_microchip_and_a_list_is_filtered_by_choices() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let chip = ("field.microchip", "276098106012345");
    let luna = add(
        &mut clerk,
        &[("field.species", "Cat"), ("field.sex", "Female"), chip],
    )
    .await;
    let rex = add(
        &mut clerk,
        &[("field.species", "Dog"), ("field.sex", "Male")],
    )
    .await;
    for (query, expected) in [
        // The beginning of a value finds it, and another part does not.
        ("q=27609810601234", vec![luna]),
        ("q=76098106012345", vec![]),
        ("field.species=Dog", vec![rex]),
        ("field.species=Dog&field.sex=Female", vec![]),
        ("field.species=Cat&q=lu", vec![luna]),
        ("field.species=Cat&status=sold", vec![]),
        ("field.species=Horse", vec![]),
    ] {
        let page = clerk
            .get(&format!("/animals?{query}"))
            .await
            .expect(200)
            .text;
        for id in [luna, rex] {
            let link = format!("href=\"/animals/{id}\"");
            assert_eq!(
                page.contains(&link),
                expected.contains(&id),
                "{query}: {page}"
            );
        }
    }
    // A scan, or a number, leads to the animal.
    for typed in ["276098106012345", "1"] {
        let found = clerk.get(&format!("/animals?status=all&q={typed}")).await;
        assert_eq!(found.next(), format!("/animals/{luna}"));
    }
    let named = [
        ("name", "276098106012345"),
        ("category", "1"),
        ("status", "available"),
    ];
    clerk.post("/add", &named).await.expect(303);
    let both = clerk.get("/animals?q=276098106012345").await.expect(200);
    assert!(both.text.contains("2 animals · "), "{both:?}");
    // An animal that is found in two ways counts once.
    let kiwi = add(&mut clerk, &[("field.microchip", "4")]).await;
    assert_eq!(kiwi.to_string(), "4");
    let found = clerk.get("/animals?status=all&q=4").await;
    assert_eq!(found.next(), "/animals/4");
}

#[tokio::test]
async fn while_many_animals_are_not_in_the_search_yet_values_names_and_microchips_are_found() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let luna = add(&mut clerk, &[("field.microchip", "276098106012345")]).await;
    let many = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 8200)
        INSERT INTO pets (name, category_id, status, fields)
        SELECT 'Max', 1, 'sold', '{\"sex\":\"Male\"}' FROM n";
    shop.database().execute(many, []).unwrap();
    let males = clerk
        .get("/animals?field.sex=Male&status=sold")
        .await
        .expect(200)
        .text;
    assert_eq!(males.matches("href=\"/animals/").count(), 50, "{males}");
    let page = clerk.get("/animals?q=lun").await.expect(200).text;
    assert!(
        page.contains(&format!("href=\"/animals/{luna}\"")),
        "{page}"
    );
    let scanned = clerk.get("/animals?q=276098106012345").await;
    assert_eq!(scanned.next(), format!("/animals/{luna}"));
}

#[tokio::test]
async fn a_manager_adds_changes_and_deletes_a_field() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let temper = |choices| {
        [
            ("label", "Temper"),
            ("name", "temper"),
            ("kind", "choice"),
            ("choices", choices),
            ("position", "15"),
            ("public", "yes"),
        ]
    };
    let page = manager
        .post("/settings/fields", &temper("Calm\r\nCALM"))
        .await
        .expect(422);
    assert!(page.text.contains("<a href=\"#choices\">"), "{page:?}");
    let added = manager
        .post("/settings/fields", &temper("Calm\r\n\r\n Lively "))
        .await;
    assert_eq!(added.next(), "/settings/fields");
    let twin = [("label", "TEMPER "), ("name", "mood"), ("kind", "text")];
    let page = manager.post("/settings/fields", &twin).await.expect(422);
    assert!(
        page.text.contains("Another field already has this label."),
        "{page:?}"
    );
    let again = manager
        .post("/settings/fields", &temper("Calm"))
        .await
        .expect(422);
    assert!(
        again.text.contains("Another field has this technical name"),
        "{again:?}"
    );
    let page = manager.get("/settings/fields/temper").await.expect(200);
    assert_eq!(
        (page.typed("label.Calm"), page.typed("label.Lively")),
        ("Calm".into(), "Lively".into())
    );

    let mut changed = temper("Calm\nLively\nShy").to_vec();
    changed.push(("version", "1"));
    manager
        .post("/settings/fields/temper", &changed)
        .await
        .expect(303);
    let stale = manager
        .post("/settings/fields/temper", &changed[..5])
        .await
        .expect(422);
    assert!(
        stale.text.contains("Somebody else") || stale.text.contains("Another"),
        "{stale:?}"
    );
    let fields = shop.store.fields().await.unwrap();
    let field = fields.find("temper").unwrap();
    assert_eq!(
        (field.version, field.is_public, field.position),
        (2, true, 15)
    );

    let pet = [
        ("name", "Luna"),
        ("category", "1"),
        ("status", "available"),
        ("field.temper", "Shy"),
    ];
    manager.post("/add", &pet).await.expect(303);
    let delete = [("version", "2")];
    let asked = manager
        .post("/settings/fields/temper/delete", &delete)
        .await
        .expect(200);
    let sure = asked.hidden("sure");
    let yes = [("version", "2"), ("sure", &*sure)];
    let refused = manager
        .post("/settings/fields/temper/delete", &yes)
        .await
        .expect(422);
    assert!(
        refused
            .text
            .contains("Some animals have a value in this field"),
        "{refused:?}"
    );
    let clear = [&pet[..3], &[("field.temper", ""), ("version", "1")]].concat();
    manager.post("/animals/1/edit", &clear).await.expect(303);
    // The answer above was of another version of all fields, not of this one.
    manager
        .post("/settings/fields/temper/delete", &yes)
        .await
        .expect(303);
    manager.get("/settings/fields/temper").await.expect(404);
    assert!(
        shop.acts()
            .await
            .iter()
            .any(|act| act.contains("field.deleted"))
    );
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    clerk.get("/settings/fields").await.expect(403);
}

#[tokio::test]
async fn a_choice_is_renamed_by_its_label_and_taken_off_only_after_a_question() {
    let shop = Shop::open().await;
    let (mut manager, mut other) = (
        shop.member("Mo", Role::Manager).await,
        shop.member("Mia", Role::Manager).await,
    );
    let luna = add(&mut manager, &[("field.size", "Small")]).await;
    let path = "/settings/fields/size";
    let form = [
        ("label", "Size"),
        ("kind", "choice"),
        ("position", "60"),
        ("public", "yes"),
    ];
    let was = [
        ("was-label", "Size"),
        ("was-kind", "choice"),
        ("was-position", "60"),
        ("was-public", "yes"),
        ("was-unique", ""),
        ("was-label.Small", "Small"),
        ("was-label.Medium", "Medium"),
        ("was-label.Large", "Large"),
        ("version", "1"),
    ];
    let save = |changes: &[(&'static str, &'static str)]| [&form[..], &was, changes].concat();
    manager
        .post(
            path,
            &save(&[("label.Small", "Tiny"), ("label.Medium", "Medium")]),
        )
        .await
        .expect(303);
    let page = manager
        .get(&format!("/animals/{luna}"))
        .await
        .expect(200)
        .text;
    assert!(
        page.contains("<dt>Size</dt><dd><bdi>Tiny</bdi></dd>"),
        "{page}"
    );
    assert_eq!(values(&shop, luna).await, r#"{"size":"Small"}"#);
    // What only one of two people changed is saved; what both changed is asked.
    other
        .post(
            path,
            &save(&[("label.Small", "Small"), ("label.Large", "Big")]),
        )
        .await
        .expect(303);
    let asked = other
        .post(path, &save(&[("label.Small", "Mini")]))
        .await
        .expect(422);
    assert!(
        asked.text.contains("Small is now Tiny; it was Small."),
        "{asked:?}"
    );
    assert_eq!(
        (asked.typed("label.Small"), asked.typed("label.Large")),
        ("Mini".into(), "Big".into())
    );
    // Only numbers are compared without their spaces.
    let asked = other
        .post(path, &save(&[("label.Small", "Ti ny")]))
        .await
        .expect(422);
    assert!(asked.text.contains("Small is now Tiny"), "{asked:?}");
    let shown = manager.get("/animals?field.size=Small").await.expect(200);
    assert!(
        shown
            .text
            .contains("<option value=\"Small\" selected>Tiny<"),
        "{shown:?}"
    );

    let remove = [&save(&[])[..], &[("remove", "Small"), ("choices", "XL")]].concat();
    let page = manager.post(path, &remove).await.expect(200);
    assert!(
        page.text.contains("“Tiny” is used for 1 animal."),
        "{page:?}"
    );
    let sure = page.hidden("sure");
    let yes = [&remove[..], &[("sure", &*sure)]].concat();
    manager.post(path, &yes).await.expect(303);
    let fields = shop.store.fields().await.unwrap();
    let choices = fields.find("size").unwrap().choices.clone().unwrap();
    assert_eq!(choices.values(), ["Medium", "Large", "XL"]);
    let labels: Vec<_> = choices
        .labels()
        .iter()
        .map(|(value, label)| (&**value, &**label))
        .collect();
    assert_eq!(labels, [("Large", "Big"), ("Small", "Tiny")]);
    let page = manager
        .get(&format!("/animals/{luna}"))
        .await
        .expect(200)
        .text;
    assert!(page.contains("<bdi>Tiny</bdi>"), "{page}");
}

#[tokio::test]
async fn a_field_is_shown_to_everybody_only_after_a_question_if_animals_have_values() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let notes = [("label", "Behaviour notes"), ("kind", "text")];
    // The name for programs is made of the label.
    manager.post("/settings/fields", &notes).await.expect(303);
    let path = "/settings/fields/behaviour_notes";
    add(&mut manager, &[("field.behaviour_notes", "Bites")]).await;
    let public = [&notes[..], &[("public", "yes"), ("version", "1")]].concat();
    let page = manager.post(path, &public).await.expect(200);
    assert!(
        page.text
            .contains("It is filled in for 1 animal. Everybody will be able to see it."),
        "{page:?}"
    );
    let is_public = async || {
        shop.store
            .fields()
            .await
            .unwrap()
            .find("behaviour_notes")
            .unwrap()
            .is_public
    };
    assert!(!is_public().await);
    let sure = page.hidden("sure");
    manager
        .post(path, &[&public[..], &[("sure", &*sure)]].concat())
        .await
        .expect(303);
    assert!(is_public().await);
    let page = manager.get(path).await.expect(200).text;
    assert!(
        page.contains("Show on the website") && page.contains(">Type<"),
        "{page}"
    );
}
