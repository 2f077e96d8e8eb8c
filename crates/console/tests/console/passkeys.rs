//! Passkeys: added, used without a password, after one and to prove again who it is, removed, and where there are none.

use std::time::Duration;

use petstore_console::{ConsoleSettings, RequireSecondFactor};
use petstore_domain::{
    Clock, Role,
    staff::TotpSecret,
    store_area::{AuditEntry, AuditQuery},
};

use super::{
    authenticator::{Authenticator, BE, BS, Key, borrowed},
    browser::{Browser, PASSWORD, Page, Shop},
    provider::ana,
};

/// A new member with a passkey, and the browser in which it was made.
async fn with_passkey(shop: &Shop, role: Role) -> (Browser<'_>, Authenticator) {
    let mut browser = shop.member("Ana", role).await;
    let mut passkey = Authenticator::new(b"first");
    assert_eq!(
        browser.add_passkey(&mut passkey, "Phone").await.next(),
        "/account/passkeys"
    );
    (browser, passkey)
}

/// The details of the last act of this type.
async fn details(shop: &Shop, kind: &str) -> Vec<(String, String)> {
    let query = AuditQuery {
        limit: 1000,
        ..AuditQuery::default()
    };
    let (entries, _) = shop.store.list_audit(&query).await.unwrap();
    let acts = entries.into_iter().filter_map(|entry| match entry {
        AuditEntry::Act { act, .. } if act.kind.as_str() == kind => Some(act.details),
        _ => None,
    });
    acts.last()
        .unwrap()
        .into_iter()
        .map(|(name, value)| (name.into_owned(), value))
        .collect()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

async fn remove(browser: &mut Browser<'_>) -> Page {
    let page = browser.get("/account/passkeys").await.expect(200);
    browser
        .submit(
            (&page, "/account/passkeys/remove"),
            "/account/passkeys/remove",
            &[],
        )
        .await
}

#[tokio::test]
async fn a_passkey_signs_in_by_itself_until_it_is_removed() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let mut other = shop.browser();
    other.sign_in("Ana", PASSWORD).await.expect(303);
    let page = browser.get("/account/passkeys").await.expect(200);
    assert_eq!(page.typed("name"), "Passkey");
    let mut passkey = Authenticator::new(b"first");
    let form = browser.make_passkey(&mut passkey, " Ana’s phone ").await;
    for click in 0..2 {
        let page = browser.post("/account/passkeys", &borrowed(&form)).await;
        assert_eq!(page.next(), "/account/passkeys", "{click}");
    }
    let page = browser.get("/account/passkeys").await.expect(200);
    assert!(
        page.text.contains("The passkey has been added."),
        "{page:?}"
    );
    assert_eq!(page.text.matches("<bdi>Ana’s phone</bdi>").count(), 1);
    assert!(browser.is_in().await && !other.is_in().await);
    assert_eq!(
        details(&shop, "staff.passkey_added").await,
        [pair("passkey", "Ana’s phone")]
    );

    // Nobody is asked for a name, a password or a code.
    let mut third = shop.browser();
    let page = third.get("/sign-in?next=/orders").await.expect(200);
    assert!(page.text.contains("Sign in with a passkey") && page.text.contains("<noscript>"));
    let page = third.enter(&mut passkey, &[("next", "/orders")]).await;
    assert_eq!(page.next(), "/orders");
    assert!(third.is_in().await);
    assert_eq!(
        details(&shop, "staff.signed_in").await,
        [pair("passkey", "Ana’s phone")]
    );
    let metrics = shop.api.metrics();
    let counted = "petstore_console_sign_ins_total{method=\"passkey\",result=\"accepted\"} 1";
    assert!(metrics.contains(counted), "{metrics}");

    assert_eq!(remove(&mut third).await.next(), "/account/passkeys");
    assert!(third.is_in().await && !browser.is_in().await);
    assert_eq!(
        details(&shop, "staff.passkey_removed").await,
        [pair("passkey", "Ana’s phone")]
    );
    let page = browser.enter(&mut passkey, &[]).await.expect(403);
    assert!(
        page.text.contains("This passkey does not work here."),
        "{page:?}"
    );
    // The password is enough again.
    browser.sign_in("Ana", PASSWORD).await.expect(303);
    assert!(browser.is_in().await);
}

#[tokio::test]
async fn a_passkey_whose_key_is_only_in_the_data_of_the_authenticator_signs_in() {
    let shop = Shop::open().await;
    for (name, key) in [
        ("Ana", Key::es256()),
        ("Bea", Key::EdDsa),
        ("Cleo", Key::Rs256),
    ] {
        let mut browser = shop.member(name, Role::Clerk).await;
        let mut passkey = Authenticator::with(name.as_bytes(), key);
        let mut form = browser.make_passkey(&mut passkey, "Vault").await;
        // A password manager without `getPublicKey`.
        for (field, value) in &mut form {
            if ["key", "algorithm"].contains(field) {
                value.clear();
            }
        }
        let page = browser.post("/account/passkeys", &borrowed(&form)).await;
        assert_eq!(page.next(), "/account/passkeys", "{name}: {page:?}");
        let mut other = shop.browser();
        other.enter(&mut passkey, &[]).await.expect(303);
        assert!(other.is_in().await, "{name}");
    }
}

#[tokio::test]
async fn a_key_in_the_data_of_the_authenticator_has_one_form() {
    type Change = fn(&mut Vec<u8>);
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let changes: [Change; 4] = [
        // Another algorithm, a shorter coordinate, no key, and only the beginning of one.
        |data| data[65] = 0x27,
        |data| data.truncate(data.len() - 1),
        |data| data.truncate(60),
        |data| data.truncate(63),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut passkey = Authenticator::new(b"first");
        passkey.data = Box::new(change);
        let mut form = browser.make_passkey(&mut passkey, "Vault").await;
        form.retain(|(field, _)| !["key", "algorithm"].contains(field));
        let page = browser
            .post("/account/passkeys", &borrowed(&form))
            .await
            .expect(422);
        assert!(page.text.contains("cannot be added"), "{number}: {page:?}");
    }
}

#[tokio::test]
async fn after_a_password_the_passkey_is_the_second_factor() {
    let shop = Shop::open().await;
    let (mut browser, mut passkey) = with_passkey(&shop, Role::Clerk).await;
    let mut other = shop.browser();
    let page = other.sign_in("Ana", PASSWORD).await.expect(200);
    assert!(
        page.text.contains("data-passkey") && !page.text.contains("id=\"code\""),
        "{page:?}"
    );
    assert!(
        page.text.contains("ask a manager for a new link"),
        "{page:?}"
    );
    assert!(!other.is_in().await);
    other
        .post("/sign-in/code", &[("code", "000000")])
        .await
        .expect(422);
    let meant = page.hidden("for");
    // That of another member is not the second factor of this one.
    let mut bo = shop.member("Bo", Role::Manager).await;
    let mut of_bo = Authenticator::new(b"of Bo");
    bo.add_passkey(&mut of_bo, "Key").await.expect(303);
    let page = other
        .enter(&mut of_bo, &[("for", &meant)])
        .await
        .expect(403);
    assert!(
        page.text.contains("the passkey of another member"),
        "{page:?}"
    );
    assert!(!other.is_in().await);
    other
        .enter(&mut passkey, &[("for", &meant)])
        .await
        .expect(303);
    assert!(other.is_in().await);

    // With an app, either of them.
    let page = browser.get("/account/second-factor").await.expect(200);
    let spelled = page.hidden("secret");
    let secret = TotpSecret::parse(&spelled).unwrap();
    let code = secret.code_at(shop.clock.now());
    browser
        .post(
            "/account/second-factor",
            &[("secret", &spelled), ("code", &code)],
        )
        .await
        .expect(200);
    shop.clock.advance(Duration::from_secs(30));
    let page = other.sign_in("Ana", PASSWORD).await.expect(200);
    assert!(
        page.text.contains("data-passkey") && page.text.contains("id=\"code\""),
        "{page:?}"
    );
    other
        .post(
            "/sign-in/code",
            &[("code", &secret.code_at(shop.clock.now()))],
        )
        .await
        .expect(303);
    assert!(other.is_in().await);
    other.sign_in("Ana", PASSWORD).await.expect(200);
    other
        .enter(&mut passkey, &[("for", &meant)])
        .await
        .expect(303);
    assert!(other.is_in().await);
}

#[tokio::test]
async fn before_staff_and_keys_a_passkey_proves_again_who_it_is() {
    let shop = Shop::open().await;
    let (mut manager, mut passkey) = with_passkey(&shop, Role::Manager).await;
    shop.clock.advance(Duration::from_mins(5));
    let form = [("name", "Zoé"), ("role", "clerk")];
    let page = manager.post("/settings/staff", &form).await.expect(403);
    assert!(page.text.contains("data-passkey"), "{page:?}");
    let sent = page.form("/sign-in");
    let sent: Vec<_> = sent
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let page = manager.enter(&mut passkey, &sent).await.expect(200);
    let page = manager
        .submit((&page, "/settings/staff"), "/settings/staff", &[])
        .await
        .expect(200);
    assert!(page.secret().contains("/link/"), "{page:?}");
    assert!(shop.find("Zoé").await.password.is_none());
    // A member without one is not asked for one.
    let mut clerk = shop.member("Bo", Role::Clerk).await;
    shop.clock.advance(Duration::from_mins(5));
    let page = clerk.post("/account/recovery-codes", &[]).await.expect(403);
    assert!(!page.text.contains("data-passkey"), "{page:?}");
}

#[tokio::test]
async fn who_loses_a_passkey_gets_a_link_and_a_provider_takes_all() {
    let (shop, provider) = Shop::with_provider().await;
    let (_, mut passkey) = with_passkey(&shop, Role::Clerk).await;
    let mut manager = shop.member("Max", Role::Manager).await;
    let member = shop.find("Ana").await;
    let path = format!("/settings/staff/{}", member.id);
    let page = manager.get("/settings/staff").await.expect(200);
    assert!(
        page.text.contains("active, with a second factor"),
        "{page:?}"
    );
    let page = manager.post(&path, &[("do", "reset")]).await.expect(200);
    assert!(page.text.contains("the passkeys of Ana"), "{page:?}");
    let page = manager
        .post_and_confirm(&path, &[("do", "reset")])
        .await
        .expect(200);
    let link = page
        .secret()
        .strip_prefix("http://localhost:8081")
        .unwrap()
        .to_owned();
    assert_eq!(shop.find("Ana").await.passkeys, []);
    let mut browser = shop.browser();
    browser.enter(&mut passkey, &[]).await.expect(403);
    browser
        .post(&link, &[("new", PASSWORD), ("again", PASSWORD)])
        .await
        .expect(303);
    browser.enter(&mut passkey, &[]).await.expect(403);
    // The authenticator replaces the old one, because the member is the same.
    let before = passkey.user.clone();
    browser.add_passkey(&mut passkey, "Phone").await.expect(303);
    assert_eq!(passkey.user, before);
    browser.enter(&mut passkey, &[]).await.expect(303);

    // A member who signs in at a provider has no other proof.
    let page = manager
        .post_and_confirm(&path, &[("do", "reset")])
        .await
        .expect(200);
    let link = page
        .secret()
        .strip_prefix("http://localhost:8081")
        .unwrap()
        .to_owned();
    let mut person = ana();
    person["auth_time"] = shop.clock.now().as_second().into();
    let back = browser
        .leave(
            &format!("/sign-in/provider?next={link}"),
            &provider,
            &person,
        )
        .await;
    browser.get(&back).await.expect(303);
    assert!(browser.is_in().await);
    assert_eq!(browser.get("/account/passkeys").await.next(), "/account");
    let account = browser.get("/account").await.expect(200);
    assert!(!account.text.contains("/account/passkeys"), "{account:?}");
    let page = manager.get("/account/passkeys").await.expect(200);
    let challenge = browser.challenge().await;
    let mut form = passkey.make(&page, &challenge, "http://localhost:8081");
    form.push(("name", "Phone".to_owned()));
    browser
        .post("/account/passkeys", &borrowed(&form))
        .await
        .expect(303);
    assert_eq!(shop.find("Ana").await.passkeys, []);
}

#[tokio::test]
async fn a_passkey_is_the_second_factor_that_a_role_needs() {
    let shop = Shop::requiring(RequireSecondFactor::Managers).await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    let page = manager.get("/account/second-factor").await.expect(200);
    assert!(page.text.contains("href=\"/account/passkeys\""), "{page:?}");
    let mut passkey = Authenticator::new(b"first");
    manager.add_passkey(&mut passkey, "Phone").await.expect(303);
    manager.get("/settings/staff").await.expect(200);
    let page = remove(&mut manager).await.expect(403);
    assert!(
        page.text.contains("Your role needs a second factor"),
        "{page:?}"
    );
    manager
        .add_passkey(&mut Authenticator::new(b"second"), "Key")
        .await
        .expect(303);
    remove(&mut manager).await.expect(303);
    assert_eq!(shop.find("Ana").await.passkeys.len(), 1);
}

#[tokio::test]
async fn there_are_at_most_ten_each_with_a_name_and_of_one_member() {
    let shop = Shop::open().await;
    let (mut browser, mut passkey) = with_passkey(&shop, Role::Clerk).await;
    let longest = "é".repeat(60);
    browser
        .add_passkey(&mut Authenticator::new(b"second"), &longest)
        .await
        .expect(303);
    for bad in ["", " ", "a\nb", "a\u{202e}b", &"a".repeat(61)] {
        let page = browser
            .add_passkey(&mut Authenticator::new(b"third"), bad)
            .await
            .expect(422);
        assert!(
            page.text.contains("one line of 1 to 60 characters"),
            "{bad:?}: {page:?}"
        );
    }
    let mut bo = shop.member("Bo", Role::Clerk).await;
    let page = bo
        .add_passkey(&mut Authenticator::new(b"first"), "Phone")
        .await
        .expect(422);
    assert!(
        page.text.contains("This passkey cannot be added."),
        "{page:?}"
    );
    for more in 2..10_u8 {
        browser
            .add_passkey(&mut Authenticator::new(&[more]), "Key")
            .await
            .expect(303);
    }
    let form = bo
        .make_passkey(&mut Authenticator::new(b"eleventh"), "Key")
        .await;
    let page = browser.get("/account/passkeys").await.expect(200);
    assert!(page.text.contains("You have 10 passkeys") && !page.text.contains("data-passkey"));
    let challenge = browser.challenge().await;
    let page = bo.get("/account/passkeys").await.expect(200);
    let mut eleventh =
        Authenticator::new(b"eleventh").make(&page, &challenge, "http://localhost:8081");
    eleventh.push(("name", form[6].1.clone()));
    browser
        .post("/account/passkeys", &borrowed(&eleventh))
        .await
        .expect(422);
    assert_eq!(shop.find("Ana").await.passkeys.len(), 10);
    passkey.count = None;
    browser.enter(&mut passkey, &[]).await.expect(303);
}

#[tokio::test]
async fn there_are_passkeys_only_where_their_host_stays_the_same() {
    let opened = async |url: Option<&str>, origin: &str| {
        let url = url.map(|url| url.parse().unwrap());
        let shop = Shop::with(ConsoleSettings {
            url,
            ..ConsoleSettings::default()
        })
        .await;
        let link = shop.invite("Ana", Role::Clerk).await;
        let mut browser = shop.browser();
        browser.origin = origin.to_owned();
        browser
            .post(&link, &[("new", PASSWORD), ("again", PASSWORD)])
            .await
            .expect(303);
        let page = browser.get("/account/passkeys").await.expect(200);
        let is_offered = page.text.contains("data-passkey");
        assert_ne!(
            is_offered,
            page.text
                .contains("Passkeys are not set up for this address.")
        );
        let mut stranger = shop.browser();
        stranger.origin = origin.to_owned();
        let page = stranger.get("/sign-in").await.expect(200);
        assert_eq!(page.text.contains("Sign in with a passkey"), is_offered);
        let page = stranger
            .enter(&mut Authenticator::new(b"x"), &[])
            .await
            .expect(403);
        assert!(
            page.text.contains("This passkey does not work here"),
            "{page:?}"
        );
        is_offered
    };
    let (here, there) = ("http://localhost:8081", "https://console.shop.example");
    assert!(opened(None, here).await);
    assert!(opened(Some(here), here).await);
    assert!(opened(Some(there), there).await);
    assert!(!opened(None, "http://127.0.0.1:8081").await);
    assert!(!opened(Some(there), here).await);
    assert!(!opened(Some("https://192.0.2.7"), "https://192.0.2.7").await);
    assert!(
        !opened(
            Some("http://console.shop.example"),
            "http://console.shop.example"
        )
        .await
    );
}

#[tokio::test]
async fn where_only_a_provider_counts_there_are_no_passkeys() {
    let (shop, provider) = Shop::with_provider().await;
    let (_, mut passkey) = with_passkey(&shop, Role::Clerk).await;
    let mut settings = super::provider::settings(&provider.url);
    settings.only = true;
    let shop = shop.at(settings, Duration::from_mins(1));
    let mut browser = shop.browser();
    let page = browser.get("/sign-in").await.expect(200);
    assert!(!page.text.contains("data-passkey"), "{page:?}");
    browser.enter(&mut passkey, &[]).await.expect(403);
    assert!(!browser.is_in().await);
}

#[tokio::test]
async fn each_algorithm_that_is_allowed_signs_in() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    for (id, key) in [Key::es256(), Key::EdDsa, Key::Rs256]
        .into_iter()
        .enumerate()
    {
        let mut passkey = Authenticator::with(&[u8::try_from(id).unwrap()], key);
        let algorithm = passkey.key.algorithm();
        browser.add_passkey(&mut passkey, "Key").await.expect(303);
        assert_eq!(
            browser.enter(&mut passkey, &[]).await.next(),
            "/",
            "{algorithm}"
        );
        browser.sign(&mut passkey).await;
    }
}

#[tokio::test]
async fn two_in_flight_count_and_a_counter_that_goes_back_or_to_0_is_recorded_each_time() {
    let shop = Shop::open().await;
    let (_, mut passkey) = with_passkey(&shop, Role::Clerk).await;
    let (mut one, mut other) = (shop.browser(), shop.browser());
    let counted = async || details(&shop, "staff.signed_in").await;
    // The one that signed first arrives last.
    let early = one.sign(&mut passkey).await;
    other.enter(&mut passkey, &[]).await.expect(303);
    assert_eq!(counted().await, [pair("passkey", "Phone")]);
    one.post("/sign-in/passkey", &borrowed(&early))
        .await
        .expect(303);
    assert!(one.is_in().await && other.is_in().await);
    assert_eq!(
        counted().await,
        [pair("passkey", "Phone"), pair("count", "3 → 2")]
    );
    // A copy.
    passkey.count = Some(0);
    one.enter(&mut passkey, &[]).await.expect(303);
    assert_eq!(
        counted().await,
        [pair("passkey", "Phone"), pair("count", "3 → 1")]
    );
    // One that counts no more is noted each time.
    passkey.count = None;
    for _ in 0..2 {
        one.enter(&mut passkey, &[]).await.expect(303);
        assert_eq!(
            counted().await,
            [pair("passkey", "Phone"), pair("count", "3 → 0")]
        );
    }
    passkey.count = Some(3);
    one.enter(&mut passkey, &[]).await.expect(303);
    assert_eq!(counted().await, [pair("passkey", "Phone")]);
    // At once.
    let (first, second) = (one.sign(&mut passkey).await, other.sign(&mut passkey).await);
    let (first, second) = (borrowed(&first), borrowed(&second));
    let both = tokio::join!(
        one.post("/sign-in/passkey", &first),
        other.post("/sign-in/passkey", &second)
    );
    assert_eq!((both.0.next(), both.1.next()), ("/", "/"));
}

#[tokio::test]
async fn a_passkey_that_never_counted_signs_in_without_a_note() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let mut passkey = Authenticator::new(b"first");
    passkey.count = None;
    browser.add_passkey(&mut passkey, "Phone").await.expect(303);
    for _ in 0..2 {
        browser.enter(&mut passkey, &[]).await.expect(303);
        assert_eq!(
            details(&shop, "staff.signed_in").await,
            [pair("passkey", "Phone")]
        );
    }
}

/// Uses the passkey with these flags about copies, and returns whether somebody is let in.
async fn enters_with(browser: &mut Browser<'_>, passkey: &mut Authenticator, flags: u8) -> bool {
    passkey.flags = passkey.flags & !(BE | BS) | flags;
    browser.enter(passkey, &[]).await.status == 303
}

#[tokio::test]
async fn whether_a_passkey_can_be_copied_is_compared_and_learned_if_it_is_not_known() {
    let shop = Shop::open().await;
    let (mut browser, mut passkey) = with_passkey(&shop, Role::Clerk).await;
    assert!(enters_with(&mut browser, &mut passkey, 0).await);
    assert!(!enters_with(&mut browser, &mut passkey, BE).await);
    assert!(!enters_with(&mut browser, &mut passkey, BE | BS).await);
    assert!(enters_with(&mut browser, &mut passkey, 0).await);

    // As an earlier release has stored it.
    let known = ",\"is_backup_eligible\":false";
    let forget =
        "UPDATE staff SET passkeys = replace(passkeys, ?1, '') WHERE instr(passkeys, ?1) > 0";
    assert_eq!(shop.database().execute(forget, [known]).unwrap(), 1);
    assert!(enters_with(&mut browser, &mut passkey, BE | BS).await);
    assert!(enters_with(&mut browser, &mut passkey, BE).await);
    assert!(!enters_with(&mut browser, &mut passkey, 0).await);
}
