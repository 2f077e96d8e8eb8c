//! The compact key of a unique value, by which spellings that differ only in separators are equal.
//!
//! Microchip numbers occur in many spellings, because people group the digits, and spreadsheets
//! reformat them.

use super::valid_text::is_visible_character;

/// The maximum length of the key of a unique value, in bytes. A longer key is replaced by its hash,
/// because it would not fit into a PostgreSQL index.
pub(super) const MAX_KEY_BYTES: usize = 512;

/// The possible lengths of a microchip number, in digits: 15 according to ISO 11784, and 9 or 10
/// for older chips.
const CHIP_LENGTHS: [usize; 3] = [9, 10, 15];

/// The decimals that some programs append to whole numbers.
const ADDED_DECIMALS: [&str; 4] = [".0", ".00", ",0", ",00"];

/// The characters with which a number is wrapped in a spreadsheet so that it remains text, such as
/// `'981` and `="981"`.
const WRAPPERS: [char; 4] = ['\'', '"', '=', ' '];

/// Returns a key without the characters that only separate others: whitespace, invisible
/// characters, dashes, `.`, `,`, `/`, `:` and `*`. The characters that a spreadsheet adds to a
/// number are removed as well.
///
/// The key is returned unchanged if nothing would remain, or if it is too long for an index.
///
/// All common spellings of a microchip number get the same key:
///
/// ```
/// use petstore_domain::store_area::compact_key;
///
/// for spelling in ["981 000-000", "'981000000", "=\"981000000\"", "981000000.0"] {
///     assert_eq!(compact_key(spelling.to_owned()), "981000000");
/// }
/// ```
pub fn compact_key(key: String) -> String {
    if key.len() > MAX_KEY_BYTES {
        return key;
    }
    if let Some(chip) = chip_with_decimals(&key) {
        return chip;
    }
    let compact = strip_separators(&key);
    if compact.is_empty() { key } else { compact }
}

/// Returns the digits of a microchip number to which a program has appended decimals: `981000000`
/// for `981000000.0`. `None` for any other text.
fn chip_with_decimals(key: &str) -> Option<String> {
    let number = key.trim_matches(WRAPPERS);
    let whole_number = ADDED_DECIMALS
        .iter()
        .find_map(|decimals| number.strip_suffix(decimals))?;
    let digits = strip_separators(whole_number);
    let is_chip = CHIP_LENGTHS.contains(&digits.len()) && is_digits(&digits);
    is_chip.then_some(digits)
}

/// Removes the characters that only separate letters and digits.
fn strip_separators(key: &str) -> String {
    key.chars()
        .filter(|&character| !is_separator(character))
        .collect()
}

/// Whether a character is invisible, or only separates letters and digits.
fn is_separator(character: char) -> bool {
    let is_ascii_separator = matches!(
        character,
        '-' | '.' | ',' | '/' | ':' | '*' | '\'' | '"' | '='
    );
    !is_visible_character(character) || is_ascii_separator || is_unicode_dash(character)
}

/// Whether a character is a dash or hyphen (Unicode property `Dash`) other than the ASCII `-`.
fn is_unicode_dash(character: char) -> bool {
    let is_general_dash = ('\u{2010}'..='\u{2015}').contains(&character);
    is_general_dash
        || matches!(
            character,
            '\u{58A}'
                | '\u{5BE}'
                | '\u{1400}'
                | '\u{1806}'
                | '\u{2212}'
                | '\u{2E17}'
                | '\u{2E1A}'
                | '\u{2E3A}'
                | '\u{2E3B}'
                | '\u{2E40}'
                | '\u{2E5D}'
                | '\u{301C}'
                | '\u{3030}'
                | '\u{30A0}'
                | '\u{10D6E}'
                | '\u{10EAD}'
        )
}

/// Whether a text is a number that a spreadsheet has converted to scientific notation, such as
/// `9.81E+14` or `2,76098E+14`. The last digits of such a number are lost.
pub fn is_shortened_number(text: &str) -> bool {
    let number = text.trim_matches(WRAPPERS);
    let Some((mantissa, exponent)) = number.split_once(['E', 'e']) else {
        return false;
    };
    // A spreadsheet writes one digit before the decimal point.
    let is_mantissa = match mantissa.split_once(['.', ',']) {
        Some((whole, decimals)) => whole.len() == 1 && is_digits(whole) && is_digits(decimals),
        None => mantissa.len() == 1 && is_digits(mantissa),
    };
    is_mantissa && exponent.strip_prefix('+').is_some_and(is_digits)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_makes_of_a_microchip_is_the_same_microchip() {
        for spelling in [
            "981000000000001",
            "'981000000000001",
            "=\"981000000000001\"",
            "\"981000000000001\"",
            "981000000000001.0",
            "'981000000000001.00",
            "981000000000001,00",
            "981,000,000,000,001",
            "981,000,000,000,001.0",
            "981*000*000*000*001",
        ] {
            assert_eq!(
                compact_key(spelling.to_owned()),
                "981000000000001",
                "{spelling}"
            );
        }
    }

    #[test]
    fn other_texts_keep_their_zeros_and_letters() {
        for (text, key) in [
            ("276.098.10", "27609810"),
            ("12.0", "120"),
            ("avid*023*456*789", "avid023456789"),
            ("981e14", "981e14"),
            ("'\"", "'\""),
        ] {
            assert_eq!(compact_key(text.to_owned()), key);
        }
    }

    #[test]
    fn a_number_that_a_spreadsheet_has_shortened_is_known_and_a_chip_with_letters_is_none() {
        for text in [
            "9.81E+14",
            "2,76098E+14",
            "9E+14",
            "9.81e+14",
            "'9.81E+14",
            "=\"9.81E+14\"",
        ] {
            assert!(is_shortened_number(text), "{text}");
        }
        for text in [
            "981000000000001",
            "9E14",
            "0A12E34F",
            "98.1E+14",
            "E+14",
            "9.E+14",
            "9.81E+",
        ] {
            assert!(!is_shortened_number(text), "{text}");
        }
    }
}
