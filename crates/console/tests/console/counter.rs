//! At the counter: lists that agree with their counts, times, what failed forms keep, and words.

use std::time::Duration;

use petstore_app::StoreOptions;
use petstore_domain::{
    Role,
    store_area::{Currency, OrderQuery},
};
use tokio::time::timeout;

use super::browser::{Browser, Page, Shop};

/// Adds an animal, and returns the path of its page.
pub(super) async fn add(clerk: &mut Browser<'_>, name: &str, status: &str) -> String {
    let form = [("name", name), ("category", "1"), ("status", status)];
    clerk.post("/add", &form).await.next().to_owned()
}

/// Sends a form, and says yes to the question about it.
async fn agree(browser: &mut Browser<'_>, path: &str, form: &[(&str, &str)]) {
    let sure = browser.post(path, form).await.expect(200).hidden("sure");
    browser
        .post(path, &[form, &[("sure", &sure)]].concat())
        .await
        .expect(303);
}

/// The names on all pages of a list, in order.
pub(super) async fn walk(browser: &mut Browser<'_>, path: &str) -> Vec<String> {
    let (mut names, mut next) = (Vec::new(), Some(path.to_owned()));
    while let Some(path) = next {
        let page = browser.get(&path).await.expect(200);
        let rows = page.text.split("<td class=\"first\">").skip(1);
        names.extend(rows.map(|row| between(row, "<bdi>", "</bdi>").to_owned()));
        let pages = page
            .text
            .split_once("<div class=\"pages")
            .map_or("", |(_, pages)| pages);
        let link = pages
            .split("href=\"")
            .find(|link| link.contains(">Next page"));
        next = link.map(|link| link.split_once('"').unwrap().0.replace("&amp;", "&"));
    }
    names
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let (_, rest) = text
        .split_once(before)
        .unwrap_or_else(|| panic!("{before}: {text}"));
    rest.split_once(after).unwrap().0
}

#[tokio::test]
async fn each_number_on_the_page_today_leads_to_a_list_with_as_many_rows() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    clerk.get("/").await.expect(200);
    let statuses = ["available", "sold", "pending", "available", "available"];
    for (number, status) in (10..78).zip(statuses.into_iter().cycle()) {
        let path = add(&mut clerk, &format!("Pip {number}"), status).await;
        if number % 20 == 0 {
            let form = [("version", "1"), ("why", "other")];
            clerk
                .post(&format!("{path}/withdraw"), &form)
                .await
                .expect(303);
        }
    }
    // Not the numbers of the first visit. A page that is not counted within 100 ms has none.
    let counted = async {
        loop {
            let today = clerk.get("/").await.expect(200);
            if today
                .text
                .contains("<a href=\"/animals?status=sold\"><strong>")
            {
                return today;
            }
        }
    };
    let today = timeout(Duration::from_mins(1), counted).await.unwrap();
    let mut rows = Vec::new();
    for status in ["available", "pending", "sold", "withdrawn"] {
        let path = format!("/animals?status={status}");
        let number = today.between(&format!("<a href=\"{path}\"><strong>"), "</strong>");
        rows.push(walk(&mut clerk, &path).await.len());
        assert_eq!(number, rows.last().unwrap().to_string(), "{status}");
    }
    assert_eq!(rows, [37, 14, 14, 3]);
    // "In the store" has no sold animals, by number and by name, page by page.
    for (search, all) in [("", 65), ("?q=pip", 65), ("?category=1", 65)] {
        let mut names = walk(&mut clerk, &format!("/animals{search}")).await;
        names.reverse();
        assert!(
            names.is_sorted() && names.len() == rows[0] + rows[1],
            "{search}: {names:?}"
        );
        let join = if search.is_empty() { '?' } else { '&' };
        let names = walk(&mut clerk, &format!("/animals{search}{join}status=all")).await;
        assert_eq!(names.len(), all, "{search}");
    }
    // A customer brings a sold animal back: the list that the first page leads to offers to find it.
    let page: Page = clerk.get("/animals?q=pip+11").await.expect(200);
    let sold = r#"href="/animals?q=pip+11&amp;status=all">Include sold animals</a>"#;
    assert!(page.text.contains(sold), "{page:?}");
}

#[tokio::test]
async fn an_order_has_the_name_of_the_store() {
    let name = Some("Tails & Co".to_owned());
    let shop = Shop::of(StoreOptions {
        name,
        ..StoreOptions::default()
    })
    .await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    add(&mut clerk, "Rex", "available").await;
    clerk
        .post("/animals/1/order", &[("do", "sell")])
        .await
        .expect(303);
    let page = clerk.get("/orders/1").await.expect(200);
    let stranger = shop.browser().get("/sign-in").await.expect(200);
    assert!(
        stranger
            .text
            .contains("<title>Sign in – Tails &amp; Co</title>"),
        "{stranger:?}"
    );
    assert!(
        page.text
            .contains("<title>Order 1 – Tails &amp; Co</title>"),
        "{page:?}"
    );
    assert!(
        page.text
            .contains("<p class=\"print\"><strong><bdi>Tails &amp; Co</bdi></strong></p>"),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_price_is_typed_for_an_order_and_shown_in_the_currency_of_the_store() {
    let shop = Shop::of(StoreOptions {
        currency: Currency::new("EUR"),
        ..StoreOptions::default()
    })
    .await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    add(&mut clerk, "Rex", "available").await;
    let form = clerk.get("/animals/1").await.expect(200);
    assert!(
        form.text.contains("<label for=\"price\">Price (EUR)"),
        "{form:?}"
    );
    // It could be a thousand or one.
    let typed = [("do", "sell"), ("price", "1,249")];
    let page = clerk.post("/animals/1/order", &typed).await.expect(422);
    assert!(
        page.text
            .contains("1,249 can mean 1249 or 1.249. Write 1249 or 1.2490."),
        "{page:?}"
    );
    assert!(page.text.contains("value=\"1,249\""), "{page:?}");
    clerk
        .post("/animals/1/order", &[("do", "sell"), ("price", "1 249,5")])
        .await
        .expect(303);
    add(&mut clerk, "Max", "available").await;
    clerk
        .post("/animals/2/order", &[("do", "sell"), ("price", "95")])
        .await
        .expect(303);
    let page = clerk.get("/orders/2").await;
    assert!(
        page.text.contains("€95.00") && page.text.contains("<dt>Sold on</dt>"),
        "{page:?}"
    );
    for path in ["/orders/1", "/animals/1"] {
        let page = clerk.get(path).await.expect(200);
        assert!(
            page.text.contains("<dt>Price</dt><dd><bdi>€1,249.50</bdi>"),
            "{page:?}"
        );
    }
}

#[tokio::test]
async fn a_clerk_corrects_what_was_written_about_an_order_and_its_price() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let animal = add(&mut clerk, "Rex", "available").await;
    let typed = [
        ("until", "2026-12-03"),
        ("price", "80"),
        ("reference", "A-1"),
        ("note", "Red\r\none"),
    ];
    clerk
        .post(&format!("{animal}/order"), &typed)
        .await
        .expect(303);
    // What a browser sends if nobody changes anything.
    clerk
        .post(
            "/orders/1/change",
            &[&[("version", "1")], &typed[1..]].concat(),
        )
        .await
        .expect(303);
    let page = clerk.get("/orders/1").await.expect(200);
    assert_eq!(
        ["price", "reference"].map(|of| page.typed(of)),
        ["80", "A-1"]
    );
    assert!(
        page.text.contains("name=\"version\" value=\"1\""),
        "{page:?}"
    );
    assert!(page.text.contains("\nRed\none</textarea>"), "{page:?}");
    let change = [
        ("version", "1"),
        ("price", "75,50"),
        ("reference", "A-2"),
        ("note", ""),
    ];
    clerk.post("/orders/1/change", &change).await.expect(303);
    let page = clerk.get("/orders/1").await.expect(200);
    assert_eq!(
        ["price", "reference"].map(|of| page.typed(of)),
        ["75.50", "A-2"]
    );
    assert!(page.text.contains("\n</textarea>"), "{page:?}");
    let wrong = [("version", "2"), ("price", "cheap"), ("reference", "A-3")];
    let page = clerk.post("/orders/1/change", &wrong).await.expect(422);
    assert_eq!(
        ["price", "reference"].map(|of| page.typed(of)),
        ["cheap", "A-3"]
    );
    clerk.post("/orders/1/complete", &[]).await.expect(303);
    let page = clerk.get("/orders/1").await.expect(200);
    assert_eq!(page.typed("price"), "75.50");
    clerk
        .post("/orders/1/change", &[("version", "3"), ("note", "Blue")])
        .await
        .expect(303);
    let stale = [
        ("version", "3"),
        ("contact", "Ann"),
        ("reference", "A-4"),
        ("note", ""),
    ];
    let page = clerk.post("/orders/1/change", &stale).await.expect(422);
    assert_eq!(
        ["contact", "reference"].map(|of| page.typed(of)),
        ["Ann", "A-4"]
    );
    clerk
        .post("/orders/1/change", &[("version", "4"), ("note", "")])
        .await
        .expect(303);
    let history = clerk.get(&animal).await.expect(200);
    for line in [
        "Price: <del><bdi>80</bdi></del> → <ins><bdi>75.50</bdi></ins>",
        "Note: <del><bdi>Blue</bdi></del> → <ins><bdi>–</bdi></ins>",
    ] {
        assert!(history.text.contains(line), "{line}: {history:?}");
    }
    assert!(!history.text.contains("Customer changed"), "{history:?}");
    assert!(clerk.get("/orders/1").await.text.contains("75.50"));
}

#[tokio::test]
async fn those_who_sell_see_for_whom_an_animal_is_find_it_by_a_part_and_erase_it() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let animal = add(&mut clerk, "Rex", "available").await;
    add(&mut clerk, "Max", "available").await;
    let anna = "Anna Müller, 0171 555 01 23";
    let typed = [("until", "2026-12-03"), ("contact", anna)];
    clerk
        .post(&format!("{animal}/order"), &typed)
        .await
        .expect(303);
    let pages = [
        "/",
        "/orders",
        "/animals",
        "/animals/1",
        "/orders/1",
        "/orders?status=reserved",
    ];
    for path in pages {
        let page = clerk.get(path).await.expect(200);
        assert!(page.text.contains(anna), "{path}: {page:?}");
    }
    // A printed list, and the card for a kennel, hang where everybody sees them.
    let list = clerk.get("/animals").await;
    assert!(
        list.text.contains("<div class=\"hint no-print\"><bdi>Anna"),
        "{list:?}"
    );
    let card = clerk.get(&animal).await;
    assert!(
        card.between("<div class=\"no-print\"><dl>", "</dl>")
            .contains(anna),
        "{card:?}"
    );
    let parts = [
        ("mull", 1),
        ("0171555", 1),
        ("555 01", 1),
        ("miller", 0),
        (", ", 0),
    ];
    let of_animal = [("rex", 1), ("1", 1), ("%231", 1), ("No. 1", 1), ("max", 0)];
    for (part, found) in parts.into_iter().chain(of_animal) {
        let part = part.replace(' ', "+");
        let page = clerk
            .get(&format!("/orders?q={part}&status=all"))
            .await
            .expect(200);
        assert_eq!(
            page.text.matches("href=\"/orders/1\"").count(),
            found,
            "{part}: {page:?}"
        );
    }
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    for path in [&pages[..], &["/orders?q=anna&status=all"]].concat() {
        let page = viewer.get(path).await.expect(200);
        assert!(!page.text.contains("0171"), "{path}: {page:?}");
    }
    let page = clerk.get("/orders/1").await;
    assert!(page.text.contains("name=\"contact\""), "{page:?}");
    let change = [("version", "1"), ("contact", &*"x".repeat(501))];
    let page = clerk.post("/orders/1/change", &change).await.expect(422);
    assert!(
        page.text.contains("Enter at most 500 characters."),
        "{page:?}"
    );
    viewer
        .post("/orders/1/change", &[("version", "1"), ("contact", "Vi")])
        .await
        .expect(403);
    clerk
        .post("/orders/1/change", &[("version", "1"), ("contact", "Bob")])
        .await
        .expect(303);
    clerk.post("/orders/1/cancel", &[]).await.expect(303);
    assert!(clerk.get("/orders/1").await.text.contains("Bob"));
    // A closed order is found by its customer and by its animal, but not in another status.
    for (query, found) in [
        ("bob", 1),
        ("rex&status=cancelled", 1),
        ("rex&status=reserved", 0),
    ] {
        let page = clerk.get(&format!("/orders?q={query}")).await.expect(200);
        assert_eq!(
            page.text.matches("href=\"/orders/1\"").count(),
            found,
            "{query}: {page:?}"
        );
    }
    let erase = [("version", "3"), ("contact", "")];
    let saved = clerk.post("/orders/1/change", &erase).await;
    assert!(clerk.get(saved.next()).await.text.contains("Saved."));
    assert!(!clerk.get("/orders/1").await.text.contains("Bob"));
}

#[tokio::test]
async fn pages_that_fail_keep_the_menu_of_those_who_are_signed_in() {
    let shop = Shop::open().await;
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    for (path, status) in [
        ("/nothing", 404),
        ("/add", 403),
        ("/animals/7", 404),
        ("/account/password", 405),
    ] {
        let page = viewer.get(path).await.expect(status);
        assert!(
            page.text.contains(r#"<a href="/orders">Orders</a>"#),
            "{page:?}"
        );
        assert!(
            page.text.contains("Go to Today") || path.starts_with("/animals"),
            "{page:?}"
        );
    }
    let page = shop.browser().get("/nothing").await.expect(404);
    assert!(
        page.text.contains("There is no such page.") && !page.text.contains("/orders"),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_conflict_names_categories_and_keeps_what_was_typed() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (label, number) in [("Dogs", "1"), ("Cats", "2")] {
        let form = [("label", label), ("number", number)];
        clerk.post("/categories", &form).await.expect(303);
    }
    add(&mut clerk, "Rex", "available").await;
    let edit = |version: &'static str, category| {
        [
            ("version", version),
            ("name", "Rex"),
            ("category", category),
            ("status", "available"),
        ]
    };
    let seen = clerk.get("/animals/1/edit").await.expect(200);
    clerk
        .post("/animals/1/edit", &edit("1", "9"))
        .await
        .expect(303);
    // Yours and theirs are spelled alike, and can be sent as they are.
    for (typed, shown) in [("2", "Cats"), ("7", "Category 7"), ("Cows", "Cows")] {
        let typed = [("category", typed)];
        let page = clerk
            .submit((&seen, "/animals/1/edit"), "/animals/1/edit", &typed)
            .await;
        assert_eq!(page.status == 409, shown != "Cows", "{page:?}");
        assert_eq!(page.typed("category"), shown);
        assert!(
            shown == "Cows" || page.text.contains("<bdi>Category 9</bdi>"),
            "{page:?}"
        );
    }
    // Dogs is what it was before, so only somebody else has changed it.
    let typed = [("category", " dogs "), ("name", "Rex II")];
    clerk
        .submit((&seen, "/animals/1/edit"), "/animals/1/edit", &typed)
        .await
        .expect(303);
    let page = clerk.get("/animals/1/edit").await;
    assert_eq!(
        ["category", "name"].map(|of| page.typed(of)),
        ["Category 9", "Rex II"]
    );
    // A withdrawal in the meantime of another change keeps its reason and its note.
    let form = [
        ("version", "1"),
        ("why", "died"),
        ("remark", "In its sleep"),
    ];
    let page = clerk.post("/animals/1/withdraw", &form).await.expect(422);
    let section = page.between("<details class=\"card\"", "</details>");
    assert!(
        section.starts_with(" open>") && section.contains("In its sleep"),
        "{section}"
    );
    assert!(section.contains("value=\"died\" selected"), "{section}");
}

#[tokio::test]
async fn a_name_needs_a_visible_character_and_control_characters_are_named() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (name, problem) in [
        ("\u{200b}\u{2060}", "Enter the name"),
        ("\u{3164} \u{ad}\u{feff}", "Enter the name"),
        ("Re\0x", "U+0000 is not allowed"),
    ] {
        let form = [("name", name), ("category", "1"), ("status", "available")];
        let page = clerk.post("/add", &form).await.expect(422);
        assert!(
            page.text.contains(problem) && !page.text.contains("too long"),
            "{page:?}"
        );
    }
    add(&mut clerk, "é\u{301}👩\u{200d}🚀", "available").await;
    let form = [("do", "sell"), ("note", "a\0b")];
    let page = clerk.post("/animals/1/order", &form).await.expect(422);
    assert!(page.text.contains("U+0000 is not allowed"), "{page:?}");
}

#[tokio::test]
async fn the_history_says_when_and_shows_ends_in_the_zone_of_the_reader() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    add(&mut clerk, "Rex", "available").await;
    shop.import(&["Max", "Mia"]).await;
    // What just happened is not about to happen.
    let page = clerk.get("/animals/1").await.expect(200);
    let history = page.between("<ol class=\"history\">", "</ol>");
    assert!(
        history.contains("data-now=\"just now\">just now</time>"),
        "{history}"
    );
    assert!(!history.contains("Imported"), "{history}");
    let page = clerk.get("/animals/3").await.expect(200);
    let history = page.between("<ol class=\"history\">", "</ol>");
    assert!(history.contains("<strong>Imported</strong>"), "{history}");
    assert!(
        history.contains("the system administrator, <time datetime=\"2026-12-01T12:00:00Z\""),
        "{history}"
    );

    let form = [("do", "reserve"), ("until", "2026-12-24")];
    clerk.post("/animals/1/order", &form).await.expect(303);
    let page = clerk.get("/orders/1").await.expect(200);
    assert!(!page.text.contains(">in less than a minute<"), "{page:?}");
    let form = [
        ("version", "1"),
        ("until", "2026-12-31"),
        ("until-offset", "-60"),
    ];
    clerk.post("/orders/1/change", &form).await.expect(303);
    let page = clerk.get("/animals/1").await.expect(200);
    // The script writes these times in the zone of the device.
    let ends = "Reserved until: <del><time datetime=\"2026-12-24T23:59:59Z\" data-exact>24\u{a0}December\u{a0}2026, 23:59 UTC</time></del> \
        → <ins><time datetime=\"2026-12-31T22:59:59Z\" data-exact>31\u{a0}December\u{a0}2026, 22:59 UTC</time></ins>";
    assert!(page.text.contains(ends), "{page:?}");
}

#[tokio::test]
async fn many_reservations_end_with_the_day_that_was_chosen() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for name in ["Rex", "Max"] {
        add(&mut clerk, name, "available").await;
    }
    let page = clerk.get("/animals").await.expect(200);
    assert!(
        page.text.contains("type=\"date\" value=\"2026-12-15\""),
        "{page:?}"
    );
    let two = [("do", "reserve"), ("pet", "1:1"), ("pet", "2:1")];
    let page = clerk.post("/animals/selected", &two).await.expect(200);
    assert!(page.text.contains("Enter today or a later day"), "{page:?}");
    let day = [("until", "2026-12-24"), ("until-offset", "60")];
    agree(&mut clerk, "/animals/selected", &[&two[..], &day].concat()).await;
    let (orders, _) = shop
        .store
        .list_orders(&OrderQuery::default())
        .await
        .unwrap();
    let ends: Vec<_> = orders
        .iter()
        .map(|order| order.expires_at.unwrap().to_string())
        .collect();
    assert_eq!(ends, ["2026-12-25T00:59:59Z"; 2]);
}

#[tokio::test]
async fn the_activity_names_animals_and_says_what_was_replaced() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    add(&mut manager, "Rex", "available").await;
    let form = [("do", "reserve"), ("until", "2026-12-24")];
    manager.post("/animals/1/order", &form).await.expect(303);
    assert!(
        manager
            .get("/animals/1")
            .await
            .text
            .contains("Reserved (order 1).")
    );
    let form = [("version", "1"), ("until", "2026-12-31")];
    manager.post("/orders/1/change", &form).await.expect(303);
    for label in ["Dogs", "Good dogs"] {
        agree(
            &mut manager,
            "/categories",
            &[("label", label), ("number", "1")],
        )
        .await;
    }
    let page = manager.get("/activity").await.expect(200);
    for shown in [
        "Category added or renamed</td>",
        "Category renamed</td>",
        "Extended</td>",
        "<a href=\"/orders/1\">Order 1</a>, <a href=\"/animals/1\"><bdi>Rex</bdi></a></td>",
    ] {
        assert!(page.text.contains(shown), "{shown}: {page:?}");
    }
    assert!(!page.text.contains(">Animal 1<"), "{page:?}");
    assert!(
        manager
            .get("/animals/1")
            .await
            .text
            .contains("<strong>Extended</strong>")
    );
}

#[tokio::test]
async fn a_search_finds_any_word_of_a_name_and_a_part_of_the_reference_of_an_open_order() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (name, reference) in [
        ("*Seth", "I-2026-1"),
        ("Old Seth II", "I-2026-22"),
        ("Rex", ""),
    ] {
        let path = add(&mut clerk, name, "available").await;
        if !reference.is_empty() {
            let version = clerk.get(&path).await.hidden("version");
            let form = [
                ("until", "2026-12-24"),
                ("reference", reference),
                ("version", &version),
            ];
            clerk
                .post(&format!("{path}/order"), &form)
                .await
                .expect(303);
        }
    }
    let page = clerk.get("/animals?q=seth").await.expect(200).text;
    assert!(
        page.contains("<p class=\"muted\">2 animals · Newest first"),
        "{page}"
    );
    assert_eq!(
        walk(&mut clerk, "/animals?q=seth").await,
        ["Old Seth II", "*Seth"]
    );
    for (typed, found) in [("2026", 2), ("i-2026-2", 1), ("I-2026-1", 1), ("7", 0)] {
        let page = clerk
            .get(&format!("/orders?q={typed}&status=all"))
            .await
            .expect(200);
        assert_eq!(
            page.text.matches("href=\"/orders/").count(),
            found,
            "{typed}: {page:?}"
        );
    }
    // A closed order is found in the same way.
    clerk
        .post("/orders/1/cancel", &[("reason", "")])
        .await
        .expect(303);
    for (typed, found) in [("2026", 2), ("I-2026-1", 1)] {
        let page = clerk
            .get(&format!("/orders?q={typed}&status=all"))
            .await
            .expect(200);
        assert_eq!(
            page.text.matches("href=\"/orders/").count(),
            found,
            "{typed}: {page:?}"
        );
    }
}
