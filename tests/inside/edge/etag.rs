//! Tests of `src/edge/etag.rs`.

use super::*;

#[test]
fn every_part_of_the_key_changes_the_tag() {
    let tag = |key: [u8; 32]| Tags::new(key).of(b"[]");
    for at in [0, 7, 8, 15, 16, 23, 24, 31] {
        let mut other = [7; 32];
        other[at] = 8;
        assert_ne!(tag(other), tag([7; 32]), "{at}");
    }
}
