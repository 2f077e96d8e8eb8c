//! At the counter: lists that agree with their counts, times, what failed forms keep, and words.

use petstore::{console::ConsoleSettings, domain::Role};

use crate::browser::{Browser, Page, Shop};

/// Adds an animal, and returns the path of its page.
async fn add(clerk: &mut Browser<'_>, name: &str, status: &str) -> String {
    let form = [("name", name), ("category", "1"), ("status", status)];
    clerk.post("/add", &form).await.next().to_owned()
}

/// The names on all pages of a list, in order.
async fn walk(browser: &mut Browser<'_>, path: &str) -> Vec<String> {
    let (mut names, mut next) = (Vec::new(), Some(path.to_owned()));
    while let Some(path) = next {
        let page = browser.get(&path).await.expect(200);
        let rows = page.text.split("<td class=\"first\">").skip(1);
        names.extend(rows.map(|row| between(row, "<bdi>", "</bdi>").to_owned()));
        let pages = page.text.split_once("<div class=\"pages").map_or("", |(_, pages)| pages);
        let link = pages.split("href=\"").find(|link| link.contains(">Next page"));
        next = link.map(|link| link.split_once('"').unwrap().0.replace("&amp;", "&"));
    }
    names
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before}: {text}"));
    rest.split_once(after).unwrap().0
}

#[tokio::test]
async fn each_number_on_the_page_today_leads_to_a_list_with_as_many_rows() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let statuses = ["available", "sold", "pending", "available", "available"];
    for (number, status) in (10..78).zip(statuses.into_iter().cycle()) {
        let path = add(&mut clerk, &format!("Pip {number}"), status).await;
        if number % 20 == 0 {
            let form = [("version", "1"), ("why", "other")];
            clerk.post(&format!("{path}/withdraw"), &form).await.expect(303);
        }
    }
    let today = clerk.get("/").await.expect(200);
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
        let names = walk(&mut clerk, &format!("/animals{search}")).await;
        assert!(names.is_sorted() && names.len() == rows[0] + rows[1], "{search}: {names:?}");
        let join = if search.is_empty() { '?' } else { '&' };
        let names = walk(&mut clerk, &format!("/animals{search}{join}status=all")).await;
        assert_eq!(names.len(), all, "{search}");
    }
    // A customer brings a sold animal back: the first page finds it, and the list offers to.
    assert!(today.text.contains(r#"<input type="hidden" name="status" value="all">"#));
    let page: Page = clerk.get("/animals?q=pip+11").await.expect(200);
    assert!(page.text.contains(r#"<a href="/animals?q=pip+11&amp;status=all">"#), "{page:?}");
}

#[tokio::test]
async fn an_order_has_the_name_of_the_store() {
    let store_name = Some("Tails & Co".to_owned());
    let shop = Shop::with(ConsoleSettings { store_name, ..ConsoleSettings::default() }).await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    add(&mut clerk, "Rex", "available").await;
    clerk.post("/animals/1/order", &[("do", "sell")]).await.expect(303);
    let page = clerk.get("/orders/1").await.expect(200);
    assert!(
        page.text.contains("<p class=\"print\"><strong>Tails &amp; Co</strong></p>"),
        "{page:?}"
    );
}
