//! What the page Today of a new store shows first.

use petstore_app::StoreOptions;
use petstore_console::ConsoleSettings;
use petstore_domain::{
    Actor, Clock as _, Role, WriteContext,
    store_area::{Language, Profile, StoreName},
};

use super::browser::{Browser, Shop};

const WINDOW: &str = "http://localhost:8082";

/// All steps, as their links.
const STEPS: [&str; 5] = [
    "/settings/store",
    "/add",
    "/add#lines",
    "/settings/staff",
    "/first-steps/window",
];

async fn shop() -> Shop {
    Shop::with(ConsoleSettings {
        window: Some(WINDOW.to_owned()),
        ..ConsoleSettings::default()
    })
    .await
}

/// The links of the steps on the page Today.
async fn steps(browser: &mut Browser<'_>) -> Vec<String> {
    let page = browser.get("/").await.expect(200);
    let Some((_, steps)) = page.text.split_once("<ol class=\"steps\">") else {
        return Vec::new();
    };
    let (steps, _) = steps.split_once("</ol>").unwrap();
    steps
        .split("href=\"")
        .skip(1)
        .map(|link| link.split('"').next().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn each_first_step_of_an_empty_store_is_gone_when_it_is_done() {
    let shop = shop().await;
    let mut manager = shop.member("Mia", Role::Manager).await;
    assert_eq!(steps(&mut manager).await, STEPS);
    let profile = Profile {
        name: StoreName::new("Paws".to_owned()),
        ..Profile::default()
    };
    let context = WriteContext::new(Actor::Command, shop.clock.now());
    petstore_testing::profile::set(&*shop.store, context, profile).await;
    assert_eq!(steps(&mut manager).await, STEPS[1..]);
    let animal = [("name", "Rex"), ("category", "1"), ("status", "available")];
    manager.post("/add", &animal).await.expect(303);
    assert_eq!(steps(&mut manager).await, STEPS[2..]);
    shop.import(&["Max"]).await;
    assert_eq!(steps(&mut manager).await, STEPS[3..]);
    shop.invite("Cy", Role::Clerk).await;
    assert_eq!(steps(&mut manager).await, STEPS[4..]);
    assert_eq!(manager.get(STEPS[4]).await.next(), WINDOW);
    assert_eq!(steps(&mut manager).await, [""; 0]);
    assert!(!manager.get("/").await.text.contains("/first-steps"));
}

#[tokio::test]
async fn animals_that_are_pasted_are_an_import() {
    let shop = shop().await;
    let mut manager = shop.member("Mia", Role::Manager).await;
    manager
        .post("/categories", &[("label", "Dogs"), ("number", "1")])
        .await
        .expect(303);
    let lines = "Name\tCategory\nRex\tDogs\n";
    let page = manager
        .post("/add/preview", &[("lines", lines)])
        .await
        .expect(200);
    manager
        .submit((&page, "/add/many"), "/add/many", &[])
        .await
        .expect(303);
    assert_eq!(steps(&mut manager).await, [STEPS[0], STEPS[3], STEPS[4]]);
}

#[tokio::test]
async fn all_first_steps_are_gone_for_everybody_when_somebody_says_so() {
    let shop = shop().await;
    let mut manager = shop.member("Mia", Role::Manager).await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    clerk.post("/first-steps", &[]).await.expect(303);
    for member in [&mut manager, &mut clerk] {
        assert_eq!(steps(member).await, [""; 0]);
        // What an empty store showed before.
        assert!(
            member
                .get("/")
                .await
                .text
                .contains("There are no animals yet")
        );
    }
}

#[tokio::test]
async fn a_member_sees_only_the_first_steps_that_the_member_can_do() {
    let shop = shop().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    assert_eq!(steps(&mut clerk).await, [STEPS[1], STEPS[2], STEPS[4]]);
    for path in &STEPS[1..3] {
        clerk.get(path.split('#').next().unwrap()).await.expect(200);
    }
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    assert_eq!(steps(&mut viewer).await, [""; 0]);
    for path in ["/first-steps", STEPS[4]] {
        viewer.post(path, &[]).await;
        assert_eq!(steps(&mut clerk).await.len(), 3, "{path}");
    }
    // Without a window, and with a name from the options.
    let store = StoreOptions {
        name: Some("Paws".to_owned()),
        ..StoreOptions::default()
    };
    let shop = Shop::of(store).await;
    let mut manager = shop.member("Mia", Role::Manager).await;
    assert_eq!(steps(&mut manager).await, [STEPS[1], STEPS[2], STEPS[3]]);
}

#[tokio::test]
async fn the_first_steps_are_in_the_language_of_the_member() {
    for (language, title) in [
        (Language::English, "First steps"),
        (Language::German, "Erste Schritte"),
        (Language::French, "Premiers pas"),
        (Language::Spanish, "Primeros pasos"),
    ] {
        let shop = Shop::of(StoreOptions {
            language: Some(language),
            ..StoreOptions::default()
        })
        .await;
        let mut manager = shop.member("Mia", Role::Manager).await;
        let page = manager.get("/").await.expect(200);
        assert!(
            page.text
                .contains(&format!("<h2 id=\"steps\">{title}</h2>")),
            "{page:?}"
        );
    }
}
