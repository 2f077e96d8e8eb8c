//! `petstore import` of cells as spreadsheets write them: as the console reads them in pasted lines.

use std::{fs, path::Path};

use petstore_testing::cells::{CELLS, COLUMNS};
use serde_json::{Value, json};

use super::program::{directory, run};

fn new_field(name: &str, kind: &str) -> Value {
    json!({"field": {"name": name, "label": name, "kind": kind, "choices": null, "public": true,
        "unique": false, "position": 1, "version": 1}})
}

/// Makes a database with the fields of a new store, and a date, a boolean and an integer.
fn create_store(here: &Path) {
    fs::write(here.join("empty.csv"), "name,categoryId\n").unwrap();
    let import = [
        "import",
        "empty.csv",
        "--create",
        "--database",
        "sqlite:empty.db",
    ];
    run(here, &import).expect_success();
    let export = ["export", "--all", "--database", "sqlite:empty.db"];
    let mut lines = run(here, &export).expect_success().stdout;
    for (name, kind) in [
        ("arrived", "date"),
        ("neutered", "boolean"),
        ("grams", "integer"),
    ] {
        lines.push_str(&new_field(name, kind).to_string());
        lines.push('\n');
    }
    fs::write(here.join("fields.ndjson"), lines).unwrap();
    run(here, &["import", "fields.ndjson", "--keep-ids", "--create"]).expect_success();
}

/// Writes a file with a row for each cell, in the order of [`CELLS`].
fn write_cells(path: &Path) {
    let mut writer = csv::Writer::from_path(path).unwrap();
    let head = ["categoryId", "breed", "name"];
    writer.write_record(head.iter().chain(&COLUMNS)).unwrap();
    for (index, cell) in CELLS.iter().enumerate() {
        let mut row = vec!["1".to_owned(), format!("cell {index}")];
        row.extend(cell.row().into_iter().map(str::to_owned));
        writer.write_record(row).unwrap();
    }
    writer.flush().unwrap();
}

/// Returns the value of a member or a field of an animal, as text.
fn value(pet: &Value, column: &str) -> String {
    let value = match column {
        "name" => &pet["name"],
        field => &pet["fields"][field],
    };
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[test]
fn a_cell_that_a_spreadsheet_writes_is_imported_as_it_is_pasted() {
    let here = directory();
    create_store(here.path());
    write_cells(&here.path().join("cells.csv"));
    let import = [
        "import",
        "cells.csv",
        "--skip-invalid",
        "--rejects",
        "rejects.csv",
    ];
    let done = run(here.path(), &import);
    assert_eq!(done.status.code(), Some(3), "{done:?}");

    let exported = run(here.path(), &["export", "--all"])
        .expect_success()
        .stdout;
    let mut pets = Vec::new();
    for line in exported.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["pet"].is_object() {
            pets.push(line["pet"].clone());
        }
    }
    for (index, cell) in CELLS.iter().enumerate() {
        let breed = format!("cell {index}");
        let pet = pets.iter().find(|pet| pet["fields"]["breed"] == breed);
        let value = pet.map(|pet| value(pet, cell.column));
        assert_eq!(
            value.as_deref(),
            cell.value,
            "{} {:?} of {}",
            cell.column,
            cell.text,
            cell.program
        );
    }
    let rejects = fs::read_to_string(here.path().join("rejects.csv")).unwrap();
    for meanings in [
        "can mean 2024-04-03 or 2024-03-04; write the right one",
        "can mean 1250 or 1.25; write 1250 or 1.25",
    ] {
        assert!(rejects.contains(meanings), "{rejects}");
    }
}

#[test]
fn an_age_is_marked_as_an_estimate_and_the_mark_survives_an_export() {
    let here = directory();
    fs::write(here.path().join("empty.csv"), "name,categoryId\n").unwrap();
    let first = ["import", "empty.csv", "--create"];
    run(here.path(), &first).expect_success();
    let mut lines = run(here.path(), &["export", "--all"])
        .expect_success()
        .stdout;
    lines.push_str(&new_field("born_estimated", "boolean").to_string());
    fs::write(here.path().join("fields.ndjson"), lines).unwrap();
    fs::remove_file(here.path().join("petstore.db")).unwrap();
    let fields = ["import", "fields.ndjson", "--keep-ids", "--create"];
    run(here.path(), &fields).expect_success();
    let rows = "name,categoryId,born\nAda,1,ca. 3 years\nBea,1,2019\nCleo,1,2019-05-03\n";
    fs::write(here.path().join("pets.csv"), rows).unwrap();
    run(here.path(), &["import", "pets.csv"]).expect_success();

    let exported = run(here.path(), &["export", "--all"])
        .expect_success()
        .stdout;
    fs::write(here.path().join("all.ndjson"), &exported).unwrap();
    let copy = [
        "import",
        "all.ndjson",
        "--keep-ids",
        "--create",
        "--database",
        "sqlite:copy.db",
    ];
    run(here.path(), &copy).expect_success();
    let export_copy = ["export", "--all", "--database", "sqlite:copy.db"];
    let copied = run(here.path(), &export_copy).expect_success().stdout;
    for text in [&exported, &copied] {
        let marks: Vec<bool> = text
            .lines()
            .filter(|line| line.contains("\"born\":\"20"))
            .map(|line| line.contains("\"born_estimated\":true"))
            .collect();
        assert_eq!(marks, [true, true, false], "{text}");
    }
}
