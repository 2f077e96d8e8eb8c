//! Tests of `src/text.rs`.

use proptest::prelude::*;

use super::*;

#[test]
fn an_integer_has_one_spelling() {
    for (text, value) in [("0", 0), ("7", 7), ("-7", -7), ("9223372036854775807", i64::MAX)] {
        assert_eq!(integer(text), Some(value));
    }
    for text in [
        "",
        "-",
        "-0",
        "+7",
        "07",
        "-07",
        "--7",
        "-+7",
        " 7",
        "7 ",
        "7.0",
        "7e0",
        "0x7",
        "٧",
        "9223372036854775808",
    ] {
        assert_eq!(integer(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn every_int64_is_parsed_back(value: i64) {
        prop_assert_eq!(integer(&value.to_string()), Some(value));
    }

    #[test]
    fn an_integer_is_formatted_as_it_was_parsed(text: String) {
        if let Some(value) = integer(&text) {
            prop_assert_eq!(value.to_string(), text);
        }
    }

    #[test]
    fn hexadecimal_digits_are_those_of_the_standard_library(byte: u8) {
        prop_assert_eq!(hex(byte).to_vec(), format!("{byte:02x}").into_bytes());
    }
}
