//! Values of fields that are refused, and those that are the same in another spelling.

use petstore_domain::Role;

use super::{
    browser::Shop,
    fields::{ANIMAL, add, values},
};

#[tokio::test]
async fn a_microchip_is_found_and_refused_in_every_spelling() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let luna = add(&mut clerk, &[("field.microchip", "276 098 106 234 567")]).await;
    for spelled in ["", " ", "-", ".", "\u{a0}", "\u{2009}", "\u{2011}"] {
        let typed = ["276", "098", "106", "234", "567"].join(spelled);
        let query: Vec<_> = typed.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for path in ["/animals?status=all&q=", "/animals?q="] {
            let found = clerk.get(&format!("{path}{}", query.concat())).await;
            assert_eq!(found.next(), format!("/animals/{luna}"), "{typed}");
        }
        let again = [&ANIMAL[..], &[("field.microchip", &*typed)]].concat();
        let page = clerk.post("/add", &again).await.expect(422);
        assert!(
            page.text.contains("Luna (number 1) already has this value"),
            "{page:?}"
        );
    }
    assert_eq!(
        values(&shop, luna).await,
        r#"{"microchip":"276 098 106 234 567"}"#
    );
}

#[tokio::test]
async fn an_amount_is_read_as_people_type_it_unless_it_has_two_meanings() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (typed, price) in [
        ("1250", "1250"),
        ("95,50", "95.50"),
        ("1.250,00", "1250.00"),
        ("1,250.00", "1250.00"),
        ("1 250,5", "1250.5"),
        ("1.250.000", "1250000"),
        ("1,250,000.5", "1250000.5"),
        ("0.125", "0.125"),
        ("1250.125", "1250.125"),
        ("1.2500", "1.2500"),
    ] {
        let id = add(&mut clerk, &[("field.price", typed)]).await;
        assert_eq!(
            values(&shop, id).await,
            format!("{{\"price\":\"{price}\"}}"),
            "{typed}"
        );
    }
    for (typed, message) in [
        ("1.250", "1.250 can mean 1250 or 1.25. Write 1250 or 1.25."),
        ("1,000", "1,000 can mean 1000 or 1. Write 1000 or 1."),
        (
            "12,345",
            "12,345 can mean 12345 or 12.345. Write 12345 or 12.3450.",
        ),
        ("-5", "Price: Enter an amount, such as 249.00."),
        ("1.25.0", "Price: Enter an amount"),
        ("1,25.00", "Price: Enter an amount"),
        ("1.250,00,0", "Price: Enter an amount"),
        (",5", "Price: Enter an amount"),
        ("1,", "Price: Enter an amount"),
    ] {
        let form = [&ANIMAL[..], &[("field.price", typed)]].concat();
        let page = clerk.post("/add", &form).await.expect(422);
        let error = page.between("id=\"field.price-error\"", "</p>");
        assert!(error.contains(message), "{typed}: {error}");
        assert_eq!(page.typed("field.price"), typed);
    }
    let born = [&ANIMAL[..], &[("field.born", "2999-01-01")]].concat();
    let page = clerk.post("/add", &born).await.expect(422);
    assert!(page.text.contains(
        "Born: Enter a date with its day, month and year, such as 3 May 2024, not in the future."
    ));
}

#[tokio::test]
async fn a_value_from_before_its_rule_stays_while_others_change() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let id = add(
        &mut clerk,
        &[("field.price", "5"), ("field.born", "2024-05-03")],
    )
    .await;
    let old = r#"UPDATE pets SET fields = '{"born":"2999-01-01","price":"-1.250"}'"#;
    shop.database().execute(old, []).unwrap();
    let edit = format!("/animals/{id}/edit");
    let page = clerk.get(&edit).await;
    clerk
        .submit((&page, &edit), &edit, &[("field.colour", "red")])
        .await
        .expect(303);
    let expected = r#"{"born":"2999-01-01","colour":"red","price":"-1.250"}"#;
    assert_eq!(values(&shop, id).await, expected);
}

#[tokio::test]
async fn what_was_typed_for_a_field_or_choice_that_is_gone_is_named_and_the_rest_can_be_saved() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let define = "INSERT INTO fields (name, label, kind, choices, is_public, is_unique, position, version) VALUES
        ('eu_passport', 'EU passport', 'text', NULL, 0, 0, 1, 1),
        ('coat', 'Coat', 'choice', '[\"Short\",\"Long\"]', 0, 0, 2, 1);
        UPDATE field_state SET version = version + 1";
    let gone = "DELETE FROM fields WHERE name = 'eu_passport';
        UPDATE fields SET choices = '[\"Short\"]' WHERE name = 'coat'; UPDATE field_state SET version = version + 1";
    for path in ["/add", "/animals/1/edit"] {
        shop.database().execute_batch(define).unwrap();
        let form = manager.get(path).await.expect(200);
        shop.database().execute_batch(gone).unwrap();
        let typed = [
            ("field.eu_passport", "DE-12345"),
            ("field.coat", "Long"),
            ("field.breed", "Pug"),
        ];
        let typed = [&ANIMAL[..], &typed].concat();
        let page = manager
            .submit((&form, path), path, &typed)
            .await
            .expect(422);
        for part in [
            "<a href=\"#field.eu_passport\">The field Eu passport was removed. You typed: DE-12345.",
            "id=\"field.eu_passport\"",
            "<a href=\"#field.coat\">Coat: Long is no longer a choice.",
        ] {
            assert!(page.text.contains(part), "{part}: {page:?}");
        }
        assert_eq!(page.typed("field.breed"), "Pug");
        // Nothing is left of it in the page that was shown.
        let form = page.form(path);
        assert!(
            !form.iter().any(|(name, _)| name == "field.eu_passport"),
            "{form:?}"
        );
        assert!(
            form.contains(&("field.coat".to_owned(), String::new())),
            "{form:?}"
        );
        manager.submit((&page, path), path, &[]).await.expect(303);
        assert_eq!(values(&shop, 1).await, r#"{"breed":"Pug"}"#);
        shop.database()
            .execute_batch("DELETE FROM fields WHERE name = 'coat'")
            .unwrap();
    }
}

#[tokio::test]
async fn an_animal_whose_microchip_another_one_has_is_not_restored_and_the_page_leads_to_that_one()
{
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let chip = [("field.microchip", "276098106234567")];
    let first = add(&mut clerk, &chip).await;
    let withdraw = [("version", "1"), ("why", "transferred")];
    clerk
        .post(&format!("/animals/{first}/withdraw"), &withdraw)
        .await
        .expect(303);
    add(&mut clerk, &chip).await;
    let restore = format!("/animals/{first}/restore");
    let page = clerk.post(&restore, &[("version", "2")]).await.expect(422);
    for part in [
        "Microchip: Luna (number 2) already has this value",
        "<a href=\"/animals/2\">Show Luna (number 2)</a>",
    ] {
        assert!(page.text.contains(part), "{part}: {page:?}");
    }
}

#[tokio::test]
async fn two_animals_with_one_microchip_from_before_are_named_on_the_first_page() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    add(&mut clerk, &[("field.microchip", "276098106234567")]).await;
    add(&mut clerk, &[]).await;
    let none = clerk.get("/").await.expect(200);
    assert!(!none.text.contains("the same value,"), "{none:?}");
    let twin = "UPDATE pets SET fields = '{\"microchip\":\"276-098106234567\"}' WHERE id = 2;
        INSERT INTO unique_values (field, key, pet_id, twin) VALUES ('microchip', '276098106234567', 2, 2)";
    shop.database().execute_batch(twin).unwrap();
    let told = clerk.get("/").await.expect(200);
    let line = told.between("Microchip: these animals have the same value", "</div>");
    assert!(
        line.contains("href=\"/animals/1\"") && line.contains("href=\"/animals/2\""),
        "{line}"
    );
    assert!(
        !viewer
            .get("/")
            .await
            .expect(200)
            .text
            .contains("the same value,")
    );
    // A scan finds both.
    let found = clerk.get("/animals?q=276098106234567").await.expect(200);
    assert!(found.text.contains("data-found=\"2 animals\""), "{found:?}");
    clerk
        .post("/animals/2/withdraw", &[("version", "1"), ("why", "died")])
        .await
        .expect(303);
    assert!(
        !clerk
            .get("/")
            .await
            .expect(200)
            .text
            .contains("the same value,")
    );
}

#[tokio::test]
async fn a_day_is_read_as_people_type_it_where_a_browser_has_no_input_for_it() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    clerk
        .post("/account/language", &[("language", "de")])
        .await
        .expect(303);
    let form = [
        ("name", "Rex"),
        ("field.species", "Dog"),
        ("field.born", "03.05.2024"),
    ];
    let path = clerk.post("/add", &form).await.next().to_owned();
    let page = clerk.get(&path).await.expect(200);
    assert!(page.text.contains("3.\u{a0}Mai\u{a0}2024"), "{page:?}");
    let form = [
        ("name", "Max"),
        ("field.species", "Dog"),
        ("field.born", "32.05.2024"),
    ];
    let page = clerk.post("/add", &form).await.expect(422);
    assert!(page.text.contains("z.\u{a0}B. 03.05.2024"), "{page:?}");
}

#[tokio::test]
async fn the_history_has_the_whole_text_that_was_replaced() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let animal = [("name", "Luna"), ("category", "1"), ("status", "available")];
    let old = format!("Shy.\r\nNot with <cats>. {}", "Purrs. ".repeat(200).trim());
    let form = |description| [&animal[..], &[("field.description", description)]].concat();
    clerk.post("/add", &form(&old)).await.expect(303);
    for (description, version) in [("Calm", "1"), ("Very calm", "2")] {
        let form = [&form(description)[..], &[("version", version)]].concat();
        clerk.post("/animals/1/edit", &form).await.expect(303);
    }
    let page = clerk.get("/animals/1").await.expect(200).text;
    let whole = format!(
        "<details><summary>Full text before the change</summary><p><bdi>Shy.</bdi><br><bdi>Not with &lt;cats&gt;. {}</bdi></p>",
        "Purrs. ".repeat(200).trim()
    );
    // A short one is shown without it.
    assert!(
        page.contains(&whole) && page.contains("<del><bdi>Calm</bdi></del>"),
        "{page}"
    );
    assert_eq!(
        page.matches("Full text before the change").count(),
        1,
        "{page}"
    );
}
