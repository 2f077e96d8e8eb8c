//! The files of a photo.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::PhotoId;
use crate::domain::words::words;

words! {
    /// A size of a photo, from the smallest to the largest: the longer side has at most so many pixels.
    pub enum PhotoSize {
        Small = "small",
        Card = "card",
        Medium = "medium",
        Large = "large",
    }
}

impl PhotoSize {
    /// How many sizes there are.
    pub const COUNT: usize = Self::ALL.len();

    /// In pixels.
    pub fn longer_side(self) -> u32 {
        match self {
            Self::Small => 320,
            Self::Card => 640,
            Self::Medium => 960,
            Self::Large => 1920,
        }
    }

    /// Whether a photo can have no file of it: photos from before this size get it by a task, and until
    /// then, the large one is sent instead.
    pub fn is_made_later(self) -> bool {
        self == Self::Card
    }
}

/// A file of a photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhotoFile {
    /// Its photo.
    pub id: PhotoId,
    /// Its size.
    pub size: PhotoSize,
}

impl PhotoFile {
    /// `None` if no file of a photo has this name.
    pub fn parse(name: &str) -> Option<Self> {
        let (id, size) = name.strip_suffix(".jpg")?.split_once('-')?;
        Some(Self { id: PhotoId::parse(id)?, size: size.parse().ok()? })
    }

    /// The files of a photo, from the smallest to the largest.
    pub fn all(id: PhotoId) -> [Self; PhotoSize::COUNT] {
        PhotoSize::ALL.map(|size| Self { id, size })
    }

    /// Its name.
    pub fn name(self) -> String {
        [&self.id.to_string(), "-", self.size.as_str(), ".jpg"].concat()
    }

    /// The path by which clients know it.
    pub fn path(self) -> String {
        ["/photos/", &self.name()].concat()
    }
}
