//! The logo of a store.

use std::fmt;

use sha2::{Digest, Sha256};

/// The identity of a logo: the hash of its file, and its sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logo {
    digest: u64,
    /// The width, in pixels.
    pub width: u16,
    /// The height, in pixels.
    pub height: u16,
}

/// A logo that a store gets, with its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLogo {
    /// The identity of the logo.
    pub logo: Logo,
    /// The content of its file.
    pub png: Vec<u8>,
}

impl NewLogo {
    /// Returns the logo with this file and these sides, in pixels.
    pub fn new(png: Vec<u8>, width: u16, height: u16) -> Self {
        let hash = Sha256::digest(&png);
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

impl Logo {
    /// The longest side, in pixels.
    pub const MAX_SIDE: u16 = 512;

    /// The message about a logo that nobody would see. See [`Logo::is_too_flat`].
    pub const TOO_FLAT: &'static str = "A logo must be at least 16 pixels wide and high, at most 12 times as wide as \
         high, and at most 3 times as high as wide. Send another picture.";

    /// The maximum length of a logo's file, in bytes. The file is a part of a line of an export.
    pub const MAX_FILE: usize = 640 << 10;

    /// The maximum length of a picture from which a logo is made, in bytes.
    pub const MAX_PICTURE: usize = 2 << 20;

    /// Parses a name: 16 hexadecimal digits of the hash, 3 of the width and 3 of the height.
    ///
    /// ```
    /// use petstore_domain::store_area::Logo;
    ///
    /// let logo = Logo::parse("0123456789abcdef0600a0").unwrap();
    /// assert_eq!(logo.width, 96);
    /// assert_eq!(logo.height, 160);
    /// ```
    pub fn parse(name: &str) -> Option<Self> {
        if name.len() != 22 || !name.is_ascii() {
            return None;
        }
        let (digest, sides) = name.split_at(16);
        let (width, height) = sides.split_at(3);
        let logo = Self {
            digest: u64::from_str_radix(digest, 16).ok()?,
            width: u16::from_str_radix(width, 16).ok()?,
            height: u16::from_str_radix(height, 16).ok()?,
        };
        // A logo has one name, with small letters.
        (logo.to_string() == name).then_some(logo)
    }

    /// Returns the logo with this path: see [`Logo::path`].
    pub fn from_path(path: &str) -> Option<Self> {
        Self::parse(path.strip_prefix("/assets/logo-")?.strip_suffix(".png")?)
    }

    /// Whether nobody would see a logo with these sides in the window, where it is at most 192 pixels wide and 48 pixels high.
    pub fn is_too_flat(width: u32, height: u32) -> bool {
        width.min(height) < 16
            || width > height.saturating_mul(12)
            || height > width.saturating_mul(3)
    }

    /// Returns the path of the logo in the window and the console. Another content has another path.
    pub fn path(self) -> String {
        format!("/assets/logo-{self}.png")
    }
}

impl fmt::Display for Logo {
    /// Writes the name, which has the sides, so pages know them without the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            digest,
            width,
            height,
        } = self;
        write!(f, "{digest:016x}{width:03x}{height:03x}")
    }
}
