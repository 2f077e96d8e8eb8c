//! Names as a search compares them: without regard to case, accents, and characters other than
//! letters and digits.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The maximum length of a key, in characters. A search ignores what follows them.
pub const NAME_KEY_LENGTH: usize = 64;

/// The number of characters at the beginning of a name that a search compares. Without this limit, long names of
/// combining marks would make a search slow.
const COMPARED_LENGTH: usize = 256;

/// The number of words of a name that have a key.
pub const MAX_NAME_WORDS: usize = 14;

/// The number of words of a value that have a key. More would make long texts of short words slow.
pub const MAX_VALUE_WORDS: usize = 64;

/// Returns a text without regard to case and accents: the first [`NAME_KEY_LENGTH`] characters of
/// its beginning after compatibility decomposition (Unicode Standard Annex 15), without combining
/// marks, in lower case.
///
/// ```
/// use petstore_domain::store_area::search_key;
///
/// assert_eq!(search_key("René STRASSE, Straße"), "rene strasse, strasse");
/// ```
pub fn search_key(text: &str) -> String {
    comparable(compared_part(text))
        .take(NAME_KEY_LENGTH)
        .collect()
}

/// Returns all letters and digits of a text, without regard to case and accents. So a part of a
/// telephone number is found, however its digits are grouped.
///
/// ```
/// use petstore_domain::store_area::letters_and_digits;
///
/// assert_eq!(letters_and_digits("Anna Müller, 0171/555"), "annamuller0171555");
/// ```
pub fn letters_and_digits(text: &str) -> String {
    comparable(text)
        .filter(|character| character.is_alphanumeric())
        .collect()
}

/// Returns the whole text without regard to case and accents.
pub fn whole_key(text: &str) -> String {
    comparable(text).collect()
}

/// Returns the keys by which a name is found: a search text finds the name if a key begins with the text.
///
/// The first key has the letters and digits of the whole name, without regard to case and accents. Each further word
/// has a key with the letters and digits from the beginning of the word. Other characters, with which the name begins,
/// are a key too. A key that is the beginning of another key is left out.
///
/// ```
/// use petstore_domain::store_area::name_keys;
///
/// assert_eq!(name_keys("Lucky Luke"), ["luckyluke", "luke"]);
/// assert_eq!(name_keys("*Ömer*"), ["omer", "*"]);
/// ```
pub fn name_keys(name: &str) -> Vec<String> {
    keys(name, MAX_NAME_WORDS)
}

/// Returns the keys by which a word finds a value: as [`name_keys`], without the key of other characters.
pub fn value_keys(value: &str) -> Vec<String> {
    let mut keys = keys(value, MAX_VALUE_WORDS);
    keys.retain(|key| key.starts_with(char::is_alphanumeric));
    keys
}

/// Returns the keys of a text: at most `max_words` keys for its words, and a key for the signs at its beginning.
fn keys(text: &str, max_words: usize) -> Vec<String> {
    let text = compared_part(text);
    if is_ascii_word(text) {
        // The same result, ten times as fast.
        let length = text.len().min(NAME_KEY_LENGTH);
        return vec![text[..length].to_ascii_lowercase()];
    }

    let mut letters = Vec::new();
    let mut word_starts = Vec::new();
    let mut leading_signs = String::new();
    let mut is_in_word = false;
    for character in comparable(text) {
        if character.is_alphanumeric() {
            if !is_in_word {
                word_starts.push(letters.len());
            }
            letters.push(character);
        } else if letters.is_empty() && !character.is_control() {
            leading_signs.push(character);
        }
        is_in_word = character.is_alphanumeric();
    }

    let mut keys = Vec::new();
    for &start in word_starts.iter().take(max_words) {
        keys.push(letters[start..].iter().take(NAME_KEY_LENGTH).collect());
    }
    if !leading_signs.is_empty() {
        keys.push(leading_signs.chars().take(NAME_KEY_LENGTH).collect());
    }
    without_redundant_keys(&keys)
}

/// Returns the keys that are not the beginning of another key. Of equal keys, the first one stays.
fn without_redundant_keys(keys: &[String]) -> Vec<String> {
    let mut needed_keys = Vec::new();
    for (position, key) in keys.iter().enumerate() {
        let is_redundant = keys.iter().enumerate().any(|(other_position, other_key)| {
            other_position != position
                && other_key.starts_with(key.as_str())
                && (other_key != key || other_position < position)
        });
        if !is_redundant {
            needed_keys.push(key.clone());
        }
    }
    needed_keys
}

/// Whether a name is one word of ASCII letters and digits: its only key is the name in lower case.
fn is_ascii_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns the beginning of a text that a search compares.
fn compared_part(text: &str) -> &str {
    match text.char_indices().nth(COMPARED_LENGTH) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Returns the characters of a text without accents and in lower case.
///
/// The text passes through upper case, so that `ß` equals `ss` and both forms of sigma are one. That can decompose
/// a character further, so the marks are removed once more.
fn comparable(text: &str) -> impl Iterator<Item = char> {
    text.nfkd()
        .filter(|&character| !is_combining_mark(character))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfkd()
        .filter(|&character| !is_combining_mark(character))
}

/// The text of a search: the beginning of a key of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePrefix(String);

impl NamePrefix {
    /// Returns the letters and digits of a text, or if it has none, the text itself. `None` if that
    /// has more than [`NAME_KEY_LENGTH`] characters.
    pub fn new(text: &str) -> Option<Self> {
        let signs_and_letters: String = comparable(compared_part(text))
            .filter(|character| !character.is_control())
            .collect();
        let letters: String = signs_and_letters
            .chars()
            .filter(|character| character.is_alphanumeric())
            .collect();
        let key = if letters.is_empty() {
            signs_and_letters
        } else {
            letters
        };
        let is_too_long = key.chars().nth(NAME_KEY_LENGTH).is_some();
        if is_too_long { None } else { Some(Self(key)) }
    }

    /// Returns the beginning of any text, with its signs, but without what a search ignores.
    pub(super) fn from_beginning(text: &str) -> Self {
        let key = comparable(compared_part(text))
            .filter(|character| !character.is_control())
            .take(NAME_KEY_LENGTH)
            .collect();
        Self(key)
    }

    /// Returns the letters and digits of a text. `None` if it has none.
    pub(super) fn from_word(text: &str) -> Option<Self> {
        let letters: String = comparable(text)
            .filter(|character| character.is_alphanumeric())
            .take(NAME_KEY_LENGTH)
            .collect();
        (!letters.is_empty()).then_some(Self(letters))
    }

    /// Whether a key begins with the prefix.
    pub(super) fn begins_any(&self, keys: &[String]) -> bool {
        keys.iter().any(|key| key.starts_with(&self.0))
    }

    /// Returns its text, in the form of a key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it finds every name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it finds a name: one of the keys of the name begins with it.
    pub fn finds(&self, name: &str) -> bool {
        let name = compared_part(name);
        if self.is_empty() {
            return true;
        }
        if name.is_ascii() && !self.may_find(name.as_bytes()) {
            return false;
        }
        self.begins_any(&name_keys(name))
    }

    /// Whether it can find an ASCII name: the prefix begins with a sign, or the letters and digits from the beginning
    /// of some word begin with the prefix. Makes no copy, because a search asks this for each name.
    fn may_find(&self, name: &[u8]) -> bool {
        let begins_with_sign = !self.0.as_bytes()[0].is_ascii_alphanumeric();
        begins_with_sign || (0..name.len()).any(|start| self.finds_word_at(name, start))
    }

    /// Whether a word begins at `start`, and the letters and digits from there begin with the prefix.
    fn finds_word_at(&self, name: &[u8], start: usize) -> bool {
        let prefix = self.0.as_bytes();
        // The cheapest comparison comes first.
        if !name[start].eq_ignore_ascii_case(&prefix[0]) {
            return false;
        }
        let is_word_start = start == 0 || !name[start - 1].is_ascii_alphanumeric();
        if !is_word_start {
            return false;
        }
        let letters = name[start..]
            .iter()
            .filter(|byte| byte.is_ascii_alphanumeric());
        letters
            .take(prefix.len())
            .map(u8::to_ascii_lowercase)
            .eq(prefix.iter().copied())
    }
}
