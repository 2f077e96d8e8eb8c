//! The pictures that clients send.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use crate::domain::words::words;

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
