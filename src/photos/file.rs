//! The pictures that clients send, and the files that are made of them.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use crate::domain::{store_area::PhotoId, words::words};

words! {
    /// The format of a picture that a client sends.
    pub enum Format {
        Jpeg = "JPEG",
        Png = "PNG",
        WebP = "WebP",
        Gif = "GIF",
    }
}

impl Format {
    /// The format of a picture that begins like this.
    pub(crate) fn of(picture: &[u8]) -> Option<Self> {
        match picture {
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            _ => None,
        }
    }
}

words! {
    /// A size of a photo: the longer side has at most so many pixels.
    pub enum Size {
        Small = "small",
        Medium = "medium",
        Large = "large",
    }
}

impl Size {
    /// In pixels.
    pub fn longer_side(self) -> u32 {
        match self {
            Self::Small => 320,
            Self::Medium => 960,
            Self::Large => 1920,
        }
    }
}

/// A file of a photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhotoFile {
    /// Its photo.
    pub id: PhotoId,
    /// Its size.
    pub size: Size,
}

impl PhotoFile {
    /// `None` if no file of a photo has this name.
    pub fn parse(name: &str) -> Option<Self> {
        let (id, size) = name.strip_suffix(".jpg")?.split_once('-')?;
        Some(Self { id: PhotoId::parse(id)?, size: size.parse().ok()? })
    }

    /// Its name.
    pub fn name(self) -> String {
        [&self.id.to_string(), "-", self.size.as_str(), ".jpg"].concat()
    }
}
