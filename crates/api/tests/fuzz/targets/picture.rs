//! A picture of a client. The first byte of the input selects its format.

use petstore_domain::store_area::PhotoSize;
use petstore_photos::{Format, encode_photo, is_readable};

pub(super) fn run(input: &[u8]) {
    let Some((choice, picture)) = input.split_first() else {
        return;
    };
    let format = Format::ALL[usize::from(choice % 4)];
    let Ok(photo) = encode_photo(picture, format) else {
        return;
    };
    let longer_side = photo.width.max(photo.height);
    assert!(
        (1..=PhotoSize::Large.longer_side()).contains(&longer_side),
        "{longer_side}"
    );
    assert!(photo.files.iter().all(|file| is_readable(file)));
}
