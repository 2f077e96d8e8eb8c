//! The letters that people type in place of others: without accents, in one case, and as their keyboard has them.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The letters that Unicode does not decompose, each with the letters that people type in its place.
const PLAIN_LETTERS: [(char, &str); 53] = [
    // Latin.
    ('æ', "ae"),
    ('ð', "d"),
    ('ø', "o"),
    ('þ', "th"),
    ('đ', "d"),
    ('ħ', "h"),
    ('ı', "i"),
    ('ĸ', "k"),
    ('ł', "l"),
    ('ŋ', "n"),
    ('œ', "oe"),
    ('ŧ', "t"),
    ('ƀ', "b"),
    ('ƙ', "k"),
    ('ƴ', "y"),
    ('ǝ', "e"),
    ('ɓ', "b"),
    ('ɔ', "o"),
    ('ɖ', "d"),
    ('ɗ', "d"),
    ('ə', "e"),
    ('ɛ', "e"),
    ('ɨ', "i"),
    // Cyrillic.
    ('ґ', "г"),
    ('ғ', "г"),
    ('қ', "к"),
    ('ң', "н"),
    ('ү', "у"),
    ('ұ', "у"),
    ('ҳ', "х"),
    ('һ', "х"),
    ('ә', "а"),
    ('ө', "о"),
    // Arabic, Persian and Urdu.
    ('\u{671}', "\u{627}"),
    ('\u{629}', "\u{647}"),
    ('\u{649}', "\u{64a}"),
    ('\u{6cc}', "\u{64a}"),
    ('\u{6d0}', "\u{64a}"),
    ('\u{6a9}', "\u{643}"),
    ('\u{6aa}', "\u{643}"),
    ('\u{6ba}', "\u{646}"),
    ('\u{6be}', "\u{647}"),
    ('\u{6c1}', "\u{647}"),
    ('\u{6c3}', "\u{647}"),
    ('\u{6d5}', "\u{647}"),
    // Signs that count as letters, but only change others or stretch a word.
    ('\u{640}', ""),
    ('\u{2b9}', ""),
    ('\u{2ba}', ""),
    ('\u{2bb}', ""),
    ('\u{2bc}', ""),
    ('\u{2bd}', ""),
    ('\u{2be}', ""),
    ('\u{2bf}', ""),
];

/// The letters that people also write as two, such as `ue` in "Mueller".
const WIDE_LETTERS: [(char, &str); 6] = [
    ('ä', "ae"),
    ('ö', "oe"),
    ('ü', "ue"),
    ('å', "aa"),
    ('ø', "oe"),
    ('đ', "dj"),
];

/// The zeros of the decimal digits of other scripts; the other digits follow them.
const ZEROS: [char; 12] = [
    '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}',
    '\u{c66}', '\u{ce6}', '\u{d66}', '\u{e50}',
];

/// Returns the characters of a text without accents and in lower case. The keys of unique values and of the names of
/// members are made of them, and stay in databases, so this never changes.
///
/// The text passes through upper case, so that `ß` equals `ss` and both forms of sigma are one. That can decompose
/// a character further, so the marks are removed once more.
pub(super) fn comparable(text: &str) -> impl Iterator<Item = char> {
    text.nfkd()
        .filter(|&character| !is_combining_mark(character))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfkd()
        .filter(|&character| !is_combining_mark(character))
}

/// Returns a text with the letters that a search compares: as [`comparable`], and the letters that people type in place
/// of letters that Unicode does not decompose.
///
/// Example: `Łajka Bjørn` is `lajka bjorn`, and `ポチ` is `ほち`.
pub(super) fn plain_spelling(text: &str) -> String {
    let mut plain_text = String::with_capacity(text.len());
    for character in comparable(text) {
        if character.is_ascii() {
            plain_text.push(character);
        } else if let Some(letters) = letters_in_place(&PLAIN_LETTERS, character) {
            plain_text.push_str(letters);
        } else {
            plain_text.push(plain_character(character));
        }
    }
    plain_text
}

/// Returns a text in which some letters are written as two, in the form of [`plain_spelling`]. `None` if it has no such
/// letter.
///
/// Example: `Müller` is `mueller`.
pub(super) fn wide_spelling(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let mut wide_text = String::with_capacity(text.len());
    let mut is_wider = false;
    for character in text.nfkc().flat_map(char::to_lowercase) {
        match letters_in_place(&WIDE_LETTERS, character) {
            Some(letters) => {
                is_wider = true;
                wide_text.push_str(letters);
            }
            None => wide_text.push(character),
        }
    }
    is_wider.then(|| plain_spelling(&wide_text))
}

/// Returns the letters in place of a character in a table.
fn letters_in_place(table: &[(char, &'static str)], character: char) -> Option<&'static str> {
    table
        .iter()
        .find(|(letter, _)| *letter == character)
        .map(|(_, letters)| *letters)
}

/// Returns hiragana for katakana, and an ASCII digit for a digit of another script.
fn plain_character(character: char) -> char {
    const FROM_HIRAGANA_TO_KATAKANA: u32 = 0x60;
    let code = u32::from(character);
    if ('\u{30a1}'..='\u{30f6}').contains(&character) {
        return char::from_u32(code - FROM_HIRAGANA_TO_KATAKANA).unwrap_or(character);
    }
    let digit = ZEROS
        .iter()
        .filter_map(|&zero| code.checked_sub(zero.into()))
        .find(|&digit| digit < 10);
    digit
        .and_then(|digit| char::from_digit(digit, 10))
        .unwrap_or(character)
}

/// Whether each letter of its script begins a word, because the script has no spaces between words: Chinese, Japanese,
/// Thai, Lao, Burmese and Khmer. A syllable of Korean is decomposed, and begins with such a letter, too.
pub(super) fn begins_word(character: char) -> bool {
    matches!(character,
        '\u{e01}'..='\u{e45}' | '\u{e81}'..='\u{ec4}' | '\u{1000}'..='\u{102a}' | '\u{1100}'..='\u{115f}'
        | '\u{1780}'..='\u{17b3}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{30a0}'..='\u{30fb}'
        | '\u{3105}'..='\u{312f}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}
