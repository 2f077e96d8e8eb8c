//! Signing in at an OpenID provider: who enters, as whom, with which role, and how long.

use std::time::Duration;

use petstore_domain::{Role, staff::StaffMember};
use serde_json::json;

use super::{
    browser::{Browser, PASSWORD, Shop},
    provider::{SecretPlace, ana, manager},
    provider_keys::Signing,
};

#[tokio::test]
async fn a_person_with_a_role_becomes_a_member_and_remains_the_same_one_under_another_name() {
    let (shop, provider) = Shop::with_provider().await;
    let mut browser = shop.browser();
    let page = browser.get("/sign-in?next=/orders").await.expect(200);
    assert!(page.text.contains("Sign in with 127.0.0.1"), "{page:?}");
    assert!(
        page.text
            .contains("href=\"/sign-in/provider?next=%2Forders\""),
        "{page:?}"
    );
    let back = browser
        .leave("/sign-in/provider?next=%2Forders", &provider, &ana())
        .await;
    assert_eq!(browser.get(&back).await.next(), "/orders");
    assert!(browser.is_in().await);
    let first = shop.find("Ana").await;
    assert_eq!((first.role, first.password.is_none()), (Role::Clerk, true));
    // Her name there is another one now, and so is her role.
    let promoted = json!({"sub": "ana-1", "groups": "managers", "name": "Bea"});
    let mut other = shop.browser();
    assert_eq!(other.sign_in_at(&provider, &promoted).await.next(), "/");
    let again = shop.find("Ana").await;
    assert_eq!((again.id, again.role), (first.id, Role::Manager));
    assert_eq!(
        shop.acts().await,
        [
            "staff.added staff:1 by clock",
            "staff.role_changed staff:1 by clock",
            "staff.signed_in staff:1 by staff:1"
        ]
    );
    let metrics = shop.api.metrics();
    let counted = "petstore_console_sign_ins_total{method=\"provider\",result=\"accepted\"} 2";
    assert!(metrics.contains(counted), "{metrics}");
}

#[tokio::test]
async fn a_name_or_an_address_that_a_member_has_makes_nobody_this_member() {
    let (shop, provider) = Shop::with_provider().await;
    shop.member("Max", Role::Manager).await;
    shop.member("boss@shop.example", Role::Manager).await;
    let impostor = json!({
        "sub": "other", "groups": ["clerks"], "preferred_username": "MAX", "email": "boss@shop.example",
    });
    let mut browser = shop.browser();
    assert_eq!(browser.sign_in_at(&provider, &impostor).await.next(), "/");
    browser.get("/settings/staff").await.expect(403);
    let staff = shop.store.list_staff().await.unwrap();
    let names: Vec<_> = staff
        .iter()
        .map(|member| (member.name.as_str(), member.role))
        .collect();
    let manager = Role::Manager;
    assert_eq!(
        names,
        [
            ("Max", manager),
            ("boss@shop.example", manager),
            ("MAX 2", Role::Clerk)
        ]
    );
    // An address that nobody has verified gives no role, either; a verified one does.
    let mut person = json!({"sub": "third", "email": "boss@shop.example", "name": "Bo"});
    for unverified in [json!(null), json!(false), json!("false")] {
        person["email_verified"] = unverified;
        browser.sign_in_at(&provider, &person).await.expect(403);
    }
    person["email_verified"] = json!(true);
    browser.sign_in_at(&provider, &person).await.expect(303);
    assert_eq!(shop.find("Bo").await.role, Role::Manager);
}

#[tokio::test]
async fn who_has_no_role_any_more_does_not_enter_and_the_open_sessions_end() {
    let (shop, provider) = Shop::with_provider().await;
    let mut first = shop.browser();
    first.sign_in_at(&provider, &ana()).await.expect(303);
    assert!(first.is_in().await);
    let mut second = shop.browser();
    let page = second
        .sign_in_at(&provider, &json!({"sub": "ana-1", "groups": []}))
        .await
        .expect(403);
    assert!(page.text.contains("gives you no role"), "{page:?}");
    assert!(!second.is_in().await && !first.is_in().await);
    // A stranger without a role does not become a member.
    second
        .sign_in_at(&provider, &json!({"sub": "x"}))
        .await
        .expect(403);
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_manager_keeps_out_whom_the_provider_lets_in() {
    let (shop, provider) = Shop::with_provider().await;
    let mut manager = shop.member("Max", Role::Manager).await;
    let mut browser = shop.browser();
    browser.sign_in_at(&provider, &ana()).await.expect(303);
    let page = manager.get("/settings/staff").await.expect(200);
    assert!(page.text.contains("signs in with 127.0.0.1"), "{page:?}");
    // Her role is that of the provider.
    let id = shop.find("Ana").await.id;
    let path = format!("/settings/staff/{id}");
    let page = manager
        .post(&path, &[("do", "role"), ("role", "manager")])
        .await;
    assert!(page.expect(403).text.contains("provider"));
    manager
        .post_and_confirm(&path, &[("do", "disable")])
        .await
        .expect(303);
    assert!(!browser.is_in().await);
    let page = browser.sign_in_at(&provider, &ana()).await.expect(403);
    assert!(page.text.contains("has blocked your access"), "{page:?}");
}

#[tokio::test]
async fn a_link_ties_a_member_to_the_provider_and_takes_the_password() {
    let (shop, provider) = Shop::with_provider().await;
    let mut manager = shop.member("Max", Role::Manager).await;
    shop.member("Anna", Role::Viewer).await;
    let id = shop.find("Anna").await.id;
    let path = format!("/settings/staff/{id}");
    let shown = manager
        .post_and_confirm(&path, &[("do", "reset")])
        .await
        .expect(200);
    let link = shown
        .secret()
        .strip_prefix("http://localhost:8081")
        .unwrap()
        .to_owned();
    let mut browser = shop.browser();
    let page = browser.get(&link).await.expect(200);
    let leave = page
        .between("href=\"/sign-in/provider?next=", "\"")
        .to_owned();
    let back = browser
        .leave(
            &format!("/sign-in/provider?next={leave}"),
            &provider,
            &ana(),
        )
        .await;
    assert_eq!(browser.get(&back).await.next(), "/");
    assert!(browser.is_in().await);
    let member = shop.find("Anna").await;
    assert_eq!(
        (member.id, member.role, member.password),
        (id, Role::Clerk, None)
    );
    assert_eq!(member.identity.unwrap().subject, "ana-1");
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 2);
    assert!(
        shop.acts()
            .await
            .contains(&format!("staff.linked staff:{id} by staff:{id}"))
    );
    // The link is used, and no password is asked for or accepted.
    browser.get(&link).await.expect(404);
    browser.sign_in("Anna", PASSWORD).await.expect(403);
    let account = browser.get("/account").await.expect(200);
    assert!(account.text.contains(&provider.url) && !account.text.contains("password"));
    assert_eq!(
        browser.get("/account/second-factor").await.next(),
        "/account"
    );
}

#[tokio::test]
async fn a_link_of_one_member_does_not_take_the_identity_of_another() {
    let (shop, provider) = Shop::with_provider().await;
    shop.browser()
        .sign_in_at(&provider, &ana())
        .await
        .expect(303);
    let link = shop.invite("Bo", Role::Manager).await;
    let mut browser = shop.browser();
    let path = format!("/sign-in/provider?next={link}");
    let back = browser.leave(&path, &provider, &ana()).await;
    let page = browser.get(&back).await.expect(403);
    assert!(page.text.contains("belongs to one member"), "{page:?}");
    // A link that is old by now makes no new member, either.
    let back = browser.leave(&path, &provider, &manager()).await;
    shop.clock.advance(Duration::from_hours(24));
    let shop_link = shop.invite("Cy", Role::Clerk).await;
    assert!(browser.get(&back).await.status != 303);
    let path = format!("/sign-in/provider?next={shop_link}");
    let back = browser.leave(&path, &provider, &manager()).await;
    shop.browser()
        .post(&shop_link, &[("new", PASSWORD), ("again", PASSWORD)])
        .await
        .expect(303);
    browser.get(&back).await.expect(403);
    let subjects: Vec<_> = shop.store.list_staff().await.unwrap();
    assert_eq!(
        subjects.iter().filter(|of| of.identity.is_some()).count(),
        1
    );
}

#[tokio::test]
async fn before_staff_and_keys_the_provider_asks_again_and_no_password_is_asked_for() {
    let (shop, provider) = Shop::with_provider().await;
    let mut browser = shop.browser();
    // Signed in there an hour ago: that is no proof of who sits here now.
    let mut person = manager();
    person["auth_time"] = json!(1_796_126_400 - 3600);
    browser.sign_in_at(&provider, &person).await.expect(303);
    let form = [("name", "Zoé & <co>"), ("role", "clerk")];
    let page = browser.post("/settings/staff", &form).await.expect(403);
    assert!(!page.text.contains("type=\"password\""), "{page:?}");
    assert!(page.text.contains("target=\"_blank\""), "{page:?}");
    let leave = page
        .between("href=\"/sign-in/provider", "\"")
        .replace("&amp;", "&");
    assert_eq!(leave, "?next=%2Fsign%2Din%2Fdone&again=1");
    // A provider that does not ask, or does not say when it has asked, is not believed.
    let leave = format!("/sign-in/provider{leave}");
    for wrong in [json!(1_796_126_400 - 300), json!(null)] {
        person["auth_time"] = wrong;
        let back = browser.leave(&leave, &provider, &person).await;
        browser.get(&back).await.expect(303);
        let shown = browser
            .submit((&page, "/sign-in/done"), "/sign-in/done", &[])
            .await
            .expect(200);
        browser
            .submit((&shown, "/settings/staff"), "/settings/staff", &[])
            .await
            .expect(403);
    }
    let leads_to = browser.get(&leave).await.expect(303).next().to_owned();
    assert!(
        leads_to.contains("max_age=0") && leads_to.contains("prompt=login"),
        "{leads_to}"
    );
    person["auth_time"] = json!(1_796_126_400);
    let back = provider.authorize(&leads_to, &person);
    assert_eq!(browser.get(&back).await.next(), "/sign-in/done");
    browser.get("/sign-in/done").await.expect(200);
    // The first tab still has what was typed, and shows it before it is sent.
    let shown = browser
        .submit((&page, "/sign-in/done"), "/sign-in/done", &[])
        .await
        .expect(200);
    assert!(
        shown.text.contains("<bdi>Zoé &amp; &lt;co&gt;</bdi>"),
        "{shown:?}"
    );
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 1);
    browser
        .submit((&shown, "/settings/staff"), "/settings/staff", &[])
        .await
        .expect(200);
    assert_eq!(shop.find("Zoé & <co>").await.role, Role::Clerk);
    // Five minutes later, it is needed again.
    shop.clock.advance(Duration::from_mins(5));
    browser.post("/settings/staff", &form).await.expect(403);
}

#[tokio::test]
async fn without_a_time_of_the_proof_a_sign_in_is_no_recent_one() {
    let (shop, provider) = Shop::with_provider().await;
    let mut browser = shop.browser();
    browser.sign_in_at(&provider, &manager()).await.expect(303);
    assert!(browser.is_in().await);
    browser
        .post("/settings/staff", &[("name", "Bo"), ("role", "clerk")])
        .await
        .expect(403);
}

#[tokio::test]
async fn without_passwords_only_the_provider_and_a_link_let_in() {
    let (shop, provider) = Shop::with_provider_and(|settings| settings.only = true).await;
    let link = shop.invite("Ana", Role::Manager).await;
    let mut browser = shop.browser();
    let page = browser.get("/sign-in").await.expect(200);
    assert!(!page.text.contains("type=\"password\""), "{page:?}");
    // The way back in, once.
    let page = browser.get(&link).await.expect(200);
    assert!(!page.text.contains("type=\"password\""), "{page:?}");
    browser
        .post(&link, &[("new", PASSWORD), ("again", PASSWORD)])
        .await
        .expect(303);
    assert!(browser.is_in().await);
    let StaffMember {
        password,
        link: open,
        ..
    } = shop.find("Ana").await;
    assert_eq!((password, open), (None, None));
    browser.get(&link).await.expect(404);
    browser.post(&link, &[]).await.expect(404);
    let mut stranger = shop.browser();
    let page = stranger.sign_in("Ana", PASSWORD).await.expect(403);
    assert!(
        page.text.contains("Passwords are not used here."),
        "{page:?}"
    );
    assert_eq!(shop.console.computed_hashes(), 0);
    stranger.sign_in_at(&provider, &ana()).await.expect(303);
    // The page tells a member without a password and a provider what to do.
    shop.clock.advance(Duration::from_mins(6));
    let page = browser.post("/settings/keys", &[]).await.expect(403);
    assert!(
        page.text.contains("ask a manager for a new one"),
        "{page:?}"
    );
    assert!(!page.text.contains("/sign-in/provider"), "{page:?}");
}

#[tokio::test]
async fn a_member_with_a_password_cannot_use_it_where_only_the_provider_counts() {
    let (shop, provider) = Shop::with_provider().await;
    shop.member("Max", Role::Manager).await;
    let mut settings = super::provider::settings(&provider.url);
    settings.only = true;
    let shop = shop.at(settings, Duration::from_mins(1));
    shop.browser().sign_in("Max", PASSWORD).await.expect(403);
    assert_eq!(shop.store.list_sessions(None).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_operator_can_leave_out_the_button() {
    let (shop, _provider) = Shop::with_provider_and(|settings| settings.redirects = true).await;
    let mut browser = shop.browser();
    let page = browser.get("/orders").await;
    assert_eq!(page.next(), "/sign-in/provider?next=%2Forders");
    // After signing out, and for a script, there is a page.
    browser.get("/sign-in").await.expect(200);
    browser.fields.insert("x-petstore-live", "1".to_owned());
    assert_eq!(
        browser.get("/orders").await.next(),
        "/sign-in?next=%2Forders"
    );
}

/// Returns the ID token that a browser keeps.
fn id_token_of(browser: &Browser<'_>) -> Option<String> {
    let mut cookies = browser.cookies.iter();
    let (_, token) = cookies.find(|(name, _)| name.ends_with("-id-token"))?;
    Some(token.clone())
}

#[tokio::test]
async fn signing_out_leads_to_the_provider_of_a_member_who_signed_in_there() {
    let (shop, provider) = Shop::with_provider().await;
    let mut browser = shop.browser();
    browser.sign_in_at(&provider, &ana()).await.expect(303);
    let id_token = id_token_of(&browser).unwrap();
    let page = browser.post("/sign-out", &[]).await.expect(200);
    let without_hint = format!(
        "{}/end?client_id=shop&post_logout_redirect_uri=http%3A%2F%2Flocalhost%3A8081%2Fsign-in",
        provider.url
    );
    // Some providers, such as Okta, end no session without the token.
    let url = format!("{without_hint}&id_token_hint={id_token}");
    assert_eq!(page.field("refresh"), format!("0; url={url}"));
    assert!(page.text.contains(&url.replace('&', "&amp;")), "{page:?}");
    assert_eq!(id_token_of(&browser), None);
    // A browser has no room for a long token.
    let mut person = ana();
    person["groups"] = json!(vec!["clerks"; 400]);
    browser.sign_in_at(&provider, &person).await.expect(303);
    let page = browser.post("/sign-out", &[]).await.expect(200);
    assert_eq!(page.field("refresh"), format!("0; url={without_hint}"));
    assert!(!browser.is_in().await);
    // With a password, and if the provider offers nothing.
    let mut other = shop.member("Max", Role::Manager).await;
    assert_eq!(other.post("/sign-out", &[]).await.next(), "/sign-in");
    provider.documents("end_session_endpoint", json!(null));
    shop.clock.advance(Duration::from_hours(1));
    browser.sign_in_at(&provider, &ana()).await.expect(303);
    assert_eq!(browser.post("/sign-out", &[]).await.next(), "/sign-in");
}

#[tokio::test]
async fn each_algorithm_that_is_allowed_signs_in() {
    let (mut shop, _) = Shop::with_provider().await;
    for signing in [
        Signing::Rs256,
        Signing::Rs384,
        Signing::Rs512,
        Signing::Ps256,
        Signing::Ps384,
        Signing::Ps512,
        Signing::Es256,
        Signing::Es384,
        Signing::EdDsa,
        Signing::Ed25519,
    ] {
        let provider;
        (shop, provider) = shop.and_provider(|_| {}).await;
        provider.now_says(|says| says.signing = signing);
        let page = shop.browser().sign_in_at(&provider, &ana()).await;
        assert_eq!(page.next(), "/", "{signing:?}");
    }
}

#[tokio::test]
async fn the_secret_is_in_the_form_only_if_the_provider_takes_it_only_there() {
    let (mut shop, _) = Shop::with_provider().await;
    for (methods, place) in [
        (json!(null), SecretPlace::Head),
        (json!([]), SecretPlace::Head),
        (json!(["client_secret_basic"]), SecretPlace::Head),
        (
            json!(["client_secret_post", "client_secret_basic"]),
            SecretPlace::Head,
        ),
        (json!(["private_key_jwt"]), SecretPlace::Head),
        (json!(["client_secret_post"]), SecretPlace::Form),
        (
            json!(["client_secret_post", "private_key_jwt"]),
            SecretPlace::Form,
        ),
    ] {
        let provider;
        (shop, provider) = shop.and_provider(|_| {}).await;
        provider.documents("token_endpoint_auth_methods_supported", methods.clone());
        provider.now_says(|says| says.secret_place = place);
        let page = shop.browser().sign_in_at(&provider, &ana()).await;
        assert_eq!(page.next(), "/", "{methods}");
    }
}

#[tokio::test]
async fn a_key_counts_without_an_id_if_it_is_the_only_one_for_the_algorithm() {
    let (mut shop, _) = Shop::with_provider().await;
    let other_kind = json!({"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"});
    for (token_has_id, key_has_id, is_alone, is_signed_in) in [
        (true, true, false, true),
        (false, true, true, true),
        (false, false, true, true),
        (true, false, true, true),
        (false, true, false, false),
        (false, false, false, false),
        (true, false, false, false),
    ] {
        let provider;
        (shop, provider) = shop.and_provider(|_| {}).await;
        provider.now_says(|says| {
            says.signing = Signing::Rs256;
            let mut key = says.jwk();
            // Some providers fill up base64url.
            key["e"] = json!("AQAB====");
            if !key_has_id {
                key.as_object_mut().unwrap().remove("kid");
            }
            let mut keys = vec![other_kind.clone(), key.clone()];
            if !is_alone {
                key.as_object_mut().unwrap().remove("kid");
                keys.push(key);
            }
            says.documents
                .insert("/keys".to_owned(), json!({"keys": keys}));
            if !token_has_id {
                says.header = Box::new(|header| {
                    header.as_object_mut().unwrap().remove("kid");
                });
            }
        });
        let page = shop.browser().sign_in_at(&provider, &ana()).await;
        let case = (token_has_id, key_has_id, is_alone);
        assert_eq!(page.status == 303, is_signed_in, "{case:?}: {page:?}");
    }
}

#[tokio::test]
async fn claims_give_a_role_as_text_in_a_list_as_a_name_or_on_a_path() {
    let (mut shop, _) = Shop::with_provider().await;
    for (rule, claim) in [
        ("hd=shop.example:clerk", json!({"hd": "shop.example"})),
        (
            "realm_access.roles=pets:clerk",
            json!({"realm_access": {"roles": ["x", "pets"]}}),
        ),
        (
            "urn:zitadel:roles=pets:clerk",
            json!({"urn:zitadel:roles": {"pets": {"1": "shop"}}}),
        ),
        (
            "https://shop.example/staff=true:clerk",
            json!({"https://shop.example/staff": true}),
        ),
    ] {
        let rule = vec![rule.parse().unwrap()];
        let provider;
        (shop, provider) = shop.and_provider(|settings| settings.roles = rule).await;
        let mut person = claim.clone();
        person["sub"] = json!("x");
        shop.browser()
            .sign_in_at(&provider, &person)
            .await
            .expect(303);
        let mut person = json!({"sub": "y"});
        person[claim.as_object().unwrap().keys().next().unwrap()] = json!(["other"]);
        shop.browser()
            .sign_in_at(&provider, &person)
            .await
            .expect(403);
    }
    for wrong in [
        "",
        "groups",
        "groups=x",
        "groups=x:boss",
        "=x:clerk",
        "groups=:clerk",
    ] {
        assert!(
            wrong.parse::<petstore_console::openid::RoleRule>().is_err(),
            "{wrong}"
        );
    }
}
