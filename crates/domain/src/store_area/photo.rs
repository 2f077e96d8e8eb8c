//! The photos of an animal: what is known of them. The pictures themselves are in files.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::fmt::{self, Write};

use jiff::Timestamp;

use super::{Text, field_values::write_text};

/// The identifier of a photo, and the first part of the names of its files: 128 random bits, so that
/// nobody can guess it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhotoId(pub u128);

/// The two hexadecimal digits of each byte of an identifier.
pub(super) type Digits = [[u8; 2]; 16];

impl PhotoId {
    /// `None` unless the text is 32 lowercase hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_valid = text.len() == 32
            && text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_valid
            .then(|| u128::from_str_radix(text, 16).ok().map(Self))
            .flatten()
    }

    /// Its text, written into `digits`: a page has dozens of them, and `{:032x}` takes about 2,000 instructions for
    /// each.
    pub(super) fn digits(self, digits: &mut Digits) -> &str {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for (pair, byte) in digits.iter_mut().zip(self.0.to_be_bytes()) {
            *pair = [byte >> 4, byte & 15].map(|half| DIGITS[usize::from(half)]);
        }
        str::from_utf8(digits.as_flattened()).unwrap_or_default()
    }
}

impl fmt::Display for PhotoId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.digits(&mut Digits::default()))
    }
}

/// The text of a photo for people who cannot see it: 1 to 500 characters without U+0000.
pub type AltText = Text<500, 1>;

/// Where to look when a photo is cropped: how far from its left and its top, in ten-thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Focus([u16; 2]);

impl Focus {
    const WHOLE: u16 = 10_000;

    /// `None` for a point outside of the photo.
    pub fn new(point: [u16; 2]) -> Option<Self> {
        point
            .iter()
            .all(|&part| part <= Self::WHOLE)
            .then_some(Self(point))
    }

    /// Returns the same point after the photo was turned by a right angle.
    pub const fn rotate(self, to_right: bool) -> Self {
        let [x, y] = self.0;
        Self(if to_right {
            [Self::WHOLE - y, x]
        } else {
            [y, Self::WHOLE - x]
        })
    }

    pub const fn point(self) -> [u16; 2] {
        self.0
    }
}

impl fmt::Display for Focus {
    /// As JSON.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y] = self.0.map(|part| f64::from(part) / f64::from(Self::WHOLE));
        write!(out, "[{x},{y}]")
    }
}

/// A photo of an animal, whose position is that in [`Photos`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Photo {
    pub id: PhotoId,
    pub alt: Option<AltText>,
    /// Of the large size, in pixels.
    pub width: u32,
    pub height: u32,
    /// `None` is the default, in the middle and a little above the centre.
    pub focus: Option<Focus>,
    pub added_at: Timestamp,
}

/// A photo whose files are in their place, and that no animal has yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPhoto {
    pub id: PhotoId,
    pub alt: Option<AltText>,
    pub width: u32,
    pub height: u32,
    pub focus: Option<Focus>,
}

impl NewPhoto {
    /// Returns the photo of the animal to which it is added at this time.
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

/// The photos of an animal, in the order that the store chose. The first one is the portrait.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Photos(Option<Box<List>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct List {
    all: Vec<Photo>,
    /// As a store keeps them.
    stored: String,
}

impl Photos {
    pub const NONE: Self = Self(None);

    /// How many photos an animal can have.
    pub const MAX: usize = 20;

    pub fn new(all: Vec<Photo>) -> Self {
        let mut stored = String::new();
        for Photo {
            id,
            alt,
            width,
            height,
            focus,
            added_at,
        } in &all
        {
            let begin = if stored.is_empty() { '[' } else { ',' };
            let added_at = added_at.as_millisecond();
            let _ = write!(
                stored,
                "{begin}{{\"id\":\"{id}\",\"width\":{width},\"height\":{height},\
                 \"addedAt\":{added_at}"
            );
            if let Some(alt) = alt {
                stored.push_str(",\"alt\":");
                write_text(&mut stored, alt.as_str());
            }
            // Without one, the release before can read it.
            if let Some(Focus([x, y])) = focus {
                let _ = write!(stored, ",\"focus\":[{x},{y}]");
            }
            stored.push('}');
        }
        stored.push(']');
        Self::from_stored(all, stored)
    }

    /// Photos that a store keeps as this text.
    pub fn from_stored(all: Vec<Photo>, stored: String) -> Self {
        if all.is_empty() {
            return Self::NONE;
        }
        Self(Some(Box::new(List { all, stored })))
    }

    pub fn all(&self) -> &[Photo] {
        self.0.as_deref().map_or(&[], |list| &list.all)
    }

    /// As a store keeps them: `None` if there are none.
    pub fn as_stored(&self) -> Option<&str> {
        self.0.as_deref().map(|list| list.stored.as_str())
    }

    /// Returns the position of a photo.
    pub fn position(&self, id: PhotoId) -> Option<usize> {
        self.all().iter().position(|photo| photo.id == id)
    }

    /// Returns those that `other` has not.
    pub fn missing_in(&self, other: &Self) -> impl Iterator<Item = PhotoId> {
        let ids = self.all().iter().map(|photo| photo.id);
        ids.filter(|&id| other.position(id).is_none())
    }

    /// Returns the approximate length of their representation, in bytes.
    pub fn length(&self) -> usize {
        let alt = |photo: &Photo| photo.alt.as_ref().map_or(0, |alt| alt.as_str().len());
        self.all().iter().map(|photo| 384 + alt(photo)).sum()
    }
}
