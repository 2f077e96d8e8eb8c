//! The logo of a store.

use std::fmt;

use sha2::{Digest, Sha256};

/// The number of hexadecimal digits of the hash in the name of a logo.
const DIGEST_DIGITS: usize = 16;

/// The number of hexadecimal digits of the width, and of the height, in the name of a logo.
const SIDE_DIGITS: usize = 3;

/// The identity of a logo: a hash of its file, and its dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logo {
    digest: u64,
    /// The width, in pixels.
    pub width: u16,
    /// The height, in pixels.
    pub height: u16,
}

/// A new logo, with its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLogo {
    /// The identity of the logo.
    pub logo: Logo,
    /// The content of the PNG file.
    pub png: Vec<u8>,
}

impl Logo {
    /// The maximum width and height, in pixels.
    pub const MAX_SIDE: u16 = 512;

    /// The minimum width and height, in pixels.
    const MIN_SIDE: u32 = 16;

    /// The maximum ratio of the width to the height.
    ///
    /// The window scales a logo to at most 192 by 48 pixels. With this ratio and
    /// [`Self::MAX_TALL_RATIO`], no side then has less than [`Self::MIN_SIDE`] pixels.
    const MAX_WIDE_RATIO: u32 = 12;

    /// The maximum ratio of the height to the width.
    const MAX_TALL_RATIO: u32 = 3;

    /// The error message about a logo that people could not see: see [`Logo::is_too_flat`].
    pub const TOO_FLAT: &'static str = "A logo must be at least 16 pixels wide and high, at most 12 times as wide as \
         high, and at most 3 times as high as wide. Send another picture.";

    /// The maximum length of a logo's file, in bytes. It is limited because an export contains the
    /// file within one line.
    pub const MAX_FILE: usize = 640 << 10;

    /// The maximum length of an uploaded picture from which a logo is made, in bytes.
    pub const MAX_PICTURE: usize = 2 << 20;

    /// Parses the name of a logo; `None` for any other text. A name consists of 16 hexadecimal
    /// digits of the hash, 3 of the width and 3 of the height.
    ///
    /// ```
    /// use petstore_domain::store_area::Logo;
    ///
    /// let logo = Logo::parse("0123456789abcdef0600a0").unwrap();
    /// assert_eq!(logo.width, 96);
    /// assert_eq!(logo.height, 160);
    /// ```
    pub fn parse(name: &str) -> Option<Self> {
        let has_valid_length = name.len() == DIGEST_DIGITS + 2 * SIDE_DIGITS;
        if !has_valid_length || !name.is_ascii() {
            return None;
        }
        let (digest, sides) = name.split_at(DIGEST_DIGITS);
        let (width, height) = sides.split_at(SIDE_DIGITS);
        let logo = Self {
            digest: u64::from_str_radix(digest, 16).ok()?,
            width: u16::from_str_radix(width, 16).ok()?,
            height: u16::from_str_radix(height, 16).ok()?,
        };
        // Only lower-case digits are valid, so that each logo has one name.
        (logo.to_string() == name).then_some(logo)
    }

    /// Parses a path of the form that [`Logo::path`] returns; `None` for any other path.
    pub fn from_path(path: &str) -> Option<Self> {
        Self::parse(path.strip_prefix("/assets/logo-")?.strip_suffix(".png")?)
    }

    /// Whether a logo with these dimensions is too small or too narrow to be seen in the window.
    pub fn is_too_flat(width: u32, height: u32) -> bool {
        width.min(height) < Self::MIN_SIDE
            || width > height.saturating_mul(Self::MAX_WIDE_RATIO)
            || height > width.saturating_mul(Self::MAX_TALL_RATIO)
    }

    /// Returns the path of the logo in the window and the console. The path changes with the
    /// content, so that it can be cached without limit.
    pub fn path(self) -> String {
        format!("/assets/logo-{self}.png")
    }
}

impl fmt::Display for Logo {
    /// Writes the name of the logo. It includes the dimensions, so that pages know them without
    /// reading the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            digest,
            width,
            height,
        } = self;
        write!(
            f,
            "{digest:0DIGEST_DIGITS$x}{width:0SIDE_DIGITS$x}{height:0SIDE_DIGITS$x}"
        )
    }
}

impl NewLogo {
    /// Creates a logo from a PNG file with these dimensions, in pixels.
    pub fn new(png: Vec<u8>, width: u16, height: u16) -> Self {
        let hash = Sha256::digest(&png);
        // The first 8 of the 32 bytes are enough to tell the few logos of a store apart.
        let digest = u64::from_be_bytes(std::array::from_fn(|index| hash[index]));
        Self {
            logo: Logo {
                digest,
                width,
                height,
            },
            png,
        }
    }
}
