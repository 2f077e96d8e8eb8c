//! What becomes of the pictures that clients send, good ones and bad ones.

use image::{ImageFormat, RgbImage};
use moxcms::ColorProfile;
use petstore_testing::{
    pictures::{self, FORMATS},
    reply::Reply,
};
use reqwest::Method;
use serde_json::Value;

use super::Store;

const SIZES: [&str; 3] = ["small", "medium", "large"];

impl Store {
    async fn send_one(&self, media_type: &str, picture: &[u8]) -> Reply {
        self.send_picture("/pets/1/photos", media_type, &[], picture)
            .await
    }

    /// Adds a photo, and returns it with the content of its files.
    async fn files_of(&self, media_type: &str, picture: &[u8]) -> (Value, Vec<Vec<u8>>) {
        let reply = self.send_one(media_type, picture).await;
        assert_eq!(reply.status, 201, "{media_type}: {}", reply.json());
        let (photo, mut files) = (reply.json(), Vec::new());
        for size in SIZES {
            let url = photo["urls"][size].as_str().unwrap();
            let file = self.server.send(Method::GET, url, &[], "").await;
            assert_eq!(
                (file.status.as_u16(), file.header("content-type")),
                (200, Some("image/jpeg"))
            );
            files.push(file.body);
        }
        (photo, files)
    }

    async fn expect_invalid(&self, media_type: &str, picture: &[u8], reason: &str) {
        let reply = self.send_one(media_type, picture).await;
        reply.expect_error(400, "invalid_image");
        let message = reply.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(reason), "{media_type}: {message}");
    }
}

async fn open() -> Store {
    let store = Store::open().await;
    assert_eq!(store.add("Luna", "available").await, 1);
    store
}

fn decoded(file: &[u8]) -> RgbImage {
    image::load_from_memory_with_format(file, ImageFormat::Jpeg)
        .unwrap()
        .into_rgb8()
}

/// Whether a pixel has about this colour.
#[track_caller]
fn assert_colour(picture: &RgbImage, x: u32, y: u32, expected: [u8; 3]) {
    let found = picture.get_pixel(x, y).0;
    let is_near = found
        .iter()
        .zip(expected)
        .all(|(&found, of)| found.abs_diff(of) < 12);
    assert!(is_near, "{found:?} at {x}, {y} is not {expected:?}");
}

#[tokio::test]
async fn a_picture_of_each_format_becomes_three_sizes() {
    let store = open().await;
    for media_type in FORMATS {
        let picture = pictures::of(media_type, 2000, 100);
        let (photo, files) = store.files_of(media_type, &picture).await;
        assert_eq!(
            (&photo["width"], &photo["height"]),
            (&1920.into(), &96.into())
        );
        for (file, expected) in files.iter().zip([(320, 16), (960, 48), (1920, 96)]) {
            let file = decoded(file);
            assert_eq!(file.dimensions(), expected, "{media_type}");
            assert_colour(&file, 5, 5, [220, 20, 20]);
            assert_colour(&file, expected.0 - 5, 5, [20, 20, 220]);
        }
    }
}

#[tokio::test]
async fn a_picture_is_never_enlarged() {
    let store = open().await;
    let (photo, files) = store.files_of("image/png", &pictures::png(8, 400)).await;
    assert_eq!(
        (&photo["width"], &photo["height"]),
        (&8.into(), &400.into())
    );
    for (file, expected) in files.iter().zip([(6, 320), (8, 400), (8, 400)]) {
        assert_eq!(decoded(file).dimensions(), expected);
    }
    let (_, files) = store
        .files_of("image/gif", &pictures::of("image/gif", 1, 1))
        .await;
    assert!(
        files
            .iter()
            .all(|file| decoded(file).dimensions() == (1, 1))
    );
}

#[tokio::test]
async fn a_picture_is_turned_as_its_orientation_says() {
    let store = open().await;
    let picture = pictures::red_and_blue(64, 48);
    for media_type in ["image/jpeg", "image/png", "image/webp"] {
        for (orientation, sides, red) in [
            (1, (64, 48), (8, 24)),
            (3, (64, 48), (56, 24)),
            (6, (48, 64), (24, 8)),
            (8, (48, 64), (24, 56)),
        ] {
            let exif = Some(pictures::exif(orientation, "home"));
            let sent = pictures::with(media_type, &picture, exif, None);
            let (_, files) = store.files_of(media_type, &sent).await;
            for file in &files {
                let file = decoded(file);
                assert_eq!(file.dimensions(), sides, "{media_type} {orientation}");
                assert_colour(&file, red.0, red.1, [220, 20, 20]);
            }
        }
        // An animal has at most 20.
        for photo in store.pet(1).await["photos"].as_array().unwrap() {
            let path = format!("DELETE /pets/1/photos/{}", photo["id"].as_str().unwrap());
            store.send(&path, &[("if-match", "*")], "").await;
        }
    }
}

#[tokio::test]
async fn transparency_becomes_white() {
    let store = open().await;
    for media_type in ["image/png", "image/webp", "image/gif"] {
        let (_, files) = store
            .files_of(media_type, &pictures::half_transparent(media_type))
            .await;
        for file in &files {
            assert_colour(&decoded(file), 8, 24, [255, 255, 255]);
            assert_colour(&decoded(file), 56, 24, [0, 200, 0]);
        }
    }
}

#[tokio::test]
async fn colours_of_another_space_become_srgb() {
    let store = open().await;
    let profile = ColorProfile::new_display_p3().encode().unwrap();
    let picture = RgbImage::from_pixel(64, 48, image::Rgb([200, 100, 60]));
    for media_type in ["image/jpeg", "image/png", "image/webp"] {
        let sent = pictures::with(media_type, &picture, None, Some(profile.clone()));
        let (_, files) = store.files_of(media_type, &sent).await;
        // More red than in the wider space.
        assert_colour(&decoded(&files[2]), 32, 24, [213, 97, 50]);
        let sent = pictures::with(media_type, &picture, None, None);
        let (_, files) = store.files_of(media_type, &sent).await;
        assert_colour(&decoded(&files[2]), 32, 24, [200, 100, 60]);
    }
}

#[tokio::test]
async fn no_byte_of_the_metadata_is_kept() {
    let store = open().await;
    let place = "48.137154 N, 11.576124 E";
    for media_type in FORMATS {
        let exif = Some(pictures::exif(1, place));
        let sent = pictures::with(media_type, &pictures::red_and_blue(64, 48), exif, None);
        let has = |file: &[u8], text: &[u8]| file.windows(text.len()).any(|part| part == text);
        assert!(has(&sent, place.as_bytes()));
        let (_, files) = store.files_of(media_type, &sent).await;
        for file in &files {
            for text in [&place.as_bytes()[..8], b"Exif", b"II*\0", b"ICC_PROFILE"] {
                assert!(!has(file, text), "{media_type}");
            }
        }
    }
}

#[tokio::test]
async fn a_picture_that_is_truncated_anywhere_is_invalid() {
    let store = open().await;
    for media_type in FORMATS {
        let picture = pictures::with(
            media_type,
            &noise(64, 48),
            Some(pictures::exif(1, "x")),
            None,
        );
        assert_eq!(store.send_one(media_type, &picture).await.status, 201);
        for length in (0..picture.len()).step_by(100).chain([picture.len() - 1]) {
            let reply = store.send_one(media_type, &picture[..length]).await;
            assert_eq!(reply.status, 400, "{media_type} {length}: {}", reply.json());
            reply.expect_error(400, "invalid_image");
        }
    }
    assert_eq!(store.pet(1).await["photos"].as_array().unwrap().len(), 4);
}

/// A picture that does not become short.
fn noise(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let value = (x * 7919 + y * 104_729).wrapping_mul(2_654_435_761);
        image::Rgb([
            value.to_le_bytes()[1],
            value.to_le_bytes()[2],
            value.to_le_bytes()[3],
        ])
    })
}

/// A PNG that begins like one of this size.
fn png_of_sides(width: u32, height: u32) -> Vec<u8> {
    let mut picture = pictures::png(4, 3);
    picture[16..20].copy_from_slice(&width.to_be_bytes());
    picture[20..24].copy_from_slice(&height.to_be_bytes());
    let check = crc32fast::hash(&picture[12..29]);
    picture[29..33].copy_from_slice(&check.to_be_bytes());
    picture
}

#[tokio::test]
async fn a_picture_with_too_many_pixels_is_invalid_and_never_decoded() {
    let store = open().await;
    for (width, height) in [
        (60_000, 60_000),
        (7_072, 7_071),
        (2_000_000_000, 1),
        (50_000_000, 1),
        (1, 65_536),
    ] {
        store
            .expect_invalid("image/png", &png_of_sides(width, height), "pixels")
            .await;
    }
    store
        .expect_invalid("image/png", &png_of_sides(u32::MAX, u32::MAX), "")
        .await;
    let mut gif = pictures::of("image/gif", 4, 3);
    gif[6..10].copy_from_slice(&[0xff; 4]);
    store.expect_invalid("image/gif", &gif, "pixels").await;
    let mut jpeg = pictures::of("image/jpeg", 4, 3);
    let frame = jpeg
        .windows(2)
        .position(|marker| marker == b"\xff\xc0")
        .unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0xff; 4]);
    store.expect_invalid("image/jpeg", &jpeg, "pixels").await;
}

#[tokio::test]
async fn a_picture_that_needs_too_much_memory_is_invalid_and_never_decoded() {
    let store = open().await;
    let mut png = png_of_sides(8_000, 6_000);
    // Four colours of 16 bits.
    png[24..26].copy_from_slice(&[16, 6]);
    let check = crc32fast::hash(&png[12..29]);
    png[29..33].copy_from_slice(&check.to_be_bytes());
    store
        .expect_invalid("image/png", &png, "31457253 are allowed for a PNG")
        .await;
    let mut jpeg = pictures::of("image/jpeg", 4, 3);
    let frame = jpeg
        .windows(2)
        .position(|marker| marker == b"\xff\xc0")
        .unwrap();
    // Progressive.
    jpeg[frame + 1] = 0xc2;
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0x17, 0x70, 0x1f, 0x40]);
    store
        .expect_invalid("image/jpeg", &jpeg, "are allowed for a JPEG")
        .await;
    let webp = tables(65_536);
    store
        .expect_invalid("image/webp", &webp, "needs too much memory")
        .await;
}

#[tokio::test]
async fn a_jpeg_with_two_frames_is_invalid_also_if_the_first_one_is_grey() {
    let store = open().await;
    let mut jpeg = pictures::of("image/jpeg", 4, 3);
    let frame = jpeg
        .windows(2)
        .position(|marker| marker == b"\xff\xc0")
        .unwrap();
    // Its length, 8 bits, 3 by 4 pixels, and one colour.
    let grey_frame = b"\xff\xc0\x00\x0b\x08\x00\x03\x00\x04\x01\x01\x11\x00";
    jpeg.splice(frame..frame, grey_frame.iter().copied());
    store.expect_invalid("image/jpeg", &jpeg, "").await;
}

/// A lossless WebP of one pixel whose tables take 68 KiB of memory for each 10 bytes.
fn tables(count: u64) -> Vec<u8> {
    let (mut bits, mut length) = (Vec::new(), 0_u32);
    let mut write = |value: u64, count: u32| {
        for bit in (0..count).map(|at| value >> at & 1) {
            if length.is_multiple_of(8) {
                bits.push(0_u8);
            }
            *bits.last_mut().unwrap() |= u8::try_from(bit << (length % 8)).unwrap();
            length += 1;
        }
    };
    // One pixel, a cache of colours, and a picture of one pixel that says how many tables there are.
    for (value, count) in [
        (0x2f, 8),
        (0, 32),
        (0, 1),
        (1, 1),
        (11, 4),
        (1, 1),
        (0, 3),
        (0, 1),
    ] {
        write(value, count);
    }
    let last = count - 1;
    for symbol in [last & 0xff, last >> 8, 0, 0, 0] {
        write(0b101 | symbol << 3, 11);
    }
    for _ in 0..count {
        // 2,048 symbols of 11 bits, and four tables of one symbol.
        for (value, count) in [
            (0, 1),
            (11, 4),
            (0, 42),
            (1, 3),
            (1, 1),
            (5, 3),
            (2_046, 12),
        ] {
            write(value, count);
        }
        write(0x1111, 16);
    }
    write(0, 40);
    write(0, 40);
    bits.truncate(bits.len() / 2 * 2);
    let mut webp = b"RIFF".to_vec();
    webp.extend(u32::try_from(bits.len() + 12).unwrap().to_le_bytes());
    webp.extend(b"WEBPVP8L");
    webp.extend(u32::try_from(bits.len()).unwrap().to_le_bytes());
    webp.extend(bits);
    webp
}

#[tokio::test]
async fn grey_pictures_and_those_of_16_bits_keep_their_colours() {
    let store = open().await;
    let half = image::DynamicImage::from(RgbImage::from_pixel(2_000, 16, image::Rgb([60; 3])));
    for (colours, expected) in [
        (half.to_luma8().into(), [60; 3]),
        (half.to_luma_alpha8().into(), [60; 3]),
        (half.to_luma16().into(), [60; 3]),
        (half.to_luma_alpha16().into(), [60; 3]),
        (half.to_rgb16().into(), [60; 3]),
        (
            image::RgbaImage::from_pixel(9, 9, image::Rgba([200, 0, 0, 51])).into(),
            [244, 204, 204],
        ),
        (
            image::DynamicImage::from(image::ImageBuffer::from_pixel(
                9,
                9,
                image::Rgba([51_400_u16, 0, 0, 13_107]),
            )),
            [244, 204, 204],
        ),
    ] {
        let mut png = std::io::Cursor::new(Vec::new());
        image::DynamicImage::write_to(&colours, &mut png, ImageFormat::Png).unwrap();
        let (_, files) = store.files_of("image/png", &png.into_inner()).await;
        assert_colour(&decoded(&files[2]), 4, 4, expected);
    }
}

#[tokio::test]
async fn the_bytes_say_the_format_whichever_of_the_four_types_the_request_has() {
    let store = open().await;
    for other in FORMATS {
        let picture = pictures::of(other, 4, 3);
        for media_type in FORMATS {
            store.files_of(media_type, &picture).await;
        }
    }
    store
        .files_of("IMAGE/PNG; a=b", &pictures::of(FORMATS[0], 4, 3))
        .await;
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
    let reason = "The body is not a JPEG, PNG, WebP or GIF picture.";
    for media_type in FORMATS {
        store.expect_invalid(media_type, svg, reason).await;
        store.expect_invalid(media_type, b"", reason).await;
    }
    for media_type in [
        "image/svg+xml",
        "image/heic",
        "application/octet-stream",
        "text/html",
        "imagejpeg",
        "multipart/form-data; boundary=x",
    ] {
        let reply = store.send_one(media_type, &pictures::png(4, 3)).await;
        let says = "Send the bytes of the picture, not a form.";
        reply.expect_message(415, "unsupported_media_type", says);
    }
}

#[tokio::test]
async fn a_picture_that_is_also_another_file_is_invalid() {
    let store = open().await;
    for media_type in ["image/png", "image/webp", "image/gif"] {
        let mut picture = pictures::of(media_type, 4, 3);
        picture.extend(b"PK\x05\x06<script>alert(1)</script>");
        store
            .expect_invalid(media_type, &picture, "followed by other data")
            .await;
    }
    // Phones append a film to a JPEG. No byte of it is kept.
    let mut picture = pictures::of("image/jpeg", 4, 3);
    picture.extend(b"<script>alert(1)</script>");
    let (_, files) = store.files_of("image/jpeg", &picture).await;
    assert!(
        files
            .iter()
            .all(|file| !file.windows(7).any(|part| part == b"<script"))
    );
}

#[tokio::test]
async fn a_picture_with_much_metadata_or_many_frames_is_invalid() {
    let store = open().await;
    let much = vec![b'x'; 10 << 20];
    for media_type in ["image/png", "image/webp", "image/gif"] {
        let picture = pictures::with(
            media_type,
            &pictures::red_and_blue(4, 3),
            Some(much.clone()),
            None,
        );
        store
            .expect_invalid(media_type, &picture, "bytes of metadata")
            .await;
    }
    let mut jpeg = pictures::of("image/jpeg", 4, 3);
    let segment = [&b"\xff\xe1\xff\xff"[..], &much[..65_533]].concat();
    jpeg.splice(2..2, segment.repeat(160));
    store
        .expect_invalid("image/jpeg", &jpeg, "bytes of metadata")
        .await;
    let gif = pictures::of("image/gif", 1, 1);
    let frame = gif.iter().rposition(|&byte| byte == 0x2c).unwrap();
    let frames = gif[frame..gif.len() - 1].repeat(2_000);
    let bomb = [&gif[..frame], &frames, b";"].concat();
    store
        .expect_invalid("image/gif", &bomb, "1000 pictures")
        .await;
}

#[tokio::test]
async fn a_picture_that_is_too_large_is_rejected() {
    let store = open().await;
    let reply = store.send_one("image/png", &vec![0; (16 << 20) + 1]).await;
    reply.expect_error(413, "payload_too_large");
}
