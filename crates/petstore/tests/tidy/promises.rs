//! The tests that the documents name.

use std::{collections::BTreeSet, path::Path};

use super::files;

/// The names of all functions in the files that hold tests, as `file::name`.
fn test_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (path, text) in files(&["crates", "tests/shared", "tests/fuzz"], ".rs") {
        let own = path
            .file_stem()
            .filter(|&name| name != "mod" && name != "main")
            .unwrap_or_else(|| path.parent().and_then(Path::file_name).unwrap());
        let file = own.to_str().unwrap();
        for line in text.lines() {
            let line = line
                .trim_start()
                .trim_start_matches("pub(crate) ")
                .trim_start_matches("async ");
            let name = line
                .strip_prefix("fn ")
                .and_then(|rest| rest.split('(').next());
            names.extend(name.map(|name| format!("{file}::{name}")));
        }
    }
    names
}

/// Checks the last column of every table that has one for tests; returns how
/// many rows there are.
fn rows_with_tests_that_exist(document: &str) -> usize {
    let (_, text) = files(&["docs"], document).remove(0);
    let names = test_names();
    let mut rows = 0;
    let mut in_table_with_tests = false;
    for line in text.lines() {
        let last = line
            .trim_end_matches(" |")
            .rsplit("| ")
            .next()
            .unwrap_or_default();
        match (line.starts_with("| "), last) {
            (false, _) => in_table_with_tests &= line.starts_with('|'),
            (true, "Test") => in_table_with_tests = true,
            (true, proof) if in_table_with_tests => {
                rows += 1;
                for name in proof.split(", ").map(|name| name.trim_matches('`')) {
                    assert!(names.contains(name), "there is no test {name}: {line}");
                }
            }
            _ => {}
        }
    }
    rows
}

#[test]
fn every_decision_in_the_contract_and_every_promise_names_tests_that_exist() {
    for (document, least) in [
        ("decisions.md", 30),
        ("maintainers/reliability.md", 10),
        ("maintainers/console-security.md", 30),
    ] {
        let rows = rows_with_tests_that_exist(document);
        assert!(rows >= least, "only {rows} rows in {document}");
    }
}
