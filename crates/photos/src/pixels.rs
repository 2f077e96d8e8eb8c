//! Converts pixels: to 8 bits per channel, to a smaller size, and to sRGB.

use fast_image_resize::{Resizer, images::TypedImage, pixels::U8x3};
use image::{ColorType, RgbImage};
use moxcms::{ColorProfile, DataColorSpace, Layout, TransformOptions};

/// The width and the height of a picture, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sides {
    pub(super) width: u32,
    pub(super) height: u32,
}

impl Sides {
    /// Scales the sides down so that the longer one is `limit`. Returns `None` if neither side is
    /// longer than `limit`.
    ///
    /// For example, with a limit of 1,600, the sides 4,000 by 3,000 become 1,600 by 1,200.
    pub(super) fn shrink_to(self, limit: u32) -> Option<Self> {
        let longer_side = self.width.max(self.height);
        if longer_side <= limit {
            return None;
        }
        Some(Self {
            width: scale(self.width, limit, longer_side),
            height: scale(self.height, limit, longer_side),
        })
    }
}

/// Returns `side * numerator / denominator`, rounded, but at least 1.
fn scale(side: u32, numerator: u32, denominator: u32) -> u32 {
    let product = u64::from(side) * u64::from(numerator);
    let denominator = u64::from(denominator);
    let quotient = (product + denominator / 2) / denominator;
    u32::try_from(quotient).unwrap_or(u32::MAX).max(1)
}

/// The layout of decoded pixels.
struct PixelLayout {
    /// The number of bytes per pixel.
    pixel_length: usize,
    /// The number of channels: one for grey or three for colours, and perhaps one for alpha.
    channel_count: usize,
    has_colours: bool,
    has_alpha: bool,
}

impl PixelLayout {
    fn new(colour_type: ColorType) -> Self {
        Self {
            pixel_length: colour_type.bytes_per_pixel().into(),
            channel_count: colour_type.channel_count().into(),
            has_colours: colour_type.has_color(),
            has_alpha: colour_type.has_alpha(),
        }
    }

    /// Returns the three colours of a pixel, with 8 bits each. For grey, all three are equal.
    fn colours(&self, pixel: &[u8]) -> [u8; 3] {
        let channels = if self.has_colours { [0, 1, 2] } else { [0; 3] };
        channels.map(|index| self.channel(pixel, index))
    }

    /// Returns the alpha of a pixel as 8 bits, or 255 if the pixels have no alpha.
    fn alpha(&self, pixel: &[u8]) -> u8 {
        if self.has_alpha {
            self.channel(pixel, self.channel_count - 1)
        } else {
            u8::MAX
        }
    }

    /// Returns the channel of a pixel with this index as 8 bits. A channel with 16 bits is divided
    /// by 257, which maps 65,535 to 255, and rounded.
    fn channel(&self, pixel: &[u8], index: usize) -> u8 {
        let channel_length = self.pixel_length / self.channel_count;
        let start = index * channel_length;
        match pixel[start..start + channel_length] {
            [first_byte, second_byte] => {
                let value = u32::from(u16::from_ne_bytes([first_byte, second_byte]));
                u8::try_from((value + 128) / 257).unwrap_or(u8::MAX)
            }
            _ => pixel[start],
        }
    }
}

/// Converts decoded pixels to `N` channels of 8 bits. Works in place, because a large picture takes
/// much memory.
///
/// `N` is 3 for red, green and blue, or 4 if there is alpha as well. `convert` makes the new pixel
/// from the three colours and the alpha of the decoded one.
pub(super) fn to_8_bits<const N: usize>(
    mut bytes: Vec<u8>,
    colour_type: ColorType,
    convert: impl Fn([u8; 3], u8) -> [u8; N],
) -> Vec<u8> {
    let target_type = if N == 3 {
        ColorType::Rgb8
    } else {
        ColorType::Rgba8
    };
    if colour_type == target_type {
        return bytes;
    }

    let layout = PixelLayout::new(colour_type);
    let pixel_count = bytes.len() / layout.pixel_length;
    bytes.resize(bytes.len().max(pixel_count * N), 0);
    for step in 0..pixel_count {
        // If pixels grow, begin with the last one. Otherwise, a converted pixel would overwrite the
        // next one, which is not converted yet.
        let index = if layout.pixel_length < N {
            pixel_count - 1 - step
        } else {
            step
        };
        let pixel = &bytes[index * layout.pixel_length..][..layout.pixel_length];
        let converted_pixel = convert(layout.colours(pixel), layout.alpha(pixel));
        bytes[index * N..][..N].copy_from_slice(&converted_pixel);
    }
    bytes.truncate(pixel_count * N);
    bytes.shrink_to_fit();
    bytes
}

/// Blends a pixel with a white background.
pub(super) fn on_white(colours: [u8; 3], alpha: u8) -> [u8; 3] {
    let alpha = u32::from(alpha);
    colours.map(|colour| {
        let sum = u32::from(colour) * alpha + 255 * (255 - alpha);
        u8::try_from((sum + 127) / 255).unwrap_or(u8::MAX)
    })
}

/// Resizes a picture. Returns `None` if the resizer fails.
///
/// The resizer is compiled for RGB only, because compiling it for all types of pixels would take a
/// fifth of the build. It only reads `picture`, which is mutable for the same reason: the source
/// then has the type of the target and of the intermediate picture, so the resizer is compiled once.
pub(super) fn resize(picture: &mut RgbImage, sides: Sides) -> Option<RgbImage> {
    let (width, height) = picture.dimensions();
    let source = TypedImage::<U8x3>::from_buffer(width, height, picture).ok()?;
    let mut result = RgbImage::new(sides.width, sides.height);
    let mut target =
        TypedImage::<U8x3>::from_buffer(sides.width, sides.height, &mut result).ok()?;
    Resizer::new()
        .resize_typed(&source, &mut target, None)
        .ok()?;
    Some(result)
}

/// Converts a picture with a colour profile to sRGB. Returns `None` if the profile is unusable.
///
/// `colour_type` is the type of the decoded pixels, from which `picture` was made: a profile for
/// grey is only usable if they were grey.
pub(super) fn to_srgb(
    picture: &RgbImage,
    colour_type: ColorType,
    profile: &ColorProfile,
) -> Option<RgbImage> {
    let grey_pixels: Vec<u8>;
    let (layout, source) = match profile.color_space {
        DataColorSpace::Rgb => (Layout::Rgb, picture.as_raw()),
        DataColorSpace::Gray if !colour_type.has_color() => {
            grey_pixels = picture.iter().copied().step_by(3).collect();
            (Layout::Gray, &grey_pixels)
        }
        // The decoder has already converted other colour spaces to RGB.
        _ => return None,
    };

    let srgb = ColorProfile::new_srgb();
    let options = TransformOptions::default();
    let transform = profile
        .create_transform_8bit(layout, &srgb, Layout::Rgb, options)
        .ok()?;
    let mut converted_picture = RgbImage::new(picture.width(), picture.height());
    transform.transform(source, &mut converted_picture).ok()?;
    Some(converted_picture)
}
