//! Decodes pictures within limits, and makes the sizes of a photo.

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
    inspect::{MAX_METADATA, Parts, inspect},
    memory_guard::{GuardedPicture, MAX_MEMORY},
    pixels::{Sides, on_white, resize, to_8_bits, to_srgb},
};

/// The largest picture, in pixels.
const MAX_PIXELS: u64 = 50_000_000;

/// The longest side, in pixels: a resizer needs memory for each.
const MAX_SIDE: u32 = 65_535;

/// The JPEG quality of the files: smaller values show, larger ones cost space.
const QUALITY: u8 = 85;

/// The JPEG quality of the sizes of lists, which screens of phones show with two pixels for each one of
/// the page: a quarter less to load, and no difference that people see.
const QUALITY_OF_LISTS: u8 = 76;

/// The bytes of a pixel of a photo, which is opaque.
pub(super) const PHOTO_PIXEL_LENGTH: u64 = 3;

/// The bytes of a pixel of a logo, which can be transparent.
pub(super) const LOGO_PIXEL_LENGTH: u64 = 4;

/// The files of a photo, in memory.
#[derive(Debug)]
pub struct EncodedPhoto {
    /// The files, in the order of [`PhotoSize::ALL`].
    pub files: [Vec<u8>; PhotoSize::COUNT],
    /// The width of the large size, in pixels.
    pub width: u32,
    /// The height of the large size, in pixels.
    pub height: u32,
}

/// A decoder within the limits.
pub(super) struct LimitedDecoder<D> {
    pub(super) decoder: D,
    /// The memory that the decoder needs, in bytes.
    memory: u64,
}

/// Decodes a picture, and makes the files of a photo.
pub fn encode_photo(picture: &[u8], format: Format) -> Result<EncodedPhoto, PictureProblem> {
    let large = decode(picture, format)?;
    let file = encode(&large, PhotoSize::Large)?;
    with_smaller_sizes(large, file)
}

/// Returns the files of a photo with this large file. The field for the orientation in the file says how
/// its picture is turned.
pub(super) fn photo_from_large_file(file: Vec<u8>) -> Result<EncodedPhoto, PictureProblem> {
    let large = decode(&file, Format::Jpeg)?;
    with_smaller_sizes(large, file)
}

/// Makes the smaller sizes of a photo whose large size is `large` as pixels, and `large_file` as a file.
fn with_smaller_sizes(
    large: RgbImage,
    mut large_file: Vec<u8>,
) -> Result<EncodedPhoto, PictureProblem> {
    let (width, height) = large.dimensions();
    let mut files = [const { Vec::new() }; PhotoSize::COUNT];
    let mut picture = large;
    // Each size is made from the next larger one.
    for (size, file) in PhotoSize::ALL.into_iter().zip(&mut files).rev() {
        if size == PhotoSize::Large {
            *file = std::mem::take(&mut large_file);
            continue;
        }
        if let Some(smaller_picture) = shrink(&picture, size)? {
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

/// Makes the file of a smaller size from the large file. Fails if the large file is damaged.
///
/// A picture that is not larger than `size` keeps its file.
pub(super) fn shrink_file(large_file: Bytes, size: PhotoSize) -> Result<Bytes, PictureProblem> {
    let picture = decode(&large_file, Format::Jpeg)?;
    match shrink(&picture, size)? {
        Some(smaller_picture) => Ok(encode(&smaller_picture, size)?.into()),
        None => Ok(large_file),
    }
}

/// Whether the content of a file can be decoded as a JPEG.
pub fn is_readable(file: &[u8]) -> bool {
    decode(file, Format::Jpeg).is_ok()
}

/// Whether a picture can need more than half of the memory, with pixels of `pixel_length` bytes. Fails
/// like [`encode_photo`].
pub(super) fn needs_all_memory(
    picture: &[u8],
    format: Format,
    pixel_length: u64,
) -> Result<bool, PictureProblem> {
    let decoder = limited_decoder(picture, format, pixel_length)?;
    Ok(decoder.memory > MAX_MEMORY / 2)
}

/// Returns a decoder that keeps the limits. Fails if the picture exceeds them with pixels of
/// `pixel_length` bytes.
pub(super) fn limited_decoder(
    picture: &[u8],
    format: Format,
    pixel_length: u64,
) -> Result<LimitedDecoder<impl ImageDecoder>, PictureProblem> {
    let parts = inspect(picture, format)?;
    let guarded_picture = GuardedPicture::reader(picture, parts.is_guarded);
    let mut reader = ImageReader::with_format(guarded_picture, image_format(format));
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_METADATA as u64);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder().map_err(picture_problem)?;

    let (width, height) = decoder.dimensions();
    check_sides(width, height)?;
    let decoder_memory = free_memory(picture, format, &parts, &decoder, pixel_length)?;
    // A frame of a film can be larger than the picture.
    limits.max_alloc = Some(decoder_memory);
    decoder.set_limits(limits).map_err(picture_problem)?;

    let memory = if parts.is_guarded {
        MAX_MEMORY
    } else {
        MAX_MEMORY - decoder_memory
    };
    Ok(LimitedDecoder { decoder, memory })
}

/// Checks the sides of a picture, in pixels, against [`MAX_PIXELS`] and [`MAX_SIDE`].
fn check_sides(width: u32, height: u32) -> Result<(), PictureProblem> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels > MAX_PIXELS || width.max(height) > MAX_SIDE {
        return Err(PictureProblem::Pixels {
            width,
            height,
            most: saturate(MAX_PIXELS),
            most_of_side: MAX_SIDE,
        });
    }
    if pixels == 0 {
        return Err(PictureProblem::Unreadable);
    }
    Ok(())
}

/// Returns how much of [`MAX_MEMORY`] is free while a picture is decoded, in bytes. Fails if nothing is.
fn free_memory(
    picture: &[u8],
    format: Format,
    parts: &Parts,
    decoder: &impl ImageDecoder,
    pixel_length: u64,
) -> Result<u64, PictureProblem> {
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    let decoded_length = decoder.total_bytes().max(pixel_length * pixels);
    // A decoder can have a copy of the file.
    let memory_of_files = 2 * picture.len() as u64;
    let memory_of_pixel = decoded_length / pixels + parts.memory_of_pixel;
    let free_memory = MAX_MEMORY.saturating_sub(memory_of_files + memory_of_pixel * pixels);
    if free_memory == 0 {
        let memory_of_pixels = MAX_MEMORY.saturating_sub(memory_of_files);
        return Err(PictureProblem::PixelsOfKind {
            width,
            height,
            most: saturate(memory_of_pixels / memory_of_pixel),
            format: format.as_str(),
        });
    }
    Ok(free_memory)
}

fn saturate(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Returns the problem with a picture whose decoder fails.
pub(super) fn picture_problem(error: ImageError) -> PictureProblem {
    match error {
        ImageError::Limits(_) => PictureProblem::Memory,
        ImageError::IoError(error) if error.kind() == ErrorKind::OutOfMemory => {
            PictureProblem::Memory
        }
        _ => PictureProblem::Unreadable,
    }
}

/// Decodes a picture into the large size: turned as people should see it, in sRGB, on white.
fn decode(picture: &[u8], format: Format) -> Result<RgbImage, PictureProblem> {
    let mut decoder = limited_decoder(picture, format, PHOTO_PIXEL_LENGTH)?.decoder;
    let (width, height) = decoder.dimensions();
    let colour_type = decoder.color_type();
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().unwrap_or_default();

    let mut bytes = vec![0; usize::try_from(decoder.total_bytes()).unwrap_or_default()];
    decoder.read_image(&mut bytes).map_err(picture_problem)?;
    let bytes = to_8_bits(bytes, colour_type, on_white);
    let mut large = RgbImage::from_raw(width, height, bytes).unwrap_or_default();
    if let Some(smaller_picture) = shrink(&large, PhotoSize::Large)? {
        large = smaller_picture;
    }

    if let Some(profile) = parse_profile(profile)
        && let Some(converted_picture) = to_srgb(&large, !colour_type.has_color(), &profile)
    {
        large = converted_picture;
    }
    let mut large = DynamicImage::from(large);
    large.apply_orientation(orientation);
    Ok(large.into_rgb8())
}

/// Parses the colour profile of a picture. A profile that cannot be used is ignored, as browsers do.
pub(super) fn parse_profile(profile: Option<Vec<u8>>) -> Option<ColorProfile> {
    ColorProfile::new_from_slice(&profile?).ok()
}

fn image_format(format: Format) -> ImageFormat {
    match format {
        Format::Jpeg => ImageFormat::Jpeg,
        Format::Png => ImageFormat::Png,
        Format::WebP => ImageFormat::WebP,
        Format::Gif => ImageFormat::Gif,
    }
}

/// Returns the picture in a smaller size; `None` if the picture is not larger than that.
fn shrink(picture: &RgbImage, size: PhotoSize) -> Result<Option<RgbImage>, PictureProblem> {
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
    let quality = if is_for_lists {
        QUALITY_OF_LISTS
    } else {
        QUALITY
    };
    let mut file = Vec::new();
    let (width, height) = picture.dimensions();
    JpegEncoder::new_with_quality(&mut file, quality)
        .encode(picture.as_raw(), width, height, ExtendedColorType::Rgb8)
        .map_err(|_| PictureProblem::Unreadable)?;
    Ok(file)
}
