//! The logo of the store: in the settings, on every page and on paper.

use petstore_domain::{Role, store_area::Logo};
use petstore_testing::pictures;

use super::browser::{Browser, Page, Shop};

const PAGE: &str = "/settings/store";
const UPLOAD: &str = "/settings/store/logo";
const REMOVE: &str = "/settings/store/logo/remove";

async fn logo(shop: &Shop) -> Option<Logo> {
    shop.store.profile().await.unwrap().logo
}

async fn key(manager: &mut Browser<'_>) -> String {
    manager
        .get(PAGE)
        .await
        .expect(200)
        .key_before("name=\"logo\"")
}

fn shows(page: &Page, logo: Logo) -> usize {
    page.text
        .matches(&format!("src=\"{}\"", logo.path()))
        .count()
}

#[tokio::test]
async fn a_manager_uploads_the_logo_which_every_page_and_paper_shows_and_removes_it() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let (key_of_form, picture) = (key(&mut manager).await, pictures::png(80, 40));
    let files: [(&str, &[u8]); 1] = [("logo.png", &picture)];
    assert_eq!(
        manager.upload(UPLOAD, &key_of_form, &files).await.next(),
        PAGE
    );
    let first = logo(&shop).await.unwrap();
    assert_eq!((first.width, first.height), (80, 40));
    // The same form again, because the response was lost.
    manager
        .upload(UPLOAD, &key_of_form, &files)
        .await
        .expect(303);
    assert_eq!(shop.store.profile().await.unwrap().version, 2);
    for path in [PAGE, "/", "/orders"] {
        let page = manager.get(path).await.expect(200);
        // Once at the top, once on paper; next to its form on light and on dark.
        let count = if path == PAGE { 4 } else { 2 };
        assert_eq!(shows(&page, first), count, "{page:?}");
        assert!(
            page.text.contains("alt=\"\" width=\"56\" height=\"28\""),
            "{page:?}"
        );
    }
    let mut stranger = shop.browser();
    assert_eq!(shows(&stranger.get("/sign-in").await.expect(200), first), 1);
    assert_eq!(
        stranger
            .get(&first.path())
            .await
            .expect(200)
            .field("content-type"),
        "image/png"
    );
    // Another one, which is much wider than high.
    let wide = pictures::png(190, 16);
    let files: [(&str, &[u8]); 1] = [("wide.png", &wide)];
    let key_of_form = key(&mut manager).await;
    manager
        .upload(UPLOAD, &key_of_form, &files)
        .await
        .expect(303);
    let second = logo(&shop).await.unwrap();
    let page = manager.get(PAGE).await.expect(200);
    assert_eq!(
        (shows(&page, first), shows(&page, second)),
        (0, 4),
        "{page:?}"
    );
    assert!(
        page.text.contains("alt=\"\" width=\"112\" height=\"28\""),
        "{page:?}"
    );

    let asked = manager.post(REMOVE, &[]).await.expect(200);
    assert!(
        asked.text.contains("It disappears from all pages."),
        "{asked:?}"
    );
    assert!(logo(&shop).await.is_some());
    manager.post_and_confirm(REMOVE, &[]).await.expect(303);
    assert_eq!(logo(&shop).await, None);
    let page = manager.get(PAGE).await.expect(200);
    assert!(
        !page.text.contains("/assets/logo-") && !page.text.contains(REMOVE),
        "{page:?}"
    );
    assert!(
        shop.acts()
            .await
            .iter()
            .filter(|act| act.contains("profile.changed"))
            .count()
            == 3
    );
}

#[tokio::test]
async fn what_is_no_logo_is_refused_at_its_input_and_changes_nothing() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let key = key(&mut manager).await;
    let (picture, large) = (pictures::png(80, 60), vec![0; Logo::MAX_PICTURE + 1]);
    for (content, why) in [
        (&b""[..], "Choose a picture first."),
        (b"%PDF-1.7", "must be a PNG, JPEG or WebP picture"),
        (
            b"GIF89a\x01\x00\x01\x00",
            "must be a PNG, JPEG or WebP picture",
        ),
        (
            b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
            "must be a PNG, JPEG or WebP picture",
        ),
        (&picture[..70], "its end is missing"),
        (&pictures::png(2000, 2), "at least 16 pixels wide and high"),
        (&pictures::png(1, 1), "Choose another picture."),
        (&large, "This picture is too large."),
    ] {
        let page = manager
            .upload(UPLOAD, &key, &[("x.png", content)])
            .await
            .expect(422);
        let error = page.between("id=\"logo-error\">", "</p>");
        assert!(error.contains(why), "{why}: {error}");
        assert!(page.text.contains("<a href=\"#logo\">"), "{page:?}");
    }
    assert_eq!(shop.store.profile().await.unwrap().version, 1);
}

#[tokio::test]
async fn only_managers_upload_and_remove_the_logo_and_no_form_of_another_member_does() {
    let shop = Shop::open().await;
    let mut manager = shop.member("Mo", Role::Manager).await;
    let picture = pictures::png(80, 60);
    let files: [(&str, &[u8]); 1] = [("logo.png", &picture)];
    let key_of_form = key(&mut manager).await;
    let mut other = shop.member("Ana", Role::Manager).await;
    other.upload(UPLOAD, &key_of_form, &files).await.expect(422);
    assert_eq!(logo(&shop).await, None);
    manager
        .upload(UPLOAD, &key_of_form, &files)
        .await
        .expect(303);
    for (who, role) in [("Cy", Role::Clerk), ("Vi", Role::Viewer)] {
        let mut member = shop.member(who, role).await;
        member.upload(UPLOAD, "", &files).await.expect(403);
        member.post(REMOVE, &[]).await.expect(403);
    }
    assert!(logo(&shop).await.is_some());
}
