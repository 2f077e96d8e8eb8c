//! Text utilities: hexadecimal digits, integers, and keys for the comparison of texts.

pub mod formulas;
pub mod readable;
pub mod sealed;

use unicode_normalization::UnicodeNormalization;

use readable::is_ignored_by_fonts;

/// Returns the two hexadecimal digits of a byte: `2f` for 47.
pub fn hex(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [
        DIGITS[usize::from(byte >> 4)],
        DIGITS[usize::from(byte & 15)],
    ]
}

/// Returns the hexadecimal digits of bytes: `002f` for 0 and 47.
pub fn hex_digits(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|&byte| hex(byte));
    digits.map(char::from).collect()
}

/// Returns the key by which texts are compared regardless of upper and lower case.
///
/// Headings, labels, choices, references and customers are compared only by this key. Where other
/// docs say that texts are equal "regardless of upper and lower case", their keys are equal.
///
/// The text is normalized (NFKC), converted to one case, and stripped of characters that fonts
/// ignore. Runs of whitespace become one space. The case conversion goes through upper case,
/// because some letters have two lower-case forms (σ and ς), and others become two letters (ß
/// becomes SS).
///
/// ```
/// use petstore_domain::text::comparison_key;
///
/// assert_eq!(comparison_key(" Gro\u{308}ße\u{a0}"), comparison_key("GRÖSSE"));
/// assert_eq!(comparison_key("İzmir"), comparison_key("izmir"));
/// assert_ne!(comparison_key("Größe"), comparison_key("Grosse"));
/// ```
pub fn comparison_key(text: &str) -> String {
    if text.is_ascii() {
        // Fast path with the same result.
        let words: Vec<&str> = text.split_whitespace().collect();
        return words.join(" ").to_ascii_lowercase();
    }
    let visible_text = text
        .chars()
        .filter(|&character| !is_ignored_by_fonts(character));
    let text_in_one_case: String = fold_case(visible_text.nfkc()).collect();
    // One pass is not always idempotent: it can leave letters that still compose or still have
    // another case, such as an iota below an accent.
    let stable_text: String = fold_case(text_in_one_case.nfkc()).nfkc().collect();
    let words: Vec<&str> = stable_text.split_whitespace().collect();
    words.join(" ")
}

/// Converts characters to lower case, by way of upper case. `İ` becomes a plain `i`, without the
/// combining dot that Unicode keeps.
fn fold_case(characters: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    const DOT_ABOVE: char = '\u{307}';
    let mut previous = None;
    characters
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .filter(move |&character| {
            let is_dot_of_i = character == DOT_ABOVE && previous == Some('i');
            if !is_dot_of_i {
                previous = Some(character);
            }
            !is_dot_of_i
        })
}

/// Returns the key by which column headings are compared, regardless of upper and lower case and of
/// spaces: `categoryid` for `Category ID`.
pub fn heading_key(text: &str) -> String {
    comparison_key(text).replace(' ', "")
}

/// Parses an int64 in its canonical spelling; `None` for any other text. The spelling has decimal
/// digits and an optional minus sign, but no plus sign and no leading zeros.
///
/// ```
/// use petstore_domain::text::parse_integer;
///
/// assert_eq!(parse_integer("-7"), Some(-7));
/// assert_eq!(parse_integer("07"), None);
/// ```
pub fn parse_integer(text: &str) -> Option<i64> {
    // The parser of the standard library also accepts other spellings, such as `+7` and `07`.
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

    #[test]
    fn texts_that_look_alike_have_the_same_key() {
        for (text, other_text) in [
            ("sold", " SOLD "),
            ("Größe", "GRÖSSE"),
            ("Größe", "Gro\u{308}ße"),
            ("Straße", "STRAẞE"),
            ("İzmir", "izmir"),
            ("İzmir", "i\u{307}zmir"),
            ("Ilgın", "ILGIN"),
            ("ΟΔΟΣ", "οδος"),
            ("ᾳ", "ΑΙ"),
            ("ﬁn", "FIN"),
            ("Ｄｏｇ", "dog"),
            ("ﾎﾟﾁ", "ポチ"),
            ("Cà", "ca\u{300}"),
            ("Old\u{a0}\u{2003} Seth", "old seth"),
            ("Kat\u{ad}ze", "katze"),
            ("Ren\u{e9}", "RENE\u{200d}\u{301}"),
            ("Dog\u{fe0f}", "dog"),
            ("한", "\u{1112}\u{1161}\u{11ab}"),
        ] {
            assert_eq!(comparison_key(text), comparison_key(other_text), "{text}");
        }
        for (text, other_text) in [
            ("Größe", "Grosse"),
            ("Hündin", "Hundin"),
            ("Max", "Marx"),
            ("ab", "a b"),
            ("ポチ", "ぽち"),
        ] {
            assert_ne!(comparison_key(text), comparison_key(other_text), "{text}");
        }
        assert_eq!(heading_key("Category\u{a0}ID "), "categoryid");
    }

    proptest! {
        #[test]
        fn no_case_and_no_normalization_changes_a_key(text: String) {
            let key = comparison_key(&text);
            prop_assert_eq!(&comparison_key(&key), &key);
            prop_assert_eq!(&comparison_key(&text.to_uppercase()), &key);
            prop_assert_eq!(&comparison_key(&text.to_lowercase()), &key);
            prop_assert_eq!(&comparison_key(&text.nfd().collect::<String>()), &key);
            prop_assert_eq!(&comparison_key(&text.nfkd().collect::<String>()), &key);
        }

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
