//! The days of a store in its time zone.

use futures_util::StreamExt;
use http_body_util::BodyExt;
use petstore_app::StoreOptions;
use petstore_domain::{
    Actor, Clock, Role, WriteContext,
    store_area::{OrderId, Profile, StoreTimeZone},
};

use super::{
    browser::{Browser, PASSWORD, Page, Shop},
    today::{expect_rex_today_and_max_tomorrow, reserve_with},
};

const PAGE: &str = "/settings/store";

/// A store with this time zone, at this time.
async fn shop_in(zone: &str, time: &str) -> Shop {
    let shop = Shop::of(StoreOptions {
        time_zone: StoreTimeZone::from_name(zone),
        ..StoreOptions::default()
    })
    .await;
    shop.clock.set(time.parse().unwrap());
    shop
}

/// Gives the store this time zone in its profile, or none.
async fn set_zone(shop: &Shop, zone: Option<&str>) {
    let profile = Profile {
        time_zone: zone.and_then(StoreTimeZone::from_name),
        ..shop.store.profile().await.unwrap()
    };
    let context = WriteContext::new(Actor::Command, shop.clock.now());
    petstore_testing::profile::set(&*shop.store, context, profile).await;
}

async fn zone_of_profile(shop: &Shop) -> Option<String> {
    let zone = shop.store.profile().await.unwrap().time_zone?;
    Some(zone.as_str().to_owned())
}

/// Adds an animal and reserves it until this day, from a browser with this offset in minutes.
async fn reserve(clerk: &mut Browser<'_>, name: &str, until: &str, offset: &str) {
    reserve_with(clerk, name, &[("until", until), ("until-offset", offset)]).await;
}

/// The end of an order.
async fn end_of(shop: &Shop, id: i64) -> String {
    let order = shop.store.get_order(OrderId::new(id).unwrap()).await;
    order.unwrap().unwrap().expires_at.unwrap().to_string()
}

#[tokio::test]
async fn a_manager_finds_the_time_zone_by_its_region_and_the_pages_have_it_at_once() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let page = manager.get(PAGE).await.expect(200);
    assert!(!page.text.contains("data-zone"), "{page:?}");
    assert!(
        page.text.contains("data-device=\"This device\""),
        "{page:?}"
    );
    let hint = page.between("id=\"store.timeZone-hint\">", "</div>");
    assert!(
        hint.ends_with("If this is empty, the default is used: UTC."),
        "{hint}"
    );
    let europe = page.between("<optgroup label=\"Europe\">", "</optgroup>");
    for option in [
        "<option value=\"Europe/Amsterdam\">Amsterdam</option>",
        "<option value=\"Europe/Berlin\">Berlin</option>",
    ] {
        assert!(europe.contains(option), "{europe}");
    }
    let america = page.between("<optgroup label=\"America\">", "</optgroup>");
    let nested = "\"America/Argentina/Buenos_Aires\">Argentina, Buenos Aires</option>";
    assert!(america.contains(nested), "{america}");

    let save = async |manager: &mut Browser<'_>, seen: &Page, zone: &str| {
        let typed = [("store.timeZone", zone)];
        manager.submit((seen, PAGE), PAGE, &typed).await
    };
    let refused = save(&mut manager, &page, "Europe/Bielefeld")
        .await
        .expect(422);
    let message = refused.between("id=\"store.timeZone-error\">", "</p>");
    assert!(message.contains("one of those in the list"), "{message}");
    assert_eq!(zone_of_profile(&shop).await, None);

    save(&mut manager, &page, "Europe/Berlin").await.expect(303);
    assert_eq!(
        zone_of_profile(&shop).await.as_deref(),
        Some("Europe/Berlin")
    );
    let page = manager.get(PAGE).await.expect(200);
    assert!(
        page.text.contains("data-zone=\"Europe/Berlin\""),
        "{page:?}"
    );
    let chosen = "<option value=\"Europe/Berlin\" selected>";
    assert_eq!(page.text.matches(chosen).count(), 1, "{page:?}");
    let activity = manager.get("/activity").await.expect(200);
    assert!(activity.text.contains("timeZone"), "{activity:?}");
    save(&mut manager, &page, "").await.expect(303);
    assert_eq!(zone_of_profile(&shop).await, None);
}

#[tokio::test]
async fn the_page_today_has_the_day_of_the_store_in_its_morning_and_in_its_evening() {
    // It is nine o'clock in Los Angeles.
    let shop = shop_in("America/Los_Angeles", "2026-12-02T17:00:00Z").await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    reserve(&mut clerk, "Rex", "2026-12-02", "-60").await;
    reserve(&mut clerk, "Max", "2026-12-03", "480").await;
    assert_eq!(end_of(&shop, 1).await, "2026-12-03T07:59:59Z");
    assert_eq!(end_of(&shop, 2).await, "2026-12-04T07:59:59Z");
    // The message about it names the animal.
    clerk.get("/animals/2").await.expect(200);
    let page = clerk.get("/").await.expect(200).text;
    expect_rex_today_and_max_tomorrow(&page);
    assert!(page.contains("2\u{a0}December\u{a0}2026, 23:59<"), "{page}");
    assert!(page.contains("data-day=\"2026-12-02\""), "{page}");
    clerk.post("/orders/1/complete", &[]).await.expect(303);

    // In the evening, the next day of UTC has begun.
    shop.clock.set("2026-12-03T01:30:00Z".parse().unwrap());
    clerk.sign_in("Cy", PASSWORD).await.expect(303);
    let evening = clerk.get("/").await.expect(200).text;
    assert!(evening.contains("<h2>Sold today (1)</h2>"), "{evening}");
    assert!(
        evening.contains("<h3>Ending tomorrow (1)</h3>"),
        "{evening}"
    );
    shop.clock.set("2026-12-03T08:00:00Z".parse().unwrap());
    clerk.sign_in("Cy", PASSWORD).await.expect(303);
    let next_day = clerk.get("/").await.expect(200).text;
    assert!(!next_day.contains("Sold today"), "{next_day}");
    assert!(next_day.contains("<h3>Ending today (1)</h3>"), "{next_day}");
}

#[tokio::test]
async fn a_form_has_the_day_of_the_store_and_saves_no_other_one() {
    let shop = shop_in("Pacific/Auckland", "2026-12-01T12:00:00Z").await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    reserve(&mut clerk, "Rex", "2026-12-02", "0").await;
    assert_eq!(end_of(&shop, 1).await, "2026-12-02T10:59:59Z");
    let page = clerk.get("/orders/1").await.expect(200);
    assert!(
        page.text.contains("type=\"date\" value=\"2026-12-02\""),
        "{page:?}"
    );
    assert!(!page.text.contains("until-offset"), "{page:?}");
    let path = "/orders/1/change";
    let saved = clerk.submit((&page, path), path, &[("note", "Call")]).await;
    saved.expect(303);
    assert_eq!(end_of(&shop, 1).await, "2026-12-02T10:59:59Z");
    // The first of December is over there.
    let form = [("until", "2026-12-01")];
    clerk.post(path, &form).await.expect(422);
}

#[tokio::test]
async fn an_age_that_is_typed_counts_from_the_day_of_the_store() {
    for (zone, born) in [
        ("Pacific/Auckland", "2025-12-02"),
        ("UTC", "2025-12-01"),
        ("America/Los_Angeles", "2025-12-01"),
    ] {
        let shop = shop_in(zone, "2026-12-01T12:00:00Z").await;
        let mut clerk = shop.member("Cy", Role::Clerk).await;
        let form = [
            ("name", "Rex"),
            ("category", "1"),
            ("status", "available"),
            ("about", "1 year"),
        ];
        let animal = clerk.post("/add", &form).await.next().to_owned();
        let page = clerk.get(&format!("{animal}/edit")).await.expect(200);
        let shown = page.between("name=\"field.born\" type=\"date\" value=\"", "\"");
        assert_eq!(shown, born, "{zone}");
    }
}

#[tokio::test]
async fn activity_is_searched_by_days_of_the_store_and_exported_in_its_time_zone() {
    let shop = shop_in("Europe/Berlin", "2026-12-01T23:30:00Z").await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let form = [("name", "Rex"), ("category", "1"), ("status", "available")];
    manager.post("/add", &form).await.expect(303);
    for (query, is_there) in [
        ("since=2026-12-02", true),
        ("until=2026-12-01", false),
        ("since=2026-12-02&until=2026-12-02", true),
        ("since=2026-12-03", false),
    ] {
        let path = format!("/activity?animal=1&{query}");
        let page = manager.get(&path).await.expect(200);
        assert_eq!(page.text.contains("<bdi>Rex"), is_there, "{query}");
    }
    let export = manager.get("/activity/export?animal=1").await.expect(200);
    let mut lines = export.text.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("\u{FEFF}time (Europe/Berlin),who,")
    );
    assert!(
        lines.next().unwrap().starts_with("2026-12-02 00:30:00,Mo,"),
        "{export:?}"
    );
    let name = export.field("content-disposition");
    assert!(name.contains("petstore-activity-2026-12-02.csv"), "{name}");
    // Excel reads commas between cells only in languages with a decimal point.
    for language in ["de", "fr", "es"] {
        let form = [("language", language)];
        manager.post("/account/language", &form).await.expect(303);
        let export = manager.get("/activity/export?animal=1").await.expect(200);
        let header = "\u{FEFF}time (Europe/Berlin);who;";
        assert!(export.text.starts_with(header), "{export:?}");
    }
}

#[tokio::test]
async fn open_pages_learn_that_another_day_has_begun_and_of_another_time_zone() {
    let shop = shop_in("America/Los_Angeles", "2026-12-02T07:59:58Z").await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let page = clerk.get("/").await.expect(200);
    assert_eq!(page.between("data-day=\"", "\""), "2026-12-01");
    let follow = |day: &str, zone: &str| format!("/live?day={day}&zone={zone}");
    let path = follow("2026-12-01", "America/Los_Angeles");
    let mut events = clerk.stream(&path).await.into_data_stream();
    shop.clock.set("2026-12-02T08:00:00Z".parse().unwrap());
    assert_eq!(events.next().await.unwrap().unwrap(), "data: *\n\n");

    // Also one that nobody looked at while the day began.
    let mut events = clerk.stream(&path).await.into_data_stream();
    assert_eq!(events.next().await.unwrap().unwrap(), "data: *\n\n");
    // The profile is stronger than the option. Here, the day is the same one.
    let path = follow("2026-12-02", "America/Los_Angeles");
    let mut events = clerk.stream(&path).await.into_data_stream();
    set_zone(&shop, Some("America/New_York")).await;
    assert_eq!(events.next().await.unwrap().unwrap(), "data: *\n\n");
    assert!(
        clerk
            .get("/")
            .await
            .text
            .contains("data-zone=\"America/New_York\"")
    );
}

#[tokio::test]
async fn a_store_without_a_time_zone_has_the_day_of_the_device_for_the_end_of_a_reservation() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    reserve(&mut clerk, "Rex", "2026-12-02", "480").await;
    assert_eq!(end_of(&shop, 1).await, "2026-12-03T07:59:59Z");
    let page = clerk.get("/orders/1").await.expect(200);
    assert!(page.text.contains("name=\"until-offset\""), "{page:?}");
    assert!(
        page.text.contains("3\u{a0}December\u{a0}2026, 07:59 UTC"),
        "{page:?}"
    );
}
