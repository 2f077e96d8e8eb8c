//! Sessions: how they begin, how long they last, and what the browser knows of them.

use std::time::Duration;

use hyper::header;
use petstore_console::ConsoleSettings;
use petstore_domain::Role;

use super::browser::{PASSWORD, Shop};

#[tokio::test]
async fn a_link_is_for_one_password_within_24_hours() {
    let shop = Shop::open().await;
    let link = shop.invite("Ana", Role::Clerk).await;
    let mut browser = shop.browser();
    let page = browser.get(&link).await.expect(200);
    assert!(page.text.contains("<bdi>Ana</bdi>"), "{page:?}");
    // A wrong form does not use it up.
    for (new, again, wrong) in [
        (PASSWORD, "another", "different"),
        ("short", "short", "12 characters"),
        ("qwerty123456", "qwerty123456", "easy to guess"),
    ] {
        let page = browser
            .post(&link, &[("new", new), ("again", again)])
            .await
            .expect(422);
        assert!(page.text.contains(wrong), "{page:?}");
    }
    browser
        .post(&link, &[("new", PASSWORD), ("again", PASSWORD)])
        .await
        .expect(303);
    assert!(browser.is_in().await);
    browser.get(&link).await.expect(404);
    browser
        .post(&link, &[("new", PASSWORD), ("again", PASSWORD)])
        .await
        .expect(404);
    let late = shop.invite("Bo", Role::Clerk).await;
    shop.clock.advance(Duration::from_hours(24));
    shop.browser().get(&late).await.expect(404);
    for wrong in ["/link/x", &format!("{link}x")] {
        shop.browser().get(wrong).await.expect(404);
    }
    let set = "staff.password_set staff:1 by staff:1";
    assert_eq!(
        shop.acts().await,
        [
            "staff.added staff:1 by command",
            set,
            "staff.added staff:2 by command"
        ]
    );
}

#[tokio::test]
async fn a_session_is_new_at_each_sign_in_and_replaces_that_of_the_browser() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let before = browser.cookies["petstore-8081"].clone();
    // A secret that a stranger planted in the browser does not open the session.
    browser.sign_in("ANA", PASSWORD).await.expect(303);
    assert_ne!(browser.cookies["petstore-8081"], before);
    assert!(browser.is_in().await);
    let mut old = shop.browser();
    old.cookies.insert("petstore-8081".to_owned(), before);
    assert!(!old.is_in().await);
    assert_eq!(shop.store.list_sessions(None).await.unwrap().len(), 1);
    assert!(
        shop.acts()
            .await
            .contains(&"staff.signed_in staff:1 by staff:1".to_owned())
    );
}

#[tokio::test]
async fn a_session_ends_after_30_minutes_without_a_request_and_after_12_hours_in_all() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    for _ in 0..24 {
        shop.clock
            .advance(Duration::from_mins(30) - Duration::from_secs(1));
        assert!(browser.is_in().await);
    }
    // 24 times a second is missing.
    shop.clock.advance(Duration::from_secs(24));
    assert!(!browser.is_in().await);
    browser.sign_in("Ana", PASSWORD).await.expect(303);
    assert!(browser.is_in().await);
    shop.clock.advance(Duration::from_mins(30));
    assert!(!browser.is_in().await);
}

#[tokio::test]
async fn an_open_page_that_refreshes_itself_does_not_keep_its_session() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    for status in [200, 200, 303] {
        shop.clock.advance(Duration::from_mins(10));
        browser.fields.insert("x-petstore-live", "1".to_owned());
        browser.get("/").await.expect(status);
        browser.fields.remove("x-petstore-live");
    }
    assert!(!browser.is_in().await);
}

#[tokio::test]
async fn the_cookie_is_out_of_reach_of_scripts_and_other_sites() {
    let shop = Shop::open().await;
    let link = shop.invite("Ana", Role::Clerk).await;
    let choose = [("new", PASSWORD), ("again", PASSWORD)];
    let here = shop.browser().post(&link, &choose).await.expect(303);
    let cookies = |page: &super::browser::Page| -> Vec<String> {
        let all = page.headers.get_all(header::SET_COOKIE).iter();
        all.map(|cookie| cookie.to_str().unwrap().to_owned())
            .collect()
    };
    let cookies_here = cookies(&here);
    assert!(
        cookies_here[0].starts_with("petstore-8081="),
        "{cookies_here:?}"
    );
    assert!(
        cookies_here[0].ends_with("; Path=/; HttpOnly; SameSite=Lax"),
        "{cookies_here:?}"
    );
    let shop = Shop::with(ConsoleSettings {
        tls: true,
        ..ConsoleSettings::default()
    })
    .await;
    let link = shop.invite("Ana", Role::Clerk).await;
    let mut browser = shop.browser().with_address([192, 0, 2, 1]);
    browser.origin = "https://192.0.2.9:8081".to_owned();
    let over_tls = cookies(&browser.post(&link, &choose).await.expect(303));
    assert_eq!(over_tls.len(), 2);
    for (cookie, name) in over_tls
        .iter()
        .zip(["__Host-petstore-8081=", "__Host-petstore-8081-browser="])
    {
        assert!(cookie.starts_with(name), "{cookie}");
        assert!(
            cookie.contains("; Path=/; HttpOnly; SameSite=Lax; Secure"),
            "{cookie}"
        );
        assert!(!cookie.contains("Domain"), "{cookie}");
    }
    assert!(browser.is_in().await);
    // A cookie without the prefix, which a neighbouring host could plant, is no session.
    let secret = browser.cookies.remove("__Host-petstore-8081").unwrap();
    browser.cookies.insert("petstore-8081".to_owned(), secret);
    assert!(!browser.is_in().await);
}

#[tokio::test]
async fn a_cookie_of_another_program_on_this_host_hides_none_whatever_its_bytes_are() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    for name in ["before", "zone"] {
        browser.cookies.insert(name.to_owned(), "é 🐾".to_owned());
    }
    assert!(browser.is_in().await);

    // Browsers protect no prefix after such white space, so anybody can plant this cookie.
    let secret = browser.cookies.remove("petstore-8081").unwrap();
    for space in ['\u{85}', '\u{a0}', '\u{2000}', '\u{3000}'] {
        let name = format!("{space}petstore-8081");
        browser.cookies.insert(name.clone(), secret.clone());
        assert!(!browser.is_in().await, "{space:?}");
        browser.cookies.remove(&name);
    }
}

#[tokio::test]
async fn signing_out_ends_the_session_and_not_only_the_cookie() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let secret = browser.cookies["petstore-8081"].clone();
    assert_eq!(browser.post("/sign-out", &[]).await.next(), "/sign-in");
    assert!(!browser.cookies.contains_key("petstore-8081"));
    browser.cookies.insert("petstore-8081".to_owned(), secret);
    assert!(!browser.is_in().await);
    // A second click does not ask for the password to sign out once more.
    assert_eq!(browser.post("/sign-out", &[]).await.next(), "/sign-in");
}

#[tokio::test]
async fn a_member_who_is_changed_while_signing_out_is_signed_out() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    let mut member = shop.member("Bo", Role::Clerk).await;
    let secret = member.cookies["petstore-8081"].clone();
    let path = format!("/settings/staff/{}", shop.find("Bo").await.id);
    let role = [("do", "role"), ("role", "viewer")];
    let sure = manager.post(&path, &role).await.expect(200).hidden("sure");
    let form = [role[0], role[1], ("sure", &sure)];
    let (changed, out) = tokio::join!(manager.post(&path, &form), member.post("/sign-out", &[]));
    changed.expect(303);
    out.expect(303);
    member.cookies.insert("petstore-8081".to_owned(), secret);
    assert!(!member.is_in().await);
}

#[tokio::test]
async fn a_database_has_no_secret_of_a_session_or_a_link() {
    let shop = Shop::open().await;
    let browser = shop.member("Ana", Role::Clerk).await;
    let secret = &browser.cookies["petstore-8081"];
    let shown = format!("{:?}", shop.store.list_sessions(None).await.unwrap());
    assert!(!shown.contains(secret), "{shown}");
    let presented = petstore_domain::staff::TokenDigest::from_presented(secret).unwrap();
    assert!(shop.store.find_session(presented).await.unwrap().is_some());
}
