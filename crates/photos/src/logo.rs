//! Makes the logo of a store from a picture.

use fast_image_resize::{Resizer, images::TypedImage, pixels::U8x4};
use image::{
    ColorType, DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, RgbImage, RgbaImage,
    codecs::png::{CompressionType, FilterType, PngEncoder},
    metadata::Orientation,
};
use moxcms::ColorProfile;
use petstore_domain::store_area::{Logo, NewLogo, PictureProblem};

use super::{
    decode::{LOGO_PIXEL_LENGTH, limited_decoder, parse_profile, read_pixels},
    format::Format,
    pixels::{Sides, to_8_bits, to_srgb},
};

/// The maximum length of a side of a logo whose file would be larger than [`Logo::MAX_FILE`] with
/// sides of [`Logo::MAX_SIDE`], in pixels.
const REDUCED_MAX_SIDE: u32 = 384;

/// Makes a logo from a picture: a PNG without metadata. The logo is turned upright, is in sRGB, and
/// keeps its transparency.
pub fn make_logo(picture: &[u8], format: Format) -> Result<NewLogo, PictureProblem> {
    let mut picture = decode(picture, format)?;
    let mut png = encode(&picture)?;
    if png.len() > Logo::MAX_FILE {
        picture = shrink(picture, REDUCED_MAX_SIDE)?;
        png = encode(&picture)?;
    }
    // Cannot fail: no side is longer than `Logo::MAX_SIDE`.
    let width = u16::try_from(picture.width()).unwrap_or(u16::MAX);
    let height = u16::try_from(picture.height()).unwrap_or(u16::MAX);
    Ok(NewLogo::new(png, width, height))
}

/// Decodes a picture into pixels with sides of at most [`Logo::MAX_SIDE`].
fn decode(picture: &[u8], format: Format) -> Result<RgbaImage, PictureProblem> {
    let mut decoder = limited_decoder(picture, format, LOGO_PIXEL_LENGTH)?.decoder;
    let (width, height) = decoder.dimensions();
    let colour_type = decoder.color_type();
    // Invalid metadata is ignored, as in browsers.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().unwrap_or_default();
    // Check this before the logo is scaled down, which rounds its sides.
    check_shape(Sides { width, height }, orientation)?;

    let decoded_pixels = read_pixels(decoder)?;
    let rgba_pixels = to_8_bits(decoded_pixels, colour_type, |[red, green, blue], alpha| {
        [red, green, blue, alpha]
    });
    // `from_raw` fails only if there are too few pixels.
    let picture = RgbaImage::from_raw(width, height, rgba_pixels).unwrap_or_default();
    let mut logo = shrink(picture, Logo::MAX_SIDE.into())?;

    if let Some(profile) = parse_profile(profile) {
        convert_colours(&mut logo, colour_type, &profile);
    }
    let mut upright_logo = DynamicImage::from(logo);
    upright_logo.apply_orientation(orientation);
    Ok(upright_logo.into_rgba8())
}

/// Rejects a logo that is too flat once it is turned upright.
fn check_shape(sides: Sides, orientation: Orientation) -> Result<(), PictureProblem> {
    let swaps_sides = matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    );
    let is_too_flat = if swaps_sides {
        Logo::is_too_flat(sides.height, sides.width)
    } else {
        Logo::is_too_flat(sides.width, sides.height)
    };
    if is_too_flat {
        return Err(PictureProblem::FlatLogo);
    }
    Ok(())
}

/// Converts the colours of a logo to sRGB, unless the profile is unusable. The transparency stays.
fn convert_colours(logo: &mut RgbaImage, colour_type: ColorType, profile: &ColorProfile) {
    // The conversion to RGB consumes its picture, so it gets a copy. A logo is small.
    let opaque_logo = DynamicImage::from(logo.clone()).into_rgb8();
    let Some(converted_logo) = to_srgb(&opaque_logo, colour_type, profile) else {
        return;
    };
    for (pixel, converted_pixel) in logo.pixels_mut().zip(converted_logo.pixels()) {
        let image::Rgba([red, green, blue, _]) = pixel;
        [*red, *green, *blue] = converted_pixel.0;
    }
}

/// Scales a picture down so that its longer side is at most `limit`.
fn shrink(mut picture: RgbaImage, limit: u32) -> Result<RgbaImage, PictureProblem> {
    let (width, height) = picture.dimensions();
    match (Sides { width, height }).shrink_to(limit) {
        Some(sides) => resize(&mut picture, sides).ok_or(PictureProblem::Unreadable),
        None => Ok(picture),
    }
}

/// Resizes a picture. Returns `None` if the resizer fails. Colours are weighted with their alpha,
/// so that the colours of transparent pixels, which are invisible, do not appear at edges.
///
/// `picture` is mutable only so that its type is the one of the target: see
/// [`super::pixels::resize`].
fn resize(picture: &mut RgbaImage, sides: Sides) -> Option<RgbaImage> {
    let (width, height) = picture.dimensions();
    let source = TypedImage::<U8x4>::from_buffer(width, height, picture).ok()?;
    let mut result = RgbaImage::new(sides.width, sides.height);
    let mut target =
        TypedImage::<U8x4>::from_buffer(sides.width, sides.height, &mut result).ok()?;
    Resizer::new()
        .resize_typed(&source, &mut target, None)
        .ok()?;
    Some(result)
}

/// Encodes a picture as a PNG, without an alpha channel if all pixels are opaque.
fn encode(picture: &RgbaImage) -> Result<Vec<u8>, PictureProblem> {
    let mut file = Vec::new();
    let (width, height) = picture.dimensions();
    let encoder =
        PngEncoder::new_with_quality(&mut file, CompressionType::Best, FilterType::Adaptive);
    let is_opaque = picture
        .pixels()
        .all(|image::Rgba([_, _, _, alpha])| *alpha == u8::MAX);
    let result = if is_opaque {
        // The conversion to RGB consumes its picture, so it gets a copy. A logo is small.
        let opaque_picture: RgbImage = DynamicImage::from(picture.clone()).into_rgb8();
        encoder.write_image(&opaque_picture, width, height, ExtendedColorType::Rgb8)
    } else {
        encoder.write_image(picture, width, height, ExtendedColorType::Rgba8)
    };
    // Not expected, so it has no problem of its own: the encoder writes to memory, and the picture
    // is valid.
    result.map_err(|_| PictureProblem::Unreadable)?;
    Ok(file)
}
