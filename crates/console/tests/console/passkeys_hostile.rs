//! What a browser or an authenticator, or somebody in their name, may say that lets nobody in and adds no passkey: tables, each
//! line refused. Each was seen to be accepted without its check (`docs/maintainers/console-security.md`).

use std::time::Duration;

use petstore_domain::Role;
use serde_json::{Value, json};

use super::{
    authenticator::{Authenticator, BS, Fields, Key, UP, UV, borrowed, encoded},
    browser::{Browser, Page, Shop},
};

type Lie = (&'static str, Box<dyn Fn(&mut Authenticator)>);

fn lie(name: &'static str, change: impl Fn(&mut Authenticator) + 'static) -> Lie {
    (name, Box::new(change))
}

fn client(name: &'static str, key: &'static str, value: Value) -> Lie {
    lie(name, move |of| {
        let value = value.clone();
        of.client = Box::new(move |client| client[key] = value.clone());
    })
}

/// What is wrong whether a passkey is made or signs.
fn lies(other_purpose: &'static str) -> Vec<Lie> {
    vec![
        client("type", "type", json!(other_purpose)),
        client("no type", "type", Value::Null),
        client("challenge", "challenge", json!("A".repeat(43))),
        client("no challenge", "challenge", json!("")),
        client("origin", "origin", json!("https://localhost:8081")),
        client("port", "origin", json!("http://localhost:8082")),
        client(
            "origin with a slash",
            "origin",
            json!("http://localhost:8081/"),
        ),
        client("site below", "origin", json!("http://a.localhost:8081")),
        client("frame", "crossOrigin", json!(true)),
        client(
            "frame of a site",
            "topOrigin",
            json!("https://evil.example"),
        ),
        lie("host", |of| of.host = "evil.example"),
        lie("port in the host", |of| of.host = "localhost:8081"),
        lie("no UP", |of| of.flags = UV),
        lie("no UV", |of| of.flags = UP),
        lie("BS without BE", |of| of.flags |= BS),
        lie("short", |of| of.data = Box::new(|data| data.truncate(36))),
        lie("empty", |of| of.data = Box::new(Vec::clear)),
    ]
}

fn sessions(shop: &Shop) -> i64 {
    shop.database()
        .query_row("SELECT count(*) FROM staff_sessions", [], |row| row.get(0))
        .unwrap()
}

/// A member with a passkey.
async fn passkey_of(shop: &Shop, name: &str) -> Authenticator {
    let mut browser = shop.member(name, Role::Clerk).await;
    let mut passkey = Authenticator::new(name.as_bytes());
    browser.add_passkey(&mut passkey, "Key").await.expect(303);
    passkey
}

/// Fails if the response lets somebody in, or says more than that the passkey is refused.
fn refused(shop: &Shop, before: i64, name: &str, page: &Page) {
    assert_eq!(
        (page.status.as_u16(), sessions(shop)),
        (403, before),
        "{name}: {page:?}"
    );
    let told = [
        "This passkey does not work here",
        "took longer than five minutes",
    ];
    assert!(
        told.iter().any(|told| page.text.contains(told)),
        "{name}: {page:?}"
    );
}

#[tokio::test]
async fn whatever_a_browser_says_wrong_lets_nobody_in() {
    let shop = Shop::open().await;
    let mut passkey = passkey_of(&shop, "Ana").await;
    let before = sessions(&shop);
    let with = |change: &dyn Fn(&mut Authenticator)| {
        let Authenticator {
            key,
            id,
            user,
            count,
            flags,
            host,
            ..
        } = &passkey;
        let key = if let Key::Es256(key) = key {
            Key::Es256(key.clone())
        } else {
            panic!()
        };
        let mut other = Authenticator::with(id, key);
        (other.user, other.count, other.flags, other.host) = (user.clone(), *count, *flags, host);
        change(&mut other);
        other
    };
    let mut more = lies("webauthn.create");
    more.extend([
        lie("key", |of| of.key = Key::es256()),
        lie("algorithm", |of| of.key = Key::EdDsa),
        lie("unknown", |of| of.id = b"unknown".to_vec()),
        lie("no user", |of| of.user.clear()),
        lie("member of nobody", |of| {
            of.user = 1_i64.to_be_bytes().to_vec();
        }),
        lie("another member", |of| of.user[7] += 1),
        lie("longer user", |of| of.user.push(0)),
    ]);
    for (name, change) in more {
        let page = shop.browser().enter(&mut with(&*change), &[]).await;
        refused(&shop, before, name, &page);
    }
    // What was signed is changed afterwards.
    for part in ["client", "data", "signature", "id"] {
        for damaged in ["", "*", "AAAA", &"A".repeat(400_000)] {
            let mut browser = shop.browser();
            let mut form = browser.sign(&mut passkey).await;
            form.iter_mut().find(|(name, _)| *name == part).unwrap().1 = damaged.to_owned();
            let page = browser.post("/sign-in/passkey", &borrowed(&form)).await;
            refused(&shop, before, part, &page);
        }
    }
    let mut browser = shop.browser();
    let mut form = browser.sign(&mut passkey).await;
    let data = &mut form.iter_mut().find(|(name, _)| *name == "data").unwrap().1;
    data.push_str("AAAA");
    let page = browser.post("/sign-in/passkey", &borrowed(&form)).await;
    refused(&shop, before, "more data", &page);
    browser.enter(&mut passkey, &[]).await.expect(303);
}

#[tokio::test]
async fn a_challenge_counts_once_in_its_browser_for_five_minutes() {
    let shop = Shop::open().await;
    let mut passkey = passkey_of(&shop, "Ana").await;
    let before = sessions(&shop);
    let (mut browser, mut other) = (shop.browser(), shop.browser());
    let send = async |browser: &mut Browser<'_>, form: &Fields| {
        browser.post("/sign-in/passkey", &borrowed(form)).await
    };
    let signed = browser.sign(&mut passkey).await;
    refused(&shop, before, "no cookie", &send(&mut other, &signed).await);
    other.challenge().await;
    refused(
        &shop,
        before,
        "another browser",
        &send(&mut other, &signed).await,
    );
    let cookie = "petstore-8081-passkey";
    for made_up in [
        "",
        "x",
        "x.1",
        ".",
        "a.99999999999999999999",
        "a.9223372036854775807",
    ] {
        other.cookies.insert(cookie.to_owned(), made_up.to_owned());
        refused(&shop, before, made_up, &send(&mut other, &signed).await);
    }
    let kept = browser.cookies[cookie].clone();
    send(&mut browser, &signed).await.expect(303);
    assert_eq!(sessions(&shop), before + 1);
    browser.cookies.insert(cookie.to_owned(), kept);
    refused(
        &shop,
        before + 1,
        "again",
        &send(&mut browser, &signed).await,
    );

    let signed = browser.sign(&mut passkey).await;
    shop.clock.advance(Duration::from_secs(299));
    send(&mut browser, &signed).await.expect(303);
    let signed = browser.sign(&mut passkey).await;
    shop.clock.advance(Duration::from_mins(5));
    let before = sessions(&shop);
    refused(&shop, before, "late", &send(&mut browser, &signed).await);
    // A passkey that was made counts once, too.
    let mut browser = shop.member("Bo", Role::Clerk).await;
    let form = browser
        .make_passkey(&mut Authenticator::new(b"one"), "Key")
        .await;
    browser
        .post("/account/passkeys", &borrowed(&form))
        .await
        .expect(303);
    let page = browser.get("/account/passkeys").await.expect(200);
    browser
        .submit(
            (&page, "/account/passkeys/remove"),
            "/account/passkeys/remove",
            &[],
        )
        .await
        .expect(303);
    browser
        .post("/account/passkeys", &borrowed(&form))
        .await
        .expect(422);
}

#[tokio::test]
async fn whatever_a_browser_says_wrong_adds_no_passkey() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let mut more = lies("webauthn.get");
    more.extend([
        lie("another id", |of| of.data = Box::new(|data| data[55] += 1)),
        lie("no id", |of| {
            of.data = Box::new(|data| data[32] &= !(1 << 6));
        }),
        lie("longer id", |of| of.data = Box::new(|data| data[54] += 1)),
        lie("cut id", |of| of.data = Box::new(|data| data.truncate(56))),
        lie("empty id", |of| of.id.clear()),
        lie("long id", |of| of.id = vec![1; 1024]),
    ]);
    for (name, change) in more {
        let mut passkey = Authenticator::new(b"first");
        change(&mut passkey);
        let page = browser.add_passkey(&mut passkey, "Key").await;
        assert_eq!(page.status.as_u16(), 422, "{name}: {page:?}");
    }
    // Keys.
    let rsa = Key::Rs256.public();
    let p256 = Key::es256().public();
    let keys: [(&str, i32, Vec<u8>); 9] = [
        ("RSA as ES256", -7, rsa.clone()),
        ("P-256 as RS256", -257, p256.clone()),
        ("P-256 as EdDSA", -8, p256.clone()),
        ("ES384", -35, p256.clone()),
        ("PS256", -37, rsa.clone()),
        ("RS1", -65535, rsa.clone()),
        ("no algorithm", 0, p256.clone()),
        ("short", -7, p256[..90].to_vec()),
        ("long", -257, [&rsa[..], &[0; 1000]].concat()),
    ];
    for (name, algorithm, key) in keys {
        let mut form = browser
            .make_passkey(&mut Authenticator::new(b"first"), "Key")
            .await;
        for (field, value) in [("algorithm", algorithm.to_string()), ("key", encoded(&key))] {
            form.iter_mut().find(|(name, _)| *name == field).unwrap().1 = value;
        }
        let page = browser.post("/account/passkeys", &borrowed(&form)).await;
        assert_eq!(page.status.as_u16(), 422, "{name}: {page:?}");
    }
    assert_eq!(shop.find("Ana").await.passkeys, []);
    browser
        .add_passkey(&mut Authenticator::new(b"first"), "Key")
        .await
        .expect(303);
}

#[tokio::test]
async fn nobody_learns_who_has_a_passkey_and_a_disabled_member_stays_out() {
    let shop = Shop::open().await;
    let mut passkey = passkey_of(&shop, "Ana").await;
    let mut manager = shop.member("Max", Role::Manager).await;
    let mut stranger = Authenticator::new(b"stranger");
    stranger.user = [1_i64.to_be_bytes().to_vec(), vec![b'A'; 43]].concat();
    let unknown = shop.browser().enter(&mut stranger, &[]).await.expect(403);
    stranger.user = passkey.user.clone();
    let known = shop.browser().enter(&mut stranger, &[]).await.expect(403);
    assert_eq!(unknown.text, known.text);
    let path = format!("/settings/staff/{}", shop.find("Ana").await.id);
    manager
        .post_and_confirm(&path, &[("do", "disable")])
        .await
        .expect(303);
    let before = sessions(&shop);
    let page = shop.browser().enter(&mut passkey, &[]).await;
    refused(&shop, before, "disabled", &page);
    assert_eq!(page.text, unknown.text);
    let failed = shop
        .acts()
        .await
        .iter()
        .filter(|act| act.contains("sign_in_failed"))
        .count();
    assert_eq!(failed, 3);
    let metrics = shop.api.metrics();
    let counted = "petstore_console_sign_ins_total{method=\"passkey\",result=\"rejected\"} 3";
    assert!(metrics.contains(counted), "{metrics}");
}

#[tokio::test]
async fn attempts_are_limited_and_those_of_strangers_leave_members_theirs() {
    let shop = Shop::open().await;
    let mut known = shop.member("Ana", Role::Clerk).await;
    let mut passkey = Authenticator::new(b"first");
    known.add_passkey(&mut passkey, "Key").await.expect(303);
    let mut stranger = shop.browser();
    let mut wrong = Authenticator::new(b"first");
    wrong.user = passkey.user.clone();
    for attempt in 0..60 {
        let page = stranger.enter(&mut wrong, &[]).await;
        assert_eq!(page.status.as_u16(), 403, "{attempt}");
    }
    let page = stranger.enter(&mut passkey, &[]).await.expect(429);
    assert!(page.text.contains("too many attempts"), "{page:?}");
    known.enter(&mut passkey, &[]).await.expect(303);
}
