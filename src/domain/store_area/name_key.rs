//! Names as a search compares them: without regard to case, accents, and characters other than
//! letters and digits.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// How many characters a key has at most. A search ignores what follows them.
pub const NAME_KEY_LENGTH: usize = 64;

/// A search ignores what follows so many characters of a name. Otherwise, long names of combining
/// marks would make it slow.
pub const COMPARED_LENGTH: usize = 256;

/// How many keys a name has at most, besides its first one.
pub const MORE_KEYS: usize = 14;

/// A text without regard to case and accents: the first [`NAME_KEY_LENGTH`] characters of its
/// beginning after compatibility decomposition (Unicode Standard Annex 15), without combining marks,
/// in lower case.
pub fn normalized(text: &str) -> String {
    comparable(compared(text)).take(NAME_KEY_LENGTH).collect()
}

/// The letters and digits of a text, as [`normalized`] but all of them. So a part of a telephone number
/// is found, however it is grouped.
pub fn letters(text: &str) -> String {
    comparable(text).filter(|character| character.is_alphanumeric()).collect()
}

/// The whole text without regard to case and accents.
pub fn whole_key(text: &str) -> String {
    comparable(text).collect()
}

/// The keys by which a name is found: a text finds the name if one of them begins with the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameKeys {
    /// The letters and digits of the name, as [`normalized`]. Of a name without any, what it begins with.
    pub first: String,
    /// The letters and digits from the beginning of each further word, and the other characters
    /// with which the name begins; each with the length of its common beginning with the key
    /// that a search finds instead: the first key, or a lower one.
    pub more: Vec<(String, u8)>,
}

impl NameKeys {
    /// The keys of a name.
    pub fn of(name: &str) -> Self {
        let name = compared(name);
        if is_word(name) {
            // The same result, ten times as fast.
            let first = name[..name.len().min(NAME_KEY_LENGTH)].to_ascii_lowercase();
            return Self { first, more: Vec::new() };
        }
        let (mut letters, mut words, mut others) = (Vec::new(), Vec::new(), String::new());
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
        let others: String = others.chars().take(NAME_KEY_LENGTH).collect();
        if letters.is_empty() {
            return Self { first: others, more: Vec::new() };
        }
        let first = key(&letters);
        let words = words.iter().skip(1).take(MORE_KEYS - 1).map(|&word| key(&letters[word..]));
        let mut found: Vec<String> = words.chain((!others.is_empty()).then_some(others)).collect();
        found.sort_unstable();
        let mut more: Vec<(String, u8)> = Vec::with_capacity(found.len());
        for key in found {
            let instead = more.iter().map(|(lower, _)| lower).chain([&first]);
            let shared = instead.map(|other| shared_length(other, &key)).max().unwrap_or_default();
            // Otherwise, the other key is always used instead of it.
            if shared < key.chars().count() {
                more.push((key, u8::try_from(shared).unwrap_or(u8::MAX)));
            }
        }
        Self { first, more }
    }
}

/// Whether a name is one word of ASCII letters and digits: its only key is the name in lower case.
pub fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn shared_length(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
}

/// The beginning of a text that a search compares.
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

/// The text of a search: the beginning of a key of a name. The default finds every name, by its
/// first key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamePrefix(String);

impl NamePrefix {
    /// The letters and digits of a text, or if it has none, the text itself. `None` if that has more
    /// than [`NAME_KEY_LENGTH`] characters.
    pub fn new(text: &str) -> Option<Self> {
        let all = comparable(compared(text)).filter(|character| !character.is_control());
        let all: String = all.collect();
        let letters: String = all.chars().filter(|character| character.is_alphanumeric()).collect();
        let key = if letters.is_empty() { all } else { letters };
        key.chars().nth(NAME_KEY_LENGTH).is_none().then_some(Self(key))
    }

    /// The lowest key that begins with it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it finds every name, by its first key only.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its length in characters. It finds a name by one of [`NameKeys::more`] if that begins with
    /// it, and has less than this in common with another one.
    pub fn length(&self) -> usize {
        self.0.chars().count()
    }

    /// The lowest text that is above all keys that begin with it, in the order of code points;
    /// `None` if there is none.
    pub fn end(&self) -> Option<String> {
        let mut end: Vec<char> = self.0.chars().collect();
        while let Some(last) = end.pop() {
            // A range of characters steps over the surrogates.
            if let Some(next) = (last..=char::MAX).nth(1) {
                end.push(next);
                return Some(end.into_iter().collect());
            }
        }
        None
    }

    /// The key by which it finds a name: the first one if that begins with it, otherwise the lowest
    /// that does.
    pub fn find(&self, name: &str) -> Option<String> {
        let name = compared(name);
        if name.is_ascii() && !self.is_empty() && !self.may_find(name.as_bytes()) {
            return None;
        }
        let NameKeys { first, more } = NameKeys::of(name);
        let mut keys = [first].into_iter().chain(more.into_iter().map(|(key, _)| key));
        keys.find(|key| key.starts_with(&self.0))
    }

    /// Whether the letters and digits from the beginning of some word begin with it, or it has none.
    /// Makes no copy.
    fn may_find(&self, name: &[u8]) -> bool {
        let wanted = self.0.as_bytes();
        let is_found_at = |start: usize| {
            let letters = name[start..].iter().filter(|byte| byte.is_ascii_alphanumeric());
            name[start].eq_ignore_ascii_case(&wanted[0])
                && (start == 0 || !name[start - 1].is_ascii_alphanumeric())
                && letters.take(wanted.len()).map(u8::to_ascii_lowercase).eq(wanted.iter().copied())
        };
        !wanted[0].is_ascii_alphanumeric() || (0..name.len()).any(is_found_at)
    }
}
