//! `petstore import` of animals with values.

use std::{fs, num::NonZeroU32};

use petstore::{
    domain::store_area::PetQuery,
    store::{self, OpenMode},
};
use rand::{SeedableRng, rngs::StdRng};

use super::{
    import::{BACKENDS, expect_rejected, fresh},
    program::{directory, run},
};

/// The lines of the animals in an export of everything: each from its name on.
fn animals(exported: &str) -> Vec<String> {
    let lines = exported.lines().filter(|line| line.starts_with(r#"{"pet""#));
    let parts = lines.map(|line| {
        let name = line.split(r#""name":""#).nth(1).unwrap().split('"').next().unwrap();
        let fields = line.split(r#""fields":"#).nth(1).unwrap().split(r#","photos""#).next();
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
        let map = ["--map", "Chip No.=microchip", "--create", "--database", &database];
        run(here.path(), &[&["import", "animals.csv"], &map[..]].concat()).expect_success();
        run(here.path(), &["import", "more.ndjson", "--database", &database]).expect_success();
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
        let again = "name,categoryId,Microchip\nBo,1,2\nMo,1,3\nJo,1,3\n";
        fs::write(here.path().join("again.csv"), again).unwrap();
        let import = ["import", "again.csv", "--database", &database];
        let done = run(here.path(), &import);
        for line in [2, 4] {
            let expected = format!(
                "line {line}: fields have a microchip that another animal has; it must be unique\n"
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
    let csv = "name,categoryId,sex\nBo,1,male\n";
    let told = expect_rejected(here.path(), "bad.csv", csv.as_bytes(), &[]);
    let expected = "line 2: fields are invalid: fields.sex is of the kind choice and must be one of \
                    Female, Male, Unknown";
    assert_eq!(told[0], expected);
    let csv = "name,categoryId,sex,Sex\nBo,1,Male,Male\n";
    let told = expect_rejected(here.path(), "bad.csv", csv.as_bytes(), &[]);
    assert!(told[0].contains("both \"sex\" and \"Sex\" are the column sex"), "{told:?}");
    for (fields, expected) in [
        ("null", "fields must be an object with values that are not null"),
        (r#"{"sex":null}"#, "fields must be an object with values that are not null"),
        (r#"{"color":"red"}"#, "fields are invalid: No field has the name \"color\""),
    ] {
        let line = format!("{{\"name\":\"Bo\",\"categoryId\":1,\"fields\":{fields}}}\n");
        let told = expect_rejected(here.path(), "bad.ndjson", line.as_bytes(), &[]);
        assert!(told[0].starts_with(&format!("line 1: {expected}")), "{told:?}");
    }
}

/// How many animals the first page of a search by a value has.
async fn found(database: &str) -> usize {
    let (one, random) = (NonZeroU32::MIN, &mut StdRng::seed_from_u64(1));
    let store = store::open(&database.parse().unwrap(), OpenMode::AsIs, one, random).await.unwrap();
    let dogs = store.fields().await.unwrap().searched("species", "dog").unwrap();
    let query = PetQuery { values: vec![dogs], ..PetQuery::default() };
    store.list_store_pets(&query).await.unwrap().0.len()
}

#[tokio::test]
async fn the_search_has_the_values_of_many_animals_right_after_an_import_and_a_copy() {
    for backend in BACKENDS {
        let here = directory();
        let [database, other] = [fresh(backend, "petstore").await, fresh(backend, "other").await];
        let rows = "Rex,1,Dog\n".repeat(9_000);
        fs::write(here.path().join("dogs.csv"), format!("name,categoryId,species\n{rows}"))
            .unwrap();
        let import = ["import", "dogs.csv", "--create", "--database", &database];
        run(here.path(), &import).expect_success();
        let at = |database: &str| {
            database.replace("sqlite:", &format!("sqlite:{}/", here.path().display()))
        };
        assert_eq!(found(&at(&database)).await, 20, "{backend}");
        run(here.path(), &["copy", "--from", &database, "--to", &other]).expect_success();
        assert_eq!(found(&at(&other)).await, 20, "{backend}");
    }
}
