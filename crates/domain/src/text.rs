//! Bytes and integers as text, and texts in forms that can be compared or read.

pub mod formulas;
pub mod readable;
pub mod sealed;

/// Returns the two hexadecimal digits of a byte: `2f` for 47.
pub fn hex(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [
        DIGITS[usize::from(byte >> 4)],
        DIGITS[usize::from(byte & 15)],
    ]
}

/// Returns bytes as hexadecimal digits: `002f` for 0 and 47.
pub fn hex_digits(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|&byte| hex(byte));
    digits.map(char::from).collect()
}

/// Returns a text for a comparison without regard to case and to space around it: `sold` for ` Sold`.
pub fn comparison_key(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Returns the heading of a column for a comparison without regard to case and space: `Category ID`
/// is `categoryid`.
pub fn heading_key(text: &str) -> String {
    text.split_whitespace().collect::<String>().to_lowercase()
}

/// Parses an int64 in its only valid spelling: decimal digits with an optional minus sign, without a plus
/// sign or leading zeros.
///
/// ```
/// use petstore_domain::text::parse_integer;
///
/// assert_eq!(parse_integer("-7"), Some(-7));
/// assert_eq!(parse_integer("07"), None);
/// ```
pub fn parse_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_canonical = text == "0" || !digits.starts_with(['0', '+', '-']);
    if is_canonical {
        text.parse().ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_integer_has_one_spelling() {
        for (text, value) in [
            ("0", 0),
            ("7", 7),
            ("-7", -7),
            ("9223372036854775807", i64::MAX),
        ] {
            assert_eq!(parse_integer(text), Some(value));
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
            assert_eq!(parse_integer(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_int64_is_parsed_back(value: i64) {
            prop_assert_eq!(parse_integer(&value.to_string()), Some(value));
        }

        #[test]
        fn an_integer_is_formatted_as_it_was_parsed(text: String) {
            if let Some(value) = parse_integer(&text) {
                prop_assert_eq!(value.to_string(), text);
            }
        }

        #[test]
        fn hexadecimal_digits_are_those_of_the_standard_library(byte: u8) {
            prop_assert_eq!(hex(byte).to_vec(), format!("{byte:02x}").into_bytes());
        }
    }
}
