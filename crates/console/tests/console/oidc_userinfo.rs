//! The claims at userinfo: when the provider is asked for them, what it may say there, and what the log says about a
//! person without a role.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
    time::Duration,
};

use petstore_domain::Role;
use serde_json::{Value, json};
use tracing::{Dispatch, subscriber::NoSubscriber};
use tracing_subscriber::fmt::MakeWriter;

use super::{
    browser::Shop,
    provider::{FakeProvider, ana, response},
    provider_keys::Signing,
};

/// How often the provider was asked for userinfo.
fn questions(provider: &FakeProvider) -> usize {
    let says = provider.says.lock().unwrap();
    let paths = says.requests.iter();
    paths.filter(|path| *path == "/userinfo").count()
}

/// A person whose token has a role and a name.
fn complete() -> Value {
    json!({
        "sub": "ana-1", "groups": ["clerks"], "email": "ana@shop.example", "email_verified": false, "name": "Ana",
    })
}

#[tokio::test]
async fn userinfo_is_asked_once_and_only_for_a_missing_name_or_claim_of_a_rule() {
    let (mut shop, _) = Shop::with_provider().await;
    for (missing, expected_questions) in [
        ("none", 0),
        ("groups", 1),
        ("email", 1),
        ("email_verified", 1),
        ("name", 1),
    ] {
        let provider;
        (shop, provider) = shop.and_provider(|_| {}).await;
        provider.userinfo(&complete());
        let mut person = complete();
        person.as_object_mut().unwrap().remove(missing);
        shop.browser()
            .sign_in_at(&provider, &person)
            .await
            .expect(303);
        assert_eq!(questions(&provider), expected_questions, "{missing}");
        let member = shop.find("Ana").await;
        assert_eq!(member.role, Role::Clerk, "{missing}");
    }
}

#[tokio::test]
async fn without_userinfo_a_person_enters_whose_token_already_gives_the_highest_role() {
    let (shop, provider) = Shop::with_provider_and(|settings| {
        settings.roles = vec![
            "groups=managers:manager".parse().unwrap(),
            "department=Shop:clerk".parse().unwrap(),
        ];
    })
    .await;
    provider.userinfo(&json!({}));
    provider.now_says(|says| {
        let failure = response("404 Not Found", "", b"");
        says.raw.insert("/userinfo".to_owned(), failure);
    });
    let person = json!({"sub": "ana-1", "groups": ["managers"], "name": "Ana"});
    shop.browser()
        .sign_in_at(&provider, &person)
        .await
        .expect(303);
    assert_eq!(shop.find("Ana").await.role, Role::Manager);
    assert_eq!(questions(&provider), 0);
}

/// Offers these claims at userinfo as a token of the present key.
fn offer_signed(provider: &FakeProvider, claims: &Value, content_type: &str) {
    provider.userinfo(&json!({}));
    provider.now_says(|says| {
        let token = says.token(claims.clone());
        let fields = format!("Content-Type: {content_type}\r\n");
        let raw = response("200 OK", &fields, token.as_bytes());
        says.raw.insert("/userinfo".to_owned(), raw);
    });
}

#[tokio::test]
async fn signed_userinfo_counts_if_its_signature_issuer_and_audience_are_right() {
    let (mut shop, _) = Shop::with_provider().await;
    let jwt = "application/jwt";
    for (change, content_type, status) in [
        (json!({}), jwt, 303),
        (json!({}), "Application/JWT; charset=utf-8", 303),
        (json!({"aud": ["other", "shop"]}), jwt, 303),
        (json!({"aud": "other"}), jwt, 403),
        (json!({"aud": null}), jwt, 403),
        (json!({"iss": "https://other.example"}), jwt, 403),
        (json!({"iss": null}), jwt, 403),
        (json!({"sub": "max-1"}), jwt, 403),
        // A token is no JSON.
        (json!({}), "application/json", 403),
    ] {
        let provider;
        (shop, provider) = shop.and_provider(|_| {}).await;
        let mut claims = complete();
        claims["iss"] = json!(provider.url);
        claims["aud"] = json!("shop");
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        offer_signed(&provider, &claims, content_type);
        let person = json!({"sub": "ana-1"});
        let page = shop.browser().sign_in_at(&provider, &person).await;
        assert_eq!(page.status, status, "{change} {content_type}: {page:?}");
    }
}

#[tokio::test]
async fn userinfo_that_another_key_or_none_has_signed_lets_nobody_in() {
    let (mut shop, _) = Shop::with_provider().await;
    let own_key = ("first", 1);
    let other_key = ("first", 2);
    for (key, signing) in [
        (other_key, Signing::EdDsa),
        (own_key, Signing::None),
        (own_key, Signing::Hs256),
    ] {
        let provider;
        (shop, provider) = shop.and_provider(|_| {}).await;
        let mut claims = complete();
        claims["iss"] = json!(provider.url);
        claims["aud"] = json!("shop");
        provider.now_says(|says| {
            says.key = key;
            says.signing = signing;
        });
        offer_signed(&provider, &claims, "application/jwt");
        provider.now_says(|says| {
            says.key = own_key;
            says.signing = Signing::EdDsa;
        });
        let person = json!({"sub": "ana-1"});
        let page = shop.browser().sign_in_at(&provider, &person).await;
        assert_eq!(page.status, 403, "{key:?} {signing:?}: {page:?}");
    }
}

#[tokio::test]
async fn userinfo_of_another_person_or_too_long_or_too_late_lets_nobody_in() {
    let (mut shop, _) = Shop::with_provider().await;
    let long_claims = json!({"sub": "ana-1", "groups": ["clerks"], "x": "x".repeat(300 << 10)});
    let redirect = response("302 Found", "Location: /there\r\n", b"");
    let denial = response("401 Unauthorized", "", b"{}");
    let html = response("200 OK", "", b"<html>");
    let says_other = json!({"sub": "max-1", "groups": ["managers"]});
    let says_nobody = json!({"groups": ["managers"]});
    let documents = [&says_other, &says_nobody, &long_claims];
    let ok = |claims: &Value| response("200 OK", "", claims.to_string().as_bytes());
    let responses = documents
        .into_iter()
        .map(ok)
        .chain([redirect, denial, html]);
    for raw in responses {
        let provider;
        (shop, provider) = shop.and_provider(|_| {}).await;
        provider.userinfo(&json!({}));
        let beginning = String::from_utf8_lossy(&raw)
            .chars()
            .take(90)
            .collect::<String>();
        provider.now_says(|says| {
            says.raw.insert("/userinfo".to_owned(), raw);
        });
        let page = shop
            .browser()
            .sign_in_at(&provider, &json!({"sub": "ana-1"}))
            .await;
        assert_eq!(page.status, 403, "{beginning}: {page:?}");
        assert_eq!(shop.store.list_staff().await.unwrap().len(), 0);
    }
}

#[tokio::test]
async fn without_userinfo_a_person_with_a_role_and_no_name_enters_and_one_without_a_claim_does_not()
{
    let (shop, provider) = Shop::with_provider_and(|settings| {
        settings.roles = vec!["groups=clerks:clerk".parse().unwrap()];
    })
    .await;
    provider.userinfo(&json!({}));
    provider.now_says(|says| {
        let failure = response("503 Service Unavailable", "", b"");
        says.raw.insert("/userinfo".to_owned(), failure);
    });
    let person = json!({"sub": "ana-1", "groups": ["clerks"], "email": "ana@shop.example"});
    shop.browser()
        .sign_in_at(&provider, &person)
        .await
        .expect(303);
    assert_eq!(shop.find("ana@shop.example").await.role, Role::Clerk);
    let page = shop
        .browser()
        .sign_in_at(&provider, &json!({"sub": "bea", "name": "Bea"}))
        .await
        .expect(503);
    assert!(page.text.contains("does not respond"), "{page:?}");
    // An address inside the wall is not asked.
    provider.documents(
        "userinfo_endpoint",
        json!("https://inside.example/userinfo"),
    );
    shop.clock.advance(Duration::from_hours(2));
    shop.browser()
        .sign_in_at(&provider, &json!({"sub": "bea", "name": "Bea"}))
        .await
        .expect(403);
}

/// The lines of the log of this thread.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn the_log_names_the_claims_of_a_person_without_a_role_and_not_their_values() {
    let (shop, provider) = Shop::with_provider().await;
    let lines = Lines::default();
    // With one subscriber only, a thread of another test that logs first would turn the line off.
    let _other_subscriber = Dispatch::new(NoSubscriber::new());
    let subscriber = tracing_subscriber::fmt()
        .with_writer(lines.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    provider.userinfo(&json!({"sub": "ana-1", "role_names": ["secret-group"], "phone": "+34 600"}));
    let person = json!({"sub": "ana-1", "roles": ["secret-role"], "name": "Secret Name"});
    let page = shop
        .browser()
        .sign_in_at(&provider, &person)
        .await
        .expect(403);
    assert!(page.text.contains("gives you no role"), "{page:?}");
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    for name in ["no --oidc-role matches", "roles", "role_names", "phone"] {
        assert!(log.contains(name), "{name}: {log}");
    }
    for value in ["secret-", "Secret Name", "+34", "ana-1"] {
        assert!(!log.contains(value), "{value}: {log}");
    }
    assert!(!page.text.contains("role_names"), "{page:?}");
    // A person with a role leaves no such line.
    shop.browser()
        .sign_in_at(&provider, &ana())
        .await
        .expect(303);
    let lines = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert_eq!(lines.matches("no --oidc-role").count(), 1, "{lines}");
}

#[tokio::test]
async fn the_log_says_which_issuer_is_right_if_only_a_slash_differs() {
    let (shop, provider) = Shop::with_provider_and(|settings| {
        let with_slash = format!("{}/", settings.issuer.as_str());
        settings.issuer = with_slash.parse().unwrap();
    })
    .await;
    let lines = Lines::default();
    // With one subscriber only, a thread of another test that logs first would turn the line off.
    let _other_subscriber = Dispatch::new(NoSubscriber::new());
    let subscriber = tracing_subscriber::fmt()
        .with_writer(lines.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let page = shop.browser().get("/sign-in/provider").await.expect(403);
    assert!(!page.text.contains("slash"), "{page:?}");
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let url = &provider.url;
    let advice = format!(
        "has the issuer {url}, but --oidc-issuer is {url}/: only a slash at the end differs"
    );
    assert!(log.contains(&advice), "{log}");
}
