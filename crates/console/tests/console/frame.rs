//! What is around every page: the menu, the names, and what the script follows.

use futures_util::StreamExt;
use http_body_util::BodyExt;
use petstore_app::StoreOptions;
use petstore_console::ConsoleSettings;
use petstore_domain::{
    Actor, Clock, Role, WriteContext,
    store_area::{Currency, Profile, StoreName},
};

use super::browser::Shop;

impl Shop {
    /// With these options about the store.
    pub(crate) async fn of(store: StoreOptions) -> Self {
        Self::with(ConsoleSettings {
            store,
            ..ConsoleSettings::default()
        })
        .await
    }
}

#[tokio::test]
async fn the_menu_shows_what_a_role_may_do_and_where_the_page_is() {
    let shop = Shop::open().await;
    let viewer = shop
        .member("Vi", Role::Viewer)
        .await
        .get("/orders")
        .await
        .expect(200);
    let manager = shop
        .member("Ana", Role::Manager)
        .await
        .get("/orders")
        .await
        .expect(200);
    assert!(
        viewer
            .text
            .contains(r#"<a href="/orders" aria-current="page">Orders</a>"#)
    );
    assert_eq!(viewer.text.matches(r#"aria-current="page""#).count(), 1);
    for path in ["/add", "/activity", "/settings"] {
        let link = format!(r#"href="{path}""#);
        assert!(
            !viewer.text.contains(&link) && manager.text.contains(&link),
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_console_leads_to_the_public_pages_of_the_store_and_of_an_animal_that_has_one() {
    for window in [None, Some("https://animals.example".to_owned())] {
        let settings = ConsoleSettings {
            window: window.clone(),
            ..ConsoleSettings::default()
        };
        let shop = Shop::with(settings).await;
        let mut clerk = shop.member("Anna", Role::Clerk).await;
        for status in ["available", "sold"] {
            let form = [("name", "Luna"), ("category", "1"), ("status", status)];
            let path = clerk.post("/add", &form).await.next().to_owned();
            let page = clerk.get(&path).await.expect(200);
            let has = |link: &str| {
                page.text
                    .contains(&format!("href=\"https://animals.example{link}\""))
            };
            assert_eq!(has(""), window.is_some(), "{page:?}");
            assert_eq!(
                has("/animals/1"),
                window.is_some() && status == "available",
                "{page:?}"
            );
        }
    }
}

#[tokio::test]
async fn the_name_and_the_currency_of_the_profile_win_over_the_options_at_the_next_request() {
    let (name, currency) = (Some("Paws".to_owned()), Currency::new("EUR"));
    let shop = Shop::of(StoreOptions {
        name,
        currency,
        ..StoreOptions::default()
    })
    .await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let form = [("name", "Luna"), ("category", "1"), ("status", "available")];
    let path = clerk.post("/add", &form).await.next().to_owned();
    let profile = Profile {
        name: StoreName::new("Claws".to_owned()),
        currency: Currency::new("GBP"),
        ..Profile::default()
    };
    for (profile, name, currency) in [
        (Profile::default(), "Paws", "EUR"),
        (profile, "Claws", "GBP"),
    ] {
        let context = WriteContext::new(Actor::Command, shop.clock.now());
        petstore_testing::profile::set(&*shop.store, context, profile).await;
        let page = clerk.get(&path).await.expect(200);
        assert!(
            page.text.contains(&format!(" – {name}</title>")),
            "{page:?}"
        );
        assert!(
            page.text.contains(&format!("Price ({currency})")),
            "{page:?}"
        );
        let stranger = shop.browser().get("/sign-in").await.expect(200);
        assert!(
            stranger
                .text
                .contains(&format!("<title>Sign in – {name}</title>")),
            "{stranger:?}"
        );
    }
}

#[tokio::test]
async fn texts_of_people_are_never_markup_and_an_animal_is_followed_by_its_number() {
    let name = Some("<b>".to_owned());
    let shop = Shop::of(StoreOptions {
        name,
        ..StoreOptions::default()
    })
    .await;
    let mut clerk = shop.member("<i>Anna</i>", Role::Clerk).await;
    let form = [
        ("name", "<title> "),
        ("category", "1"),
        ("status", "available"),
    ];
    let path = clerk.post("/add", &form).await.next().to_owned();
    let page = clerk.get(&path).await.expect(200);
    assert!(
        page.text.contains("&lt;b&gt;") && page.text.contains("&lt;i&gt;Anna"),
        "{page:?}"
    );
    for text in ["<b>", "<i>", "<title> "] {
        assert!(!page.text.contains(text), "{text}");
    }
    assert!(
        page.text.contains(r#"data-pet="1" data-follow"#),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_page_that_begins_to_follow_learns_what_changed_since_it_was_made() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    shop.app.journal.poll().await.unwrap();
    let page = clerk.get("/animals").await.expect(200);
    let after = page.between("data-after=\"", "\"");
    let form = [("name", "Rex"), ("category", "1"), ("status", "available")];
    clerk.post("/add", &form).await.expect(303);
    // For a page that follows already.
    shop.app.journal.poll().await.unwrap();
    let mut events = clerk
        .stream(&format!("/live?after={after}"))
        .await
        .into_data_stream();
    assert_eq!(events.next().await.unwrap().unwrap(), "data: 1\n\n");
}

#[tokio::test]
async fn the_logo_of_the_store_has_a_file_in_the_console_for_strangers_too() {
    let shop = Shop::open().await;
    let picture = petstore_testing::pictures::png(60, 30);
    let new = petstore_photos::make_logo(&picture, petstore_photos::Format::Png).unwrap();
    let path = new.logo.path();
    shop.browser().get(&path).await.expect(404);
    let context = WriteContext::new(Actor::Command, shop.clock.now());
    petstore_testing::profile::set_logo(&*shop.store, context, Some(new)).await;
    let file = shop.browser().get(&path).await.expect(200);
    assert_eq!(file.headers["content-type"], "image/png");
    assert_eq!(
        file.headers["cache-control"],
        "public, max-age=31536000, immutable"
    );
}
