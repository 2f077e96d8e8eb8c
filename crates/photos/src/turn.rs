//! Turns the large file of a photo by right angles without a loss: the encoded picture stays as it is, and a field before
//! it says how a reader turns it. After four turns in one direction, the file has the bytes that it had before.
//!
//! The alternatives cost something: an encoder loses a little each time, and the blocks of a JPEG can be turned exactly
//! only if both sides are multiples of 8 pixels. Browsers obey this field, and so do the service's decoders.

use petstore_domain::store_area::PictureProblem;

use super::{
    decode::{Sizes, sizes_of_turned},
    inspect::Format,
};

/// The first two bytes of each JPEG.
const START: &[u8] = b"\xff\xd8";

/// A segment with the orientation as its only field (Exif 2.3, sections 4.5.4 and 4.6.4), before its value.
const BEFORE_ORIENTATION: &[u8] =
    b"\xff\xe1\0\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0";

/// The end of the segment, after the value.
const AFTER_ORIENTATION: &[u8] = &[0; 6];

/// The orientations from each turn to the right to the next one: as encoded, by 90, 180 and 270 degrees.
const TO_RIGHT: [u8; 4] = [1, 6, 3, 8];

/// Returns the files of a photo whose large file is this one, turned to the right.
pub(super) fn turned_to_right(large: &[u8], _: Format) -> Result<Sizes, PictureProblem> {
    sizes_of_turned(with_turns(large, 1))
}

/// Returns the files of a photo whose large file is this one, turned to the left.
pub(super) fn turned_to_left(large: &[u8], _: Format) -> Result<Sizes, PictureProblem> {
    sizes_of_turned(with_turns(large, 3))
}

/// Returns the large file, turned to the right this number of times.
fn with_turns(large: &[u8], turns: usize) -> Vec<u8> {
    let content = large.strip_prefix(START).unwrap_or(large);
    let (orientation, segments) = split_orientation(content);
    let present_turns = TO_RIGHT
        .iter()
        .position(|&number| number == orientation)
        .unwrap_or_default();
    let new_orientation = TO_RIGHT[(present_turns + turns) % TO_RIGHT.len()];

    let mut file = START.to_vec();
    if new_orientation != TO_RIGHT[0] {
        file.extend(BEFORE_ORIENTATION);
        file.push(new_orientation);
        file.extend(AFTER_ORIENTATION);
    }
    file.extend(segments);
    file
}

/// Returns the orientation that this module has written, and what follows its segment.
fn split_orientation(content: &[u8]) -> (u8, &[u8]) {
    let Some(segment) = content.strip_prefix(BEFORE_ORIENTATION) else {
        return (TO_RIGHT[0], content);
    };
    let Some((&orientation, end)) = segment.split_first() else {
        return (TO_RIGHT[0], content);
    };
    (
        orientation,
        end.strip_prefix(AFTER_ORIENTATION).unwrap_or(end),
    )
}

#[cfg(test)]
mod tests {
    use image::{ExtendedColorType, RgbImage, codecs::jpeg::JpegEncoder};

    use super::*;
    use crate::decode::sizes;

    /// Returns the files of a picture whose sides are no multiples of 8, each pixel of another
    /// colour.
    fn photo() -> Sizes {
        let picture = RgbImage::from_fn(37, 21, |x, y| {
            let channel = |value: u32| u8::try_from(value % 256).unwrap();
            image::Rgb([channel(x * 7), channel(y * 11), channel(x * y)])
        });
        let mut file = Vec::new();
        JpegEncoder::new_with_quality(&mut file, 95)
            .encode(picture.as_raw(), 37, 21, ExtendedColorType::Rgb8)
            .unwrap();
        sizes(&file, Format::Jpeg).unwrap()
    }

    #[test]
    fn four_turns_give_the_bytes_of_before_and_each_turns_what_people_see() {
        for turn in [turned_to_right, turned_to_left] {
            let before = photo();
            let large = before.files.last().unwrap().clone();
            let mut turned = large.clone();
            for sides in [(21, 37), (37, 21), (21, 37), (37, 21)] {
                let sizes = turn(&turned, Format::Jpeg).unwrap();
                assert_eq!((sizes.width, sizes.height), sides);
                turned = sizes.files.last().unwrap().clone();
            }
            assert!(
                turned == large,
                "the large file has other bytes than before"
            );
        }
    }

    #[test]
    fn a_turn_to_the_left_undoes_one_to_the_right() {
        let large = photo().files.last().unwrap().clone();
        let right = turned_to_right(&large, Format::Jpeg)
            .unwrap()
            .files
            .last()
            .unwrap()
            .clone();
        assert!(right != large);
        let back = turned_to_left(&right, Format::Jpeg)
            .unwrap()
            .files
            .last()
            .unwrap()
            .clone();
        assert!(back == large);
    }
}
