//! Strangers who invent codes of the provider, and what the provider says about itself while many ask for it.

use std::time::Duration;

use futures_util::future::join_all;
use petstore_console::ConsoleSettings;
use petstore_domain::{Networks, Role};
use serde_json::{Value, json};

use super::{
    browser::{Browser, Shop},
    provider::{FakeProvider, ana, manager},
};

/// A shop and its provider, with a proxy on this machine that names the addresses of browsers.
async fn behind_a_proxy() -> (Shop, FakeProvider) {
    let url = "http://localhost:8081".parse().ok();
    let trusted_proxies: Networks = ["127.0.0.1".parse().unwrap()].into_iter().collect();
    let settings = ConsoleSettings {
        url,
        trusted_proxies,
        ..ConsoleSettings::default()
    };
    Shop::with(settings).await.and_provider(|_| {}).await
}

/// A browser at this address.
fn at<'s>(shop: &'s Shop, address: &str) -> Browser<'s> {
    let mut browser = shop.browser();
    browser.fields.insert("x-forwarded-for", address.to_owned());
    browser
}

/// The path of a callback with a code that the provider has not made.
async fn with_invented_code(browser: &mut Browser<'_>, provider: &FakeProvider) -> String {
    let back = browser.leave("/sign-in/provider", provider, &ana()).await;
    back.replace("code=code-", "code=invented-")
}

/// The number of codes that the provider was asked about.
fn asked_codes(provider: &FakeProvider) -> usize {
    provider
        .says
        .lock()
        .unwrap()
        .requests
        .iter()
        .filter(|path| *path == "/token")
        .count()
}

#[tokio::test]
async fn people_sign_in_beside_connections_that_invent_codes() {
    let (shop, provider) = behind_a_proxy().await;
    let mut strangers = Vec::new();
    for _ in 0..12 {
        let mut browser = at(&shop, "192.0.2.1");
        let back = with_invented_code(&mut browser, &provider).await;
        strangers.push((browser, back));
    }
    provider.now_says(|says| says.holds_invented_codes = true);
    let attack = join_all(
        strangers
            .iter_mut()
            .map(|(browser, back)| browser.get(back)),
    );
    let honest = async {
        let both = async {
            while asked_codes(&provider) < 2 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), both)
            .await
            .unwrap();
        for _ in 0..10 {
            at(&shop, "192.0.2.2")
                .sign_in_at(&provider, &ana())
                .await
                .expect(303);
        }
    };
    tokio::select! {
        _ = attack => panic!("the provider let nobody wait"),
        () = honest => {}
    }
    // Two of one address, and those of the people.
    assert_eq!(asked_codes(&provider), 12);
}

#[tokio::test]
async fn after_many_invented_codes_an_address_asks_the_provider_no_more() {
    let (shop, provider) = behind_a_proxy().await;
    let mut known = at(&shop, "192.0.2.1");
    known.sign_in_at(&provider, &ana()).await.expect(303);
    let mut stranger = at(&shop, "192.0.2.1");
    let before = asked_codes(&provider);
    for _ in 0..600 {
        let back = with_invented_code(&mut stranger, &provider).await;
        stranger.get(&back).await.expect(403);
    }
    let back = with_invented_code(&mut stranger, &provider).await;
    stranger.get(&back).await.expect(429);
    assert_eq!(asked_codes(&provider) - before, 600);
    // Other addresses, and the member in a browser that is known, do not wait for this one.
    at(&shop, "192.0.2.2")
        .sign_in_at(&provider, &manager())
        .await
        .expect(303);
    known.sign_in_at(&provider, &ana()).await.expect(303);
    shop.clock.advance(Duration::from_secs(6));
    at(&shop, "192.0.2.1")
        .sign_in_at(&provider, &manager())
        .await
        .expect(303);
}

#[tokio::test]
async fn many_who_come_at_once_make_the_service_ask_once_what_the_provider_says() {
    let (shop, provider) = Shop::with_provider().await;
    let mut browsers: Vec<_> = (0..30).map(|_| shop.browser()).collect();
    let pages = join_all(
        browsers
            .iter_mut()
            .map(|browser| browser.get("/sign-in/provider")),
    )
    .await;
    for page in pages {
        page.expect(303);
    }
    assert_eq!(provider.requests(), 2);
    // A failure is that of all who waited for it, and of nobody after it.
    shop.clock.advance(Duration::from_hours(1));
    let broken = b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n".to_vec();
    provider.now_says(|says| {
        says.raw.insert("/keys".to_owned(), broken);
    });
    let pages = join_all(
        browsers
            .iter_mut()
            .map(|browser| browser.get("/sign-in/provider")),
    )
    .await;
    for page in pages {
        page.expect(503);
    }
    assert_eq!(provider.requests(), 4);
    // Old keys do not count for longer because the new ones have not arrived.
    browsers[0].get("/sign-in/provider").await.expect(503);
    provider.now_says(|says| says.raw.clear());
    browsers[0].get("/sign-in/provider").await.expect(303);
}

#[tokio::test]
async fn people_without_a_name_enter_however_many_there_are() {
    let (shop, provider) = Shop::with_provider().await;
    for number in 1..=32 {
        let person = json!({"sub": format!("person-{number}"), "groups": ["clerks"]});
        shop.browser()
            .sign_in_at(&provider, &person)
            .await
            .expect(303);
    }
    assert_eq!(shop.find("person-32").await.role, Role::Clerk);
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 32);
}

#[tokio::test]
async fn a_control_character_in_a_subject_or_a_session_is_an_invalid_token() {
    let (shop, provider) = Shop::with_provider().await;
    for claims in [
        json!({"sub": "a\0b"}),
        json!({"sub": "ana-1", "sid": "a\0b"}),
    ] {
        let mut person = ana();
        for (name, value) in claims.as_object().unwrap() {
            person[name] = Value::clone(value);
        }
        shop.browser()
            .sign_in_at(&provider, &person)
            .await
            .expect(403);
        let mut server = shop.browser();
        server.fields.insert("origin", String::new());
        let token = provider.logout_token("1", &claims);
        server
            .post("/sign-in/back-channel", &[("logout_token", &token)])
            .await
            .expect(400);
    }
}
