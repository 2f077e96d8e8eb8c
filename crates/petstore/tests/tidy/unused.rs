//! Public functions and constants that no other crate uses. The compiler finds unused items only if they are private to
//! their crate.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::files;

/// The beginnings of the declarations that are looked at.
const DECLARATIONS: [&str; 5] = [
    "pub fn ",
    "pub async fn ",
    "pub const fn ",
    "pub const ",
    "pub static ",
];

/// Returns the words of a text.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .collect()
}

/// Returns the name that a line declares for other crates.
fn declared_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = DECLARATIONS
        .iter()
        .find_map(|declaration| line.strip_prefix(declaration))?;
    rest.split(|character: char| !character.is_alphanumeric() && character != '_')
        .next()
}

/// Returns the text of the macros in a file that other crates may use: what they name is used there.
fn exported_macros(text: &str) -> String {
    let mut macros = String::new();
    for exported in text.split("#[macro_export]").skip(1) {
        macros += exported.split("\n}\n").next().unwrap_or_default();
    }
    macros
}

#[test]
fn every_public_function_and_constant_of_a_crate_is_used_by_another_crate_or_a_test() {
    let root = petstore_testing::root().join("crates");
    let all = files(&["crates", "tests/shared", "tests/fuzz"], ".rs");
    // The words of each crate; tests are crates of their own.
    let mut used: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let crate_of = |path: &Path| {
        let path = path.strip_prefix(&root).unwrap_or(path);
        let parts: Vec<_> = path
            .iter()
            .take(2)
            .map(|part| part.to_str().unwrap())
            .collect();
        parts.join("/")
    };
    for (path, text) in &all {
        used.entry(crate_of(path)).or_default().extend(words(text));
    }

    let mut looked_at = 0;
    for (path, text) in &all {
        let own = crate_of(path);
        if !own.ends_with("/src") || own == "petstore/src" {
            continue;
        }
        let macros = exported_macros(text);
        let in_macros = words(&macros);
        for name in text.lines().filter_map(declared_name) {
            let is_used = used
                .iter()
                .any(|(other, words)| *other != own && words.contains(name));
            assert!(
                is_used || in_macros.contains(name),
                "{}: only its crate uses {name}",
                path.display()
            );
            looked_at += 1;
        }
    }
    assert!(looked_at > 300, "{looked_at}");
}
