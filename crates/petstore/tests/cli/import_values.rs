//! `petstore import` of animals with values.

use std::{fs, num::NonZeroU32, path::Path, sync::Arc};

use petstore_databases as databases;
use petstore_domain::store_area::PetQuery;
use petstore_store::{OpenMode, Store};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use super::{
    import::{BACKENDS, expect_rejected, export, fresh},
    program::{directory, run},
};

/// The lines of the animals in an export of everything: each from its name on.
fn animals(exported: &str) -> Vec<String> {
    let lines = exported
        .lines()
        .filter(|line| line.starts_with(r#"{"pet""#));
    let parts = lines.map(|line| {
        let name = line
            .split(r#""name":""#)
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        let fields = line
            .split(r#""fields":"#)
            .nth(1)
            .unwrap()
            .split(r#","photos""#)
            .next();
        format!("{name} {}", fields.unwrap().trim_end_matches('}'))
    });
    parts.collect()
}

#[tokio::test]
async fn values_are_imported_from_columns_with_the_name_or_label_of_a_field_and_from_ndjson() {
    for backend in BACKENDS {
        let here = directory();
        let database = fresh(backend, "petstore").await;
        let csv = "name,categoryId,breed,Born,Chip No.,price\n\
            Bo,1,,,,\nLuna,1,Siamese,2024-02-29,1,\nMax,1,,,2,249.00\nRex,1,,,,\n";
        fs::write(here.path().join("animals.csv"), csv).unwrap();
        let ndjson = "{\"name\":\"Zoe\",\"categoryId\":2,\"fields\":{\"species\":\"Cat\"}}\n\
            {\"name\":\"Mia\",\"categoryId\":2}\n";
        fs::write(here.path().join("more.ndjson"), ndjson).unwrap();
        let map = [
            "--map",
            "Chip No.=microchip",
            "--create",
            "--database",
            &database,
        ];
        run(
            here.path(),
            &[&["import", "animals.csv"], &map[..]].concat(),
        )
        .expect_success();
        run(
            here.path(),
            &["import", "more.ndjson", "--database", &database],
        )
        .expect_success();
        let export = ["export", "--all", "--database", &database];
        let exported = run(here.path(), &export).expect_success().stdout;
        let expected = [
            "Bo {",
            r#"Luna {"born":"2024-02-29","breed":"Siamese","microchip":"1""#,
            r#"Max {"microchip":"2","price":"249.00""#,
            "Rex {",
            r#"Zoe {"species":"Cat""#,
            "Mia {",
        ];
        assert_eq!(animals(&exported), expected, "{backend}");
        run(here.path(), &["check", "--database", &database]).expect_success();
        let again = "name,categoryId,Microchip\nBo,1,2\nMo,1,3\nJo,1,.-3\n";
        fs::write(here.path().join("again.csv"), again).unwrap();
        let import = ["import", "again.csv", "--database", &database];
        let done = run(here.path(), &import);
        for (line, chip, holder) in [(2, 2, "the animal 3"), (4, 3, "line 3")] {
            let expected = format!(
                "line {line}: Microchip must be unique, but {holder} also has \"{chip}\"\n"
            );
            assert!(done.stderr.contains(&expected), "{done:?}");
        }
        let skip = ["--skip-invalid", "--rejects", "rejects.csv"];
        let done = run(here.path(), &[&import[..], &skip].concat());
        assert_eq!(done.status.code(), Some(3), "{done:?}");
        let exported = run(here.path(), &export).expect_success().stdout;
        assert_eq!(animals(&exported)[6..], [r#"Mo {"microchip":"3""#]);
    }
}

#[test]
fn an_invalid_value_and_two_columns_for_one_field_are_named() {
    let here = directory();
    let csv = "name,categoryId,Gender\nBo,1,x\n";
    let told = expect_rejected(
        here.path(),
        "bad.csv",
        csv.as_bytes(),
        &["--map", "Gender=sex"],
    );
    let expected = "line 2: Gender is of the kind choice and must be one of Female, Male, Unknown, \
                    but was \"x\"";
    assert_eq!(told[0], expected);
    let csv = "name,categoryId,born,price\nBo,1,2999-01-01,5\nMo,1,2024-01-01,-5\n";
    let told = expect_rejected(here.path(), "bad.csv", csv.as_bytes(), &[]);
    let [born, price] = [
        "not later than tomorrow in UTC, but was",
        "without a minus, with at most",
    ];
    assert!(
        told[0].starts_with("line 2: fields.born") && told[0].contains(born),
        "{told:?}"
    );
    assert!(
        told[1].starts_with("line 3: price") && told[1].contains(price),
        "{told:?}"
    );
    let csv = "name,categoryId,sex,Sex\nBo,1,Male,Male\n";
    let told = expect_rejected(here.path(), "bad.csv", csv.as_bytes(), &[]);
    assert!(
        told[0].contains("both \"sex\" and \"Sex\" are the column sex"),
        "{told:?}"
    );
    for (fields, expected) in [
        (
            "null",
            "fields must be an object with values that are not null",
        ),
        (
            r#"{"sex":null}"#,
            "fields must be an object with values that are not null",
        ),
        (
            r#"{"color":"red"}"#,
            "fields are invalid: No field has the name \"color\"",
        ),
        (
            r#"{"sex":"m","born":7}"#,
            "fields are invalid: fields.born is of the kind date and must be a date as a string of the form \
             YYYY-MM-DD, not later than tomorrow in UTC; fields.sex is of the kind choice and must be one of Female, Male, Unknown, but was \
             \"m\"",
        ),
    ] {
        let line = format!("{{\"name\":\"Bo\",\"categoryId\":1,\"fields\":{fields}}}\n");
        let told = expect_rejected(here.path(), "bad.ndjson", line.as_bytes(), &[]);
        assert!(
            told[0].starts_with(&format!("line 1: {expected}")),
            "{told:?}"
        );
    }
}

/// Opens a database, to look into it.
async fn open(database: &str) -> Arc<dyn Store> {
    let (one, random) = (NonZeroU32::MIN, &mut StdRng::seed_from_u64(1));
    databases::open(&database.parse().unwrap(), OpenMode::AsIs, one, random)
        .await
        .unwrap()
}

/// How many animals the first page of a search by a value has.
async fn found(database: &str) -> usize {
    let store = open(database).await;
    let dogs = store
        .fields()
        .await
        .unwrap()
        .parse_filter("species", "dog")
        .unwrap();
    let query = PetQuery {
        values: vec![dogs],
        ..PetQuery::default()
    };
    store.list_store_pets(&query).await.unwrap().0.len()
}

/// Whether so many animals wait to be merged into the search that one step does not merge them all.
async fn has_backlog(database: &str) -> bool {
    open(database).await.tend_search(0).await.unwrap()
}

#[tokio::test]
async fn the_search_has_the_values_of_many_animals_right_after_an_import_and_a_copy() {
    for backend in BACKENDS {
        let here = directory();
        let [database, other] = [
            fresh(backend, "petstore").await,
            fresh(backend, "other").await,
        ];
        let rows = "Rex,1,Dog\n".repeat(9_000);
        fs::write(
            here.path().join("dogs.csv"),
            format!("name,categoryId,species\n{rows}"),
        )
        .unwrap();
        let import = ["import", "dogs.csv", "--create", "--database", &database];
        run(here.path(), &import).expect_success();
        let at = |database: &str| {
            database.replace("sqlite:", &format!("sqlite:{}/", here.path().display()))
        };
        assert_eq!(found(&at(&database)).await, 20, "{backend}");
        // Without a merge, the search would be right, but slow.
        assert!(!has_backlog(&at(&database)).await, "{backend}");
        run(here.path(), &["copy", "--from", &database, "--to", &other]).expect_success();
        assert_eq!(found(&at(&other)).await, 20, "{backend}");
        assert!(!has_backlog(&at(&other)).await, "{backend}");
    }
}

#[test]
fn a_choice_is_accepted_in_any_case_and_kept_as_the_field_has_it() {
    let here = directory();
    fs::write(
        here.path().join("animals.csv"),
        "name,categoryId,Sex\nBo,1,MALE\n",
    )
    .unwrap();
    run(here.path(), &["import", "animals.csv", "--create"]).expect_success();
    let line = r#"{"name":"Luna","categoryId":1,"fields":{"sex":"female"}}"#;
    fs::write(here.path().join("animals.ndjson"), line).unwrap();
    run(here.path(), &["import", "animals.ndjson"]).expect_success();
    let exported = run(here.path(), &["export", "--all"])
        .expect_success()
        .stdout;
    assert_eq!(
        animals(&exported),
        [r#"Bo {"sex":"Male""#, r#"Luna {"sex":"Female""#]
    );
    // Or its label; but a value before a label.
    let labels = r#"UPDATE fields SET choice_labels = '{"Female":"Queen"}' WHERE name = 'sex'"#;
    let database = rusqlite::Connection::open(here.path().join("petstore.db")).unwrap();
    assert_eq!(database.execute(labels, []).unwrap(), 1);
    fs::write(
        here.path().join("animals.csv"),
        "name,categoryId,sex\nMia,1,QUEEN\n",
    )
    .unwrap();
    run(here.path(), &["import", "animals.csv"]).expect_success();
    let line = r#"{"name":"Kim","categoryId":1,"fields":{"sex":"queen"}}"#;
    fs::write(here.path().join("animals.ndjson"), line).unwrap();
    run(here.path(), &["import", "animals.ndjson"]).expect_success();
    let exported = run(here.path(), &["export", "--all"])
        .expect_success()
        .stdout;
    assert_eq!(
        animals(&exported)[2..],
        [r#"Mia {"sex":"Female""#, r#"Kim {"sex":"Female""#]
    );
}

#[test]
fn a_microchip_that_a_spreadsheet_has_shortened_is_rejected_with_the_way_to_undo_it() {
    let here = directory();
    let csv = "name,categoryId,microchip\nBo,1,9.81E+14\nMo,1,\"2,76098E+14\"\nMia,1,0A12E34F\n";
    let told = expect_rejected(here.path(), "bad.csv", csv.as_bytes(), &[]);
    let [bo, mo] = ["9.81E+14", "2,76098E+14"].map(|chip| {
        format!(
            "microchip has a number that a spreadsheet has shortened, so that its last digits are \
             lost: \"{chip}\"; in the spreadsheet, format the column as a number without decimals, \
             and save the file again"
        )
    });
    assert_eq!(
        told[..2],
        [format!("line 2: {bo}"), format!("line 3: {mo}")]
    );
}

#[test]
fn all_problems_of_a_row_are_named_by_the_headings_of_the_file_with_their_values() {
    let here = directory();
    let csv = "Animal,categoryId,STATUS,Date of Birth,Sex\nBo,x,gone,3.14.2024,x\nMo,1,sold,,y\n";
    let map = ["--map", "Animal=name", "--map", "Date of Birth=born"];
    let told = expect_rejected(here.path(), "bad.csv", csv.as_bytes(), &map);
    let sex = "is of the kind choice and must be one of Female, Male, Unknown, but was";
    let four = format!(
        "categoryId must be an integer from -9223372036854775808 to 9223372036854775807 without \
         leading zeros, but was \"x\"; STATUS must be one of available, pending and sold, but was \
         \"gone\"; Sex {sex} \"x\"; Date of Birth is of the kind date and must be a date as a string \
         of the form YYYY-MM-DD, not later than tomorrow in UTC, but was \"3.14.2024\""
    );
    assert_eq!(
        told[..2],
        [
            format!("line 2: {four}"),
            format!("line 3: Sex {sex} \"y\"")
        ]
    );
    let skip = [
        "import",
        "bad.csv",
        "--create",
        "--skip-invalid",
        "--rejects",
        "rejects.csv",
    ];
    let done = run(here.path(), &[&skip[..], &map].concat());
    assert_eq!(done.status.code(), Some(3), "{done:?}");
    let rejects = csv::Reader::from_path(here.path().join("rejects.csv")).unwrap();
    let rejects: Vec<_> = rejects.into_records().map(Result::unwrap).collect();
    let columns: Vec<_> = rejects.iter().map(|row| (&row[1], &row[2])).collect();
    let of_one = format!("Sex {sex} \"y\"");
    let all = [
        ("categoryId, STATUS, Sex, Date of Birth", &*four),
        ("Sex", &of_one),
    ];
    assert_eq!(columns, all);
}

/// Adds fields and categories to a new database.
fn prepare(here: &Path, database: &str, lines: &[Value]) {
    let lines = lines
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join("\n");
    fs::write(here.join("store.ndjson"), lines).unwrap();
    let import = [
        "import",
        "store.ndjson",
        "--keep-ids",
        "--create",
        "--database",
        database,
    ];
    run(here, &import).expect_success();
}

#[tokio::test]
async fn a_column_category_has_the_label_of_a_category_in_any_case() {
    for backend in BACKENDS {
        let here = directory();
        let database = fresh(backend, "petstore").await;
        let category =
            |id: i64, label: &str| json!({"category": {"id": id, "label": label, "version": 1}});
        let import = |file: &str, more: &[&str]| {
            fs::write(here.path().join("animals.csv"), file).unwrap();
            run(
                here.path(),
                &[&["import", "animals.csv", "--database", &database], more].concat(),
            )
        };
        let labels = [
            category(-4, "Cats"),
            category(7, "Small Dogs"),
            category(8, "cats "),
        ];
        prepare(here.path(), &database, &labels[..2]);
        import("name,Category\nLuna,CATS\nBo,small dogs\n", &[]).expect_success();
        import("name,Kind\nMo, Cats\n", &["--map", "Kind=category"]).expect_success();
        let animals = "1,Luna,-4,available\n2,Bo,7,available\n3,Mo,-4,available\n";
        let exported = export(here.path(), &database, "csv");
        assert_eq!(
            exported,
            format!("id,name,categoryId,status\n{animals}"),
            "{backend}"
        );
        let done = import("name,Category\nLuna,Dogs\n", &[]);
        let expected = "line 2: Category must be a label of a category, such as \"Cats\", \"Small Dogs\", but was \
                        \"Dogs\"\n";
        assert!(done.stderr.starts_with(expected), "{done:?}");
        // The number counts if a file has both.
        let both = "name,Category,categoryId\nTom,Cats,7\n";
        assert!(
            import(both, &[])
                .stderr
                .contains("unknown columns: \"Category\"")
        );
        let done = import(both, &["--ignore-unknown-columns"]).expect_success();
        assert!(
            done.stderr
                .starts_with("Columns that are left out: \"Category\"."),
            "{done:?}"
        );
        prepare(here.path(), &database, &labels[2..]);
        let done = import("name,Category\nLuna,Cats\n", &[]);
        let expected = "line 2: Category \"Cats\" is the label of the categories -4 and 8; use a column \
                        categoryId with numbers\n";
        assert!(done.stderr.starts_with(expected), "{done:?}");
    }
    let told = expect_rejected(
        directory().path(),
        "bad.csv",
        b"name,category\nLuna,Cats\n",
        &[],
    );
    assert!(
        told[0].contains("but there are none, or too many; use a column"),
        "{told:?}"
    );
}

#[test]
fn a_heading_that_can_be_two_columns_is_rejected() {
    let here = directory();
    let field = |name: &str, label: &str| {
        json!({"field": {"name": name, "label": label, "kind": "text", "choices": null,
            "public": true, "unique": false, "position": 1, "version": 1}})
    };
    prepare(
        here.path(),
        "sqlite:petstore.db",
        &[
            field("a", "Colour"),
            field("b", "Colour"),
            field("c", "Status"),
            field("name", "Other name"),
        ],
    );
    for (heading, one, other) in [("Colour", "a", "b"), ("STATUS", "status", "c")] {
        // A member has its name before a field that has the same one.
        let file = format!("Name,categoryId,{heading}\nLuna,1,sold\n");
        fs::write(here.path().join("animals.csv"), file).unwrap();
        let import = ["import", "animals.csv"];
        let said = run(here.path(), &import).expect_one_line();
        let expected = format!(
            "line 1: the column \"{heading}\" can be {one} or {other}; say which with --map \
             '{heading}={one}'\n"
        );
        assert!(said.ends_with(&expected), "{said}");
        let map = format!("{heading}={one}");
        run(here.path(), &[&import[..], &["--map", &map]].concat()).expect_success();
    }
}

/// The animals of an export of everything that are not on the website.
fn unlisted(here: &Path, database: &str) -> Vec<String> {
    let exported = run(here, &["export", "--all", "--database", database]).expect_success();
    let mut names = Vec::new();
    for line in exported.stdout.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["pet"]["listed"] == false {
            names.push(line["pet"]["name"].as_str().unwrap().to_owned());
        }
    }
    names
}

#[tokio::test]
async fn a_file_says_which_animals_are_not_on_the_website_yet() {
    for backend in BACKENDS {
        let here = directory();
        let database = fresh(backend, "petstore").await;
        // With values and without, because stores add these in another way.
        let csv =
            "name,categoryId,listed,breed\nBo,1,,\nLuna,1,no,Siamese\nMax,1,FALSE,\nRex,1,yes,\n";
        fs::write(here.path().join("a.csv"), csv).unwrap();
        let german = "Name;Kategorie;Auf der Website\nMia;1;Noch nicht auf der Website\nLeo;1;ja\n";
        fs::write(here.path().join("b.csv"), german).unwrap();
        let ndjson = "{\"name\":\"Zoe\",\"categoryId\":2,\"listed\":false}\n\
            {\"name\":\"Ada\",\"categoryId\":2,\"listed\":true}\n";
        fs::write(here.path().join("c.ndjson"), ndjson).unwrap();
        fs::write(
            here.path().join("categories.ndjson"),
            "{\"category\":{\"id\":1,\"label\":\"Dogs\",\"version\":1}}\n",
        )
        .unwrap();
        let category = ["import", "categories.ndjson", "--keep-ids", "--create"];
        run(
            here.path(),
            &[&category[..], &["--database", &database]].concat(),
        )
        .expect_success();
        for file in ["a.csv", "b.csv", "c.ndjson"] {
            run(here.path(), &["import", file, "--database", &database]).expect_success();
        }
        let names = unlisted(here.path(), &database);
        assert_eq!(names, ["Luna", "Max", "Mia", "Zoe"], "{backend}");

        for (file, line, reason) in [
            ("x.csv", "name,categoryId,listed\nBo,1,perhaps\n", "perhaps"),
            (
                "x.ndjson",
                "{\"name\":\"Bo\",\"categoryId\":1,\"listed\":null}\n",
                "null",
            ),
        ] {
            fs::write(here.path().join(file), line).unwrap();
            let done = run(here.path(), &["import", file, "--database", &database]);
            let expected = format!("listed must be true or false, but was \"{reason}\"");
            assert!(done.stderr.contains(&expected), "{done:?}");
        }
    }
}
