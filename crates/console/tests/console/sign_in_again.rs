//! Signing in again: before what is delicate, and when a session has ended while a form was open.

use std::time::Duration;

use petstore_domain::Role;

use super::browser::{Browser, PASSWORD, Page, Shop};

/// Fills the form to sign in of this page, and sends it.
async fn sign_in_on(browser: &mut Browser<'_>, page: &Page, name: &str) -> Page {
    let typed = [("name", name), ("password", PASSWORD)];
    browser.submit((page, "/sign-in"), "/sign-in", &typed).await
}

/// Presses the button that sends what was kept.
async fn send_kept(browser: &mut Browser<'_>, page: &Page) -> Page {
    let path = page
        .between("<form method=\"post\" action=\"", "\"")
        .to_owned();
    let fields: Vec<(String, String)> = page
        .text
        .split("type=\"hidden\" name=\"")
        .skip(1)
        .map(|field| {
            let (name, rest) = field.split_once("\" value=\"").unwrap();
            let value = rest
                .split_once('"')
                .unwrap()
                .0
                .replace("&lt;", "<")
                .replace("&gt;", ">");
            (
                name.to_owned(),
                value.replace("&quot;", "\"").replace("&amp;", "&"),
            )
        })
        .collect();
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    browser.post(&path, &fields).await
}

#[tokio::test]
async fn five_minutes_after_signing_in_keys_and_staff_need_the_password_again() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Ana", Role::Manager).await;
    let form = [("name", "Zoé & <co> \"1\""), ("role", "clerk")];
    shop.clock.advance(Duration::from_mins(5));
    assert!(manager.is_in().await);
    for path in [
        "/settings/staff/1",
        "/settings/sessions/end",
        "/settings/keys",
        "/settings/keys/1",
        "/account/second-factor",
        "/account/second-factor/remove",
        "/account/recovery-codes",
        "/account/passkeys",
        "/account/passkeys/remove",
        "/settings/webhooks",
    ] {
        let page = manager.post(path, &[]).await.expect(403);
        assert_eq!(page.hidden("kept_path"), path);
    }
    let page = manager.post("/settings/staff", &form).await.expect(403);
    assert_eq!(page.hidden("kept_path"), "/settings/staff");
    assert!(page.text.contains("value=\"Ana\""), "{page:?}");
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 1);
    // A wrong password keeps what was typed, too.
    let wrong = [("name", "Ana"), ("password", "x")];
    let page = manager
        .submit((&page, "/sign-in"), "/sign-in", &wrong)
        .await
        .expect(403);
    let page = sign_in_on(&mut manager, &page, "Ana").await.expect(200);
    assert_eq!(shop.store.list_staff().await.unwrap().len(), 1);
    send_kept(&mut manager, &page).await.expect(200);
    let member = shop.find("Zoé & <co> \"1\"").await;
    assert_eq!(member.role, Role::Clerk);
}

#[tokio::test]
async fn what_was_typed_survives_the_end_of_the_session() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Ana", Role::Clerk).await;
    let form = [
        ("name", "Rex 🐕"),
        ("category", "1"),
        ("status", "available"),
        ("_key", "k-1"),
    ];
    shop.clock.advance(Duration::from_mins(31));
    let page = clerk.post("/add", &form).await.expect(403);
    let page = sign_in_on(&mut clerk, &page, "Ana").await.expect(200);
    let added = send_kept(&mut clerk, &page).await;
    assert!(added.next().starts_with("/animals/1"), "{added:?}");
    // A second click adds no second animal.
    let again = send_kept(&mut clerk, &page).await;
    assert_eq!(again.next(), added.next());
    assert!(
        clerk
            .get("/animals/1")
            .await
            .expect(200)
            .text
            .contains("Rex 🐕")
    );
    clerk.get("/animals/2").await.expect(404);
}

#[tokio::test]
async fn a_form_that_is_too_long_is_not_kept_and_the_page_says_what_to_do() {
    let shop = Shop::open().await;
    let mut browser = shop.browser();
    let long = "x".repeat(65 << 10);
    let page = browser
        .post("/add/many", &[("lines", &long)])
        .await
        .expect(403);
    assert!(page.text.contains("too long to be kept") && !page.text.contains("xxx"));
    // As long as is kept, in the longest spelling.
    let long = "é".repeat(10_000);
    let page = browser.post("/add", &[("name", &long)]).await.expect(403);
    let kept = page.hidden("kept");
    let wrong = [("name", "x"), ("password", "x")];
    let page = browser
        .submit((&page, "/sign-in"), "/sign-in", &wrong)
        .await
        .expect(403);
    assert_eq!(page.hidden("kept"), kept);
}

#[tokio::test]
async fn a_form_of_another_member_is_shown_and_sent_only_when_that_is_chosen() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    shop.member("Bo <2>", Role::Clerk).await;
    let key = browser
        .get("/add")
        .await
        .expect(200)
        .key_before("id=\"name\"");
    let form = [
        ("name", "Rex <3>"),
        ("category", "1"),
        ("status", "available"),
        ("_key", &key),
    ];
    shop.clock.advance(Duration::from_mins(31));
    let kept = browser.post("/add", &form).await.expect(403);
    let page = sign_in_on(&mut browser, &kept, "Ana").await.expect(200);
    assert!(
        page.text.contains("Rex &lt;3&gt;") && !page.text.contains("Ana filled in"),
        "{page:?}"
    );
    // The form of another one is a question: after signing in, and in a window that was left open.
    let asked = sign_in_on(&mut browser, &kept, "Bo <2>").await.expect(409);
    for page in [&asked, &browser.post("/add", &form).await.expect(409)] {
        for shown in [
            "Ana filled in this form, and you are signed in as Bo &lt;2&gt;.",
            "Add the animal",
            "<bdi>Rex &lt;3&gt;</bdi>",
            "<button>Send it as Bo &lt;2&gt;</button>",
        ] {
            assert!(page.text.contains(shown), "{shown}: {page:?}");
        }
    }
    browser.get("/animals/1").await.expect(404);
    for _ in 0..2 {
        assert_eq!(send_kept(&mut browser, &asked).await.next(), "/animals/1");
    }
    assert!(
        browser
            .get("/animals/1")
            .await
            .expect(200)
            .text
            .contains("Bo &lt;2&gt;, ")
    );
    browser.get("/animals/2").await.expect(404);
}

#[tokio::test]
async fn a_form_of_another_member_shows_all_that_was_typed_with_its_labels() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    shop.member("Bo", Role::Clerk).await;
    shop.member("Vi", Role::Viewer).await;
    shop.import(&["Rex"]).await;
    let mut shown = Vec::new();
    for (page, form, typed) in [
        (
            "/add",
            "/add",
            &[
                ("name", "Max"),
                ("field.price", "999"),
                ("field.microchip", "111"),
            ][..],
        ),
        (
            "/animals/1/edit",
            "/animals/1/edit",
            &[("field.breed", "Collie")],
        ),
        (
            "/animals/1",
            "/animals/1/order",
            &[("do", "reserve"), ("contact", "Ann")],
        ),
    ] {
        let page = browser.get(page).await.expect(200);
        shop.clock.advance(Duration::from_mins(31));
        let kept = browser.submit((&page, form), form, typed).await.expect(403);
        let asked = sign_in_on(&mut browser, &kept, "Bo").await.expect(409);
        let values = asked
            .between("<dl class=\"card\">", "</dl>")
            .replace("</dt><dd>", ": ");
        shown.push(
            values
                .replace("<dt>", "\n")
                .replace("</dd>", "")
                .replace("<bdi>", ""),
        );
        let asked = sign_in_on(&mut browser, &kept, "Vi").await.expect(409);
        assert!(!asked.text.contains("<bdi>Ann</bdi>"), "{asked:?}");
        sign_in_on(&mut browser, &kept, "Ana").await.expect(200);
    }
    let all = shown.join("\n").replace("</bdi>", "");
    for line in [
        "Name: Max",
        "Price: 999",
        "Microchip: 111",
        "Breed: Collie",
        "Animal: Rex (1)",
        "Customer: Ann",
    ] {
        assert!(all.contains(&format!("\n{line}")), "{line}: {all}");
    }
    // Of what was there before, only what was changed.
    assert!(!shown[1].contains("Name"), "{shown:?}");
}

#[tokio::test]
async fn a_kept_form_for_several_animals_shows_what_the_pressed_button_uses_and_no_filter() {
    let shop = Shop::open().await;
    let mut browser = shop.member("Ana", Role::Clerk).await;
    shop.import(&["Rex", "Max"]).await;
    shop.member("Bo", Role::Clerk).await;
    let page = browser.get("/animals").await.expect(200);
    let key = page.key_before("id=\"to\"");
    let form = [
        ("do", "reserve"),
        ("until", "2026-12-24"),
        ("pet", "1:1"),
        ("pet", "2:1"),
        ("status", "all"),
        ("category", "1"),
        ("_key", &key),
    ];
    shop.clock.advance(Duration::from_mins(31));
    let kept = browser.post("/animals/selected", &form).await.expect(403);
    let asked = sign_in_on(&mut browser, &kept, "Bo").await.expect(409);
    let shown = asked.between("<dl class=\"card\">", "</dl>");
    let fields: Vec<&str> = shown.split("<dt>").skip(2).collect();
    assert_eq!(
        fields,
        [
            "Animal</dt><dd><bdi>Rex</bdi> (1)</dd>",
            "Animal</dt><dd><bdi>Max</bdi> (2)</dd>",
            "Reserved until (end of day)</dt><dd><bdi>24\u{a0}December\u{a0}2026</bdi></dd>",
        ]
    );
}

#[tokio::test]
async fn pages_that_repeat_what_strangers_typed_take_their_part_of_the_memory_until_they_are_read()
{
    let shop = Shop::open().await;
    let mut stranger = shop.browser();
    let form = [("note", &*"\"".repeat(20_000))];
    let (mut unread, mut length) = (Vec::new(), 0);
    loop {
        let (status, page) = stranger.unread("/animals/1/edit", &form).await;
        if status == 503 {
            break;
        }
        length += page.whole().unwrap().len();
        unread.push(page);
        assert!(length < 33 << 20, "{length}");
    }
    assert!(length > 30 << 20, "{length}");
    // Who has typed nothing can still sign in.
    stranger.get("/sign-in").await.expect(200);
    drop(unread);
    assert_ne!(stranger.unread("/animals/1/edit", &form).await.0, 503);
}
