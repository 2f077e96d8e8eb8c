//! Pictures that the staff sends: what is wrong with them, and what a turn leaves of them.

use petstore_domain::Role;
use petstore_testing::pictures;

use super::{
    browser::Shop,
    photos::{add, stored},
};

#[tokio::test]
async fn what_is_wrong_with_a_picture_is_said_in_the_language_of_the_member() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let picture = pictures::png(8, 6);
    let too_wide = pictures::png(70_000, 1);
    let damaged = [&picture[..40], &[0; 8], &picture[48..]].concat();
    for (language, said) in [
        (
            "de",
            ["Das Ende fehlt.", "ist beschädigt", "70000 × 1 Pixel"],
        ),
        (
            "fr",
            ["il manque la fin.", "est endommagée", "70000 × 1 pixels"],
        ),
        (
            "es",
            ["falta el final.", "está dañada", "70000 × 1 píxeles"],
        ),
        (
            "en",
            ["its end is missing.", "is damaged", "70000 × 1 pixels"],
        ),
    ] {
        clerk
            .post("/account/language", &[("language", language)])
            .await
            .expect(303);
        let files: [(&str, &[u8]); 3] = [
            ("a.png", &picture[..70]),
            ("b.png", &damaged),
            ("c.png", &too_wide),
        ];
        let page = clerk
            .upload(&format!("{path}/photos"), "", &files)
            .await
            .expect(422);
        for text in said {
            assert!(page.text.contains(text), "{text}: {page:?}");
        }
    }
}

#[tokio::test]
async fn four_turns_of_a_photo_give_its_file_of_before() {
    let shop = Shop::open().await;
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    let path = add(&mut clerk).await;
    let picture = pictures::png(37, 21);
    clerk
        .upload(&format!("{path}/photos"), "", &[("a.png", &picture)])
        .await
        .expect(303);
    let mut files = Vec::new();
    for _ in 0..=4 {
        let photo = stored(&shop, &path).await[0].clone();
        let file = clerk
            .stream(&format!("/photos/{}-large.jpg", photo.id))
            .await;
        files.push(((photo.width, photo.height), file.whole().unwrap().clone()));
        let turn = format!("right-{}", photo.id);
        clerk
            .post(&format!("{path}/photos/change"), &[("do", &*turn)])
            .await
            .expect(303);
    }
    assert_eq!(files[1].0, (21, 37));
    assert!(
        files[1].1 != files[0].1,
        "a turned photo has a file of its own"
    );
    assert!(files[4] == files[0], "four turns changed the file");
}
