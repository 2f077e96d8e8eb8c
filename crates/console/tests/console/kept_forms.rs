//! A form that is kept through a sign-in: only one that this browser has sent to the console, and never without a press
//! on a page that shows it.

use petstore_console::RequireSecondFactor;
use petstore_domain::{Clock, Role, staff::TotpSecret};

use super::{
    authenticator::Authenticator,
    browser::{Browser, PASSWORD, Page, Shop},
    provider::manager,
};

/// The form that a stranger wants a manager to send.
const EVIL: [(&str, &str); 2] = [("name", "Eve"), ("role", "manager")];

/// The name of the cookie with which the tag of a kept form is made.
const COOKIE: &str = "petstore-8081-form";

/// The hidden fields of a kept form.
const FIELDS: [&str; 3] = ["kept_path", "kept", "kept_tag"];

/// The hidden fields with which the page keeps a form.
fn kept(page: &Page) -> Vec<(&'static str, String)> {
    FIELDS.map(|name| (name, page.hidden(name))).to_vec()
}

/// The fields of a form to sign in.
fn signing_in<'f>(name: &'f str, kept: &'f [(&'static str, String)]) -> Vec<(&'f str, &'f str)> {
    let kept = kept.iter().map(|(name, value)| (*name, &**value));
    [("name", name), ("password", PASSWORD)]
        .into_iter()
        .chain(kept)
        .collect()
}

/// The path with these fields in its query.
fn link(path: &str, fields: &[(&str, &str)]) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    format!("{path}?{query}")
}

/// The fields that make a page keep a form of a stranger, with the tag that the stranger got from the service.
async fn fields_of_stranger(shop: &Shop) -> Vec<(&'static str, String)> {
    let mut stranger = shop.browser();
    kept(&stranger.post("/settings/staff", &EVIL).await.expect(403))
}

/// Whether the page has a form of a stranger, or a script that sends one.
fn has_form_of_stranger(page: &Page) -> bool {
    let parts = ["name=\"kept", "action=\"/settings", "data-resubmit"];
    parts.iter().any(|part| page.text.contains(part))
}

/// Presses the button that sends the form on the page.
async fn press(browser: &mut Browser<'_>, page: &Page, path: &str) -> Page {
    browser.submit((page, path), path, &[]).await
}

#[tokio::test]
async fn a_link_carries_no_form_to_whoever_follows_it() {
    let shop = Shop::open().await;
    let mut signed_in = shop.member("Ana", Role::Manager).await;
    let fields = fields_of_stranger(&shop).await;
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    let direct = link("/sign-in", &fields);
    let inside = link("/sign-in", &[("next", &direct)]);
    for path in [&direct, &inside] {
        let page = signed_in.get(path).await.expect(200);
        assert!(!has_form_of_stranger(&page), "{page:?}");

        let mut browser = shop.browser();
        let page = browser.get(path).await.expect(200);
        let next = page.hidden("next");
        let form = [("name", "Ana"), ("password", PASSWORD), ("next", &next)];
        let next = browser.post("/sign-in", &form).await.next().to_owned();
        let page = browser.get(&next).await.expect(200);
        assert!(!has_form_of_stranger(&page), "{page:?}");
    }
    // The query of the form itself counts no more.
    let page = shop.browser().post(&direct, &signing_in("Ana", &[])).await;
    assert_eq!(page.next(), "/");
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 1);
}

#[tokio::test]
async fn with_a_provider_a_link_shows_no_form_of_a_stranger_before_any_sign_in() {
    let (shop, provider) = Shop::with_provider().await;
    let fields = fields_of_stranger(&shop).await;
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    let mut browser = shop.browser();
    for path in ["/sign-in", "/sign-in/done"] {
        let page = browser.get(&link(path, &fields)).await.expect(200);
        assert!(!has_form_of_stranger(&page), "{page:?}");
        browser.sign_in_at(&provider, &manager()).await.expect(303);
    }
    let back = browser
        .leave(&link("/sign-in/provider", &fields), &provider, &manager())
        .await;
    assert_eq!(browser.get(&back).await.next(), "/");
}

#[tokio::test]
async fn what_a_stranger_lets_the_service_keep_is_worthless_in_another_browser() {
    let shop = Shop::open().await;
    shop.member("Ana", Role::Manager).await;
    let fields = fields_of_stranger(&shop).await;
    let mut without_cookie = shop.browser();
    let mut with_cookie = shop.browser();
    let own = with_cookie
        .post("/settings/staff", &[("name", "Bo"), ("role", "clerk")])
        .await;
    let own = kept(&own.expect(403));
    for browser in [&mut without_cookie, &mut with_cookie] {
        for path in [
            "/sign-in",
            "/sign-in/code",
            "/sign-in/passkey",
            "/sign-in/done",
        ] {
            let page = browser
                .post(path, &signing_in("Ana", &fields))
                .await
                .expect(403);
            assert!(
                page.text.contains("kept in another browser"),
                "{path}: {page:?}"
            );
            assert!(!has_form_of_stranger(&page), "{path}: {page:?}");
        }
        assert!(!browser.is_in().await);
    }
    // Each part of the browser's own form counts as it is.
    for (part, value) in [
        (0, "/settings/keys"),
        (1, "name=Eve&role=manager"),
        (2, ""),
        (2, "x"),
    ] {
        let mut changed = own.clone();
        changed[part].1 = value.to_owned();
        with_cookie
            .post("/sign-in", &signing_in("Ana", &changed))
            .await
            .expect(403);
    }
    let page = with_cookie
        .post("/sign-in", &signing_in("Ana", &own))
        .await
        .expect(200);
    assert!(page.text.contains("<bdi>Bo</bdi>"), "{page:?}");
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_page_of_another_site_sends_no_kept_form() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Manager).await;
    browser.cookies.remove("petstore-8081");
    let own = kept(&browser.post("/settings/staff", &EVIL).await.expect(403));
    browser
        .fields
        .insert("sec-fetch-site", "cross-site".to_owned());
    for path in [
        "/sign-in",
        "/sign-in/code",
        "/sign-in/passkey",
        "/sign-in/done",
        "/settings/staff",
    ] {
        let page = browser
            .post(path, &signing_in("Ana", &own))
            .await
            .expect(403);
        assert!(
            !has_form_of_stranger(&page) && !page.headers.contains_key("set-cookie"),
            "{page:?}"
        );
    }
}

#[tokio::test]
async fn after_a_wrong_password_and_with_another_member_the_form_waits_for_a_press() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Manager).await;
    shop.member("Bo", Role::Manager).await;
    let key = browser
        .get("/settings/staff")
        .await
        .expect(200)
        .key_before("id=\"name\"");
    browser.cookies.remove("petstore-8081");
    let form = [("_key", &*key), ("name", "Cy"), ("role", "clerk")];
    let page = browser.post("/settings/staff", &form).await.expect(403);
    let cookie = browser.cookies[COOKIE].clone();
    let fields = kept(&page);
    let mut wrong = signing_in("Ana", &fields);
    wrong[1].1 = "wrong";
    let page = browser.post("/sign-in", &wrong).await.expect(403);
    assert_eq!(kept(&page), fields);
    // Another member is told whose form it is.
    let page = browser
        .post("/sign-in", &signing_in("Bo", &fields))
        .await
        .expect(409);
    assert!(page.text.contains("Ana filled in this form"), "{page:?}");
    let page = browser
        .post("/sign-in", &signing_in("Ana", &fields))
        .await
        .expect(200);
    assert!(!page.text.contains("autofocus"), "{page:?}");
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 2);
    press(&mut browser, &page, "/settings/staff")
        .await
        .expect(200);
    assert_eq!(shop.find("Cy").await.role, Role::Clerk);
    // A second form of this browser has the same secret, so forms in several tabs can wait at once.
    browser.cookies.remove("petstore-8081");
    browser.post("/settings/staff", &EVIL).await.expect(403);
    assert_eq!(browser.cookies[COOKIE], cookie);
    browser
        .post("/sign-in", &signing_in("Ana", &fields))
        .await
        .expect(200);
}

#[tokio::test]
async fn after_a_second_factor_or_a_passkey_the_form_waits_for_a_press() {
    let shop = Shop::requiring(RequireSecondFactor::None).await;
    let mut browser = shop.member("Ana", Role::Manager).await;
    let mut passkey = Authenticator::new(b"first");
    browser.add_passkey(&mut passkey, "Phone").await.expect(303);
    let spelled = browser
        .get("/account/second-factor")
        .await
        .expect(200)
        .hidden("secret");
    let secret = TotpSecret::parse(&spelled).unwrap();
    let code = secret.code_at(shop.clock.now());
    let form = [("secret", &*spelled), ("code", &code)];
    browser
        .post("/account/second-factor", &form)
        .await
        .expect(200);
    shop.clock.advance(std::time::Duration::from_secs(30));
    for (name, by_passkey) in [("Bo", false), ("Cy", true)] {
        browser.cookies.remove("petstore-8081");
        let form = [("name", name), ("role", "clerk")];
        let page = browser.post("/settings/staff", &form).await.expect(403);
        let fields = kept(&page);
        let page = browser
            .post("/sign-in", &signing_in("Ana", &fields))
            .await
            .expect(200);
        assert_eq!(kept(&page), fields);
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        let page = if by_passkey {
            browser.enter(&mut passkey, &fields).await.expect(200)
        } else {
            let code = secret.code_at(shop.clock.now());
            let form = [&[("code", &*code)], &*fields].concat();
            browser.post("/sign-in/code", &form).await.expect(200)
        };
        assert!(
            page.text.contains(&format!("<bdi>{name}</bdi>")),
            "{page:?}"
        );
        assert_eq!(
            shop.store.list_staff().await.unwrap().len(),
            1 + usize::from(by_passkey)
        );
        press(&mut browser, &page, "/settings/staff")
            .await
            .expect(200);
        assert_eq!(shop.find(name).await.role, Role::Clerk);
    }
}

#[tokio::test]
async fn the_page_before_the_press_says_what_the_form_does_and_shows_no_password() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Manager).await;
    shop.member("Bo", Role::Clerk).await;
    let mut shown = async |path: &str, form: &[(&str, &str)]| {
        browser.cookies.remove("petstore-8081");
        let page = browser.post(path, form).await.expect(403);
        let fields = kept(&page);
        let page = browser
            .post("/sign-in", &signing_in("Ana", &fields))
            .await
            .expect(200);
        page.between("<dl class=\"card\">", "</dl>").to_owned()
    };
    // Whatever a form says about what it showed, or about animals that are ticked.
    let form = [
        ("do", "role"),
        ("role", "manager"),
        ("was-role", "manager"),
        ("pet", "1"),
        ("version", "1"),
        ("sure", "Bo becomes a manager."),
    ];
    let role = shown("/settings/staff/2", &form).await;
    for part in [
        "Bo",
        "(role)",
        "/settings/staff/2",
        "<bdi>manager</bdi>",
        "Bo becomes a manager.",
    ] {
        assert!(role.contains(part), "{part}: {role}");
    }
    let form = [("url", "https://evil.example/x"), ("type", "pet.created")];
    let webhook = shown("/settings/webhooks", &form).await;
    for part in ["https://evil.example/x", "pet.created", "Webhooks"] {
        assert!(webhook.contains(part), "{part}: {webhook}");
    }
    let form = [
        ("do", "value"),
        ("pet", "1:1"),
        ("of", "breed"),
        ("value", "Collie"),
        ("q", "x"),
    ];
    let several = shown("/animals/selected", &form).await;
    assert!(
        several.contains("breed") && several.contains("Collie"),
        "{several}"
    );
    let factor = shown("/account/second-factor/remove", &[]).await;
    assert!(factor.contains("Remove the second factor"), "{factor}");
    let form = [
        ("current", "old secret"),
        ("new", "new secret"),
        ("again", "new secret"),
    ];
    let password = shown("/account/password", &form).await;
    assert!(
        password.contains("Change the password") && !password.contains("secret"),
        "{password}"
    );
}
