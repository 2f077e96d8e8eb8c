//! What the fields of forms accept, and how they show what is wrong.

use hyper::Method;
use petstore_domain::{
    PetId, Role,
    store_area::{OrderId, StorePet},
};

use super::browser::{Browser, Page, Shop};

async fn add(clerk: &mut Browser<'_>, category: &str) -> Page {
    let form = [
        ("name", "Rex"),
        ("category", category),
        ("status", "available"),
    ];
    clerk.post("/add", &form).await
}

async fn pet(shop: &Shop, id: i64) -> StorePet {
    shop.store
        .get_store_pet(PetId::new(id).unwrap())
        .await
        .unwrap()
        .unwrap()
}

#[tokio::test]
async fn a_category_is_found_by_its_name_before_its_number() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for (label, number) in [("Dogs", "1"), ("7", "-2")] {
        let form = [("label", label), ("number", number)];
        clerk.post("/categories", &form).await.expect(303);
    }
    let found = [
        ("Dogs", 1),
        ("dogs", 1),
        ("1", 1),
        ("7", -2),
        ("8", 8),
        ("-8", -8),
        ("Category 9", 9),
    ];
    for (id, (typed, category)) in (1..).zip(found) {
        assert_eq!(
            add(&mut clerk, typed).await.next(),
            format!("/animals/{id}"),
            "{typed}"
        );
        assert_eq!(pet(&shop, id).await.category_id, category, "{typed}");
    }
    for typed in ["", "Cats", "1.5", "99999999999999999999"] {
        let page = add(&mut clerk, typed).await.expect(422);
        assert!(
            page.text.contains("<a href=\"#category\">"),
            "{typed}: {page:?}"
        );
    }
}

#[tokio::test]
async fn a_reservation_ends_with_the_day_of_the_reader() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    // At noon of 1 December.
    for (day, offset, end) in [
        ("2026-12-01", "", Some("2026-12-01T23:59:59Z")),
        // An hour east of Greenwich, it is that time already.
        ("2026-12-06", "-60", Some("2026-12-06T22:59:59Z")),
        ("2026-12-01", "-780", None),
        // No zone has this offset, so the day ends in UTC.
        (
            "2026-12-06",
            "-9223372036854775808",
            Some("2026-12-06T23:59:59Z"),
        ),
        ("", "", None),
        ("2026-11-30", "", None),
        ("x", "", None),
        ("2028-12-06", "", None),
    ] {
        let path = add(&mut clerk, "1").await.next().to_owned();
        let form = [("do", "reserve"), ("until", day), ("until-offset", offset)];
        let page = clerk.post(&format!("{path}/order"), &form).await;
        let id = path.rsplit_once('/').unwrap().1.parse().unwrap();
        let order = match pet(&shop, id).await.order_id {
            Some(id) => shop.store.get_order(id).await.unwrap(),
            None => None,
        };
        let ends = order.map(|order| order.expires_at.unwrap().to_string());
        assert_eq!(ends.as_deref(), end, "{day}");
        assert_eq!(
            page.text.contains("Enter today or a later day"),
            end.is_none(),
            "{day}"
        );
    }
    assert_eq!(pet(&shop, 2).await.order_id, OrderId::new(2));
}

#[tokio::test]
async fn an_error_is_shown_with_what_was_typed() {
    let shop = Shop::open().await;
    let page = add(&mut shop.member("Cy", Role::Clerk).await, "\"<b>")
        .await
        .expect(422);
    let input = page.between("<input id=\"category\"", ">");
    assert!(input.contains(r#"value="&quot;&lt;b&gt;""#), "{input}");
    assert!(
        input.contains(r#"aria-describedby="category-hint category-error" aria-invalid="true""#)
    );
    let error = r#"<p class="error" id="category-error">There is no category “&quot;&lt;b&gt;”."#;
    assert!(page.text.contains(error), "{page:?}");
}

#[tokio::test]
async fn a_number_that_no_category_has_is_asked_about() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let form = [("name", "Rex"), ("category", "95"), ("status", "available")];
    let page = clerk.send(Method::POST, "/add", &form).await.expect(422);
    assert!(page.text.contains("There is no category 95."), "{page:?}");
    assert!(
        page.text
            .contains("<button name=\"new-category\" value=\"yes\">"),
        "{page:?}"
    );
    let anyway = [form[0], form[1], form[2], ("new-category", "yes")];
    assert_eq!(
        clerk.send(Method::POST, "/add", &anyway).await.next(),
        "/animals/1"
    );
    // Now an animal has it.
    assert_eq!(
        clerk.send(Method::POST, "/add", &form).await.next(),
        "/animals/2"
    );
}
