//! Text from files, names and databases that commands quote: it cannot control a terminal, and a
//! spreadsheet does not read it as a formula.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

use rusqlite::Connection;
use serde_json::Value;

use super::program::{Done, command, directory, finish, new_key, run};

/// Sets the title of a terminal, imitates one of our lines, and reverses the direction of the text.
const HOSTILE: &str = "\u{1b}]0;x\u{7}\u{9b}31m\nline 9: \u{202e}";
const SHOWN: &str = "\\u001b]0;x\\u0007\\u009b31m\\u000aline 9: \\u202e";

#[track_caller]
fn expect_plain(done: &Done) {
    for text in [&done.stdout, &done.stderr] {
        let is_hidden = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(is_hidden), "{text:?}");
    }
}

#[test]
fn text_from_files_and_names_is_escaped_on_the_terminal() {
    let here = directory();
    let member = serde_json::to_string(HOSTILE).unwrap();
    let animal = format!("{{\"name\":\"x\",\"categoryId\":1,{member}:1}}\n");
    fs::write(here.path().join("bad.ndjson"), animal).unwrap();
    let header = format!("name,categoryId,\"{HOSTILE}\"\nx,1,y\n");
    fs::write(here.path().join("bad.csv"), header).unwrap();
    let absent = format!("{HOSTILE}.csv");
    let rejects = ["--skip-invalid", "--rejects", "rejects.csv"];
    new_key(here.path());
    for arguments in [
        &["import", "bad.ndjson"][..],
        &["import", "bad.csv"],
        &["import", &absent],
        &["import", "bad.csv", "--format", HOSTILE],
        &["export", "--database", &format!("sqlite:{absent}")],
        &["check", "--database", &format!("sqlite:{absent}")],
        &["backup", &format!("{absent}/x")],
        &["restore", &absent],
        &["keys", "create", "--name", HOSTILE],
    ] {
        let done = run(here.path(), arguments);
        assert!(!done.status.success(), "{done:?}");
        expect_plain(&done);
        assert!(done.stderr.lines().count() <= 2, "{done:?}");
    }
    let reported = run(here.path(), &["import", "bad.ndjson"]).stderr;
    let expected =
        format!("line 1: not a valid JSON animal, at byte 63: unknown field `{SHOWN}`, ");
    assert!(reported.starts_with(&expected), "{reported}");
    // The reason is escaped; the row is unchanged.
    let import = [&["import", "bad.ndjson"], &rejects[..]].concat();
    expect_plain(&run(here.path(), &import));
    let mut reader = csv::Reader::from_path(here.path().join("rejects.csv")).unwrap();
    let record = reader.records().next().unwrap().unwrap();
    assert!(
        record[2].contains(SHOWN) && record[3].contains(&member),
        "{record:?}"
    );
}

#[test]
fn names_of_keys_and_files_are_shown_without_control_characters() {
    let here = directory();
    new_key(here.path());
    let database = Connection::open(here.path().join("petstore.db")).unwrap();
    database
        .execute("UPDATE api_keys SET name = ?1", [HOSTILE])
        .unwrap();
    drop(database);
    let table = run(here.path(), &["keys", "list"]).expect_success();
    expect_plain(&table);
    assert!(
        table.stdout.contains(SHOWN) && table.stdout.lines().count() == 2,
        "{table:?}"
    );
    let json = run(here.path(), &["keys", "list", "--format", "json"]).expect_success();
    expect_plain(&json);
    let keys: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(keys[0]["name"], HOSTILE);
    for command in ["revoke", "rotate"] {
        expect_plain(&run(here.path(), &["keys", command, "1"]));
    }
    let mut backup = command(here.path(), &["backup"]);
    backup.arg(OsStr::from_bytes(b"\x1b[31m\xFF.db"));
    let done = finish(&mut backup).expect_success();
    expect_plain(&done);
    assert!(done.stdout.starts_with("\\u001b[31m"), "{done:?}");
}

#[test]
fn an_export_for_spreadsheets_has_no_formulas_and_other_exports_are_exact() {
    let here = directory();
    let animals = "id,name,categoryId,status\n1,\"=HYPERLINK(\"\"http://x\"\")\",-7,sold\n\
                   2,Rex;@x,1,sold\n3,Mary-Ann,1,sold\n";
    fs::write(here.path().join("some.csv"), animals).unwrap();
    run(here.path(), &["import", "some.csv", "--create"]).expect_success();
    assert_eq!(
        run(here.path(), &["export"]).expect_success().stdout,
        animals
    );
    let changed = run(here.path(), &["export", "--spreadsheet"])
        .expect_success()
        .stdout;
    let expected = animals.replace("\"=H", "\"'=H").replace(";@x", ";'@x");
    assert_eq!(changed, format!("\u{FEFF}{expected}"));
    let line = run(
        here.path(),
        &["export", "--spreadsheet", "--format", "ndjson"],
    );
    assert_eq!(
        line.expect_one_line(),
        "error: --spreadsheet needs --format csv\n"
    );
}
