//! A picture of a client. The first byte of the input selects its format.

use petstore_domain::store_area::PhotoSize;
use petstore_photos::{Format, is_readable, sizes};

pub(super) fn run(input: &[u8]) {
    let Some((choice, picture)) = input.split_first() else {
        return;
    };
    let format = Format::ALL[usize::from(choice % 4)];
    let Ok(sizes) = sizes(picture, format) else {
        return;
    };
    let longer_side = sizes.width.max(sizes.height);
    assert!(
        (1..=PhotoSize::Large.longer_side()).contains(&longer_side),
        "{longer_side}"
    );
    assert!(sizes.files.iter().all(|file| is_readable(file)));
}
