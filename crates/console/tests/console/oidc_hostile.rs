//! What a provider, or somebody in its name, may say that lets nobody in: a table, each line refused. Each
//! was seen to be accepted without its check (`docs/maintainers/console-security.md`).

use std::time::Duration;

use petstore_domain::Role;
use serde_json::{Value, json};

use super::{
    browser::{Page, Shop},
    provider::{PRIVATE, Says, ana, manager, response},
    provider_keys::Signing,
};

const DISCOVERY: &str = "/.well-known/openid-configuration";

/// Whether a browser was let in that was outside before. It is told why not, on a page to sign in.
fn is_let_in(shop: &Shop, page: &Page) -> bool {
    let sessions = shop
        .database()
        .execute("DELETE FROM staff_sessions", [])
        .unwrap();
    let is_page =
        [403, 503].contains(&page.status.as_u16()) && page.text.contains("role=\"alert\"");
    sessions > 0 || !is_page
}

/// Sets the claim of the next tokens.
fn claim(name: &'static str, value: Value) -> impl FnOnce(&mut Says) {
    move |says| {
        says.claims = Box::new(move |claims| {
            if value.is_null() {
                claims.as_object_mut().unwrap().remove(name);
            } else {
                claims[name] = value.clone();
            }
        });
    }
}

/// Sets what the document about the provider says.
fn document(name: &'static str, value: Value) -> impl FnOnce(&mut Says) {
    move |says| says.documents.get_mut(DISCOVERY).unwrap()[name] = value
}

/// The document with the public key of the provider, changed.
fn key(change: impl FnOnce(&mut Value)) -> impl FnOnce(&mut Says) {
    move |says| {
        let mut key = says.jwk();
        change(&mut key);
        says.documents
            .insert("/keys".to_owned(), json!({"keys": [key]}));
    }
}

type Lie = (&'static str, Box<dyn FnOnce(&mut Says)>);

/// What the provider says wrong.
fn lies(url: &str) -> Vec<Lie> {
    [of_claims(url), of_keys(), of_documents(url)]
        .into_iter()
        .flatten()
        .collect()
}

fn lie(name: &'static str, change: impl FnOnce(&mut Says) + 'static) -> Lie {
    (name, Box::new(change))
}

fn of_claims(url: &str) -> Vec<Lie> {
    let now = 1_796_126_400;
    let slash = format!("{url}/");
    vec![
        lie(
            "token of another issuer",
            claim("iss", json!("https://other.example")),
        ),
        lie("token with a slash", claim("iss", json!(slash))),
        lie("no nonce", claim("nonce", json!(null))),
        lie("another nonce", claim("nonce", json!("x"))),
        lie("another audience", claim("aud", json!("other"))),
        lie("no audience", claim("aud", json!([]))),
        lie("many audiences", claim("aud", json!(["shop", "other"]))),
        lie("another party", claim("azp", json!("other"))),
        lie("expired", claim("exp", json!(now - 60))),
        lie("from the future", claim("iat", json!(now + 61))),
        lie("an old token", claim("iat", json!(now - 661))),
        lie("a proof in the future", claim("auth_time", json!(now + 61))),
        lie("nobody", claim("sub", json!(null))),
        lie("an empty subject", claim("sub", json!(""))),
        lie("a long subject", claim("sub", json!("x".repeat(256)))),
        lie("no role", claim("groups", json!(["clerk", "managers "]))),
    ]
}

fn of_keys() -> Vec<Lie> {
    let mut many = vec![json!({}); 10_000];
    vec![
        lie("alg none", |says| {
            key(|_| {})(says);
            says.signing = Signing::None;
        }),
        lie("HS256 with the public key", |says| {
            says.signing = Signing::Rs256;
            key(|_| {})(says);
            says.signing = Signing::Hs256;
        }),
        lie("an algorithm that the key is not for", |says| {
            says.signing = Signing::Rs256;
            key(|key| key["alg"] = json!("PS256"))(says);
        }),
        lie("a key for encryption", key(|key| key["use"] = json!("enc"))),
        lie(
            "a key with another id",
            key(|key| key["kid"] = json!("other")),
        ),
        lie("another key with the same id", |says| {
            key(|_| {})(says);
            says.key.1 += 1;
        }),
        lie("no id among several keys", |says| {
            let keys = [
                says.jwk(),
                json!({"kty": "OKP", "crv": "Ed25519", "x": "AAAA", "kid": "b"}),
            ];
            says.documents
                .insert("/keys".to_owned(), json!({"keys": keys}));
            says.header = Box::new(|header| {
                header.as_object_mut().unwrap().remove("kid");
            });
        }),
        lie("an extension", |says| {
            says.header = Box::new(|header| header["crit"] = json!(["b64"]));
        }),
        lie("10,000 keys", move |says| {
            many[0] = says.jwk();
            says.documents
                .insert("/keys".to_owned(), json!({"keys": many}));
        }),
    ]
}

fn of_documents(url: &str) -> Vec<Lie> {
    let slash = format!("{url}/");
    vec![
        lie(
            "another issuer",
            document("issuer", json!("https://other.example")),
        ),
        lie("the issuer with a slash", document("issuer", json!(slash))),
        lie("10 MB", |says| {
            let mut body = says.documents[DISCOVERY].to_string().into_bytes();
            body.resize(10 << 20, b' ');
            says.raw
                .insert(DISCOVERY.to_owned(), response("200 OK", "", &body));
        }),
        lie("a redirect", |says| {
            says.documents
                .insert("/there".to_owned(), says.documents[DISCOVERY].clone());
            let body = says.documents[DISCOVERY].to_string();
            let redirect = response("302 Found", "Location: /there\r\n", body.as_bytes());
            says.raw.insert(DISCOVERY.to_owned(), redirect);
        }),
        lie("no JSON", |says| {
            says.raw
                .insert(DISCOVERY.to_owned(), response("200 OK", "", b"<html>"));
        }),
        lie("an error", |says| {
            let body = says.documents[DISCOVERY].to_string();
            let error = response("500 Internal Server Error", "", body.as_bytes());
            says.raw.insert(DISCOVERY.to_owned(), error);
        }),
        lie("no token", |says| {
            says.raw.insert(
                "/token".to_owned(),
                response("200 OK", "", b"{\"id_token\": 1}"),
            );
        }),
        lie("half a token", |says| {
            says.raw.insert(
                "/token".to_owned(),
                response("200 OK", "", b"{\"id_token\": \"a.b\"}"),
            );
        }),
    ]
}

#[tokio::test]
async fn whatever_a_provider_says_wrong_lets_nobody_in() {
    let mut accepted = Vec::new();
    let (mut shop, _) = Shop::with_provider().await;
    for at in 0..lies("").len() {
        // Each begins as if the provider had said nothing before.
        let provider;
        (shop, provider) = shop.and_provider(|_| {}).await;
        let (name, lie) = lies(&provider.url).swap_remove(at);
        provider.now_says(lie);
        let mut browser = shop.browser();
        let mut page = browser.get("/sign-in/provider").await;
        if page.status == 303 {
            let back = provider.authorize(page.next(), &ana());
            page = browser.get(&back).await;
        }
        if is_let_in(&shop, &page) {
            accepted.push(name);
        }
    }
    assert_eq!(accepted, Vec::<&str>::new());
}

#[tokio::test]
async fn a_response_counts_once_in_its_browser_and_from_its_issuer() {
    let (shop, provider) = Shop::with_provider().await;
    provider.now_says(|says| says.is_careless = true);
    let mut accepted = Vec::new();
    let mut check = |name: &'static str, page: Page| {
        if is_let_in(&shop, &page) {
            accepted.push(name);
        }
    };
    let state_of = |back: &str| {
        back.split("state=")
            .nth(1)
            .unwrap()
            .split('&')
            .next()
            .unwrap()
            .to_owned()
    };
    let iss = form_urlencoded::byte_serialize(provider.url.as_bytes()).collect::<String>();
    for (name, other) in [
        ("another issuer", "https%3A%2F%2Fother.example".to_owned()),
        ("a slash", format!("{iss}%2F")),
        ("no issuer", String::new()),
    ] {
        let mut browser = shop.browser();
        let back = browser.leave("/sign-in/provider", &provider, &ana()).await;
        let page = browser
            .get(&back.replace(&format!("&iss={iss}"), &format!("&iss={other}")))
            .await;
        check(name, page);
        let back = browser.leave("/sign-in/provider", &provider, &ana()).await;
        let page = browser.get(&back.replace(&format!("&iss={iss}"), "")).await;
        check("without an issuer", page);
    }
    // The attacker's response in the browser of a victim, with and without a sign-in that began.
    let mut attacker = shop.browser();
    let back = attacker.leave("/sign-in/provider", &provider, &ana()).await;
    check("login CSRF", shop.browser().get(&back).await);
    let mut victim = shop.browser();
    let own = victim
        .leave("/sign-in/provider", &provider, &manager())
        .await;
    check("another browser's state", victim.get(&back).await);
    // The victim's code with the attacker's state.
    let mixed = own.replace(&state_of(&own), &state_of(&back));
    check("another browser's code", attacker.get(&mixed).await);
    for state in ["", "x"] {
        let mut browser = shop.browser();
        let back = browser.leave("/sign-in/provider", &provider, &ana()).await;
        let page = browser.get(&back.replace(&state_of(&back), state)).await;
        check("no state", page);
    }
    // A cookie that the service has not made.
    let mut forged = shop.browser();
    let back = forged.leave("/sign-in/provider", &provider, &ana()).await;
    let cookie = forged.cookies["petstore-8081-provider"].clone();
    let changed = cookie.replacen('.', "0.", 1);
    assert_ne!(cookie, changed);
    forged
        .cookies
        .insert("petstore-8081-provider".to_owned(), changed);
    check("a forged cookie", forged.get(&back).await);
    let earliest = format!("x.{}.0.Lw", i64::MIN);
    forged
        .cookies
        .insert("petstore-8081-provider".to_owned(), earliest);
    check("a cookie of the earliest moment", forged.get(&back).await);
    let mut stopped = shop.browser();
    let back = stopped.leave("/sign-in/provider", &provider, &ana()).await;
    let back = back.replace("code=", "error=access_denied&x=");
    check("stopped there", stopped.get(&back).await);
    let mut late = shop.browser();
    let back = late.leave("/sign-in/provider", &provider, &ana()).await;
    shop.clock.advance(Duration::from_mins(10));
    provider.now_says(|says| {
        says.claims = Box::new(|claims| {
            claims["iat"] = json!(1_796_126_400 + 600);
            claims["exp"] = json!(1_796_126_400 + 900);
        });
    });
    check("too late", late.get(&back).await);
    assert_eq!(accepted, Vec::<&str>::new());
    // A response that was completed, replayed with its cookie at a provider that takes a code twice.
    let mut browser = shop.browser();
    let back = browser.leave("/sign-in/provider", &provider, &ana()).await;
    let cookies = browser.cookies.clone();
    browser.get(&back).await.expect(303);
    browser.cookies = cookies;
    let page = browser.get(&back).await.expect(403);
    assert!(page.text.contains("already completed"), "{page:?}");
    assert_eq!(shop.store.list_sessions(None).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_sign_in_leads_only_to_pages_of_the_console() {
    let (shop, provider) = Shop::with_provider().await;
    for next in [
        "https%3A%2F%2Fevil.example",
        "%2F%2Fevil.example",
        "%2F%5Cevil.example",
        "%2F%09%2Fevil.example",
        "%2Fnowhere",
        "javascript%3Aalert(1)",
        "%2Fsign-out",
    ] {
        let mut browser = shop.browser();
        let path = format!("/sign-in/provider?next={next}");
        let back = browser.leave(&path, &provider, &ana()).await;
        assert_eq!(browser.get(&back).await.next(), "/", "{next}");
    }
}

#[tokio::test]
async fn several_pages_of_one_browser_can_lead_to_the_provider_at_once() {
    let (shop, provider) = Shop::with_provider().await;
    let mut browser = shop.browser();
    let first = browser
        .leave("/sign-in/provider?next=%2Forders", &provider, &ana())
        .await;
    let second = browser
        .leave("/sign-in/provider?next=%2Fanimals", &provider, &ana())
        .await;
    assert_eq!(browser.get(&first).await.next(), "/orders");
    assert_eq!(browser.get(&second).await.next(), "/animals");
    assert!(!browser.cookies.contains_key("petstore-8081-provider"));
    // Not without end.
    for _ in 0..20 {
        browser.get("/sign-in/provider").await.expect(303);
    }
    let cookie = &browser.cookies["petstore-8081-provider"];
    assert_eq!(cookie.split('~').count(), 4);
    let page = browser
        .get(&format!(
            "/sign-in/provider?next=%2Forders%3Fq%3D{}",
            "x".repeat(3000)
        ))
        .await;
    assert!(
        page.field("set-cookie").len() < 4096 && page.field("set-cookie").contains("SameSite=Lax")
    );
}

#[tokio::test]
async fn clocks_may_be_a_minute_apart() {
    let (shop, provider) = Shop::with_provider().await;
    for (claim, seconds) in [("iat", 60), ("exp", -59), ("auth_time", 60)] {
        provider.now_says(|says| {
            says.claims = Box::new(move |claims| claims[claim] = json!(1_796_126_400 + seconds));
        });
        shop.browser()
            .sign_in_at(&provider, &ana())
            .await
            .expect(303);
    }
}

#[tokio::test]
async fn endpoints_are_safe_and_not_behind_the_wall() {
    let (mut shop, _) = Shop::with_provider().await;
    for (name, endpoint, is_refused) in [
        ("jwks_uri", format!("https://{PRIVATE}/keys"), true),
        ("token_endpoint", format!("https://{PRIVATE}/token"), true),
        (
            "jwks_uri",
            "https://169.254.169.254/latest".to_owned(),
            true,
        ),
        ("token_endpoint", "https://[fd00::1]/token".to_owned(), true),
        (
            "token_endpoint",
            "http://other.example/token".to_owned(),
            true,
        ),
        (
            "authorization_endpoint",
            "http://other.example/authorize".to_owned(),
            true,
        ),
        (
            "authorization_endpoint",
            "javascript:alert(1)".to_owned(),
            true,
        ),
        // A browser may go there.
        (
            "authorization_endpoint",
            "https://other.example/authorize".to_owned(),
            false,
        ),
    ] {
        let provider;
        (shop, provider) = shop.and_provider(|_| {}).await;
        provider.documents(name, json!(endpoint));
        let mut browser = shop.browser();
        let page = browser.get("/sign-in/provider").await;
        if name == "token_endpoint" && page.status == 303 {
            let back = provider.authorize(page.next(), &ana());
            let page = browser.get(&back).await;
            assert_eq!(page.status, 403, "{name} {endpoint} {page:?}");
        } else {
            assert_eq!(
                page.status.as_u16(),
                if is_refused { 403 } else { 303 },
                "{endpoint}"
            );
        }
    }
    let (shop, provider) = Shop::with_provider().await;
    provider.documents("end_session_endpoint", json!("http://other.example/end"));
    let mut browser = shop.browser();
    browser.sign_in_at(&provider, &ana()).await.expect(303);
    assert_eq!(browser.post("/sign-out", &[]).await.next(), "/sign-in");
}

#[tokio::test]
async fn a_refusal_is_recorded_and_its_cause_is_not_shown() {
    let (shop, provider) = Shop::with_provider().await;
    shop.member("Max", Role::Manager).await;
    provider.now_says(claim("aud", json!("other-client-<b>")));
    let page = shop
        .browser()
        .sign_in_at(&provider, &ana())
        .await
        .expect(403);
    assert!(
        !page.text.contains("aud") && page.text.contains("could not be accepted"),
        "{page:?}"
    );
    assert!(
        shop.acts()
            .await
            .contains(&"staff.sign_in_failed staff by clock".to_owned())
    );
    let rejected = "petstore_console_sign_ins_total{method=\"provider\",result=\"rejected\"} 1";
    assert!(shop.api.metrics().contains(rejected));
}
