//! The logo of a store.

use std::time::Duration;

use image::{ImageFormat, Rgb, RgbImage, RgbaImage};
use moxcms::ColorProfile;
use petstore_domain::{Clock, Scope, store_area::Logo};
use petstore_testing::{pictures, reply::Reply};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Setup, Store};

impl Store {
    async fn put_logo(&self, media_type: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let bearer = format!("Bearer {}", self.key);
        let own = [("authorization", &*bearer), ("content-type", media_type)];
        let headers = [&own[..], headers].concat();
        self.server
            .send(
                Method::PUT,
                "/v1/store/profile/logo",
                &headers,
                body.to_vec(),
            )
            .await
    }

    /// Sets the logo, and returns its path.
    async fn set_logo(&self, media_type: &str, picture: &[u8]) -> String {
        let reply = self.put_logo(media_type, &[], picture).await;
        assert_eq!(reply.status, 200, "{media_type}: {}", reply.json());
        reply.json()["logo"].as_str().unwrap().to_owned()
    }

    async fn file_of_logo(&self, path: &str) -> Option<Vec<u8>> {
        let (logo, now) = (Logo::from_path(path).unwrap(), self.server.clock.now());
        self.server
            .store
            .logo(logo, now)
            .await
            .unwrap()
            .map(|stored_logo| stored_logo.png)
    }

    /// What becomes of this picture.
    async fn made(&self, media_type: &str, picture: &[u8]) -> RgbaImage {
        let path = self.set_logo(media_type, picture).await;
        let file = self.file_of_logo(&path).await.unwrap();
        let made = image::load_from_memory_with_format(&file, ImageFormat::Png).unwrap();
        let logo = Logo::from_path(&path).unwrap();
        assert_eq!(
            (made.width(), made.height()),
            (logo.width.into(), logo.height.into())
        );
        made.into_rgba8()
    }
}

async fn open_with(setup: Setup) -> Store {
    let mut store = Store::open_with(setup).await;
    store.key = store.server.new_key(Scope::StoreAdmin, None).await.0;
    store
}

async fn open() -> Store {
    open_with(Setup::default()).await
}

/// Whether a pixel has about this colour.
#[track_caller]
fn assert_colour(picture: &RgbaImage, x: u32, y: u32, expected: [u8; 4]) {
    let found = picture.get_pixel(x, y).0;
    let is_near = found
        .iter()
        .zip(expected)
        .all(|(&found, of)| found.abs_diff(of) < 12);
    assert!(is_near, "{found:?} at {x}, {y} is not {expected:?}");
}

#[tokio::test]
async fn a_picture_of_three_formats_becomes_a_png_of_at_most_512_pixels_that_is_never_enlarged() {
    // It needs no place for photos.
    let store = open_with(Setup {
        photos: Box::new(|_| None),
        ..Setup::default()
    })
    .await;
    for media_type in ["image/png", "image/jpeg", "image/webp"] {
        let made = store
            .made(media_type, &pictures::of(media_type, 2000, 200))
            .await;
        assert_eq!(made.dimensions(), (512, 51), "{media_type}");
        assert_colour(&made, 5, 5, [220, 20, 20, 255]);
        assert_colour(&made, 507, 5, [20, 20, 220, 255]);
        let made = store
            .made(media_type, &pictures::of(media_type, 200, 300))
            .await;
        assert_eq!(made.dimensions(), (200, 300), "{media_type}");
    }
    // Its bytes say what it is.
    store.set_logo("image/jpeg", &pictures::png(30, 30)).await;
    let gif = pictures::of("image/gif", 9, 9);
    for media_type in ["image/gif", "image/png"] {
        store
            .put_logo(media_type, &[], &gif)
            .await
            .expect_error(415, "unsupported_media_type");
    }
}

#[tokio::test]
async fn a_logo_is_turned_keeps_its_transparency_and_has_no_metadata() {
    let store = open().await;
    let picture = pictures::red_and_blue(64, 48);
    for media_type in ["image/jpeg", "image/png", "image/webp"] {
        let exif = Some(pictures::exif(6, "at home"));
        let sent = pictures::with(media_type, &picture, exif, None);
        let path = store.set_logo(media_type, &sent).await;
        let file = store.file_of_logo(&path).await.unwrap();
        assert!(
            !file.windows(7).any(|bytes| bytes == b"at home"),
            "{media_type}"
        );
        let kinds: Vec<&[u8]> = [b"eXIf", b"iCCP", b"tEXt"]
            .map(|kind: &[u8; 4]| &kind[..])
            .into();
        assert!(
            !file.windows(4).any(|bytes| kinds.contains(&bytes)),
            "{media_type}"
        );
        let made = store.made(media_type, &sent).await;
        assert_eq!(made.dimensions(), (48, 64), "{media_type}");
        assert_colour(&made, 24, 8, [220, 20, 20, 255]);
    }
    for media_type in ["image/png", "image/webp"] {
        let made = store
            .made(media_type, &pictures::half_transparent(media_type))
            .await;
        assert_colour(&made, 8, 24, [0, 0, 0, 0]);
        assert_colour(&made, 56, 24, [0, 200, 0, 255]);
    }
    let profile = ColorProfile::new_display_p3().encode().unwrap();
    let picture = RgbImage::from_pixel(64, 48, Rgb([200, 100, 60]));
    let sent = pictures::with("image/png", &picture, None, Some(profile));
    assert_colour(
        &store.made("image/png", &sent).await,
        9,
        9,
        [213, 97, 50, 255],
    );
}

/// A PNG with these pixels.
fn rgba(width: u32, height: u32, pixel: impl FnMut(u32, u32) -> [u8; 4]) -> Vec<u8> {
    let mut pixel = pixel;
    let picture = RgbaImage::from_fn(width, height, |x, y| image::Rgba(pixel(x, y)));
    let mut out = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut out, ImageFormat::Png).unwrap();
    out.into_inner()
}

#[tokio::test]
async fn what_is_transparent_gives_a_smaller_logo_no_edge_and_noise_does_not_make_it_too_large() {
    let store = open().await;
    // Black where nobody sees it.
    let stripes = rgba(2000, 200, |x, _| {
        if x / 3 % 2 == 0 {
            [255, 0, 0, 255]
        } else {
            [0, 0, 0, 0]
        }
    });
    let made = store.made("image/png", &stripes).await;
    for pixel in made.pixels().filter(|pixel| pixel.0[3] > 40) {
        assert!(pixel.0[0] > 240, "{pixel:?}");
    }
    let mut seed = 7_u32;
    let noise = rgba(512, 512, |_, _| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [red, green, blue, _] = (seed >> 3).to_be_bytes();
        [red, green, blue, seed.to_be_bytes()[0]]
    });
    let path = store.set_logo("image/png", &noise).await;
    assert_eq!(Logo::from_path(&path).unwrap().width, 384);
    assert!(store.file_of_logo(&path).await.unwrap().len() <= Logo::MAX_FILE);
}

#[tokio::test]
async fn a_bad_picture_is_rejected_and_the_logo_stays() {
    let store = open().await;
    let path = store.set_logo("image/png", &pictures::png(30, 20)).await;
    let picture = pictures::png(90, 90);
    let mut bomb = picture.clone();
    bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    let flat = [(2000, 2), (1, 1), (20, 300), (1204, 100)]
        .map(|(width, height)| pictures::png(width, height));
    for (at, flat) in flat.iter().enumerate() {
        let refused = store.put_logo("image/png", &[], flat).await;
        refused.expect_error(400, "invalid_image");
        assert_eq!(refused.json()["message"], Logo::TOO_FLAT, "{at}");
    }
    for bad in [
        &b"no picture"[..],
        &picture[..picture.len() - 9],
        b"",
        &bomb,
    ] {
        store
            .put_logo("image/png", &[], bad)
            .await
            .expect_error(400, "invalid_image");
    }
    let large = [&picture[..], &vec![0; 2 << 20]].concat();
    store
        .put_logo("image/png", &[], &large)
        .await
        .expect_error(413, "payload_too_large");
    store
        .put_logo("text/plain", &[], b"x")
        .await
        .expect_error(415, "unsupported_media_type");
    store
        .put_logo("image/png", &[], b"x")
        .await
        .expect_error(400, "invalid_image");
    assert_eq!(store.get("/profile").await.json()["logo"], path);
}

#[tokio::test]
async fn each_change_of_the_logo_is_a_version_and_honours_a_condition() {
    let store = open().await;
    let none = store.send("DELETE /profile/logo", &[], "").await;
    assert_eq!(
        (none.status.as_u16(), &none.json()["version"]),
        (200, &json!(1))
    );
    let first = store
        .put_logo(
            "image/png",
            &[("if-match", "\"1\"")],
            &pictures::png(30, 30),
        )
        .await;
    assert_eq!(
        (first.json()["version"].as_i64(), first.header("etag")),
        (Some(2), Some("\"2\""))
    );
    let stale = [("if-match", "\"1\"")];
    let refused = store
        .put_logo("image/png", &stale, &pictures::png(40, 40))
        .await;
    refused.expect_error(412, "precondition_failed");
    assert_eq!(refused.json()["current"], first.json());
    store
        .send("DELETE /profile/logo", &stale, "")
        .await
        .expect_error(412, "precondition_failed");
    let same = store
        .put_logo("image/png", &[], &pictures::png(30, 30))
        .await;
    assert_eq!(same.json(), first.json());
    let gone = store
        .send("DELETE /profile/logo", &[("if-match", "\"2\"")], "")
        .await;
    let gone = gone.json();
    assert_eq!((&gone["version"], &gone["logo"]), (&json!(3), &Value::Null));
    let acts = store.get("/audit?type=profile.changed").await.json();
    let acts = acts.as_array().unwrap();
    assert_eq!(acts.len(), 2);
    assert!(
        acts.iter()
            .all(|act| act["details"] == json!({ "members": "logo" })),
        "{acts:?}"
    );
}

#[tokio::test]
async fn a_former_logo_has_its_file_for_a_day_and_there_are_not_many() {
    let store = open().await;
    let mut paths = Vec::new();
    for width in 31..=42 {
        paths.push(store.set_logo("image/png", &pictures::png(width, 20)).await);
        store.server.clock.advance(Duration::from_secs(1));
    }
    for (at, path) in paths.iter().enumerate() {
        assert_eq!(store.file_of_logo(path).await.is_some(), at >= 3, "{at}");
    }
    store
        .server
        .clock
        .advance(Duration::from_hours(24) - Duration::from_secs(2));
    assert!(store.file_of_logo(&paths[10]).await.is_some());
    store.server.clock.advance(Duration::from_secs(2));
    assert!(store.file_of_logo(&paths[10]).await.is_none());
    assert!(store.file_of_logo(&paths[11]).await.is_some());
    // One that comes back stays.
    let again = store.set_logo("image/png", &pictures::png(39, 20)).await;
    assert_eq!(again, paths[8]);
    store.server.clock.advance(Duration::from_hours(48));
    assert!(store.file_of_logo(&again).await.is_some());
}
