//! Guessing of names and passwords.

use std::time::Duration;

use petstore::domain::{Role, store_area::AuditQuery};

use crate::browser::{PASSWORD, Shop};

#[tokio::test]
async fn known_and_unknown_names_get_the_same_response_after_the_same_work() {
    let shop = Shop::open().await;
    shop.member("Ana", Role::Clerk).await;
    shop.invite("Bo", Role::Clerk).await;
    let mut manager = shop.member("Eve", Role::Manager).await;
    shop.member("Cy", Role::Clerk).await;
    let cy = shop.find("Cy").await.id;
    manager.post(&format!("/settings/staff/{cy}"), &[("do", "disable")]).await.expect(303);
    let wrong = async |name: &str, password: &str| {
        let before = shop.console.computed_hashes();
        let page = shop.browser().sign_in(name, password).await.expect(403);
        assert_eq!(shop.console.computed_hashes() - before, 1, "{name}");
        let headers = format!("{:?}", page.headers.keys().collect::<Vec<_>>());
        (page.text.replace(name, "NAME"), headers)
    };
    let of_nobody = wrong("Nobody", PASSWORD).await;
    assert!(of_nobody.0.contains("The name or the password is wrong."));
    // Of a wrong password, of a name without a password, and of one that is disabled.
    for (name, password) in [
        ("Ana", "wrong"),
        ("Bo", PASSWORD),
        ("Cy", PASSWORD),
        ("\u{202e}", ""),
        ("Ana", &"x".repeat(1000)),
    ] {
        assert_eq!(wrong(name, password).await, of_nobody, "{name}");
    }
}

#[tokio::test]
async fn a_stranger_cannot_keep_a_member_out_who_has_signed_in_before() {
    let shop = Shop::open().await;
    let mut known = shop.member("Ana", Role::Clerk).await;
    known.post("/sign-out", &[]).await.expect(303);
    let mut stranger = shop.browser();
    for _ in 0..60 {
        stranger.sign_in("Ana", "wrong password").await.expect(403);
    }
    let page = stranger.sign_in("ANA", PASSWORD).await.expect(429);
    assert!(
        page.text.contains("too many attempts") && page.text.contains("value=\"ANA\""),
        "{page:?}"
    );
    shop.browser().sign_in("Ana", PASSWORD).await.expect(429);
    known.sign_in("Ana", PASSWORD).await.expect(303);
    // Somebody else on the same machine, too.
    let link = shop.invite("Bo", Role::Clerk).await;
    shop.browser().post(&link, &[("new", PASSWORD), ("again", PASSWORD)]).await.expect(303);
    shop.browser().sign_in("Bo", PASSWORD).await.expect(303);
    // The browser of one member is not that of another.
    let mut bo = shop.browser();
    bo.cookies.clone_from(&known.cookies);
    for _ in 0..59 {
        bo.sign_in("Bo", "wrong password").await.expect(403);
    }
    bo.sign_in("Bo", PASSWORD).await.expect(429);
    shop.clock.advance(Duration::from_mins(2));
    shop.browser().sign_in("Ana", PASSWORD).await.expect(303);
}

#[tokio::test]
async fn failed_attempts_are_in_the_audit_trail_without_what_was_typed_and_do_not_fill_it() {
    let shop = Shop::open().await;
    shop.member("Ana", Role::Clerk).await;
    shop.browser().sign_in("Ana", "wrong").await.expect(403);
    shop.browser().sign_in("hunter2 is my password", "").await.expect(403);
    let acts = shop.acts().await;
    assert_eq!(
        acts[2..],
        ["staff.sign_in_failed staff:1 by clock", "staff.sign_in_failed staff by clock"]
    );
    let query = AuditQuery { limit: 1000, ..AuditQuery::default() };
    let shown = format!("{:?}", shop.store.list_audit(&query).await.unwrap());
    assert!(shown.contains("127.0.0.1") && !shown.contains("hunter2"), "{shown}");
    assert_eq!(shop.find("Ana").await.version, 2);
}
