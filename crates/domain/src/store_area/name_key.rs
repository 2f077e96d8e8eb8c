//! Names as a search compares them: without regard to case, accents, and characters other than
//! letters and digits, and by the letters that people type in place of others.

use super::spelling::{begins_word, comparable, plain_spelling, wide_spelling};

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

/// Returns all letters and digits of a text as a search compares them. So a part of a telephone number is found, however
/// its digits are grouped.
///
/// ```
/// use petstore_domain::store_area::letters_and_digits;
///
/// assert_eq!(letters_and_digits("Anna Müller, 0171/555"), "annamuller0171555");
/// ```
pub fn letters_and_digits(text: &str) -> String {
    letters_of(&plain_spelling(text))
}

/// Returns the letters and digits of a text in each spelling: `muller` and `mueller` for "Müller".
pub fn spellings(text: &str) -> Vec<String> {
    let wide_text = wide_spelling(text);
    let mut spellings = vec![letters_and_digits(text)];
    spellings.extend(wide_text.as_deref().map(letters_of));
    spellings
}

fn letters_of(spelling: &str) -> String {
    spelling
        .chars()
        .filter(|character| character.is_alphanumeric())
        .collect()
}

/// Returns the whole text as a search compares it.
pub fn whole_key(text: &str) -> String {
    plain_spelling(text)
}

/// Returns the whole text without regard to case and accents, as the keys of unique values have it.
pub(super) fn identity_key(text: &str) -> String {
    comparable(text).collect()
}

/// Returns the keys by which a name is found: a search text finds the name if a key begins with the text.
///
/// The first key has the letters and digits of the whole name, without regard to case and accents. Each further word
/// has a key with the letters and digits from the beginning of the word; in a script without spaces, each letter begins a
/// word. Further spellings have keys, too. Other characters, with which the name begins, are a key. A key that is the
/// beginning of another key is left out.
///
/// ```
/// use petstore_domain::store_area::name_keys;
///
/// assert_eq!(name_keys("Lucky Luke"), ["luckyluke", "luke"]);
/// assert_eq!(name_keys("*Ömer*"), ["omer", "oemer", "*"]);
/// assert_eq!(name_keys("大黄狗"), ["大黄狗", "黄狗", "狗"]);
/// ```
pub fn name_keys(name: &str) -> Vec<String> {
    keys(name, MAX_NAME_WORDS)
}

/// Returns the keys by which a word finds a value: as [`name_keys`], without the key of other characters.
pub fn value_keys(value: &str) -> Vec<String> {
    let mut value_keys = keys(value, MAX_VALUE_WORDS);
    value_keys.retain(|key| key.starts_with(char::is_alphanumeric));
    value_keys
}

/// Returns the keys of a text: in each spelling, at most `max_words` keys for its words, and a key for the signs at its
/// beginning.
fn keys(text: &str, max_words: usize) -> Vec<String> {
    let text = compared_part(text);
    if is_ascii_word(text) {
        // The same result, ten times as fast.
        let length = text.len().min(NAME_KEY_LENGTH);
        return vec![text[..length].to_ascii_lowercase()];
    }

    let plain_text = plain_spelling(text);
    let mut keys = keys_of_words(&plain_text, max_words);
    if !text.is_ascii() {
        if let Some(wide_text) = wide_spelling(text) {
            keys.extend(keys_of_words(&wide_text, max_words));
        }
        // The previous release searches by these, and may run at the same time. Remove them in the next release.
        let former_text = identity_key(text);
        if former_text != plain_text {
            keys.extend(keys_of_words(&former_text, max_words));
        }
    }

    let leading_signs: String = plain_text
        .chars()
        .take_while(|character| !character.is_alphanumeric())
        .filter(|character| !character.is_control())
        .take(NAME_KEY_LENGTH)
        .collect();
    if !leading_signs.is_empty() {
        keys.push(leading_signs);
    }
    without_redundant_keys(&keys)
}

/// Returns the keys of the first words of a spelling.
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

/// The text of a search: the beginning of a key of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePrefix {
    plain: String,
    /// The spelling in which letters are written as two: `mueller` for "Müller".
    wide: Option<String>,
}

impl NamePrefix {
    /// Returns the letters and digits of a text, or if it has none, the text itself. `None` if that
    /// has more than [`NAME_KEY_LENGTH`] characters.
    pub fn new(text: &str) -> Option<Self> {
        let text = compared_part(text);
        let mut signs_and_letters = plain_spelling(text);
        signs_and_letters.retain(|character| !character.is_control());
        let letters = letters_of(&signs_and_letters);
        let plain = if letters.is_empty() {
            signs_and_letters
        } else {
            letters
        };
        let is_too_long = plain.chars().nth(NAME_KEY_LENGTH).is_some();
        if is_too_long {
            return None;
        }
        Some(Self {
            plain,
            wide: wide_prefix(text),
        })
    }

    /// Returns the beginning of any text, with its signs, but without what a search ignores.
    pub(super) fn from_beginning(text: &str) -> Self {
        let plain = plain_spelling(compared_part(text))
            .chars()
            .filter(|character| !character.is_control())
            .take(NAME_KEY_LENGTH)
            .collect();
        Self { plain, wide: None }
    }

    /// Returns the letters and digits of a text. `None` if it has none.
    pub(super) fn from_word(text: &str) -> Option<Self> {
        let plain: String = letters_and_digits(text)
            .chars()
            .take(NAME_KEY_LENGTH)
            .collect();
        if plain.is_empty() {
            return None;
        }
        Some(Self {
            plain,
            wide: wide_prefix(text),
        })
    }

    /// Whether a key begins with the prefix, in one of its spellings.
    pub(super) fn begins_any(&self, keys: &[String]) -> bool {
        self.spellings()
            .any(|prefix| keys.iter().any(|key| key.starts_with(prefix)))
    }

    /// Returns its text, in the form of a key.
    pub fn as_str(&self) -> &str {
        &self.plain
    }

    /// Returns its text in each spelling.
    pub fn spellings(&self) -> impl Iterator<Item = &str> {
        [Some(self.plain.as_str()), self.wide.as_deref()]
            .into_iter()
            .flatten()
    }

    /// Whether it finds every name.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// Whether it finds a name: one of the keys of the name begins with it.
    pub fn finds(&self, name: &str) -> bool {
        let name = compared_part(name);
        if self.is_empty() {
            return true;
        }
        if name.is_ascii()
            && !self
                .spellings()
                .any(|prefix| may_find(prefix.as_bytes(), name.as_bytes()))
        {
            return false;
        }
        self.begins_any(&name_keys(name))
    }
}

/// Returns the letters and digits of the wide spelling of a text, if it has one.
fn wide_prefix(text: &str) -> Option<String> {
    let wide_text = wide_spelling(text)?;
    let letters = wide_text
        .chars()
        .filter(|character| character.is_alphanumeric());
    Some(letters.take(NAME_KEY_LENGTH).collect())
}

/// Whether a prefix can find an ASCII name: it begins with a sign, or the letters and digits from the beginning
/// of some word begin with the prefix. Makes no copy, because a search asks this for each name.
fn may_find(prefix: &[u8], name: &[u8]) -> bool {
    let begins_with_sign = prefix
        .first()
        .is_some_and(|byte| !byte.is_ascii_alphanumeric());
    begins_with_sign || (0..name.len()).any(|start| is_word_at(prefix, name, start))
}

/// Whether a word begins at `start`, and the letters and digits from there begin with the prefix.
fn is_word_at(prefix: &[u8], name: &[u8], start: usize) -> bool {
    // The cheapest comparison comes first.
    let has_first_letter = prefix
        .first()
        .is_some_and(|letter| name[start].eq_ignore_ascii_case(letter));
    if !has_first_letter {
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
