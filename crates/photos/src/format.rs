//! The formats of pictures that clients send.

use petstore_domain::named_enum::named_enum;

named_enum! {
    /// The format of a picture that a client sends.
    #[expect(missing_docs, reason = "their names say it")]
    pub enum Format {
        Jpeg = "JPEG",
        Png = "PNG",
        WebP = "WebP",
        Gif = "GIF",
    }
}

impl Format {
    /// Detects the format of a picture by its first bytes. Returns `None` for a format that is not
    /// accepted.
    pub fn detect(picture: &[u8]) -> Option<Self> {
        if picture.starts_with(b"\xff\xd8\xff") {
            Some(Self::Jpeg)
        } else if picture.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if picture.starts_with(b"RIFF") && picture.get(8..12) == Some(b"WEBP") {
            Some(Self::WebP)
        } else if picture.starts_with(b"GIF87a") || picture.starts_with(b"GIF89a") {
            Some(Self::Gif)
        } else {
            None
        }
    }
}
