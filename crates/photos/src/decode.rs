//! Makes the sizes of a picture.

use std::{
    fs,
    io::{self, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom},
};

use bytes::Bytes;
use fast_image_resize::{
    Resizer,
    images::{TypedImage, TypedImageRef},
    pixels::U8x3,
};
use image::{
    ColorType, DynamicImage, ExtendedColorType, ImageDecoder, ImageError, ImageFormat, ImageReader,
    Limits, RgbImage, codecs::jpeg::JpegEncoder, metadata::Orientation,
};
use moxcms::{ColorProfile, DataColorSpace, Layout, TransformOptions};
use petstore_domain::store_area::{PhotoSize, PictureProblem};

use super::inspect::{Format, MAX_METADATA, inspect};

/// The largest picture, in pixels.
const MAX_PIXELS: u64 = 50_000_000;

/// The longest side, in pixels: a resizer needs memory for each.
const MAX_SIDE: u32 = 65_535;

/// The quality of the JPEG files: people see a lower quality, and a higher one costs space.
const QUALITY: u8 = 85;

/// The quality of the sizes for lists. Phones show two of their pixels for each pixel of a page: a quarter less to
/// load, and no difference that people see.
const QUALITY_OF_LISTS: u8 = 76;

/// The files of a photo in all sizes.
#[derive(Debug)]
pub struct Sizes {
    /// The files, in the order of [`PhotoSize::ALL`].
    pub files: [Vec<u8>; PhotoSize::COUNT],
    /// The width of the large size, in pixels.
    pub width: u32,
    /// The height of the large size, in pixels.
    pub height: u32,
}

/// Decodes a picture, and makes the files of a photo.
pub fn sizes(picture: &[u8], format: Format) -> Result<Sizes, PictureProblem> {
    let large = decode(picture, format)?;
    let file = encode(&large, PhotoSize::Large)?;
    sizes_from(large, file)
}

/// Returns the files of a photo with this large file, turned as the orientation in the file says.
pub(super) fn sizes_of_turned(file: Vec<u8>) -> Result<Sizes, PictureProblem> {
    let large = decode(&file, Format::Jpeg)?;
    sizes_from(large, file)
}

/// Returns the files of a photo with this large file, whose decoded picture is `large`.
fn sizes_from(large: RgbImage, file: Vec<u8>) -> Result<Sizes, PictureProblem> {
    let (width, height) = large.dimensions();
    let mut files = [const { Vec::new() }; PhotoSize::COUNT];
    let mut picture = large;
    let mut large_file = Some(file);
    // Each size is made from the next larger one.
    for (size, file) in PhotoSize::ALL.into_iter().zip(&mut files).rev() {
        if size == PhotoSize::Large {
            *file = large_file.take().unwrap_or_default();
            continue;
        }
        picture = smaller(&picture, size)?.unwrap_or(picture);
        *file = encode(&picture, size)?;
    }
    Ok(Sizes {
        files,
        width,
        height,
    })
}

/// Makes the file of a smaller size from the large file. Fails if the large file is damaged.
pub(super) fn smaller_file(large: Bytes, size: PhotoSize) -> Result<Bytes, PictureProblem> {
    let picture = decode(&large, Format::Jpeg)?;
    match smaller(&picture, size)? {
        Some(smaller) => Ok(encode(&smaller, size)?.into()),
        None => Ok(large),
    }
}

/// Whether the content of a file can be decoded as a JPEG.
pub fn is_readable(file: &[u8]) -> bool {
    decode(file, Format::Jpeg).is_ok()
}

/// The bytes of a pixel of a photo.
pub(super) const OPAQUE: u64 = 3;

/// The bytes of a pixel of a logo, which can be transparent.
pub(super) const TRANSPARENT: u64 = 4;

/// Whether a picture can need more than half of the memory, with `channels` bytes for each pixel. Fails as [`sizes`]
/// does.
pub(super) fn is_large(
    picture: &[u8],
    format: Format,
    channels: u64,
) -> Result<bool, PictureProblem> {
    let (_, memory) = decoder(picture, format, channels)?;
    Ok(memory > MAX_MEMORY / 2)
}

/// Returns a decoder within the limits, and the memory in bytes that it needs with `channels` bytes for each pixel.
pub(super) fn decoder(
    picture: &[u8],
    format: Format,
    channels: u64,
) -> Result<(impl ImageDecoder, u64), PictureProblem> {
    let parts = inspect(picture, format)?;
    let guarded = GuardedPicture::new(picture, parts.is_guarded);
    let mut reader = ImageReader::with_format(guarded, image_format(format));
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_METADATA as u64);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder().map_err(picture_problem)?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > MAX_PIXELS || width.max(height) > MAX_SIDE {
        return Err(PictureProblem::Pixels {
            width,
            height,
            most: pixel_count(MAX_PIXELS),
            most_of_side: MAX_SIDE,
        });
    }
    if pixels == 0 {
        return Err(PictureProblem::Unreadable);
    }

    let decoded_length = decoder.total_bytes().max(channels * pixels);
    // A decoder can have a copy of the file.
    let file_memory = 2 * picture.len() as u64;
    let memory_of_pixel = decoded_length / pixels + parts.memory_of_pixel;
    let free = MAX_MEMORY.saturating_sub(file_memory + memory_of_pixel * pixels);
    if free == 0 {
        return Err(PictureProblem::PixelsOfKind {
            width,
            height,
            most: pixel_count(MAX_MEMORY.saturating_sub(file_memory) / memory_of_pixel),
            format: format.as_str(),
        });
    }

    // A frame of an animation can be larger than the picture.
    limits.max_alloc = Some(free);
    decoder.set_limits(limits).map_err(picture_problem)?;
    let memory = if parts.is_guarded {
        MAX_MEMORY
    } else {
        MAX_MEMORY - free
    };
    Ok((decoder, memory))
}

fn pixel_count(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Returns the problem of a picture that a decoder rejects.
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
    let (mut decoder, _) = decoder(picture, format, OPAQUE)?;
    let (width, height) = decoder.dimensions();
    let colour = decoder.color_type();
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().unwrap_or_default();

    let mut pixels = vec![0; usize::try_from(decoder.total_bytes()).unwrap_or_default()];
    decoder.read_image(&mut pixels).map_err(picture_problem)?;
    let pixels = in_8_bits(pixels, colour, on_white);
    let mut large = RgbImage::from_raw(width, height, pixels).unwrap_or_default();
    if let Some((width, height)) = sides_within(width, height, PhotoSize::Large.longer_side()) {
        large = resize(&large, width, height).ok_or(PictureProblem::Unreadable)?;
    }

    // A profile that cannot be used is ignored, as browsers do.
    let profile = profile.and_then(|profile| ColorProfile::new_from_slice(&profile).ok());
    let is_grey = !colour.has_color();
    if let Some(converted) = profile.and_then(|profile| in_srgb(&large, is_grey, &profile)) {
        large = converted;
    }
    let mut large = DynamicImage::from(large);
    large.apply_orientation(orientation);
    Ok(large.into_rgb8())
}

fn image_format(format: Format) -> ImageFormat {
    match format {
        Format::Jpeg => ImageFormat::Jpeg,
        Format::Png => ImageFormat::Png,
        Format::WebP => ImageFormat::WebP,
        Format::Gif => ImageFormat::Gif,
    }
}

/// Converts pixels to `N` channels of 8 bits, in the same memory, because a large picture takes much memory.
/// `make_pixel` makes a pixel from its red, green and blue, and its alpha.
pub(super) fn in_8_bits<const N: usize>(
    mut bytes: Vec<u8>,
    colour: ColorType,
    make_pixel: impl Fn([u8; 3], u8) -> [u8; N],
) -> Vec<u8> {
    let target_colour = if N == 3 {
        ColorType::Rgb8
    } else {
        ColorType::Rgba8
    };
    if colour == target_colour {
        return bytes;
    }

    let pixel_length = usize::from(colour.bytes_per_pixel());
    let channels = usize::from(colour.channel_count());
    let channel_length = pixel_length / channels;
    let pixel_count = bytes.len() / pixel_length;
    bytes.resize(bytes.len().max(pixel_count * N), 0);
    for step in 0..pixel_count {
        // Pixels that become longer are converted from the last to the first, so that none overwrites the next ones.
        let index = if pixel_length < N {
            pixel_count - 1 - step
        } else {
            step
        };
        let channel = |number: usize| {
            let start = index * pixel_length + number * channel_length;
            channel_in_8_bits(&bytes[start..][..channel_length])
        };
        let alpha = if colour.has_alpha() {
            channel(channels - 1)
        } else {
            u8::MAX
        };
        let colours = if colour.has_color() {
            [0, 1, 2]
        } else {
            [0; 3]
        };
        let pixel = make_pixel(colours.map(channel), alpha);
        bytes[index * N..][..N].copy_from_slice(&pixel);
    }

    bytes.truncate(pixel_count * N);
    bytes.shrink_to_fit();
    bytes
}

/// Returns a channel of 8 or 16 bits in 8 bits, rounded: 65,535 of 16 bits is 255.
fn channel_in_8_bits(channel: &[u8]) -> u8 {
    match channel {
        &[first, second] => {
            let value = u32::from(u16::from_ne_bytes([first, second]));
            u8::try_from((value + 128) / 257).unwrap_or(u8::MAX)
        }
        _ => channel[0],
    }
}

/// Returns the colours of a pixel on a white background.

fn on_white(colours: [u8; 3], alpha: u8) -> [u8; 3] {
    let alpha = u32::from(alpha);
    colours.map(|colour| {
        let colour = u32::from(colour) * alpha + 255 * (255 - alpha);
        u8::try_from((colour + 127) / 255).unwrap_or(u8::MAX)
    })
}

/// Returns the width and height of a picture whose longer side is reduced to `limit`; `None` if neither side is longer.
///
/// 4,000 by 3,000 pixels within 1,600 are 1,600 by 1,200.
pub(super) fn sides_within(width: u32, height: u32, limit: u32) -> Option<(u32, u32)> {
    let longer_side = u64::from(width.max(height));
    let limit = u64::from(limit);
    if longer_side <= limit {
        return None;
    }
    let scale = |side: u32| {
        let scaled = (u64::from(side) * limit + longer_side / 2) / longer_side;
        u32::try_from(scaled).unwrap_or(u32::MAX).max(1)
    };
    Some((scale(width), scale(height)))
}

/// Resizes a picture. The type of its pixels is fixed: a resizer for all types would take a fifth of the build.
fn resize(picture: &RgbImage, width: u32, height: u32) -> Option<RgbImage> {
    let source =
        TypedImageRef::<U8x3>::from_buffer(picture.width(), picture.height(), picture).ok()?;
    let mut resized = RgbImage::new(width, height);
    let mut target = TypedImage::<U8x3>::from_buffer(width, height, &mut resized).ok()?;
    Resizer::new()
        .resize_typed(&source, &mut target, None)
        .ok()?;
    Some(resized)
}

/// Returns the picture in a smaller size; `None` if the picture is not larger.
fn smaller(picture: &RgbImage, size: PhotoSize) -> Result<Option<RgbImage>, PictureProblem> {
    let limit = size.longer_side();
    let Some((width, height)) = sides_within(picture.width(), picture.height(), limit) else {
        return Ok(None);
    };
    match resize(picture, width, height) {
        Some(smaller) => Ok(Some(smaller)),
        None => Err(PictureProblem::Unreadable),
    }
}

/// Converts a picture to sRGB; `None` if its profile cannot be used.
pub(super) fn in_srgb(
    picture: &RgbImage,
    is_grey: bool,
    profile: &ColorProfile,
) -> Option<RgbImage> {
    let srgb = ColorProfile::new_srgb();
    let options = TransformOptions::default();
    let mut converted = RgbImage::new(picture.width(), picture.height());
    let (from, grey): (_, Vec<u8>) = match profile.color_space {
        DataColorSpace::Rgb => (Layout::Rgb, Vec::new()),
        DataColorSpace::Gray if is_grey => {
            (Layout::Gray, picture.iter().copied().step_by(3).collect())
        }
        // The decoder has already made RGB of other spaces.
        _ => return None,
    };
    let transform = profile
        .create_transform_8bit(from, &srgb, Layout::Rgb, options)
        .ok()?;
    let source = if grey.is_empty() {
        picture.as_raw()
    } else {
        &grey
    };
    transform.transform(source, &mut converted).ok()?;
    Some(converted)
}

fn encode(picture: &RgbImage, size: PhotoSize) -> Result<Vec<u8>, PictureProblem> {
    let mut file = Vec::new();
    let is_for_lists = size.longer_side() <= PhotoSize::Card.longer_side();
    let quality = if is_for_lists {
        QUALITY_OF_LISTS
    } else {
        QUALITY
    };
    let (width, height) = picture.dimensions();
    JpegEncoder::new_with_quality(&mut file, quality)
        .encode(picture.as_raw(), width, height, ExtendedColorType::Rgb8)
        .map_err(|_| PictureProblem::Unreadable)?;
    Ok(file)
}

/// The largest memory that a picture may need with its file, in bytes. With memory that the allocator does not give
/// back at once, the process grows by at most 256 MiB.
const MAX_MEMORY: u64 = 240 << 20;

/// The number of bytes that are read between two checks of the memory. A lossless WebP can declare tables that take
/// 9,000 times as much memory as they have bytes, and its decoder has no limit of its own.
const BYTES_BETWEEN_CHECKS: usize = 1 << 10;

/// A picture that ends early when its decoder takes too much memory.
struct GuardedPicture<'p> {
    picture: Cursor<&'p [u8]>,
    /// The memory of the process, in bytes, at which reading fails; `None` without a guard.
    max_memory: Option<u64>,
}

impl<'p> GuardedPicture<'p> {
    fn new(picture: &'p [u8], is_guarded: bool) -> BufReader<Self> {
        let mut guarded = Self {
            picture: Cursor::new(picture),
            max_memory: None,
        };
        if !is_guarded {
            return BufReader::with_capacity(64 * BYTES_BETWEEN_CHECKS, guarded);
        }
        guarded.max_memory = resident_memory().map(|memory| memory + MAX_MEMORY);
        BufReader::with_capacity(BYTES_BETWEEN_CHECKS, guarded)
    }
}

impl Read for GuardedPicture<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(max_memory) = self.max_memory
            && resident_memory().is_some_and(|memory| memory > max_memory)
        {
            return Err(ErrorKind::OutOfMemory.into());
        }
        self.picture.read(buffer)
    }
}

impl Seek for GuardedPicture<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.picture.seek(to)
    }
}

/// Returns the memory of this process without the pages of files, in bytes.
fn resident_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}
