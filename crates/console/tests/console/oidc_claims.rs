//! The claims of a person as providers send them: each gives the role that the operator means, and the name by which
//! people know the person.

use petstore_console::openid::{RoleRules, parse_scope};
use petstore_domain::Role;
use serde_json::{Map, Value, json};

use super::{
    browser::Shop,
    provider::{FakeProvider, ana},
};

/// A provider as its documents describe it.
struct Sample {
    provider: &'static str,
    /// The rule that an operator writes for it.
    rule: &'static str,
    /// The claims of its ID token.
    token: Value,
    /// The claims that it sends only at userinfo.
    userinfo: Value,
    name: &'static str,
}

/// Providers that send the role in the ID token.
fn samples_of_tokens() -> Vec<Sample> {
    vec![
        Sample {
            provider: "Keycloak",
            rule: "groups=/shop/managers:manager",
            token: json!({
                "typ": "ID", "acr": "1", "sid": "b7d5", "email_verified": true, "name": "Ana Ruiz",
                "preferred_username": "ana", "given_name": "Ana", "family_name": "Ruiz",
                "email": "ana@shop.example", "groups": ["/shop/managers", "/shop"],
            }),
            userinfo: json!({}),
            name: "Ana Ruiz",
        },
        Sample {
            provider: "Entra",
            rule: "roles=Shop.Manager:manager",
            token: json!({
                "ver": "2.0", "tid": "9122040d-6c67-4c5b-b112-36a304b66dad", "oid": "690222be-ff1a",
                "name": "Ana Ruiz", "preferred_username": "ana@shop.example", "aio": "Df2U",
                "roles": ["Shop.Manager"], "groups": ["07dd8a60-bf6d-4e17-8844-230b77145381"],
            }),
            userinfo: json!({}),
            name: "Ana Ruiz",
        },
        Sample {
            provider: "Google",
            rule: "hd=shop.example:manager",
            token: json!({
                "hd": "shop.example", "email": "ana@shop.example", "email_verified": true,
                "name": "Ana Ruiz", "given_name": "Ana", "family_name": "Ruiz", "at_hash": "HK6E",
            }),
            userinfo: json!({}),
            name: "Ana Ruiz",
        },
        Sample {
            provider: "Authentik",
            rule: "groups=Shop, managers:manager",
            token: json!({
                "acr": "goauthentik.io/providers/oauth2/default", "amr": ["pwd"], "sid": "a1",
                "auth_time": 1_796_126_399, "email": "ana@shop.example", "email_verified": true,
                "name": "Ana Ruiz", "given_name": "Ana Ruiz", "preferred_username": "ana",
                "nickname": "ana", "groups": ["authentik Admins", "Shop, managers"],
            }),
            userinfo: json!({}),
            name: "Ana Ruiz",
        },
        Sample {
            provider: "Dex",
            rule: "groups=shop:managers:manager",
            token: json!({
                "at_hash": "k1", "c_hash": "k2", "email": "ana@shop.example", "email_verified": true,
                "groups": ["shop:managers"], "name": "ana",
                "federated_claims": {"connector_id": "ldap", "user_id": "7"},
            }),
            userinfo: json!({}),
            name: "ana",
        },
        Sample {
            provider: "Kanidm",
            rule: "groups=shop_managers@idm.shop.example:manager",
            token: json!({
                "azp": "shop", "jti": "x", "name": "Ana Ruiz", "preferred_username": "ana@idm.shop.example",
                "email": "ana@shop.example", "email_verified": true, "scopes": ["openid", "groups"],
                "groups": ["shop_managers@idm.shop.example", "00000000-0000-0000-0000-ffffff000035"],
            }),
            userinfo: json!({}),
            name: "Ana Ruiz",
        },
    ]
}

/// Providers that send the role, or the name, only at userinfo.
fn samples_of_userinfo() -> Vec<Sample> {
    vec![
        Sample {
            provider: "Okta, which sends a short ID token together with an access token",
            rule: "groups=Shop managers:manager",
            token: json!({
                "ver": 1, "amr": ["pwd"], "idp": "00o1", "preferred_username": "ana@shop.example",
                "auth_time": 1_796_126_399, "at_hash": "p1", "email": "ana@shop.example",
            }),
            userinfo: json!({
                "name": "Ana Ruiz", "given_name": "Ana", "family_name": "Ruiz", "zoneinfo": "Europe/Madrid",
                "preferred_username": "ana@shop.example", "email": "ana@shop.example",
                "email_verified": true, "groups": ["Everyone", "Shop managers"],
            }),
            name: "Ana Ruiz",
        },
        Sample {
            provider: "Authelia",
            rule: "groups=managers:manager",
            token: json!({
                "amr": ["pwd", "otp"], "azp": "shop", "at_hash": "p1", "auth_time": 1_796_126_399,
                "client_id": "shop", "jti": "x",
            }),
            userinfo: json!({
                "name": "Ana Ruiz", "preferred_username": "ana", "email": "ana@shop.example",
                "email_verified": true, "alt_emails": [], "groups": ["managers", "dev"], "rat": 1_796_126_399,
            }),
            name: "Ana Ruiz",
        },
        Sample {
            provider: "Zitadel",
            rule: "urn:zitadel:iam:org:project:roles=manager:manager",
            token: json!({
                "amr": ["password"], "auth_time": 1_796_126_399, "client_id": "shop", "sid": "V1_3",
            }),
            userinfo: json!({
                "name": "Ana Ruiz", "given_name": "Ana", "family_name": "Ruiz", "nickname": "Ani",
                "preferred_username": "ana@shop.example", "locale": "es", "updated_at": 1_796_000_000,
                "urn:zitadel:iam:org:project:roles": {"manager": {"178204173316174381": "shop.example"}},
            }),
            name: "Ana Ruiz",
        },
        Sample {
            provider: "Pocket ID",
            rule: "groups=shop_managers:manager",
            token: json!({
                "email": "ana@shop.example", "email_verified": true, "type": "id-token",
                "preferred_username": "ana", "given_name": "Ana", "family_name": "Ruiz",
            }),
            userinfo: json!({
                "name": "Ana Ruiz", "given_name": "Ana", "family_name": "Ruiz", "preferred_username": "ana",
                "email": "ana@shop.example", "email_verified": true, "groups": ["shop_managers"],
            }),
            name: "Ana Ruiz",
        },
    ]
}

/// Adds members to the claims of a person.
fn with(claims: &Value, name: &str, value: Value) -> Value {
    let mut claims = claims.clone();
    claims[name] = value;
    claims
}

/// Returns the rules that an option or the variable states.
fn rules(text: &str) -> Vec<petstore_console::openid::RoleRule> {
    text.parse::<RoleRules>().unwrap().0
}

/// Returns a shop with a new provider and these rules.
async fn shop_with_rules(shop: Shop, text: &str) -> (Shop, FakeProvider) {
    let rules = rules(text);
    shop.and_provider(|settings| settings.roles = rules).await
}

#[tokio::test]
async fn the_claims_of_ten_providers_give_the_role_and_the_name() {
    let samples: Vec<Sample> = samples_of_tokens()
        .into_iter()
        .chain(samples_of_userinfo())
        .collect();
    assert_eq!(samples.len(), 10);
    for sample in samples {
        let (shop, _) = Shop::with_provider().await;
        let (shop, provider) = shop_with_rules(shop, sample.rule).await;
        provider.userinfo(&with(&sample.userinfo, "sub", json!("ana-1")));
        let person = with(&sample.token, "sub", json!("ana-1"));
        let page = shop.browser().sign_in_at(&provider, &person).await;
        assert_eq!(page.status, 303, "{}: {page:?}", sample.provider);
        let staff = shop.store.list_staff().await.unwrap();
        let member = &staff[0];
        assert_eq!(
            (member.name.as_str(), member.role),
            (sample.name, Role::Manager),
            "{}",
            sample.provider
        );
    }
}

#[tokio::test]
async fn a_person_gets_the_best_name_that_came_and_never_that_of_nobody() {
    let (shop, provider) = Shop::with_provider().await;
    for (number, (claims, name)) in [
        (
            json!({"name": "Ana Ruiz", "preferred_username": "ana"}),
            "Ana Ruiz",
        ),
        (json!({"name": " ", "preferred_username": "bea"}), "bea"),
        (
            json!({"given_name": "Cleo", "family_name": "Díaz", "nickname": "cleo"}),
            "Cleo Díaz",
        ),
        (json!({"given_name": "Dora"}), "Dora"),
        (json!({"name": 7, "nickname": "eva"}), "eva"),
        (
            json!({"name": "\u{202e}evil", "email": "fina@shop.example"}),
            "fina@shop.example",
        ),
        (json!({}), "subject-6"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut person = with(&claims, "sub", json!(format!("subject-{number}")));
        person["groups"] = json!(["clerks"]);
        shop.browser()
            .sign_in_at(&provider, &person)
            .await
            .expect(303);
        let staff = shop.store.list_staff().await.unwrap();
        assert_eq!(staff[number].name.as_str(), name, "{claims}");
    }
}

#[tokio::test]
async fn rules_find_claims_whose_names_and_values_have_dots_and_commas() {
    let (mut shop, _) = Shop::with_provider().await;
    for (text, claims) in [
        (
            "https://shop.example/claims.roles=boss:manager",
            json!({"https://shop.example/claims": {"roles": ["boss"]}}),
        ),
        (
            "resource_access.console.shop.example.roles=boss:manager",
            json!({"resource_access": {"console.shop.example": {"roles": ["boss"]}}}),
        ),
        (
            "a.b.c=boss:manager",
            json!({"a.b": {"x": 1}, "a": {"b.c": "boss"}}),
        ),
        (
            "groups=cn=managers,ou=groups,dc=shop:manager",
            json!({"groups": ["cn=managers,ou=groups,dc=shop"]}),
        ),
        (
            "hd=other.example:clerk, groups=Staff, managers:manager",
            json!({"groups": ["Staff, managers"]}),
        ),
        ("level=3:manager", json!({"level": 3})),
        (
            "urn:zitadel:iam:org:project:roles=boss:manager",
            json!({"urn:zitadel:iam:org:project:roles": [{"boss": {"1": "shop.example"}}]}),
        ),
    ] {
        let provider;
        (shop, provider) = shop_with_rules(shop, text).await;
        let person = with(&claims, "sub", json!("ana-1"));
        let page = shop.browser().sign_in_at(&provider, &person).await;
        assert_eq!(page.status, 303, "{text}: {page:?}");
        let staff = shop.store.list_staff().await.unwrap();
        assert_eq!(staff[0].role, Role::Manager, "{text}");
    }
}

#[test]
fn only_a_comma_after_a_role_ends_a_rule() {
    for (text, count) in [
        ("groups=a:clerk", 1),
        ("groups=a:clerk,groups=b:manager", 2),
        ("groups=a,b:clerk,groups=c:viewer,d:clerk", 2),
    ] {
        let result = text.parse::<RoleRules>();
        match result {
            Ok(RoleRules(rules)) => assert_eq!(rules.len(), count, "{text}"),
            Err(message) => assert!(text.contains(":viewer,d"), "{text}: {message}"),
        }
    }
    for wrong in [
        "groups=a:clerk,",
        "groups=a:clerk,b:manager",
        ",",
        "groups=a,b",
    ] {
        assert!(wrong.parse::<RoleRules>().is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn a_time_can_be_a_number_in_a_text() {
    let (mut shop, _) = Shop::with_provider().await;
    for claim in ["exp", "iat", "auth_time"] {
        let provider;
        (shop, provider) = shop.and_provider(|_| {}).await;
        provider.now_says(|says| {
            says.claims = Box::new(move |claims| {
                claims["auth_time"] = claims["iat"].clone();
                claims[claim] = json!(claims[claim].to_string());
            });
        });
        let page = shop.browser().sign_in_at(&provider, &ana()).await;
        assert_eq!(page.next(), "/", "{claim}: {page:?}");
    }
}

#[tokio::test]
async fn times_are_any_numbers_and_a_session_can_be_a_number() {
    let (shop, provider) = Shop::with_provider().await;
    provider.now_says(|says| {
        says.claims = Box::new(|claims| {
            claims["exp"] = json!(1_796_126_700.5);
            claims["iat"] = json!(1_796_126_399.25);
            claims["auth_time"] = json!(1_796_126_398.75);
            claims["sid"] = json!(12345);
        });
    });
    let mut browser = shop.browser();
    browser.sign_in_at(&provider, &ana()).await.expect(303);
    let sessions = shop.store.list_sessions(None).await.unwrap();
    assert_eq!(sessions[0].provider_session.as_deref(), Some("12345"));
    // A logout token with the same number ends it.
    assert!(browser.is_in().await);
    provider.now_says(|says| says.claims = Box::new(|_| {}));
    let token = provider.logout_token("one", &json!({"sub": "ana-1", "sid": 12345}));
    let mut server = shop.browser();
    server.fields.insert("origin", String::new());
    server
        .post("/sign-in/back-channel", &[("logout_token", &token)])
        .await
        .expect(200);
    assert!(!browser.is_in().await);
}

#[tokio::test]
async fn a_time_that_is_no_time_lets_nobody_in() {
    let (shop, provider) = Shop::with_provider().await;
    for (claim, time) in [
        ("exp", json!("2026-12-01T12:05:00Z")),
        ("exp", json!("")),
        ("exp", json!("1796126000")),
        ("exp", json!(["1796126700"])),
        ("exp", json!(-1e300)),
        ("exp", json!(i64::MIN)),
        ("iat", json!(1e300)),
        ("iat", json!(u64::MAX)),
        ("auth_time", json!(1e300)),
        ("auth_time", json!(true)),
    ] {
        let text = time.to_string();
        provider.now_says(|says| {
            says.claims = Box::new(move |claims| claims[claim] = time.clone());
        });
        let page = shop.browser().sign_in_at(&provider, &ana()).await;
        assert_eq!(page.status, 403, "{claim} {text}: {page:?}");
    }
}

#[tokio::test]
async fn the_provider_is_asked_for_groups_if_it_has_this_scope_or_for_what_the_operator_says() {
    let (mut shop, provider) = Shop::with_provider().await;
    let usual = "scope=openid+profile+email&";
    let page = shop.browser().get("/sign-in/provider").await.expect(303);
    assert!(page.next().contains(usual), "{page:?}");

    let scopes = json!(["openid", "groups", "offline_access"]);
    provider.documents("scopes_supported", scopes.clone());
    shop.clock.advance(std::time::Duration::from_hours(2));
    let page = shop.browser().get("/sign-in/provider").await.expect(303);
    let with_groups = "scope=openid+profile+email+groups&";
    assert!(page.next().contains(with_groups), "{page:?}");

    let provider;
    (shop, provider) = shop
        .and_provider(|settings| settings.scope = parse_scope(" openid  roles ").ok())
        .await;
    provider.documents("scopes_supported", scopes);
    let page = shop.browser().get("/sign-in/provider").await.expect(303);
    assert!(page.next().contains("scope=openid+roles&"), "{page:?}");
    assert!(parse_scope("profile email").is_err());
}

#[tokio::test]
async fn an_address_counts_only_with_the_statement_beside_it() {
    let (shop, provider) = Shop::with_provider().await;
    // The address of the token is not that which userinfo calls verified.
    let person = json!({"sub": "x", "email": "boss@shop.example"});
    for userinfo in [
        json!({"sub": "x", "email": "x@other.example", "email_verified": true}),
        json!({"sub": "x", "email_verified": true}),
        json!({"sub": "x", "email": "boss@shop.example", "email_verified": false}),
    ] {
        provider.userinfo(&userinfo);
        let page = shop.browser().sign_in_at(&provider, &person).await;
        assert_eq!(page.status, 403, "{userinfo}: {page:?}");
    }
    provider.userinfo(&json!({"sub": "x", "email": "boss@shop.example", "email_verified": true}));
    let claims = Map::from_iter([("sub".to_owned(), json!("x"))]);
    shop.browser()
        .sign_in_at(&provider, &Value::Object(claims))
        .await
        .expect(303);
}

#[tokio::test]
async fn an_address_is_verified_by_true_as_a_text_too() {
    let (mut shop, _) = Shop::with_provider().await;
    for (statement, status) in [
        (json!("true"), 303),
        (json!(true), 303),
        (json!("false"), 403),
        (json!("yes"), 403),
        (json!(1), 403),
        (json!(null), 403),
    ] {
        let provider;
        (shop, provider) = shop.and_provider(|_| {}).await;
        let person = json!({"sub": "x", "email": "boss@shop.example", "email_verified": statement});
        let page = shop.browser().sign_in_at(&provider, &person).await;
        assert_eq!(page.status, status, "{statement}: {page:?}");
    }
}

#[tokio::test]
async fn groups_as_one_text_are_one_group() {
    let (mut shop, _) = Shop::with_provider().await;
    for (groups, status) in [
        ("clerks", 303),
        ("clerks managers", 403),
        ("clerks,managers", 403),
        ("[clerks]", 403),
        (" clerks", 403),
        ("Clerks", 403),
    ] {
        let provider;
        (shop, provider) = shop.and_provider(|_| {}).await;
        let person = json!({"sub": "x", "groups": groups});
        let page = shop.browser().sign_in_at(&provider, &person).await;
        assert_eq!(page.status, status, "{groups}: {page:?}");
    }
}
