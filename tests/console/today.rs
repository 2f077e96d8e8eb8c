//! The reservations of the day, and the money of the orders on a page.

use petstore::{
    console::ConsoleSettings,
    domain::{Role, store_area::Currency},
};

use super::browser::{Browser, Shop};

/// Adds an animal and reserves it for this customer until this day.
async fn reserve(clerk: &mut Browser<'_>, name: &str, contact: &str, until: &str) {
    let form = [("name", name), ("category", "1"), ("status", "available")];
    let animal = clerk.post("/add", &form).await.next().to_owned();
    let form = [("until", until), ("contact", contact)];
    clerk.post(&format!("{animal}/order"), &form).await.expect(303);
}

#[tokio::test]
async fn today_says_whom_to_expect_today_and_tomorrow_and_how_to_call_them() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    reserve(&mut clerk, "Rex", "Ann, +49 (0)30 123-45 67", "2026-12-01").await;
    reserve(&mut clerk, "Max", "Bo, room 12, born 24.12.1990, asked on 2026-11-30", "2026-12-02")
        .await;
    let page = clerk.get("/").await.expect(200).text;
    let place = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"));
    let parts = ["<h3>To collect today</h3>", "Rex", "<h3>Until tomorrow</h3>", "Max"];
    assert!(parts.map(place).is_sorted(), "{page}");
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
    assert_eq!(sold.next(), "/?order=1");
    let page = clerk.get("/?order=1").await.expect(200).text;
    let (_, done) = page.split_once("<p id=\"order\">").unwrap();
    let (done, _) = done.split_once("</p>").unwrap();
    assert!(done.contains("Rex") && done.contains("Sold"), "{done}");
    // From elsewhere it leads to the animal, also with a page that the console does not know.
    for from in ["", "//example.com"] {
        let page = clerk.post("/orders/2/change", &[("from", from), ("note", from)]).await;
        assert_eq!(page.next(), "/animals/2");
    }
}

#[tokio::test]
async fn a_page_of_sold_orders_says_what_they_brought() {
    let currency = Currency::new("EUR");
    let shop = Shop::with(ConsoleSettings { currency, ..ConsoleSettings::default() }).await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (name, price) in [("Rex", "80"), ("Max", "120.5"), ("Mia", "")] {
        reserve(&mut clerk, name, "Ann", "2026-12-24").await;
        let order = clerk.get("/orders?status=reserved").await.expect(200).text;
        let (_, id) = order.split_once("href=\"/orders/").unwrap();
        let path = format!("/orders/{}/complete", id.split_once('"').unwrap().0);
        clerk.post(&path, &[("price", price)]).await.expect(303);
    }
    let page = clerk.get("/orders?status=completed").await.expect(200).text;
    assert!(page.contains("2 sold with a price, 200.50 EUR together"), "{page}");
    assert!(page.contains("<th scope=\"col\">Sold on</th>"), "{page}");
    assert!(!page.contains("Closed"), "{page}");
    let page = clerk.get("/orders?status=cancelled").await.expect(200).text;
    assert!(!page.contains("sold with a price"), "{page}");
}
