//! A member's own account.

use std::time::Duration;

use petstore_domain::{
    Actor, Clock, Role, WriteContext,
    staff::{EndedSessions, StaffChange, StaffSession, TokenDigest},
};

use super::browser::{PASSWORD, Shop};

#[tokio::test]
async fn a_new_password_needs_the_present_one_and_ends_other_sessions() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Viewer).await;
    let mut other = shop.browser();
    other.sign_in("Ana", PASSWORD).await.expect(303);
    let change = async |browser: &mut super::browser::Browser<'_>, present: &str, new: &str| {
        let form = [("current", present), ("new", new), ("again", new)];
        browser.post("/account/password", &form).await
    };
    let page = change(&mut browser, "wrong", "four other random words")
        .await
        .expect(422);
    assert!(
        page.text.contains("The current password is wrong."),
        "{page:?}"
    );
    change(&mut browser, PASSWORD, "short").await.expect(422);
    assert!(other.is_in().await);
    change(&mut browser, PASSWORD, "four other random words")
        .await
        .expect(303);
    assert!(browser.is_in().await);
    assert!(!other.is_in().await);
    other.sign_in("Ana", PASSWORD).await.expect(403);
    other
        .sign_in("Ana", "four other random words")
        .await
        .expect(303);
}

#[tokio::test]
async fn a_new_password_that_is_sent_twice_is_a_success_twice() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Viewer).await;
    let mut other = shop.browser();
    other.cookies.clone_from(&browser.cookies);
    let (mut present, done) = (PASSWORD, "/account");
    for new in ["four other random words", "and four other ones"] {
        let key = browser.get("/account").await.hidden("_key");
        let form = [
            ("_key", &*key),
            ("current", present),
            ("new", new),
            ("again", new),
        ];
        // At once, and afterwards.
        let (one, two) = tokio::join!(
            browser.post("/account/password", &form),
            other.post("/account/password", &form)
        );
        assert_eq!((one.next(), two.next()), (done, done));
        assert_eq!(browser.post("/account/password", &form).await.next(), done);
        for is_shown in [true, false] {
            let page = browser.get(done).await.expect(200);
            assert_eq!(
                page.text.contains("Your password has been changed."),
                is_shown,
                "{page:?}"
            );
        }
        shop.browser().sign_in("Ana", new).await.expect(303);
        present = new;
    }
    let sets = shop
        .acts()
        .await
        .iter()
        .filter(|act| act.contains("password_set"))
        .count();
    assert_eq!(sets, 3);
    // Another form with the same passwords is another attempt, which does not know the present one.
    let form = [("current", PASSWORD), ("new", present), ("again", present)];
    let page = browser.post("/account/password", &form).await.expect(422);
    assert!(
        page.text.contains("The current password is wrong."),
        "{page:?}"
    );
}

#[tokio::test]
async fn of_many_sessions_the_100_that_were_used_last_are_listed() {
    let shop = Shop::open().await;
    for name in ["Bo", "Cy"] {
        shop.invite(name, Role::Clerk).await;
        for index in 0..60 {
            let member = shop.find(name).await;
            let now = shop.clock.now();
            let session = StaffSession {
                provider_session: None,
                digest: TokenDigest::from_bytes([index + 100 * u8::from(name == "Cy"); 32]),
                staff: member.id,
                begun_at: now,
                seen_at: now,
                confirmed_at: Some(now),
                address: "127.0.0.1".to_owned(),
                browser: format!("Browser {index} of {name}."),
            };
            let (seen, ends) = (member.version, EndedSessions::None);
            let change = StaffChange {
                seen_version: seen,
                after: member,
                ended_sessions: ends,
                new_session: Some(session),
                act: None,
            };
            let context = WriteContext::new(Actor::Command, now);
            shop.store.write_staff(change, context).await.unwrap();
            shop.clock.advance(Duration::from_secs(1));
        }
    }
    let page = shop
        .member("Ana", Role::Manager)
        .await
        .get("/settings/staff")
        .await
        .expect(200);
    assert_eq!(
        page.text
            .matches("action=\"/settings/sessions/end\"")
            .count(),
        100
    );
    assert!(
        page.text
            .contains("Only the 100 most recently used sessions are shown."),
        "{page:?}"
    );
    assert!(page.text.contains("Browser 0 of Cy.") && !page.text.contains("Browser 0 of Bo."));
}

#[tokio::test]
async fn sessions_are_listed_with_their_browser_and_ended_one_by_one() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let mut other = shop.browser();
    other
        .fields
        .insert("user-agent", "Opera <script>".to_owned());
    other.sign_in("Ana", PASSWORD).await.expect(303);
    let mut stranger = shop.member("Bo", Role::Clerk).await;
    let page = browser.get("/account").await.expect(200);
    assert!(page.text.contains("Opera &lt;script&gt;") && !page.text.contains("<script>"));
    assert!(
        page.text.contains("127.0.0.1") && page.text.contains("(this one)"),
        "{page:?}"
    );
    assert_eq!(
        page.text
            .matches("action=\"/account/sessions/end\"")
            .count(),
        2
    );
    let (_, after) = page.text.split_once("Opera").unwrap();
    let (_, after) = after.split_once("name=\"session\" value=\"").unwrap();
    let session = after.split_once('"').unwrap().0;
    // Nobody ends the session of somebody else.
    stranger
        .post("/account/sessions/end", &[("session", session)])
        .await
        .expect(303);
    assert!(other.is_in().await);
    browser
        .post("/account/sessions/end", &[("session", session)])
        .await
        .expect(303);
    assert!(!other.is_in().await && browser.is_in().await && stranger.is_in().await);
}

#[tokio::test]
async fn a_browser_is_named_as_people_name_it() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
    let chrome = format!("{webkit} Chrome/156.0.0.0 Safari/537.36");
    for (agent, name) in [
        (
            format!("Mozilla/5.0 (X11; Linux x86_64) {chrome}"),
            "Chrome on Linux",
        ),
        (
            format!("Mozilla/5.0 (Windows NT 10.0; Win64) {chrome} Edg/156.0"),
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (Android 16; Mobile) Firefox/150.0".to_owned(),
            "Firefox on Android",
        ),
        (
            format!("Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) {webkit} Safari/604.1"),
            "Safari on iPhone",
        ),
        (
            format!(
                "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) {webkit} CriOS/156.0 Safari/604.1"
            ),
            "Chrome on iPhone",
        ),
        (
            format!(
                "Mozilla/5.0 (iPad; CPU OS 26_0 like Mac OS X) {webkit} FxiOS/150.0 Safari/604.1"
            ),
            "Firefox on iPad",
        ),
        (
            format!(
                "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) {webkit} EdgiOS/156.0 Safari/604.1"
            ),
            "Edge on iPhone",
        ),
        ("curl/8.0 on Linux".to_owned(), "curl/8.0 on Linux"),
    ] {
        let mut other = shop.browser();
        other.fields.insert("user-agent", agent);
        other.sign_in("Ana", PASSWORD).await.expect(303);
        let page = browser.get("/account").await.expect(200);
        assert!(
            page.text.contains(&format!("<bdi>{name}</bdi>")),
            "{name}: {page:?}"
        );
    }
}
