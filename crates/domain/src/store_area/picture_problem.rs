//! The reasons to reject an uploaded picture.

use super::Logo;

/// The reason why an uploaded picture is rejected. Its `Display` text is the message for the
/// client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each says it")]
pub enum PictureProblem {
    #[error("The body is not a JPEG, PNG, WebP or GIF picture. Send the bytes of one.")]
    NoPicture,
    #[error(
        "The body is not a {format} picture, although its Content-Type says so. Send the type of the picture: \
         image/jpeg, image/png, image/webp or image/gif."
    )]
    OtherFormat { format: &'static str },
    #[error("The {format} picture is truncated: its end is missing. Send the whole picture.")]
    Truncated { format: &'static str },
    #[error("The {format} picture is followed by other data. Save it again with another program.")]
    OtherData { format: &'static str },
    #[error("The picture is damaged: it cannot be decoded. Save it again with another program.")]
    Unreadable,
    #[error(
        "The picture has {length} bytes of metadata, and at most {most} are allowed. Remove its metadata."
    )]
    Metadata { length: usize, most: usize },
    #[error("The file has more than {most} pictures. Send only the first of them.")]
    ManyPictures { most: usize },
    #[error(
        "The picture has {width} x {height} pixels. At most {most} pixels are allowed, and {most_of_side} for each side. \
         Send a smaller one."
    )]
    Pixels {
        width: u32,
        height: u32,
        most: usize,
        most_of_side: u32,
    },
    #[error(
        "The picture has {width} x {height} pixels, and {most} are allowed for a {format} picture of its kind and \
         length. Send a smaller one, or a JPEG that is not progressive."
    )]
    PixelsOfKind {
        width: u32,
        height: u32,
        most: usize,
        format: &'static str,
    },
    #[error(
        "The picture needs too much memory to be decoded. Send one with fewer pixels, or with 8 bits for each colour."
    )]
    Memory,
    #[error("The picture takes too long to decode. Send a smaller one.")]
    Time,
    #[error("{}", Logo::TOO_FLAT)]
    FlatLogo,
}
