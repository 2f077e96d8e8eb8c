//! The photos of an animal. This is only their metadata; the pictures themselves are stored in
//! files.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use std::fmt::{self, Write};

use jiff::Timestamp;

use super::{Text, field_values::write_json_string};
use crate::text::hex;

/// The identifier of a photo, with which the names of its files begin. It consists of 128 random
/// bits, so that nobody can guess it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhotoId(pub u128);

/// A buffer for the hexadecimal digits of an identifier, two for each byte.
pub(super) type Digits = [[u8; 2]; 16];

impl PhotoId {
    /// Parses 32 lowercase hexadecimal digits; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let has_valid_digits = text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if text.len() != 32 || !has_valid_digits {
            return None;
        }
        u128::from_str_radix(text, 16).ok().map(Self)
    }

    /// Writes the hexadecimal digits of the identifier to `digits`, and returns them as text.
    ///
    /// This is faster than `{:032x}`, which takes about 2,000 instructions for each of the dozens
    /// of identifiers on a page.
    pub(super) fn write_digits(self, digits: &mut Digits) -> &str {
        for (pair, byte) in digits.iter_mut().zip(self.0.to_be_bytes()) {
            *pair = hex(byte);
        }
        // Hexadecimal digits are ASCII, so the conversion cannot fail.
        str::from_utf8(digits.as_flattened()).unwrap_or_default()
    }
}

impl fmt::Display for PhotoId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.write_digits(&mut Digits::default()))
    }
}

/// The alternative text of a photo, for people who cannot see it: 1 to 500 characters without
/// U+0000.
pub type AltText = Text<500, 1>;

/// The focal point of a photo, which stays visible when the photo is cropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Focus {
    /// The distance from the left edge, in ten-thousandths of the width.
    left: u16,
    /// The distance from the top edge, in ten-thousandths of the height.
    top: u16,
}

impl Focus {
    /// The whole width or height, in ten-thousandths.
    const WHOLE: u16 = 10_000;

    /// Creates a focus from the distances from the left and top edges, in ten-thousandths; `None`
    /// if the point is outside of the photo.
    pub fn new(point: [u16; 2]) -> Option<Self> {
        let [left, top] = point;
        let is_inside = left <= Self::WHOLE && top <= Self::WHOLE;
        is_inside.then_some(Self { left, top })
    }

    /// Returns the focus after the photo is rotated by 90 degrees: to the right, or otherwise to
    /// the left.
    pub const fn rotate(self, to_right: bool) -> Self {
        if to_right {
            Self {
                left: Self::WHOLE - self.top,
                top: self.left,
            }
        } else {
            Self {
                left: self.top,
                top: Self::WHOLE - self.left,
            }
        }
    }

    /// Returns the distances from the left and top edges, in ten-thousandths.
    pub const fn point(self) -> [u16; 2] {
        [self.left, self.top]
    }
}

impl fmt::Display for Focus {
    /// Writes the point as a JSON array of fractions, such as `[0.5,0.25]`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = f64::from(self.left) / f64::from(Self::WHOLE);
        let top = f64::from(self.top) / f64::from(Self::WHOLE);
        write!(out, "[{left},{top}]")
    }
}

/// A photo of an animal. Its position is its index in [`Photos`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Photo {
    pub id: PhotoId,
    pub alt: Option<AltText>,
    /// The width of the large file, in pixels.
    pub width: u32,
    /// The height of the large file, in pixels.
    pub height: u32,
    /// The focal point; `None` for the default, which is horizontally centred and a little above
    /// the middle.
    pub focus: Option<Focus>,
    pub added_at: Timestamp,
}

/// A photo whose files are already saved, but that does not belong to an animal yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPhoto {
    pub id: PhotoId,
    pub alt: Option<AltText>,
    pub width: u32,
    pub height: u32,
    pub focus: Option<Focus>,
}

impl NewPhoto {
    /// Returns the photo as it is added to an animal at this time.
    pub fn into_photo(self, added_at: Timestamp) -> Photo {
        let Self {
            id,
            alt,
            width,
            height,
            focus,
        } = self;
        Photo {
            id,
            alt,
            width,
            height,
            focus,
            added_at,
        }
    }
}

/// The photos of an animal, in the order in which the store arranged them. The first one is the
/// portrait. They are in a box, so that an animal without photos stays small.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Photos(Option<Box<PhotoList>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct PhotoList {
    photos: Vec<Photo>,
    /// The photos as JSON, as a store saves them.
    stored: String,
}

impl Photos {
    pub const NONE: Self = Self(None);

    /// The maximum number of photos of an animal.
    pub const MAX: usize = 20;

    /// Creates the list, and serializes it to the JSON that a store saves.
    pub fn new(photos: Vec<Photo>) -> Self {
        if photos.is_empty() {
            return Self::NONE;
        }
        let mut stored = String::new();
        stored.push('[');
        for photo in &photos {
            if stored.len() > 1 {
                stored.push(',');
            }
            write_stored_photo(&mut stored, photo);
        }
        stored.push(']');
        Self::from_stored(photos, stored)
    }

    /// Creates the list from its stored form. `photos` must be the parsed content of `stored`.
    pub fn from_stored(photos: Vec<Photo>, stored: String) -> Self {
        if photos.is_empty() {
            return Self::NONE;
        }
        Self(Some(Box::new(PhotoList { photos, stored })))
    }

    /// Returns all photos, in order.
    pub fn all(&self) -> &[Photo] {
        self.0.as_deref().map_or(&[], |list| &list.photos)
    }

    /// Returns the stored form, a JSON array; `None` if there are no photos.
    pub fn as_stored(&self) -> Option<&str> {
        self.0.as_deref().map(|list| list.stored.as_str())
    }

    /// Returns the position of a photo, from 0; `None` if it is not in the list.
    pub fn position(&self, id: PhotoId) -> Option<usize> {
        self.all().iter().position(|photo| photo.id == id)
    }

    /// Returns the identifiers of the photos that `other` does not contain.
    pub fn missing_in(&self, other: &Self) -> impl Iterator<Item = PhotoId> {
        let ids = self.all().iter().map(|photo| photo.id);
        ids.filter(|&id| other.position(id).is_none())
    }

    /// Returns the approximate length of the photos in a response, in bytes.
    pub fn length(&self) -> usize {
        /// The approximate length of a photo without its alternative text.
        const PHOTO_LENGTH: usize = 384;

        let mut length = 0;
        for photo in self.all() {
            length += PHOTO_LENGTH;
            length += photo.alt.as_ref().map_or(0, |alt| alt.as_str().len());
        }
        length
    }
}

/// Writes the stored form of a photo, such as
/// `{"id":"0123456789abcdef0123456789abcdef","width":1920,"height":1280,"addedAt":1764288000000,"alt":"A cat"}`.
fn write_stored_photo(out: &mut String, photo: &Photo) {
    // Writing to a `String` cannot fail.
    let _ = write!(
        out,
        "{{\"id\":\"{}\",\"width\":{},\"height\":{},\"addedAt\":{}",
        photo.id,
        photo.width,
        photo.height,
        photo.added_at.as_millisecond()
    );
    if let Some(alt) = &photo.alt {
        out.push_str(",\"alt\":");
        write_json_string(out, alt.as_str());
    }
    // The member is omitted without a focus, so that the previous release can read such a photo.
    if let Some(Focus { left, top }) = photo.focus {
        let _ = write!(out, ",\"focus\":[{left},{top}]");
    }
    out.push('}');
}
