//! The image files of a photo, one for each size.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use super::{Photo, PhotoId, photo::Digits};
use crate::named_enum::named_enum;

named_enum! {
    /// The size of an image file, from the smallest to the largest. See [`PhotoSize::longer_side`].
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

    /// Whether the file of this size may be missing. A background task creates it for photos that
    /// are older than the size. Until then, the large file is sent in its place.
    pub fn may_be_missing(self) -> bool {
        self == Self::Card
    }
}

/// An image file of a photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhotoFile {
    /// The identifier of the photo.
    pub id: PhotoId,
    pub size: PhotoSize,
}

impl PhotoFile {
    /// Parses a file name such as `0123456789abcdef0123456789abcdef-card.jpg`; `None` if it is not
    /// a valid name of a photo file.
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

    /// Returns the URL path of the file.
    pub fn path(self) -> String {
        self.path_in("/photos/")
    }

    /// Returns the name of the file after the path of a folder, which ends with `/` or is empty.
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
    /// Returns the longer side of the large file, in pixels: at least 1, because callers divide by
    /// the result.
    pub fn longer_side(&self) -> u32 {
        self.width.max(self.height).max(1)
    }

    /// Returns the aspect ratio: the width divided by the height.
    pub fn ratio(&self) -> f64 {
        f64::from(self.width.max(1)) / f64::from(self.height.max(1))
    }

    /// Returns the URL path of the file of this size.
    pub fn path(&self, size: PhotoSize) -> String {
        PhotoFile { id: self.id, size }.path()
    }

    /// Returns the width and height of the file of this size, in pixels. Photos are only scaled
    /// down, never up.
    ///
    /// For example, a photo of 1920 x 960 pixels has 320 x 160 pixels in the size `small`.
    pub fn dimensions(&self, size: PhotoSize) -> (u32, u32) {
        let longer_side = self.longer_side();
        let file_side = size.longer_side().min(longer_side);
        (
            scale(self.width, file_side, longer_side),
            scale(self.height, file_side, longer_side),
        )
    }
}

/// Scales a side by the factor that scales `longer_side` to `file_side`. The result is at least 1.
fn scale(side: u32, file_side: u32, longer_side: u32) -> u32 {
    let scaled = u64::from(side) * u64::from(file_side) / u64::from(longer_side);
    u32::try_from(scaled).unwrap_or(file_side).max(1)
}
