//! Names as a search compares them: without regard to case, accents, and characters other than
//! letters and digits.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// How many characters a key has at most. A search ignores what follows them.
pub const NAME_KEY_LENGTH: usize = 64;

/// A search ignores what follows so many characters of a name. Otherwise, long names of combining
/// marks would make it slow.
const COMPARED_LENGTH: usize = 256;

/// How many words of a name have a key.
pub const MAX_NAME_WORDS: usize = 14;

/// How many words of a value have a key. More would make long texts of short words slow.
pub const MAX_VALUE_WORDS: usize = 64;

/// Returns a text without regard to case and accents: the first [`NAME_KEY_LENGTH`] characters of
/// its beginning after compatibility decomposition (Unicode Standard Annex 15), without combining
/// marks, in lower case.
pub fn search_key(text: &str) -> String {
    comparable(compared(text)).take(NAME_KEY_LENGTH).collect()
}

/// Returns the letters and digits of a text, as [`search_key`] but all of them. So a part of a
/// telephone number is found, however it is grouped.
pub fn letters_and_digits(text: &str) -> String {
    comparable(text)
        .filter(|character| character.is_alphanumeric())
        .collect()
}

/// Returns the whole text without regard to case and accents.
pub fn whole_key(text: &str) -> String {
    comparable(text).collect()
}

/// Returns the keys by which a name is found: a text finds the name if one of them begins with the
/// text. They are the letters and digits of the name, as [`search_key`], and those from the
/// beginning of each further word, and the other characters with which the name begins. The whole
/// name is first. None is the beginning of another one.
pub fn name_keys(name: &str) -> Vec<String> {
    keys(name, MAX_NAME_WORDS)
}

/// Returns the keys by which a word finds a value: as those of a name, without other characters.
pub fn value_keys(value: &str) -> Vec<String> {
    let mut keys = keys(value, MAX_VALUE_WORDS);
    keys.retain(|key| key.starts_with(char::is_alphanumeric));
    keys
}

fn keys(name: &str, most_words: usize) -> Vec<String> {
    let name = compared(name);
    if is_word(name) {
        // The same result, ten times as fast.
        return vec![name[..name.len().min(NAME_KEY_LENGTH)].to_ascii_lowercase()];
    }
    let mut letters = Vec::new();
    let mut words = Vec::new();
    let mut others = String::new();
    let mut in_word = false;
    for character in comparable(name) {
        if character.is_alphanumeric() {
            if !in_word {
                words.push(letters.len());
            }
            letters.push(character);
        } else if letters.is_empty() {
            others.extend(Some(character).filter(|character| !character.is_control()));
        }
        in_word = character.is_alphanumeric();
    }
    let key = |characters: &[char]| characters.iter().take(NAME_KEY_LENGTH).collect::<String>();
    let words = words
        .iter()
        .take(most_words)
        .map(|&word| key(&letters[word..]));
    let others = others.chars().take(NAME_KEY_LENGTH).collect();
    let found: Vec<String> = words
        .chain([others])
        .filter(|key| !key.is_empty())
        .collect();
    let is_needed = |(at, key): &(usize, &String)| {
        let mut others = found.iter().enumerate().filter(|(other, _)| other != at);
        !others.any(|(other, of)| of.starts_with(key.as_str()) && (of != *key || other < *at))
    };
    found
        .iter()
        .enumerate()
        .filter(is_needed)
        .map(|(_, key)| key.clone())
        .collect()
}

/// Whether a name is one word of ASCII letters and digits: its only key is the name in lower case.
fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns the beginning of a text that a search compares.
fn compared(text: &str) -> &str {
    let end = text.char_indices().nth(COMPARED_LENGTH).map(|(end, _)| end);
    end.map_or(text, |end| &text[..end])
}

/// Through upper case, so that `ß` equals `ss` and both forms of sigma are one. That can decompose
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
        let all = comparable(compared(text)).filter(|character| !character.is_control());
        let all: String = all.collect();
        let letters: String = all
            .chars()
            .filter(|character| character.is_alphanumeric())
            .collect();
        let key = if letters.is_empty() { all } else { letters };
        key.chars()
            .nth(NAME_KEY_LENGTH)
            .is_none()
            .then_some(Self(key))
    }

    /// Returns the same of any text, without what a search ignores.
    pub(super) fn from_beginning(text: &str) -> Self {
        let all = comparable(compared(text)).filter(|character| !character.is_control());
        Self(all.take(NAME_KEY_LENGTH).collect())
    }

    /// Returns the letters and digits of a text. `None` if it has none.
    pub(super) fn from_word(text: &str) -> Option<Self> {
        let letters = comparable(text).filter(|character| character.is_alphanumeric());
        let letters: String = letters.take(NAME_KEY_LENGTH).collect();
        (!letters.is_empty()).then_some(Self(letters))
    }

    /// Whether one of these keys begins with it.
    pub(super) fn begins_one(&self, keys: &[String]) -> bool {
        keys.iter().any(|key| key.starts_with(&self.0))
    }

    /// As keys have it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it finds every name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it finds a name: one of the keys of the name begins with it.
    pub fn finds(&self, name: &str) -> bool {
        let name = compared(name);
        if self.is_empty() {
            return true;
        }
        (!name.is_ascii() || self.may_find(name.as_bytes())) && self.begins_one(&name_keys(name))
    }

    /// Whether the letters and digits from the beginning of some word begin with it, or it has none.
    /// Makes no copy.
    fn may_find(&self, name: &[u8]) -> bool {
        let wanted = self.0.as_bytes();
        let is_found_at = |start: usize| {
            let letters = name[start..]
                .iter()
                .filter(|byte| byte.is_ascii_alphanumeric());
            name[start].eq_ignore_ascii_case(&wanted[0])
                && (start == 0 || !name[start - 1].is_ascii_alphanumeric())
                && letters
                    .take(wanted.len())
                    .map(u8::to_ascii_lowercase)
                    .eq(wanted.iter().copied())
        };
        !wanted[0].is_ascii_alphanumeric() || (0..name.len()).any(is_found_at)
    }
}
