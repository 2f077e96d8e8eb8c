//! Photos on the page of an animal.

use std::time::Duration;

use petstore::domain::Role;

use super::browser::{Browser, Page, Shop};
use crate::api::pictures;

async fn add(clerk: &mut Browser<'_>) -> String {
    let form = [("name", "Luna"), ("category", "1"), ("status", "available")];
    clerk.post("/add", &form).await.next().to_owned()
}

/// The photos on the page of an animal: what their pictures say.
async fn texts(browser: &mut Browser<'_>, path: &str) -> Vec<String> {
    let page = browser.get(path).await.expect(200);
    let list = page.text.split("<ol class=\"photos\">").nth(1).unwrap_or_default();
    let list = list.split("</ol>").next().unwrap();
    list.split(" alt=\"").skip(1).map(|alt| alt.split('"').next().unwrap().to_owned()).collect()
}

/// The identifier of the photo at this position.
async fn photo(browser: &mut Browser<'_>, path: &str, at: usize) -> String {
    let page = browser.get(path).await.expect(200);
    let value = page.text.split("data-photo=\"").nth(at + 1).unwrap();
    value.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_clerk_adds_several_photos_at_once_and_learns_which_did_not_arrive() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let (picture, target) = (pictures::png(8, 6), format!("{path}/photos"));
    let key = clerk.get(&path).await.expect(200).key_before("name=\"pictures\"");
    let files: [(&str, &[u8]); 2] = [("a.png", &picture), ("b.png", &picture)];
    let next = clerk.upload(&target, &key, &files).await.next().to_owned();
    assert_eq!(next, format!("{path}#photos"));
    let both = ["Photo 1 of Luna", "Photo 2 of Luna"];
    assert_eq!(texts(&mut clerk, &path).await, both);
    // The same form again, because the response was lost.
    clerk.upload(&target, &key, &files).await.expect(303);
    assert_eq!(texts(&mut clerk, &path).await, both);
    let key = clerk.get(&path).await.expect(200).key_before("name=\"pictures\"");
    let files: [(&str, &[u8]); 3] =
        [("c.png", &picture), ("letter.pdf", b"%PDF-1.7"), ("d.png", &picture[..70])];
    let page = clerk.upload(&target, &key, &files).await.expect(422);
    for text in ["1 photo added.", "letter.pdf", "d.png", "truncated"] {
        assert!(page.text.contains(text), "{text}: {page:?}");
    }
    assert_eq!(texts(&mut clerk, &path).await.len(), 3);
    // The portrait is on the list, as the smallest file; and the drawing of an animal without a photo, once.
    for _ in 0..2 {
        add(&mut clerk).await;
    }
    let list = clerk.get("/animals").await.expect(200).text;
    assert_eq!(list.matches("/photos/").count(), 1, "{list}");
    assert!(list.contains("-small.jpg\"") && list.contains("alt=\"Photo 1 of Luna\""), "{list}");
    assert_eq!(list.matches("href=\"#d-").count(), 2, "{list}");
    assert_eq!(list.matches("<symbol ").count(), 1, "{list}");
}

#[tokio::test]
async fn photos_change_their_order_and_text_and_can_be_deleted() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let (picture, target) = (pictures::png(8, 6), format!("{path}/photos/change"));
    let files: [(&str, &[u8]); 2] = [("a.png", &picture), ("b.png", &picture)];
    clerk.upload(&format!("{path}/photos"), "", &files).await.expect(303);
    let second = photo(&mut clerk, &path, 1).await;
    let first = photo(&mut clerk, &path, 0).await;
    let alts = [&first, &second].map(|photo| format!("alt-{photo}"));
    let pressed = ["up", "down", "delete"].map(|button| format!("{button}-{second}"));
    let [up, down, delete] = pressed.each_ref().map(String::as_str);
    let form = |act, version, texts: [&'static str; 2]| {
        let [first, second] = alts.each_ref().map(String::as_str);
        [("version", version), ("do", act), (first, texts[0]), (second, texts[1])]
    };
    // All texts are saved, whichever button is pressed.
    let both = ["Asleep", "On a chair"];
    clerk.post(&target, &form("save", "3", both)).await.expect(303);
    assert_eq!(texts(&mut clerk, &path).await, both);
    clerk.post(&target, &form(up, "5", ["Awake", "On a chair"])).await.expect(303);
    assert_eq!(texts(&mut clerk, &path).await, ["On a chair", "Awake"]);
    // Somebody else has changed the animal.
    let stale = clerk.post(&target, &form(down, "5", ["Away", "Here"])).await.expect(422);
    assert_eq!(alts.each_ref().map(|alt| stale.typed(alt)), ["Away", "Here"]);
    clerk.post(&target, &form(down, "7", ["", "On a chair"])).await.expect(303);
    assert_eq!(texts(&mut clerk, &path).await, ["Photo 1 of Luna", "On a chair"]);
    // Nothing to save.
    clerk.post(&target, &form("save", "9", ["", "On a chair"])).await.expect(303);
    let form = form(delete, "9", ["Asleep", "Gone"]);
    let sure = clerk.post(&target, &form).await.expect(200).hidden("sure");
    clerk.post(&target, &[&form[..], &[("sure", &sure)]].concat()).await.expect(303);
    assert_eq!(texts(&mut clerk, &path).await, ["Asleep"]);
    let history = clerk.get(&path).await.expect(200);
    for line in ["Photo added", "Photo described", "Photos put in another order", "Photo deleted"] {
        assert!(history.text.contains(line), "{line}: {history:?}");
    }
}

#[tokio::test]
async fn one_press_makes_a_photo_the_main_photo() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let (picture, target) = (pictures::png(8, 6), format!("{path}/photos/change"));
    let files: [(&str, &[u8]); 3] = [("a.png", &picture), ("b.png", &picture), ("c.png", &picture)];
    clerk.upload(&format!("{path}/photos"), "", &files).await.expect(303);
    let mut order = Vec::new();
    for at in 0..3 {
        order.push(photo(&mut clerk, &path, at).await);
    }
    let page = clerk.get(&path).await.expect(200);
    let has_button = |at: usize| page.text.contains(&format!("value=\"first-{}\"", order[at]));
    assert_eq!([has_button(0), has_button(1), has_button(2)], [false, true, true], "{page:?}");
    assert!(page.text.contains("aria-label=\"Use as main photo: photo 3\""), "{page:?}");
    let first = format!("first-{}", order[2]);
    let alt = format!("alt-{}", order[2]);
    let form = [("version", "4"), ("do", &first), (&*alt, "On a chair")];
    clerk.post(&target, &form).await.expect(303);
    let page = clerk.get(&path).await.expect(200);
    assert_eq!(page.text.matches("Photos put in another order").count(), 1, "{page:?}");
    let moved = ["On a chair", "Photo 2 of Luna", "Photo 3 of Luna"];
    assert_eq!(texts(&mut clerk, &path).await, moved);
    assert_eq!(photo(&mut clerk, &path, 1).await, order[0]);
    undo(&mut clerk, &page).await.expect(303);
    for (at, id) in order.iter().enumerate() {
        assert_eq!(photo(&mut clerk, &path, at).await, *id);
    }
}

/// Presses *Undo* in the message on the page, and returns its response.
async fn undo(clerk: &mut Browser<'_>, page: &Page) -> Page {
    let form = page.between("<form data-undo", "</form>");
    let value = |name: &str| {
        let value = form.split(&format!("name=\"{name}\" value=\"")).nth(1)?;
        Some(value.split('"').next().unwrap())
    };
    let fields: Vec<_> = ["_key", "do", "position", "version"]
        .into_iter()
        .filter_map(|name| Some((name, value(name)?)))
        .collect();
    let path = form.split("action=\"").nth(1).unwrap().split('"').next().unwrap();
    clerk.post(path, &fields).await
}

#[tokio::test]
async fn a_deleted_photo_and_a_moved_one_are_put_back() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let (path, other) = (add(&mut clerk).await, add(&mut clerk).await);
    let (picture, target) = (pictures::png(8, 6), format!("{path}/photos/change"));
    let files: [(&str, &[u8]); 3] = [("a.png", &picture), ("b.png", &picture), ("c.png", &picture)];
    clerk.upload(&format!("{path}/photos"), "", &files).await.expect(303);
    let second = photo(&mut clerk, &path, 1).await;
    let (alt, delete) = (format!("alt-{second}"), format!("delete-{second}"));
    clerk.post(&target, &[("version", "4"), (&alt, "On a chair")]).await.expect(303);
    let all = ["Photo 1 of Luna", "On a chair", "Photo 3 of Luna"];
    assert_eq!(texts(&mut clerk, &path).await, all);

    let up = format!("up-{second}");
    clerk.post(&target, &[("version", "5"), ("do", &up)]).await.expect(303);
    let page = clerk.get(&path).await.expect(200);
    assert_eq!(
        texts(&mut clerk, &path).await,
        ["On a chair", "Photo 2 of Luna", "Photo 3 of Luna"]
    );
    undo(&mut clerk, &page).await.expect(303);
    assert_eq!(texts(&mut clerk, &path).await, all);

    let asked = clerk.post(&target, &[("version", "7"), ("do", &delete)]).await.expect(200);
    assert!(asked.text.contains(&format!("src=\"/photos/{second}-small.jpg\"")), "{asked:?}");
    let sure = asked.hidden("sure");
    let gone = [("version", "7"), ("do", delete.as_str()), ("sure", &sure), ("_key", "k")];
    // Also a second click, which gets the same message.
    for _ in 0..2 {
        clerk.post(&target, &gone).await.expect(303);
    }
    let page = clerk.get(&path).await.expect(200);
    assert!(page.text.contains("Photo removed."), "{page:?}");
    assert_eq!(texts(&mut clerk, &path).await.len(), 2);
    for _ in 0..2 {
        undo(&mut clerk, &page).await.expect(303);
        assert!(clerk.get(&path).await.expect(200).text.contains("The photo is back."));
        assert_eq!(texts(&mut clerk, &path).await, all);
    }
    // Its files are there.
    clerk.stream(&format!("/photos/{second}-large.jpg")).await;

    // Another animal never had it.
    let restore = format!("restore-{second}");
    let refused =
        clerk.post(&format!("{other}/photos/change"), &[("do", &restore)]).await.expect(422);
    assert!(refused.text.contains("This photo cannot be put back"), "{refused:?}");

    clerk.post(&target, &[("version", "10"), ("do", &delete), ("sure", &sure)]).await.expect(303);
    shop.clock.advance(Duration::from_hours(22));
    let mut clerk = shop.member("Di", Role::Clerk).await;
    let button = format!("value=\"{restore}\">Put it back<");
    assert!(clerk.get(&path).await.expect(200).text.contains(&button));
    shop.clock.advance(Duration::from_hours(2));
    let mut clerk = shop.member("Ed", Role::Clerk).await;
    assert!(!clerk.get(&path).await.expect(200).text.contains(&button));
    clerk.post(&target, &[("do", &restore)]).await.expect(422);
    assert_eq!(texts(&mut clerk, &path).await.len(), 2);
}

#[tokio::test]
async fn a_picture_needs_no_session_and_a_viewer_changes_nothing() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let picture = pictures::png(8, 6);
    let target = format!("{path}/photos");
    clerk.upload(&target, "", &[("a.png", &picture)]).await.expect(303);
    let url = format!("/photos/{}-small.jpg", photo(&mut clerk, &path, 0).await);
    let mut stranger = shop.browser();
    let file = stranger.stream(&url).await;
    assert!(file.whole().unwrap().starts_with(b"\xff\xd8"));
    stranger.get("/photos/x").await.expect(404);
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    viewer.upload(&target, "", &[("a.png", &picture)]).await.expect(403);
    let page = viewer.get(&path).await.expect(200);
    assert!(page.text.contains(&url) && !page.text.contains("type=\"file\""));
}

/// Without the script, which keeps them.
#[tokio::test]
async fn photos_of_a_session_that_is_over_must_be_chosen_again() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let picture = pictures::png(8, 6);
    let mut stranger = shop.browser();
    let page = stranger.upload(&format!("{path}/photos"), "", &[("a.png", &picture)]).await;
    let page = page.expect(403);
    assert!(page.text.contains("The photos were not added: sign in, and choose them again."));
    assert!(!page.text.contains("What you typed"), "{page:?}");
    assert_eq!(page.hidden("next"), path);
}

#[tokio::test]
async fn a_picture_of_a_phone_that_no_browser_shows_is_named() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let heic: &[u8] = b"\0\0\0\x18ftypheic\0\0\0\0mif1";
    let page = clerk.upload(&format!("{path}/photos"), "", &[("a.heic", heic)]).await.expect(422);
    assert!(page.text.contains("This is a HEIC picture. Set the camera to"), "{page:?}");
}

#[tokio::test]
async fn a_form_has_at_most_100_parts() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let empty: (&str, &[u8]) = ("a.png", b"");
    let target = format!("{path}/photos");
    clerk.upload(&target, "", &vec![empty; 98]).await.expect(422);
    clerk.upload(&target, "", &vec![empty; 100]).await.expect(413);
}

#[tokio::test]
async fn the_pages_have_icons_for_every_browser_and_phone() {
    let shop = Shop::open().await;
    let page = shop.browser().get("/sign-in").await.expect(200);
    for path in ["/favicon.ico", "/apple-touch-icon.png"] {
        assert!(page.text.contains(&format!("href=\"{path}\"")), "{path}");
        let icon = shop.browser().get(path).await.expect(200);
        assert_eq!(icon.field("cache-control"), "public, max-age=86400");
        assert!(icon.field("content-type").starts_with("image/"));
    }
}
