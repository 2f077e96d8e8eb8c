//! Makes the three sizes of a picture.

use std::{
    io::Cursor,
    sync::{Mutex, PoisonError},
};

use fast_image_resize::{
    Resizer,
    images::{TypedImage, TypedImageRef},
    pixels::U8x3,
};
use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits,
    RgbImage, codecs::jpeg::JpegEncoder, metadata::Orientation,
};
use moxcms::{ColorProfile, DataColorSpace, Layout, TransformOptions};

use super::{
    file::{Format, Size},
    inspect::{UNREADABLE, inspect},
};

/// The largest picture, in pixels.
const MAX_PIXELS: u64 = 50_000_000;

/// The most memory that a decoder may use for what it decodes, in bytes.
const MAX_MEMORY: u64 = 256 << 20;

/// Of larger pictures, only one is decoded at once, so that two need no more memory together.
const LARGE: u64 = 16_000_000;
static ONE_LARGE: Mutex<()> = Mutex::new(());

/// The quality of the files: smaller values show, larger ones cost space.
const QUALITY: u8 = 85;

/// The three sizes of a picture.
#[derive(Debug)]
pub struct Sizes {
    /// The files, in the order of [`Size::ALL`].
    pub files: [Vec<u8>; 3],
    /// Of the large one, in pixels.
    pub width: u32,
    /// Of the large one, in pixels.
    pub height: u32,
}

/// Decodes a picture, and makes the files of a photo. Fails with a sentence for the client.
pub fn sizes(picture: &[u8], format: Format) -> Result<Sizes, String> {
    inspect(picture, format)?;
    let large = decode(picture, format)?;
    let (width, height) = large.dimensions();
    let medium = smaller(&large, Size::Medium)?;
    let small = smaller(medium.as_ref().unwrap_or(&large), Size::Small)?;
    let medium_or_large = medium.as_ref().unwrap_or(&large);
    let files = [
        encode(small.as_ref().unwrap_or(medium_or_large))?,
        encode(medium_or_large)?,
        encode(&large)?,
    ];
    Ok(Sizes { files, width, height })
}

/// Whether the content of a file can be decoded as a JPEG.
pub fn is_readable(file: &[u8]) -> bool {
    inspect(file, Format::Jpeg).is_ok() && decode(file, Format::Jpeg).is_ok()
}

/// The large size: turned as it should be seen, in sRGB, on white.
fn decode(picture: &[u8], format: Format) -> Result<RgbImage, String> {
    let unreadable = |_: ImageError| UNREADABLE.to_owned();
    let mut reader = ImageReader::with_format(Cursor::new(picture), of(format));
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|error| match error {
        ImageError::Limits(_) => too_much_memory(),
        error => unreadable(error),
    })?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > MAX_PIXELS {
        return Err(format!(
            "The picture has {width} x {height} pixels, and at most {MAX_PIXELS} pixels are allowed. \
             Send a smaller one."
        ));
    }
    if pixels == 0 {
        return Err(UNREADABLE.to_owned());
    }
    if decoder.total_bytes() > MAX_MEMORY {
        return Err(too_much_memory());
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().unwrap_or_default();
    let _one = (pixels > LARGE).then(|| ONE_LARGE.lock().unwrap_or_else(PoisonError::into_inner));
    let whole = DynamicImage::from_decoder(decoder).map_err(|error| match error {
        ImageError::Limits(_) => too_much_memory(),
        error => unreadable(error),
    })?;
    let is_grey = !whole.color().has_color();
    let mut large = opaque(whole);
    if let Some(sides) = within(width, height, Size::Large) {
        large = resized(&large, sides).ok_or_else(|| UNREADABLE.to_owned())?;
    }
    // A profile that cannot be used is ignored, as browsers do.
    let profile = profile.and_then(|profile| ColorProfile::new_from_slice(&profile).ok());
    if let Some(converted) = profile.and_then(|profile| in_srgb(&large, is_grey, &profile)) {
        large = converted;
    }
    let mut large = DynamicImage::from(large);
    large.apply_orientation(orientation);
    Ok(large.into_rgb8())
}

fn of(format: Format) -> ImageFormat {
    match format {
        Format::Jpeg => ImageFormat::Jpeg,
        Format::Png => ImageFormat::Png,
        Format::WebP => ImageFormat::WebP,
        Format::Gif => ImageFormat::Gif,
    }
}

fn too_much_memory() -> String {
    "The picture needs too much memory to be decoded. Send one with fewer pixels, or with 8 bits for \
     each colour."
        .to_owned()
}

/// The picture on white, with 8 bits for each colour.
fn opaque(decoded: DynamicImage) -> RgbImage {
    if !decoded.color().has_alpha() {
        return decoded.into_rgb8();
    }
    let (width, height) = (decoded.width(), decoded.height());
    let mut bytes = decoded.into_rgba8().into_raw();
    // In the same memory, because a large picture takes much of it.
    let pixels = bytes.len() / 4;
    for at in 0..pixels {
        let alpha = bytes[at * 4 + 3];
        for colour in 0..3 {
            bytes[at * 3 + colour] = on_white(bytes[at * 4 + colour], alpha);
        }
    }
    bytes.truncate(pixels * 3);
    RgbImage::from_raw(width, height, bytes).unwrap_or_default()
}

fn on_white(colour: u8, alpha: u8) -> u8 {
    let (colour, alpha) = (u32::from(colour), u32::from(alpha));
    u8::try_from((colour * alpha + 255 * (255 - alpha) + 127) / 255).unwrap_or(u8::MAX)
}

/// The sides that a picture has in this size; `None` if it is not larger.
fn within(width: u32, height: u32, size: Size) -> Option<(u32, u32)> {
    let (longer, limit) = (u64::from(width.max(height)), u64::from(size.longer_side()));
    let scaled = |side: u32| {
        let fitting = (u64::from(side) * limit + longer / 2) / longer;
        u32::try_from(fitting).unwrap_or(u32::MAX).max(1)
    };
    (longer > limit).then(|| (scaled(width), scaled(height)))
}

/// For one type of pixels: a resizer for all that there are would take a fifth of the build.
fn resized(from: &RgbImage, (width, height): (u32, u32)) -> Option<RgbImage> {
    let source = TypedImageRef::<U8x3>::from_buffer(from.width(), from.height(), from).ok()?;
    let mut to = RgbImage::new(width, height);
    let mut target = TypedImage::<U8x3>::from_buffer(width, height, &mut to).ok()?;
    Resizer::new().resize_typed(&source, &mut target, None).ok()?;
    Some(to)
}

/// The picture in a smaller size; `None` if it is not larger.
fn smaller(picture: &RgbImage, size: Size) -> Result<Option<RgbImage>, String> {
    let Some(sides) = within(picture.width(), picture.height(), size) else { return Ok(None) };
    resized(picture, sides).map(Some).ok_or_else(|| UNREADABLE.to_owned())
}

/// The picture in sRGB, if its profile can be used.
fn in_srgb(picture: &RgbImage, is_grey: bool, profile: &ColorProfile) -> Option<RgbImage> {
    let (srgb, options) = (ColorProfile::new_srgb(), TransformOptions::default());
    let mut converted = RgbImage::new(picture.width(), picture.height());
    let (from, grey): (_, Vec<u8>) = match profile.color_space {
        DataColorSpace::Rgb => (Layout::Rgb, Vec::new()),
        DataColorSpace::Gray if is_grey => {
            (Layout::Gray, picture.iter().copied().step_by(3).collect())
        }
        // The decoder has already made RGB of other spaces.
        _ => return None,
    };
    let transform = profile.create_transform_8bit(from, &srgb, Layout::Rgb, options).ok()?;
    let source = if grey.is_empty() { picture.as_raw() } else { &grey };
    transform.transform(source, &mut converted).ok()?;
    Some(converted)
}

fn encode(picture: &RgbImage) -> Result<Vec<u8>, String> {
    let mut file = Vec::new();
    let (width, height) = picture.dimensions();
    JpegEncoder::new_with_quality(&mut file, QUALITY)
        .encode(picture.as_raw(), width, height, ExtendedColorType::Rgb8)
        .map_err(|_| UNREADABLE.to_owned())?;
    Ok(file)
}
