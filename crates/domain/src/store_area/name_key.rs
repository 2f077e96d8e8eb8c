//! The keys by which a search matches names and values: without regard to case, accents and
//! punctuation, and with common transliterations, such as `mueller` for "Müller".

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
    let digraph_text = digraph_spelling(text);
    let mut spellings = vec![letters_and_digits(text)];
    spellings.extend(digraph_text.as_deref().map(keep_letters_and_digits));
    spellings
}

/// Removes everything but letters and digits from a spelling.
fn keep_letters_and_digits(spelling: &str) -> String {
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
    let mut value_keys = keys_of_text(value, MAX_VALUE_WORDS);
    value_keys.retain(|key| key.starts_with(char::is_alphanumeric));
    value_keys
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
fn compared_part(text: &str) -> &str {
    match text.char_indices().nth(COMPARED_LENGTH) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// A search text, normalized to a prefix of [keys](name_keys).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePrefix {
    plain: String,
    /// The digraph spelling, with two letters in place of one: `mueller` for "Müller".
    digraph: Option<String>,
}

impl NamePrefix {
    /// Creates a prefix from the letters and digits of a text or, if it has none, from its
    /// punctuation. `None` if the result is longer than [`NAME_KEY_LENGTH`] characters.
    pub fn new(text: &str) -> Option<Self> {
        let text = compared_part(text);
        let mut normalized_text = plain_spelling(text);
        normalized_text.retain(|character| !character.is_control());
        let letters = keep_letters_and_digits(&normalized_text);
        let plain = if letters.is_empty() {
            normalized_text
        } else {
            letters
        };
        let is_too_long = plain.chars().nth(NAME_KEY_LENGTH).is_some();
        if is_too_long {
            return None;
        }
        Some(Self {
            plain,
            digraph: digraph_prefix(text),
        })
    }

    /// Creates a prefix from the beginning of a text, including its punctuation.
    pub(super) fn from_beginning(text: &str) -> Self {
        let plain = plain_spelling(compared_part(text))
            .chars()
            .filter(|character| !character.is_control())
            .take(NAME_KEY_LENGTH)
            .collect();
        Self {
            plain,
            digraph: None,
        }
    }

    /// Creates a prefix from the letters and digits of a text; `None` if it has none.
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
            digraph: digraph_prefix(text),
        })
    }

    /// Whether one of the keys begins with the prefix, in any of its spellings.
    pub(super) fn is_prefix_of_any(&self, keys: &[String]) -> bool {
        self.spellings()
            .any(|prefix| keys.iter().any(|key| key.starts_with(prefix)))
    }

    /// Returns the prefix in the form of a key.
    pub fn as_str(&self) -> &str {
        &self.plain
    }

    /// Returns the prefix in each of its spellings.
    pub fn spellings(&self) -> impl Iterator<Item = &str> {
        [Some(self.plain.as_str()), self.digraph.as_deref()]
            .into_iter()
            .flatten()
    }

    /// Whether the prefix is empty, so that it matches every name.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// Whether the prefix matches a name, because one of the [keys](name_keys) of the name begins
    /// with it.
    pub fn finds(&self, name: &str) -> bool {
        let name = compared_part(name);
        if self.is_empty() {
            return true;
        }
        let might_match = !name.is_ascii()
            || self
                .spellings()
                .any(|prefix| might_match_ascii(prefix.as_bytes(), name.as_bytes()));
        might_match && self.is_prefix_of_any(&name_keys(name))
    }
}

/// Returns the letters and digits of a text in its digraph spelling, such as `mueller` for "Müller".
/// `None` if the text has no such spelling.
fn digraph_prefix(text: &str) -> Option<String> {
    let digraph_text = digraph_spelling(text)?;
    let letters = digraph_text
        .chars()
        .filter(|character| character.is_alphanumeric());
    Some(letters.take(NAME_KEY_LENGTH).collect())
}

/// Whether a prefix might match an ASCII name.
///
/// This check allocates nothing, and lets a search skip most names before it computes their keys. A
/// prefix that begins with anything but an ASCII letter or digit always passes, because it may
/// match the key for leading punctuation.
fn might_match_ascii(prefix: &[u8], name: &[u8]) -> bool {
    let begins_with_other_character = prefix
        .first()
        .is_some_and(|byte| !byte.is_ascii_alphanumeric());
    begins_with_other_character || (0..name.len()).any(|start| word_matches_at(prefix, name, start))
}

/// Whether a word begins at `start`, and the letters and digits from there on begin with the
/// prefix.
fn word_matches_at(prefix: &[u8], name: &[u8], start: usize) -> bool {
    // The comparison of one byte comes first, because it rules out most positions.
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
