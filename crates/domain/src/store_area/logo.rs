//! The logo of a store.

use std::fmt;

use sha2::{Digest, Sha256};

/// A logo, by its content and its sides in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logo {
    digest: u64,
    /// In pixels.
    pub width: u16,
    /// In pixels.
    pub height: u16,
}

/// A logo that a store gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLogo {
    /// What names it.
    pub logo: Logo,
    /// Its file.
    pub png: Vec<u8>,
}

impl NewLogo {
    /// Returns the logo with this file and these sides.
    pub fn new(png: Vec<u8>, width: u16, height: u16) -> Self {
        let hash = Sha256::digest(&png);
        let digest = u64::from_be_bytes(std::array::from_fn(|at| hash[at]));
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

    /// What is wrong with a logo that nobody would see.
    pub const TOO_FLAT: &'static str = "A logo must be at least 16 pixels wide and high, at most 12 times as wide as \
         high, and at most 3 times as high as wide. Send another picture.";

    /// The largest file, in bytes: it is a part of a line of an export.
    pub const MAX_FILE: usize = 640 << 10;

    /// The largest picture of which one is made, in bytes.
    pub const MAX_PICTURE: usize = 2 << 20;

    /// Reads its name.
    pub fn parse(name: &str) -> Option<Self> {
        let number = |at, digits| u64::from_str_radix(name.get(at..at + digits)?, 16).ok();
        let side = |at| u16::try_from(number(at, 3)?).ok();
        let logo = Self {
            digest: number(0, 16)?,
            width: side(16)?,
            height: side(19)?,
        };
        (logo.to_string() == name).then_some(logo)
    }

    /// Returns the logo with this path.
    pub fn from_path(path: &str) -> Option<Self> {
        Self::parse(path.strip_prefix("/assets/logo-")?.strip_suffix(".png")?)
    }

    /// Whether nobody would see it in the window, where it is at most 192 pixels wide and 48 pixels high.
    pub fn is_too_flat(width: u32, height: u32) -> bool {
        width.min(height) < 16
            || width > height.saturating_mul(12)
            || height > width.saturating_mul(3)
    }

    /// Its path in the window and the console. Another content has another one.
    pub fn path(self) -> String {
        format!("/assets/logo-{self}.png")
    }
}

/// The name has the sides, so pages know them without the file.
impl fmt::Display for Logo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            digest,
            width,
            height,
        } = self;
        write!(f, "{digest:016x}{width:03x}{height:03x}")
    }
}
