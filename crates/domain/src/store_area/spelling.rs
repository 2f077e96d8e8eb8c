//! Normalization of text for searches: without accents, in one case, and with the letters that
//! people type in place of special ones.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Letters that Unicode does not decompose, each with the letters that people type in its place.
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
    // Modifier letters, which count as letters in Unicode, but only modify others or stretch a
    // word.
    ('\u{640}', ""),
    ('\u{2b9}', ""),
    ('\u{2ba}', ""),
    ('\u{2bb}', ""),
    ('\u{2bc}', ""),
    ('\u{2bd}', ""),
    ('\u{2be}', ""),
    ('\u{2bf}', ""),
];

/// Letters that people also write as two, such as `ue` in "Mueller".
const DIGRAPHS: [(char, &str); 6] = [
    ('ä', "ae"),
    ('ö', "oe"),
    ('ü', "ue"),
    ('å', "aa"),
    ('ø', "oe"),
    ('đ', "dj"),
];

/// The digit zero in other scripts. The digits 1 to 9 follow at the next code points.
const ZEROS: [char; 12] = [
    '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}',
    '\u{c66}', '\u{ce6}', '\u{d66}', '\u{e50}',
];

/// Returns the characters of a text without accents and in lower case. The keys of unique values
/// and of staff names are computed from them and stored in databases, so this function must never
/// change.
///
/// The case conversion goes through upper case, so that `ß` equals `ss` and both lower-case forms
/// of sigma are equal. Because this can produce new combining marks, the text is decomposed and
/// stripped of marks a second time.
pub(super) fn without_case_and_accents(text: &str) -> impl Iterator<Item = char> {
    text.nfkd()
        .filter(|&character| !is_combining_mark(character))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfkd()
        .filter(|&character| !is_combining_mark(character))
}

/// Returns a text in the form that a search compares: as [`without_case_and_accents`], and also
/// with replacements for letters that Unicode does not decompose, hiragana in place of katakana,
/// and ASCII digits.
///
/// For example, `Łajka Bjørn` becomes `lajka bjorn`, and `ポチ` becomes `ほち`.
pub(super) fn plain_spelling(text: &str) -> String {
    let mut plain_text = String::with_capacity(text.len());
    for character in without_case_and_accents(text) {
        if character.is_ascii() {
            plain_text.push(character);
        } else if let Some(letters) = find_replacement(&PLAIN_LETTERS, character) {
            plain_text.push_str(letters);
        } else {
            plain_text.push(plain_character(character));
        }
    }
    plain_text
}

/// Returns the digraph spelling of a text, with two letters in place of one; `None` if no letter of
/// the text has a digraph. Apart from this, the text is normalized like [`plain_spelling`].
///
/// For example, `Müller` becomes `mueller`.
pub(super) fn digraph_spelling(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let mut digraph_text = String::with_capacity(text.len());
    let mut has_digraph = false;
    for character in text.nfkc().flat_map(char::to_lowercase) {
        match find_replacement(&DIGRAPHS, character) {
            Some(letters) => {
                has_digraph = true;
                digraph_text.push_str(letters);
            }
            None => digraph_text.push(character),
        }
    }
    has_digraph.then(|| plain_spelling(&digraph_text))
}

/// Looks up the replacement of a character in a table.
fn find_replacement(table: &[(char, &'static str)], character: char) -> Option<&'static str> {
    table
        .iter()
        .find(|(letter, _)| *letter == character)
        .map(|(_, letters)| *letters)
}

/// Converts katakana to hiragana, and digits of other scripts to ASCII digits. Other characters are
/// returned unchanged.
fn plain_character(character: char) -> char {
    /// The distance of a katakana from the same hiragana, in code points.
    const KATAKANA_OFFSET: u32 = 0x60;

    let code = u32::from(character);
    if ('\u{30a1}'..='\u{30f6}').contains(&character) {
        return char::from_u32(code - KATAKANA_OFFSET).unwrap_or(character);
    }
    let digit = ZEROS
        .iter()
        .filter_map(|&zero| code.checked_sub(zero.into()))
        .find(|&digit| digit < 10);
    digit
        .and_then(|digit| char::from_digit(digit, 10))
        .unwrap_or(character)
}

/// Whether a letter can begin a word even in the middle of a text, because its script does not
/// separate words by spaces: Chinese, Japanese, Thai, Lao, Burmese and Khmer. This also applies to
/// Korean, whose syllables are decomposed, and begin with such a letter.
pub(super) fn begins_word(character: char) -> bool {
    matches!(character,
        '\u{e01}'..='\u{e45}' | '\u{e81}'..='\u{ec4}' | '\u{1000}'..='\u{102a}' | '\u{1100}'..='\u{115f}'
        | '\u{1780}'..='\u{17b3}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{30a0}'..='\u{30fb}'
        | '\u{3105}'..='\u{312f}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}
