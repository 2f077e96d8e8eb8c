//! What takes one step for a person, and several commands.

use petstore_domain::{
    PetId, PetStatus, Role,
    store_area::{OrderId, OrderStatus, StorePet},
};

use super::browser::{Browser, Shop};

async fn pet(shop: &Shop) -> StorePet {
    shop.store
        .get_store_pet(PetId::new(1).unwrap())
        .await
        .unwrap()
        .unwrap()
}

/// Signs in a clerk, who adds one animal.
async fn clerk<'s>(shop: &'s Shop, status: &str) -> Browser<'s> {
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let form = [("name", "Rex"), ("category", "1"), ("status", status)];
    assert_eq!(clerk.post("/add", &form).await.next(), "/animals/1");
    clerk
}

#[tokio::test]
async fn an_animal_that_was_marked_as_reserved_gets_an_order_in_one_step() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, "reserved").await;
    let page = clerk.get("/animals/1").await.expect(200);
    assert!(
        page.text
            .contains("name=\"do\" value=\"reserve\">Reserve</button>"),
        "{page:?}"
    );
    let key = page.key_before("value=\"reserve\"");
    let form = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("_key", &*key),
        ("version", "1"),
    ];
    // Not if somebody else has changed it.
    let stale = [form[0], form[1], ("version", "7")];
    clerk.post("/animals/1/order", &stale).await.expect(422);
    assert_eq!(
        (pet(&shop).await.status, pet(&shop).await.version),
        (PetStatus::Pending, 1)
    );
    for _ in 0..2 {
        assert_eq!(
            clerk.post("/animals/1/order", &form).await.next(),
            "/animals/1"
        );
    }
    let page = clerk.get("/animals/1").await.expect(200);
    assert!(page.text.contains("Reserved (order 1)."), "{page:?}");
    assert_eq!(
        (pet(&shop).await.status, pet(&shop).await.order_id),
        (PetStatus::Pending, OrderId::new(1))
    );
    let order = shop
        .store
        .get_order(OrderId::new(1).unwrap())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        order.expires_at.unwrap().to_string(),
        "2026-12-24T23:59:59Z"
    );
}

#[tokio::test]
async fn reserving_and_selling_each_have_a_form_and_the_one_with_a_mistake_is_open() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, "available").await;
    let page = clerk.get("/animals/1").await.expect(200);
    assert!(page.text.contains("<svg class=\"drawing"), "{page:?}");
    assert_eq!(
        page.text.matches("<details name=\"order\">").count(),
        2,
        "{page:?}"
    );
    // Somebody who leaves the page is asked before what was typed is lost.
    assert_eq!(
        page.text.matches(" data-draft id=\"").count(),
        2,
        "{page:?}"
    );
    let mut manager = shop.member("Mo", Role::Manager).await;
    let page = manager.get("/settings/store").await.expect(200);
    assert!(
        page.text
            .contains("data-draft method=\"post\" action=\"/settings/store\">"),
        "{page:?}"
    );
    for (act, other) in [("sell", "reserve"), ("reserve", "sell")] {
        let typed = [
            ("do", act),
            ("until", "2026-12-24"),
            ("price", "much"),
            ("contact", "Ann"),
        ];
        let page = clerk.post("/animals/1/order", &typed).await.expect(422);
        let panels: Vec<_> = page.text.split("<details name=\"order\"").collect();
        let panel = |act: &str| {
            let is_it = |panel: &&&str| panel.contains(&format!(" id=\"{act}\" method=\"post\""));
            *panels.iter().find(is_it).unwrap()
        };
        // The message leads to its input, which no other one is.
        assert!(page.text.contains("href=\"#price\""), "{page:?}");
        assert!(
            panel(act).starts_with(" open") && panel(act).contains(" id=\"price\""),
            "{page:?}"
        );
        assert!(
            panel(other).starts_with('>') && !panel(other).contains(" id=\"price\""),
            "{page:?}"
        );
        assert!(panel(act).contains("id=\"price-error\""), "{page:?}");
        assert_eq!(page.typed("contact"), "Ann");
    }
}

#[tokio::test]
async fn a_reserved_animal_is_withdrawn_with_its_reservation_after_a_question() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop, "available").await;
    let form = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("contact", "Ann, 030 1"),
    ];
    clerk.post("/animals/1/order", &form).await.expect(303);
    let page = clerk.get("/animals/1").await.expect(200);
    let key = page.key_before("id=\"why\"");
    let form = [
        ("why", "died"),
        ("remark", "at night"),
        ("_key", &*key),
        ("version", "2"),
    ];
    let page = clerk.post("/animals/1/withdraw", &form).await.expect(200);
    for shown in [
        "Record Rex as having left the store?",
        "Its reservation, order 1, will be cancelled.",
        "href=\"/animals/1\"",
        // Somebody has to call.
        "<dt>Customer</dt><dd><bdi>Ann, 030 1</bdi>",
    ] {
        assert!(page.text.contains(shown), "{shown}: {page:?}");
    }
    assert_eq!(pet(&shop).await.version, 2);
    // All of it, or nothing.
    let stale = [form[0], form[1], ("version", "1")];
    clerk
        .post_and_confirm("/animals/1/withdraw", &stale)
        .await
        .expect(422);
    let order = async || {
        shop.store
            .get_order(OrderId::new(1).unwrap())
            .await
            .unwrap()
            .unwrap()
    };
    assert_eq!(order().await.status, OrderStatus::Reserved);
    let sure = page.hidden("sure");
    let form = [&form[..], &[("sure", &sure)]].concat();
    for _ in 0..2 {
        assert_eq!(
            clerk.post("/animals/1/withdraw", &form).await.next(),
            "/animals/1"
        );
    }
    assert!(
        clerk
            .get("/animals/1")
            .await
            .expect(200)
            .text
            .contains("The animal is no longer in the usual lists.")
    );
    assert_eq!(order().await.status, OrderStatus::Cancelled);
    let withdrawn = pet(&shop).await.withdrawal.unwrap();
    assert_eq!(withdrawn.note.unwrap().as_str(), "at night");
}
