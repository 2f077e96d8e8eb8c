//! Decodes pictures within limits, and encodes the sizes of a photo.

use std::io::ErrorKind;

use bytes::Bytes;
use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits,
    RgbImage, codecs::jpeg::JpegEncoder, metadata::Orientation,
};
use moxcms::ColorProfile;
use petstore_domain::store_area::{PhotoSize, PictureProblem};

use super::{
    format::Format,
    inspect::{MAX_METADATA, Structure, inspect},
    memory_guard::{GuardedPicture, MAX_MEMORY},
    pixels::{Sides, on_white, resize, to_8_bits, to_srgb},
};

/// The maximum number of pixels of a picture.
const MAX_PIXELS: u64 = 50_000_000;

/// The maximum length of a side, in pixels. It is limited because a resizer needs memory for each
/// pixel of a side.
const MAX_SIDE: u32 = 65_535;

/// The JPEG quality of the larger sizes. The difference to a lower quality would be visible, and a
/// higher quality would need more space.
const QUALITY: u8 = 85;

/// The JPEG quality of the sizes for lists. Phones show them with two device pixels for each pixel
/// of the page, so this saves a quarter of the transfer without a visible difference.
const LIST_QUALITY: u8 = 76;

/// The number of bytes per pixel of a photo: a photo is opaque, so it has three colours.
pub(super) const PHOTO_PIXEL_LENGTH: u64 = 3;

/// The number of bytes per pixel of a logo: a logo can be transparent, so it has three colours and
/// alpha.
pub(super) const LOGO_PIXEL_LENGTH: u64 = 4;

/// The encoded files of a photo, in memory.
#[derive(Debug)]
pub struct EncodedPhoto {
    /// The files, in the order of [`PhotoSize::ALL`].
    pub files: [Vec<u8>; PhotoSize::COUNT],
    /// The width of the large size, in pixels.
    pub width: u32,
    /// The height of the large size, in pixels.
    pub height: u32,
}

/// A decoder of a picture that is within the limits.
pub(super) struct LimitedDecoder<D> {
    pub(super) decoder: D,
    /// The memory that decoding may take, in bytes.
    memory: u64,
}

/// Decodes a picture, and encodes the files of a photo.
pub fn encode_photo(picture: &[u8], format: Format) -> Result<EncodedPhoto, PictureProblem> {
    let large = decode(picture, format)?;
    let file = encode(&large, PhotoSize::Large)?;
    encode_smaller_sizes(large, file)
}

/// Makes a photo from its large file, which is not encoded again. The pixels of the smaller sizes
/// are turned as the orientation field in the file says.
pub(super) fn photo_from_large_file(file: Vec<u8>) -> Result<EncodedPhoto, PictureProblem> {
    let large = decode(&file, Format::Jpeg)?;
    encode_smaller_sizes(large, file)
}

/// Encodes the smaller sizes of a photo. `large` are the pixels of its large size, and `large_file`
/// is the same size, encoded.
fn encode_smaller_sizes(
    large: RgbImage,
    mut large_file: Vec<u8>,
) -> Result<EncodedPhoto, PictureProblem> {
    let (width, height) = large.dimensions();
    let mut files = [const { Vec::new() }; PhotoSize::COUNT];
    let mut picture = large;
    // Go from the largest size to the smallest, because each picture is scaled down from the one
    // before. A picture that is already small enough stays as it is.
    for (size, file) in PhotoSize::ALL.into_iter().zip(&mut files).rev() {
        if size == PhotoSize::Large {
            // There is one large size, so the file is moved only once.
            *file = std::mem::take(&mut large_file);
            continue;
        }
        if let Some(smaller_picture) = shrink(&mut picture, size)? {
            picture = smaller_picture;
        }
        *file = encode(&picture, size)?;
    }
    Ok(EncodedPhoto {
        files,
        width,
        height,
    })
}

/// Makes the file of a smaller size from the large file of a photo. If the picture is not larger
/// than `size`, returns the large file itself. Fails if the large file is damaged.
pub(super) fn shrink_file(large_file: Bytes, size: PhotoSize) -> Result<Bytes, PictureProblem> {
    let mut picture = decode(&large_file, Format::Jpeg)?;
    match shrink(&mut picture, size)? {
        Some(smaller_picture) => Ok(encode(&smaller_picture, size)?.into()),
        None => Ok(large_file),
    }
}

/// Whether a file can be decoded as a JPEG.
pub fn is_readable(file: &[u8]) -> bool {
    decode(file, Format::Jpeg).is_ok()
}

/// Whether decoding a picture into pixels of `pixel_length` bytes may take more than half of
/// [`MAX_MEMORY`]. Fails for the same reasons as [`encode_photo`].
pub(super) fn needs_all_memory(
    picture: &[u8],
    format: Format,
    pixel_length: u64,
) -> Result<bool, PictureProblem> {
    let decoder = limited_decoder(picture, format, pixel_length)?;
    Ok(decoder.memory > MAX_MEMORY / 2)
}

/// Creates a decoder with a limit on its memory. Fails if the picture exceeds a limit when it is
/// decoded into pixels of `pixel_length` bytes.
pub(super) fn limited_decoder(
    picture: &[u8],
    format: Format,
    pixel_length: u64,
) -> Result<LimitedDecoder<impl ImageDecoder>, PictureProblem> {
    let structure = inspect(picture, format)?;
    let guarded_picture = GuardedPicture::reader(picture, structure.needs_guard);
    let mut reader = ImageReader::with_format(guarded_picture, to_image_format(format));
    let mut limits = Limits::no_limits();
    // Until the decoder gets its own limit below, it reads only metadata.
    limits.max_alloc = Some(MAX_METADATA as u64);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder().map_err(to_picture_problem)?;

    let (width, height) = decoder.dimensions();
    check_sides(width, height)?;
    let free_memory = compute_free_memory(picture, format, &structure, &decoder, pixel_length)?;
    // A frame of an animation can be larger than the picture, so the decoder itself needs a limit,
    // too.
    limits.max_alloc = Some(free_memory);
    decoder.set_limits(limits).map_err(to_picture_problem)?;

    // A guarded decoder may take all memory before the guard stops it.
    let memory = if structure.needs_guard {
        MAX_MEMORY
    } else {
        MAX_MEMORY - free_memory
    };
    Ok(LimitedDecoder { decoder, memory })
}

/// Rejects a picture that is larger than [`MAX_PIXELS`] or [`MAX_SIDE`], or that has no pixels.
fn check_sides(width: u32, height: u32) -> Result<(), PictureProblem> {
    let pixel_count = u64::from(width) * u64::from(height);
    if pixel_count > MAX_PIXELS || width.max(height) > MAX_SIDE {
        return Err(PictureProblem::Pixels {
            width,
            height,
            most: saturate(MAX_PIXELS),
            most_of_side: MAX_SIDE,
        });
    }
    if pixel_count == 0 {
        return Err(PictureProblem::Unreadable);
    }
    Ok(())
}

/// Returns how much of [`MAX_MEMORY`] remains free while a picture is decoded, in bytes. Fails if
/// nothing remains free.
fn compute_free_memory(
    picture: &[u8],
    format: Format,
    structure: &Structure,
    decoder: &impl ImageDecoder,
    pixel_length: u64,
) -> Result<u64, PictureProblem> {
    let (width, height) = decoder.dimensions();
    let pixel_count = u64::from(width) * u64::from(height);
    let decoded_length = decoder.total_bytes().max(pixel_length * pixel_count);
    // The decoder may hold a copy of the file.
    let file_memory = 2 * picture.len() as u64;
    let bytes_per_pixel = decoded_length / pixel_count + structure.extra_bytes_per_pixel;
    let pixel_memory = MAX_MEMORY.saturating_sub(file_memory);
    let free_memory = pixel_memory.saturating_sub(bytes_per_pixel * pixel_count);
    if free_memory == 0 {
        return Err(PictureProblem::PixelsOfKind {
            width,
            height,
            most: saturate(pixel_memory / bytes_per_pixel),
            format: format.as_str(),
        });
    }
    Ok(free_memory)
}

/// Converts a number. A number that is too large becomes the largest possible one.
fn saturate(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Converts the error of a decoder into the problem of its picture.
fn to_picture_problem(error: ImageError) -> PictureProblem {
    match error {
        ImageError::Limits(_) => PictureProblem::Memory,
        ImageError::IoError(error) if error.kind() == ErrorKind::OutOfMemory => {
            PictureProblem::Memory
        }
        _ => PictureProblem::Unreadable,
    }
}

/// Decodes a picture into the large size: turned upright, in sRGB, on a white background. It is
/// scaled down first, so that the other steps work on fewer pixels.
fn decode(picture: &[u8], format: Format) -> Result<RgbImage, PictureProblem> {
    let mut decoder = limited_decoder(picture, format, PHOTO_PIXEL_LENGTH)?.decoder;
    let (width, height) = decoder.dimensions();
    let colour_type = decoder.color_type();
    // Invalid metadata is ignored, as in browsers.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().unwrap_or_default();

    let decoded_pixels = read_pixels(decoder)?;
    let rgb_pixels = to_8_bits(decoded_pixels, colour_type, on_white);
    // `from_raw` fails only if there are too few pixels.
    let mut large = RgbImage::from_raw(width, height, rgb_pixels).unwrap_or_default();
    if let Some(smaller_picture) = shrink(&mut large, PhotoSize::Large)? {
        large = smaller_picture;
    }

    if let Some(profile) = parse_profile(profile)
        && let Some(converted_picture) = to_srgb(&large, colour_type, &profile)
    {
        large = converted_picture;
    }
    let mut upright = DynamicImage::from(large);
    upright.apply_orientation(orientation);
    Ok(upright.into_rgb8())
}

/// Reads all pixels of a picture, in the form in which the decoder has them.
pub(super) fn read_pixels(decoder: impl ImageDecoder) -> Result<Vec<u8>, PictureProblem> {
    // Cannot fail: the limit on memory is less than what `usize` can hold.
    let mut pixels = vec![0; usize::try_from(decoder.total_bytes()).unwrap_or_default()];
    decoder
        .read_image(&mut pixels)
        .map_err(to_picture_problem)?;
    Ok(pixels)
}

/// Parses the colour profile of a picture. An invalid profile is ignored, as in browsers.
pub(super) fn parse_profile(profile: Option<Vec<u8>>) -> Option<ColorProfile> {
    ColorProfile::new_from_slice(&profile?).ok()
}

/// Returns the name of a format in the library of the decoders.
fn to_image_format(format: Format) -> ImageFormat {
    match format {
        Format::Jpeg => ImageFormat::Jpeg,
        Format::Png => ImageFormat::Png,
        Format::WebP => ImageFormat::WebP,
        Format::Gif => ImageFormat::Gif,
    }
}

/// Scales a picture down to this size. Returns `None` if the picture is not larger.
fn shrink(picture: &mut RgbImage, size: PhotoSize) -> Result<Option<RgbImage>, PictureProblem> {
    let (width, height) = picture.dimensions();
    let Some(sides) = Sides { width, height }.shrink_to(size.longer_side()) else {
        return Ok(None);
    };
    match resize(picture, sides) {
        Some(smaller_picture) => Ok(Some(smaller_picture)),
        None => Err(PictureProblem::Unreadable),
    }
}

/// Encodes a picture as a JPEG, with the quality for its size.
fn encode(picture: &RgbImage, size: PhotoSize) -> Result<Vec<u8>, PictureProblem> {
    let is_for_lists = size.longer_side() <= PhotoSize::Card.longer_side();
    let quality = if is_for_lists { LIST_QUALITY } else { QUALITY };
    let mut file = Vec::new();
    let (width, height) = picture.dimensions();
    JpegEncoder::new_with_quality(&mut file, quality)
        .encode(picture.as_raw(), width, height, ExtendedColorType::Rgb8)
        .map_err(|_| PictureProblem::Unreadable)?;
    Ok(file)
}
