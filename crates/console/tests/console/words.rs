//! Words whose form depends on a number, a status, or the kind of the store.

use petstore_domain::Role;

use super::browser::{Browser, Shop};

const STORE_PAGE: &str = "/settings/store";

/// Makes the store a shelter, and chooses the language of the member.
async fn work_in_a_shelter(browser: &mut Browser<'_>, language: &str) {
    let seen = browser.get(STORE_PAGE).await.expect(200);
    browser
        .submit(
            (&seen, STORE_PAGE),
            STORE_PAGE,
            &[("store.kind", "shelter")],
        )
        .await
        .expect(303);
    browser
        .post("/account/language", &[("language", language)])
        .await
        .expect(303);
}

/// Adds an animal with a status, and returns its path.
async fn add(browser: &mut Browser<'_>, name: &str, status: &str) -> String {
    let form = [
        ("name", name),
        ("category", "1"),
        ("new-category", "yes"),
        ("status", status),
    ];
    browser.post("/add", &form).await.next().to_owned()
}

#[tokio::test]
async fn the_statuses_on_today_agree_with_the_number_of_animals() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Zoë", Role::Manager).await;
    for name in ["Ada", "Bo"] {
        add(&mut browser, name, "available").await;
    }
    for name in ["Cy", "Ed"] {
        let gone = add(&mut browser, name, "available").await;
        let form = [("why", "died"), ("version", "1")];
        browser.post(&format!("{gone}/withdraw"), &form).await;
    }
    add(&mut browser, "Di", "sold").await;

    for (language, words) in [
        (
            "en",
            ["Available", "Reserved", "Adopted", "Other departures"],
        ),
        (
            "de",
            ["Verfügbar", "Reserviert", "Vermittelt", "Sonstige Abgänge"],
        ),
        ("fr", ["Disponibles", "Réservé", "Adopté", "Autres sorties"]),
        (
            "es",
            ["Disponibles", "Reservados", "Adoptado", "Otras bajas"],
        ),
    ] {
        work_in_a_shelter(&mut browser, language).await;
        let page = browser.get("/").await.expect(200);
        let counts = page.between("<ul class=\"counts\">", "</ul>");
        for (number, word) in ["2", "0", "1", "2"].into_iter().zip(words) {
            let shown = format!("<strong>{number}</strong>");
            let after = format!("\">{word}</span>");
            assert!(
                counts.contains(&shown) && counts.contains(&after),
                "{language}, {word}: {counts}"
            );
        }
    }
}

#[tokio::test]
async fn who_reserves_in_a_german_shelter_is_interested_and_then_takes_the_animal_over() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Zoë", Role::Manager).await;
    work_in_a_shelter(&mut browser, "de").await;
    let path = add(&mut browser, "Luna", "available").await;
    let reservation = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("contact", "Ann"),
    ];
    browser
        .post(&format!("{path}/order"), &reservation)
        .await
        .expect(303);
    let page = browser.get(&path).await.expect(200).text;
    assert!(
        page.contains("<dt>Interessent/in</dt>") && !page.contains("Übernehmer/in"),
        "{page}"
    );
    browser
        .post("/orders/1/complete", &[("version", "1")])
        .await
        .expect(303);
    let page = browser.get("/orders/1").await.expect(200).text;
    assert!(
        page.contains("<dt>Übernehmer/in</dt>") && !page.contains("Interessent/in"),
        "{page}"
    );
}

#[tokio::test]
async fn a_list_that_only_filters_make_empty_does_not_speak_of_spelling() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Cy", Role::Clerk).await;
    add(&mut browser, "Luna", "available").await;
    let page = browser.get("/animals?status=pending").await.expect(200);
    assert!(
        page.text.contains("No animals match these filters.")
            && !page.text.contains("Check the spelling"),
        "{page:?}"
    );
    let page = browser.get("/animals?q=zzzz").await.expect(200);
    assert!(page.text.contains("Check the spelling"), "{page:?}");
}

#[tokio::test]
async fn the_field_of_the_price_has_one_name_in_a_shelter_and_keeps_the_stored_one() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Zoë", Role::Manager).await;
    work_in_a_shelter(&mut browser, "en").await;
    let path = "/settings/fields/price";
    let stored = async || {
        let fields = shop.store.fields().await.unwrap();
        fields.find("price").unwrap().label.as_str().to_owned()
    };
    let seen = browser.get(path).await.expect(200);
    assert!(
        seen.text.contains("value=\"Adoption fee\"") && !seen.text.contains("value=\"Price\""),
        "{seen:?}"
    );
    browser
        .submit((&seen, path), path, &[("position", "7")])
        .await
        .expect(303);
    assert_eq!(stored().await, "Price");
    let seen = browser.get(path).await.expect(200);
    browser
        .submit((&seen, path), path, &[("label", "Donation")])
        .await
        .expect(303);
    assert_eq!(stored().await, "Donation");
}

#[tokio::test]
async fn the_question_before_a_choice_is_removed_names_the_choice() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Zoë", Role::Manager).await;
    let form = [
        ("name", "Luna"),
        ("category", "1"),
        ("new-category", "yes"),
        ("field.size", "Small"),
    ];
    browser.post("/add", &form).await.expect(303);
    let path = "/settings/fields/size";
    let seen = browser.get(path).await.expect(200);
    let page = browser
        .submit((&seen, path), path, &[("remove", "Small")])
        .await
        .expect(200);
    for words in [
        "<h1>Remove the choice “Small”?</h1>",
        "“Small” is used for 1 animal.",
    ] {
        assert!(page.text.contains(words), "{words}: {page:?}");
    }
    // With two effects, the question is about the field.
    let seen = browser.get(path).await.expect(200);
    browser
        .submit((&seen, path), path, &[("public", "")])
        .await
        .expect(303);
    let form = [("remove", "Small"), ("public", "yes")];
    let seen = browser.get(path).await.expect(200);
    let page = browser.submit((&seen, path), path, &form).await.expect(200);
    assert!(
        page.text.contains("<h1>Change the field “Size”?</h1>"),
        "{page:?}"
    );
}

#[tokio::test]
async fn the_page_of_the_store_says_what_holds_without_a_currency_and_names_no_option() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Zoë", Role::Manager).await;
    let page = browser.get(STORE_PAGE).await.expect(200);
    assert!(
        page.text
            .contains("If this is empty, amounts are shown without a currency.")
            && !page.text.contains("--"),
        "{page:?}"
    );
}
