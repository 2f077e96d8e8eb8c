//! The files of a photo.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{Photo, PhotoId, photo::Digits};
use crate::words::words;

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
        Some(Self {
            id: PhotoId::parse(id)?,
            size: size.parse().ok()?,
        })
    }

    /// Returns the files of a photo, from the smallest to the largest.
    pub fn all(id: PhotoId) -> [Self; PhotoSize::COUNT] {
        PhotoSize::ALL.map(|size| Self { id, size })
    }

    /// Its name.
    pub fn name(self) -> String {
        self.below("")
    }

    /// Returns the path by which clients know it.
    pub fn path(self) -> String {
        self.below("/photos/")
    }

    fn below(self, folder: &str) -> String {
        [
            folder,
            self.id.digits(&mut Digits::default()),
            "-",
            self.size.as_str(),
            ".jpg",
        ]
        .concat()
    }
}

impl Photo {
    /// Of the large file, in pixels.
    pub fn longer_side(&self) -> u32 {
        self.width.max(self.height).max(1)
    }

    /// Its width divided by its height.
    pub fn ratio(&self) -> f64 {
        f64::from(self.width.max(1)) / f64::from(self.height.max(1))
    }

    /// Returns the path of the file of this size.
    pub fn path(&self, size: PhotoSize) -> String {
        PhotoFile { id: self.id, size }.path()
    }

    /// Returns the width and height of the file of this size.
    pub fn dimensions(&self, size: PhotoSize) -> (u32, u32) {
        let longest = size.longer_side();
        let longer = self.longer_side();
        let scaled = |whole: u32| {
            let scaled = u64::from(whole) * u64::from(longest.min(longer)) / u64::from(longer);
            u32::try_from(scaled).unwrap_or(longest).max(1)
        };
        (scaled(self.width), scaled(self.height))
    }
}
