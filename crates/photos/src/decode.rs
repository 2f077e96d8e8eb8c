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

/// The quality of the files: smaller values show, larger ones cost space.
const QUALITY: u8 = 85;

/// That of the sizes of lists, which screens of phones show with two pixels for each one of the page: a
/// quarter less to load, and no difference that people see.
const QUALITY_OF_LISTS: u8 = 76;

/// The sizes of a picture.
#[derive(Debug)]
pub struct Sizes {
    /// The files, in the order of [`PhotoSize::ALL`].
    pub files: [Vec<u8>; PhotoSize::COUNT],
    /// Of the large one, in pixels.
    pub width: u32,
    /// Of the large one, in pixels.
    pub height: u32,
}

/// Decodes a picture, and makes the files of a photo.
pub fn sizes(picture: &[u8], format: Format) -> Result<Sizes, PictureProblem> {
    let large = decode(picture, format)?;
    let file = encode(&large, PhotoSize::Large)?;
    sizes_from(large, file)
}

/// Returns the files of a photo with this large file, which is turned as it says.
pub(super) fn sizes_of_turned(file: Vec<u8>) -> Result<Sizes, PictureProblem> {
    let large = decode(&file, Format::Jpeg)?;
    sizes_from(large, file)
}

/// Returns the files of a photo with this large file, whose picture is `large`.
fn sizes_from(large: RgbImage, file: Vec<u8>) -> Result<Sizes, PictureProblem> {
    let (width, height) = large.dimensions();
    let mut files = [const { Vec::new() }; PhotoSize::COUNT];
    let mut picture = large;
    let mut large_file = Some(file);
    // Each is made from the next larger one.
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

/// Returns the file of a smaller size, from the large one. Fails if that is damaged.
pub(super) fn smaller_file(large: Bytes, size: PhotoSize) -> Result<Bytes, PictureProblem> {
    let smaller = smaller(&decode(&large, Format::Jpeg)?, size)?;
    smaller.map_or(Ok(large), |smaller| encode(&smaller, size).map(Bytes::from))
}

/// Whether the content of a file can be decoded as a JPEG.
pub fn is_readable(file: &[u8]) -> bool {
    decode(file, Format::Jpeg).is_ok()
}

/// The bytes of a pixel of a photo, and of a logo, which can be transparent.
pub(super) const OPAQUE: u64 = 3;
pub(super) const TRANSPARENT: u64 = 4;

/// Whether a picture can need more than half of the memory, as pixels of so many bytes. Fails like
/// [`sizes`].
pub(super) fn is_large(
    picture: &[u8],
    format: Format,
    channels: u64,
) -> Result<bool, PictureProblem> {
    decoder(picture, format, channels).map(|(_, memory)| memory > MAX_MEMORY / 2)
}

/// Returns a decoder within the limits, and the memory that it needs for pixels of so many bytes.
pub(super) fn decoder(
    picture: &[u8],
    format: Format,
    channels: u64,
) -> Result<(impl ImageDecoder, u64), PictureProblem> {
    let parts = inspect(picture, format)?;
    let mut reader = ImageReader::with_format(Guarded::new(picture, parts.is_guarded), of(format));
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_METADATA as u64);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder().map_err(failed)?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > MAX_PIXELS || width.max(height) > MAX_SIDE {
        let most = pixel_count(MAX_PIXELS);
        return Err(PictureProblem::Pixels {
            width,
            height,
            most,
            most_of_side: MAX_SIDE,
        });
    }
    if pixels == 0 {
        return Err(PictureProblem::Unreadable);
    }
    let whole = decoder.total_bytes().max(channels * pixels);
    // A decoder can have a copy of the file.
    let files = 2 * picture.len() as u64;
    let of_pixel = whole / pixels + parts.of_pixel;
    let free = MAX_MEMORY.saturating_sub(files + of_pixel * pixels);
    if free == 0 {
        let most = pixel_count(MAX_MEMORY.saturating_sub(files) / of_pixel);
        let format = format.as_str();
        return Err(PictureProblem::PixelsOfKind {
            width,
            height,
            most,
            format,
        });
    }
    // A frame of a film can be larger than the picture.
    limits.max_alloc = Some(free);
    decoder.set_limits(limits).map_err(failed)?;
    Ok((
        decoder,
        if parts.is_guarded {
            MAX_MEMORY
        } else {
            MAX_MEMORY - free
        },
    ))
}

fn pixel_count(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

pub(super) fn failed(error: ImageError) -> PictureProblem {
    match error {
        ImageError::Limits(_) => PictureProblem::Memory,
        ImageError::IoError(error) if error.kind() == ErrorKind::OutOfMemory => {
            PictureProblem::Memory
        }
        _ => PictureProblem::Unreadable,
    }
}

/// Returns the large size: turned as it should be seen, in sRGB, on white.
fn decode(picture: &[u8], format: Format) -> Result<RgbImage, PictureProblem> {
    let (mut decoder, _) = decoder(picture, format, OPAQUE)?;
    let (width, height) = decoder.dimensions();
    let colour = decoder.color_type();
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().unwrap_or_default();
    let mut whole = vec![0; usize::try_from(decoder.total_bytes()).unwrap_or_default()];
    decoder.read_image(&mut whole).map_err(failed)?;
    let mut large =
        RgbImage::from_raw(width, height, in_8_bits(whole, colour, on_white)).unwrap_or_default();
    if let Some(sides) = within(width, height, PhotoSize::Large.longer_side()) {
        large = resized(&large, sides).ok_or(PictureProblem::Unreadable)?;
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

fn of(format: Format) -> ImageFormat {
    match format {
        Format::Jpeg => ImageFormat::Jpeg,
        Format::Png => ImageFormat::Png,
        Format::WebP => ImageFormat::WebP,
        Format::Gif => ImageFormat::Gif,
    }
}

/// Returns the pixels with 8 bits for each channel, in the same memory, because a large picture
/// takes much of it. `made` makes each of its three colours and its alpha.
pub(super) fn in_8_bits<const N: usize>(
    mut bytes: Vec<u8>,
    colour: ColorType,
    made: impl Fn([u8; 3], u8) -> [u8; N],
) -> Vec<u8> {
    let is_there = if N == 3 {
        ColorType::Rgb8
    } else {
        ColorType::Rgba8
    };
    if colour == is_there {
        return bytes;
    }
    let [length, channels] = [colour.bytes_per_pixel(), colour.channel_count()].map(usize::from);
    let wide = length / channels;
    let pixels = bytes.len() / length;
    bytes.resize(bytes.len().max(pixels * N), 0);
    for at in 0..pixels {
        // One that becomes longer must not overwrite the next ones.
        let at = if length < N { pixels - 1 - at } else { at };
        let channel = |number: usize| match &bytes[at * length + number * wide..][..wide] {
            &[one, other] => {
                let value = u32::from(u16::from_ne_bytes([one, other]));
                u8::try_from((value + 128) / 257).unwrap_or(u8::MAX)
            }
            one => one[0],
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
        let pixel = made(colours.map(channel), alpha);
        bytes[at * N..][..N].copy_from_slice(&pixel);
    }
    bytes.truncate(pixels * N);
    bytes.shrink_to_fit();
    bytes
}

fn on_white(colours: [u8; 3], alpha: u8) -> [u8; 3] {
    let alpha = u32::from(alpha);
    colours.map(|colour| {
        let colour = u32::from(colour) * alpha + 255 * (255 - alpha);
        u8::try_from((colour + 127) / 255).unwrap_or(u8::MAX)
    })
}

/// Returns the sides that a picture has if the longer one has this limit; `None` if it has not
/// more.
pub(super) fn within(width: u32, height: u32, limit: u32) -> Option<(u32, u32)> {
    let longer = u64::from(width.max(height));
    let limit = u64::from(limit);
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
    Resizer::new()
        .resize_typed(&source, &mut target, None)
        .ok()?;
    Some(to)
}

/// Returns the picture in a smaller size; `None` if it is not larger.
fn smaller(picture: &RgbImage, size: PhotoSize) -> Result<Option<RgbImage>, PictureProblem> {
    let Some(sides) = within(picture.width(), picture.height(), size.longer_side()) else {
        return Ok(None);
    };
    resized(picture, sides)
        .map(Some)
        .ok_or(PictureProblem::Unreadable)
}

/// Returns the picture in sRGB, if its profile can be used.
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
    let is_of_lists = size.longer_side() <= PhotoSize::Card.longer_side();
    let quality = if is_of_lists {
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

/// The most memory that a picture may need with its file, in bytes. With what allocators do not give back
/// at once, the process grows by at most 256 MiB.
const MAX_MEMORY: u64 = 240 << 20;

/// How many bytes are read between two looks at the memory. A lossless WebP can declare tables that take
/// 9,000 times as much memory as they have bytes, and its decoder has no limit of its own.
const PIECE: usize = 1 << 10;

/// A picture that ends early when its decoder takes too much memory.
struct Guarded<'p> {
    picture: Cursor<&'p [u8]>,
    /// The memory of the process at which it ends.
    most: Option<u64>,
}

impl<'p> Guarded<'p> {
    fn new(picture: &'p [u8], is_guarded: bool) -> BufReader<Self> {
        let most = is_guarded
            .then(resident)
            .flatten()
            .map(|now| now + MAX_MEMORY);
        let length = if is_guarded { PIECE } else { 64 * PIECE };
        BufReader::with_capacity(
            length,
            Self {
                picture: Cursor::new(picture),
                most,
            },
        )
    }
}

impl Read for Guarded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match (self.most, self.most.and_then(|_| resident())) {
            (Some(most), Some(now)) if now > most => Err(ErrorKind::OutOfMemory.into()),
            _ => self.picture.read(into),
        }
    }
}

impl Seek for Guarded<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.picture.seek(to)
    }
}

/// Returns the memory of this process without that of files, in bytes.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}
