//! A provider that is down, slow, or gets new keys; and sessions that it ends.

use std::time::Duration;

use futures_util::{StreamExt, stream::FuturesUnordered};
use petstore_domain::Role;
use serde_json::{Value, json};

use super::{
    browser::{Browser, PASSWORD, Page, Shop},
    provider::{FakeProvider, ana, manager, settings},
    provider_keys::Signing,
};

const BACK_CHANNEL: &str = "/sign-in/back-channel";

#[tokio::test]
async fn without_a_provider_the_page_says_so_and_passwords_still_sign_in() {
    let (shop, provider) = Shop::with_provider().await;
    shop.member("Max", Role::Manager).await;
    drop(provider);
    // Nobody listens there any more, sooner or later.
    let mut browser = shop.browser();
    let page = loop {
        let page = browser.get("/sign-in/provider").await;
        if page.status == 503 {
            break page;
        }
        shop.clock.advance(Duration::from_hours(1));
        tokio::task::yield_now().await;
    };
    assert!(page.text.contains("127.0.0.1 does not respond"), "{page:?}");
    assert!(page.text.contains("type=\"password\""), "{page:?}");
    browser.sign_in("Max", PASSWORD).await.expect(303);
    assert!(browser.is_in().await);
    let unavailable =
        "petstore_console_sign_ins_total{method=\"provider\",result=\"unavailable\"} 1";
    assert!(shop.api.metrics().contains(unavailable));
    // A stranger fills no audit trail with it.
    assert!(!shop.acts().await.iter().any(|act| act.contains("failed")));
}

#[tokio::test]
async fn a_slow_provider_is_given_up_and_asked_again_when_somebody_signs_in() {
    let (shop, provider) = Shop::with_provider().await;
    let shop = shop.at(settings(&provider.url), Duration::from_millis(200));
    provider.now_says(|says| says.is_silent = true);
    let page = shop.browser().get("/sign-in/provider").await.expect(503);
    assert!(page.text.contains("does not respond"), "{page:?}");
    provider.now_says(|says| says.is_silent = false);
    let shop = shop.at(settings(&provider.url), Duration::from_mins(1));
    shop.browser()
        .sign_in_at(&provider, &ana())
        .await
        .expect(303);
    // What it said before is enough to lead there.
    provider.now_says(|says| says.is_silent = true);
    shop.browser().get("/sign-in/provider").await.expect(303);
}

#[tokio::test]
async fn a_provider_whose_response_breaks_off_does_not_respond_and_has_not_lied() {
    let (shop, provider) = Shop::with_provider().await;
    let mut browser = shop.browser();
    let back = browser.leave("/sign-in/provider", &provider, &ana()).await;
    let part = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"id_token\":".to_vec();
    provider.now_says(|says| {
        says.raw.insert("/token".to_owned(), part);
    });
    let page = browser.get(&back).await.expect(503);
    assert!(page.text.contains("127.0.0.1 does not respond"), "{page:?}");
    // A failure of the provider is no act of the person.
    assert!(!shop.acts().await.iter().any(|act| act.contains("failed")));
}

#[tokio::test]
async fn a_flood_at_a_provider_that_does_not_respond_touches_nobody_else() {
    let (shop, provider) = Shop::with_provider().await;
    let mut member = shop.member("Max", Role::Manager).await;
    let mut begun = Vec::new();
    for _ in 0..30 {
        let mut browser = shop.browser();
        let back = browser.leave("/sign-in/provider", &provider, &ana()).await;
        begun.push((browser, back));
    }
    let before = provider.requests();
    provider.now_says(|says| says.is_silent = true);
    let coming = begun.iter_mut().map(|(browser, back)| browser.get(back));
    let mut coming: FuturesUnordered<_> = coming.collect();
    // Two are asked about and 22 wait; all others get a page at once.
    for _ in 0..6 {
        coming.next().await.unwrap().expect(503);
    }
    let mut others = shop.browser();
    others.sign_in("Max", PASSWORD).await.expect(303);
    assert!(others.is_in().await && member.is_in().await);
    assert!(provider.requests() <= before + 2);
    assert_eq!(coming.len(), 24);
}

#[tokio::test]
async fn a_provider_costs_no_other_request_anything() {
    let (shop, provider) = Shop::with_provider().await;
    let with_password = shop.member("Max", Role::Manager).await;
    let mut at_provider = shop.browser();
    at_provider
        .sign_in_at(&provider, &manager())
        .await
        .expect(303);
    let asked = provider.requests();
    let count = || shop.asked.load(std::sync::atomic::Ordering::Relaxed);
    let mut costs = Vec::new();
    for mut browser in [with_password, at_provider] {
        browser.get("/orders").await.expect(200);
        let before = count();
        browser.get("/orders").await.expect(200);
        costs.push(count() - before);
    }
    assert_eq!(costs[0], costs[1]);
    assert_eq!(provider.requests(), asked);
}

#[tokio::test]
async fn a_new_key_is_fetched_once_in_ten_seconds() {
    let (shop, provider) = Shop::with_provider().await;
    shop.browser()
        .sign_in_at(&provider, &ana())
        .await
        .expect(303);
    let first = provider.requests();
    provider.now_says(|says| says.key = ("second", 2));
    // Just fetched.
    shop.browser()
        .sign_in_at(&provider, &ana())
        .await
        .expect(403);
    shop.clock.advance(Duration::from_secs(10));
    shop.browser()
        .sign_in_at(&provider, &ana())
        .await
        .expect(303);
    let asked = |before: usize| provider.requests() - before;
    // Two tokens, and one document with its keys.
    assert_eq!(asked(first), 4);
    // Tokens of keys that do not exist make it ask no more often.
    let before = provider.requests();
    for _ in 0..20 {
        post(
            &shop,
            &provider
                .logout_token("x", &json!({"sub": "ana-1"}))
                .replacen('.', "A.", 1),
        )
        .await;
    }
    assert!(asked(before) <= 2, "{}", asked(before));
    // Another kind of key is a key like others.
    provider.now_says(|says| (says.key, says.signing) = (("third", 3), Signing::Es256));
    shop.clock.advance(Duration::from_secs(10));
    shop.browser()
        .sign_in_at(&provider, &ana())
        .await
        .expect(303);
}

async fn post(shop: &Shop, token: &str) -> Page {
    let mut server = shop.browser();
    // No browser sends it, so nothing says from which site it comes.
    server.fields.insert("origin", String::new());
    server.post(BACK_CHANNEL, &[("logout_token", token)]).await
}

/// Two browsers of one person, in two sessions there, and a member with a password.
async fn signed_in<'s>(shop: &'s Shop, provider: &FakeProvider) -> [Browser<'s>; 3] {
    let (mut first, mut second) = (shop.browser(), shop.browser());
    first.sign_in_at(provider, &ana()).await.expect(303);
    let mut person = ana();
    person["sid"] = json!("session-2");
    second.sign_in_at(provider, &person).await.expect(303);
    [first, second, shop.member("Max", Role::Manager).await]
}

#[tokio::test]
async fn the_provider_ends_a_session_or_all_of_a_person_at_once() {
    let (shop, provider) = Shop::with_provider().await;
    let [mut first, mut second, mut other] = signed_in(&shop, &provider).await;
    // A browser cannot do without saying from where it sends a form; the provider can.
    let one = provider.logout_token("1", &json!({"sub": "ana-1", "sid": "session-1"}));
    post(&shop, &one).await.expect(200);
    assert!(!first.is_in().await && second.is_in().await && other.is_in().await);
    post(
        &shop,
        &provider.logout_token("2", &json!({"sid": "session-2"})),
    )
    .await
    .expect(200);
    assert!(!second.is_in().await && other.is_in().await);
    let [mut first, mut second, _] = {
        let (mut a, mut b) = (shop.browser(), shop.browser());
        a.sign_in_at(&provider, &ana()).await.expect(303);
        b.sign_in_at(&provider, &ana()).await.expect(303);
        [a, b, shop.browser()]
    };
    post(&shop, &provider.logout_token("3", &json!({"sub": "ana-1"})))
        .await
        .expect(200);
    assert!(!first.is_in().await && !second.is_in().await && other.is_in().await);
    // Nobody whom the store knows.
    post(&shop, &provider.logout_token("4", &json!({"sub": "x"})))
        .await
        .expect(200);
    assert!(other.is_in().await);
    let ended = shop
        .acts()
        .await
        .iter()
        .filter(|act| act.starts_with("staff.sessions_ended"))
        .count();
    assert_eq!(ended, 4);
}

#[tokio::test]
async fn a_logout_token_that_is_not_one_ends_nothing() {
    let (shop, provider) = Shop::with_provider().await;
    let [mut first, ..] = signed_in(&shop, &provider).await;
    let mut accepted = Vec::new();
    let cases: [(&str, Value); 9] = [
        (
            "issuer",
            json!({"sub": "ana-1", "iss": "https://other.example"}),
        ),
        ("audience", json!({"sub": "ana-1", "aud": "other"})),
        (
            "expired",
            json!({"sub": "ana-1", "exp": 1_796_126_400 - 60}),
        ),
        ("old", json!({"sub": "ana-1", "iat": 1_796_126_400 - 661})),
        ("events", json!({"sub": "ana-1", "events": {"other": {}}})),
        ("no event", json!({"sub": "ana-1", "events": {}})),
        ("nonce", json!({"sub": "ana-1", "nonce": "x"})),
        ("nobody", json!({})),
        ("no id", json!({"sub": "ana-1", "jti": null})),
    ];
    for (number, (name, claims)) in cases.into_iter().enumerate() {
        let token = provider.logout_token(&number.to_string(), &claims);
        if post(&shop, &token).await.status != 400 || !first.is_in().await {
            accepted.push(name);
        }
    }
    let unsigned = {
        provider.now_says(|says| says.signing = Signing::None);
        provider.logout_token("none", &json!({"sub": "ana-1"}))
    };
    for token in [&unsigned, "", "a.b.c"] {
        if post(&shop, token).await.status != 400 || !first.is_in().await {
            accepted.push("unsigned");
        }
    }
    provider.now_says(|says| says.signing = Signing::EdDsa);
    // An hour later, the person has signed in again, and somebody repeats what the provider sent before.
    let token = provider.logout_token("again", &json!({"sub": "ana-1"}));
    post(&shop, &token).await.expect(200);
    first.sign_in_at(&provider, &ana()).await.expect(303);
    if post(&shop, &token).await.status != 400 || !first.is_in().await {
        accepted.push("replayed");
    }
    assert_eq!(accepted, Vec::<&str>::new());
    // Without a provider, there is nobody to ask.
    let plain = Shop::open().await;
    assert_eq!(post(&plain, &token).await.status, 404);
    assert_eq!(plain.browser().get("/sign-in/provider").await.status, 404);
    assert_eq!(
        plain
            .browser()
            .get("/sign-in/callback?code=x&state=y")
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn a_logout_that_fails_can_be_repeated_and_then_counts_once() {
    let (shop, provider) = Shop::with_provider().await;
    let [mut first, ..] = signed_in(&shop, &provider).await;
    let database = shop.database();
    let fault = "CREATE TRIGGER fault BEFORE DELETE ON staff_sessions
        BEGIN SELECT RAISE(ABORT, 'planted'); END";
    database.execute_batch(fault).unwrap();
    let token = provider.logout_token("1", &json!({"sub": "ana-1"}));
    post(&shop, &token).await.expect(500);
    assert!(first.is_in().await);
    database.execute_batch("DROP TRIGGER fault").unwrap();
    post(&shop, &token).await.expect(200);
    assert!(!first.is_in().await);
    post(&shop, &token).await.expect(400);
}

#[tokio::test]
async fn a_logout_of_one_session_ends_those_of_the_person_that_have_no_name() {
    let (shop, provider) = Shop::with_provider().await;
    let [mut first, mut second, mut other] = signed_in(&shop, &provider).await;
    let mut nameless = shop.browser();
    let mut person = ana();
    person.as_object_mut().unwrap().remove("sid");
    nameless.sign_in_at(&provider, &person).await.expect(303);
    // A session of nobody in particular is not one without a name.
    post(
        &shop,
        &provider.logout_token("1", &json!({"sid": "session-2"})),
    )
    .await
    .expect(200);
    assert!(first.is_in().await && nameless.is_in().await && !second.is_in().await);
    let token = provider.logout_token("2", &json!({"sub": "ana-1", "sid": "session-3"}));
    post(&shop, &token).await.expect(200);
    assert!(first.is_in().await && !nameless.is_in().await && other.is_in().await);
}
