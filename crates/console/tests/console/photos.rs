//! The photos of an animal, and the page for them.

use std::time::Duration;

use petstore_domain::{
    PetId, Role,
    store_area::{Focus, Photo},
};
use petstore_testing::pictures;

use super::browser::{Browser, Page, Shop};

pub(super) async fn add(clerk: &mut Browser<'_>) -> String {
    let form = [("name", "Luna"), ("category", "1"), ("status", "available")];
    clerk.post("/add", &form).await.next().to_owned()
}

/// The page of the photos of an animal: what their pictures say.
async fn texts(browser: &mut Browser<'_>, path: &str) -> Vec<String> {
    let page = browser.get(&format!("{path}/photos")).await.expect(200);
    let list = page
        .text
        .split("<ol class=\"photos\">")
        .nth(1)
        .unwrap_or_default();
    let list = list.split("</ol>").next().unwrap();
    let alt = |image: &str| {
        let alt = image.split(" alt=\"").nth(1).unwrap();
        alt.split('"').next().unwrap().to_owned()
    };
    list.split("<img ").skip(1).map(alt).collect()
}

/// The identifier of the photo at this position.
async fn photo(browser: &mut Browser<'_>, path: &str, at: usize) -> String {
    let page = browser.get(&format!("{path}/photos")).await.expect(200);
    let value = page.text.split("data-photo=\"").nth(at + 1).unwrap();
    value.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_clerk_adds_several_photos_at_once_and_learns_which_did_not_arrive() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let (picture, target) = (pictures::png(8, 6), format!("{path}/photos"));
    let key = clerk
        .get(&target)
        .await
        .expect(200)
        .key_before("name=\"pictures\"");
    let files: [(&str, &[u8]); 2] = [("a.png", &picture), ("b.png", &picture)];
    let next = clerk.upload(&target, &key, &files).await.next().to_owned();
    assert_eq!(next, target);
    let both = ["Photo 1 of Luna", "Photo 2 of Luna"];
    assert_eq!(texts(&mut clerk, &path).await, both);
    // The same form again, because the response was lost.
    clerk.upload(&target, &key, &files).await.expect(303);
    assert_eq!(texts(&mut clerk, &path).await, both);
    let key = clerk
        .get(&target)
        .await
        .expect(200)
        .key_before("name=\"pictures\"");
    let files: [(&str, &[u8]); 3] = [
        ("c.png", &picture),
        ("letter.pdf", b"%PDF-1.7"),
        ("d.png", &picture[..70]),
    ];
    let page = clerk.upload(&target, &key, &files).await.expect(422);
    for text in [
        "1 photo added.",
        "letter.pdf",
        "d.png",
        "its end is missing",
    ] {
        assert!(page.text.contains(text), "{text}: {page:?}");
    }
    assert_eq!(texts(&mut clerk, &path).await.len(), 3);
    // The portrait is on the list, as the smallest file; and the drawing of an animal without a photo, once.
    for _ in 0..2 {
        add(&mut clerk).await;
    }
    let list = clerk.get("/animals").await.expect(200).text;
    assert_eq!(list.matches("/photos/").count(), 1, "{list}");
    assert!(
        list.contains("-small.jpg\"") && list.contains("alt=\"Photo 1 of Luna\""),
        "{list}"
    );
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
    clerk
        .upload(&format!("{path}/photos"), "", &files)
        .await
        .expect(303);
    let second = photo(&mut clerk, &path, 1).await;
    let first = photo(&mut clerk, &path, 0).await;
    let alts = [&first, &second].map(|photo| format!("alt-{photo}"));
    let pressed = ["up", "down", "delete"].map(|button| format!("{button}-{second}"));
    let [up, down, delete] = pressed.each_ref().map(String::as_str);
    let form = |act, version, texts: [&'static str; 2]| {
        let [first, second] = alts.each_ref().map(String::as_str);
        [
            ("version", version),
            ("do", act),
            (first, texts[0]),
            (second, texts[1]),
        ]
    };
    // All texts are saved, whichever button is pressed.
    let both = ["Asleep", "On a chair"];
    clerk
        .post(&target, &form("save", "3", both))
        .await
        .expect(303);
    assert_eq!(texts(&mut clerk, &path).await, both);
    clerk
        .post(&target, &form(up, "5", ["Awake", "On a chair"]))
        .await
        .expect(303);
    assert_eq!(texts(&mut clerk, &path).await, ["On a chair", "Awake"]);
    // Somebody else has changed the animal.
    let stale = clerk
        .post(&target, &form(down, "5", ["Away", "Here"]))
        .await
        .expect(422);
    assert_eq!(
        alts.each_ref().map(|alt| stale.typed(alt)),
        ["Away", "Here"]
    );
    clerk
        .post(&target, &form(down, "7", ["", "On a chair"]))
        .await
        .expect(303);
    assert_eq!(
        texts(&mut clerk, &path).await,
        ["Photo 1 of Luna", "On a chair"]
    );
    // Nothing to save.
    clerk
        .post(&target, &form("save", "9", ["", "On a chair"]))
        .await
        .expect(303);
    let form = form(delete, "9", ["Asleep", "Gone"]);
    let sure = clerk.post(&target, &form).await.expect(200).hidden("sure");
    clerk
        .post(&target, &[&form[..], &[("sure", &sure)]].concat())
        .await
        .expect(303);
    assert_eq!(texts(&mut clerk, &path).await, ["Asleep"]);
    let history = clerk.get(&path).await.expect(200);
    for line in [
        "Photo added",
        "Photo described",
        "Photos rearranged",
        "Photo deleted",
    ] {
        assert!(history.text.contains(line), "{line}: {history:?}");
    }
}

#[tokio::test]
async fn one_press_makes_a_photo_the_main_photo() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let (picture, target) = (pictures::png(8, 6), format!("{path}/photos/change"));
    let files: [(&str, &[u8]); 3] = [
        ("a.png", &picture),
        ("b.png", &picture),
        ("c.png", &picture),
    ];
    clerk
        .upload(&format!("{path}/photos"), "", &files)
        .await
        .expect(303);
    let mut order = Vec::new();
    for at in 0..3 {
        order.push(photo(&mut clerk, &path, at).await);
    }
    let page = clerk.get(&format!("{path}/photos")).await.expect(200);
    let has_button = |at: usize| {
        page.text
            .contains(&format!("value=\"first-{}\"", order[at]))
    };
    assert_eq!(
        [has_button(0), has_button(1), has_button(2)],
        [false, true, true],
        "{page:?}"
    );
    assert!(
        page.text
            .contains("aria-label=\"Use as main photo: photo 3\""),
        "{page:?}"
    );
    let first = format!("first-{}", order[2]);
    let alt = format!("alt-{}", order[2]);
    let form = [("version", "4"), ("do", &first), (&*alt, "On a chair")];
    clerk.post(&target, &form).await.expect(303);
    let page = clerk.get(&path).await.expect(200);
    assert_eq!(
        page.text.matches("Photos rearranged").count(),
        1,
        "{page:?}"
    );
    let moved = ["On a chair", "Photo 2 of Luna", "Photo 3 of Luna"];
    assert_eq!(texts(&mut clerk, &path).await, moved);
    assert_eq!(photo(&mut clerk, &path, 1).await, order[0]);
    undo(&mut clerk, &page).await.expect(303);
    let page = clerk.get(&format!("{path}/photos")).await.expect(200);
    assert!(
        page.text.contains("The change has been undone."),
        "{page:?}"
    );
    assert!(!page.text.contains("data-undo"), "{page:?}");
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
    let names = ["_key", "change"];
    let fields: Vec<_> = names
        .iter()
        .filter_map(|name| Some((*name, value(name)?)))
        .collect();
    let path = form
        .split("action=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    clerk.post(path, &fields).await
}

#[tokio::test]
async fn a_deleted_photo_and_a_moved_one_are_put_back() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let (path, other) = (add(&mut clerk).await, add(&mut clerk).await);
    let (picture, target) = (pictures::png(8, 6), format!("{path}/photos/change"));
    let files: [(&str, &[u8]); 3] = [
        ("a.png", &picture),
        ("b.png", &picture),
        ("c.png", &picture),
    ];
    clerk
        .upload(&format!("{path}/photos"), "", &files)
        .await
        .expect(303);
    let second = photo(&mut clerk, &path, 1).await;
    let (alt, delete) = (format!("alt-{second}"), format!("delete-{second}"));
    clerk
        .post(&target, &[("version", "4"), (&alt, "On a chair")])
        .await
        .expect(303);
    let all = ["Photo 1 of Luna", "On a chair", "Photo 3 of Luna"];
    assert_eq!(texts(&mut clerk, &path).await, all);

    let up = format!("up-{second}");
    clerk
        .post(&target, &[("version", "5"), ("do", &up)])
        .await
        .expect(303);
    let page = clerk.get(&path).await.expect(200);
    assert_eq!(
        texts(&mut clerk, &path).await,
        ["On a chair", "Photo 2 of Luna", "Photo 3 of Luna"]
    );
    undo(&mut clerk, &page).await.expect(303);
    assert_eq!(texts(&mut clerk, &path).await, all);

    let asked = clerk
        .post(&target, &[("version", "7"), ("do", &delete)])
        .await
        .expect(200);
    assert!(
        asked
            .text
            .contains(&format!("src=\"/photos/{second}-small.jpg\"")),
        "{asked:?}"
    );
    let sure = asked.hidden("sure");
    let gone = [
        ("version", "7"),
        ("do", delete.as_str()),
        ("sure", &sure),
        ("_key", "k"),
    ];
    // Also a second click, which gets the same message.
    for _ in 0..2 {
        clerk.post(&target, &gone).await.expect(303);
    }
    let page = clerk.get(&path).await.expect(200);
    assert!(page.text.contains("Photo removed."), "{page:?}");
    assert_eq!(texts(&mut clerk, &path).await.len(), 2);
    for _ in 0..2 {
        undo(&mut clerk, &page).await.expect(303);
        assert!(
            clerk
                .get(&path)
                .await
                .expect(200)
                .text
                .contains("The photo is back.")
        );
        assert_eq!(texts(&mut clerk, &path).await, all);
    }
    // Its files are there.
    clerk.stream(&format!("/photos/{second}-large.jpg")).await;

    // Another animal never had it.
    let deletion = page.between("name=\"change\" value=\"", "\"").to_owned();
    let refused = clerk
        .post(&format!("{other}/photos/undo"), &[("change", &deletion)])
        .await
        .expect(422);
    assert!(
        refused.text.contains("This change cannot be undone."),
        "{refused:?}"
    );

    let gone = [("version", "9"), ("do", &*delete), ("sure", &*sure)];
    clerk.post(&target, &gone).await.expect(303);
    it_can_be_put_back_for_a_day(&shop, &path).await;
}

/// Looks for the button in the history of an animal, whose newest change is that a photo was deleted.
async fn it_can_be_put_back_for_a_day(shop: &Shop, path: &str) {
    shop.clock.advance(Duration::from_hours(22));
    let mut clerk = shop.member("Di", Role::Clerk).await;
    let button = "\">Put it back<";
    let page = clerk.get(path).await.expect(200);
    let (before_button, _) = page.text.split_once(button).unwrap();
    let (_, deletion) = before_button.rsplit_once("value=\"").unwrap();
    // Other changes of the animal do not matter.
    let rename = [("version", "10"), ("name", "Mia"), ("category", "1")];
    clerk
        .post(&format!("{path}/edit"), &rename)
        .await
        .expect(303);
    assert!(clerk.get(path).await.expect(200).text.contains(button));
    shop.clock.advance(Duration::from_hours(2));
    let mut clerk = shop.member("Ed", Role::Clerk).await;
    assert!(!clerk.get(path).await.expect(200).text.contains(button));
    let undo = format!("{path}/photos/undo");
    let refused = clerk.post(&undo, &[("change", deletion)]).await.expect(422);
    assert!(
        refused.text.contains("This photo cannot be put back"),
        "{refused:?}"
    );
    assert_eq!(texts(&mut clerk, path).await.len(), 2);
}

/// The animal of these photos as programs get it.
pub(super) async fn stored(shop: &Shop, path: &str) -> Vec<Photo> {
    let id = path.trim_start_matches("/animals/").parse().unwrap();
    let pet = shop
        .store
        .get_store_pet(PetId::new(id).unwrap())
        .await
        .unwrap()
        .unwrap();
    pet.photos.all().to_vec()
}

#[tokio::test]
async fn a_photo_is_cropped_around_the_point_that_was_pressed_or_chosen() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let (all, target) = (format!("{path}/photos"), format!("{path}/photos/change"));
    clerk
        .upload(&all, "", &[("a.png", &pictures::png(8, 6))])
        .await
        .expect(303);
    let id = photo(&mut clerk, &path, 0).await;
    // The whole photo, in a size that the service knows.
    let page = clerk.get(&all).await.expect(200).text;
    let image = page
        .split("<input type=\"image\"")
        .nth(1)
        .unwrap()
        .split('>')
        .next()
        .unwrap();
    for part in [
        "width=\"240\"",
        "height=\"180\"",
        "tabindex=\"-1\"",
        &format!("point-{id}\""),
    ] {
        assert!(image.contains(part), "{part}: {image}");
    }
    let focus = async || stored(&shop, &path).await[0].focus;
    let [x, y] = ["x", "y"].map(|axis| format!("point-{id}.{axis}"));
    clerk
        .post(&target, &[("version", "2"), (&x, "60"), (&y, "18")])
        .await
        .expect(303);
    assert_eq!(focus().await, Focus::new([2_500, 1_000]));
    let page = clerk.get(&all).await.expect(200).text;
    assert!(
        page.contains("class=\"mark fx5 fy2\"") && page.contains("<img class=\"fx5 fy2\""),
        "{page}"
    );
    assert!(
        page.contains("<option value=\"0.25,0.1\" selected>The point that you clicked<"),
        "{page}"
    );
    let page = clerk.get(&path).await.expect(200).text;
    assert!(page.contains("<img class=\"little fx5 fy2\""), "{page}");
    assert!(page.contains("Focal point of a photo chosen"), "{page}");
    // By the keyboard. A press outside of it counts as its edge.
    let look = format!("look-{id}");
    clerk
        .post(&target, &[("version", "3"), (&look, "0.8,0.2")])
        .await
        .expect(303);
    assert_eq!(focus().await, Focus::new([8_000, 2_000]));
    clerk
        .post(&target, &[("version", "4"), (&x, "999"), (&y, "-5")])
        .await
        .expect(303);
    assert_eq!(focus().await, Focus::new([10_000, 0]));
    // Somebody else has chosen another point meanwhile.
    let was = format!("was-{look}");
    let late = [("version", "4"), (&*was, "0.8,0.2"), (&*look, "0.5,0.5")];
    let page = clerk.post(&target, &late).await.expect(422);
    assert!(page.text.contains("Focal point of photo 1"), "{page:?}");
    assert_eq!(focus().await, Focus::new([10_000, 0]));
    clerk
        .post(&target, &[("version", "5"), (&look, "")])
        .await
        .expect(303);
    assert_eq!(focus().await, None);
}

#[tokio::test]
async fn one_press_turns_a_photo_at_its_place_and_another_one_turns_it_back() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let (all, target) = (format!("{path}/photos"), format!("{path}/photos/change"));
    let (wide, square) = (pictures::png(8, 6), pictures::png(6, 6));
    let files: [(&str, &[u8]); 3] = [("a.png", &square), ("b.png", &wide), ("c.png", &square)];
    clerk.upload(&all, "", &files).await.expect(303);
    let id = photo(&mut clerk, &path, 1).await;
    let (look, alt) = (format!("look-{id}"), format!("alt-{id}"));
    let (right, left) = (format!("right-{id}"), format!("left-{id}"));
    clerk
        .post(&target, &[("version", "4"), (&look, "0.2,0.8")])
        .await
        .expect(303);
    // What was typed is saved as well. The second click does nothing more.
    let turn = [
        ("version", "5"),
        ("_key", "k"),
        ("do", &*right),
        (&*alt, "On a chair"),
    ];
    clerk.post(&target, &turn).await.expect(303);
    clerk.post(&target, &turn).await.expect(303);
    let page = clerk.get(&all).await.expect(200);
    assert!(page.text.contains("Photo rotated."), "{page:?}");
    let photos = stored(&shop, &path).await;
    let turned = &photos[1];
    assert_eq!((photos.len(), turned.width, turned.height), (3, 6, 8));
    assert_eq!(turned.alt.as_ref().unwrap().as_str(), "On a chair");
    assert_eq!(turned.focus, Focus::new([2_000, 2_000]));
    assert_ne!(turned.id.to_string(), id);
    let file = clerk
        .stream(&format!("/photos/{}-large.jpg", turned.id))
        .await;
    assert!(file.whole().unwrap().starts_with(b"\xff\xd8"));
    let history = clerk.get(&path).await.expect(200);
    assert!(history.text.contains("Photo rotated") && !history.text.contains("Photo deleted"));
    // It is put back as it was, at its place, also a second time.
    for _ in 0..2 {
        undo(&mut clerk, &page).await.expect(303);
        let photos = stored(&shop, &path).await;
        assert_eq!(
            (photos.len(), photos[1].id.to_string(), photos[1].width),
            (3, id.clone(), 8)
        );
        assert_eq!(photos[1].alt.as_ref().unwrap().as_str(), "On a chair");
        assert_eq!(photos[1].focus, Focus::new([2_000, 8_000]));
    }
    clerk
        .post(&target, &[("do", &*left), ("version", "8")])
        .await
        .expect(303);
    assert_eq!(
        stored(&shop, &path).await[1].focus,
        Focus::new([8_000, 8_000])
    );
    // A photo that is gone.
    clerk.post(&target, &[("do", &*left)]).await.expect(422);
}

#[tokio::test]
async fn a_photo_without_its_file_is_not_turned() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let picture = pictures::png(8, 6);
    clerk
        .upload(&format!("{path}/photos"), "", &[("a.png", &picture)])
        .await
        .expect(303);
    let id = stored(&shop, &path).await[0].id;
    shop.app.photos.storage().unwrap().delete(id).await.unwrap();
    let act = format!("right-{id}");
    let target = format!("{path}/photos/change");
    let page = clerk
        .post(&target, &[("do", &*act), ("version", "2")])
        .await
        .expect(422);
    assert!(
        page.text.contains("The file of this photo is missing"),
        "{page:?}"
    );
    assert_eq!(stored(&shop, &path).await[0].id, id);
}

#[tokio::test]
async fn a_picture_needs_no_session_and_a_viewer_changes_nothing() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let picture = pictures::png(8, 6);
    let target = format!("{path}/photos");
    clerk
        .upload(&target, "", &[("a.png", &picture)])
        .await
        .expect(303);
    let url = format!("/photos/{}-small.jpg", photo(&mut clerk, &path, 0).await);
    let mut stranger = shop.browser();
    let file = stranger.stream(&url).await;
    assert!(file.whole().unwrap().starts_with(b"\xff\xd8"));
    stranger.get("/photos/x").await.expect(404);
    let mut viewer = shop.member("Vi", Role::Viewer).await;
    viewer
        .upload(&target, "", &[("a.png", &picture)])
        .await
        .expect(403);
    viewer.get(&target).await.expect(403);
    let photo = url.replace("-small", "-card");
    let page = viewer.get(&path).await.expect(200);
    assert!(
        page.text.contains(&photo) && !page.text.contains("Manage photos"),
        "{page:?}"
    );
    let page = clerk.get(&path).await.expect(200);
    assert!(
        page.text
            .contains(&format!("href=\"{target}\">Manage photos<")),
        "{page:?}"
    );
}

/// Without the script, which keeps them.
#[tokio::test]
async fn photos_of_a_session_that_is_over_must_be_chosen_again() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let picture = pictures::png(8, 6);
    let mut stranger = shop.browser();
    let page = stranger
        .upload(&format!("{path}/photos"), "", &[("a.png", &picture)])
        .await;
    let page = page.expect(403);
    assert!(
        page.text
            .contains("The photos were not added: sign in, and choose them again.")
    );
    assert!(!page.text.contains("What you typed"), "{page:?}");
    assert_eq!(page.hidden("next"), format!("{path}/photos"));
}

#[tokio::test]
async fn a_picture_of_a_phone_that_no_browser_shows_is_named() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let heic: &[u8] = b"\0\0\0\x18ftypheic\0\0\0\0mif1";
    let page = clerk
        .upload(&format!("{path}/photos"), "", &[("a.heic", heic)])
        .await
        .expect(422);
    assert!(
        page.text
            .contains("This is a HEIC picture. Set the camera to"),
        "{page:?}"
    );
}

#[tokio::test]
async fn a_form_has_at_most_100_parts() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let empty: (&str, &[u8]) = ("a.png", b"");
    let target = format!("{path}/photos");
    clerk
        .upload(&target, "", &vec![empty; 99])
        .await
        .expect(422);
    clerk
        .upload(&target, "", &vec![empty; 100])
        .await
        .expect(413);
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
