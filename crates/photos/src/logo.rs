//! Makes the logo of a store of a picture.

use fast_image_resize::{
    Resizer,
    images::{TypedImage, TypedImageRef},
    pixels::U8x4,
};
use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, RgbImage, RgbaImage,
    codecs::png::{CompressionType, FilterType, PngEncoder},
    metadata::Orientation,
};
use moxcms::ColorProfile;
use petstore_domain::store_area::{Logo, NewLogo, PictureProblem};

use super::{
    decode::{TRANSPARENT, decoder, in_8_bits, in_srgb, picture_problem, sides_within},
    inspect::Format,
};

/// A smaller longest side, for a logo whose file would be too large.
const SMALLER_SIDE: u32 = 384;

/// Decodes a picture, and makes a PNG of it without metadata: turned as it should be seen, in sRGB, with
/// its transparency.
pub fn logo(picture: &[u8], format: Format) -> Result<NewLogo, PictureProblem> {
    let mut picture = decode(picture, format)?;
    let mut png = encode(&picture)?;
    if png.len() > Logo::MAX_FILE {
        picture = smaller(picture, SMALLER_SIDE)?;
        png = encode(&picture)?;
    }
    let side = |pixels| u16::try_from(pixels).unwrap_or(u16::MAX);
    Ok(NewLogo::new(
        png,
        side(picture.width()),
        side(picture.height()),
    ))
}

fn decode(picture: &[u8], format: Format) -> Result<RgbaImage, PictureProblem> {
    let (mut decoder, _) = decoder(picture, format, TRANSPARENT)?;
    let (width, height) = decoder.dimensions();
    let colour = decoder.color_type();
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    // The sides are compared before the picture is made smaller, which rounds them.
    let is_turned = matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    );
    let is_too_flat = if is_turned {
        Logo::is_too_flat(height, width)
    } else {
        Logo::is_too_flat(width, height)
    };
    if is_too_flat {
        return Err(PictureProblem::FlatLogo);
    }
    let profile = decoder.icc_profile().unwrap_or_default();
    let mut whole = vec![0; usize::try_from(decoder.total_bytes()).unwrap_or_default()];
    decoder.read_image(&mut whole).map_err(picture_problem)?;
    let whole = in_8_bits(whole, colour, |[red, green, blue], alpha| {
        [red, green, blue, alpha]
    });
    let picture = RgbaImage::from_raw(width, height, whole).unwrap_or_default();
    let mut logo = smaller(picture, Logo::MAX_SIDE.into())?;
    // A profile that cannot be used is ignored, as browsers do.
    let profile = profile.and_then(|profile| ColorProfile::new_from_slice(&profile).ok());
    let opaque = DynamicImage::from(logo.clone()).into_rgb8();
    if let Some(converted) =
        profile.and_then(|profile| in_srgb(&opaque, !colour.has_color(), &profile))
    {
        for (pixel, converted) in logo.pixels_mut().zip(converted.pixels()) {
            pixel.0[..3].copy_from_slice(&converted.0);
        }
    }
    let mut logo = DynamicImage::from(logo);
    logo.apply_orientation(orientation);
    Ok(logo.into_rgba8())
}

/// Returns the picture with at most this longer side.
fn smaller(picture: RgbaImage, limit: u32) -> Result<RgbaImage, PictureProblem> {
    let Some((width, height)) = sides_within(picture.width(), picture.height(), limit) else {
        return Ok(picture);
    };
    resize(&picture, width, height).ok_or(PictureProblem::Unreadable)
}

/// Resizes a picture. A colour counts as far as it is visible, so transparent pixels leave no edge.
fn resize(picture: &RgbaImage, width: u32, height: u32) -> Option<RgbaImage> {
    let source =
        TypedImageRef::<U8x4>::from_buffer(picture.width(), picture.height(), picture).ok()?;
    let mut resized = RgbaImage::new(width, height);
    let mut target = TypedImage::<U8x4>::from_buffer(width, height, &mut resized).ok()?;
    Resizer::new()
        .resize_typed(&source, &mut target, None)
        .ok()?;
    Some(resized)
}

fn encode(picture: &RgbaImage) -> Result<Vec<u8>, PictureProblem> {
    let mut file = Vec::new();
    let (width, height) = picture.dimensions();
    let encoder =
        PngEncoder::new_with_quality(&mut file, CompressionType::Best, FilterType::Adaptive);
    let is_opaque = picture.pixels().all(|pixel| pixel.0[3] == u8::MAX);
    let result = if is_opaque {
        let opaque: RgbImage = DynamicImage::from(picture.clone()).into_rgb8();
        encoder.write_image(&opaque, width, height, ExtendedColorType::Rgb8)
    } else {
        encoder.write_image(picture, width, height, ExtendedColorType::Rgba8)
    };
    result.map_err(|_| PictureProblem::Unreadable)?;
    Ok(file)
}
