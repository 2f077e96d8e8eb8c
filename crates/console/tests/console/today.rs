//! The reservations of the day, and the money of the orders on a page.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use petstore_app::StoreOptions;
use petstore_domain::{Clock, Role, store_area::Currency};

use super::browser::{Browser, Shop};

/// Adds an animal and reserves it with this form.
pub(super) async fn reserve_with(clerk: &mut Browser<'_>, name: &str, order: &[(&str, &str)]) {
    let form = [("name", name), ("category", "1"), ("status", "available")];
    let animal = clerk.post("/add", &form).await.next().to_owned();
    let path = format!("{animal}/order");
    clerk.post(&path, order).await.expect(303);
}

/// Adds an animal and reserves it for this customer until this day.
async fn reserve(clerk: &mut Browser<'_>, name: &str, contact: &str, until: &str) {
    reserve_with(clerk, name, &[("until", until), ("contact", contact)]).await;
}

/// Expects that Rex is to be collected today and Max until tomorrow, in this order.
pub(super) fn expect_rex_today_and_max_tomorrow(page: &str) {
    let place = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"));
    let parts = [
        "<h3>Ending today (1)</h3>",
        "<bdi>Rex",
        "<h3>Ending tomorrow (1)</h3>",
        "<bdi>Max",
    ];
    assert!(parts.map(place).is_sorted(), "{page}");
}

#[tokio::test]
async fn today_says_whom_to_expect_today_and_tomorrow_and_how_to_call_them() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    reserve(&mut clerk, "Rex", "Ann, +49 (0)30 123-45 67", "2026-12-01").await;
    reserve(
        &mut clerk,
        "Max",
        "Bo, room 12, born 24.12.1990, asked on 2026-11-30",
        "2026-12-02",
    )
    .await;
    // The message about it names the animal.
    clerk.get("/animals/2").await.expect(200);
    let page = clerk.get("/").await.expect(200).text;
    expect_rex_today_and_max_tomorrow(&page);
    assert!(page.contains("href=\"tel:+49301234567\""), "{page}");
    // The number of a room and a day are no telephone numbers.
    assert_eq!(page.matches("href=\"tel:").count(), 1, "{page}");
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    let page = viewer.get("/").await.expect(200).text;
    assert!(page.contains("Rex") && !page.contains("tel:"), "{page}");
}

#[tokio::test]
async fn a_sale_on_the_page_today_leads_back_to_it() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    reserve(&mut clerk, "Rex", "Ann", "2026-12-01").await;
    reserve(&mut clerk, "Max", "Bo", "2026-12-01").await;
    assert_eq!(clerk.get("/").await.expect(200).hidden("from"), "today");
    let sold = clerk.post("/orders/1/complete", &[("from", "today")]).await;
    assert_eq!(sold.next(), "/");
    let page = clerk.get("/").await.expect(200);
    // People know an animal by its name.
    let said = "<a href=\"/animals/1\"><bdi>Rex</bdi></a>: Sold (order 1).";
    assert!(
        page.between("id=\"done\"", "</form>").contains(said),
        "{page:?}"
    );
    // So does what undoes it.
    let undo = "/orders/1/undo";
    assert_eq!(clerk.submit((&page, undo), undo, &[]).await.next(), "/");
    // From elsewhere it leads to the animal, also with a page that the console does not know.
    for from in ["", "//example.com"] {
        let page = clerk
            .post("/orders/2/change", &[("from", from), ("note", from)])
            .await;
        assert_eq!(page.next(), "/animals/2");
    }
}

#[tokio::test]
async fn a_page_of_sold_orders_says_what_they_brought() {
    let currency = Currency::new("EUR");
    let shop = Shop::of(StoreOptions {
        currency,
        ..StoreOptions::default()
    })
    .await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (name, price) in [("Rex", "80"), ("Max", "120.5"), ("Mia", "")] {
        reserve(&mut clerk, name, "Ann", "2026-12-24").await;
        let order = clerk.get("/orders?status=reserved").await.expect(200).text;
        let (_, id) = order.split_once("href=\"/orders/").unwrap();
        let path = format!("/orders/{}/complete", id.split_once('"').unwrap().0);
        clerk.post(&path, &[("price", price)]).await.expect(303);
    }
    let page = clerk.get("/orders?status=completed").await.expect(200).text;
    assert!(
        page.contains("2 sales with a price, €200.50 in total"),
        "{page}"
    );
    assert!(page.contains("<th scope=\"col\">Sold on</th>"), "{page}");
    assert!(!page.contains("Closed"), "{page}");
    let page = clerk.get("/orders?status=cancelled").await.expect(200).text;
    assert!(!page.contains("with a price"), "{page}");
}

#[tokio::test]
async fn a_list_of_open_and_closed_orders_has_a_column_for_the_dates_of_both() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    reserve(&mut clerk, "Rex", "Ann", "2026-12-24").await;
    reserve(&mut clerk, "Max", "Bo", "2026-12-24").await;
    let completed = clerk.post("/orders/1/complete", &[]).await;
    completed.expect(303);
    for (status, heading) in [
        ("all", "Date"),
        ("reserved", "Reserved until"),
        ("completed", "Sold on"),
    ] {
        let path = format!("/orders?status={status}");
        let page = clerk.get(&path).await.expect(200).text;
        let shown = format!("<th scope=\"col\">{heading}</th>");
        assert!(page.contains(&shown), "{status}: {page}");
    }
}

#[tokio::test]
async fn today_counts_all_reservations_and_names_what_new_animals_lack() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for number in 1..=21 {
        reserve(&mut clerk, &format!("Pet {number}"), "Ann", "2026-12-01").await;
    }
    for (name, until) in [
        ("Tom", "2026-12-02"),
        ("Ada", "2026-12-03"),
        ("Kim", "2026-12-04"),
    ] {
        reserve(&mut clerk, name, "Ann", until).await;
    }
    let page = clerk.get("/").await.expect(200);
    // It shows the first 20, and says how many there are of each kind.
    for heading in [
        "Ending today (20 of 21)",
        "Ending tomorrow (0 of 1)",
        "Ending the day after tomorrow (0 of 1)",
    ] {
        assert!(
            page.text.contains(&format!("<h3>{heading}</h3>")),
            "{heading}: {page:?}"
        );
    }
    assert_eq!(
        page.text.matches("<td class=\"first\">").count(),
        20,
        "{page:?}"
    );
    let add = [("name", "Mia"), ("category", "1"), ("status", "available")];
    let chip = [("name", "Max"), add[1], add[2], ("field.microchip", "276")];
    for form in [&add[..], &chip] {
        clerk.post("/add", form).await.expect(303);
    }
    let key = clerk
        .get("/animals/26/photos")
        .await
        .expect(200)
        .key_before("name=\"pictures\"");
    let picture = petstore_testing::pictures::png(8, 6);
    clerk
        .upload("/animals/26/photos", &key, &[("a.png", &picture)])
        .await
        .expect(303);
    // They arrived long ago.
    let old = "UPDATE pets SET created_at = 1 WHERE id < 25";
    shop.database().execute(old, []).unwrap();
    let page = clerk.get("/").await.expect(200);
    assert!(
        page.text
            .contains("<h2>Added in the last 7 days, photo or microchip missing (1)</h2>"),
        "{page:?}"
    );
    let chips = page.between("<ul class=\"chips\">", "</ul>");
    assert!(
        chips.contains("<bdi>Mia</bdi><span class=\"muted\">no photo, no microchip<"),
        "{chips}"
    );
    let many = "WITH RECURSIVE n (id) AS (SELECT 30 UNION ALL SELECT id + 1 FROM n WHERE id < 180)
        INSERT INTO pets (name, category_id, status, created_at) SELECT 'Ada', 1, 'available', created_at
        FROM n, (SELECT created_at FROM pets WHERE id = 26)";
    shop.database().execute(many, []).unwrap();
    let page = clerk.get("/").await.expect(200);
    // It looks at the 100 newest.
    assert!(
        page.text
            .contains("photo or microchip missing (20 of 100+)</h2>"),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_list_of_orders_shows_its_animals_and_keeps_what_was_typed() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    reserve(&mut clerk, "Rex", "Ann", "2026-12-24").await;
    let animal = [("name", "Rex"), ("category", "1"), ("version", "2")];
    let species = [("field.species", "Cat"), ("field.colour", "Black")];
    clerk
        .post("/animals/1/edit", &[&animal[..], &species].concat())
        .await
        .expect(303);
    let page = clerk.get("/orders?q=ann&status=all").await.expect(200).text;
    assert!(
        page.contains("<article class=\"pet\">") && page.contains("Cat · Black"),
        "{page}"
    );
    for status in ["reserved", "completed", "all"] {
        let tab = format!("href=\"/orders?q=ann&amp;status={status}\"");
        assert!(page.contains(&tab), "{tab}: {page}");
    }
    let sold = clerk
        .get("/orders?q=ann&status=completed")
        .await
        .expect(200)
        .text;
    assert!(sold.contains("No orders found"), "{sold}");
}

#[tokio::test]
async fn today_says_what_was_sold_today_and_is_still_sold() {
    let currency = Currency::new("EUR");
    let shop = Shop::of(StoreOptions {
        currency,
        ..StoreOptions::default()
    })
    .await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    assert!(!clerk.get("/").await.text.contains("Sold today"));
    for (at, (name, price)) in [("Rex", "80"), ("Max", "120.5"), ("Mia", "60"), ("Moe", "7")]
        .into_iter()
        .enumerate()
    {
        reserve(&mut clerk, name, "Ann", "2026-12-24").await;
        let path = format!("/orders/{}/complete", at + 1);
        clerk.post(&path, &[("price", price)]).await.expect(303);
    }
    // One was taken back, and one was sold yesterday.
    clerk.post("/orders/3/return", &[]).await.expect(303);
    let yesterday = "UPDATE orders SET closed_at = closed_at - 86400000 WHERE id = 4";
    shop.database().execute(yesterday, []).unwrap();
    let page = clerk.get("/").await.expect(200);
    assert!(page.text.contains("<h2>Sold today (2)</h2>"), "{page:?}");
    assert!(
        page.text
            .contains("<p>2 sales with a price, €200.50 in total</p>"),
        "{page:?}"
    );
    let sold = page.between("<ul class=\"chips\">", "</ul>");
    for part in [
        "/orders/1\"><bdi>Rex</bdi><span class=\"muted\">€80.00",
        "<bdi>Max</bdi>",
    ] {
        assert!(sold.contains(part), "{part}: {sold}");
    }
    assert!(!sold.contains("Mia") && !sold.contains("Moe"), "{sold}");
}

#[tokio::test]
async fn managers_read_that_there_is_no_backup_yet_or_that_the_last_one_is_too_old() {
    let shop = Shop::open().await;
    let none = "There is no backup yet.";
    let (mut manager, mut clerk) = (
        shop.member("Mo", Role::Manager).await,
        shop.member("Cy", Role::Clerk).await,
    );
    let backups = &shop.app.backups;
    let mut says = async |text: &str| {
        assert!(!clerk.get("/").await.expect(200).text.contains(text));
        manager.get("/").await.expect(200).text.contains(text)
    };
    shop.import(&["Rex"; 20]).await;
    backups.is_possible.store(true, Relaxed);
    assert!(!says(none).await, "20 animals");
    shop.import(&["Max"]).await;
    shop.clock.advance(Duration::from_mins(2));
    assert!(says(none).await, "21 animals");
    backups.is_possible.store(false, Relaxed);
    assert!(!says(none).await, "PostgreSQL");
    backups.is_possible.store(true, Relaxed);
    backups.interval.store(60, Relaxed);
    assert!(!says(none).await, "the first one is on its way");
    backups.failures.count();
    assert!(says(none).await);
    let now = shop.clock.now();
    backups.record_backup(now, Duration::ZERO, 1);
    assert!(!says(none).await);
    let old = "The last backup is from 1\u{a0}December\u{a0}2026, 12:02 UTC.";
    shop.clock.advance(Duration::from_mins(3));
    assert!(!says(old).await);
    shop.clock.advance(Duration::from_secs(1));
    assert!(says(old).await);
}

#[tokio::test]
async fn today_misses_no_chip_of_a_budgie() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (name, species) in [("Tweety", "Bird"), ("Nemo", "Fish"), ("Rex", "Dog")] {
        let form = [("name", name), ("field.species", species)];
        clerk.post("/add", &form).await.expect(303);
    }
    let page = clerk.get("/").await.expect(200);
    let chips = page.between("<ul class=\"chips\">", "</ul>");
    let lacks = |name: &str| {
        let (_, rest) = chips.split_once(&format!("<bdi>{name}</bdi>")).unwrap();
        rest.split("</span>")
            .next()
            .unwrap()
            .contains("no microchip")
    };
    assert!(
        lacks("Rex") && !lacks("Tweety") && !lacks("Nemo"),
        "{chips}"
    );
}

#[tokio::test]
async fn a_customer_is_found_by_words_in_any_order_and_a_number_with_its_country_code() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    reserve(&mut clerk, "Rex", "Mrs Smith, 07700 900123", "2026-12-24").await;
    reserve(
        &mut clerk,
        "Max",
        "Tom Smith, +44 7700 900456",
        "2026-12-24",
    )
    .await;
    // The message about it has a link, too.
    clerk.get("/").await.expect(200);
    for (typed, found) in [
        ("smith+mrs", vec![1]),
        ("smith", vec![1, 2]),
        ("%2B44+7700+900123", vec![1]),
        ("0044+7700+900123", vec![1]),
        ("07700+900456", vec![2]),
        ("900-456", vec![2]),
        ("smith+miller", vec![]),
        // Its digits are not next to each other.
        ("077+123", vec![]),
        ("%2B", vec![]),
    ] {
        let page = clerk
            .get(&format!("/orders?q={typed}"))
            .await
            .expect(200)
            .text;
        let has = |id: &i32| page.contains(&format!("href=\"/orders/{id}\""));
        assert_eq!(
            [1, 2].into_iter().filter(has).collect::<Vec<_>>(),
            found,
            "{typed}: {page}"
        );
    }
}
