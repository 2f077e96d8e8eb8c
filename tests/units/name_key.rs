//! The keys by which names are found.

use petstore::domain::store_area::{MORE_KEYS, NameKeys, NamePrefix, normalized};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

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
    let digest = data_encoding::HEXLOWER.encode(&hash.finalize());
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
    let end = |prefix: &str| NamePrefix::new(prefix).unwrap().end();
    assert_eq!(end("az").as_deref(), Some("a{"));
    assert_eq!(end("\u{D7FF}").as_deref(), Some("\u{E000}"));
    assert_eq!(end("-\u{10FFFF}").as_deref(), Some("."));
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
