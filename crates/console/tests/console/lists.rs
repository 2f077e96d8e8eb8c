//! The list of animals: what it shows of each, how many there are, and its order.

use petstore_app::StoreOptions;
use petstore_domain::{Role, store_area::Currency};

use super::{
    browser::Shop,
    counter::{add, walk},
};

#[tokio::test]
async fn a_list_shows_what_tells_animals_apart() {
    let currency = Currency::new("EUR");
    let shop = Shop::of(StoreOptions {
        currency,
        ..StoreOptions::default()
    })
    .await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let form = [
        ("name", "Luna"),
        ("category", "1"),
        ("status", "available"),
        ("field.sex", "Female"),
        ("field.breed", "Domestic <b>"),
        ("field.colour", "Black"),
        ("field.price", "95"),
    ];
    clerk.post("/add", &form).await.expect(303);
    let order = [("until", "2026-12-24"), ("contact", "Ann, 030 1")];
    clerk.post("/animals/1/order", &order).await.expect(303);
    let list = clerk.get("/animals").await.expect(200).text;
    for part in [
        "Female · Domestic &lt;b&gt; · Black",
        ">€95.00<",
        ">Reserved<",
        "Ann, 030 1",
    ] {
        assert!(list.contains(part), "{part}: {list}");
    }
}

#[tokio::test]
async fn a_list_says_how_many_there_are_and_keeps_its_order() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let names: Vec<_> = (1..=60).map(|number| format!("Pet {number}")).collect();
    for (at, name) in names.iter().enumerate() {
        add(&mut clerk, name, if at == 0 { "sold" } else { "available" }).await;
    }
    assert_eq!(
        walk(&mut clerk, "/animals?sort=longest&status=all").await,
        names
    );
    let newest_first: Vec<_> = names.iter().skip(1).rev().cloned().collect();
    assert_eq!(walk(&mut clerk, "/animals").await, newest_first);
    for (query, count) in [
        ("", "59 animals"),
        ("?sort=longest", "59 animals"),
        ("?q=pet", "59 animals"),
        ("?q=pet&status=all", "60 animals"),
        ("?q=pet&status=available", "59 animals"),
        ("?category=1&sort=longest&after=55", "59 animals"),
        ("?status=sold", "1 animal"),
        ("?status=all", "The first 50 animals are shown."),
    ] {
        let page = clerk
            .get(&format!("/animals{query}"))
            .await
            .expect(200)
            .text;
        assert!(
            page.contains(&format!("<p class=\"muted\">{count} · ")),
            "{query}: {page}"
        );
    }
    let page = clerk.get("/animals?q=pet&sort=longest").await.expect(200);
    assert!(
        page.text.contains("href=\"/animals?q=pet\">Newest first<"),
        "{page:?}"
    );
    assert_eq!(page.hidden("sort"), "longest");
    // A rejected change leaves it as it is.
    let nothing = [("q", "pet"), ("sort", "longest"), ("do", "sell")];
    let page = clerk.post("/animals/selected", &nothing).await.expect(200);
    assert!(page.text.contains("sort=longest&amp;after=51"), "{page:?}");
    // More than are counted.
    let many =
        "WITH RECURSIVE n (id) AS (SELECT 100 UNION ALL SELECT id + 1 FROM n WHERE id < 10200)
        INSERT INTO pets (name, category_id, status, fields) SELECT 'Luna', 1, 'pending', '{}' FROM n";
    shop.database().execute(many, []).unwrap();
    let page = clerk.get("/animals").await.expect(200).text;
    assert!(
        page.contains("<p class=\"muted\">More than 10,000 animals · "),
        "{page}"
    );
}

#[tokio::test]
async fn an_order_is_found_by_the_name_of_its_animal_however_many_have_it() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    add(&mut clerk, "Jasper", "available").await;
    clerk
        .post("/animals/1/order", &[("do", "sell")])
        .await
        .expect(303);
    // The message about it has a link, too.
    clerk.get("/animals/1").await.expect(200);
    let many = "WITH RECURSIVE n (id) AS (SELECT 2 UNION ALL SELECT id + 1 FROM n WHERE id < 300)
        INSERT INTO pets (name, category_id, status) SELECT 'Jasper', 1, 'available' FROM n";
    shop.database().execute(many, []).unwrap();
    for (query, found) in [
        ("jasper&status=all", 1),
        ("jas&status=completed", 1),
        ("jasper&status=reserved", 0),
    ] {
        let page = clerk.get(&format!("/orders?q={query}")).await.expect(200);
        assert_eq!(
            page.text.matches("href=\"/orders/1\"").count(),
            found,
            "{query}: {page:?}"
        );
        assert!(!page.text.contains("Only the newest"), "{query}: {page:?}");
    }
    // Also if it is withdrawn.
    clerk
        .post("/animals/1/withdraw", &[("why", "died"), ("version", "2")])
        .await
        .expect(303);
    let page = clerk.get("/orders?q=jasper&status=all").await.expect(200);
    assert!(page.text.contains("href=\"/orders/1\""), "{page:?}");
    // A search text that matches no animal can match a customer.
    let page = clerk.get("/animals?q=Smith+%26").await.expect(200);
    let link = "href=\"/orders?q=Smith+%26&amp;status=all\">Search the orders for “Smith &amp;”<";
    assert!(page.text.contains(link), "{page:?}");
}

#[tokio::test]
async fn a_list_can_begin_with_the_first_name_the_lowest_price_or_the_youngest() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (name, price, born) in [
        ("Zoe", "90", "2025-01-01"),
        ("älva", "1250", ""),
        ("Bo", "", "2020-01-01"),
        ("Carl", "95.50", "2026-11-01"),
    ] {
        let form = [
            ("name", name),
            ("category", "1"),
            ("field.price", price),
            ("field.born", born),
        ];
        clerk.post("/add", &form).await.expect(303);
    }
    for (sort, expected) in [
        ("name", ["älva", "Bo", "Carl", "Zoe"]),
        ("price", ["Zoe", "Carl", "älva", "Bo"]),
        ("age", ["Carl", "Zoe", "Bo", "älva"]),
    ] {
        let path = format!("/animals?sort={sort}");
        assert_eq!(walk(&mut clerk, &path).await, expected, "{sort}");
    }
    let page = clerk.get("/animals?sort=price").await.expect(200);
    assert!(
        page.text.contains("4 animals · Lowest price first<"),
        "{page:?}"
    );
    assert_eq!(page.hidden("sort"), "price");

    // Over several pages, and with more animals than a page sorts.
    let insert = |first: i32, last: i32| {
        let many = format!(
            "WITH RECURSIVE n (id) AS (SELECT {first} UNION ALL SELECT id + 1 FROM n WHERE id < {last})
            INSERT INTO pets (name, category_id, status, fields)
            SELECT 'Pet ' || (9999 - id), 1, 'available', '{{}}' FROM n"
        );
        shop.database().execute(&many, []).unwrap();
    };
    insert(100, 219);
    let names = walk(&mut clerk, "/animals?sort=name").await;
    assert_eq!(names.len(), 124);
    let first_of_all = ["älva", "Bo", "Carl", "Pet 9780", "Pet 9781"];
    assert_eq!(names[..5], first_of_all);
    insert(300, 800);
    let page = clerk.get("/animals?sort=name").await.expect(200);
    let notice = "Only lists of up to 500 animals can be sorted.";
    assert!(page.text.contains(notice), "{page:?}");
    assert!(page.text.contains(">Pet 9199<"), "{page:?}");
    let page = clerk.get("/animals?sort=name&q=carl").await.expect(200);
    assert!(!page.text.contains(notice), "{page:?}");
}

#[tokio::test]
async fn the_chips_of_a_list_begin_with_the_species_and_each_animal_has_one_age() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (name, species) in [("Rex", "Dog"), ("Mia", "Cat"), ("Tom", "Cat")] {
        let form = [("name", name), ("field.species", species)];
        clerk.post("/add", &form).await.expect(303);
    }
    let page = clerk.get("/animals").await.expect(200);
    let list = page.between("<ul class=\"chips no-print\"", "</ul>");
    let chips: Vec<&str> = list
        .split("class=\"more\"")
        .skip(1)
        .map(|chip| chip.split(['>', '<']).nth(1).unwrap())
        .collect();
    let ages = ["Under 1 year", "1–2 years", "3–7 years", "8 years or older"];
    assert_eq!(chips, [&["Dog", "Cat"][..], &ages].concat(), "{list}");
    let cats = clerk.get("/animals?field.species=Cat").await.expect(200);
    let list = cats.between("<ul class=\"chips no-print\"", "</ul>");
    assert!(!list.contains(">Dog<"), "{list}");
    // For how long each is here.
    assert!(
        page.text
            .contains("data-label=\"Here for\"><small>0\u{a0}days<"),
        "{page:?}"
    );
}
