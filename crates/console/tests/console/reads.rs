//! How often pages ask the store.

use std::{collections::BTreeMap, sync::atomic::Ordering};

use petstore_domain::{
    Actor, Clock, Role, WriteContext,
    store_area::{Profile, StoreName},
};

use super::browser::Shop;

#[tokio::test]
async fn the_sign_in_page_asks_the_store_for_nothing_until_somebody_has_written() {
    let shop = Shop::open().await;
    let mut browser = shop.browser();
    let mut reads = Vec::new();
    for name in [None, None, Some("Paws"), None] {
        if let Some(name) = name {
            let name = StoreName::new(name.to_owned());
            let context = WriteContext::new(Actor::Command, shop.clock.now());
            let profile = Profile {
                name,
                ..Profile::default()
            };
            petstore_testing::profile::set(&*shop.store, context, profile).await;
        }
        shop.asked.store(0, Ordering::Relaxed);
        let page = browser.get("/sign-in").await.expect(200);
        reads.push((
            shop.asked.load(Ordering::Relaxed),
            page.text.contains("Paws"),
        ));
    }
    assert_eq!(reads, [(1, false), (0, false), (1, true), (0, true)]);
}

#[tokio::test]
async fn no_page_asks_the_store_more_than_a_few_times() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let many = "WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 300)
        INSERT INTO categories SELECT id, 'Kind ' || id, 1 FROM n";
    shop.database().execute(many, []).unwrap();
    for _ in 0..60 {
        let add = [("name", "Luna"), ("category", "7"), ("status", "available")];
        manager.post("/add", &add).await.expect(303);
    }
    let mut asked = BTreeMap::new();
    for page in [
        "/",
        "/animals",
        "/animals?q=luna&status=all",
        "/animals?category=7",
        "/animals/1",
        "/animals/1/edit",
        "/add",
        "/orders",
        "/categories",
        "/activity",
        "/settings/staff",
        "/settings/fields",
        "/settings/webhooks",
        "/settings/keys",
        "/account",
    ] {
        shop.asked.store(0, Ordering::Relaxed);
        manager.get(page).await.expect(200);
        asked.insert(page, shop.asked.load(Ordering::Relaxed));
    }
    assert!(
        asked.values().all(|&asked| asked > 0 && asked <= 16),
        "{asked:?}"
    );
}
