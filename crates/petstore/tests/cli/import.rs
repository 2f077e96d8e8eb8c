//! `petstore import` and `petstore export`: round trips, and rejected files.

use std::{
    fs,
    io::{Read, Write},
    path::Path,
    process::Stdio,
};

use serde_json::Value;

use super::{
    postgres_cluster::fresh_url,
    program::{Done, Service, client, command, create, directory, finish, new_key, run},
};

const SHELTER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/shelter-animals.csv"
);

/// The stores that each import is tested on.
pub(super) const BACKENDS: [&str; 2] = ["sqlite", "postgres"];

pub(super) async fn fresh(backend: &str, name: &str) -> String {
    if backend == "sqlite" {
        format!("sqlite:{name}.db")
    } else {
        fresh_url().await
    }
}

/// Runs a command with this standard input.
fn run_with_input(here: &Path, arguments: &[&str], input: &[u8]) -> Done {
    let mut command = command(here, arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that rejects its input need not read all of it.
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Done {
        status: output.status,
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(super) fn export(here: &Path, database: &str, format: &str) -> String {
    let done = run(
        here,
        &["export", "--format", format, "--database", database],
    );
    let done = done.expect_success();
    assert_eq!(done.stderr, "");
    done.stdout
}

/// The reported lines about invalid rows, and the last line. Fails unless nothing was imported.
#[track_caller]
pub(super) fn expect_rejected(
    here: &Path,
    name: &str,
    content: &[u8],
    options: &[&str],
) -> Vec<String> {
    fs::write(here.join(name), content).unwrap();
    let done = run(here, &[&["import", name, "--create"], options].concat());
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert_eq!(done.stdout, "");
    let lines: Vec<String> = done.stderr.lines().map(str::to_owned).collect();
    assert!(lines.last().unwrap().starts_with("error: "), "{lines:?}");
    assert!(
        lines.last().unwrap().contains("nothing was imported"),
        "{lines:?}"
    );
    assert!(
        !here.join("petstore.db").exists(),
        "a bad file makes no database"
    );
    lines
}

#[tokio::test]
async fn the_shelters_animals_are_exported_as_they_were_imported_in_both_formats_and_databases() {
    let here = directory();
    let mut exports = Vec::new();
    for backend in BACKENDS {
        let database = fresh(backend, "first").await;
        let import = ["import", SHELTER, "--create", "--database", &database];
        let said = run(here.path(), &import).expect_success().stderr;
        let kind = if database.starts_with("sqlite") {
            "sqlite:/"
        } else {
            "postgres"
        };
        assert!(
            said.starts_with(&format!("Imported 10000 animals into {kind}")),
            "{said}"
        );
        for format in ["csv", "ndjson"] {
            let name = format!("{backend}.{format}");
            let exported = export(here.path(), &database, format);
            fs::write(here.path().join(&name), &exported).unwrap();
            for keep in [None, Some("--keep-ids")] {
                let again = fresh(backend, &format!("{format}{}", keep.is_some())).await;
                let mut import = vec!["import", &name, "--create", "--database", &again];
                import.extend(keep);
                run(here.path(), &import).expect_success();
                assert_eq!(export(here.path(), &again, format), exported);
            }
            exports.push(exported);
        }
    }
    assert_eq!(exports[..2], exports[2..], "the two databases differ");
    // In the order of the file.
    let mut original = csv::Reader::from_path(SHELTER).unwrap();
    let original = original.records().map(Result::unwrap);
    for (line, record) in exports[1].lines().zip(original) {
        let animal: Value = serde_json::from_str(line).unwrap();
        assert_eq!(animal["name"], record[0]);
        assert_eq!(animal["categoryId"].to_string(), record[1]);
        let status = if record[2].is_empty() {
            "available"
        } else {
            &record[2]
        };
        assert_eq!(animal["status"], status);
    }
}

#[test]
fn each_kind_of_invalid_csv_row_is_rejected_with_its_line_column_and_reason() {
    let here = directory();
    let long = format!("{},1,sold", "n".repeat(65_537));
    for (row, expected) in [
        (
            &b"x,1,gone"[..],
            "status must be one of available, pending and sold",
        ),
        (
            b"x,9223372036854775808,sold",
            "categoryId must be an integer from -9223372036854775808",
        ),
        (b"x,,sold", "categoryId must be an integer"),
        (b"x,+1,sold", "categoryId must be an integer"),
        (b"x,1.5,sold", "categoryId must be an integer"),
        (b"x,07,sold", "categoryId must be an integer"),
        (b"a\0b,1,sold", "name must not contain U+0000"),
        (b"\xFF,1,sold", "name is not UTF-8"),
        (b"x,1,\xFF", "status is not UTF-8"),
        (b"x,1", "the row has 2 fields, and the header 3"),
        (b"x,1,sold,y", "the row has 4 fields, and the header 3"),
        (
            b"\"x\"y,1,sold",
            "a quote is not closed, or is inside a field",
        ),
        (
            b"x\"y,1,sold",
            "a quote is not closed, or is inside a field",
        ),
        (long.as_bytes(), "name is longer than 65536 bytes"),
    ] {
        // In the middle and at the end, with and without a final line break.
        for (ends, after) in [("\n", "z,1,sold\n"), ("\r\n", ""), ("\n", ""), ("", "")] {
            let before = b"name,categoryId,status\n\"two\nlines\",1,sold\n\n";
            let content = [before, row, ends.as_bytes(), after.as_bytes()].concat();
            let lines = expect_rejected(here.path(), "bad.csv", &content, &[]);
            assert_eq!(lines.len(), 2, "{lines:?}");
            let reported = lines[0]
                .strip_prefix("line 5: ")
                .unwrap_or_else(|| panic!("{lines:?}"));
            assert!(reported.starts_with(expected), "{reported}");
        }
    }
    let lines = expect_rejected(
        here.path(),
        "bad.csv",
        b"status,categoryId,name\r\nsold,1,\"x\r\nsold,2,y",
        &[],
    );
    assert!(
        lines[0].starts_with("line 2: a quote is not closed"),
        "{lines:?}"
    );
}

#[test]
fn each_kind_of_invalid_ndjson_line_is_rejected_with_its_line_member_and_reason() {
    let here = directory();
    for (row, expected) in [
        (&br#"{"categoryId":1}"#[..], "name is missing"),
        (br#"{"name":null,"categoryId":1}"#, "name is missing"),
        (br#"{"name":7,"categoryId":1}"#, "name must be a string"),
        (
            br#"{"name":"\ud800","categoryId":1}"#,
            "name must be a string",
        ),
        (
            br#"{"name":"a\u0000","categoryId":1}"#,
            "name must not contain U+0000",
        ),
        (br#"{"name":"x"}"#, "categoryId is missing"),
        (
            br#"{"name":"x","categoryId":"1"}"#,
            "categoryId must be an integer",
        ),
        (
            br#"{"name":"x","categoryId":1.5}"#,
            "categoryId must be an integer",
        ),
        (
            br#"{"name":"x","categoryId":1,"status":""}"#,
            "status must be one of",
        ),
        (
            br#"{"name":"x","categoryId":1,"status":null}"#,
            "status must be one of",
        ),
        (
            br#"{"name":"x","categoryId":1,"Status":"sold"}"#,
            "not a valid JSON animal, at byte 35",
        ),
        (
            br#"{"name":"x","categoryId":1,"name":"y"}"#,
            "not a valid JSON animal, at byte 33",
        ),
        (
            br#"{"name":"x","categoryId":1"#,
            "not a valid JSON animal, at byte 26",
        ),
        (
            br#"{"name":"x","categoryId":1}{}"#,
            "not a valid JSON animal",
        ),
        (br#"[1,"x",1,"sold"]"#, "the line is not a JSON object"),
        (
            b"{\"name\":\"\xFF\",\"categoryId\":1}",
            "the line is not UTF-8",
        ),
    ] {
        let content = [b"{\"name\":\"\",\"categoryId\":1e2}\r\n\n", row].concat();
        let lines = expect_rejected(here.path(), "bad.ndjson", &content, &[]);
        assert_eq!(lines.len(), 2, "{lines:?}");
        let reported = lines[0]
            .strip_prefix("line 3: ")
            .unwrap_or_else(|| panic!("{lines:?}"));
        assert!(reported.starts_with(expected), "{reported}");
    }
}

#[test]
fn an_invalid_csv_header_is_rejected() {
    let here = directory();
    for (content, expected) in [
        (&b""[..], "line 1: the file is empty"),
        (b"\n", "the file is empty"),
        (b"name\n", "line 1: the header has no column \"categoryId\""),
        (b"categoryId,status\n", "the header has no column \"name\""),
        (
            b"name,categoryId,State\n",
            "unknown columns: \"State\" (perhaps --map",
        ),
        (
            b"name,categoryId,status,Status\n",
            "both \"status\" and \"Status\" are the column status",
        ),
        (
            b"name,categoryId,name\n",
            "the column \"name\" appears twice",
        ),
        (b"\"name,categoryId\nx,1\n", "line 1: a quote is not closed"),
    ] {
        let lines = expect_rejected(here.path(), "bad.csv", content, &[]);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains(expected), "{lines:?}");
    }
    let lines = expect_rejected(
        here.path(),
        "bad.csv",
        b"name,categoryId\nx,1\n",
        &["--keep-ids"],
    );
    assert!(
        lines[0].contains("the header has no column \"id\""),
        "{lines:?}"
    );
}

#[test]
fn an_endless_row_is_rejected_before_it_fills_memory() {
    let here = directory();
    let rest = "x,1\n".repeat(600_000);
    for (name, begin) in [
        ("bad.csv", "name,categoryId\nx,1\n\""),
        ("bad.ndjson", "\n\n{\"name\":\""),
    ] {
        let content = format!(
            "{begin}{}",
            rest.replace('\n', if name == "bad.csv" { "\n" } else { " " })
        );
        let lines = expect_rejected(here.path(), name, content.as_bytes(), &[]);
        assert!(
            lines[0].contains("line 3: the row that begins here is longer than"),
            "{lines:?}"
        );
    }
}

#[test]
fn twenty_invalid_rows_are_reported_and_the_others_counted() {
    let here = directory();
    let content = format!("name,categoryId\n{}", "x,y\n".repeat(25));
    let lines = expect_rejected(here.path(), "bad.csv", content.as_bytes(), &[]);
    assert_eq!(lines.len(), 22);
    assert!(lines[19].starts_with("line 21: categoryId "), "{lines:?}");
    assert_eq!(lines[20], "and 5 more rows");
    assert_eq!(
        lines[21],
        "error: bad.csv: invalid rows: 25 of 25; nothing was imported; correct them, or add --skip-invalid --rejects FILE to import the others"
    );
}

#[test]
fn a_byte_order_mark_any_column_order_and_any_line_ends_are_accepted() {
    let here = directory();
    let files: [(&str, &[u8]); 5] = [
        (
            "mark.csv",
            b"\xEF\xBB\xBFname,categoryId,status\nZo\xC3\xAB,-7,\n",
        ),
        ("order.csv", b"categoryId,id,name\r\n-7,99,Zo\xC3\xAB\r\n"),
        (
            "quoted.csv",
            b"\"status\",\"name\",\"categoryId\"\n\"\",\"Zo\xC3\xAB\",\"-7\"",
        ),
        (
            "mark.ndjson",
            b"\xEF\xBB\xBF{\"name\":\"Zo\\u00eb\",\"categoryId\":-7}",
        ),
        (
            "ends.jsonl",
            b"\r\n {\"categoryId\":-7.0,\"name\":\"Zo\xC3\xAB\",\"id\":99}\r\n\r\n",
        ),
    ];
    for (id, (name, content)) in (1..).zip(files) {
        fs::write(here.path().join(name), content).unwrap();
        run(here.path(), &["import", name, "--create"]).expect_success();
        let exported = export(here.path(), "sqlite:petstore.db", "csv");
        assert_eq!(exported.lines().count(), 1 + id, "{name}");
        assert_eq!(
            exported.lines().last(),
            Some(&*format!("{id},Zoë,-7,available")),
            "{name}"
        );
    }
}

#[test]
fn standard_input_is_read_if_the_format_is_given() {
    let here = directory();
    let animal = b"name,categoryId\nFrank,1\n";
    let done = run_with_input(here.path(), &["import", "-"], animal);
    assert!(done.expect_one_line().contains("--format csv"));
    run_with_input(
        here.path(),
        &["import", "-", "--create", "--format", "csv"],
        animal,
    )
    .expect_success();
    let exported = export(here.path(), "sqlite:petstore.db", "ndjson");
    assert_eq!(
        exported,
        "{\"id\":1,\"name\":\"Frank\",\"categoryId\":1,\"status\":\"available\"}\n"
    );
}

#[test]
fn a_dry_run_checks_and_adds_nothing() {
    let here = directory();
    let said = run(here.path(), &["import", SHELTER, "--create", "--dry-run"])
        .expect_success()
        .stderr;
    let database = here.path().join("petstore.db");
    assert_eq!(
        said,
        format!(
            "Would import 10000 animals into sqlite:{}.\n",
            database.display()
        )
    );
    assert!(!here.path().join("petstore.db").exists());
    let lines = expect_rejected(
        here.path(),
        "bad.csv",
        b"name,categoryId\nx,y\n",
        &["--dry-run"],
    );
    assert_eq!(lines.len(), 2);
}

#[tokio::test]
async fn invalid_rows_can_be_skipped_and_are_saved_with_the_reason() {
    for backend in BACKENDS {
        let here = directory();
        let database = fresh(backend, "petstore").await;
        let content = "id,name,categoryId\n7,Frank,1\n8,\"a,b\n\",y\n7,Zoe,1\n3,Kitty,2\n";
        fs::write(here.path().join("some.csv"), content).unwrap();
        let import = |more: &[&str]| {
            let fixed = [
                "import",
                "some.csv",
                "--keep-ids",
                "--skip-invalid",
                "--database",
                &database,
            ];
            run(here.path(), &[&fixed[..], &["--create"], more].concat())
        };
        assert!(import(&[]).expect_one_line().contains("--rejects"));
        assert!(
            import(&["--rejects", "some.csv"])
                .expect_one_line()
                .contains("cannot create")
        );
        let done = import(&["--rejects", "bad.csv"]);
        assert_eq!(done.status.code(), Some(3), "a script can tell: {done:?}");
        let said = done.stderr.lines().last().unwrap();
        assert!(said.starts_with("Imported 2 animals into "), "{said}");
        assert!(said.ends_with(". Rejected 2 rows: see bad.csv."), "{said}");
        let rejects = fs::read_to_string(here.path().join("bad.csv")).unwrap();
        let expected = format!(
            "line,column,reason,row\n\
             3,categoryId,\"categoryId must be an integer from {} to {} without leading zeros, but was \"\"y\"\"\",\"8,\"\"a,b\n\"\",y\"\n\
             5,id,id 7 is the id of an earlier row; each id must occur once,\"7,Zoe,1\"\n",
            i64::MIN,
            i64::MAX
        );
        assert_eq!(rejects, expected);
        let exported = export(here.path(), &database, "csv");
        let animals = "id,name,categoryId,status\n3,Kitty,2,available\n7,Frank,1,available\n";
        assert_eq!(exported, animals);
    }
}

#[tokio::test]
async fn imported_ids_must_be_free_and_the_next_animal_gets_a_higher_one() {
    for backend in BACKENDS {
        let here = directory();
        let database = fresh(backend, "petstore").await;
        let import = |content: &str, more: &[&str]| {
            fs::write(here.path().join("some.csv"), content).unwrap();
            let fixed = ["import", "some.csv", "--create", "--database", &database];
            run(here.path(), &[&fixed[..], more].concat())
        };
        import("id,name,categoryId\n900,a,1\n7,b,1\n", &["--keep-ids"]).expect_success();
        // Ids are ignored by default.
        import("id,name,categoryId\n7,c,1\n", &[]).expect_success();
        let before = export(here.path(), &database, "csv");
        let animals = "7,b,1,available\n900,a,1,available\n901,c,1,available\n";
        assert_eq!(before, format!("id,name,categoryId,status\n{animals}"));
        for (id, reason) in [
            (
                "7",
                "line 3: id 7 is the id of an animal in the catalogue; ids must be free",
            ),
            (
                "8",
                "line 3: id 8 is the id of an earlier row; each id must occur once",
            ),
            (
                "0",
                "line 3: id must be an integer from 1 to 9006099743113216",
            ),
            ("9006099743113217", "line 3: id must be an integer"),
            ("", "line 3: id must be an integer"),
        ] {
            let content = format!("id,name,categoryId\n8,d,1\n{id},e,1\n");
            let done = import(&content, &["--keep-ids"]);
            assert_eq!(done.status.code(), Some(1), "{done:?}");
            assert!(done.stderr.starts_with(reason), "{done:?}");
        }
        assert_eq!(export(here.path(), &database, "csv"), before);
    }
}

#[test]
fn a_closed_pipe_ends_an_export_quietly_and_a_full_disk_is_an_error() {
    let here = directory();
    run(here.path(), &["import", SHELTER, "--create"]).expect_success();
    for format in ["csv", "ndjson"] {
        let mut export = command(here.path(), &["export", "--format", format]);
        let mut export = export
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        let mut stdout = export.stdout.take().unwrap();
        stdout.read_exact(&mut first).unwrap();
        drop(stdout);
        let output = export.wait_with_output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{output:?}"
        );
    }
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = command(here.path(), &["export"]);
    let output = command.stdout(full).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.contains("No space left on device"),
        "{said}"
    );
}

#[tokio::test]
async fn animals_imported_while_the_service_runs_are_on_its_pages_at_once() {
    let here = directory();
    let key = new_key(here.path());
    let service = Service::start(here.path(), &[]);
    let client = client();
    let list = async || -> Vec<Value> {
        let request = client
            .get(format!("{}/pets?limit=2", service.url))
            .bearer_auth(&key);
        request.send().await.unwrap().json().await.unwrap()
    };
    let named = create(&client, &service.url, &key, "Frank").header("Idempotency-Key", "k");
    let first: Value = named
        .try_clone()
        .unwrap()
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(list().await.len(), 1);
    run(here.path(), &["import", SHELTER, "--create"]).expect_success();
    assert_eq!(list().await.len(), 2);
    let created = create(&client, &service.url, &key, "Zoe")
        .send()
        .await
        .unwrap();
    assert_eq!(created.json::<Value>().await.unwrap()["id"], 10_002);
    assert_eq!(
        named.send().await.unwrap().json::<Value>().await.unwrap(),
        first
    );
    let exported = export(here.path(), "sqlite:petstore.db", "csv");
    assert_eq!(exported.lines().count(), 10_003);
}

#[test]
fn an_export_of_one_status_contains_only_that_status() {
    let here = directory();
    let animals = "name,categoryId,status\na,1,sold\nb,1,\nc,1,sold\n";
    fs::write(here.path().join("some.csv"), animals).unwrap();
    run(here.path(), &["import", "some.csv", "--create"]).expect_success();
    let done = finish(&mut command(here.path(), &["export", "--status", "sold"]));
    assert_eq!(
        done.expect_success().stdout,
        "id,name,categoryId,status\n1,a,1,sold\n3,c,1,sold\n"
    );
}
