//! `petstore export --all`, and the import of what it writes.

use std::{fs, path::Path};

use super::{
    import::{BACKENDS, expect_rejected, export, fresh},
    program::{directory, run},
};

/// Everything that a store area can have, as `petstore export --all` writes it.
const EVERYTHING: &str = r#"{"pet":{"id":3,"name":"Max \u0001 \"é\"","categoryId":-7,"status":"available","version":1,"createdAt":null,"updatedAt":null,"orderId":null,"withdrawn":null,"fields":{},"photos":[],"listed":true}}
{"pet":{"id":5,"name":"","categoryId":1,"status":"pending","version":4,"createdAt":"2026-11-20T08:00:00.123Z","updatedAt":"2026-11-21T08:00:00.000Z","orderId":9,"withdrawn":null,"fields":{"microchip":"1"},"photos":[],"listed":true}}
{"pet":{"id":6,"name":"Rex","categoryId":1,"status":"sold","version":2,"createdAt":null,"updatedAt":"2026-11-21T08:00:00.000Z","orderId":null,"withdrawn":null,"fields":{},"photos":[],"listed":false}}
{"pet":{"id":8,"name":"Zoe","categoryId":1,"status":"sold","version":3,"createdAt":null,"updatedAt":"2026-11-21T08:00:00.000Z","orderId":null,"withdrawn":{"at":"2026-11-21T08:00:00.000Z","reason":"died","note":"old"},"fields":{"microchip":"1"},"photos":[],"listed":false}}
{"order":{"id":2,"petId":6,"status":"completed","reference":"R-1","note":null,"reason":null,"expiresAt":null,"createdAt":"2026-11-21T08:00:00.000Z","closedAt":"2026-11-21T08:00:00.000Z","version":1,"price":null,"contact":null,"holds":true}}
{"order":{"id":4,"petId":8,"status":"completed","reference":null,"note":"n","reason":null,"expiresAt":"2026-11-30T08:00:00.000Z","createdAt":"2026-11-20T08:00:00.000Z","closedAt":"2026-11-21T08:00:00.000Z","version":2,"price":"249.00","contact":null,"holds":false}}
{"order":{"id":7,"petId":5,"status":"cancelled","reference":null,"note":null,"reason":"ill","expiresAt":"2026-11-30T08:00:00.000Z","createdAt":"2026-11-20T08:00:00.000Z","closedAt":"2026-11-21T08:00:00.000Z","version":2,"price":null,"contact":null,"holds":false}}
{"order":{"id":9,"petId":5,"status":"reserved","reference":null,"note":null,"reason":null,"expiresAt":"2026-12-30T08:00:00.000Z","createdAt":"2026-11-21T08:00:00.000Z","closedAt":null,"version":1,"price":null,"contact":null,"holds":true}}
{"category":{"id":-7,"label":"cats","version":3}}
{"note":{"id":5,"petId":8,"text":"Afraid of \"men\"\nö","author":{"kind":"staff","id":2,"name":"Nora \"N\""},"createdAt":"2026-11-21T08:00:00.000Z","updatedAt":"2026-11-21T08:00:00.000Z","version":3}}
{"note":{"id":6,"petId":3,"text":"n","author":{"kind":"command","id":null,"name":null},"createdAt":"2026-11-21T08:00:00.000Z","updatedAt":"2026-11-21T08:00:00.000Z","version":1}}
"#;

/// What a store says about itself.
pub(super) const PROFILE: &str = r##"{"profile":{"name":"Refuge \"1\"","language":"fr","currency":null,"email":null,"telephone":"+33 4 78","contactPage":null,"address":"1 rue\n69001 Lyon","hours":null,"about":null,"links":[{"label":"L","url":"https://a.example"}],"colour":"#AABBCC","kind":"shelter","timeZone":"Europe/Paris","contract":"{store} confie {animal}.\n\nÀ \"Lyon\"","version":9}}
"##;

/// The fields of a store.
const FIELDS: &str = r#"{"field":{"name":"temper","label":"Temper \"é\"","kind":"choice","choices":["Calm","Shy"],"choiceLabels":{"Calm":"Ruhig \"1\"","Wild":"W"},"public":true,"unique":false,"position":0,"version":7}}
{"field":{"name":"microchip","label":"Chip","kind":"text","choices":null,"choiceLabels":null,"public":false,"unique":true,"position":5,"version":2}}
"#;

pub(super) fn export_with_fields(here: &Path, database: &str) -> String {
    let done = run(here, &["export", "--all", "--database", database]).expect_success();
    assert_eq!(done.stderr, "");
    done.stdout
}

/// Everything after the fields.
fn export_all(here: &Path, database: &str) -> String {
    without_fields(&export_with_fields(here, database))
}

fn without_fields(all: &str) -> String {
    let others = all
        .split_inclusive('\n')
        .skip_while(|line| line.starts_with(r#"{"field""#));
    others.collect()
}

#[tokio::test]
async fn everything_is_exported_as_it_was_imported_from_each_database_into_the_other() {
    let here = directory();
    let everything = [PROFILE, FIELDS, EVERYTHING].concat();
    fs::write(here.path().join("0.ndjson"), &everything).unwrap();
    for (number, backend) in ["sqlite", "postgres", "sqlite"].into_iter().enumerate() {
        let database = fresh(backend, &number.to_string()).await;
        let file = format!("{number}.ndjson");
        let import = [
            "import",
            &file,
            "--keep-ids",
            "--create",
            "--database",
            &database,
        ];
        let said = run(here.path(), &import).expect_success().stderr;
        let expected = "Imported 4 animals, 4 orders, 1 category, 2 notes and 2 fields into ";
        assert!(said.starts_with(expected), "{said}");
        let exported = export_with_fields(here.path(), &database);
        assert_eq!(exported, everything, "{backend}");
        fs::write(here.path().join(format!("{}.ndjson", number + 1)), exported).unwrap();
        run(here.path(), &["check", "--database", &database]).expect_success();
        // The animals of the contract, and those that come next.
        let csv = "id,name,categoryId\n10,Bo,1\n";
        fs::write(here.path().join("more.csv"), csv).unwrap();
        run(
            here.path(),
            &["import", "more.csv", "--database", &database],
        )
        .expect_success();
        let animals = export(here.path(), &database, "csv");
        let ids: Vec<_> = animals
            .lines()
            .map(|line| line.split(',').next().unwrap())
            .collect();
        assert_eq!(ids, ["id", "3", "5", "6", "9"]);
    }
}

#[tokio::test]
async fn contacts_are_exported_on_demand_imported_and_copied_with_the_orders_of_any_number() {
    let here = directory();
    // More than are added at once, and a line of an order from before it had a price and a contact.
    let lines = (1..=1_200).map(|id| {
        let order = EVERYTHING
            .lines()
            .nth(6)
            .unwrap()
            .replace("\"id\":7", &format!("\"id\":{id}"));
        order.replace(
            "\"contact\":null",
            &format!("\"contact\":\"Anna \\\"{id}\\\"\""),
        )
    });
    let pet = EVERYTHING
        .lines()
        .next()
        .unwrap()
        .replace("\"id\":3", "\"id\":5");
    let lines: Vec<_> = std::iter::once(pet).chain(lines).collect();
    let with = lines.join("\n") + "\n";
    let earlier = lines[1]
        .split(",\"price\"")
        .next()
        .unwrap()
        .replace("\"id\":1,", "\"id\":1201,");
    let earlier = earlier + ",\"holds\":false}}\n";
    fs::write(here.path().join("with.ndjson"), format!("{with}{earlier}")).unwrap();
    let without = earlier.replace(",\"holds\"", ",\"price\":null,\"contact\":null,\"holds\"");
    for backend in BACKENDS {
        let database = fresh(backend, backend).await;
        let import = [
            "import",
            "with.ndjson",
            "--keep-ids",
            "--create",
            "--database",
            &database,
        ];
        run(here.path(), &import).expect_success();
        let all = ["export", "--all", "--with-contacts", "--database"];
        let exported = run(here.path(), &[&all[..], &[&database]].concat()).expect_success();
        assert!(
            without_fields(&exported.stdout) == format!("{with}{without}"),
            "{backend}"
        );
        assert!(
            !export_all(here.path(), &database).contains("Anna"),
            "{backend}"
        );
        for (number, other) in BACKENDS.into_iter().enumerate() {
            let to = fresh(other, &format!("{backend}-{number}")).await;
            let copy = ["copy", "--with-contacts", "--from", &database, "--to", &to];
            run(here.path(), &copy).expect_success();
            let copied = run(here.path(), &[&all[..], &[&to]].concat()).expect_success();
            assert!(copied.stdout == exported.stdout, "{backend} to {other}");
        }
    }
    let line = run(here.path(), &["export", "--with-contacts"]).expect_one_line();
    assert!(line.contains("--all"), "{line}");
}

#[tokio::test]
async fn times_at_each_end_of_their_range_are_imported_used_and_exported() {
    for (backend, other) in [("sqlite", "postgres"), ("postgres", "sqlite")] {
        for (end, kept) in [
            ("9999-12-31T23:59:59.999Z", "9999-12-30T22:00:00.000Z"),
            ("9999-12-30T22:00:00.999Z", "9999-12-30T22:00:00.000Z"),
            ("0000-01-01T00:00:00+23:59", "0000-01-01T00:00:00.000Z"),
        ] {
            let here = directory();
            let database = fresh(backend, "petstore").await;
            let with = |time: &str| {
                let mut parts = EVERYTHING.split("\"2026");
                let first = parts.next().unwrap().to_owned();
                parts.fold(first, |all, part| {
                    all + "\"" + time + &part["-11-21T08:00:00.000Z".len()..]
                })
            };
            fs::write(here.path().join("all.ndjson"), with(end)).unwrap();
            let import = [
                "import",
                "all.ndjson",
                "--keep-ids",
                "--create",
                "--database",
                &database,
            ];
            run(here.path(), &import).expect_success();
            assert_eq!(export_all(here.path(), &database), with(kept), "{backend}");
            run(here.path(), &["check", "--database", &database]).expect_success();
            let copy = fresh(other, "copy").await;
            run(here.path(), &["copy", "--from", &database, "--to", &copy]).expect_success();
            assert_eq!(export_all(here.path(), &copy), with(kept), "{other}");
            if backend == "sqlite" {
                run(here.path(), &["backup", "backup.db"]).expect_success();
            }
        }
    }
}

#[test]
fn an_id_or_version_that_would_leave_too_few_is_rejected_also_in_a_dry_run() {
    let here = directory();
    for (line, name, number) in [
        (1, "id", "3"),
        (5, "id", "2"),
        (1, "version", "1"),
        (6, "version", "2"),
        (9, "version", "3"),
        (10, "id", "5"),
        (10, "version", "3"),
    ] {
        for too_high in [
            "9006099743113217",
            "9007199254740991",
            "9223372036854775807",
        ] {
            let mut lines: Vec<String> = EVERYTHING.lines().map(str::to_owned).collect();
            let [given, other] = [number, too_high].map(|number| format!(r#""{name}":{number}"#));
            assert!(lines[line - 1].contains(&given), "{given}");
            lines[line - 1] = lines[line - 1].replacen(&given, &other, 1);
            let content = lines.join("\n");
            let expected =
                format!("line {line}: {name} must be an integer from 1 to 9006099743113216");
            for options in [&["--keep-ids"][..], &["--keep-ids", "--dry-run"]] {
                let told = expect_rejected(here.path(), "bad.ndjson", content.as_bytes(), options);
                assert!(told[0].starts_with(&expected), "{told:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_store_goes_on_after_an_import_of_the_highest_ids_and_versions() {
    for backend in BACKENDS {
        let here = directory();
        let database = fresh(backend, "petstore").await;
        let highest = EVERYTHING
            .replace(r#""id":8,"#, r#""id":9006099743113216,"#)
            .replace(r#""petId":8,"#, r#""petId":9006099743113216,"#)
            .replace(r#""id":9,"#, r#""id":9006099743113216,"#)
            .replace(r#""orderId":9,"#, r#""orderId":9006099743113216,"#)
            .replace(r#""version":3"#, r#""version":9006099743113216"#);
        fs::write(here.path().join("all.ndjson"), &highest).unwrap();
        let import = [
            "import",
            "all.ndjson",
            "--keep-ids",
            "--create",
            "--database",
            &database,
        ];
        run(here.path(), &import).expect_success();
        assert_eq!(export_all(here.path(), &database), highest);
        fs::write(here.path().join("more.csv"), "name,categoryId\nBo,1\n").unwrap();
        run(
            here.path(),
            &["import", "more.csv", "--database", &database],
        )
        .expect_success();
        let animals = export(here.path(), &database, "csv");
        assert!(
            animals.ends_with("9006099743113217,Bo,1,available\n"),
            "{animals}"
        );
        run(here.path(), &["check", "--database", &database]).expect_success();
    }
}

#[test]
fn a_file_of_the_store_area_needs_keep_ids_and_cannot_be_imported_in_part() {
    let here = directory();
    for options in [&[][..], &["--skip-invalid", "--rejects", "bad.csv"]] {
        let said = expect_rejected(here.path(), "all.ndjson", EVERYTHING.as_bytes(), options);
        let expected = "error: nothing was imported: all.ndjson: line 1: the file is an export \
                        with --all, with the ids of animals, orders and categories; import it with \
                        --keep-ids";
        assert_eq!(said, [expected]);
    }
    let options = [
        "--keep-ids",
        "--skip-invalid",
        "--rejects",
        "bad.csv",
        "--create",
    ];
    let import = [&["import", "all.ndjson"][..], &options].concat();
    let line = run(here.path(), &import).expect_one_line();
    let expected = "error: --skip-invalid cannot be used with an export with --all, because its \
                    lines depend on each other\n";
    assert_eq!(line, expected);
}

#[test]
fn an_export_of_everything_is_only_ndjson_and_has_animals_with_each_status() {
    let here = directory();
    fs::write(here.path().join("all.ndjson"), EVERYTHING).unwrap();
    run(
        here.path(),
        &["import", "all.ndjson", "--keep-ids", "--create"],
    )
    .expect_success();
    for options in [["--format", "csv"], ["--status", "sold"]] {
        let line = run(here.path(), &[&["export", "--all"][..], &options].concat());
        let expected = "error: --all needs --format ndjson, and cannot be combined with --status\n";
        assert_eq!(line.expect_one_line(), expected);
    }
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
#[test]
fn each_line_of_the_store_area_that_is_invalid_or_does_not_agree_with_others_is_named() {
    let here = directory();
    // The line number, a part of the line and its replacement; and what is reported.
    for (line, part, other, expected) in [
        (
            1,
            r#"{"pet""#,
            r#"{"extra":1,"pet""#,
            "not a valid JSON animal",
        ),
        (
            1,
            r"true}}",
            r#"true},"order":{}}"#,
            "the line must have one member: profile, field, pet,",
        ),
        (
            1,
            r"true}}",
            r"true}",
            "The line is not valid JSON, at byte ",
        ),
        (
            1,
            r#""id":3"#,
            r#""id":0"#,
            "id must be an integer from 1 to 9006099743113216",
        ),
        (
            1,
            r#""id":3,"#,
            "",
            "id is missing; it must be an integer from 1",
        ),
        (
            1,
            r#""version":1"#,
            r#""version":0"#,
            "version must be an integer from 1",
        ),
        (
            1,
            r#""version":1"#,
            r#""version":1,"version":1"#,
            "The animal has the member \"version\" twice",
        ),
        (
            1,
            r#""createdAt""#,
            r#""created""#,
            "The animal has the unknown member \"created\". Allowed members: id, name",
        ),
        (
            1,
            r#""createdAt":null,"#,
            "",
            "createdAt is missing; it must be an RFC 3339 time",
        ),
        (
            1,
            "available",
            "lost",
            "status must be one of available, pending and sold",
        ),
        (
            1,
            r#""orderId":null"#,
            r#""orderId":4"#,
            "orderId must be null, except for a pending",
        ),
        (
            2,
            r#""id":5"#,
            r#""id":3"#,
            "id 3 is the id of an earlier row; each id must occur once",
        ),
        (
            2,
            r#""orderId":9"#,
            r#""orderId":7"#,
            "orderId 7 is the id of no reserved order in the",
        ),
        (
            4,
            r#""updatedAt":"2026-11-21T08:00:00.000Z""#,
            r#""updatedAt":null"#,
            "updatedAt must not",
        ),
        (
            4,
            "died",
            "eaten",
            "withdrawn must be null, or an object with a valid at, reason and note",
        ),
        (
            5,
            r#""petId":6"#,
            r#""petId":7"#,
            "petId 7 is the id of no animal on an earlier line",
        ),
        (
            5,
            r#""petId":6"#,
            r#""petId":3"#,
            "holds must be false, because the animal 3 is available",
        ),
        (
            5,
            "R-1",
            "\\u0000",
            "reference must be a string of at most 255 characters without U+0000",
        ),
        (
            5,
            "completed",
            "paid",
            "status must be one of reserved, completed, cancelled, expired",
        ),
        (
            6,
            r#""holds":false"#,
            r#""holds":0"#,
            "holds must be true or false",
        ),
        (
            7,
            r#""holds":false"#,
            r#""holds":true"#,
            "holds must be true for a reserved order, and",
        ),
        (
            7,
            r#""closedAt":"2026-11-21T08:00:00.000Z""#,
            r#""closedAt":null"#,
            "closedAt must be null",
        ),
        (
            8,
            r#""expiresAt":"2026-12-30T08:00:00.000Z""#,
            r#""expiresAt":null"#,
            "expiresAt must not",
        ),
        (
            8,
            r#""petId":5"#,
            r#""petId":3"#,
            "a reserved order must be the orderId of its animal, but",
        ),
        (
            8,
            r#""id":9"#,
            r#""id":7"#,
            "id 7 is the id of an earlier row",
        ),
        (
            9,
            r#""cats""#,
            r#""""#,
            "label must be a string of 1 to 255 characters without U+0000",
        ),
        (
            10,
            r#""petId":8"#,
            r#""petId":7"#,
            "petId 7 is the id of no animal on an earlier line; a note comes after its animal",
        ),
        (
            10,
            r#""kind":"staff","id":2"#,
            r#""kind":"staff","id":null"#,
            "author must be an object with the members kind, id and name, such as",
        ),
        (
            11,
            r#""text":"n""#,
            r#""text":"""#,
            "text must be a string of 1 to 1000 characters without U+0000",
        ),
    ] {
        let mut lines: Vec<String> = EVERYTHING.lines().map(str::to_owned).collect();
        assert!(lines[line - 1].contains(part), "{part}");
        lines[line - 1] = lines[line - 1].replacen(part, other, 1);
        let content = lines.join("\n");
        let told = expect_rejected(
            here.path(),
            "bad.ndjson",
            content.as_bytes(),
            &["--keep-ids"],
        );
        let expected = format!("line {line}: {expected}");
        assert!(
            told.iter().any(|told| told.starts_with(&expected)),
            "{expected}: {told:?}"
        );
        assert!(
            told.last()
                .unwrap()
                .ends_with("; nothing was imported; correct them")
        );
    }
}

#[test]
fn two_orders_cannot_hold_one_animal_and_at_most_20_invalid_rows_are_shown() {
    let here = directory();
    let twice = EVERYTHING.replace(r#""petId":8"#, r#""petId":6"#);
    let twice = twice.replace(
        r#""version":2,"price":"249.00","contact":null,"holds":false}}
{"order":{"id":7"#,
        r#""version":2,"price":"249.00","contact":null,"holds":true}}
{"order":{"id":7"#,
    );
    let told = expect_rejected(here.path(), "bad.ndjson", twice.as_bytes(), &["--keep-ids"]);
    let expected = "line 6: holds must be false, because the order 2 on an earlier line holds the \
                    animal 6";
    assert_eq!(told[0], expected);
    let waiting = EVERYTHING.lines().nth(1).unwrap();
    let waiting = waiting.replace(r#"{"microchip":"1"}"#, "{}");
    let many = (1..=30).map(|id| waiting.replace(r#""id":5"#, &format!(r#""id":{id}"#)));
    let many = many.collect::<Vec<_>>().join("\n");
    let told = expect_rejected(here.path(), "bad.ndjson", many.as_bytes(), &["--keep-ids"]);
    assert_eq!(
        (told.len(), told[20].as_str()),
        (22, "and 10 more rows"),
        "{told:?}"
    );
    assert!(told[21].contains("invalid rows: 30 of 30"), "{told:?}");
}

#[tokio::test]
async fn a_database_with_animals_keeps_its_fields_and_gets_those_that_it_does_not_have() {
    for backend in BACKENDS {
        let here = directory();
        let database = fresh(backend, "petstore").await;
        fs::write(here.path().join("one.csv"), "name,categoryId\nBo,1\n").unwrap();
        let first = ["import", "one.csv", "--create", "--database", &database];
        run(here.path(), &first).expect_success();
        let before = export_with_fields(here.path(), &database);
        fs::write(here.path().join("fields.ndjson"), FIELDS).unwrap();
        let import = [
            "import",
            "fields.ndjson",
            "--keep-ids",
            "--database",
            &database,
        ];
        let said = run(here.path(), &import).expect_success().stderr;
        let expected = "Imported 0 animals, 0 orders, 0 categories, 0 notes and 2 fields into ";
        assert!(said.starts_with(expected), "{said}");
        let new = FIELDS.split_inclusive('\n').next().unwrap();
        assert_eq!(
            export_with_fields(here.path(), &database),
            [new, &before].concat()
        );
        let audit = ["audit", "--format", "ndjson", "--database", &database];
        let audit = run(here.path(), &audit).expect_success().stdout;
        assert_eq!(
            audit.matches(r#""type":"field.added""#).count(),
            1,
            "{audit}"
        );
        let other = new.replace("temper", "breed");
        fs::write(
            here.path().join("other.ndjson"),
            [&other, new, new].concat(),
        )
        .unwrap();
        let import = [
            "import",
            "other.ndjson",
            "--keep-ids",
            "--database",
            &database,
        ];
        let done = run(here.path(), &import);
        for expected in [
            "line 1: name \"breed\" is a field of the database, with another kind or another value \
             of unique; import into a database without animals, or delete that field\n",
            "line 3: name \"temper\" is the name of an earlier field; each must occur once\n",
        ] {
            assert!(done.stderr.contains(expected), "{done:?}");
        }
    }
}

#[tokio::test]
async fn ids_of_orders_and_categories_must_be_free_too() {
    for backend in BACKENDS {
        let here = directory();
        let database = fresh(backend, "petstore").await;
        fs::write(here.path().join("all.ndjson"), EVERYTHING).unwrap();
        let import = [
            "import",
            "all.ndjson",
            "--keep-ids",
            "--create",
            "--database",
            &database,
        ];
        run(here.path(), &import).expect_success();
        let done = run(here.path(), &import);
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        for expected in [
            "line 1: id 3 is the id of an animal in the catalogue; ids must be free\n",
            "line 4: id 8 is the id of an animal in the catalogue; ids must be free\n",
            "line 5: id 2 is the id of an order in the database; ids must be free\n",
            "line 9: id -7 is the id of a category in the database; ids must be free\n",
        ] {
            assert!(done.stderr.contains(expected), "{done:?}");
        }
        assert_eq!(export_all(here.path(), &database), EVERYTHING);
    }
}
