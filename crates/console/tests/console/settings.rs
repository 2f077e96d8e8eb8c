//! What managers do: staff and API keys; and what others may not.

use std::time::Duration;

use petstore_domain::{
    Role,
    store_area::{AuditEntry, AuditQuery},
};

use super::browser::{Browser, PASSWORD, Shop};

#[tokio::test]
async fn each_role_gets_only_its_pages() {
    let shop = Shop::open().await;
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    for path in [
        "/settings",
        "/settings/store",
        "/settings/staff",
        "/settings/keys",
        "/settings/webhooks",
        "/activity",
    ] {
        viewer.get(path).await.expect(403);
        let page = clerk.get(path).await.expect(403);
        assert!(
            page.text.contains("Your role does not include this page."),
            "{page:?}"
        );
        assert_eq!(
            shop.browser().get(path).await.expect(303).next()[..14],
            *"/sign-in?next="
        );
    }
    for (path, form) in [
        (
            "/settings/staff",
            &[("name", "Eve"), ("role", "manager")][..],
        ),
        ("/settings/staff/1", &[("do", "disable")]),
        ("/settings/staff/2", &[("do", "role"), ("role", "manager")]),
        ("/settings/sessions/end", &[("session", "x")]),
        ("/settings/keys", &[("name", "till"), ("scope", "write")]),
        ("/settings/keys/1", &[("do", "revoke")]),
    ] {
        clerk.post(path, form).await.expect(403);
    }
    for path in [
        "/add",
        "/animals/1/edit",
        "/animals/1/order",
        "/animals/1/withdraw",
        "/orders/1/cancel",
    ] {
        viewer.post(path, &[]).await.expect(403);
    }
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 2);
    assert_eq!(shop.find("Cy").await.role, Role::Clerk);
}

#[tokio::test]
async fn a_manager_adds_changes_and_disables_staff() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    let hostile = "<script>alert(1)</script>";
    let form = [("name", hostile), ("role", "viewer")];
    let page = manager.post("/settings/staff", &form).await.expect(200);
    let link = page
        .between("<code class=\"secret\">http://localhost:8081", "</code>")
        .to_owned();
    let mut member = shop.browser();
    member
        .post(&link, &[("new", PASSWORD), ("again", PASSWORD)])
        .await
        .expect(303);
    let page = manager.get("/settings/staff").await.expect(200);
    assert!(
        page.text.contains("&lt;script&gt;") && !page.text.contains("<script>alert"),
        "{page:?}"
    );
    for (name, wrong) in [
        (hostile, "There is already a staff member with this name."),
        ("", "one line of 1 to 64"),
    ] {
        let page = manager
            .post("/settings/staff", &[("name", name), ("role", "clerk")])
            .await;
        assert!(page.expect(422).text.contains(wrong));
    }
    let owner = [("name", "Bo"), ("role", "owner")];
    let page = manager.post("/settings/staff", &owner).await;
    assert!(page.text.contains("This form is not complete."), "{page:?}");
    let id = shop.find(hostile).await.id;
    let path = format!("/settings/staff/{id}");
    let asked = manager
        .post(&path, &[("do", "role"), ("role", "clerk")])
        .await
        .expect(200);
    assert!(
        asked
            .text
            .contains(" is now a viewer, and will be a clerk."),
        "{asked:?}"
    );
    manager
        .post_and_confirm(&path, &[("do", "role"), ("role", "clerk")])
        .await
        .expect(303);
    // At once, also for a session that began before.
    member.get("/add").await.expect(200);
    manager
        .post_and_confirm(&path, &[("do", "disable")])
        .await
        .expect(303);
    assert!(!member.is_in().await);
    member.sign_in(hostile, PASSWORD).await.expect(403);
    let page = manager
        .post_and_confirm(&path, &[("do", "reset")])
        .await
        .expect(200);
    member.sign_in(hostile, PASSWORD).await.expect(403);
    let link = page.between("<code class=\"secret\">http://localhost:8081", "</code>");
    member
        .post(link, &[("new", PASSWORD), ("again", PASSWORD)])
        .await
        .expect(303);
    assert!(member.is_in().await);
    // Another link ends what began with the one before.
    manager
        .post_and_confirm(&path, &[("do", "reset")])
        .await
        .expect(200);
    assert!(!member.is_in().await);
    let acts = shop.acts().await;
    for act in [
        "staff.added",
        "staff.role_changed",
        "staff.disabled",
        "staff.reset",
    ] {
        assert!(
            acts.contains(&format!("{act} staff:{id} by staff:1")),
            "{acts:?}"
        );
    }
    for path in ["/settings/staff/99", "/settings/staff/x"] {
        manager.post(path, &[("do", "disable")]).await.expect(404);
    }
}

#[tokio::test]
async fn what_ends_access_or_messages_is_asked_and_says_what_ends() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    let mut member = shop.member("Bo", Role::Clerk).await;
    for (path, form) in [
        ("/settings/keys", [("name", "till <1>"), ("scope", "read")]),
        (
            "/settings/webhooks",
            [("url", "https://shop.example/hook"), ("type", "pet.added")],
        ),
    ] {
        manager.post(path, &form).await.expect(200);
    }
    for (path, command, title, effect) in [
        (
            "staff/2",
            "disable",
            "Block Bo?",
            "All sessions of Bo end at once, and Bo can no longer",
        ),
        (
            "staff/2",
            "reset",
            "Create a new link for Bo?",
            "The password, the second factor and the passkeys of Bo",
        ),
        (
            "keys/1",
            "revoke",
            "Revoke the key “till &lt;1&gt;”?",
            "every program with this key is rejected",
        ),
        (
            "webhooks/1/disable",
            "",
            "Disable https://shop.example/hook?",
            "until you enable it.",
        ),
        (
            "webhooks/1/delete",
            "",
            "Delete https://shop.example/hook?",
            "cannot be undone.",
        ),
    ] {
        let path = format!("/settings/{path}");
        let page = manager.post(&path, &[("do", command)]).await.expect(200);
        for shown in [title, effect, "Go back</a>"] {
            assert!(page.text.contains(shown), "{shown}: {page:?}");
        }
        // Yes to another question is not enough.
        let form = [("do", command), ("sure", "Block Eve? ")];
        manager.post(&path, &form).await.expect(200);
    }
    assert!(member.is_in().await);
    assert!(
        shop.store.list_keys().await.unwrap()[0]
            .revoked_at
            .is_none()
    );
    let webhooks = shop.store.list_webhooks().await.unwrap();
    assert!(webhooks[0].webhook.disabled.is_none());
    manager
        .post_and_confirm("/settings/webhooks/1/disable", &[])
        .await
        .expect(303);
    let webhooks = shop.store.list_webhooks().await.unwrap();
    assert!(webhooks[0].webhook.disabled.is_some());
}

#[tokio::test]
async fn no_manager_locks_themselves_out() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    for form in [
        &[("do", "disable")][..],
        &[("do", "reset")],
        &[("do", "role"), ("role", "viewer")],
    ] {
        manager.post("/settings/staff/1", form).await.expect(403);
    }
    assert_eq!(shop.find("Ana").await.version, 2);
}

#[tokio::test]
async fn a_manager_ends_the_session_of_a_member() {
    let shop = Shop::open().await;
    let mut member = shop.member("Bo", Role::Clerk).await;
    shop.clock.advance(Duration::from_secs(1));
    let mut manager = shop.member("Ana", Role::Manager).await;
    let page = manager.get("/settings/staff").await.expect(200);
    let of_bo = page.between("<bdi>Bo</bdi>: ", "</form>");
    let (_, session) = of_bo.split_once("name=\"session\" value=\"").unwrap();
    let session = session.split_once('"').unwrap().0;
    manager
        .post("/settings/sessions/end", &[("session", session)])
        .await
        .expect(303);
    assert!(!member.is_in().await && manager.is_in().await);
    assert!(
        shop.acts()
            .await
            .contains(&"staff.sessions_ended staff:1 by staff:2".to_owned())
    );
}

#[tokio::test]
async fn a_manager_makes_rotates_and_revokes_keys_that_are_shown_once() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    let form = [("name", "till <1>"), ("scope", "store:write")];
    let page = manager.post("/settings/keys", &form).await.expect(200);
    let key = page
        .between("<code class=\"secret\">", "</code>")
        .to_owned();
    let is_valid = async |key: &str| {
        let digest = petstore_domain::KeyDigest::from_presented(
            key,
            petstore_domain::Deployment::Production,
        );
        let found = shop
            .store
            .find_key(&digest.unwrap())
            .await
            .unwrap()
            .unwrap();
        found.is_valid_at(petstore_domain::Clock::now(shop.clock.as_ref()))
    };
    assert!(is_valid(&key).await);
    let list = manager.get("/settings/keys").await.expect(200);
    assert!(
        list.text.contains("till &lt;1&gt;") && !list.text.contains(&key),
        "{list:?}"
    );
    let page = manager
        .post("/settings/keys/1", &[("do", "rotate")])
        .await
        .expect(200);
    let successor = page
        .between("<code class=\"secret\">", "</code>")
        .to_owned();
    manager
        .post("/settings/keys/1", &[("do", "rotate")])
        .await
        .expect(422);
    assert!(is_valid(&key).await && is_valid(&successor).await);
    manager
        .post_and_confirm("/settings/keys/2", &[("do", "revoke")])
        .await
        .expect(303);
    assert!(!is_valid(&successor).await);
    shop.clock.advance(Duration::from_hours(24));
    assert!(!is_valid(&key).await);
    for (name, scope) in [("", "write"), ("a", "root"), (&*"a".repeat(256), "read")] {
        manager.sign_in("Ana", PASSWORD).await.expect(303);
        manager
            .post("/settings/keys", &[("name", name), ("scope", scope)])
            .await
            .expect(422);
    }
    let acts = shop.acts().await;
    for act in [
        "key.created key:1",
        "key.rotated key:1",
        "key.revoked key:2",
    ] {
        assert!(acts.contains(&format!("{act} by staff:1")), "{acts:?}");
    }
    let query = AuditQuery {
        limit: 1000,
        ..AuditQuery::default()
    };
    let (entries, _) = shop.store.list_audit(&query).await.unwrap();
    let names_actor = |entry: &AuditEntry| match entry {
        AuditEntry::Act {
            act,
            actor,
            request_id,
            ..
        } => {
            act.kind.as_str() != "key.created"
                || actor.name.as_deref() == Some("Ana") && request_id.is_some()
        }
        AuditEntry::Change(_) => false,
    };
    assert!(entries.iter().all(names_actor), "{entries:?}");
}

#[tokio::test]
async fn a_form_that_is_sent_twice_makes_one_secret_and_shows_it_again() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    let twice = async |manager: &mut Browser<'_>, path: &str, form: &[(&str, &str)]| {
        let first = manager
            .post(path, form)
            .await
            .expect(200)
            .secret()
            .to_owned();
        assert_eq!(
            manager.post(path, form).await.expect(200).secret(),
            first,
            "{path}"
        );
        first
    };
    // A key.
    let page = manager.get("/settings/keys").await;
    let form_key = page.key_before("id=\"scope\"");
    let form = [("_key", &*form_key), ("name", "till"), ("scope", "read")];
    let key = twice(&mut manager, "/settings/keys", &form).await;
    assert_eq!(shop.store.list_keys().await.unwrap().len(), 1);
    // The same values in another form make another key, and so do other values.
    let page = manager.get("/settings/keys").await;
    let other_key = page.key_before("id=\"scope\"");
    let other = [("_key", &*other_key), form[1], form[2]];
    let changed = [form[0], ("name", "scale"), form[2]];
    for form in [other, changed] {
        assert_ne!(
            manager
                .post("/settings/keys", &form)
                .await
                .expect(200)
                .secret(),
            key
        );
    }
    // Its successor.
    let form_key = page.key_before("value=\"rotate\"");
    let form = [("_key", &*form_key), ("do", "rotate")];
    twice(&mut manager, "/settings/keys/1", &form).await;
    assert_eq!(shop.store.list_keys().await.unwrap().len(), 4);
    // A member.
    let page = manager.get("/settings/staff").await;
    let form_key = page.key_before("id=\"role\"");
    let form = [("_key", &*form_key), ("name", "Bo"), ("role", "clerk")];
    let link = twice(&mut manager, "/settings/staff", &form).await;
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 2);
    // A new link.
    let page = manager.get("/settings/staff").await;
    let form_key = page.key_before("value=\"reset\"");
    let form = [("_key", &*form_key), ("version", "1"), ("do", "reset")];
    let sure = manager
        .post("/settings/staff/2", &form)
        .await
        .expect(200)
        .hidden("sure");
    let form = [form[0], form[1], form[2], ("sure", &*sure)];
    let new_link = twice(&mut manager, "/settings/staff/2", &form).await;
    assert_ne!(new_link, link);
    assert_eq!(shop.find("Bo").await.version, 2);
    // Sent again when the member has a password, the form does not take it away.
    let path = new_link.strip_prefix("http://localhost:8081").unwrap();
    let mut member = shop.browser();
    member
        .post(path, &[("new", PASSWORD), ("again", PASSWORD)])
        .await
        .expect(303);
    manager.post("/settings/staff/2", &form).await.expect(409);
    assert!(member.is_in().await);
}

#[tokio::test]
async fn of_two_clicks_at_once_one_makes_the_key_and_both_show_it() {
    let shop = Shop::open().await;
    let form_key = "0123456789abcdef0123456789abcdef";
    let (mut one, mut other) = (shop.member("Ana", Role::Manager).await, shop.browser());
    other.cookies.clone_from(&one.cookies);
    for (path, form) in [
        (
            "/settings/keys",
            [("_key", form_key), ("name", "till"), ("scope", "read")],
        ),
        (
            "/settings/staff",
            [("_key", form_key), ("name", "Bo"), ("role", "clerk")],
        ),
    ] {
        let (one, other) = tokio::join!(one.post(path, &form), other.post(path, &form));
        assert_eq!(one.expect(200).secret(), other.expect(200).secret());
    }
    assert_eq!(shop.store.list_keys().await.unwrap().len(), 1);
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 2);
}

#[tokio::test]
async fn pages_are_counted_by_their_route() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    browser.get("/account").await.expect(200);
    let metrics = shop.api.metrics();
    let sample = r#"http_server_requests_total{operation="console.account",http_route="/account",http_response_status_code="200"} 1"#;
    assert!(metrics.contains(sample), "{metrics}");
    // No secret of a link.
    let sample = r#"operation="console.choosePassword",http_route="/link/{token}""#;
    assert!(metrics.contains(sample), "{metrics}");
}

#[tokio::test]
async fn a_link_that_is_shown_once_has_a_button_that_copies_exactly_this_link() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    let form = [("name", "Bo"), ("role", "clerk")];
    let page = manager.post("/settings/staff", &form).await.expect(200);
    let copied = page.between("data-copy=\"", "\"");
    assert_eq!(copied, page.secret());
    assert!(
        page.text.contains("<h1>Link to set the password</h1>"),
        "{page:?}"
    );
}
