//! The files of a photo.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{Photo, PhotoId, photo::Digits};
use crate::words::words;

words! {
    /// A size of a photo, from the smallest to the largest. See [`PhotoSize::longer_side`].
    pub enum PhotoSize {
        Small = "small",
        Card = "card",
        Medium = "medium",
        Large = "large",
    }
}

impl PhotoSize {
    /// The number of sizes.
    pub const COUNT: usize = Self::ALL.len();

    /// Returns the maximum length of the longer side, in pixels.
    pub fn longer_side(self) -> u32 {
        match self {
            Self::Small => 320,
            Self::Card => 640,
            Self::Medium => 960,
            Self::Large => 1920,
        }
    }

    /// Whether a photo can lack the file of this size: a task makes the files of photos that are older than the size, and
    /// until then, the large file is sent in its place.
    pub fn is_made_later(self) -> bool {
        self == Self::Card
    }
}

/// A file of a photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhotoFile {
    /// The identifier of the photo.
    pub id: PhotoId,
    pub size: PhotoSize,
}

impl PhotoFile {
    /// Parses a name such as `0123456789abcdef0123456789abcdef-card.jpg`; `None` if no file of a photo has this name.
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

    /// Returns the name of the file.
    pub fn name(self) -> String {
        self.path_in("")
    }

    /// Returns the path by which clients know it.
    pub fn path(self) -> String {
        self.path_in("/photos/")
    }

    fn path_in(self, folder: &str) -> String {
        [
            folder,
            self.id.write_digits(&mut Digits::default()),
            "-",
            self.size.as_str(),
            ".jpg",
        ]
        .concat()
    }
}

impl Photo {
    /// Returns the longer side of the large file, in pixels.
    pub fn longer_side(&self) -> u32 {
        self.width.max(self.height).max(1)
    }

    /// Returns the width divided by the height.
    pub fn ratio(&self) -> f64 {
        f64::from(self.width.max(1)) / f64::from(self.height.max(1))
    }

    /// Returns the path of the file of this size.
    pub fn path(&self, size: PhotoSize) -> String {
        PhotoFile { id: self.id, size }.path()
    }

    /// Returns the width and the height of the file of this size, in pixels. A photo with 3840 x 1920 pixels has 320 x 160
    /// of them in the size `small`. No photo becomes larger.
    pub fn dimensions(&self, size: PhotoSize) -> (u32, u32) {
        let longer_side = self.longer_side();
        let file_side = size.longer_side().min(longer_side);
        (
            scale(self.width, file_side, longer_side),
            scale(self.height, file_side, longer_side),
        )
    }
}

/// Returns a side of a file, at least 1, if `longer_side` becomes `file_side`.
fn scale(side: u32, file_side: u32, longer_side: u32) -> u32 {
    let scaled = u64::from(side) * u64::from(file_side) / u64::from(longer_side);
    u32::try_from(scaled).unwrap_or(file_side).max(1)
}
