//! Two people who fill in one form, without script: nothing that one of them saved or typed is lost, and
//! nothing is sold for another price than the one on the page.

use petstore_domain::{
    Role,
    store_area::{Contact, Decimal, Note, Order, OrderId, OrderStatus},
};

use super::browser::{Browser, Shop};

/// A shop with an animal for 95, and two clerks.
async fn two(shop: &Shop) -> [Browser<'_>; 2] {
    let mut cy = shop.member("Cy", Role::Clerk).await;
    let rex = [
        ("name", "Rex"),
        ("category", "1"),
        ("status", "available"),
        ("field.price", "95"),
    ];
    cy.post("/add", &rex).await.expect(303);
    [cy, shop.member("Ben", Role::Clerk).await]
}

/// The same, with a reservation for Ann.
async fn reserved(shop: &Shop) -> [Browser<'_>; 2] {
    let [mut cy, ben] = two(shop).await;
    let page = cy.get("/animals/1").await;
    let typed = [
        ("contact", "Ann, 030 1"),
        ("note", "Red\r\ncollar"),
        ("do", "reserve"),
        ("until", "2026-12-03"),
    ];
    cy.submit((&page, "/animals/1/order"), "/animals/1/order", &typed)
        .await
        .expect(303);
    [cy, ben]
}

async fn order(shop: &Shop, id: i64) -> Order {
    shop.store
        .get_order(OrderId::new(id).unwrap())
        .await
        .unwrap()
        .unwrap()
}

fn words(order: &Order) -> [&str; 3] {
    let contact = order.contact.as_ref().map_or("", Contact::as_str);
    let note = order.note.as_ref().map_or("", Note::as_str);
    [
        contact,
        note,
        order.price.as_ref().map_or("", Decimal::as_str),
    ]
}

const CHANGE: &str = "/orders/1/change";

#[tokio::test]
async fn two_people_in_one_order_lose_nothing() {
    let shop = Shop::open().await;
    let [mut cy, mut ben] = reserved(&shop).await;
    let page = cy.get("/orders/1").await.expect(200);
    let of_ben = ben.get("/orders/1").await.expect(200);
    ben.submit((&of_ben, CHANGE), CHANGE, &[("contact", "Ann, 030 2")])
        .await
        .expect(303);
    // Another input than the one that Ben changed.
    cy.submit((&page, CHANGE), CHANGE, &[("note", "Blue")])
        .await
        .expect(303);
    assert_eq!(words(&order(&shop, 1).await), ["Ann, 030 2", "Blue", "95"]);
    // The same one: both are shown, and the next press decides.
    let typed = [("contact", "Ann, 030 3"), ("note", "Green")];
    let asked = cy.submit((&page, CHANGE), CHANGE, &typed).await.expect(422);
    for shown in [
        "Customer is now Ann, 030 2; it was Ann, 030 1.",
        "Note is now Blue;",
    ] {
        assert!(asked.text.contains(shown), "{shown}: {asked:?}");
    }
    assert_eq!(asked.typed("contact"), "Ann, 030 3");
    assert_eq!(words(&order(&shop, 1).await), ["Ann, 030 2", "Blue", "95"]);
    cy.submit((&asked, CHANGE), CHANGE, &[]).await.expect(303);
    assert_eq!(words(&order(&shop, 1).await), ["Ann, 030 3", "Green", "95"]);
}

#[tokio::test]
async fn an_order_is_sold_only_for_the_price_on_the_page_and_a_typed_one_is_not_dropped() {
    let shop = Shop::open().await;
    let [mut cy, mut ben] = reserved(&shop).await;
    let pages = [
        cy.get("/orders/1").await,
        cy.get("/").await,
        cy.get("/orders").await,
    ];
    let of_ben = ben.get("/orders/1").await;
    assert!(
        pages[1]
            .text
            .contains("<td class=\"price\" data-label=\"Price\">95"),
        "{:?}",
        pages[1]
    );
    ben.submit((&of_ben, CHANGE), CHANGE, &[("price", "150")])
        .await
        .expect(303);
    let sell = "/orders/1/complete";
    for (page, form) in pages.iter().zip([CHANGE, sell, sell]) {
        let asked = cy.submit((page, form), sell, &[]).await.expect(422);
        assert!(
            asked.text.contains("Price is now 150; it was 95."),
            "{asked:?}"
        );
        assert_eq!(order(&shop, 1).await.status, OrderStatus::Reserved);
    }
    // A discount and a note are kept while the person decides, and are saved with the sale.
    let typed = [("price", "140"), ("note", "Paid")];
    let asked = cy
        .submit((&pages[0], CHANGE), sell, &typed)
        .await
        .expect(422);
    assert_eq!(asked.typed("price"), "140");
    cy.submit((&asked, CHANGE), sell, &[]).await.expect(303);
    let sold = order(&shop, 1).await;
    assert_eq!(
        (sold.status, words(&sold)[1], words(&sold)[2]),
        (OrderStatus::Completed, "Paid", "140")
    );
    // Somebody who still sees the reservation neither sells it again nor cancels it.
    for command in [sell, "/orders/1/cancel"] {
        let asked = ben
            .submit((&of_ben, CHANGE), command, &[("price", "20")])
            .await
            .expect(422);
        assert!(
            asked.text.contains("Status is now Sold; it was Reserved."),
            "{asked:?}"
        );
    }
    assert_eq!(words(&order(&shop, 1).await)[2], "140");
}

#[tokio::test]
async fn of_two_who_reserve_one_animal_the_second_learns_who_has_it_and_keeps_what_was_typed() {
    let shop = Shop::open().await;
    let [mut cy, mut ben] = two(&shop).await;
    let (page, place) = (cy.get("/animals/1").await, "/animals/1/order");
    let of_ben = ben.get("/animals/1").await;
    let typed = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("contact", "Bob, 030 7"),
    ];
    ben.submit((&of_ben, place), place, &typed)
        .await
        .expect(303);
    let typed = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("contact", "Ann"),
        ("note", "Toys"),
    ];
    let lost = cy.submit((&page, place), place, &typed).await.expect(422);
    let problem = lost.between("role=\"alert\"", "</dl>");
    for shown in [
        "by order 1",
        "Ben did that",
        "just now",
        "Bob, 030 7",
        "<bdi>Ann<",
        "<bdi>Toys<",
    ] {
        assert!(problem.contains(shown), "{shown}: {problem}");
    }
    assert!(!problem.contains("Sell it there"), "{problem}");
}

#[tokio::test]
async fn an_animal_is_reserved_and_sold_only_for_the_price_on_the_page() {
    let shop = Shop::open().await;
    let [mut cy, mut ben] = two(&shop).await;
    let (page, place) = (cy.get("/animals/1").await, "/animals/1/order");
    assert_eq!(page.typed("price"), "95");
    let edit = ben.get("/animals/1/edit").await;
    let edited = [("field.price", "150")];
    ben.submit((&edit, "/animals/1/edit"), "/animals/1/edit", &edited)
        .await
        .expect(303);
    for (act, price) in [("sell", "95"), ("reserve", "95"), ("sell", "70")] {
        let typed = [("do", act), ("price", price), ("contact", "Ann")];
        let asked = cy.submit((&page, place), place, &typed).await.expect(422);
        assert!(
            asked.text.contains("Price is now 150; it was 95."),
            "{asked:?}"
        );
        let kept = ["contact", "price"].map(|name| asked.typed(name));
        // What nobody typed is what it is now.
        assert_eq!(kept, ["Ann", if price == "95" { "150" } else { "70" }]);
    }
    // Another change, such as of the name, is no reason to ask.
    let page = cy.get("/animals/1").await;
    let edit = ben.get("/animals/1/edit").await;
    let edited = [("name", "Rex II")];
    ben.submit((&edit, "/animals/1/edit"), "/animals/1/edit", &edited)
        .await
        .expect(303);
    cy.submit((&page, place), place, &[("do", "reserve"), ("price", "")])
        .await
        .expect(303);
    assert_eq!(words(&order(&shop, 1).await)[2], "");
}
