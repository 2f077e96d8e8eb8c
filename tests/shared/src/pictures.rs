//! Pictures that clients send.

use std::io::Cursor;

use image::{
    DynamicImage, ExtendedColorType, ImageEncoder, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage,
    codecs::{gif::GifEncoder, jpeg::JpegEncoder, png::PngEncoder, webp::WebPEncoder},
};

/// The media types of pictures.
pub const FORMATS: [&str; 4] = ["image/jpeg", "image/png", "image/webp", "image/gif"];

/// Red on the left, blue on the right.
pub fn red_and_blue(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, _| {
        if x < width / 2 {
            Rgb([220, 20, 20])
        } else {
            Rgb([20, 20, 220])
        }
    })
}

/// A PNG of this size.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    of("image/png", width, height)
}

/// A picture of this type and size.
pub fn of(media_type: &str, width: u32, height: u32) -> Vec<u8> {
    with(media_type, &red_and_blue(width, height), None, None)
}

/// A picture with this EXIF metadata and this colour profile.
pub fn with(
    media_type: &str,
    picture: &RgbImage,
    exif: Option<Vec<u8>>,
    profile: Option<Vec<u8>>,
) -> Vec<u8> {
    let mut out = Vec::new();
    let (width, height) = picture.dimensions();
    match media_type {
        "image/jpeg" => {
            encode(
                JpegEncoder::new_with_quality(&mut out, 95),
                picture,
                exif,
                profile,
            );
        }
        "image/png" => encode(PngEncoder::new(&mut out), picture, exif, profile),
        "image/webp" => encode(WebPEncoder::new_lossless(&mut out), picture, exif, profile),
        _ => {
            let mut encoder = GifEncoder::new(&mut out);
            encoder
                .encode(picture.as_raw(), width, height, ExtendedColorType::Rgb8)
                .unwrap();
            drop(encoder);
            if let Some(exif) = exif {
                insert_comment(&mut out, &exif);
            }
        }
    }
    out
}

fn encode(
    mut encoder: impl ImageEncoder,
    picture: &RgbImage,
    exif: Option<Vec<u8>>,
    profile: Option<Vec<u8>>,
) {
    if let Some(exif) = exif {
        encoder.set_exif_metadata(exif).unwrap();
    }
    if let Some(profile) = profile {
        encoder.set_icc_profile(profile).unwrap();
    }
    let (width, height) = picture.dimensions();
    encoder
        .write_image(picture.as_raw(), width, height, ExtendedColorType::Rgb8)
        .unwrap();
}

/// A GIF has no EXIF, but comments.
fn insert_comment(gif: &mut Vec<u8>, text: &[u8]) {
    let end = gif.len() - 1;
    let mut comment = vec![0x21, 0xfe];
    for block in text.chunks(255) {
        comment.push(u8::try_from(block.len()).unwrap());
        comment.extend_from_slice(block);
    }
    comment.push(0);
    gif.splice(end..end, comment);
}

/// A picture whose left half is transparent, and the other one green.
pub fn half_transparent(media_type: &str) -> Vec<u8> {
    let picture = RgbaImage::from_fn(64, 48, |x, _| {
        if x < 32 {
            Rgba([0, 0, 0, 0])
        } else {
            Rgba([0, 200, 0, 255])
        }
    });
    let format = ImageFormat::from_mime_type(media_type).unwrap();
    let mut out = Cursor::new(Vec::new());
    DynamicImage::from(picture)
        .write_to(&mut out, format)
        .unwrap();
    out.into_inner()
}

/// EXIF metadata with this orientation, and with a text that a place could be.
pub fn exif(orientation: u16, place: &str) -> Vec<u8> {
    let mut out = b"II*\0\x08\0\0\0\x02\0".to_vec();
    let length = u32::try_from(place.len()).unwrap();
    for (tag, kind, count, value) in [
        (0x0112_u16, 3_u16, 1, u32::from(orientation)),
        (0x010e, 2, length, 38),
    ] {
        out.extend(tag.to_le_bytes());
        out.extend(kind.to_le_bytes());
        out.extend(u32::to_le_bytes(count));
        out.extend(u32::to_le_bytes(value));
    }
    out.extend([0; 4]);
    out.extend(place.as_bytes());
    out
}
