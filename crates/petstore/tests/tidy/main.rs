//! Rules that no lint knows.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod declared;
mod documents;
mod in_full;
mod knots;
mod limits;
mod plain;
mod promises;
mod public;
mod styles;
mod unused;
mod yaml;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Every file of the project below these folders, with its text.
pub(crate) fn files(folders: &[impl AsRef<Path>], ending: &str) -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, ending: &str, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, ending, found);
            } else if path.to_str().unwrap().ends_with(ending) {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    for folder in folders {
        collect(&petstore_testing::root().join(folder), ending, &mut found);
    }
    assert!(!found.is_empty());
    found
}

/// The source files of all crates, without those of tests.
pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    let mut sources = files(&["crates"], ".rs");
    sources.retain(|(path, _)| is_below(path, "src"));
    sources
}

/// The files of all tests.
fn test_files() -> Vec<(PathBuf, String)> {
    let mut tests = files(&["crates", "tests/shared"], ".rs");
    tests.retain(|(path, _)| !is_below(path, "src") || is_below(path, "shared"));
    tests
}

fn is_below(path: &Path, folder: &str) -> bool {
    path.components()
        .any(|component| component.as_os_str() == folder)
}

#[test]
fn no_file_is_too_long_to_read() {
    for (path, text) in files(&["crates", "tests/shared", "tests/fuzz"], ".rs") {
        // The texts of one language are one file, and so is their declaration.
        if path.to_str().unwrap().contains("crates/languages/src/") {
            continue;
        }

        let max_lines = if is_below(&path, "src") { 500 } else { 700 };
        let lines = text.lines().count();
        assert!(lines <= max_lines, "{} has {lines} lines", path.display());
    }
}

#[test]
fn every_source_file_begins_by_saying_what_it_is_for() {
    for (path, text) in files(&["crates", "tests/shared", "tests/fuzz"], ".rs") {
        assert!(text.starts_with("//! "), "{}", path.display());
    }
}

#[test]
fn nothing_is_left_for_later_and_no_test_is_ignored() {
    // Written apart, so that this file does not find itself.
    let words =
        [["TO", "DO"], ["FIX", "ME"], ["X", "XX"], ["#[ign", "ore"]].map(|two| two.concat());
    for (path, text) in files(&["crates", "tests/shared", "tests/fuzz"], ".rs") {
        for word in &words {
            assert!(!text.contains(word), "{} contains {word}", path.display());
        }
    }
}

#[test]
fn no_test_waits_for_a_fixed_time() {
    let words = [["thread::sl", "eep"], ["time::sl", "eep"]].map(|two| two.concat());
    for (path, text) in test_files() {
        for word in &words {
            assert!(!text.contains(word), "{} contains {word}", path.display());
        }
    }
}

/// The pages in `docs/`, and those in the root folder.
fn documents() -> Vec<(PathBuf, String)> {
    let root = petstore_testing::root();
    let in_root = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let pages = in_root.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let read = |path: PathBuf| (path.clone(), fs::read_to_string(path).unwrap());
    pages.map(read).chain(files(&["docs"], ".md")).collect()
}

/// Wording that makes a reader stop. CONTRIBUTING.md says what to write instead.
const NOT_PLAIN: [&str; 23] = [
    "alone",
    "anew",
    "answer",
    "answered",
    "answers",
    "as it stands",
    "as they stand",
    "bear with",
    "bears with",
    "beside",
    "but for",
    "comes to an end",
    "folded",
    "for who",
    "goes before",
    "in vain",
    "nor",
    "that is none",
    "to fold",
    "turned away",
    "who asks",
    "whoever",
    "yardstick",
];

/// The phrases of a text that are not plain. Code in backticks does not count.
fn phrases_that_are_not_plain(text: &str) -> Vec<&'static str> {
    let prose: String = text.to_lowercase().split('`').step_by(2).collect();
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = prose
        .split(|c| !is_in_word(c))
        .filter(|word| !word.is_empty())
        .collect();
    let prose = format!(" {} ", words.join(" "));
    NOT_PLAIN
        .into_iter()
        .filter(|phrase| prose.contains(&format!(" {phrase} ")))
        .collect()
}

#[test]
fn the_text_for_users_is_in_plain_language() {
    let contract = petstore_testing::root().join("openapi/openapi.yaml");
    let contract = (contract.clone(), fs::read_to_string(contract).unwrap());
    for (path, text) in documents()
        .into_iter()
        .chain(files(&["deploy"], ""))
        .chain([contract])
    {
        let found = phrases_that_are_not_plain(&text);
        assert!(found.is_empty(), "{} says {found:?}", path.display());
    }
}

/// Words and phrases that have no place in code, comments and messages either.
const NOT_PLAIN_IN_SOURCE: [&str; 20] = [
    "alone",
    "anew",
    "as it stands",
    "as they stand",
    "beside",
    "but for who",
    "comes to an end",
    "folded",
    "for whoever",
    "in vain",
    "mend",
    "mended",
    "reads like",
    "stands in the",
    "stands there",
    "tells more",
    "that is none",
    "to fold",
    "whoever",
    "yardstick",
];

#[test]
fn the_source_is_in_plain_language() {
    for (path, text) in sources().into_iter().chain(files(&["examples"], ".rs")) {
        let words = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        let text = format!(" {} ", words.collect::<Vec<_>>().join(" ").to_lowercase());
        for phrase in NOT_PLAIN_IN_SOURCE {
            assert!(
                !text.contains(&format!(" {phrase} ")),
                "{} says {phrase}",
                path.display()
            );
        }
    }
}

/// The anchors of a page, as GitHub makes them from its headings.
#[test]
fn every_text_of_the_console_is_in_one_place() {
    for (path, text) in files(&["crates/console/src"], ".rs") {
        let name = path.to_str().unwrap();
        // It shows nothing to people.
        if is_below(&path, "openid") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap();
        let code = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        for literal in code.flat_map(|line| line.split('"').skip(1).step_by(2)) {
            let mut letters = literal.trim_start().chars();
            let is_text = letters.next().is_some_and(char::is_uppercase)
                && letters
                    .next()
                    .is_some_and(|letter| letter.is_lowercase() || letter == ' ');
            assert!(!is_text, "{name}: {literal}");
        }
    }
}

fn anchors(page: &Path) -> BTreeSet<String> {
    let of_heading = |heading: &str| -> String {
        let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
        heading
            .trim()
            .to_lowercase()
            .chars()
            .filter(kept)
            .collect::<String>()
            .replace(' ', "-")
    };
    let text = fs::read_to_string(page).unwrap();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| of_heading(line.trim_start_matches('#')))
        .collect()
}

#[test]
fn every_link_in_a_document_leads_to_a_file_and_a_heading_that_exist() {
    let mut links = 0;
    for (path, text) in documents()
        .into_iter()
        .chain(files(&["crates", "tests", "examples"], ".md"))
    {
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            if link.contains(':') {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                path.clone()
            } else {
                path.with_file_name("").join(file)
            };
            assert!(target.exists(), "{}: {link}", path.display());
            let known = heading.is_empty() || anchors(&target).contains(heading);
            assert!(known, "{}: no heading for {link}", path.display());
            links += 1;
        }
    }
    assert!(links > 50, "{links}");
}

#[test]
fn a_release_is_in_the_changelog_with_a_date_and_what_is_unreleased_has_a_version_of_its_own() {
    let changelog = petstore_testing::root().join("CHANGELOG.md");
    let text = fs::read_to_string(changelog).unwrap();
    let mut headings = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .peekable();
    let is_unreleased = headings.next_if_eq(&"Unreleased").is_some();
    let (newest, date) = headings.next().unwrap().split_once(" - ").unwrap();
    assert!(date.parse::<jiff::civil::Date>().is_ok(), "{date}");
    let version = env!("CARGO_PKG_VERSION");
    let number = |version: &str| {
        version
            .split('.')
            .map(|part| part.parse::<u32>().unwrap())
            .collect::<Vec<_>>()
    };
    match version.strip_suffix("-dev") {
        Some(next) => assert!(is_unreleased && number(next) > number(newest), "{version}"),
        None => assert!(!is_unreleased && version == newest, "{version}"),
    }
}

#[test]
fn migrations_are_numbered_without_a_gap() {
    for store in ["store-sqlite", "store-postgres"] {
        let mut names: Vec<String> = files(&[format!("crates/{store}/migrations")], ".sql")
            .iter()
            .map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        names.sort();
        for (number, name) in (1..).zip(names) {
            assert!(name.starts_with(&format!("{number:04}_")), "{name}");
        }
    }
}

#[test]
fn what_deploy_names_is_there() {
    let read = |path: &str| fs::read_to_string(petstore_testing::root().join(path)).unwrap();
    let source: String = files(&["crates/petstore/src/cli"], ".rs")
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    let mut settings = 0;
    for file in [
        "deploy/petstore.env",
        "deploy/Containerfile",
        "docs/deployment.md",
    ] {
        let text = read(file);
        let is_of_name = |c: char| c.is_ascii_uppercase() || c == '_';
        for word in text
            .split(|c| !is_of_name(c))
            .filter(|word| word.starts_with("PETSTORE_"))
        {
            assert!(
                source.contains(&format!(" = \"{word}\"")),
                "{file} has {word}"
            );
            settings += 1;
        }
    }
    assert!(settings > 5);
    // What the image is built from, and by which compiler.
    for path in read(".dockerignore")
        .lines()
        .filter_map(|line| line.strip_prefix('!'))
    {
        assert!(petstore_testing::root().join(path).exists(), "{path}");
    }
    let image = concat!(
        "FROM docker.io/library/rust:",
        env!("CARGO_PKG_RUST_VERSION"),
        "-"
    );
    assert!(read("deploy/Containerfile").contains(image), "{image}");
}

#[test]
fn the_error_codes_are_the_same_in_the_code_the_contract_and_its_description() {
    let code_of_quotes = |text: &str| -> BTreeSet<String> {
        text.split('"')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let (_, source) = files(&["crates/domain/src"], "src/problem.rs").remove(0);
    let table = source
        .split("\nproblems! {")
        .nth(1)
        .unwrap()
        .split("\n}")
        .next()
        .unwrap();
    let in_code = code_of_quotes(table);
    let in_openapi: BTreeSet<String> = ["openapi/openapi.yaml", "openapi/openapi-store.yaml"]
        .into_iter()
        .flat_map(|document| {
            let path = petstore_testing::root().join(document);
            let text = fs::read_to_string(path).unwrap();
            let codes = text
                .lines()
                .filter_map(|line| line.trim().strip_prefix("code: "));
            codes.map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    // 405 belongs to no operation, so the document has no example of it.
    let in_openapi: BTreeSet<String> = in_openapi
        .into_iter()
        .chain(["method_not_allowed".to_owned()])
        .collect();
    assert_eq!(in_code, in_openapi);
    let (_, docs) = files(&["docs"], "contract.md").remove(0);
    for code in in_code {
        assert!(
            docs.contains(&format!("| `{code}` |")),
            "{code} is not described"
        );
    }
}

#[test]
fn the_settings_of_patroni_and_haproxy_keep_the_promise_of_a_failover() {
    let file = |name: &str| {
        let folder = petstore_testing::root().join("deploy/patroni");
        fs::read_to_string(folder.join(name)).unwrap()
    };
    let patroni: serde_json::Value = serde_saphyr::from_str(&file("patroni.yml")).unwrap();
    let shared = &patroni["bootstrap"]["dcs"];
    assert_eq!(shared["synchronous_mode"], true);
    let seconds = |name: &str| shared[name].as_u64().unwrap();
    let (ttl, loop_wait) = (seconds("ttl"), seconds("loop_wait"));
    assert!(loop_wait + 2 * seconds("retry_timeout") <= ttl);
    // What a Patroni that starts would release from its wait is stopped before it.
    let before = file("patroni-service.conf");
    assert!(before.contains("\nExecStartPre=") && before.contains("--mode=immediate stop"));
    // The next check, and so many that fail, each up to its timeout.
    let haproxy = file("haproxy.cfg");
    assert!(haproxy.contains("on-marked-down shutdown-sessions"));
    let number = |name: &str| -> u64 {
        let value = haproxy
            .split(name)
            .nth(1)
            .unwrap()
            .split_whitespace()
            .next()
            .unwrap();
        value.trim_end_matches('s').parse().unwrap()
    };
    let check = number(" inter ") + number("timeout check ");
    let given_up = number(" fall ") * check;
    assert!(given_up < ttl - loop_wait, "{given_up}");
    // Those who start etcd and Patroni split these at the first `=`.
    for name in ["node.env", "etcd.env"] {
        for line in file(name).lines().filter(|line| !line.starts_with('#')) {
            let (variable, value) = line.split_once('=').unwrap();
            assert!(
                variable
                    .chars()
                    .all(|c| c.is_ascii_uppercase() || "_23".contains(c)),
                "{line}"
            );
            assert!(
                !value.is_empty() && !value.contains(char::is_whitespace),
                "{line}"
            );
        }
    }
}
