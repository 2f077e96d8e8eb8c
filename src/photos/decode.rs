//! Makes the three sizes of a picture.

use std::{
    io::Cursor,
    sync::{Mutex, PoisonError},
};

use fast_image_resize::{
    PixelType, Resizer,
    images::{Image, ImageRef},
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

/// The files of a photo, in the order of their sizes, and the sides of the large one.
pub(super) struct Sizes {
    pub(super) files: [Vec<u8>; 3],
    pub(super) width: u32,
    pub(super) height: u32,
}

/// Decodes a picture, and makes the files of a photo. Fails with a sentence for the client.
pub(super) fn sizes(picture: &[u8], format: Format) -> Result<Sizes, String> {
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
pub(super) fn is_readable(file: &[u8]) -> bool {
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
    let mut large = opaque(shrunk(whole)?, profile.as_deref());
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

/// Pixels with 8 bits for each channel, and whether they are transparent in part.
struct Pixels {
    bytes: Vec<u8>,
    width: u32,
    height: u32,
    has_alpha: bool,
}

impl Pixels {
    fn channels(&self) -> usize {
        if self.has_alpha { 4 } else { 3 }
    }
}

/// The picture, at most as large as the large size. The first step, so that the others cost little.
fn shrunk(decoded: DynamicImage) -> Result<Pixels, String> {
    let (width, height, has_alpha) =
        (decoded.width(), decoded.height(), decoded.color().has_alpha());
    let bytes =
        if has_alpha { decoded.into_rgba8().into_raw() } else { decoded.into_rgb8().into_raw() };
    let pixels = Pixels { bytes, width, height, has_alpha };
    match within(width, height, Size::Large) {
        Some((to_width, to_height)) => resized(&pixels, to_width, to_height),
        None => Ok(pixels),
    }
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

fn resized(from: &Pixels, width: u32, height: u32) -> Result<Pixels, String> {
    let kind = if from.has_alpha { PixelType::U8x4 } else { PixelType::U8x3 };
    let unreadable = || UNREADABLE.to_owned();
    let source =
        ImageRef::new(from.width, from.height, &from.bytes, kind).map_err(|_| unreadable())?;
    let mut target = Image::new(width, height, kind);
    Resizer::new().resize(&source, &mut target, None).map_err(|_| unreadable())?;
    Ok(Pixels { bytes: target.into_vec(), width, height, has_alpha: from.has_alpha })
}

/// The picture in a smaller size; `None` if it is not larger.
fn smaller(picture: &RgbImage, size: Size) -> Result<Option<RgbImage>, String> {
    let (width, height) = picture.dimensions();
    let Some((to_width, to_height)) = within(width, height, size) else { return Ok(None) };
    let from = Pixels { bytes: picture.as_raw().clone(), width, height, has_alpha: false };
    let to = resized(&from, to_width, to_height)?;
    Ok(RgbImage::from_raw(to_width, to_height, to.bytes))
}

/// The picture in sRGB, on white.
fn opaque(mut pixels: Pixels, profile: Option<&[u8]>) -> DynamicImage {
    if let Some(profile) = profile.and_then(|profile| ColorProfile::new_from_slice(profile).ok()) {
        // A profile that cannot be used is ignored, as browsers do.
        if let Some(converted) = in_srgb(&pixels, &profile) {
            pixels.bytes = converted;
        }
    }
    let bytes = if pixels.has_alpha {
        let (whole, _) = pixels.bytes.as_chunks::<4>();
        whole
            .iter()
            .flat_map(|&[red, green, blue, alpha]| on_white([red, green, blue], alpha))
            .collect()
    } else {
        pixels.bytes
    };
    RgbImage::from_raw(pixels.width, pixels.height, bytes).unwrap_or_default().into()
}

fn on_white(colour: [u8; 3], alpha: u8) -> [u8; 3] {
    colour.map(|of| {
        let (of, alpha) = (u32::from(of), u32::from(alpha));
        u8::try_from((of * alpha + 255 * (255 - alpha) + 127) / 255).unwrap_or(u8::MAX)
    })
}

fn in_srgb(pixels: &Pixels, profile: &ColorProfile) -> Option<Vec<u8>> {
    let srgb = ColorProfile::new_srgb();
    let options = TransformOptions::default();
    let mut converted = vec![0; pixels.bytes.len()];
    match profile.color_space {
        DataColorSpace::Rgb => {
            let layout = if pixels.has_alpha { Layout::Rgba } else { Layout::Rgb };
            let transform = profile.create_transform_8bit(layout, &srgb, layout, options).ok()?;
            transform.transform(&pixels.bytes, &mut converted).ok()?;
        }
        DataColorSpace::Gray if !pixels.has_alpha => {
            let grey: Vec<u8> = pixels.bytes.iter().copied().step_by(pixels.channels()).collect();
            let transform =
                profile.create_transform_8bit(Layout::Gray, &srgb, Layout::Rgb, options).ok()?;
            transform.transform(&grey, &mut converted).ok()?;
        }
        // The decoder has already made RGB of other spaces.
        _ => return None,
    }
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
