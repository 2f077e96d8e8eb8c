//! Turns the large file of a photo by right angles without loss.
//!
//! The encoded picture stays the same, and an Exif orientation field before it tells programs how
//! to turn it. After four turns in one direction, the file has its original bytes again.
//!
//! The alternatives have drawbacks: encoding again loses some quality each time, and the blocks of
//! a JPEG can be turned without loss only if both sides are multiples of 8 pixels. Browsers respect
//! the orientation field, and so do the decoders of this service.

use petstore_domain::store_area::PictureProblem;

use super::{
    decode::{EncodedPhoto, photo_from_large_file},
    format::Format,
};

/// The marker at the start of every JPEG (SOI).
const JPEG_START: &[u8] = b"\xff\xd8";

/// The bytes before the orientation in an Exif segment with no other field (Exif 2.3, sections
/// 4.5.4 and 4.6.4).
const SEGMENT_START: &[u8] =
    b"\xff\xe1\0\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0";

/// The bytes after the orientation in this segment.
const SEGMENT_END: &[u8] = &[0; 6];

/// The Exif orientations after 0, 1, 2 and 3 turns to the right. The first one means that the
/// picture is displayed as it is encoded.
const ORIENTATIONS: [u8; 4] = [1, 6, 3, 8];

/// Makes a photo from its large file, turned by 90 degrees to the right. The format is not read,
/// because a large file is always a JPEG.
pub(super) fn turn_to_right(large: &[u8], _: Format) -> Result<EncodedPhoto, PictureProblem> {
    photo_from_large_file(add_turns(large, 1))
}

/// Makes a photo from its large file, turned by 90 degrees to the left, like [`turn_to_right`].
pub(super) fn turn_to_left(large: &[u8], _: Format) -> Result<EncodedPhoto, PictureProblem> {
    // Three turns to the right are one to the left.
    photo_from_large_file(add_turns(large, 3))
}

/// Returns a large file that is turned to the right `turns` more times.
fn add_turns(large: &[u8], turns: usize) -> Vec<u8> {
    let segments = large.strip_prefix(JPEG_START).unwrap_or(large);
    let (orientation, other_segments) = split_orientation(segments);
    // The index of an orientation is the number of its turns. An orientation that this module does
    // not write counts as no turn.
    let present_turns = ORIENTATIONS
        .iter()
        .position(|candidate| *candidate == orientation)
        .unwrap_or(0);
    let new_orientation = ORIENTATIONS[(present_turns + turns) % ORIENTATIONS.len()];

    let mut file = JPEG_START.to_vec();
    if new_orientation != ORIENTATIONS[0] {
        file.extend(SEGMENT_START);
        file.push(new_orientation);
        file.extend(SEGMENT_END);
    }
    file.extend(other_segments);
    file
}

/// Splits the segments of a file into the orientation that this module wrote earlier, and the
/// segments after it. If this module wrote none, the orientation is 1: displayed as encoded.
fn split_orientation(segments: &[u8]) -> (u8, &[u8]) {
    let without_turn = (ORIENTATIONS[0], segments);
    let Some(segment) = segments.strip_prefix(SEGMENT_START) else {
        return without_turn;
    };
    let Some((orientation, segment_end)) = segment.split_first() else {
        return without_turn;
    };
    let other_segments = segment_end.strip_prefix(SEGMENT_END).unwrap_or(segment_end);
    (*orientation, other_segments)
}

#[cfg(test)]
mod tests {
    use image::{ExtendedColorType, RgbImage, codecs::jpeg::JpegEncoder};

    use super::*;
    use crate::decode::encode_photo;

    /// Returns a copy of the large file of a photo.
    fn large_file(photo: &EncodedPhoto) -> Vec<u8> {
        photo.files.last().unwrap().clone()
    }

    /// Returns the files of a photo whose sides are not multiples of 8, and whose pixels all differ
    /// in colour.
    fn sample_photo() -> EncodedPhoto {
        let picture = RgbImage::from_fn(37, 21, |x, y| {
            let channel = |value: u32| u8::try_from(value % 256).unwrap();
            image::Rgb([channel(x * 7), channel(y * 11), channel(x * y)])
        });
        let mut file = Vec::new();
        JpegEncoder::new_with_quality(&mut file, 95)
            .encode(picture.as_raw(), 37, 21, ExtendedColorType::Rgb8)
            .unwrap();
        encode_photo(&file, Format::Jpeg).unwrap()
    }

    #[test]
    fn four_turns_give_the_bytes_of_before_and_each_turns_what_people_see() {
        for turn in [turn_to_right, turn_to_left] {
            let large = large_file(&sample_photo());
            let mut turned_file = large.clone();
            for sides in [(21, 37), (37, 21), (21, 37), (37, 21)] {
                let photo = turn(&turned_file, Format::Jpeg).unwrap();
                assert_eq!((photo.width, photo.height), sides);
                turned_file = large_file(&photo);
            }
            assert!(
                turned_file == large,
                "after four turns, the bytes of the large file differ"
            );
        }
    }

    #[test]
    fn a_turn_to_the_left_undoes_one_to_the_right() {
        let large = large_file(&sample_photo());
        let right = large_file(&turn_to_right(&large, Format::Jpeg).unwrap());
        assert!(right != large);
        let back = large_file(&turn_to_left(&right, Format::Jpeg).unwrap());
        assert!(back == large);
    }
}
