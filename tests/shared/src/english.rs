//! Finds English words on pages in other languages.

use std::{collections::BTreeSet, fs};

use petstore_domain::store_area::Language;

/// The words of a text: letters, without regard to case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphabetic() && c != '’');
    words
        .filter(|word| word.chars().count() > 2)
        .map(str::to_lowercase)
}

/// The words in the string literals of a language.
fn words_of(language: Language) -> BTreeSet<String> {
    let folder = crate::root().join("crates/languages/src");
    let mut found = BTreeSet::new();
    for file in ["window.rs", "console.rs"] {
        let source = fs::read_to_string(folder.join(language.as_str()).join(file)).unwrap();
        let source = source
            .split_once("static TEXTS")
            .unwrap()
            .1
            .replace("\\\"", "");
        let literals = source.split('"').skip(1).step_by(2);
        found.extend(
            literals.flat_map(|text| words(&text.replace("\\u{a0}", " ")).collect::<Vec<_>>()),
        );
    }
    found
}

/// The word of the addresses that pages and feeds show in every language.
const WORD_OF_ADDRESSES: &str = "animals";

/// The words that English texts have, and those of another language do not.
pub fn english_words(other: Language) -> BTreeSet<String> {
    let of_other = words_of(other);
    words_of(Language::English)
        .into_iter()
        .filter(|word| !of_other.contains(word) && word != WORD_OF_ADDRESSES)
        .collect()
}

/// The words that people read or hear on a page: its text, and the attributes that are texts.
pub fn words_on(page: &str) -> BTreeSet<String> {
    const READ: [&str; 6] = [
        "title",
        "alt",
        "aria-label",
        "placeholder",
        "data-",
        "content",
    ];
    let mut found = BTreeSet::new();
    for part in page.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or((part, ""));
        if [
            "script",
            "style",
            "code",
            "meta name=\"viewport\"",
            "meta name=\"robots\"",
        ]
        .iter()
        .any(|of| tag.starts_with(of))
        {
            continue;
        }
        found.extend(words(
            &text
                .replace("&amp;", " ")
                .replace("&quot;", " ")
                .replace("&lt;", " "),
        ));
        for (at, value) in tag.split('"').enumerate().filter(|(at, _)| at % 2 == 1) {
            let name = tag
                .split('"')
                .nth(at - 1)
                .unwrap()
                .trim_start()
                .trim_end_matches('=');
            // Names, numbers and addresses have no space.
            if READ.iter().any(|of| name.starts_with(of)) && value.contains(' ') {
                found.extend(words(value));
            }
        }
    }
    found
}
