//! What is around every page: the menu, the names, and what the script follows.

use petstore::{console::ConsoleSettings, domain::Role};

use super::browser::Shop;

#[tokio::test]
async fn the_menu_shows_what_a_role_may_do_and_where_the_page_is() {
    let shop = Shop::open().await;
    let viewer = shop.member("Vi", Role::Viewer).await.get("/orders").await.expect(200);
    let manager = shop.member("Ana", Role::Manager).await.get("/orders").await.expect(200);
    assert!(viewer.text.contains(r#"<a href="/orders" aria-current="page">Orders</a>"#));
    assert_eq!(viewer.text.matches(r#"aria-current="page""#).count(), 1);
    for path in ["/add", "/activity", "/settings"] {
        let link = format!(r#"href="{path}""#);
        assert!(!viewer.text.contains(&link) && manager.text.contains(&link), "{path}");
    }
}

#[tokio::test]
async fn texts_of_people_are_never_markup_and_an_animal_is_followed_by_its_number() {
    let store_name = Some("<b>".to_owned());
    let shop = Shop::with(ConsoleSettings { store_name, ..ConsoleSettings::default() }).await;
    let mut clerk = shop.member("<i>Anna</i>", Role::Clerk).await;
    let form = [("name", "<title> "), ("category", "1"), ("status", "available")];
    let path = clerk.post("/add", &form).await.next().to_owned();
    let page = clerk.get(&path).await.expect(200);
    assert!(page.text.contains("&lt;b&gt;") && page.text.contains("&lt;i&gt;Anna"), "{page:?}");
    for text in ["<b>", "<i>", "<title> "] {
        assert!(!page.text.contains(text), "{text}");
    }
    assert!(page.text.contains(r#"data-pet="1" data-follow"#), "{page:?}");
}
