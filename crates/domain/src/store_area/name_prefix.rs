//! The text for which a search looks: the beginning of one of the [keys](name_keys) of a name or
//! value.

use super::{
    NAME_KEY_LENGTH, letters_and_digits,
    name_key::{compared_part, keep_letters_and_digits},
    name_keys,
    spelling::{digraph_spelling, plain_spelling},
};

/// A search text, normalized to a prefix of [keys](name_keys).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePrefix {
    plain: String,
    /// The digraph spelling, with two letters in place of one: `mueller` for "Müller".
    digraph: Option<String>,
}

impl NamePrefix {
    /// Creates a prefix from a text; `None` if it is longer than [`NAME_KEY_LENGTH`] characters.
    ///
    /// The prefix has the letters and digits of the text or, if there are none, its punctuation.
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

/// Returns the letters and digits of a text in its digraph spelling; `None` if the text has no such
/// spelling.
fn digraph_prefix(text: &str) -> Option<String> {
    let letters = keep_letters_and_digits(&digraph_spelling(text)?);
    Some(letters.chars().take(NAME_KEY_LENGTH).collect())
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
