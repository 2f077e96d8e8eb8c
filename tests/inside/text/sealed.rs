//! Tests of `src/text/sealed.rs`.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn a_text_with_one_changed_character_has_no_bytes(
        bytes: [u8; 25],
        at in 0..38_usize,
        to in "[A-Za-z0-9_=-]",
    ) {
        let text = encode(&[&bytes[..9], &bytes[9..]]);
        prop_assert_eq!(decode(&text), Some(bytes.to_vec()));
        let mut altered = text.clone();
        altered.replace_range(at..=at, &to);
        prop_assume!(altered != text);
        prop_assert_eq!(decode(&altered), None);
    }
}
