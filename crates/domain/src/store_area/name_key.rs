//! The keys by which a search finds names and values.
//!
//! They ignore case, accents and punctuation, and include common transliterations, such as
//! `mueller` for "Müller".

use super::spelling::{begins_word, digraph_spelling, plain_spelling, without_case_and_accents};

/// The maximum length of a key, in characters. A search ignores the rest.
pub const NAME_KEY_LENGTH: usize = 64;

/// The number of characters at the beginning of a name that a search considers. Without this limit,
/// long names of combining marks would make a search slow.
const COMPARED_LENGTH: usize = 256;

/// The maximum number of words of a name that get a key.
pub const MAX_NAME_WORDS: usize = 14;

/// The maximum number of words of a value that get a key. More keys would make long texts of short
/// words slow.
pub const MAX_VALUE_WORDS: usize = 64;

/// Returns the beginning of a text in a form for comparison without regard to case and accents.
///
/// The text is decomposed (NFKD, Unicode Standard Annex 15), stripped of combining marks, converted
/// to lower case, and truncated to [`NAME_KEY_LENGTH`] characters.
///
/// ```
/// use petstore_domain::store_area::search_key;
///
/// assert_eq!(search_key("René STRASSE, Straße"), "rene strasse, strasse");
/// ```
pub fn search_key(text: &str) -> String {
    without_case_and_accents(compared_part(text))
        .take(NAME_KEY_LENGTH)
        .collect()
}

/// Returns only the letters and digits of a text, as a search compares them. For example, a
/// telephone number is found in any grouping of its digits.
///
/// ```
/// use petstore_domain::store_area::letters_and_digits;
///
/// assert_eq!(letters_and_digits("Anna Müller, 0171/555"), "annamuller0171555");
/// ```
pub fn letters_and_digits(text: &str) -> String {
    keep_letters_and_digits(&plain_spelling(text))
}

/// Returns the letters and digits of a text in each of its spellings: `muller` and `mueller` for
/// "Müller".
pub fn spellings(text: &str) -> Vec<String> {
    let mut texts = vec![letters_and_digits(text)];
    if let Some(digraph_text) = digraph_spelling(text) {
        texts.push(keep_letters_and_digits(&digraph_text));
    }
    texts
}

/// Removes everything but letters and digits from a spelling.
pub(super) fn keep_letters_and_digits(spelling: &str) -> String {
    spelling
        .chars()
        .filter(|character| character.is_alphanumeric())
        .collect()
}

/// Returns a whole text, with its punctuation, as a search compares it.
pub fn whole_key(text: &str) -> String {
    plain_spelling(text)
}

/// Returns a whole text without case and accents, as the keys of unique values are computed.
pub(super) fn identity_key(text: &str) -> String {
    without_case_and_accents(text).collect()
}

/// Returns the keys by which a search finds a name: a search text matches if it is a prefix of a
/// key.
///
/// There is one key for each word: the letters and digits from the beginning of the word to the end
/// of the name, without case, accents and spaces. In a script without spaces, each letter counts as
/// the beginning of a word. If the name has several spellings, the words of each spelling get keys.
/// Punctuation at the beginning of the name is a key of its own. A key that is a prefix of another
/// key is omitted.
///
/// ```
/// use petstore_domain::store_area::name_keys;
///
/// assert_eq!(name_keys("Lucky Luke"), ["luckyluke", "luke"]);
/// assert_eq!(name_keys("*Ömer*"), ["omer", "oemer", "*"]);
/// assert_eq!(name_keys("大黄狗"), ["大黄狗", "黄狗", "狗"]);
/// ```
pub fn name_keys(name: &str) -> Vec<String> {
    keys_of_text(name, MAX_NAME_WORDS)
}

/// Returns the keys by which a search finds the value of a field: as [`name_keys`], but without a
/// key for leading punctuation.
pub fn value_keys(value: &str) -> Vec<String> {
    let mut keys = keys_of_text(value, MAX_VALUE_WORDS);
    keys.retain(|key| key.starts_with(char::is_alphanumeric));
    keys
}

/// Returns the keys of a text: in each spelling, one key for each of the first `max_words` words,
/// and one key for leading punctuation.
fn keys_of_text(text: &str, max_words: usize) -> Vec<String> {
    let text = compared_part(text);
    if is_ascii_word(text) {
        // Fast path with the same result: ten times as fast.
        let length = text.len().min(NAME_KEY_LENGTH);
        return vec![text[..length].to_ascii_lowercase()];
    }

    let plain_text = plain_spelling(text);
    let mut keys = keys_of_words(&plain_text, max_words);
    if !text.is_ascii() {
        if let Some(digraph_text) = digraph_spelling(text) {
            keys.extend(keys_of_words(&digraph_text, max_words));
        }
        // The previous release searches by these keys, and may run at the same time during an
        // upgrade. Remove them in the next release.
        let former_text = identity_key(text);
        if former_text != plain_text {
            keys.extend(keys_of_words(&former_text, max_words));
        }
    }

    keys.extend(punctuation_key(&plain_text));
    without_redundant_keys(&keys)
}

/// Returns the key for the punctuation at the beginning of a spelling; `None` if there is none.
fn punctuation_key(spelling: &str) -> Option<String> {
    let punctuation: String = spelling
        .chars()
        .take_while(|character| !character.is_alphanumeric())
        .filter(|character| !character.is_control())
        .take(NAME_KEY_LENGTH)
        .collect();
    if punctuation.is_empty() {
        return None;
    }
    Some(punctuation)
}

/// Returns the keys for the first `max_words` words of a spelling: for each word, the letters and
/// digits from its beginning to the end of the text.
fn keys_of_words(spelling: &str, max_words: usize) -> Vec<String> {
    let mut letters = Vec::new();
    let mut word_starts = Vec::new();
    let mut is_in_word = false;
    for character in spelling.chars() {
        let is_letter = character.is_alphanumeric();
        if is_letter {
            if !is_in_word || begins_word(character) {
                word_starts.push(letters.len());
            }
            letters.push(character);
        }
        is_in_word = is_letter;
    }

    word_starts
        .iter()
        .take(max_words)
        .map(|&start| letters[start..].iter().take(NAME_KEY_LENGTH).collect())
        .collect()
}

/// Removes keys that are a prefix of another key. Of equal keys, the first one is kept.
fn without_redundant_keys(keys: &[String]) -> Vec<String> {
    let mut needed_keys = Vec::new();
    for (position, key) in keys.iter().enumerate() {
        let is_repeated = keys[..position].contains(key);
        let begins_longer_key = keys
            .iter()
            .any(|other| other.len() > key.len() && other.starts_with(key.as_str()));
        if !is_repeated && !begins_longer_key {
            needed_keys.push(key.clone());
        }
    }
    needed_keys
}

/// Whether a name is a single word of ASCII letters and digits. Its only key is then the name in
/// lower case.
fn is_ascii_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns the first [`COMPARED_LENGTH`] characters of a text, which are all that a search
/// considers.
pub(super) fn compared_part(text: &str) -> &str {
    match text.char_indices().nth(COMPARED_LENGTH) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
