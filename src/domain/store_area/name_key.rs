//! Names as a search compares them: without regard to case and accents.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// How many characters a name key has at most. Names that differ only behind them count as equal
/// in the order of a list.
pub const NAME_KEY_LENGTH: usize = 64;

/// A search ignores what follows so many characters of a name. Otherwise, long names of combining
/// marks would make it slow.
pub const COMPARED_LENGTH: usize = 256;

/// The key by which a name is searched: the first [`NAME_KEY_LENGTH`] characters of its beginning
/// after compatibility decomposition (Unicode Standard Annex 15), without combining marks, in lower
/// case. Of an ASCII name, this is the beginning in lower case.
pub fn name_key(name: &str) -> String {
    let name = compared(name);
    if name.is_ascii() {
        // The same result, ten times as fast.
        return name[..name.len().min(NAME_KEY_LENGTH)].to_ascii_lowercase();
    }
    comparable(name).take(NAME_KEY_LENGTH).collect()
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

/// The beginning of a name, as a search compares it. The default is that of every name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamePrefix(String);

impl NamePrefix {
    /// `None` if its key would be longer than [`NAME_KEY_LENGTH`] characters.
    pub fn new(text: &str) -> Option<Self> {
        let key: String = comparable(compared(text)).take(NAME_KEY_LENGTH + 1).collect();
        key.chars().nth(NAME_KEY_LENGTH).is_none().then_some(Self(key))
    }

    /// The lowest key that begins with it.
    pub fn as_str(&self) -> &str {
        &self.0
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

    /// Whether a name begins with it.
    pub fn matches(&self, name: &str) -> bool {
        let name = compared(name);
        if name.is_ascii() {
            // The same result, without a copy.
            let beginning = name.get(..self.0.len());
            return beginning.is_some_and(|text| text.eq_ignore_ascii_case(&self.0));
        }
        name_key(name).starts_with(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn case_and_accents_do_not_count() {
        for (name, prefix) in [
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
            assert!(NamePrefix::new(prefix).unwrap().matches(name), "{prefix} {name}");
        }
        assert!(!NamePrefix::new("rexx").unwrap().matches("Rex"));
        assert!(!NamePrefix::new("ex").unwrap().matches("Rex"));
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
            ("ﬁdo Ⅳ", "fido iv"),
            ("ねこ", "ねこ"),
            ("が", "か"),
            ("고양이", "고양이"),
            ("🐈 Rex", "🐈 rex"),
        ] {
            assert_eq!(name_key(name), key.nfkd().collect::<String>(), "{name}");
        }
        let mut hash = Sha256::new();
        // Letters with case, accents or decompositions are in these planes.
        for character in '\0'..='\u{2FFFF}' {
            hash.update(name_key(&character.to_string()));
            hash.update([0xFF]);
        }
        let digest = crate::text::hex_digits(&hash.finalize());
        assert_eq!(
            digest, "e4dc2fa43b977a596efa331fba47817ffff666f4e8bc29f3e2af0799e9aa4551",
            "of the keys of all characters"
        );
    }

    #[test]
    fn a_prefix_has_64_characters_at_most() {
        assert!(NamePrefix::new(&"é".repeat(64)).is_some());
        assert_eq!(NamePrefix::new(&"é".repeat(65)), None);
        assert_eq!(NamePrefix::new(&"\u{FDFA}".repeat(4)), None);
    }

    #[test]
    fn a_key_is_made_of_the_first_256_characters() {
        let name = |marks| format!("a{}b", "\u{301}".repeat(marks));
        assert_eq!(name_key(&name(254)), "ab");
        assert_eq!(name_key(&name(255)), "a");
        assert!(NamePrefix::new(&name(30_000)).unwrap().matches(&name(30_000)));
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
        fn an_ascii_name_has_the_key_that_any_name_would_have(name in "[ -~]{0,80}") {
            prop_assert_eq!(name_key(&name), comparable(&name).take(64).collect::<String>());
        }

        #[test]
        fn a_name_is_found_by_its_beginnings_and_a_key_is_its_own_key(name in "\\PC{1,20}", length in 0..20_usize) {
            let beginning: String = name.chars().take(length).collect();
            if let Some(prefix) = NamePrefix::new(&beginning) {
                prop_assert!(prefix.matches(&name));
                let key = name_key(&name);
                prop_assert!(prefix.as_str() <= key.as_str());
                prop_assert!(prefix.end().is_none_or(|end| key < end));
            }
            prop_assert_eq!(name_key(&name_key(&name)), name_key(&name));
        }
    }
}
