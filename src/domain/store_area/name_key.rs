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

/// The keys by which a name is found: a text finds the name if one of them begins with the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameKeys {
    /// The letters and digits of the name, as [`normalized`]. Of a name without any, what it begins with.
    pub first: String,
    /// The letters and digits from the beginning of each further word, and the other characters
    /// with which the name begins; each with the length that it has in common with a key that
    /// is used instead of it: the first one, or a lower one.
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

/// What a search looks for: the beginning of a key of a name. The default finds every name, by its
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    use super::*;

    fn finds(text: &str, name: &str) -> bool {
        NamePrefix::new(text).unwrap().find(name).is_some()
    }

    #[test]
    fn case_and_accents_do_not_count() {
        for (name, text) in [
            ("Zoë", "zoe"),
            ("ZOE", "zoë"),
            ("Françoise", "FRANC"),
            ("Straße", "strass"),
            ("STRASSE", "straß"),
            ("ΟΔΟΣ", "οδος"),
            ("İzmir", "i"),
            ("\u{FB01}do", "Fid"),
            ("Dvořák", "dvorak"),
            ("Rex", ""),
        ] {
            assert!(finds(text, name), "{text} {name}");
        }
        assert!(!finds("rexx", "Rex"));
        assert!(!finds("ex", "Rex"));
    }

    #[test]
    fn a_name_is_found_by_the_beginning_of_any_word() {
        for (name, texts) in [
            ("Old Seth II", &["seth", "old s", "Seth II", "ii", "old-seth ii", "OLDSETH"][..]),
            ("*Seth", &["seth", "*seth", "*", "seth*"]),
            ("O'Brien", &["obr", "o'brien", "o brien", "brien"]),
            ("Anna-Lena", &["lena", "anna lena", "annalena"]),
            ("¡Olé, José!", &["ole", "jose", "¡", "ole jose"]),
            ("***", &["**", "***"]),
            ("🐈 Rex", &["🐈", "rex", "🐈 rex"]),
            ("Seth\u{7}", &["seth"]),
        ] {
            for text in texts {
                assert!(finds(text, name), "{text} {name}");
            }
        }
        for (name, texts) in [
            ("Old Seth II", &["eth", "ol seth", "seth old", "old ii", "*", "iii"][..]),
            ("*Seth", &["**", "* s*x", "-"]),
            ("Seth *", &["*"]),
            ("***", &["****", "a"]),
        ] {
            for text in texts {
                assert!(!finds(text, name), "{text} {name}");
            }
        }
    }

    #[test]
    fn a_name_is_found_by_its_first_key_or_the_lowest() {
        let find = |text, name| NamePrefix::new(text).unwrap().find(name);
        assert_eq!(find("be", "Bella Bell").as_deref(), Some("bellabell"));
        assert_eq!(find("t", "The Two Toms").as_deref(), Some("thetwotoms"));
        assert_eq!(find("to", "The Two Toms").as_deref(), Some("toms"));
        assert_eq!(find("", "*Rex").as_deref(), Some("rex"));
        assert_eq!(find("", "*").as_deref(), Some("*"));
    }

    #[test]
    fn a_name_has_at_most_fifteen_keys() {
        let letters = "abcdefghijklmnopqrstuvwxyz".chars().map(|letter| format!("{letter}1 "));
        let keys = NameKeys::of(&format!("*{}", letters.collect::<String>()));
        assert_eq!(keys.more.len(), MORE_KEYS);
        assert_eq!(keys.more[0], ("*".to_owned(), 0));
    }

    /// Databases hold keys. A failure means that a library or the compiler has another version of
    /// Unicode: a migration must then make the changed keys again.
    #[test]
    fn the_keys_of_names_are_those_in_databases() {
        for (name, key) in [
            ("Zoë", "zoe"),
            ("Ångström", "angstrom"),
            ("Łódź", "łodz"),
            ("Straße", "strasse"),
            ("ΟΔΟΣ", "οδοσ"),
            ("İstanbul", "istanbul"),
            ("Ёж", "еж"),
            ("ﬁdo Ⅳ", "fidoiv"),
            ("ねこ", "ねこ"),
            ("が", "か"),
            ("고양이", "고양이"),
            ("🐈 Rex", "rex"),
        ] {
            assert_eq!(NameKeys::of(name).first, key.nfkd().collect::<String>(), "{name}");
        }
        let mut hash = Sha256::new();
        // Letters with case, accents or decompositions are in these planes.
        for character in '\0'..='\u{2FFFF}' {
            hash.update(NameKeys::of(&character.to_string()).first);
            hash.update([0xFF]);
        }
        let digest = crate::text::hex_digits(&hash.finalize());
        assert_eq!(
            digest, "167f4f64f48d68558a3a3ed5cceec2d8e2c5883dc999d16bfa96c0c0a45bc890",
            "of the keys of all characters"
        );
    }

    #[test]
    fn a_prefix_has_64_characters_at_most() {
        assert!(NamePrefix::new(&"é".repeat(64)).is_some());
        assert_eq!(NamePrefix::new(&"é".repeat(65)), None);
        assert_eq!(NamePrefix::new(&"\u{FDFA}".repeat(5)), None);
    }

    #[test]
    fn a_key_is_made_of_the_first_256_characters() {
        let name = |marks| format!("a{}b", "\u{301}".repeat(marks));
        assert_eq!(NameKeys::of(&name(254)).first, "ab");
        assert_eq!(NameKeys::of(&name(255)).first, "a");
        assert!(finds(&name(30_000), &name(30_000)));
    }

    #[test]
    fn the_end_of_a_prefix_steps_over_what_is_no_character() {
        let end = |prefix: &str| NamePrefix(prefix.to_owned()).end();
        assert_eq!(end("az").as_deref(), Some("a{"));
        assert_eq!(end("\u{D7FF}").as_deref(), Some("\u{E000}"));
        assert_eq!(end("a\u{10FFFF}").as_deref(), Some("b"));
        assert_eq!(end("\u{10FFFF}"), None);
        assert_eq!(end(""), None);
    }

    proptest! {
        #[test]
        fn a_text_finds_a_name_by_the_first_key_or_one_with_less_in_common(
            name in "[a-c *]{0,12}|\\PC{0,20}",
            text in "[a-c]{1,4}|[a-c *]{0,4}|\\PC{0,4}",
        ) {
            let (prefix, keys) = (NamePrefix::new(&text).unwrap(), NameKeys::of(&name));
            let by_more: Vec<_> = keys.more.iter().filter(|(key, shared)| {
                key.starts_with(prefix.as_str()) && usize::from(*shared) < prefix.length()
            }).collect();
            let expected = if keys.first.starts_with(prefix.as_str()) {
                prop_assert!(by_more.is_empty());
                Some(&keys.first)
            } else {
                prop_assert!(by_more.len() <= 1);
                by_more.first().map(|(key, _)| key)
            };
            let found = prefix.find(&name);
            prop_assert_eq!(found.as_ref(), expected);
            if let Some(key) = expected {
                prop_assert!(prefix.as_str() <= key.as_str());
                prop_assert!(prefix.end().is_none_or(|end| *key < end));
            }
        }

        #[test]
        fn a_name_is_found_by_its_beginnings(name in "\\PC{1,20}", length in 0..20_usize) {
            let beginning: String = name.chars().take(length).collect();
            if let Some(prefix) = NamePrefix::new(&beginning) {
                prop_assert!(prefix.find(&name).is_some());
            }
        }

        #[test]
        fn a_word_has_the_key_that_any_name_would_have(name in "[0-9A-Za-z]{1,80}") {
            prop_assert_eq!(NameKeys::of(&name).first, normalized(&name));
            prop_assert_eq!(NameKeys::of(&name).first, NameKeys::of(&format!("{name}!")).first);
        }
    }
}
