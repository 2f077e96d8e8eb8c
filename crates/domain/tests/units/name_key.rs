//! The keys by which names are found.

use petstore_domain::store_area::{MAX_NAME_WORDS, NamePrefix, name_keys, search_key};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

fn finds(text: &str, name: &str) -> bool {
    NamePrefix::new(text).unwrap().finds(name)
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
        (
            "Old Seth II",
            &["seth", "old s", "Seth II", "ii", "old-seth ii", "OLDSETH"][..],
        ),
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
        (
            "Old Seth II",
            &["eth", "ol seth", "seth old", "old ii", "*", "iii"][..],
        ),
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
fn a_name_has_a_key_for_each_of_its_first_14_words_and_no_key_that_another_one_begins_with() {
    assert_eq!(name_keys("The Two Toms"), ["thetwotoms", "twotoms", "toms"]);
    assert_eq!(name_keys("Bella Bell"), ["bellabell"]);
    assert_eq!(name_keys("Bella Bello"), ["bellabello", "bello"]);
    assert_eq!(name_keys("Bo Bo Bo"), ["bobobo"]);
    assert_eq!(name_keys("*Rex"), ["rex", "*"]);
    assert_eq!(name_keys("*"), ["*"]);
    assert_eq!(name_keys(""), [""; 0]);
    let letters = "abcdefghijklmnopqrstuvwxyz"
        .chars()
        .map(|letter| format!("{letter}1 "));
    let keys = name_keys(&format!("*{}", letters.collect::<String>()));
    assert_eq!(keys.len(), MAX_NAME_WORDS + 1);
    assert_eq!(keys[MAX_NAME_WORDS], "*");
}

/// Databases hold keys. A failure means that a library or the compiler has another version of
/// Unicode: a migration must then make the changed keys again.
#[test]
fn the_keys_of_names_are_those_in_databases() {
    for (name, key) in [
        ("Zoë", "zoe"),
        ("Ångström", "angstrom"),
        ("Łódź", "lodz"),
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
        assert_eq!(name_keys(name)[0], key.nfkd().collect::<String>(), "{name}");
    }
    let mut hash = Sha256::new();
    // Letters with case, accents or decompositions are in these planes.
    for character in '\0'..='\u{2FFFF}' {
        hash.update(
            name_keys(&character.to_string())
                .first()
                .map_or("", String::as_str),
        );
        hash.update([0xFF]);
    }
    let digest = data_encoding::HEXLOWER.encode(&hash.finalize());
    assert_eq!(
        digest, "f44fa37655fc688ef99019217779f3dd0a18ddf53c7dcb650ca65e2107089a4a",
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
    assert_eq!(name_keys(&name(254)), ["ab"]);
    assert_eq!(name_keys(&name(255)), ["a"]);
    assert!(finds(&name(30_000), &name(30_000)));
}

proptest! {
    #[test]
    fn a_text_finds_a_name_if_one_of_its_keys_begins_with_it(
        name in "[a-c *]{0,12}|\\PC{0,20}",
        text in "[a-c]{1,4}|[a-c *]{1,4}|\\PC{1,4}",
    ) {
        let (prefix, keys) = (NamePrefix::new(&text).unwrap(), name_keys(&name));
        let is_found = prefix
            .spellings()
            .any(|spelling| keys.iter().any(|key| key.starts_with(spelling)));
        prop_assert_eq!(prefix.finds(&name), is_found || prefix.is_empty());
        for (at, key) in keys.iter().enumerate() {
            let mut others = keys.iter().enumerate().filter(|(other, _)| *other != at);
            prop_assert!(!others.any(|(_, other)| other.starts_with(key)));
        }
    }

    #[test]
    fn a_name_is_found_by_its_beginnings(name in "\\PC{1,20}", length in 0..20_usize) {
        let beginning: String = name.chars().take(length).collect();
        if let Some(prefix) = NamePrefix::new(&beginning) {
            prop_assert!(prefix.finds(&name));
        }
    }

    #[test]
    fn a_word_has_the_key_that_any_name_would_have(name in "[0-9A-Za-z]{1,80}") {
        prop_assert_eq!(&name_keys(&name), &[search_key(&name)]);
        prop_assert_eq!(name_keys(&name), name_keys(&format!("{name}!")));
    }
}
