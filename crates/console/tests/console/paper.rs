//! What pages have on paper: the card for a kennel, and an order.

use petstore_app::StoreOptions;
use petstore_console::ConsoleSettings;
use petstore_domain::{
    PetId, Role,
    store_area::{
        Command, Contact, Currency, Language, Note, OrderId, OrderPatch, Patch, Profile, Reference,
    },
};
use petstore_testing::{
    area::{any, change, patch},
    hostile_texts::{animal_of, expect_harmless, hostile_texts, of},
    stores::act,
};

use super::browser::{Browser, Page, Shop};

async fn luna(shop: &Shop) -> Browser<'_> {
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let form = [
        ("name", "Luna"),
        ("category", "1"),
        ("status", "available"),
        ("field.species", "Cat"),
        ("field.microchip", "276 098"),
        ("field.description", "Calm & <kind>\r\n\r\nNo stairs"),
    ];
    clerk.post("/add", &form).await.expect(303);
    clerk
}

async fn in_window() -> Shop {
    let window = Some("https://pets.example".to_owned());
    let currency = Currency::new("EUR");
    Shop::with(ConsoleSettings {
        window,
        store: StoreOptions {
            currency,
            ..StoreOptions::default()
        },
        ..ConsoleSettings::default()
    })
    .await
}

/// What only the paper has.
fn card(page: &Page) -> &str {
    page.between("<div class=\"print\">", "</div>")
}

#[tokio::test]
async fn a_card_for_the_kennel_has_its_story_and_a_code_of_its_public_page_and_no_customer() {
    let shop = in_window().await;
    let mut clerk = luna(&shop).await;
    let order = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("contact", "Ann, 030 1"),
    ];
    clerk.post("/animals/1/order", &order).await.expect(303);
    let page = clerk.get("/animals/1").await.expect(200);
    let story = "<bdi>Calm &amp; &lt;kind&gt;</bdi><br><bdi></bdi><br><bdi>No stairs</bdi>";
    for part in [story, "<svg", "https://pets.example/animals/1"] {
        assert!(card(&page).contains(part), "{part}: {page:?}");
    }
    let shown_story = page.between("<section class=\"card story no-print\">", "</section>");
    assert!(shown_story.contains(story), "{page:?}");
    let facts = page.between("id=\"facts\"", "</dl>");
    assert!(!facts.contains("No stairs"), "{page:?}");
    assert!(!card(&page).contains("Ann"), "{page:?}");
    // The other values may be private. The picture is on paper as well.
    assert!(
        page.text
            .contains("<div class=\"card no-print\" id=\"facts\">"),
        "{page:?}"
    );
    assert!(page.text.contains("<div class=\"portrait\">"), "{page:?}");
    // Of an animal that is sold, the window has no page.
    clerk
        .post("/orders/1/complete", &[("version", "1")])
        .await
        .expect(303);
    let page = clerk.get("/animals/1").await.expect(200);
    assert!(
        !card(&page).contains("<svg") && card(&page).contains("Calm"),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_card_for_the_kennel_has_the_values_of_a_shelter_that_the_animal_has() {
    let shop = in_window().await;
    let mut clerk = luna(&shop).await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let shelter = [("store.kind", "shelter")];
    manager.post("/settings/store", &shelter).await.expect(303);
    manager
        .post("/settings/shelter-fields", &[])
        .await
        .expect(303);
    let page = clerk.get("/animals/1").await.expect(200);
    assert!(!card(&page).contains("<dl>"), "{page:?}");
    let edit = clerk.get("/animals/1/edit").await.expect(200);
    let typed = [
        ("field.good_with_children", "true"),
        ("field.good_with_cats", "false"),
        ("field.neutered", "true"),
        ("field.intake", "2026-11-17"),
        ("field.intake_kind", "Found"),
        ("field.place", "K <2>"),
    ];
    let path = "/animals/1/edit";
    clerk.submit((&edit, path), path, &typed).await.expect(303);
    let page = clerk.get("/animals/1").await.expect(200);
    let values = card(&page).split("<dl>").nth(1).unwrap();
    for value in [
        "<dt>Good with children</dt><dd>Yes</dd>",
        "<dt>Good with cats</dt><dd>No</dd>",
        "<dt>Neutered</dt><dd>Yes</dd>",
        "<dt>Kennel or pen</dt><dd><bdi>K &lt;2&gt;</bdi></dd>",
        "17\u{a0}November\u{a0}2026",
    ] {
        assert!(values.contains(value), "{value}: {values}");
    }
    // A value that the animal does not have, and how it came, which is private.
    for absent in ["Good with dogs", "House-trained", "Found"] {
        assert!(!values.contains(absent), "{absent}: {values}");
    }
}

#[tokio::test]
async fn a_private_story_is_not_on_the_card_for_the_kennel() {
    let shop = in_window().await;
    let mut clerk = luna(&shop).await;
    shop.database()
        .execute("UPDATE fields SET is_public = 0", [])
        .unwrap();
    let page = clerk.get("/animals/1").await.expect(200);
    assert!(
        !card(&page).contains("Calm") && card(&page).contains("<svg"),
        "{page:?}"
    );
}

#[tokio::test]
async fn an_order_on_paper_has_its_animal_with_the_chip_and_the_price() {
    let shop = in_window().await;
    let mut clerk = luna(&shop).await;
    let order = [
        ("do", "sell"),
        ("contact", "Ann, 030 1"),
        ("price", "95"),
        ("note", "Pays late"),
    ];
    clerk.post("/animals/1/order", &order).await.expect(303);
    let page = clerk.get("/orders/1").await.expect(200);
    // The customer gets the paper, and not what the staff think.
    let note = "<dt class=\"no-print\">Note</dt><dd class=\"no-print\"><bdi>Pays late</bdi></dd>";
    assert!(page.text.contains(note), "{page:?}");
    for part in [
        "<bdi>Luna</bdi>",
        "<dt>Microchip</dt><dd><bdi>276 098</bdi></dd>",
        "<use href=\"#d-cat\"",
        "€95.00",
        "Ann, 030 1",
        "Signed by the customer",
        "Signed on behalf of the store",
    ] {
        assert!(page.text.contains(part), "{part}: {page:?}");
    }
}

#[tokio::test]
async fn a_card_for_the_kennel_says_the_species_and_not_the_order() {
    let shop = in_window().await;
    let mut clerk = luna(&shop).await;
    let form = [
        ("version", "1"),
        ("name", "Luna"),
        ("category", "1"),
        ("field.breed", "Maine Coon"),
    ];
    clerk.post("/animals/1/edit", &form).await.expect(303);
    let order = [("do", "reserve"), ("until", "2026-12-24"), ("version", "2")];
    clerk.post("/animals/1/order", &order).await.expect(303);
    let page = clerk.get("/animals/1").await.expect(200);
    assert!(card(&page).starts_with("<p>Cat</p>"), "{page:?}");
    let title = page
        .text
        .split("<h2>Reserved")
        .nth(1)
        .unwrap()
        .split("</h2>")
        .next()
        .unwrap();
    assert!(
        title.starts_with("<span class=\"no-print\"> · <a href=\"/orders/1\">order 1<"),
        "{title}"
    );
    // What a list leaves out on paper, it leaves out with its dot.
    let list = clerk.get("/animals").await.expect(200);
    assert!(
        list.text
            .contains("Newest first<span class=\"no-print\"> · <a"),
        "{list:?}"
    );
    clerk
        .post("/account/language", &[("language", "fr")])
        .await
        .expect(303);
    let order = clerk.get("/orders/1").await.expect(200);
    assert!(
        order.text.contains("Signature du client\u{a0}: ___"),
        "{order:?}"
    );
}

/// A page without what its inputs hold, which paper has not.
fn without_inputs(page: &str) -> String {
    let cut = |page: &str, start: &str, end: &str| {
        let mut parts = page.split(start);
        let first = parts.next().unwrap().to_owned();
        parts.fold(first, |kept, part| kept + part.split_once(end).unwrap().1)
    };
    cut(&cut(page, " value=\"", "\""), "<textarea", "</textarea>")
}

#[tokio::test]
async fn hostile_texts_of_store_animals_and_orders_are_text_on_paper_in_every_language() {
    let shop = in_window().await;
    let mut clerk = luna(&shop).await;
    let sale = [("do", "sell"), ("contact", "Ann"), ("price", "95")];
    clerk.post("/animals/1/order", &sale).await.expect(303);
    for text in hostile_texts() {
        change(&shop.store, patch(PetId::new(1).unwrap(), animal_of(&text))).await;
        let short: String = text.chars().take(100).collect();
        let order = OrderPatch {
            contact: Patch::Set(Contact::new(short.clone()).unwrap()),
            note: Patch::Set(Note::new(short.clone()).unwrap()),
            reference: Reference::new(short).map_or(Patch::Keep, Patch::Set),
            ..OrderPatch::default()
        };
        let id = OrderId::new(1).unwrap();
        change(
            &shop.store,
            Command::PatchOrder {
                id,
                patch: order,
                preconditions: any(),
            },
        )
        .await;
        for language in Language::ALL {
            let profile = Profile {
                language: Some(language),
                ..of(&text)
            };
            petstore_testing::profile::set(&*shop.store, act(0), profile).await;
            for path in [
                "/animals?status=all",
                "/animals/1",
                "/orders/1",
                "/orders",
                "/",
            ] {
                let page = clerk.get(path).await.expect(200);
                let lang = format!("<html lang=\"{}", language.as_str());
                assert!(page.text.contains(&lang), "{path}: {page:?}");
                expect_harmless(path, &without_inputs(&page.text));
            }
        }
    }
}

/// A contract with two paragraphs and all placeholders.
const CONTRACT: &str =
    "{store} entrusts {animal} <to> the adopter.\r\n\r\nReturn {animal} to {store}.";

/// Gives the store a contract, and returns the page with its form.
async fn give_contract(shop: &Shop, kind: &str) -> Page {
    let mut manager = shop.member("Mo", Role::Manager).await;
    let path = "/settings/store";
    let seen = manager.get(path).await;
    let typed = [
        ("store.name", "Paws & {animal}"),
        ("store.kind", kind),
        ("store.contract", CONTRACT),
    ];
    manager
        .submit((&seen, path), path, &typed)
        .await
        .expect(303);
    manager.get(path).await
}

#[tokio::test]
async fn an_order_on_paper_has_the_contract_with_names_above_the_lines_for_signatures() {
    let shop = in_window().await;
    let mut clerk = luna(&shop).await;
    let reservation = [("do", "reserve"), ("until", "2026-12-24")];
    clerk
        .post("/animals/1/order", &reservation)
        .await
        .expect(303);
    let without = clerk.get("/orders/1").await.expect(200);
    assert!(!without.text.contains("print contract"), "{without:?}");
    assert!(without.text.contains("Signed by the customer"));
    assert!(without.text.contains("<h1>Order 1</h1>"), "{without:?}");
    assert!(without.text.contains("<p>Date: ____"));

    let settings = give_contract(&shop, "shelter").await;
    let hint = settings.between("id=\"store.contract-hint\">", "</div>");
    assert!(
        hint.contains("{animal}") && hint.contains("{store}"),
        "{hint}"
    );
    let page = clerk.get("/orders/1").await.expect(200);
    let contract = page.between("<section class=\"print contract\">", "</section>");
    let paragraphs = "<p><bdi>Paws &amp; {animal} entrusts Luna &lt;to&gt; the adopter.</bdi></p>\
        <p><bdi>Return Luna to Paws &amp; {animal}.</bdi></p>";
    assert!(contract.contains(paragraphs), "{contract}");
    let title = "<h1><span class=\"no-print\">Adoption 1</span>\
        <span class=\"print\">Adoption contract, adoption 1</span></h1>";
    assert!(page.text.contains(title), "{page:?}");
    // An address has two lines.
    for label in ["Name: ", "Address: ", ""] {
        let line = format!("<p class=\"entry\">{label}____");
        assert!(contract.contains(&line), "{line}: {contract}");
    }
    let after = page.text.split("print contract").nth(1).unwrap();
    assert!(after.contains("Signed by the adopter"), "{page:?}");
    assert!(
        after.contains("Signed on behalf of the shelter"),
        "{page:?}"
    );

    // An order that is over has no contract.
    let form = [("version", "1")];
    clerk.post("/orders/1/cancel", &form).await.expect(303);
    let page = clerk.get("/orders/1").await.expect(200);
    assert!(!page.text.contains("entrusts"), "{page:?}");
}

#[tokio::test]
async fn a_shop_prints_a_sales_contract_and_an_unknown_word_in_braces_is_named() {
    let shop = in_window().await;
    let mut clerk = luna(&shop).await;
    let sale = [("do", "sell")];
    clerk.post("/animals/1/order", &sale).await.expect(303);
    give_contract(&shop, "shop").await;
    let page = clerk.get("/orders/1").await.expect(200);
    assert!(page.text.contains(">Sales contract, order 1<"), "{page:?}");

    let mut manager = shop.member("Ma", Role::Manager).await;
    let path = "/settings/store";
    let seen = manager.get(path).await;
    let typed = [("store.contract", "{Animal} moves in")];
    let refused = manager
        .submit((&seen, path), path, &typed)
        .await
        .expect(422);
    let message = refused.between("id=\"store.contract-error\">", "</p>");
    assert!(message.contains("but not {Animal}"), "{message}");
    let typed = "x".repeat(4_001);
    let refused = manager
        .submit((&seen, path), path, &[("store.contract", &typed)])
        .await
        .expect(422);
    let message = refused.between("id=\"store.contract-error\">", "</p>");
    assert!(message.contains("at most 4,000 characters"), "{message}");
}

#[tokio::test]
async fn a_contract_has_the_microchip_the_fee_the_adopter_and_the_day_or_lines_for_them() {
    let shop = in_window().await;
    let mut clerk = luna(&shop).await;
    let path = "/animals/1/edit";
    let edit = clerk.get(path).await.expect(200);
    let chip = [("field.microchip", "276098106123456")];
    clerk.submit((&edit, path), path, &chip).await.expect(303);
    let mut manager = shop.member("Mo", Role::Manager).await;
    let path = "/settings/store";
    let seen = manager.get(path).await;
    let text = "Chip {microchip}; fee {fee}; to {adopter}; on {date}.";
    manager
        .submit((&seen, path), path, &[("store.contract", text)])
        .await
        .expect(303);
    let hint = manager.get(path).await;
    let hint = hint.between("id=\"store.contract-hint\">", "</div>");
    for placeholder in ["{microchip}", "{fee}", "{adopter}", "{date}"] {
        assert!(hint.contains(placeholder), "{placeholder}: {hint}");
    }

    let reservation = [("do", "reserve"), ("until", "2026-12-24")];
    clerk
        .post("/animals/1/order", &reservation)
        .await
        .expect(303);
    let line = "_".repeat(30);
    let page = clerk.get("/orders/1").await.expect(200);
    let contract = page.between("<section class=\"print contract\">", "</section>");
    let empty =
        format!("Chip 276098106123456; fee {line}; to {line}; on 1\u{a0}December\u{a0}2026.");
    assert!(contract.contains(&empty), "{empty}: {contract}");

    for (contact, name) in [
        ("Ann <Lee>, 030 12", "Ann &lt;Lee&gt;"),
        ("Lee, Ann, ann@example.org", "Lee, Ann"),
        ("Ann Lee (030) 12", "Ann Lee"),
        ("030 12", &*line),
    ] {
        let page = clerk.get("/orders/1").await;
        let values = [("contact", contact), ("price", "95")];
        clerk
            .submit((&page, "/orders/1/change"), "/orders/1/change", &values)
            .await
            .expect(303);
        let page = clerk.get("/orders/1").await.expect(200);
        let contract = page.between("<section class=\"print contract\">", "</section>");
        let filled = format!("fee €95.00; to {name}; on");
        assert!(contract.contains(&filled), "{filled}: {contract}");
    }
    // Who may not see the customer does not print the name either.
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    let page = viewer.get("/orders/1").await.expect(200);
    let contract = page.between("<section class=\"print contract\">", "</section>");
    assert!(contract.contains(&format!("to {line};")), "{contract}");
}
